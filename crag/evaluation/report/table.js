// The table of questions: filters, search, order, rows added on demand, and the trace dialog.

const ROWS_AT_ONCE = 60;
// The questions' panel has another name than its address: Back into an address moves the focus to what has its name.
const TABS = { overview: "overview", questions: "all-questions" };
const { rows: ROWS, facets: FACETS, limit: LIMIT, block_questions: BLOCK } = JSON.parse(byId("data").textContent);
const COLUMNS = [
  { field: "place", title: "#", text: (row) => String(row.place + 1) },
  { field: "verdict", title: "Verdict" },
  { field: "query", title: "Question" },
  { field: "prediction", title: "Answer" },
  { field: "gold", title: "Expected" },
  { field: "domain", title: "Domain" },
  { field: "question_type", title: "Type" },
  { field: "probability", title: "P(correct)", text: (row) => rounded(row.probability, 2), number: true },
  { field: "seconds", title: "Seconds", text: (row) => rounded(row.seconds, 1), number: true },
].filter(({ field }) => ROWS.some((row) => row[field] !== undefined && row[field] !== null));

const state = { shown: ROWS, drawn: 0, order: "place", descending: false, open: null, entry: null };

// --- filters -------------------------------------------------------------------------------------------------------

const SEARCHED = ROWS.map((row) => [row.query, row.prediction, row.gold, row.id].join("\n").toLowerCase());

function valuesOf(row, field) {
  return [row[field]].flat().map(String);
}

function makeFacets() {
  for (const { field, title } of FACETS) {
    const counts = new Map();
    for (const value of ROWS.flatMap((row) => valuesOf(row, field))) counts.set(value, (counts.get(value) || 0) + 1);
    const options = [...counts.keys()].sort().map((value) =>
      element("option", { value }, `${VERDICTS[field === "verdict" ? value : ""] || value} (${counts.get(value)})`));
    const choice = element("select", { name: field, "data-facet": field }, element("option", { value: "" }, "all"), options);
    byId("facets").append(element("label", {}, title[0].toUpperCase() + title.slice(1), " ", choice));
  }
}

function chosen() {
  return [...document.querySelectorAll("[data-facet]")].filter((choice) => choice.value)
    .map((choice) => [choice.dataset.facet, choice.value]);
}

function applyFilters() {
  filterRows();
  rememberPlace();
}

function filterRows() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = chosen();
  state.shown = ROWS.filter((row) =>
    wanted.every(([field, value]) => valuesOf(row, field).includes(value))
    && words.every((word) => SEARCHED[row.place].includes(word)));
  sortRows();
  drawRows();
}

// --- order ---------------------------------------------------------------------------------------------------------

function sortRows() {
  const { order, descending } = state;
  const sign = descending ? -1 : 1;
  state.shown.sort((one, other) => {
    const [first, second] = [one[order], other[order]];
    const known = Number(first === null || first === undefined) - Number(second === null || second === undefined);
    if (known) return known;
    const compared = isNumber(first) && isNumber(second) ? first - second : written(first).localeCompare(written(second));
    return sign * compared || one.place - other.place;
  });
}

function makeHeads() {
  for (const { field, title } of COLUMNS) {
    const button = element("button", { type: "button", "data-sort": field }, title);
    button.addEventListener("click", () => {
      state.descending = state.order === field && !state.descending;
      state.order = field;
      sortRows();
      drawRows();
      tellOrder();
    });
    byId("columns").append(element("th", { role: "columnheader", scope: "col", class: field }, button));
  }
  tellOrder();
}

function tellOrder() {
  for (const button of document.querySelectorAll("[data-sort]")) {
    const here = button.dataset.sort === state.order;
    const direction = state.descending ? "descending" : "ascending";
    button.parentElement.setAttribute("aria-sort", here ? direction : "none");
  }
}

// --- rows ----------------------------------------------------------------------------------------------------------

function drawRows() {
  byId("rows").replaceChildren();
  state.drawn = 0;
  addRows(ROWS_AT_ONCE);
  const count = state.shown.length;
  byId("status").textContent = count === ROWS.length
    ? `${count.toLocaleString("en")} questions`
    : `${count.toLocaleString("en")} of ${ROWS.length.toLocaleString("en")} questions`;
}

