//! The findings of a memory test.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cause::rise;
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
    /// Where it was in the pass that was not.
    pub unfinished: Option<Stage>,
    /// Bytes that were written and read, those of the unfinished pass too.
    pub moved: u64,
    /// Bytes per second, of passes.
    pub rate: Option<Estimate>,
    /// Faults, also those that were not told one by one.
    pub faults: u64,
    /// The faults that were told, by pattern.
    pub patterns: Vec<Pattern>,
    /// The errors that the memory controllers counted meanwhile.
    pub errors: Vec<Rise>,
    /// True if any of them counts.
    pub is_counted: bool,
}

/// The faults of one pattern.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// Its name.
    pub pattern: String,
    /// Faults.
    pub faults: usize,
    /// Different addresses.
    pub addresses: usize,
    /// The bits that were wrong in any of them.
    pub bits: Word,
    /// Faults that reading once more showed again.
    pub held: usize,
}

/// A counter that rose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rise {
    /// The memory controller, as the kernel numbers them.
    pub controller: String,
    /// True if the errors were corrected.
    pub corrected: bool,
    /// By how much it rose.
    pub count: u64,
}

impl Memory {
    pub(super) fn new(journal: &Journal, asked: &journal::BurnIn) -> Memory {
        let passes = &journal.passes;
        let rates: Vec<f64> = passes.iter().filter(|pass| pass.seconds > 0.0).map(Pass::rate).collect();
        let stage = journal.samples.iter().rev().find_map(|sample| sample.stage.clone());
        let finished = passes.last().map_or(0, |pass| pass.pass);
        let unfinished = stage.filter(|stage| stage.pass > finished && stage.done > 0);
        let told = journal.faults.len() as u64;
        let sampled = journal.samples.iter().map(|sample| sample.faults).max().unwrap_or(0);
        Memory {
            bytes: asked.bytes.unwrap_or(0),
            passes: finished,
            moved: passes
                .iter()
                .fold(unfinished.as_ref().map_or(0, |stage| stage.done), |sum, pass| sum.saturating_add(pass.bytes)),
            unfinished,
            rate: rate(&rates),
            faults: told
                .max(sampled)
                .max(super::counted(journal))
                .max(passes.iter().fold(0, |sum, pass| sum.saturating_add(pass.faults))),
            patterns: patterns(journal),
            errors: errors(&journal.samples),
            is_counted: journal.samples.iter().any(|sample| edac(&sample.sensors).next().is_some()),
        }
    }

    /// Returns what there is to say first.
    pub(super) fn verdict(&self) -> String {
        let passes = count(self.passes, "pass");
        let over = match &self.unfinished {
            Some(stage) if self.passes == 0 => format!("{:.0} % of the first pass", share(stage)),
            Some(stage) => format!("{passes} and {:.0} % of the next", share(stage)),
            None => passes,
        };
        let mut text = match self.faults {
            0 if self.passes == 0 && self.unfinished.is_none() => "Nothing has been tested yet.".to_owned(),
            0 => format!("No fault in {over}."),
            faults => {
                let faults = count(faults, "fault");
                format!("{faults} in {over}: do not trust this memory, or the path between it and the program.")
            }
        };
        for rise in &self.errors {
            let kind = if rise.corrected { "corrected" } else { "could not correct" };
            text += &format!(" Memory controller {} {kind} {}.", rise.controller, count(rise.count, "error"));
        }
        text
    }
}

/// The median pass, by order statistics where there are enough of them.
fn rate(rates: &[f64]) -> Option<Estimate> {
    let estimate = median_interval(rates);
    if estimate.bounded() {
        return Some(estimate);
    }
    (!rates.is_empty()).then(|| log_interval(estimate.value, rates))
}

fn share(stage: &Stage) -> f64 {
    stage.done as f64 / stage.total.max(1) as f64 * 100.0
}

/// The faults that were told, by pattern in order of appearance.
fn patterns(journal: &Journal) -> Vec<Pattern> {
    let pattern = |(pattern, faults): (&String, Vec<&Fault>)| Pattern {
        pattern: pattern.clone(),
        faults: faults.len(),
        addresses: faults.iter().map(|fault| fault.physical.unwrap_or(fault.address)).collect::<BTreeSet<Word>>().len(),
        bits: Word(faults.iter().fold(0, |bits, fault| bits | fault.difference().0)),
        held: faults.iter().filter(|fault| fault.is_held()).count(),
    };
    let faults = journal.faults.iter().map(|fault| (&fault.pattern, fault));
    faults.grouped().into_iter().map(pattern).collect()
}

/// The memory controllers' counters.
fn edac(reading: &Reading) -> impl Iterator<Item = &String> {
    reading.count.keys().filter(|name| SensorKind::from_name(name) == SensorKind::MemoryErrors)
}

/// The counters that rose.
fn errors(samples: &[Sample]) -> Vec<Rise> {
    let names: BTreeSet<&String> = samples.iter().flat_map(|sample| edac(&sample.sensors)).collect();
    let samples: Vec<&Sample> = samples.iter().collect();
    let risen = |name: &String| {
        let mut parts = name.split('.').skip(1);
        let (controller, kind) = (parts.next()?, parts.next()?);
        let count = rise(&samples, name).filter(|count| *count > 0)?;
        Some(Rise { controller: controller.to_owned(), corrected: kind == "ce", count })
    };
    names.into_iter().filter_map(risen).collect()
}
