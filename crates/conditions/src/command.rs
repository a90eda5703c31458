//! Commands that switch something.
//!
//! A row of the catalogue has up to four scripts: `enter` switches its condition on, `verify`
//! succeeds while that is on, `leave` switches it off, and `absent` succeeds once nothing of it is
//! left. [`enter`] runs the first two before a trial and `verify` again after it; [`leave`] runs
//! the others when the ledger is undone, maybe by another process: so what the scripts call their
//! own ([`Own`]) is in the ledger too. What `leave` did is believed once `absent` has looked.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use processes::{Command, Failure, Group, Interrupt, Signals, find, signal_if};
use rustix::process::{Pid, Signal};

use super::audit::samples;
use super::own::Own;
use super::{Context, Ledger, Proof, Refusal, Undo, beside, scope};
use catalogue::Switch;
use journal::Evidence;
use machine::Machine;

/// The surroundings of commands.
pub struct Commands<'a> {
    /// Has the processes of each while it runs.
    pub ledger: &'a mut Ledger,
    /// Signals that end them.
    pub signals: Option<&'a Signals>,
    /// The longest time that each may take.
    pub limit: Duration,
}

/// Runs a row's `enter` and then its `verify`, with the level as `$1`. The proof runs `verify`
/// again, and adds how much the row's counters grew.
pub(super) fn enter(
    switch: &Switch,
    level: &str,
    context: &mut Context<'_>,
) -> Result<Proof, Refusal> {
    let own = Own::make(&context.settings.scratch)?;
    context.ledger.record(&Undo::Shell {
        name: switch.id.clone(),
        command: switch.leave.clone().unwrap_or_default(),
        limit: context.settings.patience.as_secs(),
        absent: switch.absent.clone().unwrap_or_default(),
        own: own.clone(),
    })?;

    let mut prove_inside = match switch.prefix.is_empty() {
        true => None,
        false => Some(beside::enter_container(switch, &own.id, context)?),
    };

    let row = EnteredRow::new(switch, level, &own, context.folder);
    let enter_script = own.script(switch.enter.as_deref().unwrap_or_default());
    let mut commands = context.commands();
    let (_, enter_time) = commands.run_timed(&row.id, &row.words(&enter_script), &row.folder)?;
    row.run(&row.verify, &mut commands).map_err(|refusal| match refusal {
        Refusal::Failed(why) => {
            Refusal::Failed(format!("its verify command says that it is not on: {why}"))
        }
        other => other,
    })?;

    let counts_before = row.count(&mut commands)?;
    if !switch.prefix.is_empty() {
        context.staging.start_time += enter_time;
    }
    let agent = switch.agent.as_ref().map(|name| Agent::begin(name, context.machine));

    Ok(Box::new(move |finished, evidence| {
        if let Some(agent) = &agent {
            agent.prove(evidence)?;
        }
        let output = row.run(&row.verify, &mut finished.commands)?;
        row.add_counts(&counts_before, &mut finished.commands, evidence)?;

        let notes = output.lines().filter(|line| !line.trim().is_empty());
        evidence.notes.extend(notes.map(str::to_owned));
        prove_inside.as_mut().map_or(Ok(()), |prove| prove(finished, evidence))
    }))
}

/// A row whose condition is on, with the scripts that look at it.
struct EnteredRow {
    id: String,
    level: String,
    /// The directory in which the scripts run.
    folder: PathBuf,
    verify: String,
    /// Scripts that print one number each, by the names of their figures.
    counters: BTreeMap<String, String>,
}

impl EnteredRow {
    fn new(switch: &Switch, level: &str, own: &Own, folder: &Path) -> EnteredRow {
        let counters = switch.counters.iter();
        EnteredRow {
            id: switch.id.clone(),
            level: level.to_owned(),
            folder: folder.to_path_buf(),
            verify: own.script(switch.verify.as_deref().unwrap_or_default()),
            counters: counters.map(|(name, text)| (name.clone(), own.script(text))).collect(),
        }
    }

    /// Runs a script of the row with the level as `$1`, and returns what it printed.
    fn run(&self, script: &str, commands: &mut Commands<'_>) -> Result<String, Refusal> {
        commands.run(&self.id, &self.words(script), &self.folder)
    }

