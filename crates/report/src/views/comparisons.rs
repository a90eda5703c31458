//! One measure of one cell compared: its columns in every format, of runs and of conditions alike.

use analysis::{Comparison, Effect, Measure, RATE, Remark, Sides, Verdict};
use catalogue::NONE;
use journal::Key;
use serde_json::{Value, json};
use words::{Grouped, Unique, at_least, factor, figure};

use super::shared::{coordinates, sentences, verdict_words};
use crate::charts::forest;
use crate::document::{Block, Chart, Column, Columns, Field, Readers};

/// From this time factor on, a verdict in words has it.
const LARGE: f64 = 2.0;

/// The verdict on a difference between separate runs.
const DIFFERS: &str = "differs between the runs";

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
}

impl<'a> Line<'a> {
    /// Returns the line of an effect; its condition stands above the table.
    pub(super) fn new(effect: &'a Effect, against: &'a str) -> Line<'a> {
        let comparison = &effect.comparison;
        let key = comparison.cell.key.clone();
        Line { comparison, effect: Some(effect), against, shown: key.under(NONE), key }
    }

    /// Returns the values before and after: where the run compared with is B, that of A is the later.
    pub(crate) fn sides(&self) -> [f64; 2] {
        let Comparison { a, b, .. } = *self.comparison;
        if self.against == "B" { [b, a] } else { [a, b] }
    }

    /// Returns the name at a terminal: `syscall x2, load compile p99`.
    pub(super) fn id(&self) -> String {
        self.named(&self.shown.test)
    }

    /// Returns the name on pages: `System Call Overhead x2`.
    pub(super) fn title(&self) -> String {
        self.named(&self.comparison.cell.label)
    }

    /// Returns the name by that of the test; commands in turn are a test without a name.
    fn named(&self, test: &str) -> String {
        match self.comparison.unnamed() {
            Some(what) => format!("{what}{}", coordinates(&self.shown)),
            None => measured(test, &self.shown, self.comparison.measure),
        }
    }

    /// Returns the difference with its unit: `-85.2%`, `-3.0pt`; `0±6.3%` if the digits are too few to show one.
    pub(super) fn delta(&self) -> Field {
        let Comparison { delta, resolution, measure, .. } = self.comparison;
        match resolution {
            Some(resolution) if delta.value == 0.0 => {
                Field::text(format!("0±{}{}", at_least(*resolution), unit(*measure)))
            }
            _ => change(self.comparison),
        }
    }

    /// Returns the interval of the difference: `-0.12..+0.03`.
    pub(super) fn interval(&self) -> Field {
        Field::Interval(self.comparison.change(), words::signed_fine)
    }

    /// Returns how many times as long the same work takes: `6.77x`.
    pub(super) fn time(&self) -> Field {
        Field::maybe(self.comparison.time_factor(), words::factor)
    }

    /// Returns the verdict in few words, and what a second look adds: `undecided <3.6%`, `slower, twice`.
    pub(super) fn verdict(&self) -> String {
        self.looked(verdict_words(self.comparison.verdict, unit(self.comparison.measure)))
    }

    /// Returns the verdict as a page has it: `undecided (blind below 3.6 %)`, `slower, twice`.
    pub(super) fn verdict_in_full(&self) -> String {
        self.looked(in_full(self.comparison))
    }

    fn looked(&self, verdict: String) -> String {
        match self.effect.and_then(|effect| effect.confirmed) {
            Some(true) => format!("{verdict}, twice"),
            Some(false) => format!("{verdict}, once"),
            None => verdict,
        }
    }
}

/// Returns `test` with its place in the matrix and what is measured.
pub(super) fn measured(test: &str, key: &Key, measure: Measure) -> String {
    let name = format!("{test}{}", coordinates(key));
    match measure {
        Measure::Score => name,
        Measure::Met => format!("{name} deadlines met"),
        measure => format!("{name} {}", measure.name()),
    }
}

/// Returns how a figure of a measure is written.
pub(crate) fn words_of(measure: Measure) -> fn(f64) -> String {
    if measure == Measure::Energy { words::joules } else { words::compact }
}

/// Returns a side's figure with the digits that the interval of the difference leaves.
pub(crate) fn shown(one: &Comparison, value: f64) -> String {
    let whole = if one.measure == Measure::Met { 1.0 } else { value.abs() / 100.0 };
    words::known(words_of(one.measure)(value), (one.delta.high - one.delta.low) / 2.0 * whole)
}

