//! The cost of conditions: every condition against the one they are compared with, within the
//! blocks of one run.
//!
//! *Blocks.* A block holds one trial of every arm in random order: the condition compared with (the
//! *reference*), every other condition, and in some blocks the reference a second time (the
//! *control*). What drifts slowly slows all arms of a block equally and cancels in their
//! differences; what is left favours either arm with the same probability. The differences of
//! logarithms, one per block, are judged by Hodges and Lehmann's estimate with the exact
//! signed-rank interval ([`stats::paired_shift`]).
//!
//! *One reference arm.* A condition is compared with the first arm of the reference alone. The mean
//! of both arms would have less noise (three arms of equal noise σ give a difference of variance
//! 1.5·σ² in place of 2·σ², intervals narrower by an eighth), but one value less a mean of two is
//! not symmetric where noise is skewed, and noise is: stalls only slow. The signed ranks ask for
//! symmetry, and under stalls such intervals cover 92 % with 24 blocks and 89 % with 48 in place of
//! 95 %, at no less width. The difference of two equal arms in random order is symmetric whatever
//! the noise (`tests/cost/` shows both).
//!
//! *The control* proves the intervals: over all cells its differences must be as small as they say.
//! If they are not, all intervals of the report are wider by one factor. (A sieve in place of that
//! proof, each difference against the control of its own cell, keeps false alarms at 0.4 % where
//! 5 % is meant, and finds a true 5 % in 16 % of runs in place of 64 %.)
//!
//! [`crate::products::comparison::engine`] has the rest. On randomised interleaving: Abedi & Brecht
//! 2017; Laaber et al. 2019.

mod looks;
mod losses;
mod notes;
mod parts;
mod power;
mod sentence;
mod starts;
mod trail;

use std::iter;

use serde::Serialize;

use crate::figures::{Figure, Measure, Missing, visible_neighbour};
use crate::products::comparison::engine::Draft;
use crate::products::comparison::pool::{Pool, mean_of_rates};
use crate::products::comparison::{Comparison, GeometricMean, Sides, TwoSpeeds};
use crate::products::pairs;
use crate::products::pairs::{Arms, DEFAULT_THRESHOLD};
use catalogue::{Catalogue, Index};
use journal::{Cell, Journal, Run, Trial};
use notes::{Notes, Widenings};
use words::{Grouped, Unique};

pub use looks::{is_precise, suspects};
pub use losses::Losses;
pub use power::{Need, Planted, Power, Price};
pub use starts::SandboxStart;

/// The id of the mean of all figures.
const ALL: &str = "all";

/// The findings of a run about cost.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The condition that the others are compared with.
    pub against: String,
    /// Differences up to this many per cent (points for deadlines) give no verdict.
    pub threshold: f64,
    /// Every condition, in the order of the run.
    pub conditions: Vec<Condition>,
    /// The control: the second arm of a condition compared with its first, one per cell and
    /// measure. It is of `against` and, of two commands, of the other, too.
    pub control: Vec<Effect>,
    /// The factor by which all intervals but those of energies are wider because the control
    /// differs by more than its own interval allows; 1 if it does not.
    pub widening: f64,
    /// The rows of the second arms.
    pub controls: Vec<Figure>,
    /// Cells that could not be compared, and why.
    pub missing: Vec<Missing>,
    /// What sandboxes cost to start, where that was asked for.
    pub starts: Vec<SandboxStart>,
    /// What spoils the numbers or leaves them open: drift, too few blocks, failed trials.
    pub caveats: Vec<String>,
    /// How the numbers came about.
    pub notes: Vec<String>,
}

/// One condition over all cells.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The name of the condition.
    pub name: String,
    /// The cost in one or two sentences, for people.
    pub sentence: String,
    /// One effect per cell and measure, in the order of the rows.
    pub effects: Vec<Effect>,
    /// One total per index, number of copies and load, and one of all rates.
    pub totals: Vec<Total>,
    /// The proofs that the condition was on, each once.
    pub evidence: Vec<String>,
}