    fn words<'s>(&'s self, script: &'s str) -> [&'s str; 5] {
        ["/bin/sh", "-c", script, "sh", &self.level]
    }

    /// The numbers that the counters print, in the order of their names.
    fn count(&self, commands: &mut Commands<'_>) -> Result<Vec<f64>, Refusal> {
        let mut counts = Vec::new();
        for (name, script) in &self.counters {
            let output = self.run(script, commands)?;
            let number = output.trim().parse().ok().filter(|count: &f64| count.is_finite());
            counts.push(number.ok_or_else(|| {
                format!("its counter {name} printed '{}'; it must print one number", output.trim())
            })?);
        }

        Ok(counts)
    }

    /// Adds to the evidence how much each counter grew since it was `before`.
    fn add_counts(
        &self,
        before: &[f64],
        commands: &mut Commands<'_>,
        evidence: &mut Evidence,
    ) -> Result<(), Refusal> {
        let after = self.count(commands)?;
        for (name, (before, after)) in self.counters.keys().zip(before.iter().zip(after)) {
            if after < *before {
                return Err(format!(
                    "its counter {name} fell from {before} to {after}; it must only grow"
                )
                .into());
            }
            evidence.figures.insert(name.clone(), (after - before, name.clone()));
        }

        Ok(())
    }
}

/// The kernel keeps this many characters of a process's name (TASK_COMM_LEN, less its end).
const MAX_COMM_CHARACTERS: usize = 15;

/// The processes of an agent, and what they had used when a trial began.
struct Agent {
    name: String,
    machine: Machine,
    begun: Instant,
    begun_cpu_ns: u64,
}

impl Agent {
    fn begin(name: &str, machine: &Machine) -> Agent {
        let mut agent = Agent {
            name: name.chars().take(MAX_COMM_CHARACTERS).collect(),
            machine: machine.clone(),
            begun: Instant::now(),
            begun_cpu_ns: 0,
        };
        agent.begun_cpu_ns = agent.cpu_ns();
        agent
    }

    /// The processor time that its processes have used.
    fn cpu_ns(&self) -> u64 {
        self.pids().map(|pid| samples::process_cpu_ns(&self.machine, pid)).sum()
    }

    fn pids(&self) -> impl Iterator<Item = u32> {
        samples::pids(&self.machine).filter(move |pid| {
            self.machine.read(&format!("/proc/{pid}/comm")).as_ref() == Some(&self.name)
        })
    }

    /// Adds how much of a processor they have taken since the trial began, and the memory that they
    /// hold.
    fn prove(&self, evidence: &mut Evidence) -> Result<(), Refusal> {
        let pids: Vec<u32> = self.pids().collect();
        if pids.is_empty() {
            return Err(format!("no process is called {}, as its row says", self.name).into());
        }

        let used_ns = self.cpu_ns().saturating_sub(self.begun_cpu_ns);
        let processors = used_ns as f64 / self.begun.elapsed().as_nanos() as f64;
        let processors = (1000.0 * processors).round() / 1000.0;
        let resident_kib: u64 =
            pids.iter().filter_map(|pid| resident_kib(&self.machine, *pid)).sum();
        let resident_mib = (resident_kib / 1024) as f64;

        let figures = &mut evidence.figures;
        figures.insert("agent's processors".to_owned(), (processors, "CPUs".to_owned()));
        figures.insert("agent's memory".to_owned(), (resident_mib, "MiB".to_owned()));
        Ok(())
    }
}

/// The memory that a process holds.
fn resident_kib(machine: &Machine, pid: u32) -> Option<u64> {
    let status = machine.read(&format!("/proc/{pid}/status"))?;
    let field = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    field.split_whitespace().next()?.parse().ok()
}

