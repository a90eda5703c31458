//! Remarks on a number or a run: values, whose sentences are made where they are shown.

use std::fmt::{Display, Formatter, Result};

use serde::{Deserialize, Serialize};

use super::Drifting;

/// A remark on a score, a comparison or a whole run. [`Display`] writes the sentence, without a full stop.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// An imported report has the score alone.
    ImportedScore,
    /// There are too few trials for an interval.
    NoInterval {
        /// The number of trials.
        trials: usize,
    },
    /// So few trials that the interval is Student's, of logarithms.
    LogNormal {
        /// The number of trials.
        trials: usize,
    },
    /// The hypervisor took this share of the processors' time, in per cent.
    Steal {
        /// Rounded: to whole per cents, and from 10 on to steps of 5.
        percent: f64,
    },
    /// Other processes used this share of the processors' time, in per cent.
    Foreign {
        /// Rounded likewise.
        percent: f64,
    },
    /// A copy began so late that the trial was repeated, if that helps in this cell.
    Late {
        /// The number of trials that it concerns.
        trials: usize,
        /// The number of all.
        of: usize,
        /// How late at most, in ms.
        most_ms: f64,
    },
    /// The frames do not carry a p99.
    FewFrames {
        /// The percentile that is the value instead.
        percentile: String,
        /// True if they carry that one.
        carried: bool,
    },
    /// A frame was later than the limit that ends the run.
    FrameBroke {
        /// By how many ms it was late.
        late_ms: f64,
    },
    /// The load was not yet steady when windows opened.
    LoadUnsteady {
        /// The number of windows that it concerns.
        windows: usize,
        /// The number of all.
        of: usize,
    },
    /// A note of the load's program.
    LoadNote(String),
    /// A note of the program in some of the trials.
    ProgramNote {
        /// Its words.
        note: String,
        /// The number of trials that it concerns.
        trials: usize,
        /// The number of all.
        of: usize,
    },
    /// Trials failed.
    Failed {
        /// The number of trials that it concerns.
        trials: usize,
        /// The number of all.
        of: usize,
        /// Why the first did.
        reason: String,
    },
    /// A note that was written when the run was measured.
    Journal(String),
    /// The journal has no last line.
    CutShort,
    /// A signal ended the run.
    Interrupted,
    /// The run ended since every further trial would have failed.
    Hopeless {
        /// Why the last one did.
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
        /// The number that have the cell on both sides.
        rounds: usize,
        /// The number of all.
        of: usize,
        /// Why the others do not.
        reason: String,
    },
    /// A comparison rests on some of the blocks.
    SomeBlocks {
        /// The number that have the cell under both conditions.
        blocks: usize,
        /// The number of all.
        of: usize,
    },
    /// A printed score has too few digits to tell a small difference.
    FewDigits {
        /// The score.
        value: f64,
        /// Its unit.
        unit: String,
        /// The difference in per cent.
        delta: f64,
        /// One unit of the last digit, in per cent.
        resolution: f64,
    },
}

impl Remark {
    /// Returns true if it is about how an interval or a percentile came about, which comparisons report in their own
    /// way.
    pub fn is_of_method(&self) -> bool {
        matches!(
            self,
            Remark::ImportedScore | Remark::NoInterval { .. } | Remark::LogNormal { .. } | Remark::FewFrames { .. }
        )
    }

    /// Returns the letter of the run it is on, which is empty where no run is named, and what is remarked.
    pub fn of_run(&self) -> (&str, &Remark) {
        match self {
            Remark::InRun { run, remark } => (run, remark),
            remark => ("", remark),
        }
    }

    /// Returns what remarks have in common that differ in how much or how often alone.
    pub fn kind(&self) -> String {
        match self {
            Remark::Steal { .. } => "steal".to_owned(),
            Remark::Foreign { .. } => "foreign".to_owned(),
            Remark::ProgramNote { note, of, .. } => format!("{note} {of}"),
            Remark::LoadUnsteady { of, .. } => format!("load {of}"),
            remark => remark.to_string(),
        }
    }

