/** Messages at the edge of the page: refusals stay until they are closed, other words go by themselves. */
import { el } from "./dom.js";
import { t } from "./i18n.js";

const SECONDS = 5;

export function refusal(error) {
  if (error.name === "AbortError") return;
  const box = el("div", { class: "notice bad", role: "alert" },
    el("strong", {}, typeof error.code === "string" ? `[${error.code}] ` : "", ...lines(error.what ?? String(error))),
    error.where ? el("p", {}, `${t("notice.where")}: ${error.where}`) : null,
    error.hint ? el("p", {}, `${t("notice.hint")}: ${error.hint}`) : null,
    // what was asked for belongs to a choice that is not on the screen: whoever keeps choices shows them anew
    error.code === "W8" ? el("button", { class: "main again", onclick: () => { box.remove(); document.dispatchEvent(new Event("look-again")); } }, t("notice.again")) : null);
  const close = () => box.remove();
  box.prepend(el("button", { class: "close", "aria-label": t("notice.close"), onclick: close }, "×"));
  const before = [...place().children].find((each) => each.textContent === box.textContent);
  before?.remove();
  place().append(box);
}

const lines = (text) => text.split("\n").flatMap((line, i) => (i ? [el("br"), line.trim()] : [line]));

export function notice(text) {
  const box = el("div", { class: "notice" }, text);
  place().append(box);
  setTimeout(() => box.remove(), SECONDS * 1000);
}

export const clear = () => place().replaceChildren();
const place = () => document.getElementById("notices");

/** Run something and show what it refuses; gives undefined then. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    refusal(error);
    return undefined;
  }
}
