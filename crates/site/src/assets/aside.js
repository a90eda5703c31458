// Runs side by side: r the runs, b the column that others are shown relative to, s the column to sort by.
"use strict";

const MOST = 50;
let state = {};

function go(changes) {
  state = { ...state, ...changes };
  history.replaceState(null, "", addressOf(state));
  draw();
}

const key = (cell) => [cell.test, cell.copies, cell.load, cell.condition, cell.unit].join("\n");

const estimate = ({ value, low, high }) => [value, low, high];

// The rows: every index and cell that any of the runs has, in the order of the first that has it.
function cells(records) {
  const rows = new Map();
  const row = (name, about) => {
    if (!rows.has(name)) rows.set(name, { ...about, values: new Array(records.length).fill(null) });
    return rows.get(name);
  };
  records.forEach((record, column) => {
    for (const one of record.summary.indexes.filter((index) => index.complete)) {
      const measure = unixmark.about.measures.find((known) => known.id === `index.${one.id}`);
      const about = { label: measure ? measure.label : one.id, copies: one.copies, unit: "", lower: false };
      row(`index\n${one.id}\n${one.copies}`, about).values[column] = estimate(one.score);
    }
    for (const { cell, score } of record.summary.figures.filter((figure) => !figure.cell.control)) {
      const under = [["load", cell.load], ["condition", cell.condition]].filter(([, name]) => name !== "none");
      const label = cell.label + under.map(([kind, name]) => ` ${kind}=${name}`).join("");
      const lower = ["time", "latency", "amount"].includes(cell.metric);
      const about = { label, copies: cell.copies, unit: cell.unit, lower, unknown: cell.metric === "unknown" };
      if (score.value !== null) row(key(cell), about).values[column] = estimate(score);
    }
  });
  return [...rows.values()].map(inSuitedUnit);
}

// A row whose small times are in a unit in which they have figures.
function inSuitedUnit(row) {
  const known = row.values.filter((value) => value);
  const { name, factor } = suitedUnit(Math.max(...known.map(([value]) => Math.abs(value))), row.unit);
  const scaled = (value) => value && value.map((number) => (number === null ? null : number * factor));
  return { ...row, unit: name, values: row.values.map(scaled) };
}

const low = (one) => (one[1] === null ? -Infinity : one[1]);
const high = (one) => (one[2] === null ? Infinity : one[2]);

// The column whose interval lies wholly above those of all others, and the one below; -1 for none.
function extremes(row) {
  if (row.unknown) return [-1, -1];
  const known = row.values.map((value, column) => ({ value, column })).filter((one) => one.value);
  const alone = (test) => {
    const found = known.filter((one) => known.every((other) => other === one || test(one.value, other.value)));
    return known.length > 1 && found.length === 1 ? found[0].column : -1;
  };
  const [top, bottom] = [alone((a, b) => low(a) > high(b)), alone((a, b) => high(a) < low(b))];
  return row.lower ? [bottom, top] : [top, bottom];
}

function cell(row, column, base, [best, worst]) {
  const value = row.values[column];
  const name = column === best ? "n best" : column === worst ? "n worst" : "n";
  if (!value) return make("td", { class: "n" }, "–");
  const reference = base >= 0 ? row.values[base] : null;
  if (base < 0 || column === base || !reference) return make("td", { class: name }, ...figure(value));
  const ratio = row.lower ? reference[0] / value[0] : value[0] / reference[0];
  return make("td", { class: name, title: `${score(value)} ${spread(value)}` }, make("b", {}, `${ratio.toFixed(3)}x`));
}

function value(record, facet) {
  const fact = record.summary.facts.find((one) => one.name === facet.id);
  return fact ? fact.value : "unknown";
}

// The facts of which the runs have several values.
function differing(records) {
  return unixmark.about.facets.filter((facet) => new Set(records.map((record) => value(record, facet))).size > 1);
}

function facts(records) {
  const differ = differing(records);
  if (differ.length === 0) return null;
  return make("section", {}, make("h2", {}, "What differs"),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What differs" },
      make("table", { class: "side" },
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Fact"),
          ...records.map((record) => make("th", { scope: "col" }, make("bdi", {}, record.summary.run.host || record.id))))),
        make("tbody", {}, ...differ.map((facet) => make("tr", { class: "differs" }, make("th", { scope: "row" }, facet.label),
          ...records.map((record) => make("td", {}, make("bdi", {}, value(record, facet))))))))));
}

