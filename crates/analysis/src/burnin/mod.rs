//! From a burn-in's journal to its verdict. Pure.

mod cause;
mod cooling;
mod memory;
mod sensors;
mod trend;

use journal::{self, Burned, Fault, Journal, Pass, Sample};

pub use cause::Cause;
pub use cooling::{Cooling, Core, Fall, Held};
pub use memory::{Memory, Pattern, Rise};
pub use sensors::{CoolDown, Sensor};

/// The findings of a burn-in.
#[derive(Debug, Clone)]
pub struct BurnIn {
    /// The id of the program's row in the catalogue.
    pub test: String,
    /// Its name in reports.
    pub label: String,
    /// The settings of the burn-in.
    pub asked: journal::BurnIn,
    /// Seconds that it worked, the rest after it not counted.
    pub worked: f64,
    /// The verdict, which reports begin with.
    pub verdict: String,
    /// True if nothing was wrong: no fault, no wrong result, no failure. A machine that throttles computes right.
    pub good: bool,
    /// The findings of the cooling test.
    pub cooling: Option<Cooling>,
    /// The findings of the memory test.
    pub memory: Option<Memory>,
    /// The readings of each sensor.
    pub sensors: Vec<Sensor>,
    /// The cooling of the machine.
    pub cool_down: Option<CoolDown>,
    /// Everything that was sampled.
    pub samples: Vec<Sample>,
    /// Every fault that was told.
    pub faults: Vec<Fault>,
    /// Every pass.
    pub passes: Vec<Pass>,
}

impl BurnIn {
    /// Computes the result of a journal; nothing where it is of no burn-in.
    pub fn new(journal: &Journal) -> Option<BurnIn> {
        let asked = journal.burnin.clone()?;
        let journal = &sane(journal);
        let cell = journal.cells.first();
        let worked = worked(journal, &asked);
        let cooling = (asked.kind == Burned::Cooling).then(|| Cooling::new(journal, &asked, worked));
        let memory = (asked.kind == Burned::Memory).then(|| Memory::new(journal, &asked));
        let verdicts = [cooling.as_ref().map(|own| own.verdict(journal)), memory.as_ref().map(Memory::verdict)];
        let text = verdicts.into_iter().flatten().collect::<String>();
        let good = cooling.as_ref().is_none_or(|cooling| cooling.wrong == 0)
            && memory.as_ref().is_none_or(|memory| memory.faults == 0 && memory.errors.is_empty());
        let failure = journal.trials.iter().find_map(|trial| trial.error.as_deref().or(trial.skip.as_deref()));
        let verdict = match failure {
            None => text,
            Some(why) if journal.samples.len() < 2 => format!("Not done: {why}."),
            Some(why) => format!("It failed: {why}. Until then: {text}"),
        };
        Some(BurnIn {
            test: cell.map(|cell| cell.key.test.clone()).unwrap_or_default(),
            label: cell.map(|cell| cell.label.clone()).unwrap_or_default(),
            sensors: sensors::sensors(&journal.samples, &asked, worked),
            cool_down: sensors::cool_down(&journal.samples, worked),
            asked,
            worked,
            verdict,
            good: good && failure.is_none(),
            cooling,
            memory,
            samples: journal.samples.clone(),
            faults: journal.faults.clone(),
            passes: journal.passes.clone(),
        })
    }

    /// Returns true if it worked for any time at all.
    pub fn has_worked(&self) -> bool {
        self.samples.len() > 1
    }
}

/// Longer than any burn-in, in seconds, and faster than any processor, in GHz.
const LONGEST: f64 = 1e10;
const FASTEST: f64 = 100.0;

/// The journal without numbers that cannot be.
fn sane(journal: &Journal) -> Journal {
    let mut journal = journal.clone();
    let is_time = |at: f64| (0.0..LONGEST).contains(&at);
    journal.samples.retain(|sample| is_time(sample.at));
    for sample in &mut journal.samples {
        sample.beats.retain(|beat| is_time(beat.at) && (0.0..FASTEST).contains(&beat.clock));
        sample.sensors.temperature.retain(|_, value| value.abs() < 1e6);
        sample.sensors.power.retain(|_, value| value.abs() < 1e9);
    }
    journal.faults.retain(|fault| is_time(fault.at));
    journal
}

/// When the work ended, in seconds since it began.
fn worked(journal: &Journal, asked: &journal::BurnIn) -> f64 {
    let last = journal.samples.last().map_or(0.0, |sample| sample.at);
    match journal.samples.iter().find(|sample| sample.resting) {
        Some(resting) => asked.seconds.unwrap_or(resting.at).min(resting.at),
        None => asked.seconds.map_or(last, |seconds| last.min(seconds)),
    }
}

/// Faults or wrong results that the program counted itself: it may have found more than it had time to tell.
fn counted(journal: &Journal) -> u64 {
    let copies = journal.trials.iter().flat_map(|trial| &trial.copies);
    // A count of faults fits.
    copies.filter_map(|copy| copy.checks.get("faults")).map(|faults| *faults as u64).max().unwrap_or(0)
}
