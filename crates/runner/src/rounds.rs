//! The order of a run: which cell is measured next, which no more, and when the run is over.
//!
//! 1. Scores that arguments name are measured once ([`Rounds::measure_named`]).
//! 2. The plan's rounds ([`Rounds::measure_rounds`]): a round measures every open cell once. A cell
//!    is closed when it cannot run or keeps failing, or when its family (the cells that differ by
//!    condition only) is precise enough. Between rounds the budget is checked. Where more builds
//!    narrow an interval and more executions do not, they are made then (`growth`).
//! 3. A second look: cells that the policy suspects are measured again, in blocks of their own.
//! 4. Commands are counted (`counts`), and sampled (`profiles`).
//!
//! Rounds know no processes and no clock. Both are the [`Bench`]'s, so the tests of this module run
//! in no time.

mod counts;
mod growth;
mod profiles;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::{Event, Measured, Policy, Slow, journal_cell};
use catalogue::{BuildStep, Metric, Test};
use conditions::Refusal;
use journal::{Copy, Ended, Fact, Profile, Quantity, Record, Trial, Warning, Writer};
use plan::{Cell, Plan, Round, SAMPLING_TIME};

/// A cell that failed this often in a row is measured no more. A command is closed at its first
/// failure: it is the user's, who has to mend it.
const MAX_FAILURES: u32 = 2;

/// A trial whose copies share too little of the window is tried this often.
const MAX_LATE_TRIES: usize = 3;

/// A copy may begin late by this share of the window.
const MAX_LATE_SHARE: f64 = 0.05;

/// The last words of a bench.
#[derive(Debug, Default)]
pub struct Closing {
    /// Remarks for whoever reads the run.
    pub remarks: Vec<String>,
    /// Why the run is no success after all.
    pub failures: Vec<String>,
    /// True if a signal ended --cleanup, or came before it.
    pub is_cut_short: bool,
}

/// Measures trials and knows the time. The real bench spawns programs; the one of the tests has a
/// clock of its own.
pub trait Bench {
    /// Facts that are found while nothing runs yet.
    fn begin(&mut self) -> Vec<Fact> {
        Vec::new()
    }

    /// Ends what the bench keeps running. `tell` hears of a --cleanup that takes long.
    fn end(&mut self, _tell: &mut dyn FnMut(&Slow)) -> Closing {
        Closing::default()
    }

    /// Measures one trial of a cell. The caller fills in number, block and time. `tell` hears, now
    /// and then, of a command that takes longer than planned.
    ///
    /// # Errors
    /// The changes of the cell's condition could not be undone: the run must not go on.
    fn measure(
        &mut self,
        cell: &Cell,
        tell: &mut dyn FnMut(&Slow),
    ) -> Result<Result<Trial, Refusal>>;

    /// Counts what the commands of a cell and of its other arms do when they are executed: a copy
    /// for each.
    ///
    /// # Errors
    /// Nothing can be counted here, a command failed, or the user wants to stop.
    fn count(&mut self, _cell: &Cell) -> Result<Vec<Copy>, Refusal> {
        Ok(Vec::new())
    }

    /// Samples for `time` where the commands of a cell and of its other arms spend theirs: a
    /// profile for each. The caller fills in their cells.
    ///
    /// # Errors
    /// As [`Bench::count`].
    fn sample(&mut self, _cell: &Cell, _time: Duration) -> Result<Vec<Profile>, Refusal> {
        Ok(Vec::new())
    }

    /// Executes a command that makes a build.
    ///
    /// # Errors
    /// It failed, or the user wants to stop.
    fn build(&mut self, _step: &BuildStep) -> Result<(), Refusal> {
        Ok(())
    }

    /// Measures the score of a test that arguments name as `{ID}`, and fills it in from now on.
    /// After a failure each program measures its own.
    fn measure_named(&mut self, test: &Test) -> Result<f64, Refusal>;

    /// The command line of a cell's program.
    fn command_line(&self, cell: &Cell) -> String;

    /// Rests as UnixBench does before a pass. False if a signal stops the run.
    fn rest(&mut self) -> bool;

    /// Sleeps until this long after the run began. False if a signal stops the run.
    fn sleep_until(&mut self, due: Duration) -> bool;

