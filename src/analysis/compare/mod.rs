//! Runs compared cell by cell: two-sample statistics of runs made one after the other, paired ones of runs that
//! alternated. `docs/methodology.md` and the doc comments of `stats` say whence.

pub(in crate::analysis) mod caution;
pub(in crate::analysis) mod sides;
mod total;
mod verdict;

use serde::Serialize;

use super::{Results, Row};
use crate::journal::Cell;
use crate::stats::{Estimate, Method, Shift, false_discovery_rates, mean_shift, paired_shift, two_sample_shift};

pub use caution::Difference;
pub use sides::Pair;
use sides::{Side, Values};
pub use total::Total;
pub use verdict::{Measure, RATE, Verdict};

/// One of the runs.
#[derive(Debug, Clone)]
pub struct Compared {
    /// What it is called in the report: A, B, C …; A1, B1, A2, B2 … of runs that alternated.
    pub letter: String,
    /// Its results.
    pub results: Results,
}

/// Everything a comparison shows.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// Whether each two runs are a round.
    pub paired: bool,
    /// Differences up to this are no verdict, in per cent and in points.
    pub threshold: f64,
    /// The runs, in the order given.
    pub runs: Vec<Compared>,
    /// Facts that are not the same of all runs.
    pub differences: Vec<Difference>,
    /// One per cell and measure, in the order of the first run.
    pub comparisons: Vec<Comparison>,
    /// Cells and measures that could not be compared.
    pub missing: Vec<NotCompared>,
    /// All rates together, per run that is compared with the first.
    pub totals: Vec<Total>,
    /// What makes the runs unlike each other in more than what is asked about.
    pub warnings: Vec<String>,
    /// How to read the numbers.
    pub notes: Vec<String>,
}

/// One measure of one cell, in two runs or in rounds of two.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The run that is compared with A.
    pub run: String,
    /// The cell, as A has it.
    pub cell: Cell,
    /// What is compared.
    pub measure: Measure,
    /// The unit of the values.
    pub unit: String,
    /// The value in A; of rounds, the median over them.
    pub a: f64,
    /// The value in the other.
    pub b: f64,
    /// Trials of A and of the other; of rounds, their number twice.
    pub n: (usize, usize),
    /// The difference in per cent (in points for deadlines met) with its 95 % interval; negative is worse.
    pub delta: Estimate,
    /// The two-sided p value.
    pub p: f64,
    /// The same over all comparisons of the report: Benjamini and Hochberg's.
    pub q: f64,
    /// What the interval rests on.
    pub method: Method,
    /// What it comes to.
    pub verdict: Verdict,
    /// The rounds; empty where runs did not alternate.
    pub pairs: Vec<Pair>,
    /// What is known of this number, with the letter of the run.
    pub warnings: Vec<String>,
}

impl Comparison {
    /// Returns how many times as long the same takes as in A; nothing for deadlines met.
    #[must_use]
    pub fn time_factor(&self) -> Option<f64> {
        (self.measure != Measure::Met).then(|| 1.0 / (1.0 + self.delta.value / 100.0))
    }
}

/// A cell, or a measure of one, that is not in both runs.
#[derive(Debug, Clone)]
pub struct NotCompared {
    /// The run that should have been compared with A.
    pub run: String,
    /// The measure that is missing; `None` where the whole cell is.
    pub measure: Option<Measure>,
    /// The cell.
    pub cell: Place,
    /// Why.
    pub reason: String,
}

/// A comparison before it is judged among all.
struct Draft {
    comparison: Comparison,
    shift: Shift,
}

impl Comparisons {
    /// Compares every run with the first one; or, `paired`, each first one of two with the second, where every two are a
    /// round (an odd run at the end has no round and is left out). Differences up to `threshold` per cent are no verdict.
    #[must_use]
    pub fn new(results: Vec<Results>, paired: bool, threshold: f64) -> Comparisons {
        let runs = lettered(results, paired);
        let mut drafts = Vec::new();
        let mut missing = Vec::new();
        let mut totals = Vec::new();
        for (letter, rounds) in contests(&runs, paired) {
            for cell in cells(&rounds) {
                compare(&letter, &cell, &rounds, paired, &mut drafts, &mut missing);
            }
            totals.extend(total::total(&letter, &rounds, &drafts, paired));
        }
        let rates = false_discovery_rates(&drafts.iter().map(|draft| draft.shift.p).collect::<Vec<f64>>());
        let judged = drafts.into_iter().zip(rates).map(|(draft, rate)| Comparison {
            q: rate,
            verdict: Verdict::of(draft.comparison.measure, &draft.shift, rate, threshold),
            ..draft.comparison
        });
        let comparisons: Vec<Comparison> = judged.collect();
        Comparisons {
            paired,
            threshold,
            differences: caution::differences(&runs),
            warnings: caution::warnings(&runs, paired),
            notes: caution::notes(&comparisons, paired),
            comparisons,
            missing,
            totals,
            runs,
        }
    }

    /// Returns the losses of at least `size` per cent (points for deadlines met): slower or worse beyond doubt, by an
    /// estimate of that size.
    #[must_use]
    pub fn losses(&self, size: f64) -> Vec<&Comparison> {
        self.comparisons.iter().filter(|one| one.verdict.is_loss() && one.delta.value <= -size).collect()
    }
}

/// Gives each run its letter.
fn lettered(results: Vec<Results>, paired: bool) -> Vec<Compared> {
    let alphabet: Vec<char> = ('A'..='Z').collect();
    let letter = |place: usize| match (paired, alphabet.get(place)) {
        (true, _) => format!("{}{}", alphabet[place % 2], place / 2 + 1),
        (false, Some(letter)) => letter.to_string(),
        (false, None) => format!("R{}", place + 1),
    };
    results.into_iter().enumerate().map(|(place, results)| Compared { letter: letter(place), results }).collect()
}

