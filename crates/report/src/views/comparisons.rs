//! A comparison of one measure of one cell, between runs or conditions: its columns in every
//! format.

use analysis::{Comparison, Effect, Measure, RATE, Remark, Sides, Verdict};
use catalogue::NONE;
use journal::{Cell, Key};
use serde_json::{Value, json};
use words::{Grouped, Unique, at_least, factor, figure};

use super::shared::{brief_verdict, coordinates, sentences};
use crate::charts::forest;
use crate::document::{Block, Chart, Column, Columns, Field, Readers};

/// From this factor on, [`verdict_with_time`] states the time.
const MIN_STATED_FACTOR: f64 = 2.0;

/// The verdict on a difference between separate runs.
const DIFFERS: &str = "differs between the runs";

/// The longest heading of a side, in characters.
const MAX_HEADING: usize = 14;

/// The heading of a side that has this name.
pub(super) fn side_heading(name: &str) -> String {
    words::shortened(name, MAX_HEADING)
}

/// A comparison, and what it is between.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) comparison: &'a Comparison,
    /// The effect that it belongs to, in a run about cost.
    pub(super) effect: Option<&'a Effect>,
    /// The run or the condition that it is compared with.
    pub(crate) against: &'a str,
    /// The place in the matrix, for programs.
    pub(crate) key: Key,
    /// The same place, without the parts that stand above the table.
    pub(super) shown: Key,
    /// The arm that it is of, where a table has several.
    pub(super) arm: Option<String>,
}

impl<'a> Line<'a> {
    /// The line of an effect; its condition stands above the table.
    pub(super) fn new(effect: &'a Effect, against: &'a str) -> Line<'a> {
        let comparison = &effect.comparison;
        let key = comparison.cell.key.clone();
        Line { comparison, effect: Some(effect), against, shown: key.under(NONE), key, arm: None }
    }

    /// The values before and after. Where the run compared with is B, that of A is the later.
    pub(crate) fn sides(&self) -> [f64; 2] {
        let Comparison { a, b, .. } = *self.comparison;
        if self.against == "B" { [b, a] } else { [a, b] }
    }

    /// The name at a terminal: `syscall x2, load compile p99`.
    pub(super) fn id(&self) -> String {
        self.named(&self.shown.test)
    }

    /// The name on pages: `System Call Overhead x2`.
    pub(super) fn title(&self) -> String {
        self.named(&self.comparison.cell.label)
    }

    /// The name by the test's. Commands that alternate are a test without a name.
    fn named(&self, test: &str) -> String {
        let name = match self.comparison.unnamed() {
            Some(what) => format!("{what}{}", coordinates(&self.shown)),
            None => measured(test, &self.shown, self.comparison.measure),
        };
        match &self.arm {
            Some(arm) => format!("{arm}: {name}"),
            None => name,
        }
    }

    /// The difference with its unit: `-85.2%`, `-3.0pt`; `0±6.3%` if the digits are too few to show
    /// one.
    pub(super) fn delta(&self) -> Field {
        let Comparison { delta, resolution, measure, .. } = self.comparison;
        match resolution {
            Some(resolution) if delta.value == 0.0 => {
                Field::text(format!("0±{}{}", at_least(*resolution), unit(*measure)))
            }
            _ => change(self.comparison),
        }
    }

    /// The interval of the difference: `-0.12..+0.03`.
    pub(super) fn interval(&self) -> Field {
        interval_of(self.comparison)
    }

    /// The time for the same work as a multiple of the reference's: `6.77x`.
    pub(super) fn time(&self) -> Field {
        Field::maybe(self.comparison.time_factor(), words::factor)
    }

    /// The verdict in few words, and what a second look adds: `undecided <3.6%`, `slower, twice`.
    pub(super) fn verdict(&self) -> String {
        self.with_second_look(brief_verdict(self.comparison.verdict, unit(self.comparison.measure)))
    }

    /// The verdict as a page has it: `undecided (blind below 3.6 %)`, `slower, twice`.
    pub(super) fn verdict_in_full(&self) -> String {
        self.with_second_look(full_verdict(self.comparison))
    }

    /// The verdict, with what a second look showed if there was one.
    fn with_second_look(&self, verdict: String) -> String {
        match self.effect.and_then(|effect| effect.confirmed) {
            Some(true) => format!("{verdict}, twice"),
            Some(false) => format!("{verdict}, once"),
            None => verdict,
        }
    }
}

