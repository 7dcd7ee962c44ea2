/** Steps that fold: a number, a title, what is chosen in a word, and the inside. A redraw keeps the keyboard where it was. */
import { el } from "./dom.js";
import { t } from "./i18n.js";

export class Steps {
  constructor(root) {
    this.root = root;
    this.all = [];
  }

  /** `draw(inside, tell)` fills the inside; it gives false where the step has nothing to say now. */
  add(name, draw) {
    const said = el("span", { class: "said" });
    const number = el("span", { class: "number", "aria-hidden": "true" });
    const inside = el("div", { class: "inside" });
    const step = el("details", { class: "step", id: `step-${name}` }, el("summary", {}, number, t(`step.${name}`), said), inside);
    this.root.append(step);
    const tell = (text, done = Boolean(text)) => {
      said.textContent = text ?? "";
      said.title = text ?? "";
      step.classList.toggle("done", done);
    };
    this.all.push({ name, step, number, draw: () => draw(inside, tell) });
  }

  draw() {
    const active = document.activeElement?.id;
    let count = 0;
    for (const each of this.all) {
      each.step.hidden = each.draw() === false;
      if (!each.step.hidden) each.number.textContent = String(++count);
    }
    if (active && document.activeElement?.id !== active) document.getElementById(active)?.focus();
  }

  unfold(name) {
    for (const each of this.all) each.step.open = each.name === name;
    this.all.find((each) => each.name === name)?.step.scrollIntoView({ block: "nearest" });
  }
}
