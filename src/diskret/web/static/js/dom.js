/** Elements without markup in strings: nothing a file contains can become part of the page. */

export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Draw the inside of an element anew. Whoever works with the keyboard stays where they were, if that is there again. */
export function replace(parent, ...children) {
  const active = document.activeElement;
  const place = parent.contains(active) && active !== parent ? whereabouts(active) : null;
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  if (place && !parent.contains(document.activeElement)) parent.querySelector(place)?.focus({ preventScroll: true });
  return parent;
}

/** A selector that finds a control again after it was made anew: by its id, or by what it is for. */
function whereabouts(control) {
  if (control.id) return `#${CSS.escape(control.id)}`;
  const given = [...control.attributes].filter(({ name }) => name.startsWith("data-") && !["data-named", "data-most"].includes(name));
  return given.length ? control.tagName + given.map(({ name, value }) => `[${name}="${CSS.escape(value)}"]`).join("") : null;
}

/** A label above or beside a control, joined for screen readers. */
let count = 0;
export function field(label, control, hint) {
  control.id ||= `field-${++count}`;
  const parts = [el("label", { for: control.id }, label), control];
  if (hint) {
    control.setAttribute("aria-describedby", `${control.id}-hint`);
    parts.push(el("small", { id: `${control.id}-hint` }, hint));
  }
  return el("div", { class: "field" }, parts);
}

/** A long name as its beginning and its end: names of files and codes differ at both. */
const MOST = 30;
export function middle(text, most = MOST) {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(-end)}`;
}

/** The entries of a selector: [value, text], with `{ disabled, title }` where one cannot be chosen. Long texts are shortened, and whole in the list that unfolds. */
export function options(select, entries, chosen, most = MOST) {
  select.dataset.most = String(most);
  replace(select, entries.map(([value, text, given]) => el("option", { value, selected: value === chosen, title: text.length > most ? text : null, ...given }, middle(text, most))));
  if (chosen !== undefined) select.value = chosen;
  if (!select.dataset.named) {
    select.dataset.named = "yes";
    select.addEventListener("mousedown", () => spell(select, true));
    select.addEventListener("keydown", (event) => { if ([" ", "Enter", "F4"].includes(event.key) || event.altKey) spell(select, true); });
    for (const each of ["change", "blur"]) select.addEventListener(each, () => { spell(select, false); name(select); });
  }
  name(select);
  return select;
}

const name = (select) => { const [one] = select.selectedOptions; select.title = one?.title || one?.textContent || ""; };
const spell = (select, whole) => { for (const each of select.options) if (each.title) each.text = whole ? each.title : middle(each.title, Number(select.dataset.most)); };
