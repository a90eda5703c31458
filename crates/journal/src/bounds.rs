//! The most that a journal may have. It may be a stranger's: what is read of it, and what a report then takes, is
//! bounded. Every bound is far beyond what can be measured in a day.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Error, Result, ensure};

use super::{Journal, Printed, Record, Trial, numbers};

/// Bytes of a journal that comes from elsewhere, and of a line of any. A day on a machine with a hundred processors has
/// fewer.
pub const MOST_BYTES: u64 = 64 << 20;

/// Cells that a journal may have; a plan with more is refused before anything is measured.
const MOST_CELLS: usize = 10_000;

/// Different numbers of copies among them.
const MOST_LEVELS: usize = 1000;

/// Figures of different names that commands may print.
pub const MOST_PRINTED: usize = 1000;

const PRINTED: &str = "printed figures of different names";
const CELLS: &str = "cells";
const LEVELS: &str = "different numbers of copies";

/// Trials, and what a trial has some of.
const MOST_TRIALS: usize = 10_000_000;

/// Notes and histograms: each copy of a trial may have several.
const MOST_OF_COPIES: usize = 1_000_000;

/// The part of a journal that has been read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By what they are.
    counts: BTreeMap<&'static str, usize>,
    levels: BTreeSet<u32>,
    names: BTreeSet<String>,
}

impl Tally {
    /// Counts what a line has.
    ///
    /// # Errors
    /// It is more than a journal may have, or than can be measured; the message names the bound.
    pub fn add(&mut self, record: &Record) -> Result<()> {
        numbers::check(record)?;
        match record {
            Record::Fact(_) => self.count(1, "facts", 10_000),
            Record::Cell(cell) => {
                self.levels.insert(cell.key.copies);
                check(self.levels.len(), MOST_LEVELS, LEVELS)?;
                self.count(1, CELLS, MOST_CELLS)
            }
            Record::Trial(trial) => self.add_trial(trial),
            Record::Counts(counts) => self.count(counts.counts.len() + counts.notes.len(), "counts", 1_000_000),
            Record::Sample(_) => self.count(1, "samples", MOST_TRIALS),
            Record::Fault(_) => self.count(1, "faults", 10_000),
            Record::Pass(_) => self.count(1, "passes", 1_000_000),
            Record::Warning(_) => self.count(1, "warnings", 100_000),
            Record::Run(_) | Record::BurnIn(_) | Record::End(_) => Ok(()),
        }
    }

    fn add_trial(&mut self, trial: &Trial) -> Result<()> {
        self.count(1, "trials", MOST_TRIALS)?;
        let load = trial.background.iter().map(|background| &background.copy);
        for copy in trial.copies.iter().chain(load) {
            self.count(1, "copies", MOST_TRIALS)?;
            self.count(copy.executions.len(), "executions", MOST_TRIALS)?;
            self.add_printed(&copy.printed)?;
            self.count(copy.notes.len(), "notes of programs", MOST_OF_COPIES)?;
            for histogram in copy.histograms() {
                // Looked at only now, since that takes a thousand times its length for a moment.
                self.count(1, "histograms", MOST_OF_COPIES)?;
                histogram.check().map_err(Error::msg)?;
            }
        }
        Ok(())
    }

    /// Each figure becomes a cell, and each of its trials a trial.
    fn add_printed(&mut self, printed: &[Printed]) -> Result<()> {
        for one in printed {
            self.count(1, "trials", MOST_TRIALS)?;
            self.count(one.rounds.len(), "printed figures", MOST_TRIALS)?;
            if !self.names.contains(&one.name) {
                self.names.insert(one.name.clone());
                check(self.names.len(), MOST_PRINTED, PRINTED)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, number: usize, what: &'static str, most: usize) -> Result<()> {
        let count = self.counts.entry(what).or_default();
        *count += number;
        check(*count, most, what)
    }
}

impl Journal {
    /// Checks that it can be read once it is written.
    ///
    /// # Errors
    /// It has more of something than a journal may have.
    pub fn check(&self) -> Result<()> {
        let mut tally = Tally::default();
        self.records().iter().try_for_each(|record| tally.add(record))
    }
}

/// Checks that a journal may have cells with these numbers of copies.
///
/// # Errors
/// There are too many, or too many different ones.
pub fn check_cells(copies: impl ExactSizeIterator<Item = u32>) -> Result<()> {
    check(copies.len(), MOST_CELLS, CELLS)?;
    check(copies.collect::<BTreeSet<u32>>().len(), MOST_LEVELS, LEVELS)
}

fn check(count: usize, most: usize, what: &str) -> Result<()> {
    ensure!(count <= most, "it has more than {most} {what}, the most that a journal may have");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Copy, Fact, Key, Warning};

    fn first_refused(record: impl Fn(u32) -> Record) -> (usize, String) {
        let mut tally = Tally::default();
        let refused = |number| Some((number as usize, tally.add(&record(number)).err()?.to_string()));
        (0..).find_map(refused).unwrap()
    }

    #[test]
    fn what_is_beyond_a_bound_is_refused_by_its_name() {
        let fact = |number: u32| {
            Record::Fact(Fact::from_text(number.to_string(), String::new(), String::new(), String::new()))
        };
        let (number, why) = first_refused(fact);
        assert_eq!((number, &*why), (10_000, "it has more than 10000 facts, the most that a journal may have"));
        let cell = |copies| Record::Cell(Box::new(Cell { key: Key::plain("pipe", copies), ..Cell::default() }));
        assert_eq!(first_refused(|_| cell(1)).0, 10_000);
        let (number, why) = first_refused(cell);
        assert!(number == 1000 && why.contains("different numbers of copies"), "{why}");
        let warning = |_| Record::Warning(Warning { cell: None, text: String::new() });
        assert!(first_refused(warning).1.contains("100000 warnings"));
        let noted = Copy { notes: vec![String::new(); 600_000], ..Copy::default() };
        let printed = |number: u32| {
            let (name, unit, rounds) = (number.to_string(), String::new(), Vec::new());
            let printed = vec![Printed { name, unit, metric: catalogue::Metric::Time, rounds }];
            let copies = vec![Copy { printed, ..Copy::default() }];
            Record::Trial(Box::new(Trial { copies, ..Trial::default() }))
        };
        let (number, why) = first_refused(printed);
        assert!(number == MOST_PRINTED && why.contains("printed figures of different names"), "{why}");
        let trial = |_| Record::Trial(Box::new(Trial { copies: vec![noted.clone()], ..Trial::default() }));
        let (number, why) = first_refused(trial);
        assert!(number == 1 && why.contains("1000000 notes of programs"), "{why}");
    }

    #[test]
    fn numbers_that_nothing_measured_are_refused() {
        let late = |block, end| {
            let copy = Copy { slices: vec![[0, end, u64::MAX].into()], ..Copy::default() };
            Record::Trial(Box::new(Trial { block, copies: vec![copy], ..Trial::default() }))
        };
        let refused = |record| Tally::default().add(&record).err().map(|error| error.to_string());
        assert_eq!(refused(late(10_000_000, 1 << 56)), None);
        assert!(refused(late(u32::MAX, 1)).unwrap().contains("4294967295 blocks are more than can be measured"));
        assert!(refused(late(0, u64::MAX)).unwrap().contains("18446744073709551615 ns"));
    }
}
