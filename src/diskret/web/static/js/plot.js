/** Plots as SVG, drawn by hand: lines, steps, bars, dots. What differs is told by line style and words, not by colour alone. */
import { el } from "./dom.js";
import { number, t } from "./i18n.js";

const NS = "http://www.w3.org/2000/svg";
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 16, 14, 40];
/** Half a page, and a whole one: letters stay the same size. */
const HALF = [480, 230];
const WHOLE = [940, 300];

function part(tag, given, text) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(given)) if (value !== undefined && value !== null) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The next round number at which an axis can end; quarters of it are round too. */
export function roundTop(most) {
  if (!(most > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(most));
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].find((step) => step * size >= most * (1 - 1e-12)) * size;
}

/** Round numbers along an axis, about five. */
function rounds(low, high) {
  const raw = (high - low) / 4 || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].find((each) => each * size >= raw) * size);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(v);
  return found;
}

/** Points on an axis that is counted in powers of ten. */
function decades(low, high) {
  const found = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += 1) {
    for (const step of high / low < 100 ? [1, 2, 5] : [1]) if (step * 10 ** e >= low && step * 10 ** e <= high) found.push(step * 10 ** e);
  }
  return found;
}

/**
 * A plot. `series`: [{name, values}], `x`: names (bars) or numbers; `kind`: lines, steps, bars, dots.
 * `rule`: a vertical line {at, name}; `cap`: a horizontal one; `log`: powers of ten on x; `percent`: y as percentage;
 * `whole`: as wide as the page.
 */
export function plot({ kind = "lines", title, x, series, xTitle = "", yTitle = "", percent = false, log = false, rule, cap, top, whole = false }) {
  const values = series.flatMap((each) => each.values).filter((v) => v !== null && v !== undefined);
  const [width, height] = whole ? WHOLE : HALF;
  const most = top ?? roundTop(Math.max(...values, cap?.at ?? 0, percent ? 0.01 : 1));
  const words = (v) => (percent ? `${number(Math.round(v * 1000) / 10)} %` : number(Math.round(v * 1000) / 1000));
  const svg = part("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said(title, x, series, kind, words) });
  const y = (v) => height - BOTTOM - ((height - BOTTOM - TOP) * Math.min(v, most)) / most;
  for (let i = 0; i <= 4; i += 1) {
    svg.append(part("line", { x1: LEFT, x2: width - RIGHT, y1: y((most * i) / 4), y2: y((most * i) / 4), class: i ? "faint" : "axis" }),
      part("text", { x: LEFT - 6, y: y((most * i) / 4) + 4, "text-anchor": "end" }, words((most * i) / 4)));
  }
  svg.append(part("text", { x: width - RIGHT, y: height - 6, "text-anchor": "end", class: "name" }, xTitle));
  if (kind === "bars") bars(svg, x, series, y, width, height);
  else curves(svg, kind, x, series, y, log, rule, width, height);
  if (cap) {
    svg.append(part("line", { x1: LEFT, x2: width - RIGHT, y1: y(cap.at), y2: y(cap.at), class: "cap" }),
      part("text", { x: width - RIGHT, y: y(cap.at) - 5, "text-anchor": "end", class: "name" }, cap.name));
  }
  return el("figure", { class: "plot" }, el("figcaption", {}, el("strong", {}, title), yTitle ? el("small", {}, yTitle) : null, legend(kind, series)), svg);
}

function scale(x, log, width) {
  const numbers = x.map(Number);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const to = (v) => (log ? Math.log10(Math.max(v, 1e-9)) : v);
  const span = to(high) - to(low) || 1;
  return { low, high, at: (v) => LEFT + ((width - LEFT - RIGHT) * (to(v) - to(low))) / span };
}

function curves(svg, kind, x, series, y, log, rule, width, height) {
  if (!x.length) return;
  const { low, high, at } = scale(x, log, width);
  const marks = log ? decades(Math.max(low, 1e-9), high) : rounds(low, high);
  marks.forEach((v, i) => svg.append(part("text", {
    x: at(v), y: height - BOTTOM + 16, "text-anchor": at(v) > width - 40 ? "end" : "middle",
  }, number(Math.round(v)))));
  if (rule) {
    svg.append(part("line", { x1: at(rule.at), x2: at(rule.at), y1: TOP, y2: height - BOTTOM, class: "cap" }),
      part("text", { x: Math.min(at(rule.at) + 5, width - 90), y: TOP + 8, class: "name" }, rule.name));
  }
  series.forEach((each, k) => {
    if (kind === "dots") {
      each.values.forEach((v, i) => v !== null && svg.append(part("circle", { cx: at(x[i]), cy: y(v), r: 3.4, class: `s${k}` })));
      return;
    }
    let path = "";
    each.values.forEach((v, i) => {
      if (v === null || v === undefined) return;
      if (kind === "steps" && path) path += `H${at(x[i]).toFixed(1)}`;
      path += `${path ? "L" : "M"}${at(x[i]).toFixed(1)} ${y(v).toFixed(1)}`;
    });
    if (path) svg.append(part("path", { d: path, class: `curve s${k}` }));
  });
}

function bars(svg, x, series, y, width, height) {
  const room = (width - LEFT - RIGHT) / Math.max(1, x.length);
  const each = (room * 0.76) / series.length;
  const every = Math.max(1, Math.ceil((Math.max(...x.map((name) => String(name).length)) * 6.5) / room));
  x.forEach((name, i) => {
    series.forEach(({ values }, k) => svg.append(part("rect", {
      x: LEFT + room * (i + 0.12) + k * each, y: y(values[i] ?? 0), width: each * 0.94, height: Math.max(0, y(0) - y(values[i] ?? 0)), class: `block s${k}`,
    })));
    if (i % every === 0) svg.append(part("text", { x: LEFT + room * (i + 0.5), y: height - BOTTOM + 16, "text-anchor": "middle" }, String(name)));
  });
}

function legend(kind, series) {
  if (series.length < 2) return null;
  return el("span", { class: "keys" }, series.map((each, k) => {
    const sign = part("svg", { viewBox: "0 0 26 10", class: "key", "aria-hidden": "true" });
    sign.append(kind === "bars" ? part("rect", { x: 6, y: 0, width: 14, height: 10, class: `block s${k}` }) : part("path", { d: "M1 5H25", class: `curve s${k}` }));
    return el("span", {}, sign, each.name);
  }));
}

/** The plot in words, for those who do not see it: bars one by one, lines by their ends. */
function said(title, x, series, kind, words) {
  const all = series.map((each) => {
    const shown = each.values.map((v, i) => [x[i], v]).filter(([, v]) => v !== null && v !== undefined);
    const few = kind === "bars" ? shown.slice(0, 40) : shown.length > 2 ? [shown[0], shown.at(-1)] : shown;
    return `${each.name ?? ""}: ${few.map(([at, v]) => `${typeof at === "number" ? number(at) : at} ${words(v)}`).join(", ")}`;
  });
  return `${title ?? t("plot.plot")}. ${all.join(". ")}`;
}