/// Returns the change of the figure with its unit.
pub(super) fn change(one: &Comparison) -> Field {
    Field::Suffixed(one.change().value, words::signed_fine, unit(one.measure))
}

/// Returns the unit of a difference as it follows a number.
pub(crate) fn unit(measure: Measure) -> &'static str {
    if measure == Measure::Met { "pt" } else { "%" }
}

fn side(one: &Comparison, value: f64) -> Field {
    Field::Worded(shown(one, value), value.into())
}

fn in_full(one: &Comparison) -> String {
    let unit = one.measure.delta_unit();
    match one.verdict {
        Verdict::Same(within) => format!("same within {} {unit}", at_least(within)),
        Verdict::Differs => DIFFERS.to_owned(),
        Verdict::Undecided(_) if !one.delta.bounded() => "undecided (no interval)".to_owned(),
        Verdict::Undecided(could) if !could.is_finite() => "undecided (too few blocks or rounds)".to_owned(),
        Verdict::Undecided(could) => match at_least(could) {
            endless if endless == words::NOTHING => "undecided (the interval is too wide)".to_owned(),
            could => format!("undecided (blind below {could} {unit})"),
        },
        decided => decided.word().to_owned(),
    }
}

/// Returns the verdict for programs, which have no column of words beside it: `slower (6.77x the time)`.
pub(crate) fn verdict_in_words(one: &Comparison) -> String {
    let large = one.time_factor().filter(|factor| one.verdict.is_decided() && factor.is_finite() && *factor >= LARGE);
    large.map_or_else(|| in_full(one), |large| format!("{} ({} the time)", in_full(one), factor(large)))
}

/// Returns the columns, where the values compared are called `a` and `b`.
pub(super) fn columns<'a>([a, b]: [&str; 2]) -> Columns<'a, Line<'a>> {
    let n = |one: &Comparison| match one.n {
        Sides { a, b } if a == b => Field::Worded(a.to_string(), json!([a, b])),
        Sides { a, b } => Field::Worded(format!("{a}, {b}"), json!([a, b])),
    };
    Columns::new()
        .data(|line: &Line<'a>| json!({"run": line.comparison.run, "against": line.against}))
        .keyed(|line| &line.key)
        .with(Column::words("test").keyed("label"), |line| {
            let Comparison { cell, unit, .. } = line.comparison;
            Field::Worded(line.title(), cell.label.as_str().into()).narrow(format!("{}, {unit}", line.id()))
        })
        .with(Column::words("id").shown(Readers::PAGE), |line| Field::text(line.id()))
        .with(Column::data("measure"), |line| Field::text(line.comparison.measure.name()))
        .with(Column::words("unit").keyed("unit").shown(Readers::PAGE), |line| Field::text(&line.comparison.unit))
        .with(Column::number(a).keyed("a"), |line| side(line.comparison, line.comparison.a))
        .with(Column::number(b).keyed("b"), |line| side(line.comparison, line.comparison.b))
        .with(Column::number("n").keyed("n").shown(Readers::PAGE), move |line| n(line.comparison))
        .with(Column::number("delta").main(), Line::delta)
        .with(Column::data("delta"), |line| Field::Estimate(line.comparison.change(), words::signed_fine))
        .with(Column::number("95 %"), Line::interval)
        .with(Column::data("delta_unit"), |line| Field::text(line.comparison.measure.delta_unit()))
        .with(Column::number("time").keyed("time_factor"), Line::time)
        .with(Column::data("verdict"), |line| Field::text(line.comparison.verdict.word()))
        .with(Column::words("verdict").keyed("verdict_text").main(), |line| {
            Field::Worded(line.verdict_in_full(), verdict_in_words(line.comparison).into()).narrow(line.verdict())
        })
        .data(|line| behind(line.comparison))
}

/// Returns the figures behind a difference and its verdict.
fn behind(one: &Comparison) -> Value {
    let within = if let Verdict::Same(within) = one.verdict { Some(within) } else { None };
    let could = if let Verdict::Undecided(could) = one.verdict { Some(could) } else { None };
    let adjusted = one.verdict.is_decided().then(|| one.adjusted_change());
    json!({
        "adjusted_low": adjusted.map(|change| change.low), "adjusted_high": adjusted.map(|change| change.high),
        "lower_is_better": one.lower_is_better(), "same_within": within, "could_have_seen": could, "p": one.p, "q": one.q, "method": one.method,
        "resolution": one.resolution, "pairs": one.pairs, "warnings": sentences(&one.warnings),
    })
}

