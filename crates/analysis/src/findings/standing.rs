//! The reference collection: a run reduced to its figures, and where another run stands among such
//! entries.

use super::{Reference, Results};
use crate::figures::Figure;
use crate::products::index::{Index, PUBLISHED_HALF_WIDTH};
use journal::{
    End, Ended, FORMAT, Fact, Facts, Journal, Key, Procedure, Quantity, Run, Score, Trial, View,
};
use stats::{Estimate, Exact, rank_ranges};
use words::Grouped;

/// The heading over the facts that an entry has beside the machine's.
const REFERENCE_GROUP: &str = "Reference";

/// One figure of a run or an entry.
struct Compared<'a> {
    key: Key,
    label: String,
    /// The unit; of an index its name, which says what it is against.
    unit: &'a str,
    lower_is_better: bool,
    score: Estimate,
}

/// An entry of the collection.
struct Entry<'a> {
    name: &'a str,
    figures: Vec<Compared<'a>>,
}

/// The entries that were measured in one way.
struct Peers<'a> {
    way: String,
    entries: Vec<Entry<'a>>,
    /// True if the run that is placed among them was measured in that way, too.
    are_alike: bool,
}

impl Results {
    /// The run as a reference entry: what it was measured on and how, and each figure with
    /// its interval. Nothing says whose machine it was.
    pub fn entry(&self, name: &str, title: &str, source: &str) -> Journal {
        let Run { host, tool, started, procedure, cpus, indexes, build, pin, .. } =
            self.run.clone();
        let mut run = Run { host, tool, procedure, cpus, indexes, build, pin, ..Run::default() };
        (run.format, run.name, run.comment) =
            (FORMAT.to_owned(), name.to_owned(), title.to_owned());
        run.started = started.get(..10).unwrap_or_default().to_owned();
        run.view = if self.run.is_scaling() { View::Scaling } else { View::Scores };

        let mut cells = Vec::new();
        let mut trials = Vec::new();
        let finite = self.figures.iter().filter(|figure| figure.score.value.is_finite());
        for (id, figure) in finite.filter(|figure| !figure.cell.control).enumerate() {
            cells.push(journal::Cell { id, warmup: 0, slice: 0, ..figure.cell.clone() });
            trials.push(Trial { cell: id, score: Some(to_score(figure)), ..Trial::default() });
        }

        let mut journal = Journal {
            run,
            facts: self.lasting_facts(source),
            cells,
            trials,
            end: Some(End {
                reason: self.end.unwrap_or(Ended::Complete),
                seconds: self.seconds.round(),
            }),
            ..Journal::default()
        };
        journal.redact();
        journal.run.host.clear();
        journal
    }

    /// The facts of the machine that last, the source, and the interval of each index, which its
    /// tests alone do not give.
    fn lasting_facts(&self, source: &str) -> Facts {
        let heading: Vec<&str> = self.facts.heading().map(|(_, fact)| fact.name.as_str()).collect();
        let mut facts = Facts::default();
        for fact in &self.facts {
            let name = fact.name.as_str();
            let is_of_system = heading.contains(&name)
                || name.starts_with("cpu.")
                || name.starts_with("imported.index.");
            let is_kept_source = name == "imported.source" && source.is_empty();
            if is_of_system && !fact.is_of_a_moment() || is_kept_source {
                facts.push(fact.clone());
            }
        }

        if !source.is_empty() {
            facts.push(Fact {
                name: "imported.source".to_owned(),
                label: "Source".to_owned(),
                group: REFERENCE_GROUP.to_owned(),
                value: source.to_owned(),
                quantity: None,
            });
        }
        for index in self.indexes().iter().filter(|index| index.score.bounded()) {
            facts.push(interval_fact(index));
        }
        facts
    }

    /// True if it shows the figures of a machine, and not what a condition costs or which
    /// command is faster.
    pub fn is_of_a_machine(&self) -> bool {
        matches!(self.run.view, View::Scores | View::Scaling | View::Card)
    }

