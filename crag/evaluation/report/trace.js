// One question's trace as elements. Empty sections are left out.

const PLAIN_FIELDS = ["interaction_id", "occurrence", "batch", "batch_size", "query", "query_time", "graph_state",
  "pages_read", "context"];
const OBJECT_FIELDS = ["route", "prompts", "generations", "answer", "evidence", "seconds"];
const LIST_FIELDS = ["calls", "facts", "passages", "candidates", "gates", "events"];
const ROUTE_FIELDS = { domain: "domain", question_type: "question type", static_or_dynamic: "dynamism" };

/** Everything below the question's text. `entry` is {record, trace, left_out}. */
function traceSections(entry, limit) {
  const record = objectOf(entry.record);
  const trace = objectOf(entry.trace);
  const terms = answerTerms(record, trace);
  const sections = [
    summary(record, trace),
    section("Gates", gateList(record)),
    section("Candidates", candidateTable(trace)),
    section("Route", routeTable(trace)),
    section("Calls and facts", callList(trace, terms)),
    section("Passages", passageList(trace, terms)),
    section("Context", trace.context ? element("pre", {}, marked(written(trace.context), terms)) : null),
    section("Model", modelSteps(trace)),
    section("Events", eventList(trace)),
    section("Time", timeLine(record, trace, limit)),
    section("Other fields", otherFields(trace)),
  ];
  const notes = [];
  if (!entry.trace) notes.push("The agent left no trace of this question.");
  if (entry.left_out) {
    notes.push(`${entry.left_out.toLocaleString("en")} characters of long texts are left out here; traces.jsonl has them.`);
  }
  return [...sections.filter(Boolean), ...notes.map((note) => element("p", { class: "note" }, note))];
}

function section(name, content) {
  if (!content || (Array.isArray(content) && !content.length)) return null;
  return element("section", {}, element("h3", {}, name), content);
}

function summary(record, trace) {
  const answer = objectOf(trace.answer);
  const alternatives = listOf(record.alt_ans).join("; ");
  const labels = ["domain", "question_type", "static_or_dynamic", "popularity"].map((name) => record[name]);
  return element("section", { class: "summary" }, pairs([
    ["answer", element("strong", {}, written(record.prediction) || "(none)")],
    ["expected", written(record.answer) + (alternatives ? ` (also: ${alternatives})` : "")],
    ["judge", [badge(record.verdict), " ", written(record.reason)]],
    ["decision", [answer.decision, answer.source, answer.reason].filter(Boolean).map(written).join(" · ")],
    ["evidence", evidence(trace)],
    ["retrieval", retrieval(record)],
    ["labels", labels.filter(Boolean).join(" · ")],
    ["asked", [written(trace.query_time), `batch ${record.batch}`]
      .filter(Boolean).join(" · ")],
    ["id", record.interaction_id],
    ["error", record.error ? element("pre", {}, written(record.error)) : ""],
  ]));
}

/** The sentence that holds the answer, with its page or call. */
function evidence(trace) {
  const { sentence, source, url } = objectOf(trace.evidence);
  if (!sentence) return "evidence" in trace && objectOf(trace.answer).decision !== "abstained" ? "none found" : "";
  return [element("q", {}, written(sentence)), " ", ...pageLink({ page_name: source, url })];
}

/** Whether the expected answer was found, and whether the evidence holds the answer given. */
function retrieval(record) {
  const { answer_in_context, answer_rank, passages_with_answer, evidence_supports_answer } = record;
  const told = [];
  if (typeof answer_in_context === "boolean") {
    told.push(answer_in_context ? "the context holds the expected answer" : "the context lacks the expected answer");
  }
  if (isNumber(passages_with_answer)) {
    const share = `${rounded(100 * passages_with_answer, 0)} % of the passages`;
    told.push(isNumber(answer_rank) ? `so do passage ${answer_rank} as the first and ${share}` : "no passage holds it");
  }
  if (typeof evidence_supports_answer === "boolean") {
    told.push(evidence_supports_answer ? "the evidence holds the answer" : "the evidence does not hold the answer");
  }
  return told.join("; ");
}

