// A person's verdicts and notes: kept by the browser, counted at once, downloaded for `crag judge --corrections`.

const STORAGE_KEY = `corrections of ${document.title} ${location.pathname}`;
const corrections = new Map(storedCorrections());

function storedCorrections() {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY)) || [];
  } catch {
    return [];  // a sandboxed frame keeps nothing
  }
}

function storeCorrections() {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([...corrections]));
  } catch {
    // They last as long as the page.
  }
}

/** Once, before anything is drawn: verdicts that the browser has kept. */
function applyStoredCorrections() {
  for (const row of ROWS) {
    row.judged = row.verdict;
    applyCorrection(row);
  }
}

function applyCorrection(row) {
  row.verdict = corrections.get(row.id)?.verdict || row.judged;
}

// --- the form of the open question ---------------------------------------------------------------------------------

function showCorrection() {
  const { verdict, note } = corrections.get(state.open.id) || {};
  byId("own-verdict").value = verdict === state.open.judged ? "" : verdict || "";
  byId("own-note").value = note || "";
  byId("counted").textContent = "";
}

function correct() {
  if (!state.entry) return;
  const row = state.open;
  const { interaction_id, occurrence, query } = state.entry.record;
  const [verdict, note] = [byId("own-verdict").value, byId("own-note").value.trim()];
  if (verdict || note) corrections.set(row.id, { interaction_id, occurrence, query, verdict: verdict || row.judged, note });
  else corrections.delete(row.id);
  storeCorrections();

  const before = row.verdict;
  applyCorrection(row);
  redrawVerdict(row);
  showDownload();
  if (row.verdict === before) return;

  // The table is filtered and sorted anew once the question is closed: till then its neighbours stay the same.
  state.isStale = true;
  showCounts();
  byId("counted").textContent = countsInWords(countVerdicts(ROWS));
}

function showDownload() {
  byId("download").hidden = !corrections.size;
  byId("download").textContent = `Download ${corrections.size} of your verdicts and notes`;
}

function downloadCorrections() {
  const lines = [...corrections.values()].map((correction) => `${JSON.stringify(correction)}\n`);
  const href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  element("a", { href, download: "corrections.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// --- counters ------------------------------------------------------------------------------------------------------

/** Verdicts of rows, `n` scored ones, and the shares and score of these, by the metric's definition. */
function countVerdicts(rows) {
  const counts = { correct: 0, missing: 0, incorrect: 0 };
  for (const { verdict } of rows) if (verdict in counts) counts[verdict] += 1;

  const n = counts.correct + counts.missing + counts.incorrect;
  const share = (count) => (n ? count / n : 0);
  return {
    ...counts,
    n,
    accuracy: share(counts.correct),
    missing_share: share(counts.missing),
    hallucination: share(counts.incorrect),
    score: share(counts.correct - counts.incorrect),
  };
}

function signed(value) {
  return `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(3)}`;
}

function questionCount(n) {
  return `${n.toLocaleString("en")} question${n === 1 ? "" : "s"}`;
}

function countsInWords({ correct, missing, incorrect, score }) {
  return `Counted: ${correct} right, ${missing} missing, ${incorrect} wrong, score ${signed(score)}.`;
}

/** Every figure of the overview that is a count of verdicts, and the filter's counts. */
function showCounts() {
  const changed = ROWS.filter((row) => row.verdict !== row.judged).length;
  const counts = countVerdicts(ROWS);

  byId("corrected").hidden = !changed;
  byId("corrected-count").textContent = changed === 1 ? "1 verdict is yours" : `${changed} verdicts are yours`;
  const conclusion = byId("conclusion");
  if (conclusion) conclusion.hidden = changed > 0;

  for (const node of document.querySelectorAll("[data-count]")) {
    const { count } = node.dataset;
    node.textContent = count === "n" ? questionCount(counts.n) : String(counts[count]);
  }
  for (const value of document.querySelectorAll("[data-share]")) showShare(value, counts, changed);
  const bar = document.querySelector("#headline > .strip");
  if (bar) drawShares(bar, counts, "all questions");

  for (const row of document.querySelectorAll("tr[data-field]")) showSlice(row);
  const verdicts = document.querySelector('[data-facet="verdict"]');
  if (verdicts) fillFacet(verdicts, "verdict");
}

/** A card's number; below it what it was as judged, since the interval is of that. */
function showShare(value, counts, changed) {
  const more = value.nextElementSibling;
  value.dataset.judged ??= value.textContent;
  more.dataset.judged ??= more.textContent;
  const number = counts[value.dataset.share];
  const text = value.dataset.share === "score" ? signed(number) : `${(100 * number).toFixed(1)} %`;
  value.textContent = changed ? text : value.dataset.judged;
  more.textContent = changed ? `as judged ${value.dataset.judged}, ${more.dataset.judged}` : more.dataset.judged;
}

/** A bar's parts: the same order and colours as those of the page's macro. */
function drawShares(bar, { accuracy, missing_share, hallucination }, label) {
  const shares = { correct: accuracy, missing: missing_share, incorrect: hallucination };
  let done = 0;
  bar.replaceChildren();
  for (const [name, share] of Object.entries(shares).filter(([, share]) => share > 0)) {
    bar.append(drawing("rect", { x: 100 * done, y: 0, width: 100 * share, height: 10, class: name }));
    done += share;
  }
  const percents = Object.entries(shares).map(([name, share]) => `${VERDICTS[name]} ${(100 * share).toFixed(0)}%`);
  bar.setAttribute("aria-label", `${label}: ${percents.join(", ")}`);
}

/** The counts in a row about one label: of the slices, or of the points lost. */
function showSlice(row) {
  const { field, label } = row.dataset;
  const counts = countVerdicts(ROWS.filter((question) => valuesOf(question, field).includes(label)));
  const cell = (name) => row.querySelector(`td.${name}`);

  if (row.closest(".losses")) {
    cell("number").querySelector("a").textContent = counts.incorrect;
    cell("missing").textContent = counts.missing;
    return;
  }
  cell("number").textContent = counts.n;
  if (!counts.n) return;
  const percents = [counts.accuracy, counts.missing_share, counts.hallucination].map((share) => (100 * share).toFixed(0));
  cell("percent").textContent = percents.join(" / ");
  cell("score").textContent = signed(counts.score);
  const bar = row.querySelector(".shares > .strip");
  if (bar) drawShares(bar, counts, label);
}