/// `test` with its place in the matrix and what is measured.
pub(super) fn measured(test: &str, key: &Key, measure: Measure) -> String {
    let name = format!("{test}{}", coordinates(key));
    match measure {
        Measure::Score => name,
        Measure::Met => format!("{name} deadlines met"),
        measure => format!("{name} {}", measure.name()),
    }
}

/// The style in which a figure of a measure is written.
pub(crate) fn words_of(measure: Measure) -> fn(f64) -> String {
    if measure == Measure::Energy { words::joules } else { words::compact }
}

/// The unit in which people read the values of a comparison, and how many of it are one of the
/// comparison's own.
pub(crate) fn unit_for_people(one: &Comparison) -> (String, f64) {
    let own = || (one.unit.clone(), 1.0);
    words::suited_unit(f64::max(one.a.abs(), one.b.abs()), &one.unit).unwrap_or_else(own)
}

/// A side's figure in the unit for people, with the digits that the interval of the difference
/// leaves.
pub(crate) fn shown(one: &Comparison, value: f64) -> String {
    let value = value * unit_for_people(one).1;
    let whole = if one.measure == Measure::Met { 1.0 } else { value.abs() / 100.0 };
    words::known(words_of(one.measure)(value), one.delta.half_width() * whole)
}

/// The same followed by its unit: `13.7 ms`.
pub(super) fn amount(one: &Comparison, value: f64) -> String {
    format!("{} {}", shown(one, value), unit_for_people(one).0).trim_end().to_owned()
}

/// The change of the figure with its unit: `+28.6%`, `91x`, `-3.0pt`.
pub(super) fn change(one: &Comparison) -> Field {
    let change = one.change().value;
    match unit(one.measure) {
        "%" => Field::Worded(words::change(change), change.into()),
        unit => Field::Suffixed(change, words::signed_fine, unit),
    }
}

/// The ends of the interval of the change, as the change itself is written: `+17.9..+42.3`,
/// `88.1x..93.0x`.
pub(super) fn interval_of(one: &Comparison) -> Field {
    let change = one.change();
    let style = match unit(one.measure) {
        "%" => words::change_like(change.value),
        _ => words::signed_fine,
    };
    Field::Interval(change, style)
}

/// The unit of a difference as it follows a number.
pub(crate) fn unit(measure: Measure) -> &'static str {
    if measure == Measure::Met { "pt" } else { "%" }
}

/// The verdict in few words.
pub(super) fn verdict(one: &Comparison) -> String {
    brief_verdict(one.verdict, unit(one.measure))
}

/// A test with its place in the matrix: `syscall x2, load compile`.
pub(super) fn place(cell: &Cell) -> String {
    format!("{}{}", cell.key.test, coordinates(&cell.key))
}

fn side(one: &Comparison, value: f64) -> Field {
    Field::Worded(shown(one, value), value.into())
}

/// The verdict as a page has it: `undecided (blind below 3.6 %)`.
fn full_verdict(one: &Comparison) -> String {
    let unit = one.measure.delta_unit();
    match one.verdict {
        Verdict::Same(within) => format!("same within {} {unit}", at_least(within)),
        Verdict::Differs => DIFFERS.to_owned(),
        Verdict::Undecided(_) if !one.delta.bounded() => "undecided (no interval)".to_owned(),
        Verdict::Undecided(bound) if !bound.is_finite() => {
            "undecided (too few blocks or rounds)".to_owned()
        }
        Verdict::Undecided(bound) => match at_least(bound) {
            // A bound from 1000 on has no number.
            number if number == words::NOTHING => "undecided (the interval is too wide)".to_owned(),
            number => format!("undecided (blind below {number} {unit})"),
        },
        Verdict::Undirected => "no verdict (--better higher: or lower:)".to_owned(),
        decided => decided.word().to_owned(),
    }
}