    /// The time since the run began, without pauses.
    fn elapsed(&self) -> Duration;

    /// The signal that asked the run to stop, if one did.
    fn signal(&self) -> Option<i32>;

    /// Pauses the run if the user has asked for that. True once it goes on.
    fn pause(&mut self) -> bool;
}

/// The trial of a cell that could not be measured.
pub(super) fn failed_trial(refusal: Refusal) -> Trial {
    match refusal {
        Refusal::Unavailable(reason) => Trial { skip: Some(reason), ..Trial::default() },
        refusal => Trial { error: Some(refusal.to_string()), ..Trial::default() },
    }
}

/// A run in progress.
pub(super) struct Rounds<'a, B> {
    pub plan: &'a Plan,
    pub policy: Policy<'a>,
    pub bench: B,
    pub writer: &'a mut Writer,
    pub watch: &'a mut dyn FnMut(Event<'_>),
    cells: Vec<journal::Cell>,
    trials: Vec<Vec<Trial>>,
    /// Cells that are measured no more.
    closed: BTreeSet<usize>,
    /// The failures in a row of each cell.
    failures: Vec<u32>,
    /// Cells whose copies begin late however often a trial is repeated: there are more copies than
    /// processors, say.
    late_cells: BTreeSet<usize>,
    /// True while suspects are measured again.
    is_second_look: bool,
    /// The builds of each command that were made since the run began.
    further_builds: u32,
    /// True if a build could not be made.
    has_failed_build: bool,
}

/// The progress of a run, if every open cell is measured as often as the plan allows.
struct Progress {
    left: Duration,
    /// From 0 to 1.
    share_done: f64,
}

