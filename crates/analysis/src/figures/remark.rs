//! Remarks on a number or a run.
//!
//! A remark is a value, and its sentence is made where it is shown ([`Display`]). So remarks that
//! differ only in an amount can be shown as one: they have the same [`Remark::kind`], and
//! [`Remark::together`] makes one sentence of them.

use std::fmt::{Display, Formatter, Result};

use serde::{Deserialize, Serialize};

use crate::figures::Drifting;

/// A remark on a score, a comparison or a whole run. [`Display`] writes the sentence, without a
/// full stop.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// Another suite measured a figure too seldom for an interval.
    FewValues {
        /// The number of values.
        values: usize,
    },
    /// An imported report has a score without an interval.
    ImportedScore,
    /// There are too few trials for an interval.
    NoInterval {
        /// The number of trials.
        trials: usize,
    },
    /// The trials of latencies are so few, and differ so much, that an interval would say nothing.
    TrialsTooUnlike {
        /// The number of trials.
        trials: usize,
    },
    /// The trials are so few that the interval is Student's, of logarithms.
    LogNormal {
        /// The number of trials.
        trials: usize,
    },
    /// A command was executed so few times that its median has no interval.
    FewExecutions {
        /// The number of executions.
        executions: usize,
    },
    /// Executions of a command failed, and were kept nevertheless.
    FailedExecutions {
        /// The exit statuses with the number of executions that had each; 128 plus the signal of
        /// those that a signal ended.
        statuses: Vec<(u64, usize)>,
        /// The number of all executions.
        of: usize,
    },
    /// The first execution of a command took much longer or shorter than all others.
    UnlikeFirst {
        /// Its time in ms.
        first_ms: f64,
        /// The median of the others in ms.
        others_ms: f64,
    },
    /// A control group gave the run fewer processors than it could use.
    Quota {
        /// The quota in processors.
        cpus: f64,
        /// The processors that it could use.
        of: usize,
    },
    /// The run could use only some of the processors.
    Affinity {
        /// The number of these.
        usable: usize,
        /// The number of processors online.
        of: usize,
    },
    /// A benchmark of Go ran on another number of processors than the one it is compared with.
    OtherLevel {
        /// The number here.
        own: u32,
        /// The number of what it is compared with.
        first: u32,
    },
    /// The medians of a comparison differ in the other direction than its difference.
    OtherWay {
        /// True if the difference is of pairs, of executions or of blocks.
        is_of_pairs: bool,
    },
    /// The hypervisor took this share of the processors' time, in per cent.
    Steal {
        /// Rounded to whole per cents, and from 10 on to steps of 5.
        percent: f64,
    },
    /// Other processes used this share of the processors' time, in per cent.
    Foreign {
        /// Rounded as [`Remark::Steal`]'s.
        percent: f64,
    },
    /// A copy began so late that the trial was repeated, if that helps in this cell.
    Late {
        /// The number of trials that it concerns.
        trials: usize,
        /// The number of all trials.
        of: usize,
        /// The longest delay in ms.
        most_ms: f64,
    },
    /// The frames are too few for a p99.
    FewFrames {
        /// The percentile that is the score instead.
        percentile: String,
        /// True if they are enough for that one.
        carried: bool,
    },
    /// A frame was later than the limit that ends the run.
    FrameBroke {
        /// The delay in ms.
        late_ms: f64,
    },
    /// The load was not yet steady when windows opened.
    LoadUnsteady {
        /// The number of windows that it concerns.
        windows: usize,
        /// The number of all windows.
        of: usize,
    },
    /// A note of the load's program.
    LoadNote(String),
    /// A note of the program in some of the trials.
    ProgramNote {
        /// The words of the note.
        note: String,
        /// The number of trials that have it.
        trials: usize,
        /// The number of all trials.
        of: usize,
    },
    /// Trials failed.
    Failed {
        /// The number of failed trials.
        trials: usize,
        /// The number of all trials.
        of: usize,
        /// The reason of the first.
        reason: String,
    },
    /// A note that was written when the run was measured.
    Journal(String),
    /// The journal has no last line.
    CutShort,
    /// A signal ended the run.
    Interrupted,
    /// The run ended since further trials would have failed, or a command that is compared did.
    Hopeless {
        /// The reason of the last failure.
        reason: String,
    },
    /// Intervals allow for the machine's drift.
    Drift(Drifting),
    /// The run used the quick procedure.
    Quick,
    /// A remark on one of several runs.
    InRun {
        /// The run's letter.
        run: String,
        /// The remark.
        remark: Box<Remark>,
    },
    /// A comparison rests on some of the rounds.
    SomeRounds {
        /// The number of rounds that have the cell on both sides.
        rounds: usize,
        /// The number of all rounds.
        of: usize,
        /// Why the others lack it.
        reason: String,
    },
    /// A comparison rests on some of the blocks.
    SomeBlocks {
        /// The number of blocks that have the cell under both conditions.
        blocks: usize,
        /// The number of all blocks.
        of: usize,
    },
    /// A printed score has too few digits to show a small difference.
    FewDigits {
        /// The score.
        value: f64,
        /// The unit of the score.
        unit: String,
        /// The difference in per cent.
        delta: f64,
        /// One unit of the last digit, in per cent.
        resolution: f64,
    },
}

