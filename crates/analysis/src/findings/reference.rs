//! A figure among those of reference systems.

use serde::Serialize;

use journal::Key;

/// A figure of a run, or an index, among those of the entries that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// Its place in the matrix; the test of an index is `index.` and its name.
    #[serde(flatten)]
    pub key: Key,
    /// Its name in reports.
    pub label: String,
    /// The way in which the entries were measured: `standard procedure, native build`, or
    /// `imported`.
    pub procedure: String,
    /// True if the run was measured in that way, too; else machines and programs are compared at
    /// once.
    pub alike: bool,
    /// The entries that have the figure.
    pub of: usize,
    /// The fewest and the most of them that it is better than, by the intervals.
    pub better_than: (usize, usize),
    /// The entry whose figure is nearest.
    pub nearest: String,
    /// The figures of all of them, by name.
    #[serde(skip)]
    pub entries: Vec<(String, f64)>,
}
