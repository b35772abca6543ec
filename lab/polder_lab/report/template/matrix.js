"use strict";
// The matrix: a table that is drawn anew when the measure, the order or the allocators shown change.
const grid = document.getElementById("matrix");
const controls = document.getElementById("matrix-controls");
let sorted = null;
let shown = null;
const element = (name, text = "", attributes = {}) => {
  const made = document.createElement(name);
  made.textContent = text;
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
};
const ratio = (r) => (r < 10 ? r.toFixed(2) : r < 100 ? r.toFixed(1) : r.toFixed(0));
function paint(td, r, best) {
  const depth = Math.max(-1, Math.min(1, Math.log(r) / Math.log(4)));
  const turn = best ? 0.2 : 0;  // where blue ends and orange begins
  const good = Math.min(1, Math.max(0, best ? (turn - depth) / turn : -depth));
  const bad = Math.max(0, (depth - turn) / (1 - turn));
  const amount = good > 0 ? (best ? 88 * good : 92 * Math.sqrt(good)) : 92 * Math.sqrt(bad);
  td.style.setProperty("--hue", good > 0 ? "var(--good)" : "var(--bad)");
  td.style.setProperty("--amount", amount.toFixed(0) + "%");
  if (amount > 58) td.classList.add("strong");
}
function cellOf(line, index, best) {
  const [r, low, high, , , , trouble, rows] = line.cells[index];
  const td = element("td", r ? ratio(r) : trouble ? "✕" : "–", { role: "gridcell", tabindex: "-1" });
  if (r) {
    paint(td, r, best);
    if (low && low < 1 && high > 1) td.classList.add("even");
    if (rows && rows.split(" ")[0] !== rows.split(" ")[2]) td.classList.add("partial");
  } else td.classList.add(trouble ? "trouble" : "empty");
  td.told = { line, name: shown.names[index], cell: line.cells[index] };
  return td;
}
function lineOf(line, columns, kind) {
  const tr = element("tr", "", { role: "row", class: kind });
  const th = element("th", "", { scope: "row" });
  th.append(line.target ? element("a", line.label, { href: "#" + line.target }) : line.label);
  th.title = line.label;
  tr.append(th, ...columns.map((index) => cellOf(line, index, shown.best)));
  return tr;
}
function matrix() {
  const wanted = new FormData(controls);
  shown = page.matrices[wanted.get("measure") + "|" + wanted.get("against")];
  if (!shown) return;
  const all = shown.means[shown.means.length - 1];
  const columns = shown.names.map((_, index) => index).filter((index) => !hidden.has(shown.names[index]));
  columns.sort((a, b) => (all.cells[a][0] ?? 1e9) - (all.cells[b][0] ?? 1e9));
  const head = element("tr", "", { role: "row" });
  head.append(element("th", ""));
  columns.forEach((index) => {
    const name = shown.names[index];
    const th = element("th", "", { scope: "col", "aria-sort": sorted === name ? "ascending" : "none" });
    const button = element("button", name, { type: "button", title: "sort the rows by " + name });
    button.addEventListener("click", () => { sorted = sorted === name ? null : name; matrix(); });
    th.append(button);
    head.append(th);
  });
  const ordered = (lines) => {
    if (sorted === null) return lines;
    const index = shown.names.indexOf(sorted);
    return [...lines].sort((a, b) => (a.cells[index][0] ?? 1e9) - (b.cells[index][0] ?? 1e9));
  };
  const body = element("tbody");
  const heading = (title) => { const tr = element("tr", "", { class: "group" }); tr.append(element("th", title, { colspan: columns.length + 1 })); body.append(tr); };
  if (wanted.get("grouped")) {
    shown.groups.forEach((group) => { heading(group.title); ordered(group.lines).forEach((line) => body.append(lineOf(line, columns, ""))); });
  } else ordered(shown.groups.flatMap((group) => group.lines)).forEach((line) => body.append(lineOf(line, columns, "")));
  heading("Geometric means");
  shown.means.forEach((line) => body.append(lineOf(line, columns, "means")));
  const top = element("thead");
  top.append(head);
  grid.replaceChildren(top, body);
  const first = grid.querySelector("td");
  if (first) first.tabIndex = 0;
  document.querySelector(".swatch").classList.toggle("middle", !shown.best);
  document.getElementById("matrix-legend").textContent = shown.title + ": " + shown.explained + ", 1.00 " + (shown.best ? "the best" : "the same") +
    ", from blue to orange. Underlined: its 95 % interval holds 1. ✕: it failed. A mean in italics lacks rows. Columns are in the order of the last row" +
    (hidden.size ? "; the best of a row may be hidden." : ".");
}
controls.addEventListener("change", matrix);
document.addEventListener("shown", matrix);

// What a cell stands for, under the pointer or the keyboard's focus.
const tip = document.getElementById("tip");
function tell(td) {
  const { line, name, cell } = td.told;
  const [r, low, high, rounds, value, interval, trouble, rows] = cell;
  const lines = [];
  if (trouble) lines.push(trouble);
  else if (!r) lines.push("no number");
  else {
    lines.push("ratio " + ratio(r) + (low ? ", 95 %: " + ratio(low) + " – " + ratio(high) : ", no interval"));
    if (value) lines.push("median " + value + (interval ? " (" + interval + ")" : ""));
    lines.push(rows ? "over " + rows : rounds + " paired rounds");
  }
  tip.replaceChildren(element("b", name + " · " + line.label), ...lines.flatMap((text) => [element("br"), text]));
  tip.hidden = false;
  const at = td.getBoundingClientRect();
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(innerWidth - box.width - 8, at.left + at.width / 2 - box.width / 2)) + "px";
  tip.style.top = (at.top - box.height - 8 > 8 ? at.top - box.height - 8 : at.bottom + 8) + "px";
}
const cell = (target) => (target.closest ? target.closest("#matrix td") : null);
grid.addEventListener("pointerover", (event) => { const td = cell(event.target); if (td) tell(td); else tip.hidden = true; });
grid.addEventListener("pointerleave", () => { tip.hidden = true; });
grid.addEventListener("focusin", (event) => { const td = cell(event.target); if (td) tell(td); });
grid.addEventListener("focusout", () => { tip.hidden = true; });
grid.addEventListener("click", (event) => { const td = cell(event.target); if (td) { td.focus(); tell(td); } });
grid.addEventListener("keydown", (event) => {
  const td = cell(event.target);
  if (!td) return;
  const lines = [...grid.querySelectorAll("tr")].filter((tr) => tr.querySelector("td"));
  const row = lines.indexOf(td.parentElement);
  const column = td.cellIndex;
  const to = { ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1], ArrowDown: [row + 1, column], ArrowUp: [row - 1, column] }[event.key];
  if (event.key === "Escape") tip.hidden = true;
  if (event.key === "Enter" && td.told.line.target) location.hash = td.told.line.target;
  if (!to) return;
  event.preventDefault();
  const next = lines[to[0]]?.cells[to[1]];
  if (next && next.tagName === "TD") { td.tabIndex = -1; next.tabIndex = 0; next.focus(); }
});
matrix();

// Where one is, in the bar.
const links = new Map([...document.querySelectorAll(".links a")].map((a) => [a.getAttribute("href").slice(1), a]));
const here = new IntersectionObserver((seen) => seen.forEach((one) => {
  if (one.isIntersecting) links.forEach((a, id) => a.classList.toggle("here", id === one.target.id));
}), { rootMargin: "-20% 0px -75% 0px" });
document.querySelectorAll("main > section").forEach((section) => here.observe(section));
