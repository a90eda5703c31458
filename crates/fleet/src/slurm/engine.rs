//! Slurm's commands: what they are asked, and what they answer.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::record::Submission;

/// States of nodes that take no job now. Slurm adds a mark to some: `down*` does not answer.
const AWAY: [&str; 8] = ["down", "drained", "draining", "fail", "failing", "error", "unknown", "future"];

/// States in which a job has ended for good.
const ENDED: [&str; 10] = [
    "COMPLETED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "CANCELLED",
    "DEADLINE",
    "OUT_OF_MEMORY",
    "BOOT_FAIL",
    "PREEMPTED",
    "REVOKED",
];

/// A node of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Why it takes no job now.
    pub away: Option<String>,
}

/// A job, as the queue has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: String,
    /// The node it is for; empty for the collector.
    pub node: String,
    /// Its state in Slurm's word.
    pub state: String,
    /// The moment when it began, or is expected to.
    pub start: String,
    /// Why it waits.
    pub reason: String,
}

impl Job {
    /// Returns true if it has ended for good.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        ENDED.contains(&self.state.as_str())
    }

    /// Returns true if it waits for its turn or its node.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.state == "PENDING"
    }

    /// Returns true if it was requeued and is held for a while: Slurm does so for two minutes after a node was lost.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.waits() && self.reason == "BeginTime"
    }
}

/// The jobs that a job comes after.
pub(super) enum After {
    Nothing,
    /// Every job of its name.
    OfThatName,
}

/// A job that is asked for.
pub(super) struct Asked<'a> {
    pub(super) log: PathBuf,
    pub(super) script: PathBuf,
    /// The node it has to itself.
    pub(super) node: Option<&'a str>,
    pub(super) time: Duration,
    /// By when it must have ended: Slurm removes it as soon as it could no more.
    pub(super) deadline: Duration,
    pub(super) after: After,
}

/// Returns the partition of that name, or the default one.
///
/// # Errors
/// Slurm does not answer, or has none such.
pub fn partition(asked: Option<&str>) -> Result<String> {
    let said = ask("sinfo", ["-h", "-o", "%P"])
        .context("Slurm does not answer; start this where its commands do, as on a login node")?;
    let all: Vec<&str> = said.split_whitespace().collect();
    let plain = |name: &&str| name.trim_end_matches('*').to_owned();
    let found = match asked {
        Some(name) => all.iter().map(plain).find(|partition| partition == name),
        None => all.iter().find(|name| name.ends_with('*')).map(plain),
    };
    found.with_context(|| {
        let names = all.iter().map(plain).collect::<Vec<_>>().join(", ");
        match asked {
            Some(name) => format!("Slurm has no partition '{name}'; it has {names}"),
            None => format!("Slurm has no default partition; say --partition, which is one of {names}"),
        }
    })
}

/// Returns the nodes of a partition, or those of `list` (`n[1-3],n7`), by name.
///
/// # Errors
/// Slurm does not answer, or a node of the list is not in the partition.
pub fn nodes(partition: &str, list: Option<&str>) -> Result<Vec<Node>> {
    let said = ask("sinfo", ["-h", "-N", "-p", partition, "-o", "%N|%T|%E"])?;
    let all: Vec<Node> = said.lines().filter_map(node).collect();
    let Some(list) = list else { return Ok(all) };
    let names = ask("scontrol", ["show", "hostnames", list])?;
    let mut found: Vec<Node> = Vec::new();
    for name in names.split_whitespace() {
        let Some(node) = all.iter().find(|node| node.name == name) else {
            bail!("the partition {partition} has no node '{name}'; `sinfo -N -p {partition}` shows them");
        };
        if !found.contains(node) {
            found.push(node.clone());
        }
    }
    Ok(found)
}

fn node(line: &str) -> Option<Node> {
    let mut fields = line.splitn(3, '|');
    let (name, state, reason) = (fields.next()?, fields.next()?, fields.next()?);
    let plain = state.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let why = if reason == "none" { state.to_owned() } else { format!("{state}, {reason}") };
    Some(Node { name: name.to_owned(), away: AWAY.contains(&plain).then_some(why) })
}

/// Submits a job and returns its number.
pub(super) fn submit(submission: &Submission, asked: &Asked<'_>) -> Result<String> {
    let minutes = asked.time.as_secs().div_ceil(60).max(1);
    // The deadline is for the time limit as Slurm rounds it.
    let rest = Duration::from_secs(minutes * 60).saturating_sub(asked.time);
    let deadline = (asked.deadline + rest).as_secs();
    let mut words: Vec<OsString> = vec![
        "--parsable".into(),
        format!("--job-name={}", submission.job).into(),
        format!("--partition={}", submission.partition).into(),
        "--nodes=1".into(),
        format!("--time={minutes}").into(),
        format!("--deadline=now+{deadline}seconds").into(),
        "--open-mode=append".into(),
        option("--output=", &pattern(&asked.log)),
    ];
    if let Some(node) = asked.node {
        // All of the node's memory too, whatever a job gets by default.
        words.extend(["--exclusive".into(), "--mem=0".into(), "--requeue".into(), format!("--nodelist={node}").into()]);
    }
    if matches!(asked.after, After::OfThatName) {
        // Of one length for any number of jobs, as a list of their numbers is not.
        words.push("--dependency=singleton".into());
    }
    words.push(asked.script.clone().into());
    let said = ask("sbatch", words)?;
    let id = said.trim().split(';').next().unwrap_or_default();
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        bail!("sbatch does not say the job's number but '{}'", said.trim());
    }
    Ok(id.to_owned())
}

