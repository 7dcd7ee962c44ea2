/** Controls that several pages use: choices as chips, numbers, sliders, uploads. Each has a name for screen readers. */
import { put } from "./api.js";
import { el, field, options } from "./dom.js";
import { t } from "./i18n.js";
import { attempt, notice } from "./notices.js";

/** Several of many: buttons that stay pressed. */
export function chips(id, label, names, chosen, change) {
  const toggle = (name) => change(chosen.includes(name) ? chosen.filter((each) => each !== name) : names.filter((each) => each === name || chosen.includes(each)));
  return el("div", { class: "field" }, el("label", { id: `${id}-label` }, label),
    el("div", { class: "chips", role: "group", "aria-labelledby": `${id}-label`, id }, names.map((name) => el("button", {
      type: "button", id: `${id}-${name}`, "aria-pressed": String(chosen.includes(name)), "data-chip": name, onclick: () => toggle(name),
    }, name))));
}

/** Which sheet of an Excel file, where there are several. */
export function sheetChoice(id, sheets, chosen, choose) {
  if (sheets.length < 2) return null;
  const select = options(el("select", { id, onchange: () => choose(select.value) }), sheets.map((each) => [each, each]), chosen ?? sheets[0]);
  return field(t("reading.sheet"), select);
}

export function amount(id, label, value, change, given = {}, hint) {
  const input = el("input", { type: "number", id, value: value === null || value === undefined ? "" : String(value), ...given, onchange: () => change(input.value === "" ? null : Number(input.value)) });
  return field(label, input, hint);
}

export function check(id, label, value, change) {
  const box = el("input", { type: "checkbox", id, checked: value, onchange: () => change(box.checked) });
  return el("label", { class: "check" }, box, label);
}

const REST = 350;
/** A slider with its number beside it; `show` says what a position means. `settle` is called when it has come to rest. */
export function slider(id, label, { value, min, max, step = 1, show, change, settle }) {
  const output = el("output", { for: id }, show(value));
  let timer = null;
  let settled = value;
  const rest = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (Number(input.value) !== settled) { settled = Number(input.value); settle?.(settled); } }, REST);
  };
  const input = el("input", {
    type: "range", id, min: String(min), max: String(max), step: String(step), value: String(value), "aria-valuetext": show(value),
    oninput: () => { output.textContent = show(Number(input.value)); input.setAttribute("aria-valuetext", output.textContent); change?.(Number(input.value)); rest(); },
  });
  return el("div", { class: "slider" }, el("label", { for: id }, label), input, output);
}

/** A place to drop a file on, or to choose one; `taken` is called with its name once it is in the workspace. */
export function upload(id, files, taken) {
  async function take(given) {
    for (const file of given) {
      const path = `/api/files/${encodeURIComponent(file.name)}`;
      const there = files().some((each) => each.name === file.name);
      if (there && !confirm(t("data.replace", { name: file.name }))) continue;
      const done = await attempt(() => put(there ? `${path}?replace=yes` : path, file));
      if (!done) continue;
      notice(t("data.taken", { name: file.name }));
      await taken(file.name);
    }
    input.value = "";
  }
  const input = el("input", { type: "file", class: "seen-not", id, accept: ".csv,.tsv,.txt,.gz,.parquet,.xlsx,.duckdb,.ddb,.sqlite,.sqlite3,.db,.ods,.dta,.sav,.zsav,.por,.sas7bdat,.xpt,.hrc,.json,.toml", "aria-label": t("data.upload"), onchange: () => take(input.files) });
  const drop = el("label", {
    class: "drop", for: id,
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); take(event.dataTransfer.files); },
  }, t("data.drop"), input);
  return drop;
}
