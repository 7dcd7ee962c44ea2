/** Step 4: how the marked cells are protected, and the run itself. */
import { el, field, options, replace } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { change, draft, runs, startRun } from "../../js/store.js";
import { fileOf } from "./data.js";

const GUARANTEES = { moves: "audit", complete: "complete", cuboids: "subtables" };

export function protectStep(inside, tell, context) {
  let mine = null;

  const set = (section, key, value) => change((c) => {
    c[section] ??= {};
    if (value === null) delete c[section][key];
    else c[section][key] = value;
  });

  // every method has options of its own: what another one was told goes
  const choose = (method) => change((c) => { c.suppression = method === "moves" ? {} : { method }; });

  function name() {
    const by = draft.content.table?.by ?? [];
    const value = [draft.content.table?.value ?? []].flat()[0] ?? fileOf(draft.content)?.replace(/.*\/|\.[^.]*$/g, "") ?? "table";
    return draft.content.output?.title || `${value} ${t("protect.by")} ${by.join(", ")}`;
  }

  async function run() {
    const run = await startRun("/api/runs", { name: title.value || name() });
    if (run) { mine = run.id; draw(); }
  }

  const title = el("input", { id: "run-name" });
  function draw() {
    const asked = draft.content.suppression ?? {};
    const method = asked.method ?? "moves";
    tell(t(`guarantee.${GUARANTEES[method] ?? "audit"}`), runs.all.some((each) => each.state === "finished"));
    const effort = options(el("select", { id: "effort", onchange: () => set("suppression", "effort", effort.value === "default" ? null : effort.value) }), ["quick", "default", "economy"].map((each) => [each, t(`effort.${each}`)]), asked.effort ?? "default");
    const range = el("input", { type: "number", min: "0", step: "0.05", value: String(draft.content.promise?.min_relative_range ?? 0), onchange: () => set("promise", "min_relative_range", Number(range.value) || null) });
    const intervals = el("input", { type: "checkbox", checked: draft.content.output?.intervals === true, onchange: () => change((c) => { c.output ??= {}; if (intervals.checked) c.output.intervals = true; else delete c.output.intervals; }) });
    title.placeholder = name();
    replace(inside,
      el("div", { role: "radiogroup", "aria-label": t("protect.guarantee") }, Object.entries(GUARANTEES).map(([each, words]) => el("label", { class: "choice" },
        el("input", { type: "radio", name: "guarantee", value: words, checked: each === method, onchange: () => choose(each) }),
        el("span", {}, t(`guarantee.${words}`)), el("small", {}, t(`guarantee.${words}.hint`))))),
      method === "moves" ? field(t("protect.effort"), effort) : null,
      field(t("protect.range"), range, t("protect.rangeHint")),
      el("label", { class: "check" }, intervals, t("protect.intervals")),
      field(t("protect.name"), title),
      el("button", { class: "main", id: "run", disabled: !fileOf(draft.content), onclick: run }, t("protect.run")));
  }

  return (what) => {
    draw();
    const run = what === "runs" && runs.all.find((each) => each.id === mine);
    if (!run || run.state === "running") return;
    mine = null;
    if (run.state === "finished") { context.shown.choose(run.id); context.unfold("result"); }
  };
}
