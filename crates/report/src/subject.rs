//! The subjects of reports. Each has a [`Document`], for formats that people and programs read, and
//! some have [`FeedValue`]s, for formats of other tools that take numbers alone.

use ::fleet::Fleet;
use analysis::fleet::FleetReport;
use analysis::{Comparisons, Figure, Gate, Measure, Pooled, Prediction, Results, Sorted, Trend};
use anyhow::{Result, bail};
use catalogue::Metric;
use journal::{Finding, Key, Run, View};
use stats::Estimate;

use crate::document::{Document, Extent};
use crate::views::{self, Line};

/// The letters of the two runs that are compared as a rule.
const USUAL_LETTERS: [&str; 2] = ["A", "B"];

#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A run.
    Run(&'a Results),
    /// Runs compared, with what became of a gate.
    Comparison(&'a Comparisons, Option<&'a Gate>),
    /// Runs side by side, a column each, with the order of the rows.
    Systems(&'a Comparisons, Sorted),
    /// Runs of one comparison on several machines.
    Pooled(&'a Pooled),
    /// A fleet run with the states of its nodes.
    Fleet(&'a Fleet, &'a FleetReport),
    /// One test over many runs.
    Trend(&'a Trend),
    /// The findings about this machine: problems for runs, and what else is worth knowing of it.
    Doctor(&'a [Finding]),
    /// The predicted costs of conditions to a command, whose name comes first.
    Bill(&'a str, &'a [Prediction]),
}

/// A number for feeds: a figure, its power or energy, or a change.
#[derive(Debug)]
pub(crate) struct FeedValue {
    /// `pipe x2, load compile`.
    pub(crate) name: String,
    /// Its place in the matrix, as names with values.
    pub(crate) labels: Vec<(&'static str, String)>,
    /// `lps`; of a change `%` or `points`.
    pub(crate) unit: String,
    pub(crate) value: Estimate,
    /// `None` where nobody knows.
    pub(crate) lower_is_better: Option<bool>,
    pub(crate) is_change: bool,
    /// What must be known of it, in sentences.
    pub(crate) notes: Vec<String>,
}

impl<'a> Subject<'a> {
    pub(crate) fn document(&self) -> Document {
        match self {
            Subject::Run(results) if results.run.view == View::Card => views::card(results),
            Subject::Run(results) => views::run(results),
            Subject::Comparison(all, gate) => views::compare(all, *gate),
            Subject::Systems(all, by) => views::systems(all, *by),
            Subject::Pooled(pooled) => views::pooled(pooled),
            Subject::Fleet(fleet, report) => views::fleet(fleet, report),
            Subject::Trend(trend) => views::trend(trend),
            Subject::Doctor(findings) => views::doctor(findings),
            Subject::Bill(command, predictions) => views::bill(command, predictions),
        }
    }

    /// The document to an extent; the whole document if the subject has no short form.
    pub(crate) fn document_of(&self, extent: Extent) -> Document {
        let short = match (self, extent) {
            // A card sums its run up; the whole is that of any run.
            (Subject::Run(results), Extent::Whole) => Some(views::run(results)),
            (Subject::Run(results), Extent::Answer) => Some(views::answer(results)),
            (Subject::Run(results), Extent::Short) => views::short(results, true),
            (Subject::Run(results), Extent::ShortAndUnkept) => views::short(results, false),
            _ => None,
        };
        short.unwrap_or_else(|| self.document())
    }

    /// The run; of several, the last.
    pub(crate) fn last_run(&self) -> Option<&'a Run> {
        match self {
            Subject::Run(results) => Some(&results.run),
            Subject::Comparison(all, _) => all.runs.last().map(|last| &last.results.run),
            _ => None,
        }
    }

    /// The results of the run, if the subject is a single one.
    pub(crate) fn results(&self) -> Option<&'a Results> {
        if let Subject::Run(results) = self { Some(results) } else { None }
    }

    /// The comparisons, without those between two equal arms.
    pub(crate) fn changes(&self) -> Vec<Line<'a>> {
        match self {
            Subject::Run(results) => results.cost().map_or_else(Vec::new, views::changes),
            Subject::Comparison(all, _) => views::lines(all),
            _ => Vec::new(),
        }
    }

    /// The figures, then their powers, then their energies, then the changes.
    ///
    /// # Errors
    /// None of them is a finite number.
    pub(crate) fn feed_values(&self) -> Result<Vec<FeedValue>> {
        let figures = if let Subject::Run(results) = self { &results.figures[..] } else { &[] };
        let changes = self.changes();

        let mut values: Vec<FeedValue> = figures.iter().map(FeedValue::of_figure).collect();
        values.extend(figures.iter().filter_map(FeedValue::of_power));
        values.extend(figures.iter().filter_map(FeedValue::of_energy));
        values.extend(changes.iter().map(FeedValue::of_change));

        values.retain(|value| value.value.value.is_finite());
        if values.is_empty() {
            bail!("this report has no figure that the format can hold; try --format json");
        }
        Ok(values)
    }
}

impl FeedValue {
    fn new(
        key: &Key,
        measure: &str,
        unit: &str,
        value: Estimate,
        lower_is_better: Option<bool>,
    ) -> FeedValue {
        let Key { test, copies, load, condition } = key;
        let mut labels = vec![
            ("test", test.clone()),
            ("load", load.clone()),
            ("condition", condition.clone()),
            ("copies", copies.to_string()),
        ];
        if measure != Measure::Score.name() {
            labels.push(("measure", measure.to_owned()));
        }
        FeedValue {
            name: measure_name(key, measure),
            labels,
            unit: unit.to_owned(),
            value,
            lower_is_better,
            is_change: false,
            notes: Vec::new(),
        }
    }

    fn of_figure(figure: &Figure) -> FeedValue {
        let metric = figure.cell.metric;
        let is_directed = metric != Metric::Unknown;
        let lower_is_better = is_directed.then(|| Measure::Score.lower_is_better(metric));

        let (key, unit) = (&figure.cell.key, &figure.cell.unit);
        FeedValue {
            notes: views::sentences(&figure.warnings),
            ..FeedValue::new(key, Measure::Score.name(), unit, figure.score, lower_is_better)
        }
    }

    fn of_power(figure: &Figure) -> Option<FeedValue> {
        let watts = figure.energy.as_deref()?.watts;
        Some(FeedValue::new(&figure.cell.key, "power", "W", watts, Some(true)))
    }

    fn of_energy(figure: &Figure) -> Option<FeedValue> {
        let joules = figure.energy.as_deref()?.per_operation?;
        Some(FeedValue::new(&figure.cell.key, "energy", "J", joules, Some(true)))
    }

    /// A change, named after its run where there may be several.
    fn of_change(line: &Line<'_>) -> FeedValue {
        let Line { comparison, key, .. } = line;
        let mut value = FeedValue {
            is_change: true,
            notes: views::sentences(&comparison.warnings),
            ..FeedValue::new(
                key,
                comparison.measure.name(),
                comparison.measure.delta_unit(),
                comparison.change(),
                comparison.direction(),
            )
        };
        value.name += &run_suffix(&comparison.run, key);
        // The conditions of one run are called after themselves.
        if comparison.run != key.condition {
            value.labels.push(("run", comparison.run.clone()));
        }
        value
    }

    /// The direction in which it is better, in a word.
    pub(crate) fn better(&self) -> &'static str {
        match self.lower_is_better {
            Some(true) => "lower",
            Some(false) => "higher",
            None => "unknown",
        }
    }
}

/// A measure of a cell in words: `pipe p99 x2, load compile`.
pub(crate) fn measure_name(key: &Key, measure: &str) -> String {
    let is_score = measure == Measure::Score.name();
    let measure = if is_score { String::new() } else { format!(" {measure}") };
    format!("{}{measure}{}", key.test, views::coordinates(key))
}

/// `, run C` where runs other than A and B are compared.
pub(crate) fn run_suffix(run: &str, key: &Key) -> String {
    let is_usual = USUAL_LETTERS.contains(&run) || run == key.condition;
    if is_usual { String::new() } else { format!(", run {run}") }
}
