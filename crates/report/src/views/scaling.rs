//! How tests scale: figures per copy, totals and gains by level, the Universal Scalability Law, and
//! what is missing.

use analysis::{Level, Missing, Results, Scaling};
use journal::Key;
use maud::Markup;
use serde_json::json;
use stats::{Estimate, Exact, UslFit};
use words::{Grouped, Unique, coefficient, copies, figure, gain, percent, plus_minus, score};

use super::modes;
use super::shared::{self, name};
use crate::charts::key;
use crate::charts::plot::{Axis, Form, Line, Mark, Plot, Series};
use crate::charts::scale::Scale;
use crate::document::{Block, Chart, Column, Columns, Field, Readers, Style, Table, interval};

/// Places of a line, and most levels that a chart has marks for.
const POINTS: usize = 60;
const MARKS: usize = 48;

/// From this many copies their axis is logarithmic.
const MANY: f64 = 17.0;

/// A total that normalising moves by less has one mark.
const MOVED: f64 = 0.01;

const LEGEND: &str = "Gain: the total divided by the total at the fewest copies; step: divided by the total in the \
line above; efficiency: the gain as a share of the ideal (N copies, N times the total); fair: the slowest copy's work \
as a share of the fastest's; GHz: the clock by which the law is normalised. In the Universal Scalability Law, sigma is \
the share of the work that copies do one after another and kappa the cost of each pair of copies (Amdahl's law has no \
kappa); a value below zero means that copies help each other. Peak: the number of copies with the highest total; below \
1 if a second copy lowers it. A star marks a level beyond a border, which the law does not cover.";

const CAPTION: &str = "Totals over copies, each with its 95 % interval. The curve is the Universal Scalability Law fitted to \
them, dashed where it was not fitted; the straight dashed line is every copy as fast as with the fewest. Where the clock \
changed, filled marks are totals at the first level's clock, and hollow ones those that were measured.";

/// A test at one of its levels.
struct At<'a> {
    test: &'a Scaling,
    place: usize,
}

impl<'a> At<'a> {
    fn level(&self) -> &'a Level {
        &self.test.levels[self.place]
    }

    /// True if the law is fitted to this level, too.
    fn is_fitted(&self) -> bool {
        self.place < self.test.fitted
    }

    /// A text of the test, which only its first level shows.
    fn once(&self, text: String) -> String {
        if self.place == 0 { text } else { String::new() }
    }
}

/// The tables, the law, its charts, and what is missing.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let tests = results.scaling();
    let mut blocks = vec![Block::Section("Scaling".to_owned())];
    if tests.is_empty() {
        blocks.push(Block::text("No test has results at two levels of copies."));
    } else {
        blocks.extend([
            Block::Table(per_copy(tests)),
            Block::Table(totals(tests)),
            Block::Table(laws(tests)),
        ]);
        blocks.extend(modes::table(tests).map(Block::Table));
    }
    blocks.push(Block::Table(gaps(results)));
    if !tests.is_empty() {
        blocks.push(Block::text(LEGEND));
        // Processes whose threads were measured too are in the threads' panel.
        let is_beside = |test: &Scaling| {
            let mut threads =
                tests.iter().filter_map(|threads| modes::processes_of(threads, tests));
            threads.any(|processes| processes.key == test.key)
        };
        let mut panels = Vec::new();
        for test in tests.iter().filter(|test| !is_beside(test)) {
            let processes = modes::processes_of(test, tests);
            if let Some(plot) = plot(test, processes) {
                panels.push((panel_label(test, processes), plot.panel(210.0)));
            }
        }
        blocks.push(Block::Chart(Chart {
            caption: CAPTION.to_owned(),
            legend: legend(tests),
            panels,
            ..Chart::default()
        }));
    }
    blocks
}

/// What the hues are for, where threads and processes share a chart.
fn legend(tests: &[Scaling]) -> Vec<(Markup, String)> {
    match tests.iter().any(|test| test.modes.is_some()) {
        true => vec![(key(0), "threads".to_owned()), (key(1), "processes".to_owned())],
        false => Vec::new(),
    }
}

/// The heading of a test's chart, with its law; of threads and processes, with both laws.
fn panel_label(test: &Scaling, processes: Option<&Scaling>) -> String {
    let law = |test: &Scaling| law_in_words(test).unwrap_or_else(|| "no law".to_owned());
    match (processes, law_in_words(test)) {
        (Some(processes), _) => format!(
            "{}, {}. Threads: {}. Processes: {}",
            processes.title(),
            test.total_unit,
            law(test),
            law(processes)
        ),
        (None, Some(law)) => format!("{}, {}: {law}", test.title(), test.total_unit),
        (None, None) => format!("{}, {}", test.title(), test.total_unit),
    }
}