impl<'a, B: Bench> Rounds<'a, B> {
    pub fn new(
        plan: &'a Plan,
        policy: Policy<'a>,
        bench: B,
        writer: &'a mut Writer,
        watch: &'a mut dyn FnMut(Event<'_>),
    ) -> Rounds<'a, B> {
        let cells: Vec<journal::Cell> = plan
            .cells
            .iter()
            .enumerate()
            .map(|(number, cell)| journal_cell(number, cell))
            .collect();
        let count = cells.len();
        Rounds {
            plan,
            policy,
            bench,
            writer,
            watch,
            cells,
            trials: vec![Vec::new(); count],
            closed: BTreeSet::new(),
            failures: vec![0; count],
            late_cells: BTreeSet::new(),
            is_second_look: false,
            further_builds: 0,
            has_failed_build: false,
        }
    }

    /// Carries out the whole plan: see the steps above.
    ///
    /// # Errors
    /// The journal cannot be written, or a condition not be undone.
    pub fn run(&mut self) -> Result<Ended> {
        let end = self.measure_all()?;
        if !matches!(end, Ended::Complete | Ended::Budget) {
            return Ok(end);
        }

        if let Some(end) = self.count()? {
            return Ok(end);
        }
        Ok(self.sample()?.unwrap_or(end))
    }

    /// The first cell of each test that was measured: once for each, its commands are executed
    /// again.
    fn measured_tests(&self) -> Vec<usize> {
        let mut tests = BTreeSet::new();
        let mut first_cells = Vec::new();
        for (number, cell) in self.plan.cells.iter().enumerate() {
            let is_first = tests.insert(&cell.test.id);
            let has_run = self.trials[number].iter().any(|trial| !trial.copies.is_empty());
            if is_first && has_run {
                first_cells.push(number);
            }
        }
        first_cells
    }

    fn measure_all(&mut self) -> Result<Ended> {
        for cell in &self.cells {
            self.writer.append(&Record::Cell(Box::new(cell.clone())))?;
        }
        for test in &self.plan.named {
            if let Some(end) = self.measure_named(test)? {
                return Ok(end);
            }
        }

        let end = self.measure_rounds(self.plan.rounds())?;
        if !matches!(end, Ended::Complete | Ended::Budget) {
            return Ok(end);
        }

        let Some(find_suspects) = self.policy.suspects else { return Ok(end) };
        let suspects = find_suspects(&self.cells, &self.trials);
        if suspects.is_empty() {
            return Ok(end);
        }

        self.is_second_look = true;
        self.closed = (0..self.cells.len()).filter(|number| !suspects.contains(number)).collect();
        let next_block =
            self.trials.iter().flatten().map(|trial| trial.block + 1).max().unwrap_or(0);
        let rounds = self.plan.second_look(suspects.into_iter().collect(), next_block);
        let second_end = self.measure_rounds(rounds)?;
        Ok(if second_end == Ended::Complete { end } else { second_end })
    }

    /// Measures rounds until all cells are closed, the budget is spent, or the run must end.
    fn measure_rounds(&mut self, rounds: impl Iterator<Item = Round>) -> Result<Ended> {
        for round in rounds {
            if self.closed.len() == self.cells.len() {
                break;
            }
            if !self.is_second_look && round.block > 0 && self.is_spent(&round) {
                return Ok(Ended::Budget);
            }
            if !self.is_second_look && !self.bench.sleep_until(self.plan.procedure.due(round.block))
            {
                return Ok(Ended::Interrupted);
            }

            for number in &round.cells {
                if self.closed.contains(number) {
                    continue;
                }
                if let Some(end) = self.measure_trial(*number, &round)? {
                    return Ok(end);
                }
            }

            let may_end = !self.is_second_look && !self.has_too_few_executions();
            if may_end
                && self.plan.procedure.is_look_due(round.block)
                && let Some(end) = self.close_precise_families()?
            {
                return Ok(end);
            }
        }
        Ok(Ended::Complete)
    }

    /// Measures a score that arguments name, once for all cells, and records it as a fact. Returns
    /// the end of the run, if that is here.
    fn measure_named(&mut self, test: &Test) -> Result<Option<Ended>> {
        match self.bench.measure_named(test) {
            Ok(number) => {
                let name = format!("run.{}", test.id);
                let value = format!("{number:.0} {}", test.unit);
                let quantity = Quantity::new(number.round(), &test.unit);
                self.writer.append(&Record::Fact(Fact::new(
                    [&name, &test.label, "Run"],
                    value,
                    Some(quantity),
                )))?;
            }
            Err(Refusal::Stopped) if self.bench.pause() => return self.measure_named(test),
            Err(Refusal::Stopped) => return Ok(Some(Ended::Interrupted)),
            Err(why) => {
                let text = format!(
                    "{} could not be measured, so each trial measures it separately: {why}",
                    test.id
                );
                self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
            }
        }
        Ok(None)
    }

    /// Measures one trial. Returns the end of the run, if that is here.
    fn measure_trial(&mut self, number: usize, round: &Round) -> Result<Option<Ended>> {
        let cell = &self.plan.cells[number];
        if cell.window.rest && !self.bench.rest() {
            return Ok(Some(Ended::Interrupted));
        }

        let Progress { left, share_done: done } = self.progress();
        let command = self.bench.command_line(cell);
        (self.watch)(Event::Begin { cell, number, block: round.block, command, left, done });

        let at = self.bench.elapsed().as_secs_f64();
        let (trial, is_fatal) = match self.measure_until_shared(number)? {
            Ok(trial) => (trial, false),
            Err(Refusal::Stopped) => return Ok(Some(Ended::Interrupted)),
            Err(refusal) => {
                let is_fatal = matches!(refusal, Refusal::Fatal(_));
                (failed_trial(refusal), is_fatal)
            }
        };
        let has_broken_limit = trial
            .copies
            .iter()
            .any(|copy| copy.frames.as_ref().is_some_and(|frames| frames.broke.is_some()));
        let trial = Trial { block: round.block, at, second: self.is_second_look, ..trial };
        // Commands are compared with each other: if one of them fails, the others say nothing.
        let is_comparison_broken = cell.test.arms > 0 && trial.error.is_some();

        for trial in split_by_arm(trial, &self.plan.arms(number)) {
            let number = trial.cell;
            self.writer.append(&Record::Trial(Box::new(trial.clone())))?;
            (self.watch)(Event::Ended { cell: &self.plan.cells[number], trial: &trial });
            self.close_failing_cell(number, &trial);
            self.trials[number].push(trial);
        }

        Ok(match self.bench.signal() {
            Some(_) => Some(Ended::Interrupted),
            None if is_fatal || is_comparison_broken => Some(Ended::Failed),
            None => has_broken_limit.then_some(Ended::Broke),
        })
    }

    /// Counts or samples a cell, after all executions that are timed; once more after each pause of
    /// the user's. `None` if it is refused: a warning says so in the words of `failure`, and why.
    /// [`Ended`] if a signal stops the run.
    fn execute_untimed<T>(
        &mut self,
        cell: &Cell,
        mut execute: impl FnMut(&mut B, &Cell) -> Result<T, Refusal>,
        failure: &str,
    ) -> Result<Result<Option<T>, Ended>> {
        loop {
            match execute(&mut self.bench, cell) {
                Ok(result) => return Ok(Ok(Some(result))),
                Err(Refusal::Stopped) if self.bench.pause() => {}
                Err(Refusal::Stopped) => return Ok(Err(Ended::Interrupted)),
                Err(refusal) => {
                    let trial = failed_trial(refusal);
                    let why = trial.error.or(trial.skip).unwrap_or_default();
                    let text = format!("{failure}: {why}");
                    self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
                    return Ok(Ok(None));
                }
            }
        }
    }

    /// Measures a trial whose copies share 95 % of the window, or takes the last of a few tries.
    /// The trial says how late the last copy began in each try that shared less, which may be
    /// itself.
    ///
    /// A cell that has used up its tries once has one from then on, as have interactive tests and
    /// commands, whose copies need not share the window: commands alternate.
    fn measure_until_shared(&mut self, number: usize) -> Result<Result<Trial, Refusal>> {
        let cell = &self.cell_with_builds(number);
        let window_ns = cell.window.length().as_nanos() as f64;
        let must_share = cell.test.metric != Metric::Latency && !cell.test.is_command();
        let mut late = Vec::new();
        loop {
            let Rounds { bench, watch, .. } = self;
            let trial = match bench.measure(cell, &mut |slow| watch(Event::Slow(slow)))? {
                Ok(trial) => trial,
                // A trial that a pause cut short is void.
                Err(Refusal::Stopped) if self.bench.pause() => continue,
                failed => return Ok(failed),
            };

            let last_start = trial.last_start();
            if !must_share || last_start as f64 <= MAX_LATE_SHARE * window_ns {
                return Ok(Ok(Trial { late, ..trial }));
            }

            late.push(last_start);
            let has_tries = late.len() < MAX_LATE_TRIES && !self.late_cells.contains(&number);
            if has_tries && self.bench.signal().is_none() {
                continue;
            }

            self.late_cells.insert(number);
            if last_start as f64 >= window_ns {
                let why = format!(
                    "a copy began {:.0} ms late, when its window was over; try fewer copies, or \
                     the longer windows of --procedure classic",
                    last_start as f64 / 1e6
                );
                return Ok(Err(why.into()));
            }
            return Ok(Ok(Trial { late, ..trial }));
        }
    }

    /// Closes a cell, and the other arms of its comparison, if it cannot run or keeps failing.
    fn close_failing_cell(&mut self, number: usize, trial: &Trial) {
        self.failures[number] = if trial.error.is_some() { self.failures[number] + 1 } else { 0 };

        let is_command = self.plan.cells[number].test.is_command();
        let max_failures = if is_command { 1 } else { MAX_FAILURES };
        if trial.skip.is_some() || self.failures[number] >= max_failures {
            self.closed.extend(self.plan.arms(number));
        }
    }

    /// Closes families that are measured precisely enough, unless more builds can be made.
    /// Conditions are compared within a block, so the cells that differ by condition only are
    /// judged and closed together. Returns the end of the run, if that is here.
    fn close_precise_families(&mut self) -> Result<Option<Ended>> {
        let mut families: Vec<Vec<Measured<'_>>> = Vec::new();
        for cell in &self.cells {
            // A condition that comes before all others has a number of blocks of its own.
            let is_first = self.plan.cells[cell.id].condition.is_first();
            if self.closed.contains(&cell.id) || is_first {
                continue;
            }

            let measured = (cell, &self.trials[cell.id][..]);
            match families.iter_mut().find(|family| family[0].0.key.same_family(&cell.key)) {
                Some(family) => family.push(measured),
                None => families.push(vec![measured]),
            }
        }

        let answers = (self.policy.enough)(&families);
        let mut growing = Vec::new();
        for (family, is_enough) in families.into_iter().zip(answers) {
            if !is_enough {
                continue;
            }
            let numbers: Vec<usize> = family.iter().map(|(cell, _)| cell.id).collect();
            let wants_units = self.policy.wants_units.is_some_and(|wants| wants(&family));
            if wants_units && self.affordable_builds(numbers[0]) > 0 {
                growing.push(numbers);
            } else {
                self.closed.extend(numbers);
            }
        }

        for numbers in growing {
            match self.build_more(numbers[0])? {
                Ok(true) => {}
                Ok(false) => self.closed.extend(numbers),
                Err(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }

    /// True if an open cell, controls apart, was executed less often than the user's minimum.
    fn has_too_few_executions(&self) -> bool {
        let min_executions = self.plan.procedure.effort.min_executions as usize;
        min_executions > 0
            && self
                .cells
                .iter()
                .filter(|cell| !cell.control && !self.closed.contains(&cell.id))
                .any(|cell| count_executions(&self.trials[cell.id]) < min_executions)
    }

    /// True if the budget has no room for this round. Never while a command lacks executions that
    /// the user demands.
    fn is_spent(&self, round: &Round) -> bool {
        let Some(budget) = self.plan.timed_budget() else { return false };
        if self.has_too_few_executions() {
            return false;
        }

        let open = round.cells.iter().filter(|number| !self.closed.contains(number));
        let round_seconds: f64 = open.map(|number| self.plan.cells[*number].seconds()).sum();
        self.bench.elapsed().as_secs_f64() + round_seconds > budget.as_secs_f64()
    }

    fn progress(&self) -> Progress {
        let mut left = 0.0;
        for (number, cell) in self.plan.cells.iter().enumerate() {
            if self.closed.contains(&number) {
                continue;
            }
            let measured = u32::try_from(self.trials[number].len()).unwrap_or(u32::MAX);
            left += cell.seconds() * f64::from(cell.max_trials.saturating_sub(measured));
        }

        let elapsed = self.bench.elapsed().as_secs_f64();
        if let Some(over) = self.plan.procedure.effort.over.filter(|_| left > 0.0) {
            left = f64::max(left, over.as_secs_f64() - elapsed);
        }
        if let Some(budget) = self.plan.procedure.effort.budget {
            let of_budget = (budget.as_secs_f64() - elapsed).max(0.0);
            // Sampling takes what timing leaves.
            left = if self.plan.is_sampled() { of_budget } else { f64::min(left, of_budget) };
        } else if self.plan.is_sampled() {
            left += SAMPLING_TIME.as_secs_f64();
        }
        Progress {
            left: Duration::from_secs_f64(left),
            share_done: elapsed / (elapsed + left).max(1e-9),
        }
    }
}

/// The value by which a program says that this arm's command failed.
const FAILED_VALUE: &str = "failed";

fn count_executions(trials: &[Trial]) -> usize {
    trials.iter().flat_map(|trial| &trial.copies).map(|copy| copy.executions.len()).sum()
}

/// Splits the trial of a program that measured several cells together: each cell gets the copy of
/// its arm. All get the program's usage and noise, and none its energy, which cannot be divided.
/// The error of a command that failed goes to its own cell.
fn split_by_arm(trial: Trial, arms: &[usize]) -> Vec<Trial> {
    if arms.len() == 1 || trial.copies.is_empty() {
        return vec![Trial { cell: arms[0], ..trial }];
    }

    let usage = trial.copies[0].usage.clone();
    let mut trials = Vec::new();
    for (cell, copy) in arms.iter().zip(&trial.copies) {
        let trial = Trial { cell: *cell, energy: None, ..trial.clone() };
        if copy.values.contains_key(FAILED_VALUE) {
            trials.push(Trial { copies: Vec::new(), ..trial });
        } else if !copy.executions.is_empty() {
            // The control is executed in some rounds only, at random.
            let copies = vec![journal::Copy { usage: usage.clone(), ..copy.clone() }];
            trials.push(Trial { copies, error: None, ..trial });
        }
    }
    trials
}

#[cfg(test)]
mod tests;
