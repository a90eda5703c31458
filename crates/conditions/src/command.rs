//! Commands that switch something.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use processes::{Command, Failure, Group, Interrupt, Signals, find, signal_if};
use rustix::process::{Pid, Signal};

use super::audit::samples;
use super::{Context, Ledger, Proof, Refusal, Undo, beside, scope};
use catalogue::Switch;
use journal::Evidence;
use machine::Machine;

/// Shell functions for commands that start, await and stop an agent.
const AGENTS: &str = include_str!("agents.sh");

/// The surroundings of commands.
pub struct Commands<'a> {
    /// Has the processes of each while it runs.
    pub ledger: &'a mut Ledger,
    /// Signals that end them.
    pub signals: Option<&'a Signals>,
    /// The longest time that each may take.
    pub limit: Duration,
}

/// Runs a row's `enter`. Its commands have the level as `$1`.
pub(super) fn enter(switch: &Switch, level: &str, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let [enter, verify, leave] =
        [&switch.enter, &switch.verify, &switch.leave].map(|text| text.clone().unwrap_or_default());
    let limit = context.settings.patience.as_secs();
    context.ledger.record(&Undo::Shell { name: switch.id.clone(), command: leave, limit })?;
    let mut inside = (!switch.prefix.is_empty()).then(|| beside::start_inside(switch, context)).transpose()?;
    let folder = context.folder;
    let mut commands = context.commands();
    commands.shell(&switch.id, [&enter, level], folder)?;
    commands.shell(&switch.id, [&verify, level], folder).map_err(|refusal| match refusal {
        Refusal::Failed(why) => Refusal::Failed(format!("its verify command says that it is not on: {why}")),
        other => other,
    })?;
    let before = counted(switch, level, &mut commands, folder)?;
    let agent = switch.agent.as_ref().map(|name| Agent::begin(name, context.machine));
    let (switch, level, folder) = (switch.clone(), level.to_owned(), folder.to_path_buf());
    Ok(Box::new(move |finished, evidence| {
        if let Some(agent) = &agent {
            agent.prove(evidence)?;
        }
        let output = finished.commands.shell(&switch.id, [&verify, &level], &folder)?;
        let after = counted(&switch, &level, &mut finished.commands, &folder)?;
        for (name, (before, after)) in switch.counters.keys().zip(before.iter().zip(after)) {
            if after < *before {
                return Err(format!("its counter {name} fell from {before} to {after}; it must only grow").into());
            }
            evidence.figures.insert(name.clone(), (after - before, name.clone()));
        }
        evidence.notes.extend(output.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
        inside.as_mut().map_or(Ok(()), |prove| prove(finished, evidence))
    }))
}

/// The processes of an agent, and what they had used when a trial began.
struct Agent {
    name: String,
    machine: Machine,
    begun: Instant,
    time: u64,
}

impl Agent {
    fn begin(name: &str, machine: &Machine) -> Agent {
        // The kernel keeps as much of a name.
        let name = name.chars().take(15).collect();
        let mut agent = Agent { name, machine: machine.clone(), begun: Instant::now(), time: 0 };
        agent.time = agent.time();
        agent
    }

    /// Returns the processor time in ns that its processes have used.
    fn time(&self) -> u64 {
        self.processes().map(|pid| samples::processor_time(&self.machine, pid)).sum()
    }

    fn processes(&self) -> impl Iterator<Item = u32> {
        let name = |pid: &u32| self.machine.read(&format!("/proc/{pid}/comm"));
        samples::pids(&self.machine).filter(move |pid| name(pid).as_ref() == Some(&self.name))
    }

    /// Adds how much of a processor they have taken since, and the memory that they hold.
    fn prove(&self, evidence: &mut Evidence) -> Result<(), Refusal> {
        let pids: Vec<u32> = self.processes().collect();
        if pids.is_empty() {
            return Err(format!("no process is called {}, as its row says", self.name).into());
        }
        let share = self.time().saturating_sub(self.time) as f64 / self.begun.elapsed().as_nanos() as f64;
        let share = (1000.0 * share).round() / 1000.0;
        let resident: u64 = pids.iter().filter_map(|pid| resident(&self.machine, *pid)).sum();
        evidence.figures.insert("agent's processors".to_owned(), (share, "CPUs".to_owned()));
        evidence.figures.insert("agent's memory".to_owned(), ((resident / 1024) as f64, "MiB".to_owned()));
        Ok(())
    }
}

/// Returns the memory that a process holds, in KiB.
fn resident(machine: &Machine, pid: u32) -> Option<u64> {
    let status = machine.read(&format!("/proc/{pid}/status"))?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()
}

/// Returns what a row's counters print, in the order of their names.
fn counted(switch: &Switch, level: &str, commands: &mut Commands<'_>, folder: &Path) -> Result<Vec<f64>, Refusal> {
    let count = |(name, command): (&String, &String)| {
        let output = commands.shell(&switch.id, [command, level], folder)?;
        let number = output.trim().parse().ok().filter(|count: &f64| count.is_finite());
        number.ok_or_else(|| format!("its counter {name} printed '{}'; it must print one number", output.trim()).into())
    };
    switch.counters.iter().map(count).collect()
}

impl Commands<'_> {
    /// Returns true once a signal asks for an end or a pause.
    pub(super) fn are_interrupted(&self) -> bool {
        self.signals.is_some_and(is_interrupting)
    }

    /// Runs a command of a condition by /bin/sh in `folder`, with the level as its argument, and returns what it
    /// printed.
    fn shell(&mut self, name: &str, [command, level]: [&str; 2], folder: &Path) -> Result<String, Refusal> {
        self.run(name, &["/bin/sh", "-c", &script(command), "sh", level], folder)
    }

    /// Runs a command of a condition in `folder` and returns what it printed. The ledger has its processes while it
    /// runs, so whoever undoes the condition ends them first.
    ///
    /// # Errors
    /// It failed, took too long, or a signal came.
    pub(super) fn run(&mut self, name: &str, words: &[&str], folder: &Path) -> Result<String, Refusal> {
        let interrupt = self.signals.map(|signals| Interrupt { signals, is_due: &is_interrupting });
        let cgroup = scope::make(self.ledger, name);
        let command = Command { words, folder, limit: self.limit, cgroup: cgroup.as_deref() };
        let mut registered = None;
        let result = command.run(interrupt, &mut |group| {
            registered = Some(self.ledger.record_command(name, group)?);
            Ok(())
        });
        if let Some(cgroup) = &cgroup {
            scope::dissolve(cgroup);
        }
        if let Some(number) = registered {
            self.ledger.settle(number);
        }
        Ok(result?)
    }
}