/// Lbench's table: a row per test, a column per level.
fn per_copy(tests: &[Scaling]) -> Table {
    let mut levels =
        tests.iter().flat_map(|test| test.levels.iter().map(|level| level.copies)).unique();
    levels.sort_unstable();
    let columns = Columns::new()
        .with(Column::words("Test").narrow("Per copy"), |test: &Scaling| Field::Text(test.title()))
        .with(Column::words("Unit").narrow(" "), |test| Field::text(&test.unit));
    let columns = levels.into_iter().fold(columns, |columns, copies| {
        columns.with(Column::number(&copies.to_string()).main().wide(9), move |test| {
            let level = test.levels.iter().find(|level| level.copies == copies);
            Field::maybe(level.map(|level| level.per_copy.value), words::short)
        })
    });
    columns.table(tests).shown(Readers::PEOPLE)
}

/// The totals of all copies: a row per test and level.
fn totals(tests: &[Scaling]) -> Table {
    let rows: Vec<At<'_>> = tests
        .iter()
        .flat_map(|test| (0..test.levels.len()).map(move |place| At { test, place }))
        .collect();
    Columns::new()
        .with(Column::data("test"), |at: &At<'_>| Field::text(&at.test.key.test))
        .with(Column::words("Test").keyed("label"), |at| {
            let narrow = at.once(format!("{}, {}", at.test.title(), at.test.total_unit));
            Field::Worded(at.once(at.test.title()), at.test.label.as_str().into()).narrow(narrow)
        })
        .with(Column::number("Copies").keyed("copies").wide(7), |at| {
            let copies = at.level().copies;
            let mark = if at.is_fitted() { "" } else { "*" };
            Field::Worded(format!("{copies}{mark}"), copies.into())
        })
        .data(|at| {
            let Scaling { key, metric, unit, .. } = at.test;
            json!({"load": key.load, "condition": key.condition, "metric": metric, "unit": unit})
        })
        .with(Column::number("Total").keyed("total").main().wide(8), |at| {
            Field::Estimate(at.level().total, words::short)
        })
        .with(Column::words("Unit").keyed("total_unit").shown(Readers::PAGE), |at| {
            Field::text(&at.test.total_unit)
        })
        .with(Column::number("±").wide(7), |at| Field::Spread(at.level().total))
        .with(Column::number("Gain").keyed("gain").main().wide(7), |at| {
            Field::Estimate(at.level().gain, words::gain)
        })
        .with(Column::number("±").wide(7), |at| match at.place {
            0 => Field::Nothing,
            _ => Field::Spread(at.level().gain),
        })
        .with(Column::number("Step").keyed("step").wide(7), |at| {
            at.level().step.map_or(Field::Nothing, |step| Field::Estimate(step, words::gain))
        })
        .with(Column::number("Efficiency").keyed("efficiency").narrow("Effic.").wide(7), |at| {
            Field::Estimate(at.level().efficiency, words::percent)
        })
        .with(Column::number("Fair").keyed("fairness").wide(7), |at| {
            Field::maybe(at.level().fairness, words::percent)
        })
        .with(Column::number("GHz").keyed("clock").wide(6), |at| {
            Field::maybe(at.level().clock, words::figure)
        })
        .with(Column::number("Trials").keyed("n").shown(Readers::PAGE), |at| {
            Field::Count(at.level().n as u64)
        })
        .with(Column::data("per_copy"), |at| Field::Estimate(at.level().per_copy, words::score))
        .with(Column::data("normalised"), |at| Field::estimate(at.level().normalised, words::score))
        .data(|at| {
            let both = at.level().normalised.zip(at.test.levels[0].normalised);
            let gain = both.map(|(here, first)| here.value / first.value);
            json!({"normalised_gain": gain, "in_law": at.is_fitted(), "status": "ok"})
        })
        .table(&rows)
        .keyed("scaling")
}

/// The laws: a row per test.
fn laws(tests: &[Scaling]) -> Table {
    let any_kappa = tests.iter().any(|test| test.law.is_some_and(|law| law.kappa.is_some()));
    let people = if any_kappa { Readers::PEOPLE } else { Readers::PROGRAM };
    let any_judged = tests.iter().any(|test| judged_law(test).is_some());
    let pages = if any_judged { Readers::PAGE } else { Readers::PROGRAM };
    Columns::new()
        .with(Column::data("test"), |test: &Scaling| Field::text(&test.key.test))
        .with(Column::words("Law").keyed("label"), |test| Field::Worded(test.title(), test.label.as_str().into()))
        .data(|test| {
            let Key { load, condition, .. } = &test.key;
            json!({
                "load": load, "condition": condition, "total_unit": test.total_unit,
                "lambda": test.law.map(|law| law.law.lambda), "sigma": test.law.map(|law| law.sigma),
                "kappa": test.law.and_then(|law| law.kappa), "peak": test.law.and_then(|law| law.peak),
            })
        })
        .and(parameter(Column::number("sigma").wide(8), coefficient, |law| Some(law.sigma)))
        .and(parameter(Column::number("kappa").wide(8).shown(people), coefficient, |law| law.kappa))
        .and(parameter(Column::number("peak").wide(6).shown(people), figure, |law| law.peak))
        .with(Column::number("R²").keyed("r2").shown(pages), |test| {
            Field::maybe(judged_law(test).map(|law| law.r2), coefficient)
        })
        .with(Column::words("Worst").keyed("worst").shown(pages), |test| {
            judged_law(test).map_or(Field::Nothing, |law| {
                let (copies, share) = law.worst;
                let words = format!("{:+.1}% at {copies}", 100.0 * share);
                Field::Worded(words, json!({"copies": copies, "share": share}))
            })
        })
        .data(|test| json!({"clock": test.clock, "fitted": test.fitted}))
        .with(Column::words("Notes").keyed("notes"), |test| Field::Marks(test.notes.clone()))
        .table(tests)
        .keyed("laws")
}

/// The law, unless it was fitted to three levels or fewer, which leave too little to judge
/// it by.
fn judged_law(test: &Scaling) -> Option<UslFit> {
    test.law.filter(|_| test.fitted > 3)
}

/// The columns of a parameter of the law: its value in `column`, and its interval.
fn parameter<'a>(
    column: Column,
    style: Style,
    of: fn(UslFit) -> Option<Estimate>,
) -> Columns<'a, Scaling> {
    let ends = Column::words("95 %").shown(column.readers);
    let estimate = move |test: &Scaling| test.law.and_then(of);
    Columns::new()
        .with(column.main(), move |test| Field::maybe(estimate(test).map(|it| it.value), style))
        .with(ends, move |test| {
            estimate(test).map_or(Field::Nothing, |it| Field::Text(range(&it, style)))
        })
}