/// The geometric mean of a condition's rates over those of the reference.
#[derive(Debug, Clone)]
pub struct Total {
    /// The index's id, or `all`.
    pub id: String,
    /// Its name in reports.
    pub name: String,
    /// The number of copies.
    pub copies: u32,
    /// The load in the background.
    pub load: String,
    /// The geometric mean of the changes, by resampling blocks jointly.
    pub mean: GeometricMean,
}

/// What a condition changes in one cell, by one measure.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The comparison: A is the condition compared with, B this one; `pairs` are the blocks.
    pub comparison: Comparison,
    /// Smallest difference that counts, in per cent (points), where no blocks are shared: what
    /// drift shows from the first half of the run to the second. `None` within blocks.
    pub floor: Option<f64>,
    /// Set if there was a second look: true if fresh blocks show the loss again.
    pub confirmed: Option<bool>,
    /// The trail that auditing left.
    pub trail: Option<TrailFigures>,
    /// The events that were lost, where a row counts them or a test makes them at a rate.
    pub losses: Option<Losses>,
    /// System calls per count, where the program reports it (`value calls N`).
    pub calls: Option<f64>,
    /// Processor time of the programs (user + system, with children) in ns per count, of the
    /// reference and of this condition.
    pub cpu_ns: Option<Sides<f64>>,
}

/// The trail of auditing per operation, in the windows of all trials, and in total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TrailFigures {
    /// The events of all trials, with the programs' start and end.
    pub events: u64,
    /// The bytes of all trials.
    pub bytes: u64,
    /// The records that the kernel dropped.
    pub lost: u64,
    /// Events per count of the test.
    #[serde(rename = "events_per_op")]
    pub events_per: f64,
    /// Bytes per count.
    #[serde(rename = "bytes_per_op")]
    pub bytes_per: f64,
    /// Bytes per event.
    pub bytes_per_event: f64,
    /// Bytes per second of the window.
    pub bytes_per_second: f64,
    /// Seconds that processes slept for room in the backlog, per second of the window.
    pub waited: f64,
    /// The length of the longest backlog.
    pub backlog: u32,
    /// Share of the windows' records that were not drained when the window closed.
    pub queued: f64,
    /// Processor time outside the programs (the kernel's thread and the receiver), per second of
    /// the window.
    pub outside_cpu: f64,
}

impl Cost {
    /// The cost of the conditions of a run: of its `rows` and `controls`, whose trials are `trials`
    /// by cell. `gaps` are the cells without a result.
    pub(crate) fn new(
        journal: &Journal,
        rows: &[Figure],
        controls: Vec<Figure>,
        gaps: &[&Missing],
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
    ) -> Cost {
        let against = match journal.run.against.as_str() {
            "" => pairs::reference_condition(&journal.cells),
            named => named,
        };
        let threshold = journal.run.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let arms = Arms { cells: &journal.cells, trials, against, threshold };
        let figures: Vec<&Figure> = rows.iter().chain(&controls).collect();
        let run = MeasuredRun { journal, catalogue, arms, figures };

        let mut drafts: Vec<Draft> = Vec::new();
        let mut missing: Vec<Missing> = Vec::new();
        for row in rows.iter().filter(|row| row.cell.key.condition != against) {
            let (of_cell, gaps_of_cell) = run.arms.drafts(&row.cell);
            drafts.extend(of_cell);
            missing.extend(gaps_of_cell);
        }
        let control = run.arms.controls(controls.iter().map(|row| &row.cell));
        let [widening, widening_of_energy] = Arms::judge(&mut drafts, &control, threshold);

        for gap in gaps.iter().filter(|gap| gap.key.condition != against) {
            missing.push(Missing { lost: run.arms.is_lost(gap), ..(*gap).clone() });
        }
        let names = run.arms.treated().map(|cell| cell.key.condition.as_str()).unique();
        for name in &names {
            missing.extend(run.arms.lost_figures(name));
        }

        let mut conditions: Vec<Condition> =
            names.iter().map(|name| run.condition(name, &drafts, &missing)).collect();
        // A sum of parts needs the effects of all conditions.
        for place in 0..conditions.len() {
            let sum = parts::sentence(&conditions[place], &conditions, catalogue);
            conditions[place].sentence.extend(sum.iter().flat_map(|sum| [" ", sum]));
        }
        let control: Vec<Effect> = control.iter().map(|draft| run.effect(draft)).collect();
        for condition in &mut conditions {
            let doubt = sentence::doubt(&condition.effects, &control);
            condition.sentence.extend(doubt.iter().flat_map(|doubt| [" ", doubt]));
        }
        let widenings = Widenings { of_speed: widening, of_energy: widening_of_energy };
        let Notes { caveats, method: notes } =
            Notes::new(journal, &run.arms, rows, &conditions, &control, widenings);
        Cost {
            against: against.to_owned(),
            threshold,
            conditions,
            control,
            widening,
            controls,
            starts: starts::starts(journal),
            missing,
            caveats,
            notes,
        }
    }

