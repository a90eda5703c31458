//! Samples where commands spend their time, after all executions that are timed.

use std::time::Duration;

use anyhow::Result;

use super::{Bench, Event, Rounds};
use journal::{Ended, Profile, Record};
use plan::Cell;

impl<B: Bench> Rounds<'_, B> {
    /// Samples the commands of every test, at its first cell. Returns the end of the run, if that
    /// is here.
    pub(super) fn sample(&mut self) -> Result<Option<Ended>> {
        let mut cells = self.measured_tests();
        cells.retain(|number| self.plan.cells[*number].test.sampling.is_some());
        for (done, number) in cells.iter().enumerate() {
            let time = self.plan.sampling_time(self.bench.elapsed(), cells.len() - done);
            if let Some(end) = self.sample_cell(*number, time)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn sample_cell(&mut self, number: usize, time: Duration) -> Result<Option<Ended>> {
        let cell = &self.plan.cells[number];
        (self.watch)(Event::Sampling);
        let failure = "where the commands spend their time is not known";
        let sample = |bench: &mut B, cell: &Cell| bench.sample(cell, time);
        let profiles = match self.execute_untimed(cell, sample, failure)? {
            Ok(profiles) => profiles.unwrap_or_default(),
            Err(end) => return Ok(Some(end)),
        };
        for (cell, profile) in self.plan.arms(number).into_iter().zip(profiles) {
            let profile = Box::new(Profile { cell, ..profile });
            self.writer.append(&Record::Profile(profile))?;
        }
        Ok(None)
    }
}