/// The ends of an interval in words; `from 3.1` without an upper one.
fn range(estimate: &Estimate, words: fn(f64) -> String) -> String {
    match (estimate.low.is_finite(), estimate.high.is_finite()) {
        (true, false) => format!("from {}", words(estimate.low)),
        _ => interval(estimate, words),
    }
}

/// The law in a line: `sigma 0.58 (0.55..0.61), …`.
fn law_in_words(test: &Scaling) -> Option<String> {
    let law = test.law?;
    let known = |name: &str, estimate: &Estimate, words: fn(f64) -> String| {
        format!("{name} {} ({})", words(estimate.value), range(estimate, words))
    };
    let mut parts = vec![known("sigma", &law.sigma, coefficient)];
    if let Some(kappa) = &law.kappa {
        parts.push(known("kappa", kappa, coefficient));
        parts.push(
            law.peak.map_or_else(|| "no peak".to_owned(), |peak| known("peak", &peak, figure)),
        );
    }
    Some(parts.join(", "))
}

/// The cells without a result, each reason once per test with the levels it is of.
fn gaps(results: &Results) -> Table {
    let nothing = |_: &Missing| Field::Nothing;
    let columns =
        Columns::new().with(Column::words("Missing"), nothing).with(Column::words(""), nothing);
    let mut table = Table { headed: false, ..columns.empty_table().shown(Readers::PEOPLE) };
    let rates = shared::gaps(results).into_iter().filter(|(_, gap)| !gap.latency);
    let reasons = rates
        .map(|(kind, gap)| ((name(&gap.label, &gap.key), kind, &gap.reason), gap.key.copies))
        .grouped();
    for ((label, kind, reason), levels) in reasons {
        let listed: Vec<String> = levels.iter().map(u32::to_string).collect();
        let noun = if levels == [1] { "copy" } else { "copies" };
        table.add_gap(label, format!("{kind} with {} {noun}: {reason}", listed.join(", ")));
    }
    table
}

