//! An experiment whose arms are boots: its order, the outcome of each boot, and its file.
//!
//! Rounds have every arm once, in random order; a place in the order is a slot. A slot is booted
//! until it has a run or has had its tries ([`Experiment::next`]), and the last reboot is the way
//! back to the usual system.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::arm::{Arm, System};

/// The file of an experiment in its folder.
const FILE: &str = "experiment.json";

/// Boots that an arm gets in a round before the round goes on without it.
const MAX_TRIES: usize = 2;

/// Fewer rounds have no interval.
const MIN_ROUNDS: usize = 2;

/// So many rounds have an exact interval.
pub(super) const USUAL_ROUNDS: usize = 6;

/// The reboots that some rounds take, the way back included.
pub(super) fn count_reboots(rounds: usize, arms: &[Arm]) -> usize {
    rounds * arms.len() + 1
}

/// An experiment as it is written before each reboot and read after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Experiment {
    /// The command line that began it.
    pub(super) words: Vec<String>,
    /// The directory in which it was given.
    pub(super) directory: PathBuf,
    /// The name of a way to reboot, or a command.
    pub(super) way: String,
    /// The system as it boots by itself.
    pub(super) usual: System,
    /// The arms; the others are compared with the first.
    pub(super) arms: Vec<Arm>,
    /// The arm of each slot, round by round.
    order: Vec<usize>,
    /// Reboots at most, the one back included.
    most: usize,
    /// Reboots so far.
    boots: Vec<Boot>,
}

/// A reboot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Boot {
    /// The slot it is for; `None` on the way back to the usual system.
    slot: Option<usize>,
    /// The kernel's name for the boot in which it was asked for.
    from: String,
    /// The kernel's name for the boot in which measuring began.
    #[serde(default)]
    measured_in: Option<String>,
    /// `None` until the machine is up again and has been measured.
    outcome: Option<Outcome>,
}

/// The outcome of a reboot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// A run of this name; empty on the way back.
    Run(String),
    /// A sentence: it came up wrong, or nothing could be measured.
    Failed(String),
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Boot for this slot.
    Slot(usize),
    /// Boot the usual system.
    Back,
    /// Show the reports: no boot is left.
    Report,
}

impl Experiment {
    /// An experiment of as many rounds as `most` reboots allow, each in random order.
    ///
    /// # Errors
    /// They allow fewer than two rounds.
    pub(super) fn new(arms: Vec<Arm>, usual: System, most: usize, seed: u64) -> Result<Experiment> {
        let min = count_reboots(MIN_ROUNDS, &arms);
        if most < min {
            let (number, six) = (arms.len(), count_reboots(USUAL_ROUNDS, &arms));
            bail!(
                "--boots {most} is too few for {number} arms: try {min}, for two rounds and the way back, or {six}, for six"
            );
        }

        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut order = Vec::new();
        for _ in 0..(most - 1) / arms.len() {
            let mut round: Vec<usize> = (0..arms.len()).collect();
            round.shuffle(&mut random);
            order.extend(round);
        }
        Ok(Experiment {
            words: Vec::new(),
            directory: PathBuf::new(),
            way: String::new(),
            usual,
            arms,
            order,
            most,
            boots: Vec::new(),
        })
    }

