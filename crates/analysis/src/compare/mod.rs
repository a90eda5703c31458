//! Runs, conditions and fleets compared. [`engine`] decides how, for all of them, and says in its table which function
//! holds which statistic; `docs/methodology.md` says why.

mod caution;
mod cells;
pub(crate) mod engine;
mod gate;
mod measure;
pub(crate) mod notes;
pub(crate) mod pool;
mod resolution;
mod rows;
mod thesis;
mod verdict;

use serde::Serialize;

use super::{Remark, Results, Why};
use catalogue::Catalogue;
use engine::{Draft, Observed};
use journal::Cell;
use pool::Pool;
use rows::{Match, Side};
use stats::{Estimate, Method, Spreads, spreads};

pub use caution::{Difference, unlike};
pub use cells::{NotCompared, Place};
pub use engine::{Design, RATE, Sides};
pub use gate::{Gate, Outcome, Second, Suspect, Unseen};
pub(crate) use measure::LEAST;
pub use measure::Measure;
pub use pool::{GeometricMean, Worst};
pub use thesis::{Bar, Thesis, ThesisRow};
pub use verdict::Verdict;

/// Blocks from which on values have a spread.
const FEWEST: usize = 8;

/// The settings of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The design: each two runs are a round, or all others are compared with the first. Conditions of one run are in
    /// blocks whether that was asked or not.
    pub design: Design,
    /// Differences up to this give no verdict, in per cent and in points.
    pub threshold: f64,
    /// The conditions whose cells are compared: of the first run (or of every A), and of the others.
    pub conditions: Option<[String; 2]>,
}

/// One of the runs.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Its letter in the report: A, B, C …; A1, B1, A2, B2 … of runs that alternated.
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
    /// The settings.
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
    /// Which facts go with the differences; `None` unless it is asked for ([`Comparisons::ask_why`]).
    pub why: Option<Why>,
    /// In what the runs are so unlike that a difference may be due to it: builds, kernels …
    pub unlike: Vec<&'static str>,
    /// Differences between the runs beyond the one in question.
    pub warnings: Vec<String>,
    /// How to read the numbers.
    pub notes: Vec<String>,
}

/// One measure of one cell, in two runs, in rounds of two or under two conditions.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The run or condition that is compared: with A, or of rounds A itself, with B.
    pub run: String,
    /// The cell, as A has it, or the condition.
    pub cell: Cell,
    /// The measure.
    pub measure: Measure,
    /// The unit of the values.
    pub unit: String,
    /// The design by which both sides were measured.
    pub design: Design,
    /// The value in A; of rounds, the median over them.
    pub a: f64,
    /// The value in the other.
    pub b: f64,
    /// Trials of both; of rounds and blocks, their number.
    pub n: Sides<usize>,
    /// The difference in per cent of a rate (in points for deadlines met) with its 95 % interval;
    /// negative is worse. Reports show [`Comparison::change`].
    pub delta: Estimate,
    /// The same with the interval that allows for its having been called, of all in the report.
    pub adjusted: Estimate,
    /// The two-sided p value.
    pub p: f64,
    /// The same over all comparisons of the report: Benjamini and Hochberg's.
    pub q: f64,
    /// The method of the interval.
    pub method: Method,
    /// The verdict.
    pub verdict: Verdict,
    /// The rounds or blocks; empty of runs apart.
    pub pairs: Vec<Pair>,
    /// One unit of the last digit of the values, in per cent of them, where that is more than 1 %: no difference can be
    /// told closer than that.
    pub resolution: Option<f64>,
    /// Remarks on this number, with the letter of the run.
    pub warnings: Vec<Remark>,
}

/// The values of one round or block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// Its number, from 1.
    pub round: u32,
    /// The value in A.
    pub a: f64,
    /// The value in B.
    pub b: f64,
    /// The change of the figure in per cent (in points for deadlines met).
    pub delta: f64,
}

/// The geometric mean of the changes of all rates that both sides have.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The run or condition that is compared: with A, or of rounds A itself, with B.
    pub run: String,
    /// The geometric mean of the changes.
    pub mean: GeometricMean,
}

