/** Step 2: what each column is, how codes add up. */
import { get } from "../../js/api.js";
import { el, field, options, replace } from "../../js/dom.js";
import { current, t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { change, draft } from "../../js/store.js";
import { fileOf } from "./data.js";
import { periodFields, sectionOf } from "./periods.js";
import { wideOffer } from "./wide.js";

const ROLES = { microdata: ["none", "classification", "value", "weight", "holding"], cells: ["none", "classification", "value", "count", "status", "largest", "cost"] };
const SINGLE = ["count", "status", "weight", "holding", "cost"];

const edit = async (column) => (await import("./tree.js")).openTree(column);
/** An error whose cure is another hierarchy leads into its tree. */
document.addEventListener("edit-key", (event) => {
  const [section, column, key] = event.detail.path;
  if (section !== "classifications" || key !== "hierarchy") return;
  event.preventDefault();
  edit(column);
});

export function roleOf(content, name) {
  const table = content.table ?? {};
  if (table.by?.includes(name)) return "classification";
  if ([table.value ?? []].flat().includes(name)) return "value";
  if ([table.largest ?? []].flat().includes(name)) return "largest";
  return SINGLE.find((role) => table[role] === name) ?? "none";
}

/** Give a column a role, and take it from whoever had it if it is for one only. */
export function setRole(content, name, role) {
  const table = (content.table ??= {});
  const without = (list) => [list ?? []].flat().filter((each) => each !== name);
  table.by = without(table.by);
  table.value = without(table.value);
  table.largest = without(table.largest);
  for (const each of SINGLE) if (table[each] === name) delete table[each];
  if (role === "classification") table.by.push(name);
  else if (role === "value" || role === "largest") table[role].push(name);
  else if (role !== "none") table[role] = name;
  if (!table.value.length) delete table.value;
  if (!table.largest.length) delete table.largest;
  if (role !== "classification" && content.classifications) delete content.classifications[name];
  if (content.rules?.counted_by && !table.holding) delete content.rules.counted_by;
}

export function rolesStep(inside, tell, context) {
  let found = null;
  let asked = null;
  let trees = [];
  const narrow = new Set();  // files whose columns stay what they are

  async function look() {
    // files that are hierarchies, judged by their content
    get("/api/hierarchies").then(({ files }) => { if (String(files) !== String(trees)) { trees = files; draw(); } }, () => {});
    const name = fileOf(draft.content);
    const kind = draft.content.data?.cells ? "cells" : "microdata";
    if (!name || draft.content.data?.table) { found = null; asked = null; return draw(); }
    const key = JSON.stringify([draft.content.data, current()]);
    if (asked === key) return draw();
    asked = key;
    found = null;
    draw(t("roles.looking"));
    const next = await attempt(() => get(`/api/recognise?file=${encodeURIComponent(name)}&kind=${kind}&language=${current()}`));
    if (asked !== key) return undefined;
    found = next ?? null;
    return draw(t("roles.unread", { name }));
  }

  function draw(otherwise = t("roles.first")) {
    const content = draft.content;
    const by = content.table?.by ?? [];
    tell(by.length ? `${[content.table.value ?? t("roles.number")].flat().join(", ")} / ${by.join(", ")}` : "");
    if (content.data?.table) return replace(inside, el("p", { class: "muted" }, t("roles.working")));
    if (!found) return replace(inside, el("p", { class: "muted" }, otherwise));
    const kind = content.data.cells ? "cells" : "microdata";
    const kinds = options(el("select", { id: "kind", onchange: () => change((c) => {
      const name = fileOf(c);
      delete c.data.microdata; delete c.data.cells;
      c.data[kinds.value] = name;
      c.table = { by: c.table?.by ?? [], ...(c.table?.value ? { value: c.table.value } : {}) };
      if (c.rules) delete c.rules.counted_by;
    }) }), [["microdata", t("roles.microdata")], ["cells", t("roles.cells")]], kind);
    const columns = el("div", { class: "columns" }, found.columns.map((column) => line(column, kind)));
    const wide = found.unpivot && !content.data.unpivot && !narrow.has(fileOf(content)) ? wideOffer(fileOf(content), found.unpivot, () => { narrow.add(fileOf(content)); draw(); }) : null;
    return replace(inside, wide, field(t("roles.kind", { n: found.rows }), kinds), el("button", { class: "small", id: "reading", onclick: () => context.shown.look(fileOf(draft.content)) }, t("preview.reading")), columns,
      kind === "cells" ? el("label", { class: "check" }, el("input", { type: "checkbox", checked: content.table?.frequency === true, onchange: (event) => change((c) => { if (event.target.checked) c.table.frequency = true; else delete c.table.frequency; }) }), t("roles.frequency")) : null);
  }

  function line(column, kind) {
    const role = roleOf(draft.content, column.name);
    const select = options(el("select", { "aria-label": t("roles.of", { name: column.name }), "data-column": column.name, onchange: () => change((c) => {
      setRole(c, column.name, select.value);
      const section = sectionOf(column);
      if (select.value === "classification" && Object.keys(section).length) (c.classifications ??= {})[column.name] = section;
    }) }), ROLES[kind].map((each) => [each, t(`role.${each}`)]), role);
    return el("div", { class: "column" }, el("div", { class: "name" }, column.name, el("small", {}, column.why),
      column.sure ? null : el("small", { class: "unsure" }, t("roles.unsure"))), select,
      role === "classification" ? hierarchy(column) : null);
  }

  function hierarchy(column) {
    const said = draft.content.classifications?.[column.name] ?? {};
    const how = said.hierarchy ? "file" : said.prefixes ? "prefixes" : "flat";
    const files = trees.filter((name) => name !== fileOf(draft.content));
    const set = (edit) => change((c) => {
      const all = (c.classifications ??= {});
      const { hierarchy: _, prefixes: __, ...kept } = all[column.name] ?? {};
      all[column.name] = { ...kept, ...edit };
      if (!Object.keys(all[column.name]).length) delete all[column.name];
    });
    const kinds = [["flat", t("hierarchy.flat")], ["prefixes", t("hierarchy.prefixes")], ...files.map((name) => [`file:${name}`, name])];
    if (how === "file" && !files.includes(said.hierarchy)) kinds.push([`file:${said.hierarchy}`, said.hierarchy]);
    const select = options(el("select", { "data-hierarchy": column.name, onchange: () => {
      if (select.value === "flat") return set({});
      if (select.value === "prefixes") return set({ prefixes: column.prefixes.length ? column.prefixes : [1] });
      return set({ hierarchy: select.value.slice(5) });
    } }), kinds, how === "file" ? `file:${said.hierarchy}` : how);
    const lengths = el("input", { value: (said.prefixes ?? []).join(", "), inputmode: "numeric", onchange: () => {
      const given = lengths.value.split(/[^0-9]+/).filter(Boolean).map(Number);
      set(given.length ? { prefixes: given } : {});
    } });
    const setDates = (edit) => change((c) => {
      const section = Object.entries({ ...(c.classifications?.[column.name] ?? {}), ...edit }).filter(([, value]) => value !== undefined);
      (c.classifications ??= {})[column.name] = Object.fromEntries(section);
      if (!section.length) delete c.classifications[column.name];
    });
    return el("div", { class: "further" }, periodFields(column, said, setDates), field(t("hierarchy.label"), select), how === "prefixes" ? field(t("hierarchy.lengths"), lengths) : null,
      el("button", { class: "small", type: "button", id: `tree-of-${column.name}`, onclick: () => edit(column.name) }, t("tree.open")));
  }
  return (what) => { if (what === "draft") look(); };
}
