// What the reader does, and what the page does about it.

import { showAlignment } from "./aligned.js";
import { inspect, models, Problem, setApiKey, translate } from "./api.js";
import { byId, make } from "./dom.js";
import { languageName, languageTag } from "./languages.js";
import * as output from "./output.js";
import { Inspector } from "./units.js";
import { alignment } from "./words.js";

const PAUSE = 250; // ms without a key before the text is sent
const MOST_ALTERNATIVES = 4;
const OUR_FAULT = "Something went wrong in this page. Try again, or load it anew.";

const source = byId("source");
const inspector = new Inspector(update);
let known = []; // the models
let model = null;
let caret = 0; // the line it is in
let line = 0; // the one that is looked into
let pending = null; // the AbortController of the questions under way
let typing = 0; // timers
let retrying = 0;
let hadFocus = false; // whether the reader was at the problem when it was last cleared

/** Ask for all that the page shows now; questions still under way are out of date. */
async function update() {
  if (!model) return; // what went wrong with the models stays to be told and tried again
  clearTimeout(typing);
  pending?.abort();
  clearProblem();
  const lines = source.value.split("\n").map((each) => each.trim());
  caret = caretLine();
  line = nearestText(lines, caret);
  const mine = (pending = new AbortController());
  showBusy(false);
  if (!lines.some(Boolean)) {
    showNothing();
    return;
  }
  showBusy(true);
  try {
    const answers = await ask(lines, mine.signal);
    if (mine === pending) show(lines, answers);
  } catch (error) {
    mine.abort();
    if (mine === pending) tell(error, update);
  } finally {
    if (mine === pending) showBusy(false);
  }
}

/** All lines with all units and without the muted ones; the current line is looked into. */
async function ask(lines, signal) {
  const muted = inspector.mutedUnits();
  const whole = { model, beam: Number(byId("beam").value), muted: {} };
  const ways = Object.keys(muted).length ? [whole, { ...whole, muted }] : [whole];
  // One after the other: the server does one thing at a time anyway, and the current line first.
  const looked = await lookInto(lines[line], ways, signal);
  const texts = [];
  for (const way of ways) texts.push(await translate(lines.filter(Boolean), way, signal));
  return { before: texts[0], after: texts.at(-1), isMuted: ways.length > 1, ...looked };
}

/** What happened in the units, unless the line is too long for that. */
async function lookInto(text, ways, signal) {
  const nbest = Math.min(ways[0].beam, MOST_ALTERNATIVES);
  try {
    const answers = [];
    for (const way of ways) answers.push(await inspect(text, way, nbest, signal));
    return { full: answers[0], now: answers.at(-1) };
  } catch (error) {
    if (!error.tooLong) throw error;
    return { reason: `Translated, but not looked into: ${error.message}` };
  }
}

function show(lines, { before, after, isMuted, full, now, reason }) {
  const aligned = now ? alignment(now) : null;
  let at = -1;
  const shown = lines.map((text, index) => {
    const isCurrent = index === line;
    const words = isCurrent ? (aligned?.target ?? []) : [];
    if (!text) return { full: "", now: "", isCurrent, words, warnings: [] };
    at += 1;
    const { text: said, warnings } = after[at];
    return { full: before[at].text, now: said, isCurrent, words, warnings };
  });
  output.showLines(shown);
  byId("invitation").hidden = true;
  byId("copy").hidden = !navigator.clipboard;
  output.showDifference(shown, isMuted);
  byId("difference-box").hidden = !(now || isMuted);
  output.showWarnings(shown);
  output.showAlternatives(now, Number(byId("beam").value));
  showAlignment(aligned);
  inspector.show(full, now, reason);
}

function showNothing() {
  output.showLines([]);
  output.showWarnings([]);
  output.showAlternatives(null);
  showAlignment(null);
  inspector.show(null, null);
  byId("difference-box").hidden = true;
  byId("copy").hidden = true;
  byId("examples").replaceChildren(...model.examples.map(exampleOf));
  byId("examples").hidden = !model.examples.length;
  byId("invitation-text").textContent = model.examples.length
    ? "Type something, or begin with one of these:"
    : "Type something, and its translation appears here.";
  byId("invitation").hidden = false;
}

