//! Output of other benchmarks, one reader a file: their figures under their own names.

pub(super) mod cyclictest;
pub(super) mod fio;
pub(super) mod frames;
pub(super) mod geekbench;
pub(super) mod hackbench;
pub(super) mod hyperfine;
pub(super) mod lmbench;
pub(super) mod phoronix;
pub(super) mod rt_app;
pub(super) mod schbench;
pub(super) mod sysbench;
pub(super) mod yabs;

// What every reader needs.
use anyhow::{Result, ensure};
use serde_json::Value;

use crate::draft::{Draft, Heading, cleaned};
use crate::text::{Text, after, leading, list, number, text};
use crate::{date, lines};
use journal::Journal;
