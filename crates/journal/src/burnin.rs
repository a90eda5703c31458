//! The records of a burn-in: a sample of every second, faults, passes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Reading, SensorLimits, is_zero};

/// The part that is burnt in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Burned {
    /// The cooling: work on every processor, and how the clock holds.
    #[default]
    Cooling,
    /// The memory: patterns written and read again.
    Memory,
    /// The credit of processor time: work at full speed, and how long that lasts.
    Burst,
}

/// The settings of a burn-in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BurnIn {
    /// The part that is burnt in.
    pub kind: Burned,
    /// The number of threads.
    pub threads: u32,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Seconds after which it ends; absent where something else ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Seconds of rest after that, for the cool-down.
    #[serde(default)]
    pub rest: f64,
    /// The size of the memory to test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Passes after which it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u64>,
    /// Where the machine says that it will be slowed down.
    #[serde(default)]
    pub limits: SensorLimits,
}

/// The state of a burn-in and the sensors' readings at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds since its work began.
    pub at: f64,
    /// True if the work has been stopped, for the machine to cool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resting: bool,
    /// The sensors' readings.
    #[serde(default)]
    pub sensors: Reading,
    /// The threads' work since the sample before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beats: Vec<Beat>,
    /// The position of a test of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Faults so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub faults: u64,
}

/// The work of one thread in about a second; in the journal `[thread, cpu, at, count, clock,
/// wrong]`, as which serde reads a struct, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "(u32, u32, f64, u64, f64, u64)")]
pub struct Beat {
    /// The thread, from 0.
    pub thread: u32,
    /// The processor it ran on.
    pub cpu: u32,
    /// Seconds since the work began.
    pub at: f64,
    /// Pieces of work since its beat before.
    pub count: u64,
    /// The clock in GHz; 0 where it was not measured.
    pub clock: f64,
    /// Wrong results so far.
    pub wrong: u64,
}

impl From<Beat> for (u32, u32, f64, u64, f64, u64) {
    fn from(beat: Beat) -> Self {
        (beat.thread, beat.cpu, beat.at, beat.count, beat.clock, beat.wrong)
    }
}

/// The position of a test of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// The pass, from 1.
    pub pass: u64,
    /// The pattern that is written and read.
    pub pattern: String,
    /// Bytes of the pass that were written or read so far.
    pub done: u64,
    /// Bytes of the whole pass.
    pub total: u64,
}

/// A word of memory that was read and is not what was written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Seconds since the work began.
    pub at: f64,
    /// The pass.
    pub pass: u64,
    /// The pattern that had been written.
    pub pattern: String,
    /// Its address in the program's memory.
    pub address: Word,
    /// Its address in the machine's memory; absent where that may not be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<Word>,
    /// The word that was written.
    pub expected: Word,
    /// The word that was read.
    pub read: Word,
    /// The word that was read once more.
    pub retest: Word,
    /// A sensor and its °C at the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<(String, f64)>,
}

impl Fault {
    /// The bits that differ.
    pub fn difference(&self) -> Word {
        Word(self.expected.0 ^ self.read.0)
    }

    /// True if the memory holds the wrong word: reading it once more gave the same.
    pub fn is_held(&self) -> bool {
        self.retest == self.read
    }

    /// True if reading once more gave what was written: the memory is not what was wrong, or no
    /// longer.
    pub fn is_gone(&self) -> bool {
        self.retest == self.expected
    }
}

/// A pass over the memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// When it was over, in seconds since the work began.
    pub at: f64,
    /// Its number, from 1.
    pub pass: u64,
    /// The time it took.
    pub seconds: f64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Its faults.
    pub faults: u64,
}

impl Pass {
    /// Bytes per second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds.max(1e-9)
    }
}

/// A word of memory or an address; in hexadecimal, since many readers of JSON lose bits of large
/// numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word(pub u64);

impl Word {
    /// Reads `0x…`.
    pub fn parse(text: &str) -> Option<Word> {
        let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'))?;
        u64::from_str_radix(digits, 16).ok().map(Word)
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        let text = String::deserialize(deserializer)?;
        Word::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("'{text}' is not a hexadecimal number"))
        })
    }
}
