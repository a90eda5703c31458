//! The subjects of reports: each subject has a document, and the values that feeds are made of.

use ::fleet::Fleet;
use analysis::fleet::FleetReport;
use analysis::{Comparisons, Figure, Gate, Measure, Prediction, Results, Sorted, Trend};
use anyhow::{Result, bail};
use journal::{Finding, Key, Run};
use stats::Estimate;

use crate::document::Document;
use crate::views::{self, Card, Line};

/// The subject of a report.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A run.
    Run(&'a Results),
    /// Runs compared, with what became of a gate.
    Comparison(&'a Comparisons, Option<&'a Gate>),
    /// Runs side by side, a column each, with the order of the rows.
    Systems(&'a Comparisons, Sorted),
    /// A fleet run with the states of its nodes.
    Fleet(&'a Fleet, &'a FleetReport),
    /// One test over many runs.
    Trend(&'a Trend),
    /// A machine on a card.
    Card(&'a Card<'a>),
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
    /// Its place in the matrix, as labels.
    pub(crate) labels: Vec<(&'static str, String)>,
    /// `lps`; of a change `%` or `points`.
    pub(crate) unit: String,
    pub(crate) value: Estimate,
    pub(crate) lower_is_better: bool,
    pub(crate) is_change: bool,
}

impl<'a> Subject<'a> {
    pub(crate) fn document(&self) -> Document {
        match self {
            Subject::Run(results) => views::run(results),
            Subject::Comparison(all, gate) => views::compare(all, *gate),
            Subject::Systems(all, by) => views::systems(all, *by),
            Subject::Fleet(fleet, report) => views::fleet(fleet, report),
            Subject::Trend(trend) => views::trend(trend),
            Subject::Card(card) => views::card(card),
            Subject::Doctor(findings) => views::doctor(findings),
            Subject::Bill(command, predictions) => views::bill(command, predictions),
        }
    }

    /// Returns the run; of several, the last.
    pub(crate) fn last_run(&self) -> Option<&'a Run> {
        match self {
            Subject::Run(results) => Some(&results.run),
            Subject::Comparison(all, _) => all.runs.last().map(|last| &last.results.run),
            _ => None,
        }
    }

    /// Returns the results of the run, if it is a single one.
    pub(crate) fn results(&self) -> Option<&'a Results> {
        if let Subject::Run(results) = self { Some(results) } else { None }
    }

    /// Returns its comparisons, those between two equal arms left out.
    pub(crate) fn changes(&self) -> Vec<Line<'a>> {
        match self {
            Subject::Run(results) => results.cost().map_or_else(Vec::new, views::changes),
            Subject::Comparison(all, _) => views::lines(all),
            _ => Vec::new(),
        }
    }

    /// Returns its figures, their power and energy, and its changes.
    ///
    /// # Errors
    /// None of them is a finite number.
    pub(crate) fn feed_values(&self) -> Result<Vec<FeedValue>> {
        let rows = if let Subject::Run(results) = self { &results.figures[..] } else { &[] };
        let energy = |row: &'a Figure| Some((row, row.energy.as_deref()?));
        let energies = || rows.iter().filter_map(energy);
        let watts = energies().map(|(row, energy)| FeedValue::energy(row, "power", "W", energy.watts));
        let joules = energies().filter_map(|(row, energy)| Some((row, energy.per_operation?)));
        let joules = joules.map(|(row, joules)| FeedValue::energy(row, "energy", "J", joules));
        let changes = self.changes();
        let all =
            rows.iter().map(FeedValue::score).chain(watts).chain(joules).chain(changes.iter().map(FeedValue::change));
        let entries: Vec<FeedValue> = all.filter(|entry| entry.value.value.is_finite()).collect();
        if entries.is_empty() {
            bail!("this report has no figure that the format can hold; try --format json");
        }
        Ok(entries)
    }
}

impl FeedValue {
    fn new(key: &Key, measure: &str, unit: &str, value: Estimate, lower_is_better: bool) -> FeedValue {
        let Key { test, copies, load, condition } = key;
        let mut labels = vec![("test", test.clone()), ("load", load.clone()), ("condition", condition.clone())];
        labels.push(("copies", copies.to_string()));
        labels.extend((measure != Measure::Score.name()).then(|| ("measure", measure.to_owned())));
        let (name, unit) = (name(key, measure), unit.to_owned());
        FeedValue { name, labels, unit, value, lower_is_better, is_change: false }
    }

    fn score(row: &Figure) -> FeedValue {
        let lower_is_better = Measure::Score.lower_is_better(row.cell.metric);
        FeedValue::new(&row.cell.key, Measure::Score.name(), &row.cell.unit, row.score, lower_is_better)
    }

    fn energy(row: &Figure, measure: &str, unit: &str, value: Estimate) -> FeedValue {
        FeedValue::new(&row.cell.key, measure, unit, value, true)
    }

    fn change(line: &Line<'_>) -> FeedValue {
        FeedValue {
            is_change: true,
            ..FeedValue::compared(line, line.comparison.measure.delta_unit(), line.comparison.change())
        }
    }

    /// Returns a value of what a line compares, named after its run where there may be several.
    pub(crate) fn compared(line: &Line<'_>, unit: &str, value: Estimate) -> FeedValue {
        let one = line.comparison;
        let mut entry = FeedValue::new(&line.key, one.measure.name(), unit, value, one.lower_is_better());
        entry.name += &run_suffix(&one.run, &line.key);
        // The conditions of one run are called after themselves.
        entry.labels.extend((one.run != line.key.condition).then(|| ("run", one.run.clone())));
        entry
    }
}

/// Returns a measure of a cell in words: `pipe p99 x2, load compile`.
pub(crate) fn name(key: &Key, measure: &str) -> String {
    let measure = if measure == Measure::Score.name() { String::new() } else { format!(" {measure}") };
    format!("{}{measure}{}", key.test, views::coordinates(key))
}

/// Returns `, run C`, where others than A and B are compared.
pub(crate) fn run_suffix(run: &str, key: &Key) -> String {
    if ["A", "B", &key.condition].contains(&run) { String::new() } else { format!(", run {run}") }
}
