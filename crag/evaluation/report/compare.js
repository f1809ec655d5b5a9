// The comparison's page: both traces of a flipped question, and what can be pasted elsewhere.

const { limits: LIMITS, block_questions: BLOCK } = JSON.parse(byId("data").textContent);

/** Both traces side by side. A block holds an even number of entries, so a pair is never divided. */
async function showTraces(details) {
  const first = 2 * Number(details.dataset.place);
  const sides = element("div", { class: "sides" }, "Unpacking ...");
  details.append(sides);
  try {
    const entries = await unpacked(Math.floor(first / BLOCK));
    sides.replaceChildren(...["A", "B"].map((name, step) =>
      element("div", { class: "side" }, element("h4", {}, name), traceSections(entries[first % BLOCK + step], LIMITS[step]))));
  } catch (error) {
    sides.replaceChildren(element("p", { class: "warning" }, `These traces cannot be shown: ${error.message}`));
  }
}

for (const details of document.querySelectorAll("details.flip")) {
  details.addEventListener("toggle", () => showTraces(details), { once: true });
}
byId("copy-markdown").addEventListener("click", () => copy(byId("markdown").textContent, "The Markdown is copied."));
