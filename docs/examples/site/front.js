// The ranking: measure, level, class and facets are chosen here; the address holds what was chosen.
//   m measure, l level, c class (* for all), e=1 every run, s order, n rows, v runs marked for side by side,
//   f.FACT values of a fact
"use strict";

const PAGE = 200;
const [ID, SYSTEM, HOST, DATE, CLASS, ABOUT, FACETS, MARKS] = [0, 1, 2, 3, 4, 5, 6, 7];
let state = {};

function measure() {
  const all = unixmark.about.measures;
  return all.find((one) => one.id === (state.m || unixmark.about.first)) || all[0];
}

function chosenClass() {
  const { classes } = unixmark.about;
  if (state.c === "*") return null;
  return classes.find((one) => one.id === state.c) || classes[0];
}

// The level to rank by: the one asked for, or the first that any run has.
function level(rows) {
  const { levels } = unixmark.about;
  const has = (place) => rows.some((row) => row.values[place]);
  const asked = levels.findIndex((one) => one.id === state.l);
  if (asked >= 0 && has(asked)) return asked;
  const first = levels.findIndex((_, place) => has(place));
  return first < 0 ? 0 : first;
}

// The chosen values of a facet; commas within a value are written %2C.
function chosen(facet) {
  return (state[`f.${facet.id}`] || "").split(",").filter((value) => value).map((value) => value.replace(/%2C/g, ",").replace(/%25/g, "%"));
}
function choice(values) {
  return values.map((value) => value.replace(/%/g, "%25").replace(/,/g, "%2C")).join(",");
}

// A row's value of the facet at a place: rows have its number.
function valueOf(row, place) {
  return unixmark.about.facets[place].values[row[FACETS][place]];
}

// The runs marked for side by side.
function marked() {
  return (state.v || "").split(",").filter((id) => id);
}

// Whether a row passes all facets, except the one at a place.
function passes(row, except) {
  return unixmark.about.facets.every((facet, place) => {
    const values = chosen(facet);
    return place === except || values.length === 0 || values.includes(valueOf(row, place));
  });
}

// Rows with the measure, of the class, before facets: the latest of each system unless every run is wanted.
function candidates() {
  const values = unixmark.measured[measure().id] || {};
  const own = chosenClass();
  const rows = unixmark.table
    .filter((row) => values[row[ID]] && (own === null || row[CLASS] === own.id))
    .map((row) => Object.assign(row.slice(), { values: values[row[ID]] }));
  rows.sort((a, b) => (a[DATE] < b[DATE] ? -1 : a[DATE] > b[DATE] ? 1 : a[ID] < b[ID] ? -1 : 1));
  if (state.e) return rows;
  const latest = new Map(rows.map((row) => [`${row[SYSTEM]}\n${row[CLASS]}`, row]));
  return [...latest.values()];
}

function ranked(rows, place) {
  const { lower } = measure();
  const found = rows.filter((row) => row.values[place]);
  found.sort((a, b) => (lower ? 1 : -1) * (a.values[place][0] - b.values[place][0]));
  const places = ranges(found.map((row) => row.values[place]), lower);
  found.forEach((row, number) => { row.range = places[number]; });
  const back = (state.s || "").startsWith("-");
  const by = { system: HOST, run: DATE }[(state.s || "").replace("-", "")];
  if (by !== undefined) found.sort((a, b) => (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0));
  return back ? found.reverse() : found;
}

function go(changes) {
  state = { ...state, ...changes };
  history.replaceState(null, "", addressOf(state));
  return draw();
}

function select(label, value, options, change) {
  const groups = new Map();
  for (const option of options) {
    const item = make("option", { value: option.id, selected: option.id === value }, option.label);
    if (!groups.has(option.group)) groups.set(option.group, []);
    groups.get(option.group).push(item);
  }
  const nodes = [...groups].flatMap(([group, items]) => (group ? [make("optgroup", { label: group }, ...items)] : items));
  const node = make("select", { change: (event) => change(event.target.value) }, ...nodes);
  return make("label", {}, make("span", {}, label), node);
}

