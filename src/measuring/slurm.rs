//! `unixmark fleet slurm`: submits a fleet run, and waits for it until it is interrupted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use jiff::{Timestamp, Zoned};

use crate::commands::collect;
use crate::measuring::options::duration;
use crate::options::Redact;
use crate::status::{Status, usage};
use crate::terminal::{say, say_lines};
use ::fleet::Fleet;
use ::fleet::slurm::{self, Job, Place, Record, Request};
use runner::Signals;

/// The verbs that measure once and end.
const VERBS: [&str; 4] = ["run", "latency", "scale", "cost"];

/// Options that are set here.
const SET_HERE: [&str; 3] = ["--emit", "--fleet", "--node"];

/// Time between two looks at the queue: at first, and at most.
const POLL_INTERVALS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];

/// How long a requeued job stays held: Slurm may still be ending the previous attempt on the
/// node, and would end this one too.
const HOLD_TIME: Duration = Duration::from_secs(20);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Set account, QOS and constraints through sbatch's variables: SBATCH_ACCOUNT, SBATCH_QOS, SBATCH_CONSTRAINT."
)]
pub(crate) struct Arguments {
    /// Partition for the jobs [default: Slurm's]
    #[arg(short, long, value_name = "NAME")]
    partition: Option<String>,
    /// The nodes, as Slurm writes them: n[1-3],n7 [default: all nodes of the partition that accept jobs]
    #[arg(long, value_name = "LIST")]
    nodes: Option<String>,
    /// The fleet run's name [default: from the date and time]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The fleet run's directory, on a file system that the nodes share [default: ./NAME]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Submit, and do not wait for the results
    #[arg(long)]
    detach: bool,
    /// Time limit per node
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2h")]
    time: Duration,
    /// How long to wait for a node before cancelling its job
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30m")]
    give_up: Duration,
    /// What each node measures, after `--`: run, latency, scale or cost, with its arguments
    #[arg(last = true, required = true, value_name = "VERB …")]
    words: Vec<OsString>,
}

impl Arguments {
    /// Submits the fleet run and waits for it.
    ///
    /// # Errors
    /// It cannot be submitted, or what was measured cannot be collected.
    pub(crate) fn run(&self) -> Result<Status> {
        run(self)
    }
}

fn run(arguments: &Arguments) -> Result<Status> {
    check(&arguments.words).map_err(usage)?;
    let name = arguments.name.clone().unwrap_or_else(|| Zoned::now().strftime("fleet-%Y-%m-%d-%H%M%S").to_string());
    let into = arguments.into.clone().unwrap_or_else(|| PathBuf::from(name.replace('/', "-")));
    let into = std::path::absolute(&into)
        .with_context(|| format!("'{}' is not a directory", into.display()))
        .map_err(usage)?;
    if Record::is_in(&into).map_err(usage)? {
        return Err(usage(anyhow!("{} has a submission already; try another directory", into.display())));
    }
    let partition = slurm::partition(arguments.partition.as_deref())?;
    let nodes = nodes_to_use(&partition, arguments.nodes.as_deref())?;
    Fleet::expect(&into, &name, &nodes).map_err(usage)?;
    let signals = Signals::install()?;
    let request = Request {
        run: &name,
        partition: &partition,
        nodes: &nodes,
        words: &arguments.words,
        time: arguments.time,
        give_up: arguments.give_up,
    };
    let submitted = slurm::submit(&into, &request, || signals.stopped().is_some())?;
    let record = submitted.record;
    let job = &record.submission.job;
    if let Some(error) = submitted.broke {
        say_lines(&next_steps(&into, job));
        let (done, all) = (record.jobs.len(), nodes.len());
        return Err(error.context(format!("submitting failed after {done} of {all} nodes")));
    }
    say(&format!("fleet run {name}: {} jobs named {job} in partition {partition}", nodes.len()));
    if arguments.detach {
        say_lines(&next_steps(&into, job));
        return Ok(Status::Fine);
    }
    match watch(&record, &signals) {
        WatchEnd::Ended => conclude(&into, &record),
        WatchEnd::Overdue => {
            say_lines(&next_steps(&into, job));
            bail!("Slurm still runs jobs that should have ended; `squeue --name={job}` shows them");
        }
        WatchEnd::Closed(signal) => {
            say_lines(&format!("\nthe jobs keep running\n{}", next_steps(&into, job)));
            Ok(Status::Signal(signal))
        }
    }
}

