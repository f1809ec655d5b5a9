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
  { field: "answer_rank", title: "Rank", text: (row) => written(row.answer_rank), number: true },
  { field: "seconds", title: "Seconds", text: (row) => rounded(row.seconds, 1), number: true },
].filter(({ field }) => ROWS.some((row) => row[field] !== undefined && row[field] !== null));

const state = { shown: ROWS, drawn: 0, order: "place", descending: false, open: null, entry: null, isStale: false };

// --- filters -------------------------------------------------------------------------------------------------------

const SEARCHED = ROWS.map((row) => [row.query, row.prediction, row.gold, row.id].join("\n").toLowerCase());

function valuesOf(row, field) {
  return [row[field]].flat().map(String);
}

function makeFacets() {
  for (const { field, title } of FACETS) {
    const choice = element("select", { name: field, "data-facet": field });
    fillFacet(choice, field);
    byId("facets").append(element("label", {}, title[0].toUpperCase() + title.slice(1), " ", choice));
  }
}

/** A filter's values with their counts; the one that is chosen stays, even if no question has it any more. */
function fillFacet(choice, field) {
  const chosen = choice.value;
  const counts = new Map(chosen ? [[chosen, 0]] : []);
  for (const value of ROWS.flatMap((row) => valuesOf(row, field))) counts.set(value, (counts.get(value) || 0) + 1);
  const options = [...counts.keys()].sort().map((value) =>
    element("option", { value }, `${VERDICTS[field === "verdict" ? value : ""] || value} (${counts.get(value)})`));
  choice.replaceChildren(element("option", { value: "" }, "all"), ...options);
  choice.value = chosen;
}

/** The filters that are set, as pairs of field and value. */
function activeFilters() {
  return [...document.querySelectorAll("[data-facet]")].filter((choice) => choice.value)
    .map((choice) => [choice.dataset.facet, choice.value]);
}

function applyFilters() {
  filterRows();
  writeAddress();
}

function filterRows() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const filters = activeFilters();
  state.shown = ROWS.filter((row) =>
    filters.every(([field, value]) => valuesOf(row, field).includes(value))
    && words.every((word) => SEARCHED[row.place].includes(word)));
  sortRows();
  drawRows();
}

// --- order ---------------------------------------------------------------------------------------------------------

function sortRows() {
  const { order, descending } = state;
  const sign = descending ? -1 : 1;
  const isMissing = (value) => value === null || value === undefined;

  state.shown.sort((firstRow, secondRow) => {
    const first = firstRow[order];
    const second = secondRow[order];
    // Rows without a value come last in both directions.
    if (isMissing(first) !== isMissing(second)) return isMissing(first) ? 1 : -1;

    const compared = isNumber(first) && isNumber(second) ? first - second : written(first).localeCompare(written(second));
    return sign * compared || firstRow.place - secondRow.place;
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
      showOrder();
    });
    byId("columns").append(element("th", { role: "columnheader", scope: "col", class: field }, button));
  }
  showOrder();
}

function showOrder() {
  for (const button of document.querySelectorAll("[data-sort]")) {
    const isSorted = button.dataset.sort === state.order;
    const direction = state.descending ? "descending" : "ascending";
    button.parentElement.setAttribute("aria-sort", isSorted ? direction : "none");
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
    const styleClass = number ? `${field} number` : field;

    let cell = field === "verdict" ? verdictParts(row) : element("span", { class: "clamp" }, content);
    if (field === "query") cell = element("button", { type: "button", class: "open", tabindex: "-1" }, cell);
    return element("td", { role: "cell", class: styleClass, "data-title": title }, cell);
  });

  const node = element("tr", { role: "row", "data-place": row.place }, cells);
  node.addEventListener("click", () => openQuestion(row));
  return node;
}

/** The verdict as it counts, and whether a person gave it or wrote a note. */
function verdictParts(row) {
  const isOwn = row.verdict !== row.judged;
  const told = isOwn ? `yours, judged ${VERDICTS[row.judged] || row.judged}` : corrections.has(row.id) && "your note";
  return [badge(row.verdict), told ? element("span", { class: "own" }, " ", told) : null];
}

function redrawVerdict(row) {
  const cell = byId("rows").querySelector(`tr[data-place="${row.place}"] td.verdict`);
  if (cell) cell.replaceChildren(...verdictParts(row).filter(Boolean));
}

function rowButtons() {
  return [...byId("rows").querySelectorAll("button.open")];
}

/** Tab reaches one row of the table; the arrow keys move from there. */
function setTabStop(button) {
  for (const previous of byId("rows").querySelectorAll('button[tabindex="0"]')) previous.tabIndex = -1;
  if (button) button.tabIndex = 0;
}

