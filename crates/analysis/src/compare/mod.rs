//! Runs compared cell by cell: two-sample statistics of runs made one after the other, paired ones of runs that
//! alternated and of conditions within one run. `docs/methodology.md` and the doc comments of `stats` say whence.

mod caution;
mod cells;
mod gate;
pub(crate) mod notes;
mod resolution;
pub(crate) mod sides;
mod thesis;
mod total;
mod verdict;

use super::{Remark, Results, Row};
use journal::Cell;
use stats::{Estimate, Method, Serial, Shift, false_discovery_rates, mean_shift, paired_shift, two_sample_shift};

pub use caution::Difference;
pub use cells::{NotCompared, Place};
pub use gate::{Gate, Second, Suspect};
pub use sides::Pair;
use sides::{Match, Side, Values};
pub use thesis::{Bar, Thesis, ThesisRow};
pub use total::Total;
pub use verdict::{Measure, RATE, Verdict};

/// What is asked of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Whether each two runs are a round, A1 B1 A2 B2 …: what was changed, and what it is measured against.
    pub paired: bool,
    /// Differences up to this are no verdict, in per cent and in points.
    pub threshold: f64,
    /// The conditions whose cells are compared: of the first run (or of every A), and of the others.
    pub conditions: Option<[String; 2]>,
}

/// One of the runs.
#[derive(Debug, Clone)]
pub struct Compared {
    /// What it is called in the report: A, B, C …; A1, B1, A2, B2 … of runs that alternated.
    pub letter: String,
    /// Its results; of one condition alone, where one was asked for, as if there were no conditions.
    pub results: Results,
    /// That condition.
    pub condition: Option<String>,
    /// One unit of the last digit that its scores were printed with, of an imported run.
    unit: Option<f64>,
}

/// Everything a comparison shows.
#[derive(Debug, Clone)]
pub struct Comparisons {
    /// What was asked.
    pub asked: Asked,
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
    /// The tables of the 1994 thesis, of rounds.
    pub thesis: Option<Thesis>,
    /// In what the runs are so unlike that a difference may be due to it: builds, kernels …
    pub unlike: Vec<&'static str>,
    /// How far trials depend on those before, where runs share no blocks.
    pub serial: Option<Serial>,
    /// What makes the runs unlike each other in more than what is asked about.
    pub warnings: Vec<String>,
    /// How to read the numbers.
    pub notes: Vec<String>,
}

/// One measure of one cell, in two runs or in rounds of two.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The run that is compared: with A, or of rounds A itself, with B.
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
    /// One unit of the last digit of the values, in per cent of them, where that is more than 1 %: no difference can be told
    /// closer than that.
    pub resolution: Option<f64>,
    /// What is known of this number, with the letter of the run.
    pub warnings: Vec<Remark>,
}

impl Comparison {
    /// Returns how many times as long the same takes as in A; nothing for deadlines met.
    #[must_use]
    pub fn time_factor(&self) -> Option<f64> {
        (self.measure != Measure::Met).then(|| 1.0 / (1.0 + self.delta.value / 100.0))
    }
}

/// A comparison before it is judged among all.
struct Draft {
    comparison: Comparison,
    shift: Shift,
    /// The difference in each round or block, by their numbers.
    differences: Vec<(u32, f64)>,
}

