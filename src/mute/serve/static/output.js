// The right side: the translation, what muting changes, warnings and alternatives.

import { byId, make } from "./dom.js";
import { difference, locate } from "./words.js";

const translation = byId("translation");
const main = document.querySelector("main");

/**
 * Show the lines; the one that was looked into has its words apart, so that they can light up.
 * @param {{text: string, words?: object[], full?: string}[]} lines `words` of the inspected line,
 *   `full` what the full model says if units are muted
 */
export function showLines(lines) {
  const several = lines.length > 1;
  byId("lines-note").hidden = !several;
  translation.replaceChildren(
    ...lines.map(({ text, words, full }) =>
      make("p", { class: words && several ? "current" : "" }, ...inWords(text, words ?? [], full)),
    ),
  );
  main.classList.remove("stale");
}

/** What is shown is of an earlier text or choice until the next answer comes. */
export const markStale = () => main.classList.add("stale");

/** Text as nodes: the words of the alignment in spans, changed ones marked. */
function inWords(text, words, full) {
  const added = difference(full ?? text, text).filter((run) => run.kind === "added");
  const isChanged = ([start, end]) => added.some((run) => run.start < end && start < run.end);
  const nodes = [];
  let at = 0;
  locate(words, text).forEach((place, index) => {
    if (!place) return;
    const span = make("span", { class: "word", tabIndex: nodes.length ? -1 : 0 }, text.slice(...place));
    span.dataset.word = index;
    if (isChanged(place)) span.classList.add("changed");
    nodes.push(text.slice(at, place[0]), span);
    at = place[1];
  });
  return [...nodes, text.slice(at)];
}

/** What muting changed, in words; the same text twice if nothing is muted. */
export function showDifference(full, now, isMuted) {
  const runs = difference(full, now);
  const same = runs.every((run) => run.kind === "same");
  const compared = same ? "no word changes" : "compared with all units";
  byId("difference-title").textContent = isMuted ? `With muted units: ${compared}` : "With all units";
  byId("difference").replaceChildren();
  for (const run of runs) byId("difference").append(run.spaced ? " " : "", nodeOf(run));
  const first = byId("difference").querySelector("ins, del");
  byId("difference").scrollTop = first?.offsetTop ?? 0; // in sight even in a long line
}

function nodeOf({ kind, text }) {
  if (kind === "same") return document.createTextNode(text);
  const [tag, said] = kind === "added" ? ["ins", "added: "] : ["del", "removed: "];
  return make(tag, {}, make("span", { class: "unseen" }, said), text);
}

/** What the reader should know about this translation. */
export function showWarnings(warnings) {
  byId("warnings").hidden = !warnings.length;
  byId("warnings").replaceChildren(...warnings.map((each) => make("li", {}, each)));
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