impl Comparison {
    /// Returns the name of what is compared where commands in turn are a test without one: `time`, `memory`.
    pub fn unnamed(&self) -> Option<&'static str> {
        let is_unnamed = self.cell.in_turn && !super::is_printed(&self.cell);
        is_unnamed.then(|| if self.measure == Measure::Score { "time" } else { self.measure.name() })
    }

    /// Returns how its values scatter from block to block; nothing of fewer than eight blocks, which show only what is
    /// plain without them, and of values that may be 0.
    pub fn spreads(&self) -> Option<Spreads> {
        let pairs: Vec<[f64; 2]> = self.pairs.iter().map(|pair| [pair.a, pair.b]).collect();
        let is_known = pairs.len() >= FEWEST && pairs.as_flattened().iter().all(|value| *value > 0.0);
        is_known.then(|| spreads(&pairs))
    }

    /// Returns true if its differences are of the time that the same work takes.
    fn is_of_time(&self) -> bool {
        self.measure.is_of_time(self.cell.metric)
    }

    /// Returns how many times as long the same takes as on the reference side; `None` for what is neither a time nor a
    /// rate.
    pub fn time_factor(&self) -> Option<f64> {
        self.is_of_time().then(|| 1.0 / (1.0 + self.delta.value / 100.0))
    }

    /// Returns true if a smaller figure is better: of times, latencies and energies.
    pub fn lower_is_better(&self) -> bool {
        self.measure.lower_is_better(self.cell.metric)
    }

    /// Returns the change of the figure itself with its 95 % interval, in per cent (in points for
    /// deadlines met): of times, latencies and energies, positive is worse.
    pub fn change(&self) -> Estimate {
        self.change_of(self.delta)
    }

    /// Returns the same with the interval that allows for its having been called.
    pub fn adjusted_change(&self) -> Estimate {
        self.change_of(self.adjusted)
    }

    fn change_of(&self, delta: Estimate) -> Estimate {
        if self.lower_is_better() { inverse(delta) } else { delta }
    }

    /// Returns true if it is a significant loss, by an estimate of at least `size` per cent (points for deadlines met).
    pub(crate) fn is_loss_of(&self, size: f64) -> bool {
        self.verdict.is_loss() && self.change().value.abs() >= size
    }

    /// Returns true if it is such a loss, or a difference of runs apart that may lie between runs alone.
    fn is_suspect_of(&self, size: f64) -> bool {
        let is_worse = self.verdict == Verdict::Differs && self.delta.value < 0.0;
        (self.verdict.is_loss() || is_worse) && self.change().value.abs() >= size
    }

    /// Returns true if it rests on too few values to show a loss of any size.
    fn is_blind(&self) -> bool {
        self.verdict == Verdict::Undecided(f64::INFINITY)
    }

    /// Returns true if it is of what executions used, beside the time that they took.
    pub fn is_of_execution(&self) -> bool {
        matches!(self.measure, Measure::Cpu | Measure::User | Measure::System | Measure::Memory)
    }

    /// Returns true if it is of energies.
    pub fn is_energy(&self) -> bool {
        self.measure == Measure::Energy
    }

    /// Returns true if it is of the same cell and measure.
    pub(crate) fn is_like(&self, other: &Comparison) -> bool {
        self.measure == other.measure && self.cell.key == other.cell.key
    }

    /// Returns true if it is of the same measure and cell under any condition, as a control is.
    pub fn is_akin(&self, other: &Comparison) -> bool {
        self.measure == other.measure && self.cell.key.same_family(&other.cell.key)
    }
}

/// Returns a change of a rate in per cent as that of its inverse, such as a time.
pub(crate) fn inverse(delta: Estimate) -> Estimate {
    delta.image(|delta| 100.0 * (1.0 / (1.0 + delta / 100.0) - 1.0))
}

/// Judges the comparisons of a report among each other; energies for themselves: a meter beside the machine must not
/// change what is called of its speed.
pub(crate) fn judge(drafts: &mut [Draft], threshold: f64) {
    for is_energy in [false, true] {
        let own = drafts.iter_mut().filter(|draft| draft.comparison.is_energy() == is_energy);
        engine::judge(own.map(|draft| &mut draft.difference), threshold);
    }
}