impl Comparisons {
    /// Compares every run with the first one; or, of rounds, what was changed with what it is measured against: each first
    /// run of two with the second (an odd run at the end has no round and is left out).
    #[must_use]
    pub fn new(results: Vec<Results>, asked: &Asked) -> Comparisons {
        let paired = asked.paired;
        let runs = lettered(results, asked);
        let mut drafts = Vec::new();
        let mut missing = Vec::new();
        let mut totals = Vec::new();
        for (letter, rounds) in contests(&runs, paired) {
            for cell in cells::of(&rounds) {
                compare(&letter, &cell, &rounds, paired, &mut drafts, &mut missing);
            }
            totals.extend(total::total(&letter, &rounds, &drafts));
        }
        let rates = false_discovery_rates(&drafts.iter().map(|draft| draft.shift.p).collect::<Vec<f64>>());
        let judged = drafts.into_iter().zip(rates).map(|(draft, rate)| Comparison {
            q: rate,
            verdict: Verdict::of(draft.comparison.measure, &draft.shift, rate, asked.threshold),
            ..draft.comparison
        });
        let comparisons: Vec<Comparison> = judged.collect();
        let shared = paired || runs.windows(2).all(|two| same_run(&two[0], &two[1]));
        let serial = if shared { None } else { notes::dependence(&runs) };
        let (warnings, unlike) = caution::warnings(&runs, paired);
        Comparisons {
            asked: asked.clone(),
            differences: caution::differences(&runs),
            warnings,
            unlike,
            notes: notes::notes(&comparisons, paired, shared, serial.as_ref()),
            thesis: paired.then(|| Thesis::new(&comparisons, runs.len() / 2, asked.threshold)),
            serial,
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

    /// The letter of what every other run, or every A of a round, is measured against.
    #[must_use]
    pub fn against(&self) -> &'static str {
        if self.asked.paired { "B" } else { "A" }
    }

    /// The condition that a cell's figures are of: where two were asked for, the one that is measured against the other.
    #[must_use]
    pub fn condition<'a>(&'a self, own: &'a str) -> &'a str {
        self.asked.conditions.as_ref().map_or(own, |asked| &asked[usize::from(!self.asked.paired)])
    }
}

/// Gives each run its letter, and leaves it the condition that is asked for.
fn lettered(results: Vec<Results>, asked: &Asked) -> Vec<Compared> {
    let alphabet: Vec<char> = ('A'..='Z').collect();
    let letter = |place: usize| match (asked.paired, alphabet.get(place)) {
        (true, _) => format!("{}{}", alphabet[place % 2], place / 2 + 1),
        (false, Some(letter)) => letter.to_string(),
        (false, None) => format!("R{}", place + 1),
    };
    let side = |place: usize| if asked.paired { place % 2 } else { place.min(1) };
    let compared = |(place, mut results): (usize, Results)| {
        let condition = asked.conditions.as_ref().map(|conditions| conditions[side(place)].clone());
        if let Some(condition) = &condition {
            cells::keep(&mut results, condition);
        }
        Compared { letter: letter(place), unit: resolution::unit(&results), results, condition }
    };
    results.into_iter().enumerate().map(compared).collect()
}

/// Two runs, in the order they were named: of rounds A and B.
type Round<'a> = (&'a Compared, &'a Compared);

/// What is compared: its letter, and the rounds; one where runs did not alternate.
fn contests(runs: &[Compared], paired: bool) -> Vec<(String, Vec<Round<'_>>)> {
    if paired {
        let rounds = runs.chunks_exact(2).map(|pair| (&pair[0], &pair[1])).collect();
        return vec![("A".to_owned(), rounds)];
    }
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    others.iter().map(|other| (other.letter.clone(), vec![(first, other)])).collect()
}

/// Whether two sides are conditions of one run, and so share its blocks.
fn same_run(a: &Compared, b: &Compared) -> bool {
    let id =
        |one: &Compared| (one.results.run.name.clone(), one.results.run.host.clone(), one.results.run.started.clone());
    a.condition != b.condition && id(a) == id(b)
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
    let mut found: Vec<Match<'_>> = Vec::new();
    let mut gaps: Vec<String> = Vec::new();
    let mut lost = false;
    for (number, (a, b)) in (1..).zip(rounds) {
        match (cells::find(a, place), cells::find(b, place)) {
            (Ok(first), Ok(second)) => found.push(Match { number, a: Side::new(a, first), b: Side::new(b, second) }),
            (first, second) => {
                // What is judged is A of a round, and the other run elsewhere.
                lost |= if paired { second.is_ok() } else { first.is_ok() };
                gaps.extend([first.err(), second.err()].into_iter().flatten());
            }
        }
    }
    let reason = || gaps.join("; ");
    let Some(Match { a: first, b, .. }) = found.first() else {
        missing.push(place.missing(letter, None, lost, reason()));
        return;
    };
    if let Some(unlike) = found.iter().find_map(|one| first.unlike(&one.a).or_else(|| first.unlike(&one.b))) {
        missing.push(place.missing(letter, None, false, unlike));
        return;
    }
    let blocks = !paired && same_run(first.run, b.run);
    for measure in first.measures() {
        let values = if paired { sides::rounds(&found, measure) } else { sides::trials(&found[0], measure, blocks) };
        match values {
            Ok(values) => {
                let mut draft = draft(letter, &found[0].a, measure, values);
                let comparison = &mut draft.comparison;
                comparison.warnings = sides::warnings(&found);
                comparison.resolution = resolution::of(&found, measure);
                comparison.warnings.extend(resolution::warning(comparison));
                if !gaps.is_empty() {
                    comparison.warnings.push(Remark::SomeRounds {
                        rounds: found.len(),
                        of: rounds.len(),
                        reason: reason(),
                    });
                }
                drafts.push(draft);
            }
            Err(reason) => {
                let has = |side: &Side<'_>| side.value(measure).is_ok();
                let lost = found
                    .iter()
                    .all(|one| if paired { has(&one.b) && !has(&one.a) } else { has(&one.a) && !has(&one.b) });
                missing.push(place.missing(letter, Some(measure), lost, reason));
            }
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
        Values::Rounds { differences, .. } => {
            paired_shift(&differences.iter().map(|(_, difference)| *difference).collect::<Vec<f64>>())
        }
    };
    let (shown, n, differences, pairs) = values.shown();
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
        resolution: None,
        warnings: Vec::new(),
    };
    Draft { comparison, shift, differences }
}
