//! Counts what commands do when they are executed, after all executions that are timed.

use anyhow::Result;

use super::{Bench, Event, Rounds};
use journal::{Copy, Counts, Ended, Record};

/// Each command is executed so often to be counted; counts that differ are reported as a range.
const COUNTED_EXECUTIONS: usize = 3;

impl<B: Bench> Rounds<'_, B> {
    /// Counts the commands of every test, at its first cell. Returns the end of the run, if that is
    /// here.
    pub(super) fn count(&mut self) -> Result<Option<Ended>> {
        for number in self.measured_tests() {
            if self.plan.cells[number].test.counting.is_some()
                && let Some(end) = self.count_cell(number)?
            {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn count_cell(&mut self, number: usize) -> Result<Option<Ended>> {
        let cell = &self.plan.cells[number];
        (self.watch)(Event::Counting);
        let failure = "what the commands do could not be counted";
        for _ in 0..COUNTED_EXECUTIONS {
            let copies = match self.execute_untimed(cell, B::count, failure)? {
                Ok(Some(copies)) => copies,
                Ok(None) => return Ok(None),
                Err(end) => return Ok(Some(end)),
            };
            for (cell, copy) in self.plan.arms(number).into_iter().zip(copies) {
                self.writer.append(&Record::Counts(make_counts(cell, copy)))?;
            }
        }
        Ok(None)
    }
}

fn make_counts(cell: usize, copy: Copy) -> Counts {
    let counts =
        copy.values.into_iter().map(|(name, (count, _))| (name_call(name), count as u64)).collect();
    Counts { cell, counts, notes: copy.notes }
}

/// Replaces the number of a system call in the name of a count by the call's name.
fn name_call(count: String) -> String {
    let number = Counts::call(&count).and_then(|number| number.parse().ok());
    number.and_then(machine::call_name).map_or(count, Counts::of_call)
}
