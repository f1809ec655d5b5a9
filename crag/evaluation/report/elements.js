"use strict";
// Creates elements. Data of a run becomes a text node or an attribute, never markup.

const VERDICTS = { correct: "right", missing: "missing", incorrect: "wrong", unscored: "unscored" };

/** An element with attributes and children; strings become text, null and undefined nothing. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** An SVG element with attributes and children. */
function drawing(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** The value as readable text: texts unchanged, the rest as JSON. */
function written(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The value if it is a list, else an empty one: traces may have any shape. */
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

/** The value if it is an object, else an empty one. */
function objectOf(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** A number with a fixed number of decimals; empty for other values. */
function rounded(value, decimals) {
  return isNumber(value) ? value.toFixed(decimals) : "";
}

function badge(verdict) {
  return element("span", { class: `badge ${verdict in VERDICTS ? verdict : "unscored"}` }, VERDICTS[verdict] || verdict);
}

/** Terms and what they mean, as a description list; pairs without a meaning are left out. */
function pairs(entries) {
  const withMeaning = entries.filter(([, meaning]) => meaning !== "" && meaning !== null && meaning !== undefined);
  return element("dl", { class: "pairs" }, withMeaning.flatMap(([term, meaning]) => [
    element("dt", {}, term), element("dd", {}, meaning),
  ]));
}

/** A table: names of its columns, and rows of cells. */
function grid(names, rows) {
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, names.map((name) => name ? element("th", { scope: "col" }, name) : element("td")))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell)))))));
}

/** Matches of the terms in the text as whole words, ignoring case: [{start, end, kind}], without overlaps. */
function occurrences(text, terms) {
  const matches = [];

  for (const { text: term, kind } of terms) {
    const escaped = term.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
    if (!escaped) continue;

    // No letter or digit beside it: "gold 0" is not in "gold 00".
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "giu");
    for (const match of text.matchAll(pattern)) {
      matches.push({ start: match.index, end: match.index + match[0].length, kind });
    }
  }

  // The first match wins over those that overlap it; of two that start together, the longer one.
  matches.sort((first, second) => first.start - second.start || second.end - first.end);
  const separate = [];
  let end = 0;
  for (const match of matches) {
    if (match.start < end) continue;
    separate.push(match);
    end = match.end;
  }
  return separate;
}

/** The text with the terms marked. */
function marked(text, terms) {
  const parts = [];
  let done = 0;
  for (const { start, end, kind } of occurrences(text, terms)) {
    parts.push(text.slice(done, start), element("mark", { class: kind }, text.slice(start, end)));
    done = end;
  }
  return [...parts, text.slice(done)];
}