/// A path as sbatch's pattern of a file name, in which `%` has a meaning.
#[cfg(not(unix))]
fn pattern(path: &Path) -> OsString {
    path.to_string_lossy().replace('%', "%%").into()
}

/// A path as sbatch's pattern of a file name, in which `%` has a meaning.
#[cfg(unix)]
fn pattern(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = path.as_os_str().as_bytes();
    OsString::from_vec(
        bytes.iter().flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b'%'))).collect(),
    )
}

fn option(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(name);
    word.push(value);
    word
}

/// Returns the jobs of that name that Slurm still knows: those that ended are forgotten after some minutes.
///
/// # Errors
/// Slurm does not answer.
pub fn jobs(name: &str) -> Result<Vec<Job>> {
    let said = ask("squeue", ["-h", "-t", "all", &format!("--name={name}"), "-o", "%i|%n|%T|%S|%r"])?;
    Ok(said.lines().filter_map(job).collect())
}

fn job(line: &str) -> Option<Job> {
    let fields: Vec<&str> = line.trim().splitn(5, '|').collect();
    let [id, node, state, start, reason] = fields[..] else { return None };
    let [id, node, state, start, reason] = [id, node, state, start, reason].map(str::to_owned);
    Some(Job { id, node, state, start, reason })
}

/// Lets a job begin that is held.
///
/// # Errors
/// Slurm refuses, or does not answer.
pub fn free(id: &str) -> Result<()> {
    ask("scontrol", ["update", &format!("jobid={id}"), "starttime=now"]).map(drop)
}

/// Removes a job.
///
/// # Errors
/// Slurm refuses, or does not answer.
pub fn cancel(id: &str) -> Result<()> {
    ask("scancel", [id]).map(drop)
}

/// Has this executable plan what nodes will measure, so that a slip is found before a thousand jobs fail.
///
/// # Errors
/// It is wrong usage; the error is what the executable says.
pub fn rehearse(words: &[OsString]) -> Result<()> {
    let [verb, rest @ ..] = words else { return Ok(()) };
    let tool = std::env::current_exe().context("this executable is not found; start it by its path")?;
    let mut command = Command::new(tool);
    command.arg(verb).args(["--emit", "--fleet", "rehearsal", "--dry-run"]).args(rest);
    let output = output(command, "unixmark")?;
    if output.status.code() == Some(2) {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().trim_start_matches("unixmark: ").trim_start_matches("error: "));
    }
    Ok(())
}

/// Runs one of Slurm's commands and returns what it prints.
fn ask<W: AsRef<OsStr>>(program: &str, words: impl IntoIterator<Item = W>) -> Result<String> {
    let mut command = Command::new(program);
    command.args(words).env_remove("SLURM_TIME_FORMAT");
    // What a user likes to see of queues and nodes is not what is asked for here.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("SQUEUE_") || name.starts_with("SINFO_")) {
            command.env_remove(name);
        }
    }
    let output = output(command, program)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(|line| plain(line, program)).filter(|line| !line.is_empty()).collect();
    Err(match lines.last() {
        Some(last) => anyhow!("{program}: {last}"),
        None => anyhow!("{program} failed ({})", output.status),
    })
}

/// A message without who says it.
fn plain<'a>(line: &'a str, program: &str) -> &'a str {
    let line = line.strip_prefix(program).and_then(|line| line.strip_prefix(": ")).unwrap_or(line);
    line.strip_prefix("error: ").unwrap_or(line).trim()
}

fn output(mut command: Command, program: &str) -> Result<Output> {
    command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            anyhow!("{program} is not here: start this where Slurm's commands are, such as on a login node")
        }
        _ => anyhow!("{program} cannot be run: {error}"),
    })
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn marks_of_states_are_no_part_of_them() {
        assert_eq!(node("n3|down*|Not responding").unwrap().away.unwrap(), "down*, Not responding");
        assert_eq!(node("n1|idle~|none").unwrap().away, None);
        assert_eq!(node("n1|draining@|none").unwrap().away.unwrap(), "draining@");
    }

    #[test]
    fn a_reason_may_hold_anything() {
        let job = job("7|n1|PENDING|N/A|ReqNodeNotAvail, UnavailableNodes:n[1|2]").unwrap();
        assert!(job.waits() && !job.is_held() && !job.has_ended());
        assert_eq!(job.reason, "ReqNodeNotAvail, UnavailableNodes:n[1|2]");
    }

    #[test]
    fn a_path_is_no_pattern() {
        assert_eq!(pattern(Path::new("/a/50%N")), OsString::from("/a/50%%N"));
    }
}
