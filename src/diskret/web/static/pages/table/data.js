/** Step 1: a file of the workspace, one from elsewhere, or an example. */
import { get, put } from "../../js/api.js";
import { el, field, options, replace } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { attempt, notice } from "../../js/notices.js";
import { change, draft, openJob, takeExample } from "../../js/store.js";
import { nextYear } from "./next_year.js";

export const fileOf = (content) => content.data?.microdata ?? content.data?.cells ?? content.data?.table;

export function dataStep(inside, tell, context) {
  let files = null;
  const accept = ".csv,.tsv,.txt,.gz,.parquet,.xlsx,.duckdb,.ddb,.sqlite,.sqlite3,.db,.ods,.dta,.sav,.zsav,.por,.sas7bdat,.xpt,.asc,.tab,.rda,.cdl,.hrc,.json,.toml";
  const chosen = el("select", { id: "file" });
  const upload = el("input", { type: "file", class: "seen-not", id: "upload", accept, "aria-label": t("data.upload"), onchange: () => take(upload.files) });
  const drop = el("label", {
    class: "drop", for: "upload",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); take(event.dataTransfer.files); },
  }, t("data.drop"), upload);
  const examples = el("div", { class: "examples" });
  const next = nextYear(context);
  replace(inside, el("div", {}, el("h3", {}, t("data.examples"))), examples, drop, field(t("data.file"), chosen), next.root);

  chosen.onchange = () => chosen.value && use(chosen.value);
  async function use(name) {
    if (name.endsWith(".toml")) await openJob(name);
    else await recognise(name);
    context.unfold("roles");
  }
  const example = async (name) => { await takeExample(name); await list(); context.unfold("rules"); };

  async function recognise(name) {
    let found;
    try {
      found = await get(`/api/recognise?file=${encodeURIComponent(name)}`);
    } catch (error) {
      // a file that cannot be looked at stands in the way like one that cannot be tabulated
      return error.name === "AbortError" ? undefined : context.shown.refused(error, { file: name, again: () => recognise(name) });
    }
    return change((content) => {
      for (const key of Object.keys(content)) delete content[key];
      Object.assign(content, found.content);
    });
  }

  const described = (name) => files.some((each) => each.name.toLowerCase() === name.toLowerCase().replace(/\.[^.]*$/, ".rda"));
  async function take(given) {
    for (const file of given) {
      const path = `/api/files/${encodeURIComponent(file.name)}`;
      const done = await attempt(async () => {
        const there = files.some((each) => each.name === file.name);
        if (there && !confirm(t("data.replace", { name: file.name }))) return null;
        return put(there ? `${path}?replace=yes` : path, file);
      });
      if (!done) continue;
      notice(t("data.taken", { name: file.name }));
      await list();
      const kind = files.find((each) => each.name === file.name)?.kind;
      // data of tau-ARGUS may come before what describes them
      if (/\.(asc|tab)$/i.test(file.name) && !described(file.name)) continue;
      if (kind === "data") { await recognise(file.name); context.unfold("roles"); }
      if (kind === "job") { await openJob(file.name); context.unfold("rules"); }
    }
    upload.value = "";
  }

  async function list() {
    const found = await attempt(() => get("/api/files"));
    if (!found) return;
    files = found.files;
    context.files = files;
    context.data = { files, examples: found.examples, accept, example, use, take };
    context.shown.listed();
    replace(examples, found.examples.map((name) => el("button", {
      "data-example": name,
      onclick: () => example(name),
    }, el("span", {}, t(`example.${name}`)), el("small", {}, t(`example.${name}.hint`)))));
    draw();
  }

  function draw() {
    const name = fileOf(draft.content);
    tell(name);
    if (!files) return;
    next.draw(files);
    const entries = files.filter((each) => each.kind === "data" || each.kind === "job").map((each) => [each.name, each.name]);
    if (name && !entries.some(([value]) => value === name)) entries.unshift([name, name]);
    options(chosen, [["", t("data.none")], ...entries], name ?? "");
  }
  list();
  return (what) => { if (what === "draft") draw(); };
}
