/** The settings of a run that is shown again: they stand in the place of the choice, to be looked at only. */
import { el } from "./dom.js";
import { t } from "./i18n.js";

function same(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
}

/** Whether two choices are the same job; a table is protected as usual where nothing is said. */
export const sameSettings = (a, b) => same({ ...a, suppression: a.suppression ?? {} }, { ...b, suppression: b.suppression ?? {} });

/** Whose settings are shown, and the two ways on. */
export function settingsBanner(run, changed, use, back) {
  return el("div", { class: "settings-of", role: "status" },
    el("p", {}, t("settings.of", { name: run.name })), changed ? el("p", {}, el("span", { class: "badge bad" }, t("settings.changed"))) : null,
    el("div", { class: "row" }, el("button", { class: "small use", onclick: use }, t("settings.use")), el("button", { class: "small back", onclick: back }, t("settings.back"))));
}