/// A run of each side.
type Round<'a> = (&'a Compared, &'a Compared);

/// What is compared with A: its letter, and the rounds; one where runs did not alternate.
fn contests(runs: &[Compared], paired: bool) -> Vec<(String, Vec<Round<'_>>)> {
    if paired {
        let rounds = runs.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect();
        return vec![("B".to_owned(), rounds)];
    }
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    others.iter().map(|other| (other.letter.clone(), vec![(first, other)])).collect()
}

/// A cell's coordinates, and the names its test goes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The test.
    pub test: String,
    /// Its name in reports.
    pub label: String,
    /// How many copies.
    pub copies: u32,
    /// What ran in the background.
    pub load: String,
    /// What was switched on the machine.
    pub condition: String,
}

impl Place {
    fn is(&self, test: &str, copies: u32, load: &str, condition: &str) -> bool {
        self.test == test && self.copies == copies && self.load == load && self.condition == condition
    }

    fn missing(&self, run: &str, measure: Option<Measure>, reason: String) -> NotCompared {
        NotCompared { run: run.to_owned(), measure, cell: self.clone(), reason }
    }
}

/// Every cell that any of the runs has: those with a result first, in the order of the first run that has them.
fn cells(rounds: &[Round<'_>]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let mut add = |test: &str, label: &str, copies: u32, load: &str, condition: &str| {
        if !places.iter().any(|known| known.is(test, copies, load, condition)) {
            let [test, label, load, condition] = [test, label, load, condition].map(str::to_owned);
            places.push(Place { test, label, copies, load, condition });
        }
    };
    let runs = || rounds.iter().flat_map(|(a, b)| [a, b]);
    for Row { cell, .. } in runs().flat_map(|run| &run.results.rows) {
        add(&cell.test, &cell.label, cell.copies, &cell.load, &cell.condition);
    }
    for gap in runs().flat_map(|run| run.results.skipped.iter().chain(&run.results.errors)) {
        add(&gap.test, &gap.label, gap.copies, &gap.load, &gap.condition);
    }
    places
}

/// Returns the row of a cell, or why the run has none.
fn find<'a>(run: &'a Compared, place: &Place) -> Result<&'a Row, String> {
    let Results { rows, skipped, errors, .. } = &run.results;
    let at = |cell: &Cell| place.is(&cell.test, cell.copies, &cell.load, &cell.condition);
    if let Some(row) = rows.iter().find(|row| at(&row.cell)) {
        return Ok(row);
    }
    for (what, gaps) in [("skipped", skipped), ("failed", errors)] {
        if let Some(gap) = gaps.iter().find(|gap| place.is(&gap.test, gap.copies, &gap.load, &gap.condition)) {
            return Err(format!("{what} in {}: {}", run.letter, gap.reason));
        }
    }
    Err(format!("not in {}", run.letter))
}

/// Compares one cell in all its measures.
fn compare(
    letter: &str,
    place: &Place,
    rounds: &[Round<'_>],
    paired: bool,
    drafts: &mut Vec<Draft>,
    missing: &mut Vec<NotCompared>,
) {
    let mut found = Vec::new();
    let mut gaps: Vec<String> = Vec::new();
    for (a, b) in rounds {
        match (find(a, place), find(b, place)) {
            (Ok(first), Ok(second)) => found.push((Side::new(a, first), Side::new(b, second))),
            (first, second) => gaps.extend([first.err(), second.err()].into_iter().flatten()),
        }
    }
    let reason = || gaps.join("; ");
    let Some((first, _)) = found.first() else {
        missing.push(place.missing(letter, None, reason()));
        return;
    };
    if let Some(unlike) = found.iter().find_map(|(a, b)| first.unlike(a).or_else(|| first.unlike(b))) {
        missing.push(place.missing(letter, None, unlike));
        return;
    }
    for measure in first.measures() {
        let values = if paired { sides::rounds(&found, measure) } else { sides::trials(&found[0], measure) };
        match values {
            Ok(values) => {
                let mut draft = draft(letter, &found[0].0, measure, values);
                draft.comparison.warnings = sides::warnings(&found);
                if !gaps.is_empty() {
                    let note = format!("{} of {} rounds have it in both runs: {}", found.len(), rounds.len(), reason());
                    draft.comparison.warnings.push(note);
                }
                drafts.push(draft);
            }
            Err(reason) => missing.push(place.missing(letter, Some(measure), reason)),
        }
    }
}

/// Finds the shift towards the better, and dresses it.
fn draft(letter: &str, side: &Side<'_>, measure: Measure, values: Values) -> Draft {
    let shift = match &values {
        Values::Trials { a, b, .. } => two_sample_shift(a, b),
        Values::Means { a, b, method, .. } => {
            let shift = mean_shift(a, b);
            Shift { method: if shift.method == Method::Welch { *method } else { shift.method }, ..shift }
        }
        Values::Rounds { differences, .. } => paired_shift(differences),
    };
    let (shown, n, pairs) = values.shown();
    let comparison = Comparison {
        run: letter.to_owned(),
        cell: side.row.cell.clone(),
        measure,
        unit: side.unit(measure),
        a: shown.0,
        b: shown.1,
        n,
        delta: measure.delta(&shift.estimate),
        p: shift.p,
        q: 1.0,
        method: shift.method,
        verdict: Verdict::Undecided(f64::INFINITY),
        pairs,
        warnings: Vec::new(),
    };
    Draft { comparison, shift }
}