impl Comparisons {
    /// Compares every run with the first one; or, of rounds, what was changed with what it is measured against: each
    /// first run of two with the second (an odd run at the end has no round and is left out).
    pub fn new(results: Vec<Results>, asked: &Asked) -> Comparisons {
        let runs = lettered(results, asked);
        let contests = contests(&runs, asked.design);
        let (mut drafts, mut missing, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        for contest in &contests {
            let mut own: Vec<Draft> = Vec::new();
            for place in cells::places(&contest.rounds) {
                let (found, gaps) = contest.compare(&place);
                own.extend(found);
                missing.extend(gaps);
            }
            let mean = pool::mean_of_rates(&own.iter().collect::<Vec<&Draft>>(), contest.pool());
            totals.extend(mean.map(|mean| Total { run: contest.letter.clone(), mean }));
            drafts.extend(own);
        }
        judge(&mut drafts, asked.threshold);
        let comparisons: Vec<Comparison> = drafts.iter().map(Draft::judged).collect();
        let design = contests.iter().map(|contest| contest.design).find(|design| *design != Design::Blocks);
        let design = design.unwrap_or(Design::Blocks);
        let (warnings, unlike) = caution::warnings(&runs, asked.design);
        Comparisons {
            differences: caution::differences(&runs),
            warnings,
            unlike,
            notes: notes::of_runs(&comparisons, design, &runs),
            thesis: (asked.design == Design::Rounds)
                .then(|| Thesis::new(&comparisons, runs.len() / 2, asked.threshold)),
            asked: asked.clone(),
            why: None,
            comparisons,
            missing,
            totals,
            runs,
        }
    }

    /// Looks for facts that go with the differences between the runs; each run counts as a system.
    pub fn ask_why(&mut self, catalogue: &Catalogue) {
        let systems: Vec<(&str, &Results)> = self.runs.iter().map(|run| (run.letter.as_str(), &run.results)).collect();
        self.why = Some(Why::new(&systems, catalogue));
    }

    /// Returns true if more than two runs are compared, each with the first.
    pub fn is_of_several(&self) -> bool {
        !self.asked.is_paired() && self.runs.len() > 2
    }

    /// The letter of what every other run, or every A of a round, is measured against.
    pub fn against(&self) -> &'static str {
        if self.asked.design == Design::Rounds { "B" } else { "A" }
    }

    /// The condition that a cell's figures are of: where two were asked for, the one that is measured against the
    /// other.
    pub fn condition<'a>(&'a self, own: &'a str) -> &'a str {
        match (&self.asked.conditions, self.asked.design) {
            (Some([first, _]), Design::Rounds) => first,
            (Some([_, other]), _) => other,
            (None, _) => own,
        }
    }
}

impl Asked {
    /// Returns true if each two runs are a round.
    pub fn is_paired(&self) -> bool {
        self.design.is_in_turn()
    }

    /// Returns the condition whose cells are compared of the run at `place`, if one was asked for.
    pub fn condition(&self, place: usize) -> Option<&String> {
        let side = if self.is_paired() { place % 2 } else { place.min(1) };
        self.conditions.as_ref().map(|conditions| &conditions[side])
    }
}

/// Gives each run its letter, and leaves it the condition that is asked for.
fn lettered(results: Vec<Results>, asked: &Asked) -> Vec<Compared> {
    let alphabet: Vec<char> = ('A'..='Z').collect();
    let letter = |place: usize| match alphabet.get(place) {
        _ if asked.is_paired() => format!("{}{}", alphabet[place % 2], place / 2 + 1),
        Some(letter) => letter.to_string(),
        None => format!("R{}", place + 1),
    };
    let compared = |(place, mut results): (usize, Results)| {
        let condition = asked.condition(place).cloned();
        if let Some(condition) = &condition {
            cells::keep(&mut results, condition);
        }
        Compared { letter: letter(place), unit: resolution::unit(&results), results, condition }
    };
    results.into_iter().enumerate().map(compared).collect()
}