    /// Reads the experiment of a folder.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub(super) fn load(folder: &Path) -> Result<Experiment> {
        let path = folder.join(FILE);
        let text = fs::read(&path).with_context(|| {
            format!("{} cannot be read; name the folder of an experiment", path.display())
        })?;
        let experiment: Experiment = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not an experiment of this tool", path.display()))?;
        ensure!(
            experiment.is_consistent(),
            "{} is not an experiment of this tool: it names arms or boots that it lacks",
            path.display()
        );
        Ok(experiment)
    }

    /// True if every arm and slot that a file names is there: somebody may have edited it.
    fn is_consistent(&self) -> bool {
        let (arms, slots) = (self.arms.len(), self.order.len());
        arms >= 2
            && self.order.iter().all(|arm| *arm < arms)
            && self.boots.iter().all(|boot| boot.slot.is_none_or(|slot| slot < slots))
            && self.boots.len() <= self.most
    }

    /// Writes the experiment into its folder; it is on the disk once this returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        files::write_whole(&path, &serde_json::to_vec_pretty(self)?).with_context(|| {
            format!("{} cannot be written, so nothing is rebooted; make room", path.display())
        })
    }

    /// The reboot that was asked for and is not yet judged, as it looks from the boot `now`.
    pub(super) fn pending(&self, now: &str) -> Option<Pending> {
        let boot = self.boots.last().filter(|boot| boot.outcome.is_none())?;
        let arm = boot.slot.map(|slot| self.order[slot]);
        if boot.from == now {
            return Some(Pending::NotDown(arm));
        }
        match &boot.measured_in {
            Some(measured_in) if measured_in != now => Some(Pending::BrokenOff),
            _ => Some(Pending::Booted(arm)),
        }
    }

    /// True if somebody measures the boot `now`, or has been killed while they did.
    pub(super) fn is_measured_in(&self, now: &str) -> bool {
        let boot = self.boots.last().filter(|boot| boot.outcome.is_none());
        boot.is_some_and(|boot| boot.measured_in.as_deref() == Some(now))
    }

    /// Notes that the pending boot is measured in the boot `now`.
    pub(super) fn begin(&mut self, now: &str) {
        if let Some(boot) = self.boots.last_mut() {
            boot.measured_in = Some(now.to_owned());
        }
    }

    /// Notes the outcome of the pending reboot.
    pub(super) fn judge(&mut self, outcome: Outcome) {
        if let Some(boot) = self.boots.last_mut() {
            boot.outcome = Some(outcome);
        }
    }

    /// The first slot that has neither a run nor had its tries, while there are reboots left for it
    /// and the way back; then the way back.
    pub(super) fn next(&self) -> Next {
        let is_back = self.boots.last().is_some_and(|boot| boot.slot.is_none());
        if is_back || self.boots.len() >= self.most {
            return Next::Report;
        }

        // A fault of every arm in the first round would be one of every round.
        let mut first_round = 0..self.arms.len();
        if first_round.all(|slot| !self.is_open(slot) && self.run(slot).is_none()) {
            return Next::Back;
        }

        match (0..self.order.len()).find(|slot| self.is_open(*slot)) {
            Some(slot) if self.boots.len() + 1 < self.most => Next::Slot(slot),
            _ => Next::Back,
        }
    }

    /// True if a slot has no run, and not had its tries.
    fn is_open(&self, slot: usize) -> bool {
        self.run(slot).is_none() && self.tries(slot) < MAX_TRIES
    }

    /// The reboots that are left at most; `None` if the experiment has ended.
    pub(super) fn left(&self) -> Option<usize> {
        let is_pending = self.boots.last().is_some_and(|boot| boot.outcome.is_none());
        let left = self.most - self.boots.len();
        (is_pending || self.next() != Next::Report).then_some(left)
    }

    /// Adds a reboot that is asked for in the boot `from`; returns its number, from 1.
    pub(super) fn add(&mut self, slot: Option<usize>, from: String) -> usize {
        self.boots.push(Boot { slot, from, measured_in: None, outcome: None });
        self.boots.len()
    }

    /// The arm of a slot.
    pub(super) fn arm(&self, slot: usize) -> &Arm {
        &self.arms[self.order[slot]]
    }

    /// The boots that are to be measured, without the way back.
    pub(super) fn planned_boots(&self) -> usize {
        self.order.len()
    }

    /// The reboots that are allowed beyond those planned and the way back.
    pub(super) fn spare_boots(&self) -> usize {
        self.most.saturating_sub(self.planned_boots() + 1)
    }

    /// The names of the arms in the order in which they are to be booted, round by round.
    pub(super) fn rounds(&self) -> Vec<Vec<&str>> {
        let names: Vec<&str> = self.order.iter().map(|arm| self.arms[*arm].name.as_str()).collect();
        names.chunks(self.arms.len()).map(<[&str]>::to_vec).collect()
    }

    /// The names of the runs of rounds in which both the first arm and another have one: A1 B1 A2
    /// B2 …
    pub(super) fn pairs(&self, other: usize) -> Vec<String> {
        let mut pairs = Vec::new();
        for round in 0..self.order.len() / self.arms.len() {
            if let (Some(first), Some(second)) =
                (self.run_in_round(round, 0), self.run_in_round(round, other))
            {
                pairs.extend([first.to_owned(), second.to_owned()]);
            }
        }
        pairs
    }

    /// The name of the run that an arm has in a round, if it has one.
    fn run_in_round(&self, round: usize, arm: usize) -> Option<&str> {
        let slots = round * self.arms.len()..(round + 1) * self.arms.len();
        slots.filter(|slot| self.order[*slot] == arm).find_map(|slot| self.run(slot))
    }

    /// A sentence for each reboot that failed.
    pub(super) fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for (number, boot) in (1..).zip(&self.boots) {
            if let Some(Outcome::Failed(why)) = &boot.outcome {
                let name = boot.slot.map_or("the way back", |slot| &self.arm(slot).name);
                failures.push(format!("boot {number} ({name}): {why}"));
            }
        }
        failures
    }

    /// The name of the run that a slot has, if it has one.
    fn run(&self, slot: usize) -> Option<&str> {
        let mut boots = self.boots.iter().filter(|boot| boot.slot == Some(slot));
        boots.find_map(|boot| match &boot.outcome {
            Some(Outcome::Run(name)) => Some(name.as_str()),
            _ => None,
        })
    }

    fn tries(&self, slot: usize) -> usize {
        self.boots.iter().filter(|boot| boot.slot == Some(slot)).count()
    }
}