// Which of the facts that differ here go with the differences between all systems that these are among.
function hints(records) {
  const classes = new Set(records.map((record) => record.class));
  const known = classes.size === 1 ? unixmark.why[records[0].class] : null;
  if (!known || records.length < 2) return null;
  const here = new Set(differing(records).map((facet) => facet.id));
  const found = known.hints.filter((hint) => here.has(hint.fact));
  const lead = found.length || !known.hints.length ? known.lead
    : `None of the facts that differ here goes with the differences between the ${known.systems} systems of this group.`;
  return make("section", { id: "why" }, make("h2", {}, "Why they may differ"), make("p", { class: "text" }, lead),
    found.length > 0 && make("ul", {}, ...found.map((hint) => make("li", {}, make("bdi", {}, hint.text)))));
}

// How runs differ that should not be held against each other without a word.
function guard(records) {
  const differ = differences(records.map((record) => unixmark.about.classes.find((one) => one.id === record.class)));
  if (differ.length === 0) return null;
  return make("p", { class: "guard alarm" },
    `These runs differ in their ${differ.join(" and ")}: part of every difference may be due to that.`);
}

function sorted(rows, records, base) {
  const column = records.findIndex((record) => record.id === (state.s || "").replace("-", ""));
  if (column < 0) return rows;
  const of = (row) => {
    const [value, reference] = [row.values[column], base >= 0 ? row.values[base] : null];
    if (!value || (base >= 0 && !reference)) return -Infinity;
    if (base < 0) return value[0];
    return row.lower ? reference[0] / value[0] : value[0] / reference[0];
  };
  const found = [...rows].sort((a, b) => of(b) - of(a));
  return state.s.startsWith("-") ? found.reverse() : found;
}

function draw() {
  const ids = (state.r || "").split(",").filter((id) => /^[0-9a-f]{32}$/.test(id)).slice(0, MOST);
  const records = ids.map((id) => unixmark.records[id]).filter((record) => record);
  const place = document.getElementById("aside");
  document.body.dataset.drawn = "1";
  if (records.length === 0) {
    const text = "No run is chosen: mark some in the ranking, then follow the link below it.";
    place.replaceChildren(make("p", {}, text));
    return;
  }
  const base = records.findIndex((record) => record.id === state.b);
  const rows = sorted(cells(records), records, base);
  const name = (record) => record.summary.run.host || record.id;
  const head = (record, column) => make("th", { scope: "col", class: "n",
    "aria-sort": (state.s || "").replace("-", "") === record.id && (state.s.startsWith("-") ? "ascending" : "descending") },
    make("button", { type: "button", click: () => go({ s: state.s === record.id ? `-${record.id}` : record.id }) },
      make("bdi", {}, name(record))),
    make("div", {}, make("a", { href: `r/${record.id}.html` }, record.summary.run.started.slice(0, 10) || "report")));
  const base_list = [make("option", { value: "" }, "figures as they are"),
    ...records.map((record) => make("option", { value: record.id, selected: record.id === state.b }, name(record)))];
  const line = (row) => {
    const marks = extremes(row);
    const direction = row.unknown ? "the better direction is unknown" : row.lower && "lower is better";
    const unit = [row.unit, direction].filter((part) => part).join("; ");
    return make("tr", {}, make("th", { scope: "row" }, `${row.label}, ${row.copies} ${row.copies === 1 ? "copy" : "copies"} `,
      make("small", {}, unit)), ...records.map((_, column) => cell(row, column, base, marks)));
  };
  const table = make("table", { class: "side" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Test"), ...records.map(head))),
    make("tbody", {}, ...rows.map(line)));
  const tools = make("div", { class: "tools" }, make("label", {}, make("span", {}, "Relative to"),
    make("select", { change: (event) => go({ b: event.target.value }) }, ...base_list)));
  const parts = [guard(records), tools,
    make("div", { class: "side-scroll", tabindex: 0, role: "region", "aria-label": "Side by side" }, table), hints(records), facts(records)];
  place.replaceChildren(...parts.filter((part) => part));
}

async function begin() {
  if (!unixmark.about) return;
  const show = async () => {
    state = stateOf(location.hash);
    const ids = (state.r || "").split(",").filter((id) => /^[0-9a-f]{32}$/.test(id) && !unixmark.records[id]);
    await load(ids.slice(0, MOST).map((id) => `r/${id}.js`));
    draw();
  };
  await show();
  window.addEventListener("hashchange", show);
}

begin();
