//! Properties of a machine that will spoil or disturb a run.

use serde::{Deserialize, Serialize};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Figures mean something else, or tests will fail.
    Spoils,
    /// Figures scatter more, or are a few per cent off.
    Disturbs,
    /// Good to know when figures are compared.
    Note,
}

/// A property of the machine that will spoil or disturb a run, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    /// Dotted and stable, such as `cpu.governor`.
    pub name: String,
    /// The property and its effect on the figures: one sentence.
    pub what: String,
    /// The command that fixes it, or why there is none.
    pub fix: String,
}
