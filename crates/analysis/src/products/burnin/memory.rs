//! What a memory test found: faults, and the errors that memory controllers counted meanwhile.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cause::counter_rise;
use super::faults_counted;
use journal::{self, Fault, Journal, Pass, Reading, Sample, SensorKind, Stage, Word};
use stats::{Estimate, log_interval, median_interval};
use words::{Grouped, count};

/// The findings of a memory test.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes that were to be tested.
    pub bytes: u64,
    /// Passes that were finished.
    pub passes: u64,
    /// How far the unfinished pass came.
    pub unfinished: Option<Stage>,
    /// Bytes that were written and read, with those of the unfinished pass.
    pub moved: u64,
    /// Bytes per second, by passes.
    pub rate: Option<Estimate>,
    /// The number of faults, with those that were not reported one by one.
    pub faults: u64,
    /// The faults that were reported one by one, by pattern.
    pub patterns: Vec<Pattern>,
    /// The errors that the memory controllers counted during the test.
    pub errors: Vec<Rise>,
    /// True if any memory controller counts errors.
    pub is_counted: bool,
}

/// The faults of one pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// The name of the pattern.
    pub pattern: String,
    /// The number of faults.
    pub faults: usize,
    /// The number of different addresses.
    pub addresses: usize,
    /// The bits that were wrong in any fault.
    pub bits: Word,
    /// The number of faults that reading once more showed again.
    pub held: usize,
}

/// A counter of errors that rose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rise {
    /// The memory controller, as the kernel numbers them.
    pub controller: String,
    /// True if the errors were corrected.
    pub corrected: bool,
    /// The number of errors.
    pub count: u64,
}

impl Memory {
    pub(super) fn new(journal: &Journal, asked: &journal::BurnIn) -> Memory {
        let Journal { passes, samples, .. } = journal;
        let finished = passes.last().map_or(0, |pass| pass.pass);
        let last_stage = samples.iter().rev().find_map(|sample| sample.stage.clone());
        let unfinished = last_stage.filter(|stage| stage.pass > finished && stage.done > 0);

        let moved_unfinished = unfinished.as_ref().map_or(0, |stage| stage.done);
        let moved =
            passes.iter().fold(moved_unfinished, |sum, pass| sum.saturating_add(pass.bytes));
        let timed = passes.iter().filter(|pass| pass.seconds > 0.0);
        let rates: Vec<f64> = timed.map(Pass::rate).collect();
        Memory {
            bytes: asked.bytes.unwrap_or(0),
            passes: finished,
            unfinished,
            moved,
            rate: typical_rate(&rates),
            faults: count_faults(journal),
            patterns: patterns(&journal.faults),
            errors: counted_errors(samples),
            is_counted: samples
                .iter()
                .any(|sample| error_counters(&sample.sensors).next().is_some()),
        }
    }

    /// What was found, in sentences: the faults, then the errors that memory controllers counted.
    pub(super) fn verdict(&self) -> String {
        let mut text = self.describe_faults();
        for rise in &self.errors {
            let outcome = if rise.corrected { "corrected" } else { "could not correct" };
            let errors = count(rise.count, "error");
            text += &format!(" Memory controller {} {outcome} {errors}.", rise.controller);
        }
        text
    }

    fn describe_faults(&self) -> String {
        let passes = count(self.passes, "pass");
        let tested = match &self.unfinished {
            Some(stage) if self.passes == 0 => format!("{:.0} % of the first pass", percent(stage)),
            Some(stage) => format!("{passes} and {:.0} % of the next", percent(stage)),
            None => passes,
        };
        if self.faults > 0 {
            let faults = count(self.faults, "fault");
            return format!(
                "{faults} in {tested}: do not trust this memory, or the path between it and the \
                 program."
            );
        }
        if self.passes == 0 && self.unfinished.is_none() {
            return "Nothing has been tested yet.".to_owned();
        }
        format!("No fault in {tested}.")
    }
}

/// The number of faults by the source that counts the most: not all are reported one by one.
fn count_faults(journal: &Journal) -> u64 {
    let reported = journal.faults.len() as u64;
    let sampled = journal.samples.iter().map(|sample| sample.faults).max().unwrap_or(0);
    let of_passes = journal.passes.iter().fold(0, |sum: u64, pass| sum.saturating_add(pass.faults));
    reported.max(sampled).max(faults_counted(journal)).max(of_passes)
}

/// The rate of the median pass, with its interval: by order statistics where there are enough
/// passes.
fn typical_rate(rates: &[f64]) -> Option<Estimate> {
    let estimate = median_interval(rates);
    if estimate.bounded() {
        return Some(estimate);
    }
    (!rates.is_empty()).then(|| log_interval(estimate.value, rates))
}

/// How much of a pass is done, in per cent.
fn percent(stage: &Stage) -> f64 {
    stage.done as f64 / stage.total.max(1) as f64 * 100.0
}

/// The faults by pattern, in order of appearance.
fn patterns(faults: &[Fault]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for (pattern, faults) in faults.iter().map(|fault| (&fault.pattern, fault)).grouped() {
        let addresses: BTreeSet<Word> =
            faults.iter().map(|fault| fault.physical.unwrap_or(fault.address)).collect();
        patterns.push(Pattern {
            pattern: pattern.clone(),
            faults: faults.len(),
            addresses: addresses.len(),
            bits: Word(faults.iter().fold(0, |bits, fault| bits | fault.difference().0)),
            held: faults.iter().filter(|fault| fault.is_held()).count(),
        });
    }
    patterns
}

/// The names of the memory controllers' counters.
fn error_counters(reading: &Reading) -> impl Iterator<Item = &String> {
    reading.count.keys().filter(|name| SensorKind::from_name(name) == SensorKind::MemoryErrors)
}

/// The memory controllers' counters that rose. Their names are `edac.CONTROLLER.KIND`, where the
/// kind of corrected errors is `ce`.
fn counted_errors(samples: &[Sample]) -> Vec<Rise> {
    let names: BTreeSet<&String> =
        samples.iter().flat_map(|sample| error_counters(&sample.sensors)).collect();
    let samples: Vec<&Sample> = samples.iter().collect();

    let mut rises = Vec::new();
    for name in names {
        let mut parts = name.split('.').skip(1);
        let (Some(controller), Some(kind)) = (parts.next(), parts.next()) else { continue };
        if let Some(count) = counter_rise(&samples, name).filter(|count| *count > 0) {
            rises.push(Rise { controller: controller.to_owned(), corrected: kind == "ce", count });
        }
    }
    rises
}
