// From the model's pieces to words, and from two texts to their difference.

const END = "</s>";
const NAMES = new Map([[END, "‹end›"], ["<unk>", "‹unknown›"]]);
const SPACE = "\u2581"; // SentencePiece begins a word with it
const JOIN = "@@"; // subword-nmt ends a piece with it that goes on
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;
const BYTES = /(?:<0x[0-9A-F]{2}>)+/g;

/** What a reader sees of a piece: "▁houses" is houses, a piece inside a word gets a hyphen. */
export function pieceLabels(tokens) {
  const starts = wordStarts(tokens);
  return tokens.map((token, index) => {
    if (NAMES.has(token)) return NAMES.get(token);
    const text = plain(token);
    return starts[index] || PUNCTUATION.test(text) ? text : `-${text}`;
  });
}

/** Words as [{text, pieces: [index, …]}]. */
export function groupWords(tokens) {
  const starts = wordStarts(tokens);
  const words = [];
  tokens.forEach((token, index) => {
    // A piece that is only a space goes with the word behind it.
    if (starts[index] && words.at(-1)?.text !== "") words.push({ text: "", pieces: [] });
    const word = words.at(-1);
    word.text += NAMES.get(token) ?? strip(token);
    word.pieces.push(index);
  });
  for (const word of words) word.text = decodeBytes(word.text);
  return words.filter((word) => word.text !== "");
}

function wordStarts(tokens) {
  const spaced = tokens.some((token) => token.startsWith(SPACE));
  return tokens.map((token, index) => {
    if (index === 0 || token === END || tokens[index - 1] === END) return true;
    if (!spaced) return !tokens[index - 1].endsWith(JOIN);
    // Without spaces between words there is nothing to group by; punctuation is no part of a word.
    const apart = (each) => UNSPACED.test(each) || PUNCTUATION.test(plain(each));
    return token.startsWith(SPACE) || apart(token) || apart(tokens[index - 1]);
  });
}

const strip = (token) => (token.endsWith(JOIN) ? token.slice(0, -JOIN.length) : token).replaceAll(SPACE, "");

/** A piece as text; one that is only the space before a word stays visible. */
const plain = (token) => strip(token) || SPACE;

/** Byte pieces, <0xC3><0xA9>, as the characters they spell. */
function decodeBytes(text) {
  return text.replace(BYTES, (run) => {
    const bytes = run.match(/[0-9A-F]{2}(?=>)/g).map((hex) => parseInt(hex, 16));
    return new TextDecoder().decode(new Uint8Array(bytes));
  });
}

/**
 * How much each word of the translation looked at each word of the text.
 *
 * The attention on a source word's pieces is added up. Over the pieces of a target word it is
 * averaged, so that every target word's shares still make 1.
 * @returns {{source: object[], target: object[], shares: number[][]}|null} null if the pieces and
 *   the attention do not fit
 */
export function alignment({ tokens, source_tokens: sourceTokens, attention }) {
  const fits = attention?.length === tokens.length + 1 && attention[0]?.length === sourceTokens.length;
  if (!fits || !tokens.length) return null;
  const source = groupWords(sourceTokens);
  const target = groupWords(tokens);
  const share = (to, from) => {
    const looks = to.pieces.flatMap((t) => from.pieces.map((s) => attention[t][s]));
    return looks.reduce((sum, value) => sum + value, 0) / to.pieces.length;
  };
  return { source, target, shares: target.map((to) => source.map((from) => share(to, from))) };
}

const MOST_COMPARED = 4e6; // pairs of words: the table of a longer line would take too much memory
const PARTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|[^\s]/gu;

/**
 * How `before` became `after`, word by word, along their longest common subsequence; in very long
 * texts along a shorter one.
 * @returns {{kind: "same"|"added"|"removed", text: string, spaced: boolean, start: number,
 *   end: number}[]} runs in reading order; `spaced` if a space stands before them, `start` and
 *   `end` in `before` for what was removed, otherwise in `after`
 */
export function difference(before, after) {
  const a = [...before.matchAll(PARTS)];
  const b = [...after.matchAll(PARTS)];
  const common = a.length * b.length > MOST_COMPARED ? null : commonLengths(a, b);
  const runs = [];
  const put = (kind, word, text) => {
    const end = word.index + word[0].length;
    if (runs.at(-1)?.kind === kind) runs.at(-1).end = end;
    else runs.push({ kind, start: word.index, end, spaced: needsSpace(word, text, runs.length) });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i][0] === b[j][0]) {
      put("same", b[j], after);
      i += 1;
      j += 1;
    } else if (j === b.length || (i < a.length && (!common || common[i + 1][j] >= common[i][j + 1]))) {
      put("removed", a[i], before);
      i += 1;
    } else {
      put("added", b[j], after);
      j += 1;
    }
  }
  const textOf = (run) => (run.kind === "removed" ? before : after).slice(run.start, run.end);
  return runs.map((run) => ({ ...run, text: textOf(run) }));
}

/** Whether to write a space before a word: as its text has it, or after what only the other had. */
function needsSpace(word, text, earlierRuns) {
  if (word.index > 0) return /\s/.test(text[word.index - 1]);
  return earlierRuns > 0 && !UNSPACED.test(word[0]);
}

/** common[i][j]: how many words of a from i and b from j are shared, in order. */
function commonLengths(a, b) {
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i][j] =
        a[i][0] === b[j][0]
          ? common[i + 1][j + 1] + 1
          : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

/** Where each word stands in the text, as [start, end]; null for one that is written otherwise. */
export function locate(words, text) {
  let from = 0;
  return words.map((word) => {
    const start = text.indexOf(word.text, from);
    if (start < 0) return null;
    from = start + word.text.length;
    return [start, from];
  });
}
