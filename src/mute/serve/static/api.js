// The server's calls. What goes wrong becomes a Problem: a sentence for the reader.

const REMEMBERED = 60; // lines that were looked into: moving and muting back and forth ask once
const TRANSLATED = 5000; // translations are small
// A long text goes in several requests: none is too large or takes too long for the server, and
// what has come stays if the reader types on.
const AT_ONCE = { lines: 50, letters: 10_000 };

/** Something to tell the reader. */
export class Problem extends Error {
  /**
   * @param {string} message a sentence or more
   * @param {{retryAfter?: number, needsKey?: boolean, tooLong?: boolean, tooMuch?: boolean,
   *   restarted?: boolean}} [cure] seconds after which the server wants to be asked again; whether it
   *   wants an API key, a shorter line, less at once, or to be asked what models it has now
   */
  constructor(message, cure = {}) {
    super(message);
    Object.assign(this, cure);
  }
}

let apiKey = ""; // only here, gone with the page
let instance = null; // of the server; it names itself anew at every start

/** Send this key with every question from now on. */
export const setApiKey = (key) => {
  apiKey = key;
};

/** The models the server has. */
export const models = () => call("v1/models");

/**
 * How the reader wants lines translated.
 * @typedef {{model: object, beam: number, muted: object}} Way
 */

const inspected = new Map();
const translated = new Map();
const keyOf = (line, { model, beam, muted }) => JSON.stringify([line, model.name, beam, muted]);

/**
 * A line's translation and what happened in the units.
 * @param {string} line
 * @param {Way} way
 * @param {number} nbest how many translations
 */
export async function inspect(line, way, nbest, signal) {
  const key = keyOf(line, way);
  if (!inspected.has(key)) {
    const { model, beam, muted } = way;
    const question = { q: line, model: model.name, beam, nbest, muted };
    const answer = await call("v1/inspect", question, signal);
    remember(inspected, key, answer, REMEMBERED);
    remember(translated, key, { text: answer.text, warnings: answer.warnings }, TRANSLATED);
  }
  return inspected.get(key);
}

/**
 * The translations of several lines; only those not seen before are asked for.
 * @param {string[]} lines
 * @param {Way} way
 * @returns {Promise<{text: string, warnings: string[]}[]>}
 */
export async function translate(lines, way, signal) {
  const answers = new Map(lines.map((line) => [line, translated.get(keyOf(line, way))]));
  const unknown = [...answers.keys()].filter((line) => answers.get(line) === undefined);
  for (const portion of portions(unknown)) {
    const found = await translateAtOnce(portion, way, signal);
    portion.forEach((line, index) => answers.set(line, found[index]));
  }
  return lines.map((line) => answers.get(line));
}

/** In one request, or in two halves if that is too much for the server. */
async function translateAtOnce(q, way, signal) {
  const { model, beam, muted } = way;
  const { source, target, name } = model;
  const question = { q, source, target, model: name, beam, muted, warnings: true };
  try {
    const { translatedText, warnings } = await call("translate", question, signal);
    return q.map((line, index) => {
      const answer = { text: translatedText[index], warnings: warnings[index] };
      remember(translated, keyOf(line, way), answer, TRANSLATED);
      return answer;
    });
  } catch (error) {
    if (!error.tooMuch || q.length === 1) throw error;
    const half = Math.ceil(q.length / 2);
    const first = await translateAtOnce(q.slice(0, half), way, signal);
    return [...first, ...(await translateAtOnce(q.slice(half), way, signal))];
  }
}

function portions(lines) {
  const all = [];
  let letters = 0;
  for (const line of lines) {
    letters += line.length;
    if (!all.length || all.at(-1).length === AT_ONCE.lines || letters > AT_ONCE.letters) {
      all.push([]);
      letters = line.length;
    }
    all.at(-1).push(line);
  }
  return all;
}

function remember(known, key, answer, most) {
  known.set(key, answer);
  if (known.size > most) known.delete(known.keys().next().value);
}

async function call(path, question, signal) {
  const post = question && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(apiKey ? { ...question, api_key: apiKey } : question),
  };
  let response;
  try {
    response = await fetch(path, { ...post, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(
      navigator.onLine
        ? "The server does not answer. Is it still running?"
        : "You are offline. The translation goes on when the connection is back.",
    );
  }
  refuseAnother(response.headers.get("Mute-Instance"));
  const answer = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (response.ok && answer !== null) return answer;
  throw problemOf(response, answer);
}

/** A server that was started anew may have another model of the same name. */
function refuseAnother(answering) {
  const known = instance;
  instance = answering ?? known;
  if (known === null || known === instance) return;
  inspected.clear();
  translated.clear();
  throw new Problem("The server was started anew.", { restarted: true });
}

function problemOf(response, answer) {
  // The server names the field; here there is only one text it can mean.
  const said = String(answer?.error ?? "").replace(/^(Invalid request: )?q: /, "");
  if ([429, 502, 503].includes(response.status)) {
    const retryAfter = secondsUntil(response.headers.get("Retry-After"));
    return new Problem(asSentence(said || "The server is busy"), { retryAfter });
  }
  if (response.status === 403) {
    return new Problem(asSentence(said || "This server wants an API key"), { needsKey: true });
  }
  if (response.status === 413) {
    return new Problem(asSentence(said || "The text is too long"), { tooLong: true, tooMuch: true });
  }
  if (response.status === 504) {
    return new Problem(asSentence(said || "The server took too long"), { tooMuch: true });
  }
  return new Problem(asSentence(said || `The server could not do that (status ${response.status})`));
}

function asSentence(text) {
  const begun = /^\w+:/.test(text) ? text : text[0].toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Retry-After is a number of seconds or a date. */
function secondsUntil(header) {
  const seconds = Number(header ?? NaN);
  const until = Number.isNaN(seconds) ? (Date.parse(header) - Date.now()) / 1000 : seconds;
  return Math.max(1, Math.ceil(Number.isNaN(until) ? 2 : until));
}