/// Totals over copies, and the law; of threads, those of the processes too.
fn plot(test: &Scaling, processes: Option<&Scaling>) -> Option<Plot> {
    let tests: Vec<&Scaling> = std::iter::once(test).chain(processes).collect();
    let levels = || tests.iter().flat_map(|test| &test.levels);
    let values = || levels().flat_map(|level| [level.total.value, level.fitted_total().value]);
    let most = values().filter(|value| value.is_finite()).max_by(f64::total_cmp)?;
    let to = f64::from(test.levels.last()?.copies);
    let counts: Vec<f64> = test.levels.iter().map(|level| f64::from(level.copies)).collect();
    let scale = if to < MANY { Scale::linear(0.0, to * 1.04) } else { Scale::log(&counts, &[])? };
    let ticks = counts.iter().map(|copies| (*copies, copies.to_string())).collect();

    let mut series: Vec<Series> =
        tests.iter().enumerate().map(|(number, test)| curve(test, number)).collect();
    // Intervals and the law's peak may stretch the axis a little.
    let peak =
        series.iter().flat_map(|series| &series.lines).flat_map(|line| &line.points).map(|at| at.1);
    let highs = levels().map(|level| level.fitted_total().high).chain(peak);
    let highest =
        highs.filter(|high| high.is_finite() && *high <= most * 1.5).fold(most, f64::max) * 1.05;
    series[0].lines.insert(0, ideal(test)?);

    Some(Plot {
        label: format!("{}: total over copies, with the law", test.title()),
        x: Axis { scale, ticks },
        y: Axis::new(Scale::linear(0.0, highest)),
        series,
        ..Plot::default()
    })
}

/// Every copy as fast as with the fewest.
fn ideal(test: &Scaling) -> Option<Line> {
    let (first, last) = test.levels.first().zip(test.levels.last())?;
    let (from, to) = (f64::from(first.copies), f64::from(last.copies));
    let ideal = line((from, to), |copies| first.fitted_total().value / from * copies);
    Some(Line { dashed: true, plain: true, ..ideal })
}

/// The totals of one test as marks, and its law as a line.
fn curve(test: &Scaling, number: usize) -> Series {
    let copies_of = |level: Option<&Level>| level.map_or(1.0, |level| f64::from(level.copies));
    let (from, to) = (copies_of(test.levels.first()), copies_of(test.levels.last()));
    // The law ends with the last level it was fitted to.
    let edge = copies_of(test.levels[..test.fitted].last());
    let mut lines = Vec::new();
    if let Some(law) = &test.law {
        lines.push(line((from, edge), |copies| law.law.at(copies)));
        lines.push(Line { dashed: true, ..line((edge, to), |copies| law.law.at(copies)) });
    }
    // The last level always has a mark.
    let step = test.levels.len().div_ceil(MARKS);
    let levels = test.levels.iter().rev().enumerate().filter(|(back, _)| back % step == 0);
    Series {
        number,
        title: law_in_words(test).unwrap_or_default(),
        lines,
        marks: levels.flat_map(|(_, level)| marks(test, level)).collect(),
    }
}

/// The line of a law between two numbers of copies, up to its pole, beyond which it would
/// come back from below 0.
fn line((from, to): (f64, f64), law: impl Fn(f64) -> f64) -> Line {
    let copies =
        (0..=POINTS).map(|part| from * (to / from).to_the_power(part as f64 / POINTS as f64));
    let points = copies
        .map(|copies| (copies, law(copies)))
        .take_while(|point| point.1.is_finite() && point.1 >= 0.0);
    Line { points: if to > from { points.collect() } else { Vec::new() }, ..Line::default() }
}

fn marks(test: &Scaling, level: &Level) -> Vec<Mark> {
    let (fitted, at) = (level.fitted_total(), f64::from(level.copies));
    let total = |it: &Estimate| {
        format!("{} {} {}", score(it.value), test.total_unit, plus_minus(it.halves()))
    };
    let (gain, efficiency) = (gain(level.gain.value), percent(level.efficiency.value));
    let mut title = format!(
        "{}: {}, gain {gain}, efficiency {efficiency}",
        copies(level.copies),
        total(&level.total)
    );
    if let (Some(normalised), Some(clock)) = (&level.normalised, level.clock) {
        title += &format!(
            "; at the first level's clock {} (here {} GHz)",
            total(normalised),
            figure(clock)
        );
    }
    let interval = fitted.bounded().then_some((fitted.low, fitted.high));
    let raw = Mark {
        at: (at, level.total.value),
        form: Form::Hollow,
        title: title.clone(),
        interval: None,
    };
    let main = Mark { at: (at, fitted.value), form: Form::Full, title, interval };
    let moved = (fitted.value / level.total.value - 1.0).abs() > MOVED;
    if moved { vec![raw, main] } else { vec![main] }
}
