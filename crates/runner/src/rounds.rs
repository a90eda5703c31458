//! The order of a run: which cell is measured next, which no more, and when it is over.

mod counts;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::{Event, Measured, Policy, journal_cell};
use catalogue::{Metric, Test};
use conditions::Refusal;
use journal::{Copy, Ended, Fact, Quantity, Record, Trial, Warning, Writer};
use plan::{Cell, Plan, Round};

/// A cell that failed this often in a row is measured no more.
const TRIES: u32 = 2;

/// Tries of one trial whose copies share too little of the window.
const LATE_TRIES: usize = 3;

/// The share of the window that a late start may take from what all copies share.
const LATE: f64 = 0.05;

/// A bench measures trials and knows the time. The real one spawns programs; that of the tests has a clock of its own.
pub trait Bench {
    /// Returns facts that are found while nothing runs yet.
    fn begin(&mut self) -> Vec<Fact> {
        Vec::new()
    }

    /// Ends what the bench keeps running; returns a remark for whoever reads the run.
    fn end(&mut self) -> Option<String> {
        None
    }

    /// Measures one trial of a cell; number, block and time are the caller's to fill in.
    ///
    /// # Errors
    /// What the cell's condition changed could not be undone: the run must not go on.
    fn measure(&mut self, cell: &Cell) -> Result<Result<Trial, Refusal>>;

    /// Returns what a cell's commands and those of its other arms do when they are executed: a copy for each.
    ///
    /// # Errors
    /// It cannot be counted here, a command failed, or the user wants to stop.
    fn count(&mut self, _cell: &Cell) -> Result<Vec<Copy>, Refusal> {
        Ok(Vec::new())
    }

    /// Measures the score of a test that arguments name as `{ID}`, and fills it in from now on. After a failure each
    /// program measures its own.
    fn measure_named(&mut self, test: &Test) -> Result<f64, Refusal>;

    /// Returns the command line of a cell's program.
    fn command_line(&self, cell: &Cell) -> String;

    /// Rests as UnixBench does before a pass; returns whether no signal stopped it.
    fn rest(&mut self) -> bool;

    /// Sleeps until this long after the run began; returns whether no signal stopped it.
    fn sleep_until(&mut self, due: Duration) -> bool;

    /// Returns the time since the run began.
    fn elapsed(&self) -> Duration;

    /// Returns the signal that asked the run to stop, if one did.
    fn signal(&self) -> Option<i32>;

    /// Pauses the run if the user has asked for that; returns true once it goes on.
    fn pause(&mut self) -> bool;
}

/// Returns the trial of a cell that could not be measured.
pub(super) fn refused(refusal: Refusal) -> Trial {
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
    /// Cells whose copies begin late however often a trial is repeated: more of them than processors, say.
    late: BTreeSet<usize>,
    /// True if suspects are being measured again.
    second: bool,
}