    /// The effects of all conditions.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> + Clone {
        self.conditions.iter().flat_map(|condition| &condition.effects)
    }

    /// True if any time grew by more than `size` per cent, by its whole interval; `None` if
    /// intervals leave it open.
    pub fn is_slower(&self, size: f64) -> Option<bool> {
        let comparisons = self.effects().map(|effect| &effect.comparison);
        pairs::is_any_slower(comparisons, self.conditions.len(), size)
    }

    /// The losses of at least `size` per cent (points for deadlines met): significantly slower or
    /// worse, by an estimate of that size, and not taken back by a second look.
    pub fn losses(&self, size: f64) -> Vec<&Effect> {
        self.effects()
            .filter(|effect| effect.confirmed != Some(false) && effect.comparison.is_loss_of(size))
            .collect()
    }

    /// The figures that the reference has and another command lacks.
    pub fn lost(&self) -> impl Iterator<Item = &Missing> {
        self.missing.iter().filter(|gap| gap.lost)
    }

    /// The comparisons of all conditions.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> + Clone {
        self.effects().map(|effect| &effect.comparison)
    }
}

/// A run whose conditions are compared, with what reports show of their effects.
struct MeasuredRun<'a> {
    journal: &'a Journal,
    catalogue: &'a Catalogue,
    arms: Arms<'a>,
    /// The figures of all cells, with those of second arms.
    figures: Vec<&'a Figure>,
}