/// Two sides that are compared.
struct Contest<'a> {
    letter: String,
    design: Design,
    /// One, unless runs alternated.
    rounds: Vec<Sides<&'a Compared>>,
}

fn contests<'a>(runs: &'a [Compared], design: Design) -> Vec<Contest<'a>> {
    if design.is_in_turn() {
        let rounds = runs.chunks_exact(2).map(|two| Sides { a: &two[0], b: &two[1] }).collect();
        let letter = if design == Design::Rounds { "A" } else { "B" };
        return vec![Contest { letter: letter.to_owned(), design, rounds }];
    }
    let Some((a, others)) = runs.split_first() else { return Vec::new() };
    let contest = |b: &'a Compared| {
        let design = if same_run(a, b) { Design::Blocks } else { Design::Apart };
        Contest { letter: b.letter.clone(), design, rounds: vec![Sides { a, b }] }
    };
    others.iter().map(contest).collect()
}

/// Returns true if two sides are conditions of one run, and so share its blocks.
fn same_run(a: &Compared, b: &Compared) -> bool {
    let id = |one: &Compared| {
        let run = &one.results.run;
        (run.name.clone(), run.host.clone(), run.started.clone())
    };
    a.condition != b.condition && id(a) == id(b)
}

impl Contest<'_> {
    fn pool(&self) -> Pool {
        if self.design == Design::Apart { Pool::Resampled } else { Pool::ByRound }
    }

    /// Compares one cell in all its measures; returns what could be compared, and what not.
    fn compare(&self, place: &Place) -> (Vec<Draft>, Vec<NotCompared>) {
        let mut found: Vec<Match<'_>> = Vec::new();
        let mut gaps: Vec<String> = Vec::new();
        let mut lost = false;
        for (number, round) in (1..).zip(&self.rounds) {
            match round.map(|run| cells::find(run, place)) {
                Sides { a: Ok(a), b: Ok(b) } => found.push(Match { number, sides: Sides { a, b } }),
                Sides { a, b } => {
                    let [base, _] = self.design.base_first(Sides { a: a.is_ok(), b: b.is_ok() });
                    lost |= base;
                    gaps.extend([a.err(), b.err()].into_iter().flatten());
                }
            }
        }
        let reason = gaps.join("; ");
        let missing = |measure, lost, reason| place.missing(&self.letter, measure, lost, reason);
        let Some(Match { sides: Sides { a: first, .. }, .. }) = found.first() else {
            return (Vec::new(), vec![missing(None, lost, reason)]);
        };
        let unlike = |one: &Match<'_>| first.unlike(&one.sides.a).or_else(|| first.unlike(&one.sides.b));
        if let Some(unlike) = found.iter().find_map(unlike) {
            return (Vec::new(), vec![missing(None, false, unlike)]);
        }
        let some =
            (!gaps.is_empty()).then_some(Remark::SomeRounds { rounds: found.len(), of: self.rounds.len(), reason });
        let (mut drafts, mut without) = (Vec::new(), Vec::new());
        for measure in rows::measures(&found) {
            match rows::observed(&found, measure, self.design) {
                Ok(observed) => drafts.push(self.draft(&found, measure, observed, some.clone())),
                Err(reason) => without.push(missing(Some(measure), self.has_lost(&found, measure), reason)),
            }
        }
        (drafts, without)
    }

    fn draft(&self, found: &[Match<'_>], measure: Measure, observed: Observed, some: Option<Remark>) -> Draft {
        let mut draft = Draft::new(&self.letter, &found[0].sides.a.row.cell, measure, observed);
        let comparison = &mut draft.comparison;
        comparison.resolution = resolution::in_percent(found, measure);
        comparison.warnings = rows::warnings(found);
        comparison.warnings.extend(resolution::warning(comparison));
        comparison.warnings.extend(some);
        draft
    }

    /// Returns true if only what is measured against has a value of the measure.
    fn has_lost(&self, found: &[Match<'_>], measure: Measure) -> bool {
        let has = |one: &Match<'_>| one.sides.map(|side| side.value(measure).is_ok());
        found.iter().all(|one| self.design.base_first(has(one)) == [true, false])
    }
}