impl<'a, B: Bench> Rounds<'a, B> {
    pub fn new(
        plan: &'a Plan,
        policy: Policy<'a>,
        bench: B,
        writer: &'a mut Writer,
        watch: &'a mut dyn FnMut(Event<'_>),
    ) -> Rounds<'a, B> {
        let cells: Vec<journal::Cell> =
            plan.cells.iter().enumerate().map(|(number, cell)| journal_cell(number, cell)).collect();
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
            late: BTreeSet::new(),
            second: false,
        }
    }

    /// Measures the whole plan, then looks again at what is suspect, then counts what commands do.
    ///
    /// # Errors
    /// The journal cannot be written, or a condition not be undone.
    pub fn run(&mut self) -> Result<Ended> {
        let end = self.measure_all()?;
        let is_over = !matches!(end, Ended::Complete | Ended::Budget);
        if is_over { Ok(end) } else { Ok(self.count()?.unwrap_or(end)) }
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
        let outcome = self.measure_rounds(self.plan.rounds())?;
        if !matches!(outcome, Ended::Complete | Ended::Budget) {
            return Ok(outcome);
        }
        let suspects = self.policy.suspects.map(|suspects| suspects(&self.cells, &self.trials)).unwrap_or_default();
        if suspects.is_empty() {
            return Ok(outcome);
        }
        self.second = true;
        self.closed = (0..self.cells.len()).filter(|number| !suspects.contains(number)).collect();
        let first = self.trials.iter().flatten().map(|trial| trial.block + 1).max().unwrap_or(0);
        let again = self.measure_rounds(self.plan.second_look(suspects.into_iter().collect(), first))?;
        Ok(if again == Ended::Complete { outcome } else { again })
    }

    fn measure_rounds(&mut self, rounds: impl Iterator<Item = Round>) -> Result<Ended> {
        for round in rounds {
            if self.closed.len() == self.cells.len() {
                break;
            }
            if !self.second && round.block > 0 && self.is_spent(&round) {
                return Ok(Ended::Budget);
            }
            if !self.second && !self.bench.sleep_until(self.plan.procedure.due(round.block)) {
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
            if !self.second && self.plan.procedure.is_look_due(round.block) {
                self.close_what_is_enough();
            }
        }
        Ok(Ended::Complete)
    }

    /// Measures a score that arguments name, once and for all cells: a fact. Returns how the run ends, if that ends it.
    fn measure_named(&mut self, test: &Test) -> Result<Option<Ended>> {
        match self.bench.measure_named(test) {
            Ok(number) => {
                let (name, value) = (format!("run.{}", test.id), format!("{number:.0} {}", test.unit));
                let quantity = Quantity::new(number.round(), &test.unit);
                self.writer.append(&Record::Fact(Fact::new([&name, &test.label, "Run"], value, Some(quantity))))?;
            }
            Err(Refusal::Stopped) if self.bench.pause() => return self.measure_named(test),
            Err(Refusal::Stopped) => return Ok(Some(Ended::Interrupted)),
            Err(why) => {
                let text = format!("{} could not be measured, so each trial measures it separately: {why}", test.id);
                self.writer.append(&Record::Warning(Warning { cell: None, text }))?;
            }
        }
        Ok(None)
    }

    /// Measures one trial. Returns how the run ends, if that ends it.
    fn measure_trial(&mut self, number: usize, round: &Round) -> Result<Option<Ended>> {
        let cell = &self.plan.cells[number];
        if cell.window.rest && !self.bench.rest() {
            return Ok(Some(Ended::Interrupted));
        }
        let (left, done) = self.progress();
        let command = self.bench.command_line(cell);
        (self.watch)(Event::Begin { cell, number, block: round.block, command, left, done });
        let at = self.bench.elapsed().as_secs_f64();
        let (trial, is_fatal) = match self.measure_until_shared(number)? {
            Ok(trial) => (trial, false),
            Err(Refusal::Stopped) => return Ok(Some(Ended::Interrupted)),
            Err(refusal) => {
                let is_fatal = matches!(refusal, Refusal::Fatal(_));
                (refused(refusal), is_fatal)
            }
        };
        let broke = trial.copies.iter().any(|copy| copy.frames.as_ref().is_some_and(|frames| frames.broke.is_some()));
        let trial = Trial { block: round.block, at, second: self.second, ..trial };
        for trial in by_arm(trial, &self.plan.arms(number)) {
            let number = trial.cell;
            self.writer.append(&Record::Trial(Box::new(trial.clone())))?;
            (self.watch)(Event::Ended { cell: &self.plan.cells[number], trial: &trial });
            self.close_what_fails(number, &trial);
            self.trials[number].push(trial);
        }
        Ok(match self.bench.signal() {
            Some(_) => Some(Ended::Interrupted),
            None if is_fatal => Some(Ended::Failed),
            None => broke.then_some(Ended::Broke),
        })
    }

    /// Returns a trial whose copies share 95 % of the window, or the last of a few tries; it says how late they began.
    /// Interactive tests and commands have one try.
    fn measure_until_shared(&mut self, number: usize) -> Result<Result<Trial, Refusal>> {
        let cell = &self.plan.cells[number];
        let window = cell.window.length().as_nanos() as f64;
        let mut late = Vec::new();
        loop {
            let trial = match self.bench.measure(cell)? {
                Ok(trial) => trial,
                // A trial that a pause cut short is void.
                Err(Refusal::Stopped) if self.bench.pause() => continue,
                failed => return Ok(failed),
            };
            let start = trial.last_start();
            // Commands take their turns, and none shares its window.
            let shares = cell.test.metric != Metric::Latency && !cell.test.is_command();
            if !shares || start as f64 <= LATE * window {
                return Ok(Ok(Trial { late, ..trial }));
            }
            late.push(start);
            if late.len() < LATE_TRIES && !self.late.contains(&number) && self.bench.signal().is_none() {
                continue;
            }
            self.late.insert(number);
            if start as f64 >= window {
                let why = format!("a copy began {:.0} ms late, when its window was over", start as f64 / 1e6);
                return Ok(Err(why.into()));
            }
            return Ok(Ok(Trial { late, ..trial }));
        }
    }

    /// Closes a cell that cannot run or fails again and again.
    fn close_what_fails(&mut self, number: usize, trial: &Trial) {
        self.failures[number] = if trial.error.is_some() { self.failures[number] + 1 } else { 0 };
        if trial.skip.is_some() || self.failures[number] >= TRIES {
            self.closed.extend(self.plan.arms(number));
        }
    }

    /// Closes what is measured narrowly enough. Conditions are compared within a block, so the cells that differ by
    /// condition only are judged and closed together.
    fn close_what_is_enough(&mut self) {
        // What is measured before all others has a number of blocks of its own.
        let is_asked =
            |cell: &&journal::Cell| !self.closed.contains(&cell.id) && !self.plan.cells[cell.id].condition.is_first();
        let mut families: Vec<Vec<Measured<'_>>> = Vec::new();
        for cell in self.cells.iter().filter(is_asked) {
            let measured = (cell, &self.trials[cell.id][..]);
            match families.iter_mut().find(|family| family[0].0.key.same_family(&cell.key)) {
                Some(family) => family.push(measured),
                None => families.push(vec![measured]),
            }
        }
        let answers = (self.policy.enough)(&families);
        let enough = families.iter().zip(answers).filter(|(_, enough)| *enough);
        self.closed.extend(enough.flat_map(|(family, _)| family).map(|(cell, _)| cell.id).collect::<Vec<usize>>());
    }

    /// Returns true if the budget does not hold one more round.
    fn is_spent(&self, round: &Round) -> bool {
        let open = round.cells.iter().filter(|number| !self.closed.contains(number));
        let next: f64 = open.map(|number| self.plan.cells[*number].seconds()).sum();
        let elapsed = self.bench.elapsed().as_secs_f64();
        self.plan.procedure.effort.budget.is_some_and(|budget| elapsed + next > budget.as_secs_f64())
    }

    /// Returns the time left and the share done, if every open cell is measured as often as the plan allows.
    fn progress(&self) -> (Duration, f64) {
        let open = self.plan.cells.iter().enumerate().filter(|(number, _)| !self.closed.contains(number));
        let trials_left = |number: usize, cell: &Cell| {
            cell.most.saturating_sub(u32::try_from(self.trials[number].len()).unwrap_or(u32::MAX))
        };
        let mut left: f64 = open.map(|(number, cell)| cell.seconds() * f64::from(trials_left(number, cell))).sum();
        let elapsed = self.bench.elapsed().as_secs_f64();
        if let Some(over) = self.plan.procedure.effort.over.filter(|_| left > 0.0) {
            left = f64::max(left, over.as_secs_f64() - elapsed);
        }
        if let Some(budget) = self.plan.procedure.effort.budget {
            left = f64::min(left, (budget.as_secs_f64() - elapsed).max(0.0));
        }
        (Duration::from_secs_f64(left), elapsed / (elapsed + left).max(1e-9))
    }
}

/// Returns the trials of the cells that one program measured together: each has the copy of its arm. What the program
/// used, and what disturbed it, concerns all of them; what the machine consumed cannot be told apart.
fn by_arm(trial: Trial, arms: &[usize]) -> Vec<Trial> {
    if arms.len() == 1 || trial.copies.is_empty() {
        return vec![Trial { cell: arms[0], ..trial }];
    }
    let usage = trial.copies[0].usage.clone();
    let arm = |(cell, copy): (&usize, &journal::Copy)| Trial {
        cell: *cell,
        copies: vec![journal::Copy { usage: usage.clone(), ..copy.clone() }],
        energy: None,
        ..trial.clone()
    };
    // The control has its turn by chance.
    arms.iter().zip(&trial.copies).filter(|(_, copy)| !copy.executions.is_empty()).map(arm).collect()
}

#[cfg(test)]
mod tests;
