// What the report and the comparison share: packed traces, and copying.

const blocks = new Map();

function byId(id) {
  return document.getElementById(id);
}

/** The questions of a block, unpacked once. The blocks come last in the file, so the table is usable first. */
async function unpacked(number) {
  if (!byId(`block-${number}`)) await new Promise((read) => addEventListener("DOMContentLoaded", read));
  if (!blocks.has(number)) blocks.set(number, unpack(byId(`block-${number}`).textContent));
  return blocks.get(number);
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
    byId("copied").textContent = told;
  } catch {
    byId("copied").textContent = copiedTheOldWay(text) ? told : "This browser does not allow copying.";
  }
}

function copiedTheOldWay(text) {
  const field = element("textarea", { class: "offscreen" });
  field.value = text;
  (document.querySelector("dialog[open]") || document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
