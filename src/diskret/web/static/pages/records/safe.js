/** SAFE: which attributes, in which order, how their codes add up; which tables are kept, and how long to search. */
import { amount, chips } from "../../js/controls.js";
import { el, field, options, replace } from "../../js/dom.js";
import { t } from "../../js/i18n.js";

const asked = (context) => context.chosen.content.anonymise;

export function columnsStep(inside, tell, context) {
  if (!asked(context)) return false;
  const { chosen, columns } = context;
  const attributes = asked(context).attributes ?? [];
  tell(attributes.join(", "));
  const names = columns.filter((each) => each.role !== "value" || attributes.includes(each.name)).map((each) => each.name);
  const set = (list) => chosen.change((c) => {
    c.anonymise.attributes = list;
    for (const name of Object.keys(c.classifications ?? {})) if (!list.includes(name)) delete c.classifications[name];
    c.anonymise.tables = (c.anonymise.tables ?? []).filter((table) => table.every((each) => list.includes(each.split(":")[0])));
    if (!c.anonymise.tables.length) delete c.anonymise.tables;
    if (c.anonymise.priority) c.anonymise.priority = c.anonymise.priority.filter((each) => list.includes(each.split(":")[0]));
  });
  const move = (i, way) => {
    const list = [...attributes];
    [list[i], list[i + way]] = [list[i + way], list[i]];
    set(list);
  };
  replace(inside,
    chips("attributes", t("safe.attributes"), names, attributes, (list) => set([...attributes.filter((each) => list.includes(each)), ...list.filter((each) => !attributes.includes(each))])),
    el("div", { class: "field" }, el("label", {}, t("safe.order")), el("ol", { class: "order" }, attributes.map((name, i) => el("li", {},
      el("span", {}, `${i + 1}. ${name}`),
      el("button", { class: "small", id: `up-${name}`, disabled: i === 0, "aria-label": t("safe.up", { name }), onclick: () => move(i, -1) }, "↑"),
      el("button", { class: "small", id: `down-${name}`, disabled: i === attributes.length - 1, "aria-label": t("safe.down", { name }), onclick: () => move(i, 1) }, "↓"),
      hierarchy(name, context))))));
  return true;
}

function hierarchy(name, context) {
  const { chosen, trees, columns } = context;
  const said = chosen.content.classifications?.[name] ?? {};
  const column = columns.find((each) => each.name === name);
  const how = said.hierarchy ? `file:${said.hierarchy}` : said.prefixes ? "prefixes" : "flat";
  const set = (edit) => chosen.change((c) => {
    const all = (c.classifications ??= {});
    const { hierarchy: _, prefixes: __, ...kept } = all[name] ?? {};
    all[name] = { ...kept, ...edit };
    if (!Object.keys(all[name]).length) delete all[name];
    if (!Object.keys(all).length) delete c.classifications;
  });
  const kinds = [["flat", t("hierarchy.flat")], ["prefixes", t("hierarchy.prefixes")],
    ...trees.filter((each) => each !== chosen.content.data.microdata).map((each) => [`file:${each}`, each])];
  if (!kinds.some(([value]) => value === how)) kinds.push([how, said.hierarchy]);
  const select = options(el("select", { id: `hierarchy-${name}`, onchange: () => {
    if (select.value === "flat") return set({});
    if (select.value === "prefixes") return set({ prefixes: column?.prefixes?.length ? column.prefixes : [1] });
    return set({ hierarchy: select.value.slice(5) });
  } }), kinds, how);
  const lengths = el("input", { id: `prefixes-${name}`, value: (said.prefixes ?? []).join(", "), inputmode: "numeric", onchange: () => {
    const given = lengths.value.split(/[^0-9]+/).filter(Boolean).map(Number);
    set(given.length ? { prefixes: given } : {});
  } });
  return el("div", { class: "further" }, field(t("hierarchy.label"), select), said.prefixes ? field(t("hierarchy.lengths"), lengths) : null,
    el("button", { class: "small", type: "button", id: `tree-of-${name}`, onclick: async () => {
      const { openTree } = await import("../table/tree.js");
      if (await openTree(name, { content: chosen.content, set: (made) => chosen.change((c) => { (c.classifications ??= {})[name] = made; }) })) await context.list();
    } }, t("tree.open")));
}

export function controlStep(inside, tell, context) {
  if (!asked(context)) return false;
  const { chosen } = context;
  const now = asked(context);
  const set = (key, value) => chosen.change((c) => {
    if (value === null || value === undefined) delete c.anonymise[key];
    else c.anonymise[key] = value;
  });
  tell(t("safe.said", { k: now.k ?? 3, d: now.up_to ?? 3 }));
  const tables = now.tables ?? [];
  const weights = options(el("select", { id: "weights", onchange: () => set("weights", Number(weights.value) || null) }), ["0", "1", "2"].map((each) => [each, t(`safe.weights.${each}`)]), String(typeof now.weights === "number" ? now.weights : 0));
  const search = options(el("select", { id: "search", onchange: () => chosen.change((c) => {
    c.anonymise.search = search.value;
    if (search.value === "ladder") { delete c.anonymise.search; delete c.anonymise.printed; } else { delete c.anonymise.effort; delete c.anonymise.limits; delete c.anonymise.checkpoint; }
  }) }), ["ladder", "printed"].map((each) => [each, t(`safe.search.${each}`)]), now.search ?? "ladder");
  const add = chips("table-parts", t("safe.addTable"), now.attributes ?? [], context.tableParts ?? [], (list) => { context.tableParts = list; controlStep(inside, tell, context); });
  replace(inside,
    el("div", { class: "group" }, el("div", { class: "two" },
      amount("k", t("safe.k"), now.k ?? 3, (v) => set("k", v), { min: "2", max: "100" }),
      amount("up-to", t("safe.upTo"), now.up_to ?? 3, (v) => set("up_to", v), { min: "0", max: "6" }))),
    el("div", { class: "group" }, el("strong", {}, t("safe.tables")),
      tables.length ? el("ul", { class: "order" }, tables.map((table, i) => el("li", {}, el("span", {}, table.join(" × ")), null,
        el("button", { class: "small", id: `table-remove-${i}`, "aria-label": t("safe.removeTable", { name: table.join(" × ") }), onclick: () => set("tables", tables.length > 1 ? tables.filter((_, j) => j !== i) : null) }, "×")))) : el("small", {}, t("safe.noTables")),
      add,
      el("button", { id: "add-table", class: "small", disabled: (context.tableParts ?? []).length < 2, onclick: () => { const parts = context.tableParts; context.tableParts = []; set("tables", [...tables, parts]); } }, t("safe.add"))),
    field(t("safe.weights"), weights),
    field(t("safe.search"), search),
    el("div", { class: "group" }, el("div", { class: "two" },
      now.search === "printed" ? null : amount("safe-effort", t("safe.effort"), now.effort ?? 1, (v) => set("effort", v), { min: "0.05", step: "0.05" }),
      amount("time-limit", t("safe.timeLimit"), now.time_limit, (v) => set("time_limit", v || null), { min: "1" }),
      amount("safe-seed", t("safe.seed"), now.seed, (v) => set("seed", v), { min: "0" }, t("safe.seedHint"))),
    el("small", {}, t("safe.timeHint"))));
  return true;
}