/// The verdict where no column has the time next to it: `slower (6.77x the time)`.
pub(crate) fn verdict_with_time(one: &Comparison) -> String {
    let verdict = full_verdict(one);
    match one.time_factor() {
        Some(time) if one.verdict.is_decided() && time.is_finite() && time >= MIN_STATED_FACTOR => {
            format!("{verdict} ({} the time)", factor(time))
        }
        _ => verdict,
    }
}

/// The numbers of values behind a comparison: one, where both sides have as many.
fn sample_sizes(one: &Comparison) -> Field {
    let Sides { a, b } = one.n;
    let text = if a == b { a.to_string() } else { format!("{a}, {b}") };
    Field::Worded(text, json!([a, b]))
}

/// The columns, where the values compared are called `a` and `b`.
pub(super) fn columns<'a>([a, b]: [&str; 2]) -> Columns<'a, Line<'a>> {
    Columns::new()
        .data(|line: &Line<'a>| json!({"run": line.comparison.run, "against": line.against}))
        .keyed(|line| &line.key)
        .with(Column::words("test").keyed("label"), |line| {
            let (unit, _) = unit_for_people(line.comparison);
            Field::Worded(line.title(), line.comparison.cell.label.as_str().into())
                .narrow(format!("{}, {unit}", line.id()))
        })
        .with(Column::data("measure"), |line| Field::text(line.comparison.measure.name()))
        .with(Column::number("delta").main(), Line::delta)
        .with(Column::data("delta"), |line| {
            Field::Estimate(line.comparison.change(), words::signed_fine)
        })
        .with(Column::data("delta_unit"), |line| Field::text(line.comparison.measure.delta_unit()))
        .with(Column::data("verdict"), |line| Field::text(line.comparison.verdict.word()))
        .with(Column::words("verdict").keyed("verdict_text").main(), |line| {
            Field::Worded(line.verdict_in_full(), verdict_with_time(line.comparison).into())
                .narrow(line.verdict())
        })
        .with(Column::number("95 %"), Line::interval)
        .with(Column::number(a).keyed("a"), |line| side(line.comparison, line.comparison.a))
        .with(Column::number(b).keyed("b"), |line| side(line.comparison, line.comparison.b))
        .with(Column::words("unit").keyed("unit").shown(Readers::PAGE), |line| {
            let (unit, _) = unit_for_people(line.comparison);
            Field::Worded(unit, line.comparison.unit.as_str().into())
        })
        .with(Column::number("time").keyed("time_factor").shown(Readers::PAGE), Line::time)
        .with(Column::number("n").keyed("n").shown(Readers::PAGE), |line| {
            sample_sizes(line.comparison)
        })
        .data(|line| behind(line.comparison))
}

/// The figures behind a difference and its verdict.
fn behind(one: &Comparison) -> Value {
    let within = if let Verdict::Same(within) = one.verdict { Some(within) } else { None };
    let blind_below = if let Verdict::Undecided(bound) = one.verdict { Some(bound) } else { None };
    let adjusted = one.verdict.is_decided().then(|| one.adjusted_change());
    let units = one.units.map(|units| {
        json!({
            "unit": units.unit.name(), "a": units.n.a, "b": units.n.b,
            "deviation_percent": units.deviation_percent.value,
            "deviation_low_percent": units.deviation_percent.low,
            "deviation_high_percent": units.deviation_percent.high,
            "error_percent": units.error_percent,
        })
    });
    let two_speeds = one.two_speeds.map(|speeds| {
        json!({
            "fast": speeds.fast, "slow": speeds.slow,
            "fast_share": { "a": speeds.fast_share.a, "b": speeds.fast_share.b },
            "more_often_fast_points": speeds.more_often_fast,
            "when_fast_percent": speeds.when_fast, "when_slow_percent": speeds.when_slow,
        })
    });
    json!({
        "adjusted_low": adjusted.map(|change| change.low), "adjusted_high": adjusted.map(|change| change.high),
        "lower_is_better": one.direction(), "same_within": within, "could_have_seen": blind_below, "p": one.p, "q": one.q, "method": one.method,
        "resolution": one.resolution, "units": units, "two_speeds": two_speeds, "pairs": one.pairs, "warnings": sentences(&one.warnings),
    })
}