function addRows(count) {
  const end = Math.min(state.drawn + count, state.shown.length);
  byId("rows").append(...state.shown.slice(state.drawn, end).map(tableRow));
  state.drawn = end;
  byId("more").hidden = end >= state.shown.length;
  if (!document.querySelector('#rows button[tabindex="0"]')) setTabStop(rowButtons()[0]);
}

function tableRow(row) {
  const cells = COLUMNS.map(({ field, title, text, number }) => {
    const content = text ? text(row) : written(row[field]);
    const shown = field === "verdict" ? badge(row.verdict) : element("span", { class: "clamp" }, content);
    const inside = field === "query" ? element("button", { type: "button", class: "open", tabindex: "-1" }, shown) : shown;
    return element("td", { role: "cell", class: number ? `${field} number` : field, "data-title": title }, inside);
  });
  const made = element("tr", { role: "row", "data-place": row.place }, cells);
  made.addEventListener("click", () => openQuestion(row));
  return made;
}

function rowButtons() {
  return [...byId("rows").querySelectorAll("button.open")];
}

/** Tab reaches one row of the table; the arrow keys move from there. */
function setTabStop(button) {
  for (const other of byId("rows").querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
  if (button) button.tabIndex = 0;
}

function moveAmongRows(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  if (!(event.key in steps) || !event.target.matches("button.open")) return;
  event.preventDefault();
  const here = rowButtons().indexOf(event.target);
  const target = Math.max(0, Math.min(here + steps[event.key], state.shown.length - 1));
  if (target >= state.drawn) addRows(target - state.drawn + ROWS_AT_ONCE);
  const button = rowButtons()[target];
  setTabStop(button);
  button.focus();
}

// --- one question --------------------------------------------------------------------------------------------------

/** Show a question; `isLinked` if the address names it already. Back closes it. */
async function openQuestion(row, isLinked = false) {
  state.open = row;
  state.entry = null;
  byId("trace-title").replaceChildren(row.query);
  byId("trace-body").replaceChildren("Unpacking ...");
  byId("copied").textContent = "";
  const place = state.shown.indexOf(row);
  byId("position").textContent = place < 0 ? "" : `${place + 1} of ${state.shown.length}`;
  byId("previous").disabled = place <= 0;
  byId("next").disabled = place < 0 || place >= state.shown.length - 1;
  if (!isLinked) rememberPlace(byId("trace").open ? "replaceState" : "pushState");
  if (!byId("trace").open) byId("trace").showModal();
  byId("trace").scrollTop = 0;
  byId("trace-title").focus();
  try {
    const entry = (await unpacked(Math.floor(row.place / BLOCK)))[row.place % BLOCK];
    if (state.open !== row) return;
    state.entry = entry;
    byId("trace-body").replaceChildren(...traceSections(entry, LIMIT));
    showCorrection();
  } catch (error) {
    byId("trace-body").replaceChildren(element("p", { class: "warning" }, `This trace cannot be shown: ${error.message}`));
  }
}

function openNeighbour(step) {
  const row = state.shown[state.shown.indexOf(state.open) + step];
  if (row) openQuestion(row);
}

function afterClosing() {
  const place = state.shown.indexOf(state.open);
  state.open = null;
  if (history.state?.opened && new URLSearchParams(location.hash.slice(1)).has("question")) history.back();
  else rememberPlace();
  if (place >= state.drawn) addRows(place - state.drawn + ROWS_AT_ONCE);
  const button = rowButtons()[place];
  setTabStop(button || rowButtons()[0]);
  if (button) button.focus();
}

// --- a person's verdicts and notes: kept by the browser, downloaded for `crag judge --corrections` ----------------------

const KEPT = `corrections of ${document.title} ${location.pathname}`;
const corrections = new Map(keptCorrections());

function keptCorrections() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) || [];
  } catch {
    return [];  // a sandboxed frame keeps nothing
  }
}

function showCorrection() {
  const { verdict, note } = corrections.get(state.open.id) || {};
  byId("own-verdict").value = verdict === objectOf(state.entry.record).verdict ? "" : verdict || "";
  byId("own-note").value = note || "";
}

function correct() {
  if (!state.entry) return;
  const { interaction_id, occurrence, query, verdict: judged } = state.entry.record;
  const [verdict, note] = [byId("own-verdict").value, byId("own-note").value.trim()];
  if (verdict || note) corrections.set(state.open.id, { interaction_id, occurrence, query, verdict: verdict || judged, note });
  else corrections.delete(state.open.id);
  tellCorrections();
  try {
    localStorage.setItem(KEPT, JSON.stringify([...corrections]));
  } catch {
    // They last as long as the page.
  }
}

