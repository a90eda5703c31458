//! How much a journal may have at most. It may be a stranger's: with these bounds the memory and
//! the time that reading it and reporting it take are bounded too. Every bound is far beyond what
//! can be measured in a day.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Error, Result, anyhow, ensure};

use super::{Journal, Printed, Profile, Record, Trial, numbers};

/// For a journal that comes from elsewhere, and for a line of any. A day on a machine with a
/// hundred processors has fewer.
pub const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// A plan with more cells is refused before anything is measured.
const MAX_CELLS: usize = 10_000;

/// Different numbers of copies among the cells.
const MAX_LEVELS: usize = 1000;

/// Figures of different names that commands may print.
pub const MAX_PRINTED_FIGURES: usize = 1000;

/// For the name and the unit of a printed figure, and for the name of a function. Reports repeat
/// names.
pub const MAX_NAME_BYTES: usize = 4096;

/// For the label, the test and the unit of a cell, which may be a whole command.
const MAX_LABEL_BYTES: usize = 128 << 10;

/// Words by which messages call what there is too much of.
const PRINTED: &str = "printed figures of different names";
const CELLS: &str = "cells";
const LEVELS: &str = "different numbers of copies";

/// Trials, and what each trial may have one or few of.
const MAX_TRIALS: usize = 10_000_000;

/// Notes and histograms: each copy of a trial may have several.
const MAX_COPY_DETAILS: usize = 1_000_000;

/// What has been read of a journal so far, counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Counts by the words of messages.
    counts: BTreeMap<&'static str, usize>,
    levels: BTreeSet<u32>,
    printed_names: BTreeSet<String>,
}

impl Tally {
    /// Counts what a line has.
    ///
    /// # Errors
    /// The line has more than a journal may have, or than can be measured; the message names the
    /// bound.
    pub fn add(&mut self, record: &Record) -> Result<()> {
        numbers::check(record)?;
        match record {
            Record::Fact(_) => self.count(1, "facts", 10_000),
            Record::Cell(cell) => {
                let longest = cell.label.len().max(cell.key.test.len()).max(cell.unit.len());
                check_count(longest, MAX_LABEL_BYTES, "bytes in the name of a cell")?;
                self.levels.insert(cell.key.copies);
                check_count(self.levels.len(), MAX_LEVELS, LEVELS)?;
                self.count(1, CELLS, MAX_CELLS)
            }
            Record::Trial(trial) => self.add_trial(trial),
            Record::Counts(counts) => {
                self.count(counts.counts.len() + counts.notes.len(), "counts", 1_000_000)
            }
            Record::Profile(profile) => self.add_profile(profile),
            Record::Sample(_) => self.count(1, "samples", MAX_TRIALS),
            Record::Fault(_) => self.count(1, "faults", 10_000),
            Record::Pass(_) => self.count(1, "passes", 1_000_000),
            Record::Warning(_) => self.count(1, "warnings", 100_000),
            Record::Run(_) | Record::BurnIn(_) | Record::End(_) => Ok(()),
        }
    }

    fn add_trial(&mut self, trial: &Trial) -> Result<()> {
        self.count(1, "trials", MAX_TRIALS)?;
        let load = trial.background.iter().map(|background| &background.copy);
        for copy in trial.copies.iter().chain(load) {
            self.count(1, "copies", MAX_TRIALS)?;
            self.count(copy.executions.len(), "executions", MAX_TRIALS)?;
            self.count(copy.units.len(), "rounds with units", MAX_TRIALS)?;
            self.add_printed(&copy.printed)?;
            self.count(copy.notes.len(), "notes of programs", MAX_COPY_DETAILS)?;
            for histogram in copy.histograms() {
                // Looked at only now, since that takes a thousand times its length for a moment.
                self.count(1, "histograms", MAX_COPY_DETAILS)?;
                histogram.check().map_err(Error::msg)?;
            }
        }
        Ok(())
    }

    fn add_profile(&mut self, profile: &Profile) -> Result<()> {
        self.count(profile.executions.len(), "sampled executions", 1_000_000)?;
        self.count(profile.functions.len(), "sampled functions", 1_000_000)?;
        self.count(profile.stacks.len(), "stacks", 1_000_000)?;
        self.count(profile.notes.len(), "notes of profiles", 100_000)?;
        for function in &profile.functions {
            self.count(function.ns.len(), "times of functions", MAX_TRIALS)?;
            self.count(function.instructions.len(), "instructions of functions", MAX_TRIALS)?;
        }
        for stack in &profile.stacks {
            self.count(stack.frames.len(), "frames of stacks", MAX_TRIALS)?;
        }

        let functions = profile.functions.iter().map(|function| &function.name);
        for name in functions.chain(&profile.frames) {
            check_count(name.len(), MAX_NAME_BYTES, "bytes in the name of a function")?;
        }
        Ok(())
    }

