//! The reference collection: a run reduced to its figures, and where another run stands among such entries.

use serde::Serialize;

use super::{Figure, Results};
use catalogue::Metric;
use journal::{End, Ended, FORMAT, Fact, Facts, Journal, Key, Procedure, Quantity, Run, Score, Trial, View};
use stats::{Estimate, Exact, rank_ranges};
use words::Grouped;

/// The fact that has the half-width of an index's interval, in per cent of its logarithm; the index and its copies
/// follow.
const HALF_WIDTH: &str = "reference.index.";

/// A figure of a run, or an index, among those of the entries that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// Its place in the matrix; the test of an index is `index.` and its name.
    #[serde(flatten)]
    pub key: Key,
    /// Its name in reports.
    pub label: String,
    /// The way in which the entries were measured: `standard procedure, native build`, or `imported`.
    pub procedure: String,
    /// True if the run was measured in that way, too; else machines and programs are compared at once.
    pub alike: bool,
    /// The entries that have the figure.
    pub of: usize,
    /// The fewest and the most of them that it is better than, by the intervals.
    pub better_than: (usize, usize),
    /// The entry whose figure is nearest.
    pub nearest: String,
}

/// One figure of a run or an entry.
struct Compared<'a> {
    key: Key,
    label: String,
    /// The unit; of an index its name, which says what it is against.
    unit: &'a str,
    lower_is_better: bool,
    score: Estimate,
}

/// An entry: its name, and what it has.
type Others<'a> = (&'a str, Vec<Compared<'a>>);

impl Results {
    /// Returns the run as a reference entry: what it was measured on and how, and each figure with its interval.
    /// Nothing says whose machine it was.
    pub fn entry(&self, name: &str, title: &str, source: &str) -> Journal {
        let Run { host, tool, started, procedure, cpus, indexes, build, pin, .. } = self.run.clone();
        let mut run = Run { host, tool, procedure, cpus, indexes, build, pin, ..Run::default() };
        (run.format, run.name, run.comment) = (FORMAT.to_owned(), name.to_owned(), title.to_owned());
        run.started = started.get(..10).unwrap_or_default().to_owned();
        run.view = if self.run.is_scaling() { View::Scaling } else { View::Scores };
        let figures = self.figures.iter().filter(|row| !row.cell.control && row.score.value.is_finite());
        let trial = |(cell, row): (usize, &Figure)| {
            let Estimate { value, low, high } = row.score;
            let ends = row.score.bounded().then(|| [low, high].map(six_digits));
            // What was published keeps its digits.
            let value = if ends.is_some() { six_digits(value) } else { value };
            let score = Score { value, ends, seconds: six_digits(row.seconds), samples: row.n as u32 };
            Trial { cell, score: Some(score), ..Trial::default() }
        };
        let cell = |(id, row): (usize, &Figure)| journal::Cell { id, warmup: 0, slice: 0, ..row.cell.clone() };
        let mut journal = Journal {
            run,
            facts: self.lasting_facts(source),
            cells: figures.clone().enumerate().map(cell).collect(),
            trials: figures.enumerate().map(trial).collect(),
            end: Some(End { reason: self.end.unwrap_or(Ended::Complete), seconds: self.seconds.round() }),
            ..Journal::default()
        };
        journal.redact();
        journal.run.host.clear();
        journal
    }

    /// The facts of the machine that last, the source, and the interval of each index, which its tests alone do not
    /// give.
    fn lasting_facts(&self, source: &str) -> Facts {
        let heading: Vec<&str> = self.facts.heading().map(|(_, fact)| fact.name.as_str()).collect();
        let of_system = |fact: &&Fact| {
            let name = fact.name.as_str();
            let is_told = heading.contains(&name) || name.starts_with("cpu.") || name.starts_with("imported.index.");
            is_told && !fact.is_of_a_moment() || name == "imported.source" && source.is_empty()
        };
        let mut facts: Facts = self.facts.iter().filter(of_system).cloned().collect();
        let mut add = |name: String, label: String, value: String, quantity: Option<Quantity>| {
            facts.push(Fact { name, label, group: "Reference".to_owned(), value, quantity });
        };
        if !source.is_empty() {
            add("imported.source".to_owned(), "Source".to_owned(), source.to_owned(), None);
        }
        for index in self.indexes().iter().filter(|index| index.score.bounded()) {
            let half = six_digits(100.0 * (index.score.high / index.score.value).natural_log());
            let name = format!("{HALF_WIDTH}{}.{}", index.id, index.copies);
            let label = format!("{}, {}", index.title(), words::copies(index.copies));
            let value = format!("{} {}", words::tenth(index.score.value), words::plus_minus(index.score.halves()));
            add(name, label, value, Some(Quantity::new(half, "%")));
        }
        facts
    }