/// Returns the row of a comparison in a forest plot.
pub(super) fn row(line: &Line<'_>) -> forest::Row {
    let one = line.comparison;
    let (delta, interval) = (line.delta().words(), line.interval().words());
    let time = one.time_factor().map_or_else(String::new, factor);
    let of_time = if time.is_empty() { String::new() } else { format!(", {time} the time") };
    let (label, verdict, n) = (line.title(), line.verdict_in_full(), one.n.b);
    let [p, q] = [one.p, one.q].map(figure);
    let mut title = format!("{label}: {delta} ({interval}){of_time}, {verdict}; n {n}, p {p}, q {q}");
    if let Some(floor) = line.effect.and_then(|effect| effect.floor).filter(|floor| floor.is_finite()) {
        title += &format!("; drift reaches {}", figure(floor));
    }
    let (words, is_energy) = ([delta, interval, time, line.verdict()], one.is_energy());
    forest::Row { label, at: one.delta, is_energy, verdict: Some(one.verdict), words, title, control: None }
}

/// Returns the chart of a forest plot.
pub(super) fn chart(drawing: forest::Forest) -> Block {
    let threshold = drawing.threshold;
    let differs = drawing.rows.iter().any(|row| row.verdict == Some(Verdict::Differs));
    let has_control = drawing.rows.iter().any(|row| row.control.is_some());
    let [inverse, above] = match drawing.has_energy() {
        true => ["time or an energy", "a factor of the time or the energy"],
        false => ["time", "times as long"],
    };
    let mut caption = format!(
        "The delta of each test with its 95 % interval; losses are to the left. The axis below is the change of the rate in \
         per cent (for a {inverse}, of its inverse); the axis above: {above}. The scale is linear within {threshold} % \
         (shaded) and logarithmic beyond."
    );
    if has_control {
        caption += " The small hollow mark below each is the A/A control of the same test: two equal arms.";
    }
    if !drawing.means.is_empty() {
        caption += " Diamonds are geometric means.";
    }
    Block::Chart(Chart::new(drawing.draw(), caption, forest::legend(has_control, differs)))
}

/// Returns the remarks on single comparisons: each kind once, with the runs and the tests that it touches.
pub(super) fn remarks<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Vec<String> {
    let of = |one: &'a Comparison| {
        let name = format!("{}{}", one.cell.key.test, coordinates(&one.cell.key));
        one.warnings.iter().map(move |remark| {
            let (run, remark) = remark.of_run();
            ((remark.kind(), run), (remark, name.clone()))
        })
    };
    let sentence = |((_, run), found): ((String, &'a str), Vec<(&'a Remark, String)>)| {
        let (remarks, names): (Vec<&Remark>, Vec<String>) = found.into_iter().unzip();
        let names = names.into_iter().unique().join("; ");
        (format!("{} ({names})", Remark::together(&remarks)), run)
    };
    let found = comparisons.into_iter().flat_map(of).grouped().into_iter().map(sentence).grouped();
    let of_runs = found.into_iter().map(|(sentence, runs)| match runs.join(", ") {
        runs if runs.is_empty() => sentence,
        runs => format!("{runs}: {sentence}"),
    });
    of_runs.collect()
}

/// Returns how to read deltas and verdicts, with their threshold in per cent.
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
            resolution: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn programs_and_people_have_the_same_row() {
        let one = comparison(Verdict::Slower, Estimate { value: -60.0, low: -61.0, high: -59.0 });
        let key = one.cell.key.clone();
        let line = Line { comparison: &one, effect: None, against: "A", shown: key.clone(), key };
        let object = columns(["A", "B"]).object(&line);
        assert_eq!((&object["delta"], &object["low"], &object["n"]), (&json!(-60.0), &json!(-61.0), &json!([6, 8])));
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
            assert_eq!(in_full(&one), format!("undecided ({why})"));
        }
    }

    #[test]
    fn names_have_what_is_beyond_the_usual() {
        let key = Key { load: "compile".to_owned(), ..Key::plain("audio", 2) };
        assert_eq!(measured("audio", &key, Measure::Met), "audio x2, load compile deadlines met");
        assert_eq!(measured("Pipe", &Key::plain("pipe", 1), Measure::Score), "Pipe");
    }
}