/// The row of a comparison in a forest plot.
pub(super) fn row(line: &Line<'_>) -> forest::Row {
    let one = line.comparison;
    let (delta, interval) = (line.delta().words(), line.interval().words());
    let time = one.time_factor().map_or_else(String::new, factor);
    let of_time = if time.is_empty() { String::new() } else { format!(", {time} the time") };
    let (label, verdict, n) = (line.title(), line.verdict_in_full(), one.n.b);
    let [p, q] = [one.p, one.q].map(figure);
    let mut title =
        format!("{label}: {delta} ({interval}){of_time}, {verdict}; n {n}, p {p}, q {q}");
    if let Some(floor) =
        line.effect.and_then(|effect| effect.floor).filter(|floor| floor.is_finite())
    {
        title += &format!("; drift reaches {}", figure(floor));
    }
    forest::Row {
        label,
        at: one.change(),
        lower_is_better: one.lower_is_better(),
        verdict: Some(one.verdict),
        words: [delta, interval, line.verdict()],
        title,
        control: None,
    }
}

/// The charts of a forest plot: of rates, of times, or one of each.
pub(super) fn charts(drawing: forest::Forest) -> Vec<Block> {
    let threshold = drawing.threshold;
    let differs = drawing.rows.iter().any(|row| row.verdict == Some(Verdict::Differs));
    let has_control = drawing.rows.iter().any(|row| row.control.is_some());
    let mut caption = format!(
        "Each change with its 95 % interval, as the table has it. The scale is linear within {threshold} % (shaded) \
         and logarithmic beyond."
    );
    if has_control {
        caption += " The small hollow mark below each is the A/A control of the same test: two equal arms.";
    }
    if !drawing.means.is_empty() {
        caption += " Diamonds are geometric means.";
    }
    let mut legend = forest::legend(has_control, differs);
    let mut charts: Vec<Chart> = drawing
        .panels()
        .into_iter()
        .map(|(title, panel)| Chart {
            title,
            is_comparison: true,
            ..Chart::new(Some(panel), String::new(), std::mem::take(&mut legend))
        })
        .collect();
    if let Some(last) = charts.last_mut() {
        last.caption = caption;
    }
    charts.into_iter().map(Block::Chart).collect()
}

/// The remarks on single comparisons: each kind once, with the runs and the tests that it
/// touches.
pub(super) fn remarks<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Vec<String> {
    let mut named = Vec::new();
    for one in comparisons {
        let name = place(&one.cell);
        named.extend(one.warnings.iter().map(|remark| (name.clone(), remark)));
    }
    grouped_remarks(named, None)
}