impl MeasuredRun<'_> {
    /// One condition with its effects, which are among the judged `drafts`.
    fn condition(&self, name: &str, drafts: &[Draft], missing: &[Missing]) -> Condition {
        let own: Vec<&Draft> = drafts.iter().filter(|draft| draft.comparison.run == name).collect();
        let effects: Vec<Effect> = own.iter().map(|draft| self.effect(draft)).collect();

        let cell = self.journal.cells.iter().find(|cell| cell.key.condition == name);
        let phrase = cell.and_then(|cell| cell.phrase.clone());
        let phrase = phrase.unwrap_or_else(|| self.catalogue.phrase(name));
        let gap = missing.iter().find(|gap| gap.key.condition == name);
        let reason = gap.map(|gap| gap.reason.as_str());
        let sentences = iter::once(sentence::sentence(&phrase, &effects, reason))
            .chain(losses::sentence(&effects));

        Condition {
            name: name.to_owned(),
            sentence: sentences.collect::<Vec<String>>().join(" "),
            totals: totals(&own, &self.journal.run, self.catalogue),
            evidence: trail::evidence(&self.arms, name),
            effects,
        }
    }

    /// A judged draft with what is known of its figure and its trials.
    fn effect(&self, draft: &Draft) -> Effect {
        let mut comparison = draft.judged();
        let cell = &draft.comparison.cell;
        let trials = self.arms.trials(cell);
        let compared = self.arms.compared_with(cell);

        // Both sides show the figures of their cells, which the rest of the report shows, too.
        let reference = compared.first().and_then(|cell| self.figure(cell));
        let value = |figure: Option<&Figure>| figure?.value(comparison.measure);
        if let (Some(a), Some(b)) = (value(reference), value(self.figure(cell))) {
            (comparison.a, comparison.b) = (a, b);
        }

        // The comparison itself says how many trials it rests on and how its interval is made, so
        // what the figure says of that is left out.
        let remarks = self.figure(cell).into_iter().flat_map(|figure| &figure.warnings);
        comparison.warnings.extend(remarks.filter(|remark| !remark.is_of_method()).cloned());
        comparison.warnings.extend(comparison.direction_remark());
        comparison.two_speeds = TwoSpeeds::find(draft, self.is_loaded(cell, &compared));
        Effect {
            floor: draft.difference.floor,
            confirmed: draft.difference.confirmed,
            trail: trail::figures(cell, trials),
            losses: losses::losses(cell, trials),
            calls: trail::calls(trials),
            cpu_ns: trail::processor_time(&compared, cell, &self.arms),
            comparison,
        }
    }

    /// True if others used the machine in most trials of a cell and of those it is compared with.
    fn is_loaded(&self, cell: &Cell, compared: &[&Cell]) -> bool {
        let mut trials = 0;
        let mut disturbed = 0;
        for cell in compared.iter().copied().chain([cell]) {
            for trial in self.arms.trials(cell) {
                trials += 1;
                let neighbour = visible_neighbour(cell, trial, self.journal.run.cpus);
                disturbed += usize::from(neighbour.is_some());
            }
        }
        2 * disturbed > trials
    }

    fn figure(&self, cell: &Cell) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.cell.id == cell.id).copied()
    }
}

/// Where totals are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place<'a> {
    copies: u32,
    load: &'a str,
}

/// The totals of one condition: for every number of copies and load the geometric mean of all its
/// rates, and before it that of every index the run shows.
fn totals(drafts: &[&Draft], run: &Run, catalogue: &Catalogue) -> Vec<Total> {
    let with_place = drafts.iter().map(|draft| {
        let key = &draft.comparison.cell.key;
        (Place { copies: key.copies, load: &key.load }, *draft)
    });
    let mut places: Vec<(Place<'_>, Vec<&Draft>)> = with_place.grouped();
    places.sort_by_key(|(place, _)| *place);

    let is_shown = |index: &Index| {
        if run.indexes.is_empty() { index.always } else { run.indexes.contains(&index.id) }
    };
    let mut totals = Vec::new();
    for (place, drafts) in places {
        for index in catalogue.indexes.iter().filter(|index| is_shown(index)) {
            let members: Vec<&Draft> =
                drafts.iter().copied().filter(|draft| is_member(draft, index, catalogue)).collect();
            totals.extend(total(&index.id, &index.name, place, &members));
        }
        totals.extend(total(ALL, "All rates", place, &drafts));
    }
    totals
}

/// True if the draft's test is part of the index.
fn is_member(draft: &Draft, index: &Index, catalogue: &Catalogue) -> bool {
    let test = catalogue.test(&draft.comparison.cell.key.test);
    test.is_some_and(|test| test.baseline.contains_key(&index.id))
}

/// The geometric mean of the rates among `drafts`, all at `place`, as the total `name`; `None` if
/// there are too few.
fn total(id: &str, name: &str, place: Place<'_>, drafts: &[&Draft]) -> Option<Total> {
    let mean = mean_of_rates(drafts, Pool::Resampled)?;
    let name = if id == ALL && mean.is_of_times { "All times" } else { name };
    Some(Total {
        id: id.to_owned(),
        name: name.to_owned(),
        copies: place.copies,
        load: place.load.to_owned(),
        mean,
    })
}
