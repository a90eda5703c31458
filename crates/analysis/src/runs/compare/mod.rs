//! Runs compared, each with the first one or in rounds of two.
//!
//! 1. Every run gets a letter, and figures of other programs the names that the first run has for
//!    them ([`alike`]).
//! 2. Runs meet in [`Contest`]s: each with the first; or, where they alternated, all rounds of two
//!    in one.
//! 3. A contest compares each cell ([`cells`]) by each measure that both sides have ([`rows`]), and
//!    says why others cannot be compared.
//! 4. All comparisons are judged together ([`judge`]), and [`gate`] says which of them fail.
//!
//! [`caution`] says how the runs differ apart from what is asked about, and [`notes`] how to read
//! the numbers.

mod alike;
mod caution;
mod cells;
mod counts;
mod gate;
mod machines;
mod notes;
mod resolution;
mod rows;
mod thesis;

use crate::figures::{Measure, Remark};
use crate::findings::Results;
use crate::products::comparison::engine::{Draft, Observed};
use crate::products::comparison::pool::{self, Pool};
use crate::products::comparison::{Comparison, Design, GeometricMean, Sides, judge};
use crate::runs::Why;
use catalogue::Catalogue;
use rows::{Match, Side};

pub use caution::{Difference, unlike};
pub use cells::{NotCompared, Place};
pub use counts::ComparedCounts;
pub use gate::{Gate, Second, Suspect};
pub use machines::{AtWork, Found, MAX_SAME, MIN_DIFFERENCE, Machines, Work};
pub use thesis::{Bar, Thesis, ThesisRow};

/// The settings of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The design: each two runs are a round, or all others are compared with the first. Conditions
    /// of one run are in blocks whether that was asked or not.
    pub design: Design,
    /// Differences up to this give no verdict, in per cent and in points.
    pub threshold: f64,
    /// The conditions whose cells are compared: of the first run (or of every A), and of the
    /// others.
    pub conditions: Option<[String; 2]>,
}

/// One of the runs.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Its letter in the report: A, B, C …; A1, B1, A2, B2 … of runs that alternated.
    pub letter: String,
    /// Its results; of one condition alone, where one was asked for, as if there were no
    /// conditions.
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
    /// Machines by their cards, per card that is compared with the first.
    pub machines: Vec<Machines>,
    /// All rates together, per run that is compared with the first.
    pub totals: Vec<Total>,
    /// The tables of the 1994 thesis, of rounds.
    pub thesis: Option<Thesis>,
    /// Which facts go with the differences; `None` unless it is asked for
    /// ([`Comparisons::ask_why`]).
    pub why: Option<Why>,
    /// Properties that differ between the runs and may explain any difference: builds, kernels …
    pub unlike: Vec<&'static str>,
    /// Differences between the runs beyond the one in question.
    pub warnings: Vec<String>,
    /// How to read the numbers.
    pub notes: Vec<String>,
}

/// The geometric mean of the changes of all rates that both sides have.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The run or the side that is judged; of rounds "A" or "B", as the design says.
    pub run: String,
    /// The geometric mean of the changes.
    pub mean: GeometricMean,
}

impl Comparisons {
    /// Compares every run with the first one; or, of runs that alternated, the two of each round,
    /// by the side that the design judges (an odd run at the end has no round and is left out).
    pub fn new(mut results: Vec<Results>, asked: &Asked) -> Comparisons {
        if let Some((first, others)) = results.split_first_mut() {
            others.iter_mut().for_each(|run| alike::name_alike(run, first));
        }
        let runs = name_runs(results, asked);
        let contests = pair_runs(&runs, asked.design);

        let mut drafts = Vec::new();
        let mut missing = Vec::new();
        let mut totals = Vec::new();
        let mut machines = Vec::new();
        for contest in &contests {
            let mut contest_drafts: Vec<Draft> = Vec::new();
            for place in cells::places(&contest.rounds) {
                let (compared, not_compared) = contest.compare(&place);
                contest_drafts.extend(compared);
                missing.extend(not_compared);
            }
            if let [Sides { a, b }] = contest.rounds[..] {
                machines.extend(Machines::new(a, b, &contest_drafts));
            }
            let measured: Vec<&Draft> = contest_drafts.iter().collect();
            let mean = pool::mean_of_rates(&measured, contest.pool());
            totals.extend(mean.map(|mean| Total { run: contest.letter.clone(), mean }));
            drafts.extend(contest_drafts);
        }

        judge(&mut drafts, asked.threshold);
        let mut comparisons: Vec<Comparison> = drafts.iter().map(Draft::judged).collect();
        for comparison in &mut comparisons {
            comparison.warnings.extend(comparison.direction_remark());
        }

        // The loosest design of all: conditions of one run share its blocks, whatever was asked.
        let mut designs = contests.iter().map(|contest| contest.design);
        let design = designs.find(|design| *design != Design::Blocks).unwrap_or(Design::Blocks);
        let (warnings, unlike) = caution::warnings(&runs, asked.design);
        Comparisons {
            differences: caution::differences(&runs),
            warnings,
            unlike,
            notes: notes::notes_on_runs(&comparisons, design, asked.threshold, &runs),
            thesis: (asked.design == Design::Rounds)
                .then(|| Thesis::new(&comparisons, runs.len() / 2, asked.threshold)),
            asked: asked.clone(),
            why: None,
            comparisons,
            missing,
            machines,
            totals,
            runs,
        }
    }