    /// Returns true if it shows the figures of a machine, and not what a condition costs or which command is faster.
    pub fn is_of_a_machine(&self) -> bool {
        matches!(self.run.view, View::Scores | View::Scaling)
    }

    /// Finds where the figures stand among those of `entries`; of each those that were measured alike come first.
    pub fn stand_among(&mut self, entries: &[Results]) {
        if !self.is_of_a_machine() {
            return;
        }
        let own = way(&self.run);
        let others = entries.iter().filter(|entry| entry.run.name != self.run.name);
        let mut ways: Vec<(String, Vec<Others<'_>>)> =
            others.map(|entry| (way(&entry.run), (entry.run.name.as_str(), entry.compared()))).grouped();
        ways.sort_by_key(|(way, _)| (*way != own, way.clone()));
        let among = |figure: &Compared<'_>| -> Vec<Reference> {
            ways.iter().filter_map(|(way, entries)| stand(figure, entries, (way, *way == own))).collect()
        };
        self.references = self.compared().iter().flat_map(among).collect();
    }

    /// The complete indexes, then the figures.
    fn compared(&self) -> Vec<Compared<'_>> {
        let indexes = self.indexes().iter().filter(|index| index.complete).map(|index| Compared {
            key: Key::plain(&format!("index.{}", index.id), index.copies),
            label: index.title(),
            unit: &index.name,
            lower_is_better: false,
            score: index.score,
        });
        let figures = self.figures.iter().filter(|row| !row.cell.control).map(|row| Compared {
            key: row.cell.key.clone(),
            label: row.cell.label.clone(),
            unit: &row.cell.unit,
            lower_is_better: row.cell.metric != Metric::Rate,
            score: row.score,
        });
        indexes.chain(figures).filter(|one| one.score.value.is_finite()).collect()
    }
}

/// Returns the way in which a run was measured, as far as its figures depend on it.
fn way(run: &Run) -> String {
    let build = run.build.as_ref().map_or(String::new(), |build| format!(", {} build", build.name));
    match run.procedure {
        Procedure::Imported => "imported".to_owned(),
        procedure => format!("{procedure} procedure{build}"),
    }
}

/// Returns where a figure stands among those of entries that were measured in one way; `None` if none has it.
fn stand(figure: &Compared<'_>, entries: &[Others<'_>], (way, alike): (&str, bool)) -> Option<Reference> {
    let same = |one: &&Compared<'_>| one.key == figure.key && one.unit == figure.unit;
    let known: Vec<(&str, Estimate)> =
        entries.iter().filter_map(|(name, all)| Some((*name, all.iter().find(same)?.score))).collect();
    // A published figure has no interval: it is taken as exact.
    let exact = known.iter().map(|(_, score)| match score.bounded() {
        true => *score,
        false => Estimate { low: score.value, high: score.value, ..*score },
    });
    let scores: Vec<Estimate> = exact.chain([figure.score]).collect();
    let (first, last) = rank_ranges(&scores, figure.lower_is_better).last().copied()?;
    let distance = |score: &Estimate| (score.value / figure.score.value).natural_log().abs();
    let nearest = known.iter().min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))?.0.to_owned();
    let (of, better_than) = (known.len(), (scores.len() - last, scores.len() - first));
    let (key, label, procedure) = (figure.key.clone(), figure.label.clone(), way.to_owned());
    Some(Reference { key, label, procedure, alike, of, better_than, nearest })
}

/// Returns the half-width of an index on the logarithmic scale, if the run is an entry that has it.
pub(super) fn half_width(facts: &Facts, index: &str, copies: u32) -> Option<f64> {
    let quantity = facts.get(&format!("{HALF_WIDTH}{index}.{copies}"))?.quantity.as_ref()?;
    Some(quantity.number / 100.0).filter(|half| *half > 0.0)
}

/// A number with six significant digits: an entry has few bytes.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