/// Refuses what nodes cannot measure for a fleet.
fn check(words: &[OsString]) -> Result<()> {
    let verb = words.first().and_then(|word| word.to_str()).unwrap_or_default();
    if !VERBS.contains(&verb) {
        bail!("'{verb}' does not measure for a fleet; after -- use run, latency, scale or cost");
    }
    let set_here = |word: &OsString| {
        let word = word.to_str()?;
        SET_HERE
            .into_iter()
            .find(|option| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
    };
    if let Some(option) = words.iter().take_while(|word| *word != "--").find_map(set_here) {
        bail!("{option} is set by `fleet slurm` itself; leave it out");
    }
    slurm::rehearse(words)
}

/// The nodes that get a job: those listed, or else those of the partition that accept one now.
fn nodes_to_use(partition: &str, list: Option<&str>) -> Result<Vec<String>> {
    let nodes = slurm::nodes(partition, list)?;
    let mut chosen = Vec::new();
    for node in nodes {
        match node.away {
            Some(why) if list.is_some() => say(&format!("{} accepts no jobs now ({why}): waiting for it", node.name)),
            Some(why) => {
                say(&format!("{} is left out: it accepts no jobs now ({why})", node.name));
                continue;
            }
            None => {}
        }
        chosen.push(node.name);
    }
    if chosen.is_empty() {
        bail!("no node of partition {partition} accepts jobs now; `sinfo -N -p {partition}` shows them");
    }
    Ok(chosen)
}

/// How to continue without this command.
fn next_steps(into: &Path, job: &str) -> String {
    let into = into.display();
    format!(
        "progress:         unixmark fleet status {into}\n\
         collect results:  unixmark collect {into}/slurm/journals --into {into}\n\
         cancel the jobs:  scancel --name={job}"
    )
}

/// How watching ended.
enum WatchEnd {
    /// No job is left.
    Ended,
    /// Jobs are still there that Slurm should have ended.
    Overdue,
    /// By a signal.
    Closed(i32),
}

/// Watches the jobs: frees those that are held, and prints changes.
fn watch(record: &Record, signals: &Signals) -> WatchEnd {
    let mut interval = POLL_INTERVALS[0];
    let mut last = String::new();
    let mut held: BTreeMap<String, Instant> = BTreeMap::new();
    loop {
        let now = match slurm::jobs(&record.submission.job) {
            Ok(jobs) => {
                held.retain(|id, _| jobs.iter().any(|job| job.id == *id && job.is_held()));
                for job in jobs.iter().filter(|job| job.is_held()) {
                    if held.entry(job.id.clone()).or_insert_with(Instant::now).elapsed() >= HOLD_TIME {
                        // A job that cannot be freed starts on its own later.
                        let _ = slurm::free(&job.id);
                    }
                }
                let active = jobs.iter().filter(|job| !job.node.is_empty() && !job.has_ended());
                let active: Vec<&Job> = active.collect();
                if active.is_empty() {
                    return WatchEnd::Ended;
                }
                progress(&active, record.jobs.len())
            }
            Err(error) => format!("Slurm does not answer; asking again: {error:#}"),
        };
        if now != last {
            say(&now);
            last = now;
        }
        if Timestamp::now() > record.submission.until {
            return WatchEnd::Overdue;
        }
        let until = Instant::now() + interval;
        while Instant::now() < until {
            if let Some(signal) = signals.stopped() {
                return WatchEnd::Closed(signal);
            }
            sleep(Duration::from_millis(50));
        }
        interval = (interval * 3 / 2).min(POLL_INTERVALS[1]);
    }
}

/// How many jobs are waiting, running and done.
fn progress(active: &[&Job], all: usize) -> String {
    let waiting = active.iter().filter(|job| job.waits()).count();
    let (running, ended) = (active.len() - waiting, all.saturating_sub(active.len()));
    let counts = [(waiting, "waiting"), (running, "running"), (ended, "ended")];
    let words: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let why = active
        .iter()
        .find(|job| job.waits() && !job.is_held() && job.reason != "None")
        .map(|job| format!(" (for {})", job.reason));
    format!("{}{}", words.join(", "), why.unwrap_or_default())
}

/// Collects what the nodes wrote; nothing changes if the collector already has.
fn conclude(into: &Path, record: &Record) -> Result<Status> {
    let status = collect::run(&collect::Arguments {
        sources: vec![Place::new(into).journals()],
        into: into.to_path_buf(),
        run: Some(record.submission.run.clone()),
        expect: Vec::new(),
        redact: Redact::default(),
    })?;
    if let (Status::Fine, Some(id)) = (status, &record.collector) {
        // Nothing is left for it. It may have ended by itself.
        let _ = slurm::cancel(id);
    }
    Ok(status)
}
