// The server's calls. What goes wrong becomes a Problem: a sentence for the reader.

const REMEMBERED = 60; // answers kept, so that muting and moving between lines ask once

/** Something to tell the reader. */
export class Problem extends Error {
  /**
   * @param {string} message a sentence or more
   * @param {{retryAfter?: number, needsKey?: boolean, tooLong?: boolean}} [cure] seconds after which
   *   the server wants to be asked again; whether it wants an API key, or a shorter text
   */
  constructor(message, cure = {}) {
    super(message);
    Object.assign(this, cure);
  }
}

let apiKey = ""; // only here, gone with the page

/** Send this key with every question from now on. */
export const setApiKey = (key) => {
  apiKey = key;
};

/** The models the server has. */
export const models = () => call("v1/models");

const inspected = new Map();

/**
 * A line's translation and what happened in the units.
 * @param {{q: string, model: string, beam: number, nbest: number, muted: object}} question
 */
export async function inspect(question, signal) {
  const key = JSON.stringify(question);
  if (!inspected.has(key)) remember(inspected, key, await call("v1/inspect", question, signal));
  return inspected.get(key);
}

const translated = new Map();

/** The translations of several lines; only those not seen before are asked for. */
export async function translate(lines, model, signal) {
  const key = (line) => JSON.stringify([model.name, line]);
  const answers = new Map(lines.map((line) => [line, translated.get(key(line))]));
  const unknown = [...answers.keys()].filter((line) => answers.get(line) === undefined);
  if (unknown.length) {
    const { source, target, name } = model;
    const question = { q: unknown, source, target, model: name, alternatives: 0 };
    const { translatedText } = await call("translate", question, signal);
    unknown.forEach((line, index) => {
      answers.set(line, translatedText[index]);
      remember(translated, key(line), translatedText[index], 20 * REMEMBERED);
    });
  }
  return lines.map((line) => answers.get(line));
}

function remember(known, key, answer, most = REMEMBERED) {
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
  const answer = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (response.ok && answer !== null) return answer;
  throw problemOf(response, answer);
}

function problemOf(response, answer) {
  // The server names the field; here there is only one text it can mean.
  const said = String(answer?.error ?? "").replace(/^(Invalid request: )?q: /, "");
  if (response.status === 503) {
    const retryAfter = secondsUntil(response.headers.get("Retry-After"));
    return new Problem(asSentence(said || "The server is busy"), { retryAfter });
  }
  if (response.status === 403) {
    return new Problem(asSentence(said || "This server wants an API key"), { needsKey: true });
  }
  if (response.status === 413) {
    return new Problem(asSentence(said || "The text is too long"), { tooLong: true });
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
