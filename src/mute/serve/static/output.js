// The right side: the translation, what muting changes, warnings and alternatives.

import { byId, make } from "./dom.js";
import { difference, locate } from "./words.js";

const translation = byId("translation");
const result = byId("result");
const main = document.querySelector("main");

/**
 * A line of the translation.
 * @typedef {{now: string, full: string, isCurrent: boolean, words: object[], warnings: string[]}}
 *   Line what it is now, and what all units say; if it was looked into, its words
 */

/**
 * Show the lines; the one that was looked into has its words apart, so that they can light up.
 * @param {Line[]} lines
 */
export function showLines(lines) {
  const several = lines.length > 1;
  byId("lines-note").hidden = !several;
  translation.replaceChildren(
    ...lines.map((line) => lineOf(line, several)),
  );
  main.classList.remove("stale");
  say(lines.find((line) => line.isCurrent)?.now ?? "");
  bringIntoSight(translation.querySelector(".current"));
}

/** Have a screen reader say the current line, once: a caret that moves repeats nothing. */
function say(text) {
  if (byId("said").textContent !== text) byId("said").textContent = text;
}

/** Scroll the translation, and not the page, which would take the text out of the reader's sight. */
function bringIntoSight(line) {
  if (!line) return;
  const { scrollTop, clientHeight } = result;
  const { offsetTop, offsetHeight } = line;
  const isSeen = offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight;
  if (!isSeen) result.scrollTop = offsetTop - Math.max(0, clientHeight - offsetHeight) / 2;
}

/** What is shown is of an earlier text or choice until the next answer comes. */
export const markStale = () => main.classList.add("stale");

function lineOf(line, several) {
  const marked = several && line.isCurrent ? "current" : "";
  const paragraph = make("p", { class: marked, dir: "auto" }, ...inWords(line));
  if (line.words.length) {
    paragraph.role = "group";
    paragraph.ariaLabel = "Words of the translation";
  }
  return paragraph;
}

/** A line as nodes: the words of the alignment in spans, and what muting changed marked. */
function inWords({ now, full, words }) {
  const added = now === full ? [] : difference(full, now).filter((run) => run.kind === "added");
  const isChanged = ([start, end]) => added.some((run) => run.start < end && start < run.end);
  const nodes = [];
  let at = 0;
  const put = ([start, end], span) => {
    nodes.push(now.slice(at, start), span);
    at = end;
  };
  if (!words.length) {
    for (const { start, end, text } of added) put([start, end], make("span", { class: "changed" }, text));
  }
  locate(words, now).forEach((place, index) => {
    if (!place) return;
    const span = make("span", { class: "word", role: "button", tabIndex: nodes.length ? -1 : 0 }, now.slice(...place));
    span.dataset.word = index;
    if (isChanged(place)) span.classList.add("changed");
    put(place, span);
  });
  return [...nodes, now.slice(at)];
}

/**
 * What muting changed, in words: of one line, or of all lines that changed.
 * @param {Line[]} lines
 * @param {boolean} isMuted whether any unit is
 */
export function showDifference(lines, isMuted) {
  const changed = lines.filter(({ full, now }) => full !== now);
  const shown = changed.length ? changed : lines.filter((line) => line.isCurrent);
  byId("difference-title").textContent = isMuted
    ? `With muted units: ${extent(changed.length, lines.filter((line) => line.now || line.full).length)}`
    : "With all units";
  byId("difference").replaceChildren(...shown.map(({ full, now }) => make("p", { dir: "auto" }, ...asRuns(full, now))));
  const first = byId("difference").querySelector("ins, del");
  byId("difference").scrollTop = first?.offsetTop ?? 0; // in sight even in a long line
}

function extent(changed, all) {
  if (!changed) return "no word changes";
  return all === 1 ? "compared with all units" : `${changed} of ${all} lines ${changed === 1 ? "changes" : "change"}`;
}

function asRuns(full, now) {
  if (full === now) return [now];
  return difference(full, now).flatMap((run) => [run.spaced ? " " : "", nodeOf(run)]);
}

function nodeOf({ kind, text }) {
  if (kind === "same") return document.createTextNode(text);
  const [tag, said] = kind === "added" ? ["ins", "added: "] : ["del", "removed: "];
  return make(tag, {}, make("span", { class: "unseen" }, said), text);
}

/**
 * What the reader should know about the translations; of several lines, with their numbers.
 * @param {Line[]} lines
 */
export function showWarnings(lines) {
  const items = lines.flatMap(({ warnings }, index) =>
    warnings.map((each) => make("li", {}, lines.length > 1 ? `Line ${index + 1}: ${each}` : each)),
  );
  byId("warnings").hidden = !items.length;
  byId("warnings").replaceChildren(...items);
}

/** The next best translations, with their scores. */
export function showAlternatives(result, beam) {
  byId("alternatives").hidden = !result;
  if (!result) return;
  const items = result.alternatives.map(({ text, score }) =>
    make("li", {}, make("span", { dir: "auto" }, text), " ", make("span", { class: "score" }, score.toFixed(2))),
  );
  byId("alternative-list").replaceChildren(...items);
  byId("alternative-note").textContent = alternativeNote(result, beam, items.length);
}

function alternativeNote(result, beam, count) {
  if (count) {
    return `The numbers say how likely the model finds a translation: nearer to 0 is likelier. The one shown has ${result.score.toFixed(2)}.`;
  }
  return beam === 1 ? "A beam of 1 follows one translation only; choose a larger one." : "The model found no other.";
}

/** The plain text of what is shown, for the clipboard. */
export const shownText = () => [...translation.children].map((line) => line.textContent).join("\n");
