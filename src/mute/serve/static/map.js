// One unit's attention as a map: rows look at columns, strong cells are strong in colour.

import { isolated, make, makeSvg } from "./dom.js";

const HIDDEN = 0.05; // as in the paper's case study
const CELL = { least: 4, labelled: 9, most: 30 }; // smaller cells than `labelled` have no room
const LONGEST = 9; // letters of a label
const pen = document.createElement("canvas").getContext("2d"); // knows how wide letters are

/** A map that can be filled again and again; `element` goes into the page. */
export class AttentionMap {
  constructor(name) {
    this.name = name;
    this.matrix = null;
    this.at = null; // [row, column] under the pointer or the keyboard
    this.readout = make("p", { "aria-live": "polite" });
    this.frame = make("div", { class: "map" });
    this.foot = make("div", { class: "readout" }, this.readout);
    this.element = make("div", {}, this.frame, this.foot);
    this.frame.addEventListener("pointermove", (event) => this.#point(event));
    this.frame.addEventListener("pointerdown", (event) => this.#point(event));
    // A finger leaves with every tap, which is to show a cell; and what has the focus keeps its place.
    this.frame.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse" && document.activeElement !== this.frame) this.#select(null);
    });
    this.frame.addEventListener("keydown", (event) => this.#step(event));
    this.frame.addEventListener("focus", () => this.#select(this.at ?? [0, 0]));
    this.frame.addEventListener("blur", () => this.#select(null));
    new ResizeObserver(() => this.#draw()).observe(this.frame);
  }

  /** Show another matrix; null for a unit that has none. */
  show(matrix, labels) {
    const same = matrix === this.matrix;
    this.matrix = matrix;
    this.labels = labels;
    this.#offerCells(matrix !== null);
    if (!same) this.#draw(true);
  }

  /** Let keyboard, screen reader and pointer find the cells, if there are any. */
  #offerCells(any) {
    const words = {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "attention map",
      "aria-label": `${this.name}: attention, arrow keys move from cell to cell`,
    };
    for (const [name, value] of Object.entries(words)) {
      if (any) this.frame.setAttribute(name, value);
      else this.frame.removeAttribute(name);
    }
    this.foot.dataset.hint = any ? "Point at a cell for its value." : "";
  }

  #draw(again = false) {
    const width = this.frame.clientWidth;
    if (!again && width === this.drawnAt) return;
    this.drawnAt = width;
    if (!this.matrix) {
      this.frame.replaceChildren(make("p", { class: "quiet" }, "This unit reads without attention."));
      return;
    }
    const size = this.matrix.length;
    const short = this.#layOut(width);
    const side = this.margin + size * this.cell + 1;
    this.cursor = makeSvg("g", { class: "cursor" });
    this.svg = makeSvg(
      "svg",
      { width: side, height: side, "aria-hidden": "true" },
      this.#ground(size),
      makeSvg("g", { class: "cells" }, ...this.#cells()),
      makeSvg("g", { class: "labels", "font-size": this.font }, ...short.flatMap((label, index) => this.#labels(label, index))),
      this.cursor,
    );
    this.frame.replaceChildren(this.svg);
    this.#select(document.activeElement === this.frame ? this.at : null);
  }

  /** Choose the sizes of all parts; returns the labels, none if there is no room for them. */
  #layOut(width) {
    const size = this.matrix.length;
    const short = this.labels.map(shortened);
    const letters = Math.max(...short.map((label) => this.#widthOf(label)));
    const fitting = (room) => Math.floor(room / size);
    this.font = clamp(fitting((width * size) / (size + letters)), CELL.labelled, 12);
    this.margin = Math.ceil(letters * this.font + 8);
    this.cell = Math.min(fitting(width - this.margin - 2), CELL.most);
    if (this.cell >= CELL.labelled) return short;
    this.margin = 1;
    this.cell = Math.max(fitting(width - 2), CELL.least);
    return [];
  }

  /** Of a label in the page's font, as a multiple of its size. */
  #widthOf(label) {
    pen.font = `100px ${getComputedStyle(this.frame).fontFamily}`;
    return pen.measureText(label).width / 100;
  }

  #ground(size) {
    const side = size * this.cell;
    return makeSvg("rect", { class: "ground", x: this.margin, y: this.margin, width: side, height: side });
  }

  #cells() {
    const { cell, margin } = this;
    return this.matrix.flatMap((row, y) =>
      row.flatMap((value, x) => {
        if (value < HIDDEN) return [];
        const place = { x: margin + x * cell + 0.5, y: margin + y * cell + 0.5 };
        // The root spreads the many small values apart, which would all look alike.
        const strength = Math.sqrt(Math.min(value, 1)).toFixed(3);
        const gap = cell < CELL.labelled ? 0 : 1;
        return [makeSvg("rect", { ...place, width: cell - gap, height: cell - gap, "fill-opacity": strength })];
      }),
    );
  }

  #labels(label, index) {
    const middle = this.margin + (index + 0.5) * this.cell;
    const edge = this.margin - 5;
    return [
      makeSvg("text", { x: edge, y: middle + this.font / 3, "text-anchor": "end" }, label),
      makeSvg("text", { transform: `translate(${middle + this.font / 3} ${edge}) rotate(-90)` }, label),
    ];
  }

  #point(event) {
    if (!this.svg?.isConnected) return;
    const box = this.svg.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.margin) / this.cell);
    const row = Math.floor((event.clientY - box.top - this.margin) / this.cell);
    const inside = row in (this.matrix ?? []) && column in this.matrix;
    this.#select(inside ? [row, column] : null);
  }

  #step(event) {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step || !this.matrix) return;
    event.preventDefault();
    const last = this.matrix.length - 1;
    this.#select((this.at ?? [0, 0]).map((at, axis) => clamp(at + step[axis], 0, last)));
  }

  #select(at) {
    const known = this.matrix && at && at.every((place) => place < this.matrix.length);
    this.at = known ? at : null;
    this.cursor?.replaceChildren();
    this.readout.textContent = "";
    if (!known) return;
    const [row, column] = at;
    const { cell, margin } = this;
    const frame = { x: margin + column * cell, y: margin + row * cell, width: cell, height: cell };
    this.cursor.append(makeSvg("rect", frame));
    const value = this.matrix[row][column];
    const shown = value < HIDDEN ? "under 0.05" : value.toFixed(2);
    this.readout.textContent = `${isolated(this.labels[row])} → ${isolated(this.labels[column])}: ${shown}`;
  }
}

const clamp = (value, least, most) => Math.max(least, Math.min(value, most));

function shortened(label) {
  const letters = [...label];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : label;
}
