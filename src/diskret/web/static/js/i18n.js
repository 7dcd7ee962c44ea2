/** Words in English and German. A key that is missing shows itself, so that tests find it. */

const dictionaries = {};
/** Books of words: the shell's own, and one per page that brings its own. */
const books = [""];
let language = "en";
let asking = "en";
const listeners = new Set();

export const current = () => language;
/** The language that answers of the server are asked for in. */
export const asked = () => asking;
export const onLanguage = (listener) => listeners.add(listener);

export async function speak(wanted) {
  const known = wanted === "de" ? "de" : "en";
  asking = known;
  await read(known);
  language = known;
  try {
    localStorage.setItem("language", known);
  } catch {
    // a browser that keeps nothing: the choice holds until the page is closed
  }
  document.documentElement.lang = known;
  translate(document.body);
  for (const listener of listeners) listener();
}

async function read(known) {
  dictionaries[known] ??= {};
  for (const book of books) {
    if (dictionaries[known][`book.${book}`]) continue;
    Object.assign(dictionaries[known], await (await fetch(`/static/i18n/${known}${book && `-${book}`}.json`)).json(), { [`book.${book}`]: "read" });
  }
}

/** Bring a page's own words. */
export async function learn(book) {
  if (!books.includes(book)) books.push(book);
  await read(language);
}

export function preferred() {
  try {
    return localStorage.getItem("language") ?? navigator.language.slice(0, 2);
  } catch {
    return navigator.language.slice(0, 2);
  }
}

/** The words of a key; {name} is filled in, and a number chooses between "one|many". */
export function t(key, given = {}) {
  let text = dictionaries[language]?.[key] ?? key;
  if ("n" in given && text.includes("|")) text = text.split("|")[given.n === 1 ? 0 : 1];
  return text.replace(/\{(\w+)\}/g, (whole, name) =>
    name in given ? (typeof given[name] === "number" ? number(given[name]) : given[name]) : whole);
}

/** A label of the server as the words on a button. */
export const sentence = (text) => text.charAt(0).toLocaleUpperCase(language) + text.slice(1);

/** The words of a key if there are any, else the text itself: for words that come from the server. */
export const said = (prefix, text) => dictionaries[language]?.[`${prefix}.${text}`] ?? text;

/** A primary rule as tables name it, in the page's language. */
export function ruleName(text) {
  const holdings = text.includes(" of holdings");
  const bare = text.replace(" of holdings", "").replace(/ \[\d+\]$/, "");
  const dominance = /^\((\d+),k\) dominance$/.exec(bare);
  const words = dominance ? t("rulename.dominance", { number: dominance[1] }) : t(`rulename.${bare}`);
  return holdings ? t("rulename.holdings", { rule: words }) : words;
}

export function number(value, decimals) {
  const fixed = decimals === undefined || decimals === null ? { maximumFractionDigits: 6 } : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return formatter(language, fixed).format(value);
}

const formatters = new Map();
function formatter(locale, given) {
  const key = locale + JSON.stringify(given);
  if (!formatters.has(key)) formatters.set(key, new Intl.NumberFormat(locale === "de" ? "de-DE" : "en-GB", given));
  return formatters.get(key);
}

export function translate(root) {
  for (const each of root.querySelectorAll("[data-i18n]")) each.textContent = t(each.dataset.i18n);
  for (const each of root.querySelectorAll("[data-i18n-label]")) each.setAttribute("aria-label", t(each.dataset.i18nLabel));
  for (const each of root.querySelectorAll("[data-i18n-title]")) each.title = t(each.dataset.i18nTitle);
}
