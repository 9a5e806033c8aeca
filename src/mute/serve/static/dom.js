// Small helpers to make elements: text is always set as text, never as markup.

/** The element with this id; the page has it. */
export const byId = (id) => document.getElementById(id);

/**
 * A new element.
 * @param {string} name the tag
 * @param {object} [properties] set on the element; `class`, `role` and names with a dash as attributes
 * @param {...(Node|string)} children
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class" || key === "role" || key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

/** The same for SVG, where everything is an attribute. */
export function makeSvg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** One tab stop for many elements: the arrow keys, Home and End move among them. */
export function rove(group) {
  group.addEventListener("keydown", (event) => {
    const items = [...group.querySelectorAll("[tabindex]")];
    const at = items.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    let next = step === undefined ? undefined : at + step;
    if (event.key === "Home") next = 0;
    if (event.key === "End") next = items.length - 1;
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    items[Math.max(0, Math.min(next, items.length - 1))].focus();
  });
  group.addEventListener("focusin", (event) => {
    for (const item of group.querySelectorAll("[tabindex]")) {
      item.tabIndex = item === event.target ? 0 : -1;
    }
  });
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** A word for a sentence of another direction, which it must not turn around. */
export const isolated = (word) => (RIGHT_TO_LEFT.test(word) ? `\u2068${word}\u2069` : word);
