"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
const night = matchMedia("(prefers-color-scheme: dark)");
let dark = night.matches;  // read once: Chromium sends no event for a change that a read has already seen
const hidden = new Set();

// Charts are drawn when they come near the window, and again when the theme, the choice or the allocators change.
function keyOf(plot) {
  const of = plot.closest("[data-row]");
  return plot.dataset.chart.replace("{row}", of ? of.dataset.row : "").replace("{call}", of ? of.dataset.call : "");
}
function place(plot) {
  const chart = page.charts[keyOf(plot)];
  const frame = plot.closest("figure");
  frame.hidden = !chart;
  if (!chart) return null;
  frame.querySelector("figcaption").textContent = chart.layout.title.text;
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", chart.layout.title.text + "; the numbers are in the table below the workload's charts");
  if (chart.layout.height) plot.style.height = Math.max(chart.layout.height, 240) + "px";
  return chart;
}
function draw(plot) {
  const chart = place(plot);
  if (!chart) return;
  const small = Boolean(plot.closest(".small"));
  const layout = { ...structuredClone(chart.layout), title: undefined, height: undefined, template: dark ? page.dark : page.light, showlegend: false,
                   margin: small ? { l: 44, r: 8, t: 20, b: 38 } : { l: 56, r: 16, t: 22, b: 48 }, autosize: true };
  const data = chart.data.map((trace) => (hidden.has(trace.legendgroup) ? { ...trace, visible: false } : trace));
  Plotly.react(plot, structuredClone(data), layout, { responsive: true, displaylogo: false, displayModeBar: small ? false : "hover",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"], toImageButtonOptions: { format: "svg", filename: keyOf(plot).replace(/\W+/g, "-") } });
  plot.dataset.drawn = "yes";
}
const near = new IntersectionObserver((seen) => seen.forEach((one) => { if (one.isIntersecting) { near.unobserve(one.target); draw(one.target); } }), { rootMargin: "500px" });
const plots = [...document.querySelectorAll(".plot")];
plots.forEach((plot) => { place(plot); near.observe(plot); });
function again(within = document) { within.querySelectorAll('.plot[data-drawn]').forEach(draw); }
night.addEventListener("change", (event) => { dark = event.matches; again(); });

// Row and call of a section.
document.querySelectorAll("section[data-row], article[data-row]").forEach((of) => {
  of.addEventListener("change", (event) => {
    const name = event.target.name;
    if (name.endsWith("row")) of.dataset.row = event.target.value;
    else if (name.endsWith("call")) of.dataset.call = event.target.value;
    else return;
    of.querySelectorAll(".numbers").forEach((table) => { table.hidden = table.dataset.of !== of.dataset.row; });
    of.querySelectorAll(".plot").forEach((plot) => { if (place(plot)) { if (plot.dataset.drawn) draw(plot); else near.observe(plot); } });
  });
});
document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));

// Allocators shown.
const chips = [...document.querySelectorAll(".chip")];
function showHidden() {
  chips.forEach((chip) => chip.setAttribute("aria-pressed", String(!hidden.has(chip.dataset.subject))));
  document.getElementById("hidden-note").textContent = hidden.size ? hidden.size + " hidden" : "";
  document.querySelectorAll(".numbers tr[data-subject]").forEach((line) => { line.hidden = hidden.has(line.dataset.subject); });
  document.dispatchEvent(new Event("shown"));
  again();
}
chips.forEach((chip) => {
  chip.addEventListener("click", () => { const name = chip.dataset.subject; hidden.has(name) ? hidden.delete(name) : hidden.add(name); showHidden(); });
  chip.addEventListener("dblclick", () => {
    const alone = hidden.size === chips.length - 1 && !hidden.has(chip.dataset.subject);
    hidden.clear();
    if (!alone) chips.forEach((other) => { if (other !== chip) hidden.add(other.dataset.subject); });
    showHidden();
  });
});
