//! Executions of commands that are counted, after those that are timed.

use anyhow::Result;

use super::{Bench, Event, Rounds, refused};
use conditions::Refusal;
use journal::{Copy, Counts, Ended, Record, Warning};

/// Executions that are counted of each command: a count that differs between them is a range.
const EXECUTIONS: usize = 3;

impl<B: Bench> Rounds<'_, B> {
    /// Counts what commands do, each test's at its first cell. Returns how the run ends, if that ends it.
    pub(super) fn count(&mut self) -> Result<Option<Ended>> {
        let cells = &self.plan.cells;
        let is_first =
            |number: &usize| cells.iter().position(|cell| cell.test.id == cells[*number].test.id) == Some(*number);
        let has_run = |number: &usize| self.trials[*number].iter().any(|trial| !trial.copies.is_empty());
        let wanted = (0..cells.len()).filter(|number| cells[*number].test.counting.is_some() && is_first(number));
        for number in wanted.filter(has_run).collect::<Vec<usize>>() {
            if let Some(end) = self.count_cell(number)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn count_cell(&mut self, number: usize) -> Result<Option<Ended>> {
        let cell = &self.plan.cells[number];
        (self.watch)(Event::Counting { cell });
        let mut counted = 0;
        while counted < EXECUTIONS {
            match self.bench.count(cell) {
                Ok(copies) => {
                    for (cell, copy) in self.plan.arms(number).into_iter().zip(copies) {
                        self.writer.append(&Record::Counts(counts(cell, copy)))?;
                    }
                }
                Err(Refusal::Stopped) if self.bench.pause() => continue,
                Err(Refusal::Stopped) => return Ok(Some(Ended::Interrupted)),
                Err(why) => {
                    let trial = refused(why);
                    let why = trial.error.or(trial.skip).unwrap_or_default();
                    let text = format!("what {} does could not be counted: {why}", cell.test.label);
                    self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
                    return Ok(None);
                }
            }
            counted += 1;
        }
        Ok(None)
    }
}

/// Returns the counts of a copy, with system calls by their names.
fn counts(cell: usize, copy: Copy) -> Counts {
    let named = |name: String| {
        let number = Counts::call(&name).and_then(|number| number.parse().ok());
        number.and_then(machine::call_name).map_or(name, Counts::of_call)
    };
    let counts = copy.values.into_iter().map(|(name, (count, _))| (named(name), count as u64));
    Counts { cell, counts: counts.collect(), notes: copy.notes }
}