function exampleOf(text) {
  const lang = languageTag(model.source);
  const button = make("button", { type: "button", class: "example", lang }, text);
  button.addEventListener("click", () => {
    source.value = text;
    source.focus();
    update();
  });
  return make("li", {}, button);
}

function showBusy(busy) {
  byId("status").textContent = busy ? "Translating…" : "";
  if (busy) output.markStale();
}

function clearProblem() {
  clearTimeout(retrying);
  hadFocus = byId("problem").contains(document.activeElement);
  if (hadFocus) source.focus(); // what is hidden loses it to nowhere
  byId("problem").hidden = true;
}

/** Say what went wrong, and try again when the server said it makes sense. */
function tell(error, again) {
  if (error.restarted) {
    start();
    return;
  }
  const isKnown = error instanceof Problem;
  const { message, retryAfter, needsKey } = isKnown ? error : new Problem(OUR_FAULT);
  const seconds = retryAfter === 1 ? "a second" : `${retryAfter} seconds`;
  byId("problem-text").textContent = retryAfter ? `${message} Trying again in ${seconds}.` : message;
  byId("key-field").hidden = !needsKey;
  byId("problem").hidden = false;
  if (needsKey && hadFocus) byId("key").focus(); // the one that was sent is wrong
  byId("retry").onclick = again;
  clearTimeout(retrying);
  if (retryAfter) retrying = setTimeout(again, 1000 * retryAfter);
  if (!isKnown) throw error; // for the console
}

const caretLine = () => source.value.slice(0, source.selectionStart).split("\n").length - 1;

/** The line itself, or if it is empty the next above, or else below, that is not. */
function nearestText(lines, start) {
  const above = lines.findLastIndex((text, index) => text && index <= start);
  return above < 0 ? lines.findIndex(Boolean) : above;
}

function setModel(name) {
  model = known.find((each) => each.name === name);
  byId("source-title").textContent = languageName(model.source);
  byId("target-title").textContent = languageName(model.target);
  byId("takes").textContent = model.takes && `This model takes ${model.takes}.`;
  for (const each of [source, byId("source-words")]) each.lang = languageTag(model.source);
  for (const id of ["translation", "said", "alternative-list", "difference"]) {
    byId(id).lang = languageTag(model.target);
  }
  inspector.setModel(model);
}

async function start() {
  clearProblem();
  try {
    known = await models();
  } catch (error) {
    tell(error, start);
    return;
  }
  byId("model").replaceChildren(
    ...known.map(({ name, source: from, target: to }) =>
      make("option", { value: name }, `${name} (${from} → ${to})`),
    ),
  );
  byId("model").disabled = false;
  const { name } = known.find((each) => each.name === model?.name) ?? known[0];
  byId("model").value = name;
  setModel(name);
  update();
}

function listen() {
  source.addEventListener("input", () => {
    pending?.abort(); // its answer would stand there as if it were of this text
    pending = null;
    output.markStale();
    clearTimeout(typing);
    typing = setTimeout(update, PAUSE);
  });
  source.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    update();
  });
  for (const moved of ["keyup", "click"]) {
    source.addEventListener(moved, () => caretLine() !== caret && source.value.includes("\n") && update());
  }
  byId("model").addEventListener("change", () => {
    setModel(byId("model").value);
    update();
  });
  byId("beam").addEventListener("change", update);
  byId("key").addEventListener("input", () => setApiKey(byId("key").value));
  byId("key").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // or the text, which gets the focus, gets a line break as well
    byId("retry").click();
  });
  byId("copy").addEventListener("click", async () => {
    const copied = navigator.clipboard.writeText(output.shownText());
    byId("status").textContent = await copied.then(
      () => "Copied.",
      () => "The browser did not allow copying.",
    );
  });
  window.addEventListener("online", () => !byId("problem").hidden && byId("retry").click());
}

listen();
start();