    /// Looks for facts that go with the differences between the runs; each run counts as a system.
    pub fn ask_why(&mut self, catalogue: &Catalogue) {
        let systems: Vec<(&str, &Results)> =
            self.runs.iter().map(|run| (run.letter.as_str(), &run.results)).collect();
        self.why = Some(Why::new(&systems, catalogue));
    }

    /// True if more than two runs are compared, each with the first.
    pub fn is_of_several(&self) -> bool {
        !self.asked.is_paired() && self.runs.len() > 2
    }

    /// The letter of the reference run or, of rounds, of the reference side.
    pub fn against(&self) -> &'static str {
        if self.asked.design == Design::Rounds { "B" } else { "A" }
    }

    /// The condition that a cell's figures are of: where two were asked for, the one that is
    /// measured against the other.
    pub fn condition<'a>(&'a self, own: &'a str) -> &'a str {
        match (&self.asked.conditions, self.asked.design) {
            (Some([first, _]), Design::Rounds) => first,
            (Some([_, other]), _) => other,
            (None, _) => own,
        }
    }
}

impl Asked {
    /// True if each two runs are a round.
    pub fn is_paired(&self) -> bool {
        self.design.is_by_round()
    }

    /// The condition whose cells are compared of the run at `place`, if one was asked for.
    pub fn condition(&self, place: usize) -> Option<&String> {
        let side = if self.is_paired() { place % 2 } else { place.min(1) };
        self.conditions.as_ref().map(|conditions| &conditions[side])
    }
}

/// Gives each run its letter and, if a condition is asked for, drops the cells of all others, and
/// its name.
fn name_runs(results: Vec<Results>, asked: &Asked) -> Vec<Compared> {
    let mut runs = Vec::new();
    for (place, mut results) in results.into_iter().enumerate() {
        let condition = asked.condition(place).cloned();
        if let Some(condition) = &condition {
            cells::keep_condition(&mut results, condition);
        }
        let unit = resolution::unit(&results);
        runs.push(Compared { letter: letter(place, asked.is_paired()), unit, results, condition });
    }
    runs
}

/// The letter of the run at `place`: A, B, C … and R27 … after Z; A1, B1, A2 … of rounds.
fn letter(place: usize, is_paired: bool) -> String {
    if is_paired {
        let side = if place.is_multiple_of(2) { "A" } else { "B" };
        return format!("{side}{}", place / 2 + 1);
    }
    match ('A'..='Z').nth(place) {
        Some(letter) => letter.to_string(),
        None => format!("R{}", place + 1),
    }
}

/// Two sides that are compared.
struct Contest<'a> {
    /// The run that is judged.
    letter: String,
    design: Design,
    /// One round, unless runs alternated.
    rounds: Vec<Sides<&'a Compared>>,
}

fn pair_runs<'a>(runs: &'a [Compared], design: Design) -> Vec<Contest<'a>> {
    if design.is_by_round() {
        let rounds = runs.chunks_exact(2).map(|two| Sides { a: &two[0], b: &two[1] }).collect();
        let letter = if design == Design::Rounds { "A" } else { "B" };
        return vec![Contest { letter: letter.to_owned(), design, rounds }];
    }

    let Some((a, others)) = runs.split_first() else {
        return Vec::new();
    };
    let mut contests = Vec::new();
    for b in others {
        let design = if share_blocks(a, b) { Design::Blocks } else { Design::Apart };
        contests.push(Contest { letter: b.letter.clone(), design, rounds: vec![Sides { a, b }] });
    }
    contests
}

