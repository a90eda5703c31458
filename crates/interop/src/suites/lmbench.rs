//! lmbench's summary (`make see`, `results/summary.out`): its tables of latencies and bandwidths,
//! every system a run. Columns are as wide as the dashes above them:
//!
//! ```text
//! Processor, Processes - times in microseconds - smaller is better
//! ------------------------------------------------------------------------------
//! Host                 OS  Mhz null null      open slct sig  sig  fork exec sh
//! --------- ------------- ---- ---- ---- ---- ---- ---- ---- ---- ---- ---- ----
//! box       Linux 6.1.0   2000 0.46 0.52 1.64 2.78 5.41 0.60 2.14 117. 392. 26.9K
//! ```
//!
//! `lmbench.txt` names the columns that are kept. A wide figure moves those after it, and a system
//! may lack one: [`split_row`] allows for either.

use std::sync::LazyLock;

use super::{Draft, Heading, Journal, Result, Starts, Text, clean_text, ensure};
use crate::figure::parse_number;
use catalogue::Metric;
use words::Grouped;

const BANNER: &str = "L M B E N C H";

/// A kind of table.
struct Table {
    /// The beginning of the title.
    title: &'static str,
    unit: &'static str,
    metric: Metric,
    /// The columns after host and system; an empty name is not a result.
    columns: Vec<&'static str>,
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let lines = include_str!("lmbench.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(parse_table).collect()
});

/// Reads `TITLE|UNIT|lower or higher|COLUMN|…`.
fn parse_table(line: &'static str) -> Option<Table> {
    let mut fields = line.split('|');
    let (title, unit) = (fields.next()?, fields.next()?);
    let metric = if fields.next()? == "lower" { Metric::Time } else { Metric::Rate };
    Some(Table { title, unit, metric, columns: fields.collect() })
}

/// Letters after a figure, and their factors.
const FACTORS: [(char, f64); 2] = [('K', 1e3), ('M', 1e6)];

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(|line| line.contains(BANNER))
}

pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if line.contains(BANNER) {
            starts.begin(number);
        }
    }
}

/// True if the last line is no row, or its last figure reaches the end of its column.
pub(crate) fn is_whole(text: &Text<'_>, line: &str) -> bool {
    let rule = text.raw.lines().rev().find(|line| is_rule(line));
    let end = rule.and_then(|rule| column_ends(rule).pop()).unwrap_or(0);
    is_remark(line) || line.trim_end().chars().count() >= end
}

/// The figures of one host and operating system.
struct System {
    host: String,
    os: String,
    /// Each with the number of its table in [`TABLES`] and of its column; several where it was
    /// measured several times.
    figures: Vec<((usize, usize), f64)>,
}

/// A table that is being read.
struct OpenTable {
    /// The number of its kind in [`TABLES`].
    number: usize,
    /// The end of each of its columns, in characters.
    ends: Vec<usize>,
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let version = read_version(source)?;
    let mut systems: Vec<System> = Vec::new();
    // The title of the table that is being read; empty between two tables.
    let mut title = "";
    let mut table: Option<OpenTable> = None;
    // The first line of what stands between two empty lines.
    let mut caption = "";
    for (number, line) in source.lines() {
        if caption.is_empty() && !is_rule(line) {
            caption = line.trim();
        }
        if let Some(known) = TABLES.iter().find(|table| line.starts_with(table.title)) {
            (title, table) = (known.title, None);
        } else if line.trim().is_empty() {
            (title, table, caption) = ("", None, "");
        } else if is_rule(line) && !title.is_empty() {
            let ends = column_ends(line);
            table = OpenTable::find(title, ends.clone());
            // A rule of one column is that below a title.
            if table.is_none() && ends.len() > 1 {
                draft.warn(format!(
                    "the table '{title}' (line {number}) is left out, since its columns are unknown"
                ));
            }
        } else if is_rule(line) && column_ends(line).len() > 1 && is_of_results(caption) {
            let name = clean_text(caption.split(" - ").next().unwrap_or_default());
            draft.warn(format!("the table '{name}' (line {number}) is left out: it is not known"));
        } else if let Some(table) = table.as_ref().filter(|_| !is_remark(line)) {
            table.add_row(line, &mut systems).ok_or_else(|| {
                source.damaged_line_error(number, line, "figures under its columns")
            })?;
        }
    }
    Ok(systems.into_iter().map(|system| system.into_journal(&version, draft.clone())).collect())
}

/// True for the caption of a table, unless that describes the systems.
fn is_of_results(caption: &str) -> bool {
    !caption.is_empty() && !caption.starts_with("Basic system parameters")
}

