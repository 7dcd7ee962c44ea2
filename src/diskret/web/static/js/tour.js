/** A short tour: five cards that point at the steps. Arrow keys turn them, Escape ends; that it was seen is kept in this browser only. */
import { el, replace } from "./dom.js";
import { t } from "./i18n.js";

const STOPS = ["data", "roles", "rules", "protect", "result"];
const KEY = "tour";

export function wasSeen() {
  try {
    return localStorage.getItem(KEY) === "seen";
  } catch {
    return false;
  }
}

export function seen() {
  try {
    localStorage.setItem(KEY, "seen");
  } catch {
    // a browser that keeps nothing offers it again
  }
}

let shown = null;

/** Begin, or begin again. */
export function tour() {
  shown?.end();
  const back = document.activeElement;
  const box = el("div", { class: "tour", role: "dialog", "aria-labelledby": "tour-title", id: "tour", tabindex: "-1", onkeydown: (event) => {
    if (event.key === "Escape") end();
    else if (event.key === "ArrowRight") go(at + 1);
    else if (event.key === "ArrowLeft") go(at - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  } });
  let at = 0;

  function go(next) {
    at = Math.min(Math.max(next, 0), STOPS.length - 1);
    point(STOPS[at]);
    const last = at === STOPS.length - 1;
    replace(box,
      el("div", { class: "row apart" }, el("small", {}, t("tour.count", { i: at + 1, n: STOPS.length })), el("button", { class: "quiet small", id: "tour-end", "aria-label": t("tour.end"), onclick: end }, "✕")),
      el("h2", { id: "tour-title" }, t(`tour.${STOPS[at]}`)), el("p", { "aria-live": "polite" }, t(`tour.${STOPS[at]}.hint`)),
      el("div", { class: "row apart" }, el("button", { id: "tour-back", disabled: at === 0, onclick: () => go(at - 1) }, t("tour.back")),
        el("button", { class: "main", id: "tour-next", onclick: () => (last ? end() : go(at + 1)) }, t(last ? "tour.done" : "tour.next"))));
    box.querySelector("#tour-next").focus();
  }

  function end() {
    point(null);
    box.remove();
    shown = null;
    seen();
    if (back?.isConnected) back.focus();
  }

  document.body.append(box);
  shown = { end };
  go(0);
}

function point(name) {
  for (const each of document.querySelectorAll(".pointed")) each.classList.remove("pointed");
  const step = name && document.getElementById(`step-${name}`);
  step?.classList.add("pointed");
  step?.scrollIntoView({ block: "nearest" });
}