    /// Counts figures: reports make a cell of each, and a trial of each of its trials.
    fn add_printed(&mut self, figures: &[Printed]) -> Result<()> {
        for figure in figures {
            self.count(1, "trials", MAX_TRIALS)?;
            self.count(figure.rounds.len() + figure.gaps.len(), "printed figures", MAX_TRIALS)?;

            let longest = figure.name.len().max(figure.unit.len());
            check_count(longest, MAX_NAME_BYTES, "bytes in the name of a printed figure")?;

            if !self.printed_names.contains(&figure.name) {
                self.printed_names.insert(figure.name.clone());
                check_count(self.printed_names.len(), MAX_PRINTED_FIGURES, PRINTED).map_err(
                    |why| {
                        anyhow!("{why}: does a number in their names change, as a process's does?")
                    },
                )?;
            }
        }

        Ok(())
    }

    /// Adds a number to the count of `what`, which must not exceed `max`.
    fn count(&mut self, number: usize, what: &'static str, max: usize) -> Result<()> {
        let count = self.counts.entry(what).or_default();
        *count += number;
        check_count(*count, max, what)
    }
}

impl Journal {
    /// Checks that the journal can be read once it is written.
    ///
    /// # Errors
    /// The journal has more of something than it may have.
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
    check_count(copies.len(), MAX_CELLS, CELLS)?;
    check_count(copies.collect::<BTreeSet<u32>>().len(), MAX_LEVELS, LEVELS)
}

/// Checks that a line of so many bytes, its newline among them, can be read.
///
/// # Errors
/// The line is too long.
pub(super) fn check_line(bytes: usize) -> Result<()> {
    ensure!(
        bytes as u64 <= MAX_JOURNAL_BYTES,
        "one line has more than {}, the most that a journal may have in one",
        words::bytes(MAX_JOURNAL_BYTES)
    );
    Ok(())
}

fn check_count(count: usize, max: usize, what: &str) -> Result<()> {
    ensure!(count <= max, "it has more than {max} {what}, the most that a journal may have");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Copy, Fact, Key, Warning};

    fn first_refused(record: impl Fn(u32) -> Record) -> (usize, String) {
        let mut tally = Tally::default();
        let refused =
            |number| Some((number as usize, tally.add(&record(number)).err()?.to_string()));
        (0..).find_map(refused).unwrap()
    }

    #[test]
    fn what_is_beyond_a_bound_is_refused_by_its_name() {
        let fact = |number: u32| {
            Record::Fact(Fact::from_text(
                number.to_string(),
                String::new(),
                String::new(),
                String::new(),
            ))
        };
        let (number, why) = first_refused(fact);
        assert_eq!(
            (number, &*why),
            (10_000, "it has more than 10000 facts, the most that a journal may have")
        );
        let cell = |copies| {
            Record::Cell(Box::new(Cell { key: Key::plain("pipe", copies), ..Cell::default() }))
        };
        assert_eq!(first_refused(|_| cell(1)).0, 10_000);
        let (number, why) = first_refused(cell);
        assert!(number == 1000 && why.contains("different numbers of copies"), "{why}");
        let warning = |_| Record::Warning(Warning { cell: None, text: String::new() });
        assert!(first_refused(warning).1.contains("100000 warnings"));
        let noted = Copy { notes: vec![String::new(); 600_000], ..Copy::default() };
        let printed = |number: u32| {
            let printed = vec![Printed { name: number.to_string(), ..Printed::default() }];
            let copies = vec![Copy { printed, ..Copy::default() }];
            Record::Trial(Box::new(Trial { copies, ..Trial::default() }))
        };
        let (number, why) = first_refused(printed);
        assert!(
            number == MAX_PRINTED_FIGURES && why.contains("printed figures of different names"),
            "{why}"
        );
        let long = Printed { name: "x".repeat(MAX_NAME_BYTES + 1), ..Printed::default() };
        let copies = vec![Copy { printed: vec![long], ..Copy::default() }];
        let trial = Trial { copies, ..Trial::default() };
        let (number, why) = first_refused(|_| Record::Trial(Box::new(trial.clone())));
        assert_eq!(number, 0);
        assert!(why.contains("4096 bytes in the name of a printed figure"), "{why}");
        let trial =
            |_| Record::Trial(Box::new(Trial { copies: vec![noted.clone()], ..Trial::default() }));
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
        assert!(
            refused(late(u32::MAX, 1))
                .unwrap()
                .contains("4294967295 blocks are more than can be measured")
        );
        assert!(refused(late(0, u64::MAX)).unwrap().contains("18446744073709551615 ns"));
    }
}