/// The version in the banner.
///
/// # Errors
/// It is not of 2 or 3.
fn read_version(source: &Text<'_>) -> Result<String> {
    let (number, banner) =
        source.lines().find(|(_, line)| line.contains(BANNER)).unwrap_or((1, ""));
    let version: String =
        banner.replace(BANNER, "").replace("S U M M A R Y", "").split_whitespace().collect();
    let is_known = ["2.", "3."].iter().any(|known| version.starts_with(known));
    ensure!(
        is_known,
        source.unknown_version_error(number, "lmbench", &version, "versions 2 and 3")
    );
    Ok(version)
}

/// True if a line has columns of dashes, as `--------- ------------- ----`, or a single one.
fn is_rule(line: &str) -> bool {
    line.starts_with("---") && line.chars().all(|c| c == '-' || c == ' ')
}

/// True if a line is no row of a table: what `make` says of itself, or a prompt.
fn is_remark(line: &str) -> bool {
    line.starts_with("make[")
        || line.starts_with("make:")
        || line.split_whitespace().skip(1).all(|word| parse_figure(word).is_none())
}

/// The end of each column of a rule, in characters.
fn column_ends(rule: &str) -> Vec<usize> {
    let chars: Vec<char> = rule.trim_end().chars().chain([' ']).collect();
    (1..chars.len()).filter(|at| chars[*at] == ' ' && chars[at - 1] == '-').collect()
}

impl OpenTable {
    /// The table with a title and as many columns; `None` if there is none.
    fn find(title: &str, ends: Vec<usize>) -> Option<OpenTable> {
        let number = TABLES
            .iter()
            // Before those of a kind, a table has the host's and the system's column.
            .position(|table| table.title == title && table.columns.len() + 2 == ends.len())?;
        Some(OpenTable { number, ends })
    }

    /// Adds the figures of a row to its system; `None` if it has no host, or a field is no figure.
    fn add_row(&self, line: &str, systems: &mut Vec<System>) -> Option<()> {
        let Row { host, os, fields } = split_row(line, &self.ends);
        if host.is_empty() {
            return None;
        }
        let place = systems.iter().position(|system| system.host == host && system.os == os);
        let place = place.unwrap_or_else(|| {
            systems.push(System { host, os, figures: Vec::new() });
            systems.len() - 1
        });

        let names = &TABLES[self.number].columns;
        for (column, (name, field)) in names.iter().zip(&fields).enumerate() {
            if !name.is_empty() && !field.is_empty() {
                systems[place].figures.push(((self.number, column), parse_figure(field)?));
            }
        }
        Some(())
    }
}

/// A row as text; the fields are those after host and system.
struct Row {
    host: String,
    os: String,
    fields: Vec<String>,
}

/// Divides a row at the ends of its columns.
fn split_row(line: &str, ends: &[usize]) -> Row {
    let chars: Vec<char> = line.chars().collect();
    let part = |from: usize, to: usize| -> String {
        chars.get(from.min(chars.len())..to.min(chars.len())).unwrap_or_default().iter().collect()
    };
    let figures = part(ends[1], chars.len());
    let words: Vec<&str> = figures.split_whitespace().collect();

    // A wide figure moves those after it, so words count where none is missing; a missing one can
    // only be seen from its place.
    let fields = if words.len() == ends.len() - 2 {
        words.into_iter().map(str::to_owned).collect()
    } else {
        ends[1..].windows(2).map(|pair| part(pair[0], pair[1]).trim().to_owned()).collect()
    };
    Row {
        host: part(0, ends[0]).trim().to_owned(),
        os: part(ends[0], ends[1]).trim().to_owned(),
        fields,
    }
}

/// A figure as lmbench writes it: `0.46`, `117.`, `26.9K`.
fn parse_figure(field: &str) -> Option<f64> {
    let factor = FACTORS.iter().find(|(letter, _)| field.ends_with(*letter));
    let (digits, factor) =
        factor.map_or((field, 1.0), |(letter, factor)| (field.trim_end_matches(*letter), *factor));
    parse_number(digits).map(|number| number * factor)
}

impl System {
    fn into_journal(self, version: &str, mut draft: Draft<'_>) -> Journal {
        draft.run.tool = format!("lmbench {version}");
        draft.add_fact("system.host", "Host", "System", &self.host);
        draft.add_fact("system.os", "Operating system", "System", &self.os);
        draft.run.host = self.host;
        for ((table, column), values) in self.figures.into_iter().grouped() {
            let Table { unit, metric, columns, .. } = &TABLES[table];
            let label = columns[column].to_owned();
            draft.add_values(&Heading { label, copies: 1, unit, metric: *metric }, values);
        }
        draft.finish()
    }
}