/// Remarks, each kind once: `B: sentence (names)`, with the runs and the names that it
/// touches. `name_count` is how many different names there are, if that is known: a remark that
/// touches them all has none in brackets.
pub(super) fn grouped_remarks<'a>(
    named: impl IntoIterator<Item = (String, &'a Remark)>,
    name_count: Option<usize>,
) -> Vec<String> {
    let by_kind = named.into_iter().map(|(name, remark)| {
        let (run, remark) = remark.of_run();
        ((remark.kind(), run), (remark, name))
    });
    let sentence = |((_, run), found): ((String, &'a str), Vec<(&'a Remark, String)>)| {
        let (remarks, names): (Vec<&Remark>, Vec<String>) = found.into_iter().unzip();
        let names = names.into_iter().unique();
        let together = Remark::together(&remarks);
        let touches_all = name_count == Some(names.len());
        let sentence =
            if touches_all { together } else { format!("{together} ({})", names.join("; ")) };
        (sentence, run)
    };
    let runs_by_sentence = by_kind.grouped().into_iter().map(sentence).grouped();
    let sentences = runs_by_sentence.into_iter().map(|(sentence, runs)| {
        // A remark on no single run has the empty name.
        let runs = runs.join(", ");
        if runs.is_empty() { sentence } else { format!("{runs}: {sentence}") }
    });
    sentences.collect()
}

/// How to read deltas and verdicts, with their threshold in per cent.
pub(super) fn reading(threshold: f64) -> String {
    format!(
        "delta: the change in per cent; a loss is negative for rates, and positive for times, latencies, energies and \
         memory. A difference is reported if its interval excludes 0 and it exceeds {threshold} %, at a false discovery \
         rate of {:.0} %. undecided <y, or blind below y: four of five such comparisons would have shown a difference of \
         y, fewer a smaller one.",
        100.0 * RATE
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Design;
    use stats::{Estimate, Method};

    fn comparison(verdict: Verdict, delta: Estimate) -> Comparison {
        Comparison {
            run: "B".to_owned(),
            cell: serde_json::from_value(json!({
                "id": 0, "test": "pipe", "copies": 1, "load": "none", "condition": "none", "label": "Pipe",
                "metric": "rate", "unit": "lps", "timebase": 1.0, "scale": 1.0, "category": "system",
            }))
            .unwrap(),
            measure: Measure::Score,
            scale: analysis::Scale::Ratio,
            unit: "lps".to_owned(),
            a: 10.0,
            b: 4.0,
            n: Sides { a: 6, b: 8 },
            design: Design::Apart,
            delta,
            adjusted: delta,
            p: 0.001,
            q: 0.002,
            method: Method::RankSum,
            verdict,
            pairs: Vec::new(),
            units: None,
            two_speeds: None,
            resolution: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn programs_and_people_have_the_same_row() {
        let one = comparison(Verdict::Slower, Estimate { value: -60.0, low: -61.0, high: -59.0 });
        let key = one.cell.key.clone();
        let shown = key.clone();
        let line = Line { comparison: &one, effect: None, against: "A", shown, key, arm: None };
        let object = columns(["A", "B"]).object(&line);
        assert_eq!(
            (&object["delta"], &object["low"], &object["n"]),
            (&json!(-60.0), &json!(-61.0), &json!([6, 8]))
        );
        assert_eq!(
            (&object["verdict"], &object["verdict_text"]),
            (&json!("slower"), &json!("slower (2.50x the time)"))
        );
        let (delta, time, verdict) = (line.delta().words(), line.time().words(), line.verdict());
        assert_eq!([delta, time, verdict], ["-60.0%", "2.50x", "slower"]);
    }

    #[test]
    fn undecided_says_why() {
        let bounded = Estimate { value: 1.0, low: -9.0, high: 9.0 };
        for (could, delta, why) in [
            (12.01, bounded, "blind below 13 %"),
            (5e3, bounded, "the interval is too wide"),
            (f64::INFINITY, bounded, "too few blocks or rounds"),
            (f64::INFINITY, Estimate::alone(1.0), "no interval"),
        ] {
            let one = comparison(Verdict::Undecided(could), delta);
            assert_eq!(full_verdict(&one), format!("undecided ({why})"));
        }
    }

    #[test]
    fn names_have_what_is_beyond_the_usual() {
        let key = Key { load: "compile".to_owned(), ..Key::plain("audio", 2) };
        assert_eq!(measured("audio", &key, Measure::Met), "audio x2, load compile deadlines met");
        assert_eq!(measured("Pipe", &Key::plain("pipe", 1), Measure::Score), "Pipe");
    }
}