function tools() {
  const { measures, classes, levels, first } = unixmark.about;
  const own = chosenClass();
  const every = make("input", { type: "checkbox", checked: Boolean(state.e), change: () => go({ e: state.e ? "" : "1", n: "" }) });
  const classList = classes.map((one) => ({ id: one.id, label: one.label }));
  if (classes.length > 1) classList.push({ id: "*", label: "Everything, also what cannot be compared" });
  return make("div", { class: "tools" },
    select("Measure", measure().id, measures, (id) => go({ m: id === first ? "" : id, l: "", s: "", n: "" })),
    classes.length > 1 && select("Comparable runs", own ? own.id : "*", classList,
      (id) => go({ c: id === classes[0].id ? "" : id, n: "" })),
    make("label", {}, every, " show all runs, not just the latest of each system"));
}

function facet(facet, place, rows) {
  const counts = new Map();
  for (const row of rows.filter((one) => passes(one, place))) {
    counts.set(valueOf(row, place), (counts.get(valueOf(row, place)) || 0) + 1);
  }
  const picked = chosen(facet);
  for (const value of picked) if (!counts.has(value)) counts.set(value, 0);
  if (new Set(rows.map((row) => row[FACETS][place])).size < 2 && picked.length === 0) return null;
  const order = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const toggle = (value) => {
    const left = picked.includes(value) ? picked.filter((one) => one !== value) : [...picked, value];
    return go({ [`f.${facet.id}`]: choice(left), n: "" });
  };
  const item = ([value, count]) => make("li", {}, make("label", { class: count === 0 && "none" },
    make("input", { type: "checkbox", name: facet.id, value, checked: picked.includes(value), change: () => toggle(value) }),
    " ", make("bdi", {}, value), " ", make("small", {}, String(count))));
  const open = [...document.querySelectorAll("details[open]")].some((node) => node.dataset.facet === facet.id);
  const name = picked.length ? `${facet.label} (${picked.length})` : facet.label;
  return make("details", { "data-facet": facet.id, open: open || picked.length > 0 },
    make("summary", {}, name), make("ul", {}, ...order.slice(0, 60).map(item)));
}

// What is not shown for not being comparable, and why.
function guard() {
  const { classes } = unixmark.about;
  const values = unixmark.measured[measure().id] || {};
  const own = chosenClass();
  const known = new Map(classes.map((one) => [one.id, one]));
  const rows = unixmark.table.filter((row) => values[row[ID]]);
  if (own === null) {
    const used = new Set(rows.map((row) => row[CLASS]));
    const differ = used.size ? differences([...used].map((id) => known.get(id))) : [];
    if (differ.length === 0) return null;
    return make("p", { class: "guard alarm" }, `Mixed: the runs differ in their ${differ.join(" and ")}, `
      + "so differences between them are not those of the systems alone.");
  }
  const reasons = new Map();
  const others = rows.filter((row) => row[CLASS] !== own.id);
  for (const row of others) {
    const why = differences([own, known.get(row[CLASS])]).join(" and ");
    reasons.set(why, (reasons.get(why) || 0) + 1);
  }
  if (others.length === 0) return null;
  const why = [...reasons].map(([reason, count]) => `${count} ${count === 1 ? "run" : "runs"} hidden: different ${reason}`).join("; ");
  return make("p", { class: "guard" }, `${why}. Their figures are not comparable with these.`);
}