impl Remark {
    /// True if it is about how an interval or a percentile was made, which comparisons report in
    /// their own way.
    pub fn is_of_method(&self) -> bool {
        matches!(
            self,
            Remark::ImportedScore
                | Remark::NoInterval { .. }
                | Remark::TrialsTooUnlike { .. }
                | Remark::LogNormal { .. }
                | Remark::FewExecutions { .. }
                | Remark::FewValues { .. }
                | Remark::FewFrames { .. }
        )
    }

    /// The letter of the run that it is on, which is empty where no run is named, and the remark
    /// itself.
    pub fn of_run(&self) -> (&str, &Remark) {
        match self {
            Remark::InRun { run, remark } => (run, remark),
            remark => ("", remark),
        }
    }

    /// A key by which remarks are grouped: equal if they differ only in an amount.
    pub fn kind(&self) -> String {
        match self {
            Remark::Steal { .. } => "steal".to_owned(),
            Remark::Foreign { .. } => "foreign".to_owned(),
            Remark::ProgramNote { note, of, .. } => format!("{note} {of}"),
            Remark::LoadUnsteady { of, .. } => format!("load {of}"),
            remark => remark.to_string(),
        }
    }

    /// One sentence for several remarks of a kind, with the range of their amounts.
    pub fn together(remarks: &[&Remark]) -> String {
        let Some(first) = remarks.first() else {
            return String::new();
        };
        let amounts: Vec<f64> = remarks.iter().filter_map(|remark| remark.amount()).collect();
        let lowest = amounts.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = amounts.iter().copied().fold(0.0, f64::max);
        if amounts.is_empty() || lowest == highest {
            return first.to_string();
        }
        first.with_amount(&format!("{lowest} to {highest}"))
    }

    /// The amount in which remarks of its kind differ.
    fn amount(&self) -> Option<f64> {
        match *self {
            Remark::Steal { percent } | Remark::Foreign { percent } => Some(percent),
            Remark::ProgramNote { trials, .. } => Some(trials as f64),
            Remark::LoadUnsteady { windows, .. } => Some(windows as f64),
            _ => None,
        }
    }

    /// The sentence with another amount, if it has one.
    fn with_amount(&self, amount: &dyn Display) -> String {
        match self {
            Remark::Steal { .. } => {
                format!("other guests took {amount} % of the processors' time (steal)")
            }
            Remark::Foreign { .. } => {
                format!("other processes used {amount} % of the processors' time")
            }
            Remark::ProgramNote { note, of, .. } => format!("{note} ({amount} of {of} trials)"),
            Remark::LoadUnsteady { of, .. } => {
                format!("the load had not become steady before {amount} of {of} windows")
            }
            remark => remark.to_string(),
        }
    }
}

