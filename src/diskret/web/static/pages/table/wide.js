/** A wide file, with one column per code: the offer to make rows of its columns. */
import { get } from "../../js/api.js";
import { el } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { change, draft } from "../../js/store.js";

const READING = ["delimiter", "decimal", "thousands", "encoding", "sheet", "header", "range", "hive"];

/** Two answers: rows are made of the columns, and the file is looked at anew; or the columns stay what they are. */
export function wideOffer(name, offered, leave) {
  const unpivot = { columns: offered.columns, into: offered.into, value: offered.value };
  const make = () => attempt(async () => {
    const reading = { unpivot };
    for (const key of READING) if (draft.content.data?.[key] !== undefined) reading[key] = draft.content.data[key];
    const next = await get(`/api/recognise?file=${encodeURIComponent(name)}&reading=${encodeURIComponent(JSON.stringify(reading))}`);
    await change((content) => {
      for (const key of Object.keys(content)) delete content[key];
      Object.assign(content, next.content);
    });
  });
  return el("div", { class: "card wide-file", role: "note" },
    el("p", {}, t("wide.question", { n: offered.columns.length, columns: offered.columns.join(", ") })),
    el("div", { class: "cures", role: "group", "aria-label": t("wide.answers") },
      el("button", { id: "make-rows", class: "main", onclick: make }, t("wide.rows", { into: offered.into })),
      el("button", { id: "keep-columns", onclick: leave }, t("wide.columns"))));
}