/// True if two sides are conditions of one run.
fn share_blocks(a: &Compared, b: &Compared) -> bool {
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

    /// Compares one cell by all its measures, over the rounds that have it on both sides. Returns
    /// the comparisons, and the measures (or the whole cell) that could not be compared.
    fn compare(&self, place: &Place) -> (Vec<Draft>, Vec<NotCompared>) {
        let mut matches: Vec<Match<'_>> = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        let mut is_lost = false;
        for (number, round) in (1..).zip(&self.rounds) {
            match round.map(|run| cells::find(run, place)) {
                Sides { a: Ok(a), b: Ok(b) } => {
                    matches.push(Match { number, sides: Sides { a, b } })
                }
                Sides { a, b } => {
                    let has_cell = Sides { a: a.is_ok(), b: b.is_ok() };
                    let [base_has_cell, _] = self.design.base_first(has_cell);
                    is_lost |= base_has_cell;
                    reasons.extend([a.err(), b.err()].into_iter().flatten());
                }
            }
        }

        let some_are_missing = !reasons.is_empty();
        let reason = reasons.join("; ");
        let Some(Match { sides: Sides { a: first, .. }, .. }) = matches.first() else {
            return (Vec::new(), vec![place.missing(&self.letter, None, is_lost, reason)]);
        };
        let mut sides = matches.iter().flat_map(|round| [&round.sides.a, &round.sides.b]);
        if let Some(difference) = sides.find_map(|side| first.describe_difference(side)) {
            // A printed figure whose unit cannot be converted to the other's is lost to a gate.
            let is_lost = first.row.cell.is_printed();
            return (Vec::new(), vec![place.missing(&self.letter, None, is_lost, difference)]);
        }

        let some_rounds = some_are_missing.then_some(Remark::SomeRounds {
            rounds: matches.len(),
            of: self.rounds.len(),
            reason,
        });
        let mut drafts = Vec::new();
        let mut not_compared = Vec::new();
        for measure in rows::measures(&matches) {
            match rows::observe(&matches, measure, self.design) {
                Ok(observed) => {
                    drafts.push(self.draft(&matches, measure, observed, some_rounds.clone()))
                }
                Err(reason) => {
                    let is_lost = self.has_lost(&matches, measure);
                    let missing = place.missing(&self.letter, Some(measure), is_lost, reason);
                    not_compared.push(missing);
                }
            }
        }
        if let Some(reason) = self.describe_new_failures(&matches) {
            not_compared.push(place.missing(&self.letter, None, true, reason));
        }
        (drafts, not_compared)
    }

    /// Says that repetitions of a printed figure failed, if none of the reference's did: the
    /// remaining ones may measure other work than the reference's do.
    fn describe_new_failures(&self, matches: &[Match<'_>]) -> Option<String> {
        matches.iter().filter(|round| round.sides.a.row.cell.is_printed()).find_map(|round| {
            let [base, changed] = self.design.base_first(round.sides.map(|side| side.row));
            changed.failure().filter(|_| base.failure().is_none()).map(Remark::to_string)
        })
    }

    fn draft(
        &self,
        matches: &[Match<'_>],
        measure: Measure,
        observed: Observed,
        some_rounds: Option<Remark>,
    ) -> Draft {
        let mut draft = Draft::new(&self.letter, &matches[0].sides.a.row.cell, measure, observed);
        let comparison = &mut draft.comparison;
        comparison.resolution = resolution::in_percent(matches, measure);
        comparison.warnings = rows::warnings(matches);
        comparison.warnings.extend(resolution::warning(comparison));
        comparison.warnings.extend(some_rounds);
        draft
    }

    /// True if in each round only the reference has a value of the measure.
    fn has_lost(&self, matches: &[Match<'_>], measure: Measure) -> bool {
        matches.iter().all(|round| {
            let has_value = round.sides.map(|side| side.value(measure).is_ok());
            self.design.base_first(has_value) == [true, false]
        })
    }
}
