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

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
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

export function options(select, entries, chosen) {
  replace(select, entries.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  if (chosen !== undefined) select.value = chosen;
  return select;
}
