"use strict";
// Creates elements. Data of a run becomes a text node or an attribute, never markup.

const VERDICTS = { correct: "right", missing: "missing", incorrect: "wrong", unscored: "unscored" };

/** An element with attributes and children; strings become text, null and undefined nothing. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** An SVG element with attributes and children. */
function drawing(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
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
  const known = entries.filter(([, meaning]) => meaning !== "" && meaning !== null && meaning !== undefined);
  return element("dl", { class: "pairs" }, known.flatMap(([term, meaning]) => [
    element("dt", {}, term), element("dd", {}, meaning),
  ]));
}

/** A table: names of its columns, and rows of cells. */
function grid(names, rows) {
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell)))))));
}

/** Matches of the terms in the text as whole words, ignoring case: [{start, end, kind}], without overlaps. */
function occurrences(text, terms) {
  const found = [];
  for (const { text: term, kind } of terms) {
    const escaped = term.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
    if (!escaped) continue;
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "giu");
    for (const match of text.matchAll(pattern)) {
      found.push({ start: match.index, end: match.index + match[0].length, kind });
    }
  }
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  let end = 0;
  return found.filter((place) => place.start >= end && (end = place.end) > 0);
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
