//! From a burn-in's journal to its verdict.
//!
//! A burn-in works all processors, or reads and writes all memory, while sensors are sampled once a
//! second; after the work it may watch the machine rest. There are two kinds: the cooling test
//! ([`Cooling`]) asks whether the clock holds, the memory test ([`Memory`]) whether memory returns
//! what was written.

mod burst;
mod cause;
mod cooling;
mod memory;
mod sensors;
mod trend;

use journal::{self, Burned, Fault, Journal, Pass, Sample};

pub use burst::Burst;
pub use cause::Cause;
pub use cooling::{Cooling, Core, Fall, Held};
pub use memory::{Memory, Pattern, Rise};
pub use sensors::{CoolDown, Sensor};

/// Values beyond these are damage: longer than any burn-in, faster than any processor, hotter or
/// hungrier than any machine.
const MAX_SECONDS: f64 = 1e10;
const MAX_GHZ: f64 = 100.0;
const MAX_CELSIUS: f64 = 1e6;
const MAX_WATTS: f64 = 1e9;

/// Seconds after the end of the work within which a sample or beat still belongs to it.
const MAX_LATE_SECONDS: f64 = 0.5;

/// The share of the work after which it counts as sustained.
const SUSTAINED_FROM_SHARE: f64 = 0.75;

/// The findings of a burn-in.
#[derive(Debug, Clone)]
pub struct BurnIn {
    /// The id of the program's row in the catalogue.
    pub test: String,
    /// Its name in reports.
    pub label: String,
    /// The settings of the burn-in.
    pub asked: journal::BurnIn,
    /// Seconds of work, without the rest after it.
    pub worked: f64,
    /// The verdict, which reports begin with.
    pub verdict: String,
    /// True if nothing was wrong: no fault, no wrong result, no failure. A machine that throttles
    /// computes right.
    pub good: bool,
    /// The findings of the cooling test; also those of the same work as a burst.
    pub cooling: Option<Cooling>,
    /// The credit of processor time, where it was looked for and found.
    pub burst: Option<Burst>,
    /// The findings of the memory test.
    pub memory: Option<Memory>,
    /// The readings of each sensor.
    pub sensors: Vec<Sensor>,
    /// How the machine cooled down.
    pub cool_down: Option<CoolDown>,
    /// Every sample.
    pub samples: Vec<Sample>,
    /// Every fault that was reported.
    pub faults: Vec<Fault>,
    /// Every pass.
    pub passes: Vec<Pass>,
}

impl BurnIn {
    /// The findings of a journal; `None` if it is not of a burn-in.
    pub fn new(journal: &Journal) -> Option<BurnIn> {
        let asked = journal.burnin.clone()?;
        let journal = &without_damage(journal);
        let worked = seconds_worked(journal, &asked);

        let mut cooling = None;
        let mut burst = None;
        let mut memory = None;
        let findings;
        let computes_right;
        match asked.kind {
            Burned::Cooling => {
                let found = Cooling::new(journal, &asked, worked);
                findings = found.verdict(journal);
                computes_right = found.wrong == 0;
                cooling = Some(found);
            }
            Burned::Burst => {
                let found = Cooling::new(journal, &asked, worked);
                burst = Burst::of_samples(&journal.samples, worked, asked.threads);
                findings = burst::verdict(burst.as_ref(), worked, found.wrong);
                computes_right = found.wrong == 0;
                cooling = Some(found);
            }
            Burned::Memory => {
                let found = Memory::new(journal, &asked);
                findings = found.verdict();
                computes_right = found.faults == 0 && found.errors.is_empty();
                memory = Some(found);
            }
        }

        let mut trials = journal.trials.iter();
        let failure = trials.find_map(|trial| trial.error.as_deref().or(trial.skip.as_deref()));
        let verdict = match failure {
            None => findings,
            Some(why) if journal.samples.len() < 2 => format!("Not done: {why}."),
            Some(why) => format!("It failed: {why}. Until then: {findings}"),
        };
        let cell = journal.cells.first();
        Some(BurnIn {
            test: cell.map(|cell| cell.key.test.clone()).unwrap_or_default(),
            label: cell.map(|cell| cell.label.clone()).unwrap_or_default(),
            sensors: sensors::sensors(&journal.samples, &asked, worked),
            cool_down: sensors::cool_down(&journal.samples, worked),
            asked,
            worked,
            verdict,
            good: computes_right && failure.is_none(),
            cooling,
            burst,
            memory,
            samples: journal.samples.clone(),
            faults: journal.faults.clone(),
            passes: journal.passes.clone(),
        })
    }

    /// True if it worked for any time at all.
    pub fn has_worked(&self) -> bool {
        self.samples.len() > 1
    }
}

/// The journal without values that cannot be.
fn without_damage(journal: &Journal) -> Journal {
    let is_time = |at: f64| (0.0..MAX_SECONDS).contains(&at);
    let mut journal = journal.clone();
    journal.samples.retain(|sample| is_time(sample.at));
    for sample in &mut journal.samples {
        sample.beats.retain(|beat| is_time(beat.at) && (0.0..MAX_GHZ).contains(&beat.clock));
        sample.sensors.temperature.retain(|_, celsius| celsius.abs() < MAX_CELSIUS);
        sample.sensors.power.retain(|_, watts| watts.abs() < MAX_WATTS);
    }
    journal.faults.retain(|fault| is_time(fault.at));
    journal
}

/// Seconds until the work ended: as planned, or earlier.
fn seconds_worked(journal: &Journal, asked: &journal::BurnIn) -> f64 {
    let first_of_rest = journal.samples.iter().find(|sample| sample.resting);
    let last_seen = match first_of_rest {
        Some(sample) => sample.at,
        None => journal.samples.last().map_or(0.0, |sample| sample.at),
    };
    asked.seconds.map_or(last_seen, |planned| planned.min(last_seen))
}

/// True if something at `at` seconds belongs to work that ended after `worked` seconds.
fn is_under_load(at: f64, worked: f64) -> bool {
    at <= worked + MAX_LATE_SECONDS
}

/// Faults or wrong results that the program counted itself: it may have found more than it had time
/// to report.
fn faults_counted(journal: &Journal) -> u64 {
    let copies = journal.trials.iter().flat_map(|trial| &trial.copies);
    let counts = copies.filter_map(|copy| copy.checks.get("faults"));
    // A count of faults fits into a u64.
    counts.map(|faults| *faults as u64).max().unwrap_or(0)
}