/// A reboot that was asked for and is not yet judged. The way back has no arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// The machine has not gone down.
    NotDown(Option<usize>),
    /// The machine is up again, and can be measured.
    Booted(Option<usize>),
    /// The machine was restarted once more while it was measured.
    BrokenOff,
}

#[cfg(test)]
mod tests {
    use super::super::arm::parse_arms;
    use super::*;
    use rand::RngExt;

    fn experiment(most: usize) -> Result<Experiment> {
        Experiment::new(parse_arms("mitigations=off,auto").unwrap(), System::default(), most, 1)
    }

    #[test]
    fn rounds_hold_every_arm_once_and_leave_a_boot_for_the_way_back() {
        let order = experiment(12).unwrap().order;
        assert_eq!(order.len(), 10);
        assert!(order.chunks(2).all(|round| round.contains(&0) && round.contains(&1)), "{order:?}");
        let why = experiment(4).unwrap_err().to_string();
        assert_eq!(
            why,
            "--boots 4 is too few for 2 arms: try 5, for two rounds and the way back, or 13, for six"
        );
    }

    /// Boots every arm by chance well or not, and never more often than allowed.
    #[test]
    fn what_fails_is_tried_again_and_the_last_boot_is_the_way_back() {
        for seed in 0..500 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let most = random.random_range(5..20);
            let mut experiment = experiment(most).unwrap();
            for number in 0.. {
                let slot = match experiment.next() {
                    Next::Slot(slot) => Some(slot),
                    Next::Back => None,
                    Next::Report => break,
                };
                assert_eq!(experiment.add(slot, "before".to_owned()), number + 1);
                let arm = slot.map(|slot| experiment.order[slot]);
                assert_eq!(experiment.pending("before"), Some(Pending::NotDown(arm)));
                assert_eq!(experiment.pending("after"), Some(Pending::Booted(arm)));
                experiment.begin("after");
                assert_eq!(experiment.pending("after"), Some(Pending::Booted(arm)));
                assert_eq!(experiment.pending("later"), Some(Pending::BrokenOff));
                experiment.judge(match random.random() {
                    true => Outcome::Run(format!("{number}")),
                    false => Outcome::Failed("it came up wrong".to_owned()),
                });
                assert_eq!(experiment.pending("after"), None);
            }
            let boots = &experiment.boots;
            assert!(boots.len() <= most && boots.last().unwrap().slot.is_none());
            assert!((0..experiment.order.len()).all(|slot| experiment.tries(slot) <= MAX_TRIES));
            let failed = boots
                .iter()
                .filter(|boot| matches!(boot.outcome, Some(Outcome::Failed(_))))
                .count();
            assert_eq!(experiment.failures().len(), failed);
            assert!(experiment.pairs(1).len() <= experiment.order.len());
        }
    }

    #[test]
    fn only_whole_rounds_are_compared() {
        let mut experiment = experiment(7).unwrap();
        experiment.order = vec![0, 1, 1, 0, 0, 1];
        for (slot, name) in ["a", "b", "c", "", "d", "e"].into_iter().enumerate() {
            experiment.add(Some(slot), String::new());
            experiment.judge(match name {
                "" => Outcome::Failed("the kernel did not start".to_owned()),
                name => Outcome::Run(name.to_owned()),
            });
        }
        assert_eq!(experiment.pairs(1), ["a", "b", "d", "e"]);
        assert_eq!(experiment.failures(), ["boot 4 (mitigations=off): the kernel did not start"]);
    }

    #[test]
    fn its_file_says_the_same_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut experiment = experiment(5).unwrap();
        experiment.add(Some(0), "before".to_owned());
        experiment.save(folder.path()).unwrap();
        assert_eq!(Experiment::load(folder.path()).unwrap(), experiment);
        assert_eq!(experiment.left(), Some(4));
        experiment.order[0] = 7;
        experiment.save(folder.path()).unwrap();
        assert!(
            Experiment::load(folder.path()).unwrap_err().to_string().ends_with("that it lacks")
        );
    }
}
