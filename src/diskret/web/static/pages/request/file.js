/** The answer as a file: asked again, which gives the same answer. */
import { Refusal } from "../../js/api.js";
import { el, field, options } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { refusal } from "../../js/notices.js";
import { aboutTab } from "../../js/tab.js";

const ENDINGS = ["csv", "xlsx", "json", "parquet"];

export function saveAnswer(said) {
  const ending = options(el("select", { id: "answer-ending" }), ENDINGS.map((each) => [each, `.${each}`]), "csv");
  return el("div", { class: "row" }, field(t("request.format"), ending), el("button", { id: "save-answer", onclick: () => take(ending.value, said()) }, t("request.saveAnswer")));
}

async function take(ending, said) {
  try {
    const response = await fetch(`/api/request/answer.${ending}`, { method: "POST", headers: { ...aboutTab(), "content-type": "application/json" }, body: JSON.stringify(said) });
    if (!response.ok) throw new Refusal(response.status, (await response.json()).error);
    const link = el("a", { href: URL.createObjectURL(await response.blob()), download: `answer.${ending}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    refusal(error);
  }
}