impl Commands<'_> {
    /// True once a signal asks for an end or a pause.
    pub(super) fn are_interrupted(&self) -> bool {
        self.signals.is_some_and(is_interrupting)
    }

    /// Runs a command of a condition in `folder` and returns what it printed. The ledger has its
    /// processes while it runs, so whoever undoes the condition ends them first.
    ///
    /// # Errors
    /// The command failed or took too long, or a signal came.
    pub(super) fn run(
        &mut self,
        name: &str,
        words: &[&str],
        folder: &Path,
    ) -> Result<String, Refusal> {
        self.run_timed(name, words, folder).map(|(output, _)| output)
    }

    /// As [`Commands::run`]; also returns the time that the command itself took.
    ///
    /// # Errors
    /// As [`Commands::run`].
    fn run_timed(
        &mut self,
        name: &str,
        words: &[&str],
        folder: &Path,
    ) -> Result<(String, Duration), Refusal> {
        let interrupt = self.signals.map(|signals| Interrupt { signals, is_due: &is_interrupting });
        let cgroup = scope::make(self.ledger, name);
        let command = Command { words, folder, limit: self.limit, cgroup: cgroup.as_deref() };
        let mut step = None;
        let mut begun = Instant::now();
        let result = command.run(interrupt, &mut |group| {
            step = Some(self.ledger.record_command(name, group)?);
            // It begins when this returns.
            begun = Instant::now();
            Ok(())
        });
        let time = begun.elapsed();

        if let Some(cgroup) = &cgroup {
            scope::dissolve(cgroup);
        }
        if let Some(step) = step {
            self.ledger.settle(step);
        }
        Ok((result?, time))
    }
}

fn is_interrupting(signals: &Signals) -> bool {
    signals.stopped().is_some() || signals.wants_pause()
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        match failure {
            Failure::Stopped => Refusal::Stopped,
            Failure::Failed(why) => Refusal::Failed(why),
        }
    }
}

/// The commands that leave a condition.
pub(super) struct Leave<'a> {
    /// Switches it off.
    pub command: &'a str,
    /// Proves that nothing of it is left; empty where the row cannot.
    pub absent: &'a str,
    /// The name and the directory that are the row's alone.
    pub own: &'a Own,
    /// The longest time that each may take.
    pub limit: Duration,
}

/// Leaves a condition, and proves it. Whoever stops the run waits for it; who asks again does not.
pub(super) fn leave(
    leave: &Leave<'_>,
    signals: Option<&Signals>,
    register: &mut dyn FnMut(Group) -> Result<(), String>,
) -> Result<(), String> {
    let stops_before = signals.map_or(0, Signals::stops);
    let is_due = |signals: &Signals| signals.stops() > stops_before.max(1);
    let interrupt = signals.map(|signals| Interrupt { signals, is_due: &is_due });

    leave.run(leave.command, interrupt, register)?;
    if leave.absent.is_empty() {
        return Ok(());
    }

    leave
        .run(leave.absent, interrupt, register)
        .map_err(|why| format!("its commands ended well, but it is still on: {why}"))
}

impl Leave<'_> {
    fn run(
        &self,
        command: &str,
        interrupt: Option<Interrupt<'_>>,
        register: &mut dyn FnMut(Group) -> Result<(), String>,
    ) -> Result<(), String> {
        let script = self.own.script(command);
        let words = ["/bin/sh", "-c", &script];
        let command =
            Command { words: &words, folder: Path::new("/"), limit: self.limit, cgroup: None };
        command.run(interrupt, register).map(drop).map_err(|failure| failure.to_string())
    }
}

/// The time between looks at a process that is to end, and the looks after which it is not asked
/// again: each signal has 5 s.
const END_POLL_INTERVAL: Duration = Duration::from_millis(20);
const MAX_POLLS_PER_SIGNAL: usize = 250;

/// Ends every process that runs `program` with `argument` among its arguments, by force if it does
/// not end in time.
pub(super) fn end_processes(program: &Path, argument: &Path) -> Result<(), String> {
    for signal in [Signal::TERM, Signal::KILL] {
        for poll in 0..MAX_POLLS_PER_SIGNAL {
            let pids: Vec<Pid> = find(|pid| is_running(pid, program, argument)).collect();
            if pids.is_empty() {
                return Ok(());
            }

            if poll == 0 {
                for pid in pids {
                    signal_if(pid, signal, || is_running(pid, program, argument));
                }
            }
            std::thread::sleep(END_POLL_INTERVAL);
        }
    }

    Err(format!("{} does not end", program.display()))
}

/// True if a process runs `program` with `argument` among its arguments.
fn is_running(pid: Pid, program: &Path, argument: &Path) -> bool {
    let folder = format!("/proc/{}", pid.as_raw_nonzero());
    let is_program = fs::read_link(folder.clone() + "/exe")
        .is_ok_and(|path| path == fs::canonicalize(program).unwrap_or_default());
    if !is_program {
        return false;
    }

    let command_line = fs::read(folder + "/cmdline").unwrap_or_default();
    command_line.split(|byte| *byte == 0).any(|word| word == argument.as_os_str().as_bytes())
}
