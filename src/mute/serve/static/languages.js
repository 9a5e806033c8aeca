// Languages by their codes, also those that people write their own way: zho_Hans, x.

const NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** A code as browsers write it: zho-Hans. */
export const languageTag = (code) => code.replaceAll("_", "-");

/** The English name of a language; the code itself if it is not known or no code at all. */
export function languageName(code) {
  try {
    return NAMES.of(languageTag(code));
  } catch {
    return code;
  }
}
