/** A short question inside a window: fields with names, Enter takes, Escape leaves. */
import { el, field, replace } from "../../../js/dom.js";
import { t } from "../../../js/i18n.js";

/** `fields` by name with what they hold; gives the same with what was written, or null. */
export function asked(place, title, fields) {
  return new Promise((resolve) => {
    const inputs = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, el("input", { id: `ask-${name}`, value, autocomplete: "off" })]));
    const end = (given) => { replace(place); resolve(given); };
    replace(place, el("form", { class: "group", "aria-label": title, onsubmit: (event) => { event.preventDefault(); end(Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value]))); } },
      el("strong", {}, title), el("div", { class: "two" }, Object.entries(inputs).map(([name, input]) => field(t(`ask.${name}`), input))),
      el("div", { class: "row" }, el("button", { class: "main small", id: "ask-ok", type: "submit" }, t("ask.ok")), el("button", { class: "small cancel", type: "button", onclick: () => end(null) }, t("ask.cancel")))));
    Object.values(inputs)[0].select();
    Object.values(inputs)[0].focus();
  });
}
