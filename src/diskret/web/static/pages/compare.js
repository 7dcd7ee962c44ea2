/** Two runs side by side: what each suppresses, what it costs, how close each came to failing. */
import { get, query } from "../js/api.js";
import { el, field, options, replace } from "../js/dom.js";
import { number, t } from "../js/i18n.js";
import { attempt } from "../js/notices.js";
import { runs, runTitle, view } from "../js/store.js";

/** Characters of a name where the selector has half the page. */
const WIDE = 64;

/** Why two runs cannot be compared, in words; null where they can, or where one of an earlier version does not say. */
export function unlike(one, two) {
  if (!one.axes || !two.axes) return null;
  const both = Object.keys(one.axes).filter((name) => two.axes[name]);
  if (!both.length) return t("compare.otherValues");
  const [a, b] = [one.axes[both[0]], two.axes[both[0]]];
  if (a.map((axis) => axis.name).join("\n") !== b.map((axis) => axis.name).join("\n")) return t("compare.otherAxes", { names: b.map((axis) => axis.name).join(", ") });
  const other = a.filter((axis, i) => axis.codes !== b[i].codes).map((axis) => axis.name);
  return other.length ? t("compare.otherCodes", { names: other.join(", ") }) : null;
}

export class Compare {
  constructor() {
    this.root = el("section", { class: "card", "aria-label": t("compare.title") });
    this.chosen = [];
    this.found = null;
  }

  draw() {
    const finished = runs.all.filter((run) => run.state === "finished" && run.kind === "job");
    this.turn = (this.turn ?? 0) + 1;  // what was asked for before is not wanted any more
    if (finished.length < 2) return replace(this.root);
    const known = (id) => finished.some((run) => run.id === id);
    if (!known(this.chosen[0])) this.chosen[0] = (finished.find((run) => finished.some((other) => other !== run && !unlike(run, other))) ?? finished[0]).id;
    const one = finished.find((run) => run.id === this.chosen[0]);
    const others = finished.filter((run) => run !== one);
    // only runs over the same table can be put beside the first; the others say why they cannot
    const why = (run) => unlike(one, run);
    if (!others.some((run) => run.id === this.chosen[1] && !why(run))) this.chosen[1] = others.find((run) => !why(run))?.id ?? null;
    const select = (i, list) => {
      const made = options(el("select", { id: `compare-${i}`, onchange: () => { this.chosen[i] = made.value; this.draw(); } }), list, this.chosen[i] ?? "", WIDE);
      return made;
    };
    const second = others.map((run) => [run.id, why(run) ? `${runTitle(run)} – ${why(run)}` : runTitle(run), { disabled: Boolean(why(run)) }]);
    replace(this.root, el("h1", {}, t("compare.title")),
      el("div", { class: "sides" }, field(t("compare.one"), select(0, finished.map((run) => [run.id, runTitle(run)]))), field(t("compare.two"), select(1, this.chosen[1] ? second : [["", t("compare.choose")], ...second]))), (this.place = el("div", { id: "compared" })));
    if (this.chosen[1]) return this.load();
    return replace(this.place, el("p", { class: "muted" }, t("compare.none")));
  }

  async load() {
    const [one, two] = this.chosen;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    // figures of other runs must not stand below these names
    replace(this.place, el("p", { class: "muted", role: "status" }, t("compare.waiting")));
    const found = await attempt(() => get(`/api/compare?${query({ one, two })}`));
    if (turn === this.turn) replace(this.place, (found?.tables ?? []).map((each) => this.table(each)));
  }

  table(found) {
    const rows = [
      ["compare.primary", (run) => number(run.primary)],
      ["compare.secondary", (run) => number(run.secondary)],
      ["compare.margins", (run) => number(run["hidden margins"])],
      ["compare.share", (run) => (view.internal ? `${number(Math.round(run["hidden share"] * 1000) / 10)} %` : t("compare.internal"))],
      ["compare.exposed", (run) => (run.audit ? number(run.audit.exposed + run.audit.undecided) : t("compare.never"))],
      ["compare.closest", (run) => this.closest(run)],
    ];
    return el("div", {}, el("h2", {}, found.response),
      el("div", { class: "wide" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, el("th"), el("th", { class: "number" }, t("compare.one")), el("th", { class: "number" }, t("compare.two")))),
        el("tbody", {}, rows.map(([key, text]) => el("tr", {}, el("td", {}, t(key)), el("td", { class: "number" }, text(found.one)), el("td", { class: "number" }, text(found.two))))))),
      found.changed ? el("p", {}, el("span", { class: "badge bad" }, t("compare.changed", { n: found.changed }))) : null,
      el("p", { class: "muted" }, t("compare.both", { n: found.both })),
      found["only one"] + found["only two"] === 0 ? el("p", {}, t("compare.same")) : el("div", { class: "sides" }, this.only(found, "one"), this.only(found, "two")));
  }

  closest(run) {
    if (!run.audit) return t("compare.never");
    if (!view.internal) return t("compare.internal");
    return run["closest call"] ? `${run["closest call"][0]}: ${t("compare.times", { n: Math.round(run["closest call"][1] * 100) / 100 })}` : "–";
  }

  only(found, which) {
    const names = found[`cells only ${which}`];
    const all = found[`only ${which}`];
    return el("div", {}, el("h3", {}, t(`compare.only.${which}`, { n: all })),
      el("p", {}, names.join(", "), all > names.length ? ` ${t("compare.more", { n: all - names.length })}` : ""));
  }
}
