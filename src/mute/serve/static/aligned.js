// Word by word: the words of the text, those of the translation, and the light from one on the other.

import { byId, isolated, make, rove } from "./dom.js";

const places = { source: byId("source-words"), target: byId("translation") };
const readout = byId("alignment-readout");
const NAMED = 0.05; // smaller shares are not worth a word

let current = null; // {source, target, shares}

for (const [side, place] of Object.entries(places)) {
  rove(place);
  place.addEventListener("pointerover", (event) => lightFrom(side, event.target));
  place.addEventListener("focusin", (event) => lightFrom(side, event.target));
  place.addEventListener("pointerleave", dark);
  place.addEventListener("focusout", dark);
}

/** Show the source words of an alignment, or nothing if there is none. */
export function showAlignment(alignment) {
  current = alignment;
  byId("alignment").hidden = !alignment;
  places.source.replaceChildren(...chips(alignment?.source ?? []));
  dark();
}

function chips(words) {
  return words.flatMap((word, index) => {
    const chip = make("span", { class: "word chip", role: "button", tabIndex: index ? -1 : 0 }, word.text);
    chip.dataset.word = index;
    return [chip, " "];
  });
}

/** Light up what belongs to a word: for either side, its share of each word of the other. */
function lightFrom(side, element) {
  const index = Number(element.dataset.word ?? NaN);
  if (!current || Number.isNaN(index)) return;
  dark();
  const { shares } = current;
  const other = side === "target" ? "source" : "target";
  const values = side === "target" ? shares[index] : shares.map((row) => row[index]);
  const most = Math.max(...values, 1e-9);
  for (const span of spansOf(side, index)) span.classList.add("chosen");
  values.forEach((value, at) => {
    if (value < NAMED) return;
    for (const span of spansOf(other, at)) {
      span.classList.add("lit");
      span.style.setProperty("--light", `${Math.round((45 * value) / most)}%`);
    }
  });
  readout.textContent = inWords(side, index, values, current[other]);
}

function inWords(side, index, values, words) {
  const strongest = values
    .map((value, at) => ({ value, word: words[at].text }))
    .filter(({ value }) => value >= NAMED)
    .sort((a, b) => b.value - a.value)
    .slice(0, 4)
    .map(({ value, word }) => `${isolated(word)} ${value.toFixed(2)}`)
    .join(", ");
  const verb = side === "target" ? "looks at" : "is looked at by";
  return `${isolated(current[side][index].text)} ${verb} ${strongest || "nothing in particular"}`;
}

const spansOf = (side, index) => places[side].querySelectorAll(`[data-word="${index}"]`);

function dark() {
  readout.textContent = "";
  for (const span of document.querySelectorAll(".lit, .chosen")) span.classList.remove("lit", "chosen");
}