/** Terms to mark in passages and facts: gold answers, the answer given, and withheld answers. */
function answerTerms(record, trace) {
  const golds = [record.answer, ...listOf(record.alt_ans)];
  const given = [record.prediction, ...listOf(trace.candidates).map((candidate) => objectOf(candidate).text)];
  const parts = (texts, kind) => texts.filter((text) => typeof text === "string")
    .flatMap((text) => [text, ...text.split(/,\s+(?:and\s+)?|\s+and\s+/)])
    .filter((text) => text.trim() && !/^(yes|no|invalid question|i don't know)$/i.test(text.trim()))
    .map((text) => ({ text: text.trim().replace(/[.!]$/, ""), kind }));
  return [...parts(golds, "gold"), ...parts(given, "given")];
}

function gateList(record) {
  return listOf(record.gates).map((gate) => element("div", { class: "item" },
    element("div", { class: "title" }, element("strong", {}, gate.name), ` closed: ${gate.reason}`),
    gate.withheld === null
      ? element("p", {}, "The withheld answer was not generated.")
      : element("p", {}, "withheld ", badge(gate.withheld_verdict), " ", gate.withheld)));
}

function candidateTable(trace) {
  const candidates = listOf(trace.candidates).map(objectOf);
  if (!candidates.length) return null;
  return grid(["candidate", "from", "P(correct)", "features"], candidates.map((candidate) => [
    written(candidate.text), written(candidate.source), rounded(candidate.probability, 3), features(candidate),
  ]));
}

/** The features without those that only repeat the route and the graph's state. */
function features(candidate) {
  const numbers = Object.entries(objectOf(candidate.features)).filter(([name]) => !name.includes("="));
  if (!numbers.length) return "";
  return element("details", {}, element("summary", {}, `${numbers.length} numbers`),
    pairs(numbers.map(([name, value]) => [name.replaceAll("_", " "), rounded(value, 3)])));
}

function routeTable(trace) {
  const route = objectOf(trace.route);
  const rows = Object.entries(ROUTE_FIELDS).filter(([field]) => route[field]).map(([field, name]) => {
    const entry = typeof route[field] === "string" ? { label: route[field] } : objectOf(route[field]);
    const shares = Object.entries(objectOf(entry.probabilities)).filter(([, share]) => share >= 0.01);
    shares.sort(([, first], [, second]) => second - first);
    return [name, element("strong", {}, written(entry.label)),
      shares.map(([label, share]) => `${label} ${rounded(share, 2)}`).join(", ")];
  });
  const parts = [];
  if (rows.length) parts.push(grid(["field", "class", "probabilities"], rows));
  return parts;
}

/** Each call with its facts, then facts without a call. */
function callList(trace, terms) {
  const facts = listOf(trace.facts).map(objectOf);
  const listed = new Set();
  const factItem = (fact) => {
    listed.add(fact);
    return element("li", {}, marked(written(fact.text), terms));
  };

  const calls = listOf(trace.calls).map((call) => {
    const factsOfCall = facts.filter((fact) => written(fact.source).endsWith(written(call)));
    return element("div", { class: "item" }, element("code", {}, written(call)),
      factsOfCall.length ? element("ul", {}, factsOfCall.map(factItem)) : element("p", { class: "note" }, "no facts"));
  });
  const factsWithoutCall = facts.filter((fact) => !listed.has(fact)).map((fact) => element("div", { class: "item" },
    element("div", { class: "title" }, written(fact.source)), element("ul", {}, factItem(fact))));
  const state = trace.graph_state ? [element("p", { class: "note" }, `Calls ended: ${written(trace.graph_state)}`)] : [];
  return [...calls, ...factsWithoutCall, ...state];
}

function passageList(trace, terms) {
  const passages = listOf(trace.passages).map(objectOf);
  if (!passages.length) return null;
  const legend = element("p", { class: "note" }, `${written(trace.pages_read) || "?"} pages read. Marked: `,
    element("mark", { class: "gold" }, "expected answer"), " ", element("mark", { class: "given" }, "answer or candidate"));
  return [legend, element("ol", { class: "passages" }, passages.map((passage) => element("li", { class: "item" },
    element("div", { class: "title" }, pageLink(passage), element("span", { class: "scores" }, scores(passage))),
    element("p", { class: "text" }, marked(written(passage.text), terms)))))];
}

function pageLink(passage) {
  const name = written(passage.page_name) || written(passage.url) || "(page without a name)";
  const place = [passage.kind, isNumber(passage.page_rank) && `result ${passage.page_rank + 1}`,
    isNumber(passage.start) && `characters ${passage.start} to ${passage.end}`].filter(Boolean).join(", ");
  const url = written(passage.url);
  const title = /^https?:\/\//i.test(url)
    ? element("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank", title: url }, name)
    : element("span", {}, name);
  return [title, element("span", { class: "place" }, place)];
}

function scores(passage) {
  return Object.entries(objectOf(passage.scores)).map(([step, score]) =>
    element("span", {}, `${step.replaceAll("_", " ")} ${rounded(score, 3)}`));
}

/** What a model read and wrote, step by step. */
function modelSteps(trace) {
  const prompts = objectOf(trace.prompts);
  const generations = objectOf(trace.generations);
  const steps = [...new Set([...Object.keys(prompts), ...Object.keys(generations)])];
  return steps.map((step) => {
    const raw = generations[step];
    const generation = typeof raw === "string" ? { text: raw } : objectOf(raw);
    const details = [isNumber(generation.prompt_tokens) && `${generation.prompt_tokens} tokens read`,
      isNumber(generation.completion_tokens) && `${generation.completion_tokens} written`,
      isNumber(generation.mean_log_probability) && `mean log probability ${rounded(generation.mean_log_probability, 3)}`,
      generation.finish_reason, generation.error].filter(Boolean).map(written).join(", ");
    return element("div", { class: "item" },
      element("div", { class: "title" }, element("strong", {}, step.replaceAll("_", " ")), " ", details),
      step in generations ? element("pre", {}, written("text" in generation ? generation.text : raw)) : null,
      step in prompts
        ? element("details", {}, element("summary", {}, "Prompt"), promptMessages(prompts[step])) : null);
  });
}

function promptMessages(prompt) {
  const messages = listOf(prompt);
  if (!messages.length) return element("pre", {}, written(prompt));
  return messages.map((message) => {
    const { role, content } = objectOf(message);
    return [role ? element("div", { class: "role" }, written(role)) : null,
      element("pre", {}, written(content === undefined ? message : content))];
  }).flat();
}

function eventList(trace) {
  const events = listOf(trace.events);
  return events.length ? element("ul", {}, events.map((event) => element("li", {}, written(event)))) : null;
}

/** Seconds of the batch's stages, each bar from zero: stages may run in parallel. */
function timeLine(record, trace, limit) {
  const stages = Object.entries(objectOf(trace.seconds)).filter(([, seconds]) => isNumber(seconds));
  const size = record.batch_size || 1;
  if (isNumber(record.batch_seconds)) stages.push(["whole batch", record.batch_seconds]);
  if (!stages.length) return null;
  const longest = Math.max(limit ? limit * size : 0, ...stages.map(([, seconds]) => seconds)) || 1;
  const bar = (seconds) => drawing("svg",
    { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "strip", "aria-hidden": "true" },
    drawing("rect", { x: 0, y: 1, height: 8, width: (100 * seconds) / longest, class: "median" }));
  const rows = stages.map(([stage, seconds]) => [stage.replaceAll("_", " "), rounded(seconds, 2), bar(seconds)]);
  const note = `Seconds of the whole batch of ${size}` + (limit ? `; its limit was ${limit * size} s, the full width.` : ".");
  return [grid(["stage", "seconds", ""], rows), element("p", { class: "note" }, note)];
}

/** The remaining fields: those of another agent, and ours in another form. */
function otherFields(trace) {
  const isShownAbove = ([name, value]) => value === null || PLAIN_FIELDS.includes(name)
    || (OBJECT_FIELDS.includes(name) && value === objectOf(value))
    || (LIST_FIELDS.includes(name) && Array.isArray(value));
  const fields = Object.entries(trace).filter((field) => !isShownAbove(field));
  if (!fields.length) return null;
  return element("details", { open: "" }, element("summary", {}, fields.map(([name]) => name).join(", ")),
    element("pre", {}, written(Object.fromEntries(fields))));
}
