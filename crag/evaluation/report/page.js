// What the report and the comparison share: packed traces, and copying.

const blocks = new Map();

function byId(id) {
  return document.getElementById(id);
}

/** The questions of a block, unpacked once. The blocks come last in the file, so the table is usable first. */
async function unpacked(number) {
  if (!byId(`block-${number}`)) await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
  if (!blocks.has(number)) blocks.set(number, unpack(byId(`block-${number}`).textContent));
  return blocks.get(number);
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** Copy the text, and say so in the page's `message`. */
async function copy(text, message) {
  try {
    await navigator.clipboard.writeText(text);
    byId("copied").textContent = message;
  } catch {
    byId("copied").textContent = copyWithSelection(text) ? message : "This browser does not allow copying.";
  }
}

/** For pages without access to the clipboard, such as files in some browsers; returns whether it worked. */
function copyWithSelection(text) {
  const field = element("textarea", { class: "offscreen" });
  field.value = text;
  (document.querySelector("dialog[open]") || document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}

/** Boxes that are wider than their place can be scrolled with the keyboard too; the others are no stop of the Tab key. */
function setScrollStops() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

new ResizeObserver(setScrollStops).observe(document.documentElement);
