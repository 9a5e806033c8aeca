// What the reader does, and what the page does about it.

import { showAlignment } from "./aligned.js";
import { inspect, models, Problem, setApiKey, translate } from "./api.js";
import { byId, make } from "./dom.js";
import * as output from "./output.js";
import { Inspector } from "./units.js";
import { alignment } from "./words.js";

const PAUSE = 250; // ms without a key before the text is sent
const MOST_ALTERNATIVES = 4;
const EXAMPLES = [
  "A small dog runs through the deep snow.",
  "Two old houses stand near the river.",
  "The children are playing in the garden with a red ball.",
];

const source = byId("source");
const inspector = new Inspector(update);
let known = []; // the models
let model = null;
let line = 0; // the one the caret is in
let pending = null; // the AbortController of the questions under way
let typing = 0; // timers
let retrying = 0;

/** Ask for all that the page shows now; questions still under way are out of date. */
async function update() {
  clearTimeout(typing);
  pending?.abort();
  clearProblem();
  if (!model) return;
  line = caretLine();
  const lines = source.value.split("\n").map((each) => each.trim());
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

/** The current line is looked into, the others are only translated. */
async function ask(lines, signal) {
  const others = lines.filter((text, index) => text && index !== line);
  const [translated, looked] = await Promise.all([
    others.length ? translate(others, model, signal) : [],
    lines[line] ? lookInto(lines[line], signal) : {},
  ]);
  return { translated, ...looked };
}

/** With and without muting; a line that is too long for that is translated all the same. */
async function lookInto(text, signal) {
  const muted = inspector.mutedUnits();
  try {
    const whole = inspect(question(text, {}), signal);
    const rest = Object.keys(muted).length ? inspect(question(text, muted), signal) : whole;
    const [full, now] = await Promise.all([whole, rest]);
    return { full, now };
  } catch (error) {
    if (!error.tooLong) throw error;
    const [plain] = await translate([text], model, signal);
    return { plain, reason: `Translated, but not looked into: ${error.message}` };
  }
}

function question(q, muted) {
  const beam = Number(byId("beam").value);
  return { q, model: model.name, beam, nbest: Math.min(beam, MOST_ALTERNATIVES), muted };
}

function show(lines, { translated, full, now, plain, reason }) {
  const aligned = now ? alignment(now) : null;
  const others = translated.values();
  output.showLines(
    lines.map((text, index) => {
      if (!text) return { text: "" };
      if (index !== line) return { text: others.next().value };
      if (!now) return { text: plain };
      return { text: now.text, words: aligned?.target ?? [], full: full.text };
    }),
  );
  byId("invitation").hidden = true;
  byId("copy").hidden = !navigator.clipboard;
  if (now) output.showDifference(full.text, now.text, now !== full);
  output.showWarnings(now?.warnings ?? []);
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
  byId("copy").hidden = true;
  const english = model.source === "en";
  byId("examples").hidden = !english;
  byId("invitation-text").textContent = english
    ? "Type something, or begin with one of these:"
    : "Type something, and its translation appears here.";
  byId("invitation").hidden = false;
}

function showBusy(busy) {
  byId("status").textContent = busy ? "Translating…" : "";
  if (busy) output.markStale();
}

function clearProblem() {
  clearTimeout(retrying);
  byId("problem").hidden = true;
}

/** Say what went wrong, and try again when the server said it makes sense. */
function tell(error, again) {
  if (!(error instanceof Problem)) throw error;
  const { message, retryAfter, needsKey } = error;
  const seconds = retryAfter === 1 ? "a second" : `${retryAfter} seconds`;
  byId("problem-text").textContent = retryAfter ? `${message} Trying again in ${seconds}.` : message;
  byId("key-field").hidden = !needsKey;
  byId("problem").hidden = false;
  byId("retry").onclick = again;
  clearTimeout(retrying);
  if (retryAfter) retrying = setTimeout(again, 1000 * retryAfter);
}

const caretLine = () => source.value.slice(0, source.selectionStart).split("\n").length - 1;

function setModel(name) {
  model = known.find((each) => each.name === name);
  const nameOf = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
  byId("source-title").textContent = nameOf.of(model.source);
  byId("target-title").textContent = nameOf.of(model.target);
  source.lang = model.source;
  byId("translation").lang = model.target;
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
  setModel(known[0].name);
  update();
}

function listen() {
  source.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(update, PAUSE);
  });
  source.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    update();
  });
  for (const moved of ["keyup", "click"]) {
    source.addEventListener(moved, () => caretLine() !== line && source.value.includes("\n") && update());
  }
  byId("model").addEventListener("change", () => {
    setModel(byId("model").value);
    update();
  });
  byId("beam").addEventListener("change", update);
  byId("key").addEventListener("input", () => setApiKey(byId("key").value));
  byId("key").addEventListener("keydown", (event) => event.key === "Enter" && byId("retry").click());
  byId("copy").addEventListener("click", async () => {
    const copied = navigator.clipboard.writeText(output.shownText());
    byId("status").textContent = await copied.then(
      () => "Copied.",
      () => "The browser did not allow copying.",
    );
  });
  window.addEventListener("online", () => !byId("problem").hidden && byId("retry").click());
  const offered = EXAMPLES.map((text) => {
    const button = make("button", { type: "button", class: "example" }, text);
    button.addEventListener("click", () => {
      source.value = text;
      source.focus();
      update();
    });
    return make("li", {}, button);
  });
  byId("examples").replaceChildren(...offered);
}

listen();
start();
