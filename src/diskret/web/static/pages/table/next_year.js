/** The same settings for another file: what differs is shown before anything is chosen, last period's pattern can be kept. */
import { post } from "../../js/api.js";
import { el, field, options } from "../../js/dom.js";
import { said, t } from "../../js/i18n.js";
import { change, draft } from "../../js/store.js";
import { fileOf } from "./data.js";

/** A choice of files in the step of the data, as soon as there are settings to be used again. */
export function nextYear(context) {
  const select = el("select", { id: "next-file", onchange: () => select.value && look(select.value) });
  const root = el("details", { class: "next-year" }, el("summary", {}, t("next.title")), el("p", {}, el("small", {}, t("next.hint"))), field(t("data.file"), select));

  async function look(file) {
    const content = structuredClone(draft.content);
    let found;
    try {
      found = await post("/api/next", { content, file });
    } catch (error) {
      if (error.name !== "AbortError") context.shown.refused(error, { base: withFile(content, file) });
      return;
    }
    context.shown.stand(new NextYear(context, file, found));
  }

  return {
    root,
    draw(files) {
      const mine = fileOf(draft.content);
      root.hidden = !mine || !draft.content.table?.by?.length;
      options(select, [["", t("data.none")], ...files.filter((each) => each.kind === "data" && each.name !== mine).map((each) => [each.name, each.name])], "");
    },
  };
}

/** Settings with another file in the place of theirs. */
export function withFile(content, file) {
  const role = ["microdata", "cells", "table"].find((each) => content.data?.[each]);
  return role ? { ...content, data: { ...content.data, [role]: file } } : content;
}

const WORDS = /numbers|text|dates|true or false|comma|point|before/g;

class NextYear {
  constructor(context, file, found) {
    Object.assign(this, { context, found });
    const runs = found.previous.map((run) => [run.path, run.name]);
    this.previous = options(el("select", { id: "next-previous" }), [["", t("next.none")], ...runs], found.previous.find((run) => run.own)?.path ?? "");
    this.atMost = el("input", { id: "next-at-most", type: "number", min: "0", step: "1", value: String(100 * (found.content.suppression?.at_most ?? 0.1)) });
    this.root = el("section", { class: "trouble", id: "next-year", "aria-live": "polite" },
      el("h1", {}, t("next.with", { file })),
      found.differences.length ? el("ul", {}, found.differences.map((each) => el("li", { "data-differs": each.kind }, words(each)))) : el("p", {}, t("next.same")),
      found.previous.length ? field(t("next.previous"), this.previous, t("next.previousHint")) : null,
      found.previous.length ? field(t("next.atMost"), this.atMost, t("next.atMostHint")) : null,
      el("div", { class: "cures" }, el("button", { class: "main", id: "use-next", onclick: () => this.use() }, t("next.use")),
        el("button", { id: "leave-next", onclick: () => context.shown.draft() }, t("next.leave"))));
  }

  async use() {
    const { content } = this.found;
    const [previous, atMost] = [this.previous.value, this.atMost.value === "" ? 0.1 : Number(this.atMost.value) / 100];
    await change((chosen) => {
      for (const key of Object.keys(chosen)) delete chosen[key];
      Object.assign(chosen, structuredClone(content));
      if (previous) chosen.suppression = { ...chosen.suppression, previous, ...(atMost === 0.1 ? {} : { at_most: atMost }) };
      else if (chosen.suppression) for (const key of ["previous", "at_most"]) delete chosen.suppression[key];
    });
    this.context.unfold("rules");
  }

  view() {}
}

/** A difference in the page's language; what the server says in words of its own is told word by word. */
function words({ kind, name, what }) {
  if (kind === "rows") {
    const [now, before] = what.match(/[\d,]+/g).map((each) => Number(each.replaceAll(",", "")));
    return t("differs.count", { now, before });
  }
  return t(`differs.${kind}`, { name, what: ["type", "decimal"].includes(kind) ? what.replace(WORDS, (word) => said("differs", word)) : what });
}