// A bar from 0 to a value, where from and to are the picture's ends.
function bar(estimate, [from, to]) {
  const place = (number) => Math.min(Math.max((100 * (number - from)) / (to - from || 1), 0), 100);
  const x = (number) => place(number).toFixed(1);
  const [value, low, high] = estimate;
  const ends = low !== null && high !== null
    && make("path", { class: "ends", d: `M${x(low)} 4H${x(high)}M${x(low)} 1v6M${x(high)} 1v6` });
  return make("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("rect", { class: "h0", x: x(Math.min(value, 0)), y: 0, width: Math.abs(place(value) - place(0)).toFixed(1), height: 8 }), ends);
}

function line(row, shown, place, ends) {
  const [best, worst] = row.range;
  const isMarked = marked().includes(row[ID]);
  const toggle = () => go({ v: (isMarked ? marked().filter((id) => id !== row[ID]) : [...marked(), row[ID]]).join(",") });
  return make("tr", { class: isMarked && "chosen" },
    make("td", { class: "rank" }, best === worst ? String(best) : `${best}–${worst}`),
    make("th", { scope: "row" },
      make("a", { href: `r/${row[ID]}.html` }, make("bdi", {}, row[HOST])),
      make("small", {}, make("bdi", {}, row[ABOUT])),
      ...row[MARKS].flatMap((mark) => [" ", make("span", { class: "mark" }, mark)])),
    make("td", { class: "drawn" }, bar(row.values[place], ends)),
    ...shown.map((one) => make("td", { class: "n" }, ...(measure().change ? change : figure)(row.values[one]))),
    make("td", { class: "day" }, row[DATE]),
    make("td", {}, make("input", { type: "checkbox", checked: isMarked, change: toggle, name: "side", value: row[ID],
      "aria-label": `side by side: ${row[HOST]}` })));
}

function table(rows, place) {
  const { levels } = unixmark.about;
  const shown = levels.map((_, number) => number).filter((number) => rows.some((row) => row.values[number]));
  const order = (state.s || "").replace("-", "");
  const back = (state.s || "").startsWith("-");
  const head = (text, isSorted, click, name, rises) => make("th", { scope: "col", class: name, "aria-sort": isSorted
    && (back === rises ? "descending" : "ascending") }, make("button", { type: "button", click }, text));
  const byLevel = (number) => go({ l: levels[number].id, s: number === place && !order ? (back ? "" : "-") : "" });
  const byWords = (name) => go({ s: order === name && !back ? `-${name}` : name });
  const of = (row, end) => (row.values[place][end] === null ? row.values[place][0] : row.values[place][end]);
  const ends = [measure().change ? Math.min(0, ...rows.map((row) => of(row, 1))) : 0, Math.max(0, ...rows.map((row) => of(row, 2)))];
  const count = Number(state.n) || PAGE;
  return make("table", { class: "ranking" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Rank"),
      head("System", order === "system", () => byWords("system"), null, true),
      make("th", { scope: "col", class: "drawn" }, levels[place].label),
      ...shown.map((number) => head(levels[number].label, !order && number === place, () => byLevel(number), "n", measure().lower)),
      head("Run", order === "run", () => byWords("run"), null, true),
      make("th", { scope: "col" }, "Side by side"))),
    make("tbody", {}, ...rows.slice(0, count).map((row) => line(row, shown, place, ends))));
}

function below(rows) {
  const count = Number(state.n) || PAGE;
  const ids = marked();
  const more = rows.length > count
    && make("button", { type: "button", click: () => go({ n: String(count + 5 * PAGE) }) }, `Show more of ${rows.length}`);
  const aside = ids.length > 1
    && make("a", { href: `compare.html#r=${ids.join(",")}`, id: "together" }, `${ids.length} runs side by side`);
  const clear = Object.keys(state).some((key) => state[key])
    && make("button", { type: "button", click: () => { state = {}; return go({}); } }, "Clear all choices");
  return make("p", { class: "tools" }, more, aside, clear);
}

// What takes the focus, in order.
function controls() {
  return [...document.querySelectorAll("main button, main select, main input, main summary")];
}

// Draws the page; what had the focus has it again.
async function draw() {
  const one = measure();
  if (!unixmark.measured[one.id]) await load([`data/m-${one.file}.js`]);
  if (measure() !== one) return; // another was chosen meanwhile, and is drawn by its own call
  const focus = controls().indexOf(document.activeElement);
  const rows = candidates();
  const passing = rows.filter((row) => passes(row, -1));
  const place = level(passing);
  const shown = ranked(passing, place);
  const facets = unixmark.about.facets.map((each, number) => facet(each, number, rows));
  const unit = one.unit ? `, ${one.unit}` : "";
  document.getElementById("tools").replaceChildren(...[tools(), make("div", { class: "facets" }, ...facets), guard()]
    .filter((node) => node));
  const count = make("p", { class: "tool", role: "status", id: "count" },
    `${shown.length} of ${rows.length} ${state.e ? "runs" : "systems"}${one.lower ? "; lower is better" : ""}`);
  const section = make("section", {}, make("h2", {}, one.label, make("small", {}, unit)), count);
  if (shown.length) {
    section.append(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": one.label },
      table(shown, place)));
  }
  section.append(below(shown));
  document.getElementById("board").replaceChildren(section);
  if (focus >= 0) controls()[focus]?.focus();
  document.body.dataset.drawn = "1";
}

async function begin() {
  if (!unixmark.about || unixmark.about.measures.length === 0) return;
  state = stateOf(location.hash);
  await load([...unixmark.about.shards].map((digit) => `data/runs-${digit}.js`));
  await draw();
  window.addEventListener("hashchange", () => { state = stateOf(location.hash); return draw(); });
}

begin();
