/** On narrow screens the choices stand in a drawer; the button that opens it stands above the page. Elsewhere both are as if they were not there. */
import { el } from "./dom.js";
import { t } from "./i18n.js";

const NARROW = matchMedia("(max-width: 720px)");

/** Make the choices of a page a drawer; gives back what ends it. */
export function drawer(bench, side) {
  side.id = "choices";
  const button = el("button", { class: "drawer-button", id: "drawer", "aria-controls": "choices", "aria-expanded": "false", onclick: () => show(!bench.classList.contains("drawn")) }, "☰ ", el("span", {}, t("drawer.open")));
  const close = el("button", { class: "quiet small drawer-close", "aria-label": t("drawer.close"), onclick: () => show(false) }, "✕");
  const behind = el("div", { class: "behind", onclick: () => show(false) });
  side.prepend(close);
  bench.prepend(button, behind);

  function show(wanted) {
    const drawn = wanted === true && NARROW.matches;
    bench.classList.toggle("drawn", drawn);
    button.setAttribute("aria-expanded", String(drawn));
    // what is not on the screen cannot be reached by the keyboard
    side.inert = NARROW.matches && !drawn;
    for (const each of [document.querySelector(".bar"), button, ...bench.children]) if (each !== side && each !== behind) each.inert = drawn;
    if (drawn) close.focus();
    else if (wanted === false && NARROW.matches) button.focus();
  }
  const key = (event) => { if (event.key === "Escape" && bench.classList.contains("drawn")) show(false); };
  const turn = () => show(null);
  bench.addEventListener("keydown", key);
  NARROW.addEventListener("change", turn);
  show(null);
  return { end: () => { show(null); NARROW.removeEventListener("change", turn); } };
}