    /// Returns one sentence for several remarks of a kind, from the least to the most.
    pub fn together(remarks: &[&Remark]) -> String {
        let Some(first) = remarks.first() else { return String::new() };
        let number = |remark: &&Remark| match **remark {
            Remark::Steal { percent } | Remark::Foreign { percent } => percent,
            Remark::ProgramNote { trials, .. } => trials as f64,
            Remark::LoadUnsteady { windows, .. } => windows as f64,
            _ => 0.0,
        };
        let least = remarks.iter().map(number).fold(f64::INFINITY, f64::min);
        let most = remarks.iter().map(number).fold(0.0, f64::max);
        let range = format!("{least} to {most}");
        if least == most { first.to_string() } else { first.amounting_to(&range) }
    }

    /// The sentence with `amount` as how much or how often, where it has that.
    fn amounting_to(&self, amount: &dyn Display) -> String {
        match self {
            Remark::Steal { .. } => format!("other guests took {amount} % of the processors' time (steal)"),
            Remark::Foreign { .. } => format!("other processes used {amount} % of the processors' time"),
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
            Remark::ImportedScore => f.write_str("no interval: the imported report has only the score"),
            Remark::NoInterval { trials: 1 } => f.write_str("no interval: it needs two trials, and there is one"),
            Remark::NoInterval { trials } => write!(f, "no interval: it needs two trials, and there are {trials}"),
            Remark::LogNormal { trials } => {
                write!(f, "{trials} trials: the interval assumes log-normal noise; with six or more it would not")
            }
            Remark::Steal { percent } | Remark::Foreign { percent } => f.write_str(&self.amounting_to(percent)),
            Remark::Late { trials, of, most_ms } => {
                write!(f, "in {trials} of {of} trials a copy began late, by up to {most_ms:.0} ms")
            }
            Remark::FewFrames { percentile, carried } => {
                let few = if *carried { "" } else { ", and even a median needs 20" };
                write!(f, "too few frames for a p99, which needs 1000: the value is {percentile}{few}")
            }
            Remark::FrameBroke { late_ms } => write!(
                f,
                "a frame was {late_ms:.3} ms late, beyond the limit that ends the run; the worst frames cover its last second"
            ),
            Remark::LoadUnsteady { windows, .. } => f.write_str(&self.amounting_to(windows)),
            Remark::LoadNote(note) => write!(f, "load: {note}"),
            Remark::ProgramNote { trials, of, .. } if trials < of => f.write_str(&self.amounting_to(trials)),
            Remark::ProgramNote { note, .. } => f.write_str(note),
            Remark::Failed { trials, of, reason } => {
                write!(f, "{trials} of {} failed: {reason}", words::count(of, "trial"))
            }
            Remark::Journal(text) => f.write_str(text),
            Remark::CutShort => f.write_str("the run was cut short: this is what it had measured by then"),
            Remark::Interrupted => f.write_str("the run was interrupted: this is what it had measured by then"),
            Remark::Hopeless { reason } => {
                write!(f, "the run ended because every further trial would have failed: {reason}")
            }
            Remark::Drift(Drifting { share, seconds, widening }) => write!(
                f,
                "intervals allow for drift: about {:.0} % of a trial's noise comes from a machine speed that all tests \
                 share and that wanders over some {seconds} s; this makes the intervals {widening:.1} times as wide",
                100.0 * share
            ),
            Remark::Quick => f.write_str("a quick run is a smoke test: too few samples to compare"),
            Remark::InRun { run, remark } => write!(f, "{run}: {remark}"),
            Remark::SomeRounds { rounds, of, reason } => {
                write!(f, "{rounds} of {of} rounds have it in both runs: {reason}")
            }
            Remark::SomeBlocks { blocks, of } => write!(f, "{blocks} of {of} blocks have it under both conditions"),
            Remark::FewDigits { value, unit, delta, resolution } => {
                let delta = if *delta == 0.0 { "0".to_owned() } else { format!("{delta:.2} %") };
                write!(
                    f,
                    "{} {unit} has so few digits that one unit of the last is {resolution:.2} % of it: the delta is \
                     {delta} ± {resolution:.2} %",
                    (value * 1e9).round() / 1e9
                )
            }
        }
    }
}
