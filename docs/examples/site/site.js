// What the scripts of a site share: files register what they hold here, and pages draw it. Text is
// only ever set as text, so that no name or comment is read as markup.
"use strict";

const unixmark = {
  about: null, // data/site.js
  table: [], // the rows of data/runs-*.js
  measured: {}, // by measure, then by run: data/m-*.js
  records: {}, // by run: r/*.js
  why: {}, // by class: data/why.js
  site(about) { this.about = about; },
  runs(rows) { this.table.push(...rows); },
  values(measure, values) { this.measured[measure] = values; },
  because(why) { this.why = why; },
  run(record) { this.records[record.id] = record; },
};

// Loads files by script elements, which work from file:// too; those that are missing are passed over.
function load(names) {
  const one = (name) => new Promise((done) => {
    const script = document.createElement("script");
    script.src = name;
    script.onload = script.onerror = done;
    document.head.append(script);
  });
  return Promise.all(names.map(one));
}

// Makes an element; attributes that are null or false are left out, functions are listeners, and children may be missing.
function make(name, attributes = {}, ...children) {
  const drawn = ["svg", "rect", "path"].includes(name);
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child));
  return node;
}

// A score as reports print it: with the digits that its interval leaves, at most a decimal, and four significant figures below 100.
function score([value, low, high]) {
  const size = Math.abs(value);
  const decimals = size < 1 ? 4 : size < 10 ? 3 : size < 100 ? 2 : 1;
  const half = low === null || high === null ? 0 : (high - low) / 2;
  if (!(half > 0 && value > 0)) return value.toFixed(decimals);
  const last = Math.min(Math.floor(Math.log10(half)), Math.floor(Math.log10(value))) - 1;
  if (last < 0) return value.toFixed(Math.min(decimals, -last));
  return (Math.round(value / 10 ** last) * 10 ** last).toFixed(0);
}

const TIMES = { s: 1, ms: 1e-3, "µs": 1e-6, us: 1e-6, ns: 1e-9, ps: 1e-12 };

// The unit that suits a time, and how many of it are one `unit`, as in reports (words::suited_unit).
function suitedUnit(size, unit) {
  const [time] = unit.split("/");
  const isSuited = size >= 0.01 && (size < 1e4 || time === "s");
  if (!(time in TIMES) || size === 0 || isSuited) return { name: unit, factor: 1 };
  const seconds = size * TIMES[time];
  const name = Object.keys(TIMES).find((known) => seconds >= TIMES[known]) || "ps";
  return { name: name + unit.slice(time.length), factor: TIMES[time] / TIMES[name] };
}

// The halves of an interval as shares of the value, as reports print them (words::plus_minus).
function spread([value, low, high]) {
  if (low === null || high === null || !(value > 0)) return "no interval";
  const [down, up] = [(100 * (value - low)) / value, (100 * (high - value)) / value];
  const [less, more] = [Math.min(down, up), Math.max(down, up)];
  const decimals = more < 9.95 ? 1 : 0;
  if (more >= 9850) return "×÷>99";
  if (more > 100) return `×÷${(more / 100 + 1).toFixed(more < 895 ? 1 : 0)}`;
  if (more >= 0.15 && more > 1.5 * less) return `-${down.toFixed(decimals)}/+${up.toFixed(decimals)}%`;
  return `±${more.toFixed(decimals)}%`;
}

function figure(estimate) {
  if (!estimate) return ["–"];
  return [make("b", {}, score(estimate)), " ", make("small", {}, spread(estimate))];
}

// A change in per cent or points with its interval, as reports print it.
function change(estimate) {
  if (!estimate) return ["–"];
  const signed = (number) => {
    const text = Math.abs(number).toFixed(Math.abs(number) < 0.995 ? 2 : Math.abs(number) < 999.95 ? 1 : 0);
    return Number(text) === 0 ? text : `${number < 0 ? "-" : "+"}${text}`;
  };
  const [value, low, high] = estimate;
  return [make("b", {}, signed(value)), " ",
    make("small", {}, low === null || high === null ? "no interval" : `${signed(low)} to ${signed(high)}`)];
}

// The best and the worst place of each estimate: what lies wholly above or below decides.
function ranges(estimates, lower) {
  const turn = ([value, low, high]) => (lower ? [-value, high === null ? -Infinity : -high, low === null ? Infinity : -low]
    : [value, low === null ? -Infinity : low, high === null ? Infinity : high]);
  const all = estimates.map(turn);
  const lows = all.map((one) => one[1]).sort((a, b) => a - b);
  const highs = all.map((one) => one[2]).sort((a, b) => a - b);
  // How many of the sorted numbers come before the first that is not.
  const before = (numbers, test) => {
    let [from, to] = [0, numbers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (test(numbers[middle])) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return all.map(([, low, high]) => [
    lows.length - before(lows, (one) => one <= high) + 1,
    highs.length - before(highs, (one) => one < low),
  ]);
}

// In what classes of runs differ: procedures, builds …
function differences(classes) {
  const values = (place) => new Set(classes.map((one) => one.parts[place][1]));
  return classes[0].parts.map(([what]) => what).filter((_, place) => values(place).size > 1);
}

// What the address says after #, and the address for it: only what differs from the default is in it.
function stateOf(address) {
  const state = {};
  for (const [key, value] of new URLSearchParams(address.slice(1))) state[key] = value;
  return state;
}
function addressOf(state) {
  const parts = Object.entries(state).filter(([, value]) => value);
  const text = (value) => encodeURIComponent(value).replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/");
  return "#" + parts.map(([key, value]) => `${key}=${text(value)}`).join("&");
}