/// Returns a row's command, after the functions that it may call. Messages name a script by its first line.
fn script(command: &str) -> String {
    if !command.contains("_agent ") {
        return command.to_owned();
    }
    let first = command.trim().lines().next().unwrap_or_default().trim_start_matches("# ");
    format!("# {first}\n{AGENTS}\n{command}")
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

/// Runs the command that leaves a condition. Whoever stops the run waits for it; who asks again does not.
pub(super) fn leave(
    command: &str,
    limit: Duration,
    signals: Option<&Signals>,
    register: &mut dyn FnMut(Group) -> Result<(), String>,
) -> Result<(), String> {
    let asked = signals.map_or(0, Signals::stops);
    let is_due = |signals: &Signals| signals.stops() > asked.max(1);
    let interrupt = signals.map(|signals| Interrupt { signals, is_due: &is_due });
    let script = script(command);
    let words = ["/bin/sh", "-c", &script];
    let command = Command { words: &words, folder: Path::new("/"), limit, cgroup: None };
    command.run(interrupt, register).map(drop).map_err(|failure| match failure {
        Failure::Stopped => "it was interrupted".to_owned(),
        Failure::Failed(why) => why,
    })
}

/// Ends every process that runs `program` with `argument` among its arguments, by force if it does not end in time.
pub(super) fn end(program: &Path, argument: &Path) -> Result<(), String> {
    for round in 0..500 {
        let pids: Vec<Pid> = find(|pid| runs(pid, program, argument)).collect();
        if pids.is_empty() {
            return Ok(());
        }
        let signal = if round < 250 { Signal::TERM } else { Signal::KILL };
        if round % 250 == 0 {
            for pid in pids {
                signal_if(pid, signal, || runs(pid, program, argument));
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("{} does not end", program.display()))
}

/// Returns true if a process runs `program` with `argument` among its arguments.
fn runs(pid: Pid, program: &Path, argument: &Path) -> bool {
    let folder = format!("/proc/{}", pid.as_raw_nonzero());
    let is_program =
        fs::read_link(folder.clone() + "/exe").is_ok_and(|path| path == fs::canonicalize(program).unwrap_or_default());
    is_program
        && fs::read(folder + "/cmdline")
            .is_ok_and(|words| words.split(|byte| *byte == 0).any(|word| word == argument.as_os_str().as_bytes()))
}