function moveAmongRows(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  if (!(event.key in steps) || !event.target.matches("button.open")) return;
  event.preventDefault();

  const current = rowButtons().indexOf(event.target);
  const target = Math.max(0, Math.min(current + steps[event.key], state.shown.length - 1));
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
  if (!isLinked) writeAddress(byId("trace").open ? "replaceState" : "pushState");
  if (!byId("trace").open) byId("trace").showModal();
  byId("trace").scrollTop = 0;
  byId("trace-title").focus();
  try {
    const entry = (await unpacked(Math.floor(row.place / BLOCK)))[row.place % BLOCK];
    if (state.open !== row) return;
    state.entry = entry;
    byId("trace-body").replaceChildren(...traceSections(entry, LIMIT));
    setScrollStops();
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
  const closed = state.open;
  const placeBefore = state.shown.indexOf(closed);
  state.open = null;
  if (state.isStale) filterRows();
  state.isStale = false;
  // A corrected question may not be among those that are filtered any more: then the one in its place.
  const placeNow = state.shown.indexOf(closed);
  const place = placeNow < 0 ? Math.min(placeBefore, state.shown.length - 1) : placeNow;

  if (history.state?.opened && new URLSearchParams(location.hash.slice(1)).has("question")) history.back();
  else writeAddress();
  if (place >= state.drawn) addRows(place - state.drawn + ROWS_AT_ONCE);
  const button = rowButtons()[place];
  setTabStop(button || rowButtons()[0]);
  if (button) button.focus();
}

// --- the address: #questions, #question=ID&domain=movie&search=..., or a section of the overview -----------------

/** Write filters and open question into the address; "pushState" makes a step that Back takes back. */
function writeAddress(how = "replaceState") {
  const parameters = address();
  if (state.open) parameters.set("question", state.open.id);
  const hash = parameters.toString() || (byId(TABS.questions).hidden ? "" : "questions");
  try {
    history[how](how === "pushState" ? { opened: true } : history.state, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // A sandboxed frame has no history: the table works, but its state has no link.
  }
}

/** The filters in the form of the address. */
function address() {
  const parameters = new URLSearchParams(activeFilters());
  if (byId("search").value) parameters.set("search", byId("search").value);
  return parameters;
}

function showTab(name) {
  for (const [tab, panel] of Object.entries(TABS)) {
    byId(panel).hidden = tab !== name;
    document.querySelector(`.tabs [href="#${tab}"]`).setAttribute("aria-current", tab === name ? "page" : "false");
  }
}

/** Show what the address names: after loading, a link, Back and Forward. */
function followAddress() {
  const hash = location.hash.slice(1);
  const hasFilters = hash.includes("=");
  const parameters = new URLSearchParams(hasFilters ? hash : "");
  const tab = hasFilters || hash === "questions" ? "questions" : "overview";

  const filtersBefore = address().toString();
  const isOtherTab = byId(TABS[tab]).hidden;
  showTab(tab);
  if (tab === "questions") setFilters(parameters);
  const isOtherFilter = address().toString() !== filtersBefore;
  if (isOtherFilter || !state.drawn) filterRows();

  if (isOtherTab || isOtherFilter) {
    // The address names a tab, or a section of the overview.
    const section = TABS[tab === "questions" ? tab : hash] || hash || tab;
    byId(section)?.scrollIntoView();
  }
  if (tab === "questions" && isOtherFilter) byId(TABS.questions).focus({ preventScroll: true });

  const id = parameters.get("question");
  const row = id && ROWS.find((candidate) => candidate.id === id);
  if (row) openQuestion(row, true);
  else if (byId("trace").open) byId("trace").close();
  if (id && !row) byId("status").textContent = `No question ${id} in this run; ${byId("status").textContent}`;
}

/** To the main part, as the link says; its address would replace the filters in the page's. */
function skipToContent(event) {
  event.preventDefault();
  byId("content").focus();
}

function setFilters(parameters) {
  byId("search").value = parameters.get("search") || "";
  for (const choice of document.querySelectorAll("[data-facet]")) {
    const value = parameters.get(choice.dataset.facet) || "";
    choice.value = [...choice.options].some((option) => option.value === value) ? value : "";
  }
}

// --- the page ------------------------------------------------------------------------------------------------------

function listen() {
  document.querySelector(".skip").addEventListener("click", skipToContent);
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
  // Not every way to choose a value fires both
  for (const type of ["input", "change"]) byId("correction").addEventListener(type, correct);
  byId("download").addEventListener("click", downloadCorrections);
  byId("copy-link").addEventListener("click", () => copy(location.href, "The link is copied."));
  byId("copy-json").addEventListener("click", () => copy(JSON.stringify(state.entry, null, 2), "The JSON is copied."));
  window.addEventListener("popstate", followAddress);
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && addRows(ROWS_AT_ONCE),
    { rootMargin: "800px" }).observe(byId("more"));
}

applyStoredCorrections();
makeFacets();
makeHeads();
listen();
showDownload();
showCounts();
followAddress();
performance.mark("report-ready");
