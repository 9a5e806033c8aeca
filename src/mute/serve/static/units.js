// Inside the units: for the chosen layer one card per unit, with its weight, map and switch.

import { byId, make } from "./dom.js";
import { AttentionMap } from "./map.js";
import { pieceLabels } from "./words.js";

const MANY = 20; // pieces; more need wider maps
const KINDS = {
  identity: "trained on sentences as they are",
  swap: "trained with two nearby words exchanged",
  disorder: "trained with three neighbouring words shuffled",
  mask: "trained with one word hidden",
};

/** The lower half of the page. `muted` maps a layer to the set of its muted units. */
export class Inspector {
  /** @param {() => void} onMute called after the reader muted or unmuted something */
  constructor(onMute) {
    this.onMute = onMute;
    this.muted = new Map();
    this.layer = 0;
    this.cards = [];
    this.shown = null;
    byId("unmute").addEventListener("click", () => {
      // The button is about to go, and what is hidden takes no focus.
      const next = this.shown ? byId("layers").querySelector("input:checked") : byId("source");
      next.focus();
      this.muted.clear();
      this.#changed();
    });
  }

  /** Another model: its layers and units, none muted. */
  setModel(model) {
    this.model = model;
    this.muted.clear();
    this.layer = 0;
    this.show(null, null);
    const radios = Array.from({ length: model.layers }, (_, index) => this.#radio(index));
    byId("layers").replaceChildren(byId("layers").firstElementChild, ...radios);
    this.cards = Array.from({ length: model.units }, (_, unit) => this.#card(unit));
    byId("units").replaceChildren(...this.cards.map((card) => card.element));
    this.#drawSwitches();
  }

  /** As the server wants it: {"0": [1, 2]}, whole layers left out. */
  mutedUnits() {
    const layers = [...this.muted].filter(([, units]) => units.size).sort(([a], [b]) => a - b);
    return Object.fromEntries(layers.map(([layer, units]) => [layer, [...units].sort((a, b) => a - b)]));
  }

  /** The answers of the full model and of the one with muted units, or why there are none. */
  show(full, now, reason = "Translate a line to look inside.") {
    this.shown = full && now && { full, now };
    byId("inspector").hidden = !this.shown;
    byId("inside-empty").hidden = Boolean(this.shown);
    byId("inside-empty").textContent = reason;
    if (this.shown) this.#drawLayer();
  }

  #radio(index) {
    const input = make("input", { type: "radio", name: "layer", value: index, checked: index === 0 });
    input.addEventListener("change", () => {
      this.layer = index;
      this.#drawSwitches();
      if (this.shown) this.#drawLayer();
    });
    return make("label", { class: "segment" }, input, make("span", {}, String(index)));
  }

  #card(unit) {
    const kind = this.model.bias[unit] ?? "identity"; // units that are not named read plainly
    const name = `Unit ${unit}`;
    const input = make("input", { type: "checkbox", role: "switch" });
    input.setAttribute("aria-label", `Mute unit ${unit}`);
    input.addEventListener("change", () => this.#mute(unit, input.checked));
    const card = {
      input,
      map: new AttentionMap(name),
      weight: make("span", { class: "number" }),
      bar: make("span", { class: "fill" }),
      place: make("p", { class: "quiet" }),
    };
    const head = make("div", { class: "head" }, make("h3", {}, name), make("label", { class: "switch" }, input, "Mute"));
    card.element = make(
      "article",
      { class: "unit", "aria-label": name },
      head,
      make("p", {}, make("strong", {}, kind), make("span", { class: "quiet" }, `: ${KINDS[kind] ?? ""}`)),
      make("div", { class: "weight" }, make("span", {}, "Weight"), make("span", { class: "bar" }, card.bar), card.weight),
      card.place,
      card.map.element,
    );
    return card;
  }

  #mute(unit, silent) {
    const units = this.muted.get(this.layer) ?? new Set();
    if (silent) units.add(unit);
    else units.delete(unit);
    this.muted.set(this.layer, units);
    this.#changed();
  }

  #changed() {
    this.#drawSwitches();
    this.onMute();
  }

  #drawSwitches() {
    const units = this.muted.get(this.layer) ?? new Set();
    this.cards.forEach(({ input, element }, unit) => {
      const last = !units.has(unit) && units.size === this.cards.length - 1;
      input.checked = units.has(unit);
      input.disabled = last;
      input.parentElement.title = last ? "One unit of every layer has to stay." : "";
      element.classList.toggle("muted", units.has(unit));
    });
    const touched = this.mutedUnits();
    byId("layers").querySelectorAll("label").forEach((label, index) => {
      label.classList.toggle("touched", index in touched);
      label.title = index in touched ? "Some units of this layer are muted." : "";
      const said = index in touched ? `Layer ${index}, some units muted` : `Layer ${index}`;
      label.firstElementChild.setAttribute("aria-label", said);
    });
    byId("unmute").hidden = !Object.keys(touched).length;
  }

  #drawLayer() {
    const { full, now } = this.shown;
    const before = full.layers[this.layer];
    const after = now.layers[this.layer];
    const { order, settled } = before;
    const most = Math.max(...[...before.weights, ...after.weights].map(Math.abs), 1e-9);
    const labels = pieceLabels(now.source_tokens);
    byId("units").classList.toggle("wide", labels.length > MANY);
    this.cards.forEach((card, unit) => {
      const weight = after.weights[unit];
      card.weight.textContent = weightText(before.weights[unit], weight);
      card.bar.style.width = `${(100 * Math.abs(weight)) / most}%`;
      card.place.textContent = placeText(order, settled, unit);
      card.map.show(after.attention?.[unit] ?? null, labels);
    });
    byId("order").textContent = orderText(order, settled, this.cards.length);
  }
}

function placeText(order, settled, unit) {
  if (!order) return "";
  return `Place ${order.indexOf(unit) + 1} of ${order.length} in the ${settled ? "order" : "nearest order"}`;
}

function orderText(order, settled, units) {
  if (units === 1) return "This model has a single unit in each layer.";
  if (!order) return "This model has no learned order: a layer adds up its units by their weights.";
  const sequence = `unit ${order.join(" → unit ")}`;
  return settled
    ? `Learned order: ${sequence}`
    : `No order yet: some units share a place. The nearest order: ${sequence}`;
}

function weightText(before, now) {
  const text = now.toFixed(2);
  return text === before.toFixed(2) ? text : `${text} (was ${before.toFixed(2)})`;
}