impl Display for Remark {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Remark::ImportedScore => {
                f.write_str("no interval: the imported report has only the score")
            }
            Remark::NoInterval { trials: 1 } => {
                f.write_str("no interval: it needs two trials, and there is one")
            }
            Remark::NoInterval { trials } => {
                write!(f, "no interval: it needs two trials, and there are {trials}")
            }
            Remark::TrialsTooUnlike { trials } => write!(
                f,
                "no interval: the {trials} trials are too few for how much they differ; measure \
                 more"
            ),
            Remark::LogNormal { trials } => {
                write!(
                    f,
                    "{trials} trials: the interval assumes log-normal noise; with six or more it \
                     would not"
                )
            }
            Remark::FewValues { values } => {
                write!(f, "no interval: the median of {values} values has none, that of six has")
            }
            Remark::FewExecutions { executions } => {
                let executions = words::count(executions, "execution");
                write!(f, "no interval: the median of {executions} has none, that of six has")
            }
            Remark::FailedExecutions { statuses, of } => {
                f.write_str(&describe_failures(statuses, *of))
            }
            Remark::UnlikeFirst { first_ms, others_ms } => {
                let [first, others] = [first_ms, others_ms].map(|ms| words::nanoseconds(ms * 1e6));
                write!(
                    f,
                    "the first execution took {first}, the others {others} at the median: if it \
                     fills a cache, --warmup 1 leaves it out"
                )
            }
            Remark::Quota { cpus, of } => write!(
                f,
                "a control group allowed {cpus:.2} CPUs of {of}: what used more was stopped for \
                 the rest of a period"
            ),
            Remark::Affinity { usable, of } => write!(
                f,
                "only {usable} of {of} CPUs could be used: the affinity or a cpuset left out the \
                 others"
            ),
            Remark::OtherLevel { own, first } => {
                write!(f, "GOMAXPROCS was {own} here and {first} in what this is compared with")
            }
            Remark::OtherWay { is_of_pairs: true } => f.write_str(
                "the medians of both sides differ the other way: the delta is that of pairs, which \
                 share the machine's noise",
            ),
            Remark::OtherWay { is_of_pairs: false } => f.write_str(
                "the medians of both sides differ the other way: the delta is the median of the \
                 differences between their trials",
            ),
            Remark::Steal { percent } | Remark::Foreign { percent } => {
                f.write_str(&self.with_amount(percent))
            }
            Remark::Late { trials, of, most_ms } => {
                write!(f, "in {trials} of {of} trials a copy began late, by up to {most_ms:.0} ms")
            }
            Remark::FewFrames { percentile, carried } => {
                let few = if *carried { "" } else { ", and even a median needs 20" };
                write!(
                    f,
                    "too few frames for a p99, which needs 1000: the value is {percentile}{few}"
                )
            }
            Remark::FrameBroke { late_ms } => write!(
                f,
                "a frame was {late_ms:.3} ms late, beyond the limit that ends the run; the worst \
                 frames cover its last second"
            ),
            Remark::LoadUnsteady { windows, .. } => f.write_str(&self.with_amount(windows)),
            Remark::LoadNote(note) => write!(f, "load: {note}"),
            Remark::ProgramNote { trials, of, .. } if trials < of => {
                f.write_str(&self.with_amount(trials))
            }
            Remark::ProgramNote { note, .. } => f.write_str(note),
            Remark::Failed { trials, of, reason } => {
                write!(f, "{trials} of {} failed: {reason}", words::count(of, "trial"))
            }
            Remark::Journal(text) => f.write_str(text),
            Remark::CutShort => {
                f.write_str("the run was cut short: this is what it had measured by then")
            }
            Remark::Interrupted => {
                f.write_str("the run was interrupted: this is what it had measured by then")
            }
            Remark::Hopeless { reason } => {
                write!(f, "the run ended early: {reason}")
            }
            Remark::Drift(Drifting { share, seconds, widening }) => write!(
                f,
                "intervals allow for drift: about {:.0} % of a trial's noise comes from a machine \
                 speed that all tests share and that wanders over some {seconds} s; this makes the \
                 intervals {widening:.1} times as wide",
                100.0 * share
            ),
            Remark::Quick => f.write_str("a quick run is a smoke test: too few samples to compare"),
            Remark::InRun { run, remark } => write!(f, "{run}: {remark}"),
            Remark::SomeRounds { rounds, of, reason } => {
                write!(f, "{rounds} of {of} rounds have it in both runs: {reason}")
            }
            Remark::SomeBlocks { blocks, of } => {
                write!(f, "{blocks} of {of} blocks have it under both conditions")
            }
            Remark::FewDigits { value, unit, delta, resolution } => {
                let delta = if *delta == 0.0 { "0".to_owned() } else { format!("{delta:.2} %") };
                write!(
                    f,
                    "{} {unit} has so few digits that one unit of the last is {resolution:.2} % of \
                     it: the delta is {delta} ± {resolution:.2} %",
                    (value * 1e9).round() / 1e9
                )
            }
        }
    }
}

/// How many executions failed, and how: `7 of 10 executions failed (exit status 1: 5; 127: 2)`.
fn describe_failures(statuses: &[(u64, usize)], of: usize) -> String {
    let count: usize = statuses.iter().map(|(_, executions)| executions).sum();
    let all = words::count(of, "execution");
    let failed =
        if count == of { format!("all {all} failed") } else { format!("{count} of {all} failed") };

    if let [(status, _)] = statuses {
        return format!("{failed} (exit status {status})");
    }
    let statuses: Vec<String> =
        statuses.iter().map(|(status, executions)| format!("{status}: {executions}")).collect();
    format!("{failed} (exit status {})", statuses.join("; "))
}