    /// Finds where each figure stands among those of `entries`: first among the entries that were
    /// measured in the same way.
    pub fn stand_among(&mut self, entries: &[Results]) {
        if !self.is_of_a_machine() {
            return;
        }

        let own_way = describe_way(&self.run);
        let by_way = entries
            .iter()
            .filter(|entry| entry.run.name != self.run.name)
            .map(|entry| (describe_way(&entry.run), entry))
            .grouped();
        let mut peers = Vec::new();
        for (way, runs) in by_way {
            let entries = runs
                .into_iter()
                .map(|run| Entry { name: &run.run.name, figures: run.compared() })
                .collect();
            peers.push(Peers { are_alike: way == own_way, way, entries });
        }
        peers.sort_by_key(|peers| (!peers.are_alike, peers.way.clone()));

        let mut references = Vec::new();
        for figure in &self.compared() {
            references.extend(peers.iter().filter_map(|peers| place_figure(figure, peers)));
        }
        self.references = references;
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
            lower_is_better: row.cell.metric.is_lower_better(),
            score: row.score,
        });
        indexes.chain(figures).filter(|figure| figure.score.value.is_finite()).collect()
    }
}

/// A figure's score as an entry has it.
fn to_score(figure: &Figure) -> Score {
    let Estimate { value, low, high } = figure.score;
    let ends = figure.score.bounded().then(|| [low, high].map(six_digits));
    // What was published keeps its digits.
    let value = if ends.is_some() { six_digits(value) } else { value };
    Score { value, ends, seconds: six_digits(figure.seconds), samples: figure.n as u32 }
}

/// The interval of an index as a fact.
fn interval_fact(index: &Index) -> Fact {
    let half_width = six_digits(100.0 * (index.score.high / index.score.value).natural_log());
    let score = words::tenth(index.score.value);
    Fact {
        name: format!("{PUBLISHED_HALF_WIDTH}{}.{}", index.id, index.copies),
        label: format!("{}, {}", index.title(), words::copies(index.copies)),
        group: REFERENCE_GROUP.to_owned(),
        value: format!("{score} {}", words::plus_minus(index.score.halves())),
        quantity: Some(Quantity::new(half_width, "%")),
    }
}

/// The way in which a run was measured, as far as its figures depend on it.
fn describe_way(run: &Run) -> String {
    let build = run.build.as_ref().map_or(String::new(), |build| format!(", {} build", build.name));
    match run.procedure {
        Procedure::Imported => "imported".to_owned(),
        procedure => format!("{procedure} procedure{build}"),
    }
}

/// The rank of a figure among those of its peers; `None` if none has it.
fn place_figure(figure: &Compared<'_>, peers: &Peers<'_>) -> Option<Reference> {
    let mut known: Vec<(&str, Estimate)> = Vec::new();
    for entry in &peers.entries {
        let mut figures = entry.figures.iter();
        let same = figures.find(|other| other.key == figure.key && other.unit == figure.unit);
        known.extend(same.map(|same| (entry.name, same.score)));
    }

    // A published figure has no interval: it is taken as exact.
    let mut scores: Vec<Estimate> = known
        .iter()
        .map(|(_, score)| match score.bounded() {
            true => *score,
            false => Estimate { low: score.value, high: score.value, ..*score },
        })
        .collect();
    scores.push(figure.score);
    let (first, last) = rank_ranges(&scores, figure.lower_is_better).last().copied()?;
    let distance = |score: &Estimate| (score.value / figure.score.value).natural_log().abs();
    let nearest = known.iter().min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)))?;

    Some(Reference {
        key: figure.key.clone(),
        label: figure.label.clone(),
        procedure: peers.way.clone(),
        alike: peers.are_alike,
        of: known.len(),
        better_than: (scores.len() - last, scores.len() - first),
        nearest: nearest.0.to_owned(),
        entries: known.iter().map(|(name, score)| ((*name).to_owned(), score.value)).collect(),
    })
}

/// A number with six significant digits: an entry has few bytes.
fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
