//! Builds that are made while the run measures.
//!
//! All executions of one build share where its code landed. Once the builds that there are have
//! been executed so often that more executions hardly narrow the interval, more builds do. As many
//! are made at a time as half of those that there are, while the budget has room for them.

use anyhow::Result;

use super::{Bench, Event, Rounds};
use catalogue::Growth;
use conditions::Refusal;
use journal::{Ended, Record, Warning};
use plan::Cell;

/// The time of a build with its executions, in times of the build alone.
const TIME_WITH_EXECUTIONS: f64 = 2.0;

impl<B: Bench> Rounds<'_, B> {
    /// A cell of the plan, whose program executes the builds that there are.
    pub(super) fn cell_with_builds(&self, number: usize) -> Cell {
        let mut cell = self.plan.cells[number].clone();
        if let Some(growth) = cell.test.growth.clone() {
            cell.args.push(format!("units={}", growth.built + self.further_builds));
        }
        cell
    }

    /// How many more builds of each command of a cell there is time for.
    pub(super) fn affordable_builds(&self, number: usize) -> u32 {
        let Some(growth) = &self.plan.cells[number].test.growth else {
            return 0;
        };
        if self.has_failed_build || self.is_second_look {
            return 0;
        }
        let planned = u32::try_from(growth.further.len()).unwrap_or(u32::MAX);
        let left = planned.saturating_sub(self.further_builds);
        let wanted = ((growth.built + self.further_builds) / 2).max(1).min(left);
        let Some(budget) = self.plan.timed_budget() else {
            return wanted;
        };

        let seconds = budget.saturating_sub(self.bench.elapsed()).as_secs_f64();
        let fitting = seconds / (TIME_WITH_EXECUTIONS * growth.seconds).max(1e-3);
        wanted.min(fitting as u32)
    }

    /// Makes as many more builds of each command of a cell as the budget has room for.
    ///
    /// Returns false if a build failed: a warning says so, and the run makes no further ones. The
    /// inner error is the end of the run, if the user stopped it.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn build_more(&mut self, number: usize) -> Result<Result<bool, Ended>> {
        let Some(growth) = self.plan.cells[number].test.growth.clone() else {
            return Ok(Ok(false));
        };
        let more = self.affordable_builds(number);
        (self.watch)(Event::Building(more));
        for _ in 0..more {
            match self.build_next(&growth) {
                Ok(()) => self.further_builds += 1,
                Err(Refusal::Stopped) => return Ok(Err(Ended::Interrupted)),
                Err(refusal) => {
                    self.has_failed_build = true;
                    let text = format!(
                        "one more build failed, so the run ended with the builds that it had: {refusal}"
                    );
                    self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
                    return Ok(Ok(false));
                }
            }
        }
        Ok(Ok(true))
    }

    /// Makes the next build of each command. A step that was interrupted by a pause of the run is
    /// executed again.
    fn build_next(&mut self, growth: &Growth) -> Result<(), Refusal> {
        for step in &growth.further[self.further_builds as usize] {
            loop {
                match self.bench.build(step) {
                    Err(Refusal::Stopped) if self.bench.pause() => {}
                    Err(refusal) => return Err(refusal),
                    Ok(()) => break,
                }
            }
        }
        Ok(())
    }
}
