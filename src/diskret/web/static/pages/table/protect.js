/** Step 4: how the marked cells are protected, and the run itself. */
import { el, field, options, replace } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { notice } from "../../js/notices.js";
import { change, draft, runs, startRun } from "../../js/store.js";
import { settled } from "../../js/tab.js";
import { fileOf } from "./data.js";
import { settleOrder } from "./order.js";

const GUARANTEES = { moves: "audit", complete: "complete", cuboids: "subtables" };

export function protectStep(inside, tell, context) {
  // the run of this tab that is to be shown when it is finished; a page that is loaded again waits for it, too
  let mine = JSON.parse(sessionStorage.getItem("awaited") ?? "null");
  const expect = (run) => { mine = run; sessionStorage.setItem("awaited", JSON.stringify(run)); };
  const version = () => draft.version?.split(".")[0];
  let named = "";

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

  const subject = () => JSON.stringify([draft.content.data, draft.content.table]);

  async function run() {
    await settleOrder();
    if (!(await settled())) return;
    const run = await startRun("/api/runs", { name: title.value || name() });
    if (run) { expect({ id: run.id, version: version() }); draw(); }
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
    // a name belongs to the table it was given to
    if (named !== subject()) title.value = "";
    named = subject();
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
    const run = what === "runs" && runs.all.find((each) => each.id === mine?.id);
    if (!run || run.state === "running") return;
    const { version: then } = mine;
    expect(null);
    if (run.state !== "finished") return;
    // whoever has gone on to something else is not pulled away from it
    if (then !== version()) notice(t("run.finished", { name: run.name }));
    else { context.shown.choose(run.id); context.unfold("result"); }
  };
}