function tellCorrections() {
  byId("download").hidden = !corrections.size;
  byId("download").textContent = `Download ${corrections.size} of your verdicts and notes`;
}

function downloadCorrections() {
  const lines = [...corrections.values()].map((correction) => `${JSON.stringify(correction)}\n`);
  const href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  element("a", { href, download: "corrections.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// --- the address: #questions, #question=ID&domain=movie&search=..., or a section of the overview -----------------

/** Write filters and open question into the address; "pushState" makes a step that Back takes back. */
function rememberPlace(how = "replaceState") {
  const told = address();
  if (state.open) told.set("question", state.open.id);
  const hash = told.toString() || (byId(TABS.questions).hidden ? "" : "questions");
  try {
    history[how](how === "pushState" ? { opened: true } : history.state, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // A sandboxed frame has no history: the table works, but its state has no link.
  }
}

/** The filters as they stand in the address. */
function address() {
  const told = new URLSearchParams(chosen());
  if (byId("search").value) told.set("search", byId("search").value);
  return told;
}

function showTab(name) {
  for (const [tab, panel] of Object.entries(TABS)) {
    byId(panel).hidden = tab !== name;
    document.querySelector(`.tabs [href="#${tab}"]`).setAttribute("aria-current", tab === name ? "page" : "false");
  }
}

/** Show what the address names: after loading, a link, Back and Forward. */
function goToPlace() {
  const hash = location.hash.slice(1);
  const wanted = new URLSearchParams(hash.includes("=") ? hash : "");
  const tab = hash.includes("=") || hash === "questions" ? "questions" : "overview";
  const [before, isMove] = [address().toString(), byId(TABS[tab]).hidden];
  showTab(tab);
  if (tab === "questions") takeFilters(wanted);
  const isChange = address().toString() !== before;
  if (isChange || !state.drawn) filterRows();
  if (isMove || isChange) byId(TABS[tab === "questions" ? tab : hash] || hash || tab)?.scrollIntoView();
  if (tab === "questions" && isChange) byId(TABS.questions).focus({ preventScroll: true });
  const id = wanted.get("question");
  const row = id && ROWS.find((one) => one.id === id);
  if (row) openQuestion(row, true);
  else if (byId("trace").open) byId("trace").close();
  if (id && !row) byId("status").textContent = `No question ${id} in this run; ${byId("status").textContent}`;
}

function takeFilters(wanted) {
  byId("search").value = wanted.get("search") || "";
  for (const choice of document.querySelectorAll("[data-facet]")) {
    const value = wanted.get(choice.dataset.facet) || "";
    choice.value = [...choice.options].some((option) => option.value === value) ? value : "";
  }
}

// --- the page ------------------------------------------------------------------------------------------------------

function listen() {
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(applyFilters));
  byId("search").addEventListener("input", applyFilters);
  byId("facets").addEventListener("change", applyFilters);
  byId("rows").addEventListener("keydown", moveAmongRows);
  byId("more").addEventListener("click", () => addRows(ROWS_AT_ONCE));
  byId("previous").addEventListener("click", () => openNeighbour(-1));
  byId("next").addEventListener("click", () => openNeighbour(1));
  byId("close").addEventListener("click", () => byId("trace").close());
  byId("trace").addEventListener("close", afterClosing);
  byId("trace").addEventListener("click", (event) => event.target === byId("trace") && byId("trace").close());
  byId("trace").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && !event.target.closest("form") && !event.altKey && !event.ctrlKey && !event.metaKey) openNeighbour(step);
  });
  byId("correction").addEventListener("submit", (event) => event.preventDefault());
  byId("correction").addEventListener("input", correct);
  byId("download").addEventListener("click", downloadCorrections);
  byId("copy-link").addEventListener("click", () => copy(location.href, "The link is copied."));
  byId("copy-json").addEventListener("click", () => copy(JSON.stringify(state.entry, null, 2), "The JSON is copied."));
  window.addEventListener("popstate", goToPlace);
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && addRows(ROWS_AT_ONCE),
    { rootMargin: "800px" }).observe(byId("more"));
}

makeFacets();
makeHeads();
listen();
tellCorrections();
goToPlace();
performance.mark("report-ready");
