//! lmbench's summary (`make see`, `results/summary.out`): its tables of latencies and bandwidths, every system a run.

use std::sync::LazyLock;

use super::{Draft, Heading, Journal, Result, Text, ensure, lines};
use catalogue::Metric;
use words::Grouped;

const BANNER: &str = "L M B E N C H";

/// A table of the summary.
struct Table {
    /// The beginning of its title.
    title: &'static str,
    unit: &'static str,
    metric: Metric,
    /// The columns after host and system; an empty name is not a result.
    columns: Vec<&'static str>,
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let lines = include_str!("lmbench.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(table).collect()
});

/// Reads `TITLE|UNIT|lower or higher|COLUMN|…`.
fn table(line: &'static str) -> Option<Table> {
    let mut fields = line.split('|');
    let (title, unit) = (fields.next()?, fields.next()?);
    let metric = if fields.next()? == "lower" { Metric::Time } else { Metric::Rate };
    Some(Table { title, unit, metric, columns: fields.collect() })
}

/// The worth of its letters.
const LETTERS: [(char, f64); 2] = [('K', 1e3), ('M', 1e6)];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.raw.lines().any(|line| line.contains(BANNER))
}

/// The figures of one host and system.
struct System {
    host: String,
    os: String,
    /// By table and column; several where it was measured several times.
    figures: Vec<((usize, usize), f64)>,
}

pub(crate) fn read(source: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    let (number, banner) = source.lines().find(|(_, line)| line.contains(BANNER)).unwrap_or((1, ""));
    let version: String = banner.replace(BANNER, "").replace("S U M M A R Y", "").split_whitespace().collect();
    let is_known = ["2.", "3."].iter().any(|known| version.starts_with(known));
    ensure!(is_known, source.unknown(number, "lmbench", &version, "versions 2 and 3"));
    ensure!(source.raw.ends_with('\n'), source.cut("the end of that line"));
    let mut systems: Vec<System> = Vec::new();
    let mut table: Option<usize> = None;
    let mut ends: Option<Vec<usize>> = None;
    for (number, line) in source.lines() {
        if let Some(place) = TABLES.iter().position(|table| line.starts_with(table.title)) {
            (table, ends) = (Some(place), None);
        } else if line.trim().is_empty() {
            (table, ends) = (None, None);
        } else if let (Some(place), true) = (table, is_rule(line)) {
            ends = Some(spans(line)).filter(|spans| spans.len() > 1);
            if ends.as_ref().is_some_and(|ends| ends.len() != TABLES[place].columns.len() + 2) {
                let columns = format!("columns of the table '{}' as known here", TABLES[place].title);
                return Err(source.damaged(number, line, &columns));
            }
        } else if let (Some(place), Some(ends)) = (table, &ends) {
            row(place, ends, line, &mut systems)
                .ok_or_else(|| source.damaged(number, line, "figures under its columns"))?;
        }
    }
    Ok(systems.into_iter().map(|system| system.journal(&version, draft.clone())).collect())
}

/// Returns true if a line has columns of dashes, as `--------- ------------- ----`; a single one is below a title.
fn is_rule(line: &str) -> bool {
    line.starts_with("---") && line.chars().all(|c| c == '-' || c == ' ')
}

/// Returns the end of each column, in characters.
fn spans(rule: &str) -> Vec<usize> {
    let chars: Vec<char> = rule.trim_end().chars().chain([' ']).collect();
    (1..chars.len()).filter(|at| chars[*at] == ' ' && chars[at - 1] == '-').collect()
}

/// Adds a row; nothing where a figure is none.
fn row(table: usize, ends: &[usize], line: &str, systems: &mut Vec<System>) -> Option<()> {
    let chars: Vec<char> = line.chars().collect();
    let part = |from: usize, to: usize| -> String {
        chars.get(from.min(chars.len())..to.min(chars.len())).unwrap_or_default().iter().collect()
    };
    let (host, os) = (part(0, ends[0]).trim().to_owned(), part(ends[0], ends[1]).trim().to_owned());
    let rest = part(ends[1], chars.len());
    let words: Vec<&str> = rest.split_whitespace().collect();
    let columns = ends.len() - 2;
    // A figure that is too wide moves those after it; an empty column can only be told by its place.
    let fields: Vec<String> = if words.len() == columns {
        words.into_iter().map(str::to_owned).collect()
    } else {
        ends.windows(2).skip(1).map(|two| part(two[0], two[1]).trim().to_owned()).collect()
    };
    if host.is_empty() {
        return None;
    }
    let place = systems.iter().position(|system| system.host == host && system.os == os).unwrap_or_else(|| {
        systems.push(System { host, os, figures: Vec::new() });
        systems.len() - 1
    });
    let is_known = |(column, field): &(usize, &String)| !TABLES[table].columns[*column].is_empty() && !field.is_empty();
    for (column, field) in fields.iter().enumerate().filter(is_known) {
        systems[place].figures.push(((table, column), figure(field)?));
    }
    Some(())
}

/// Returns a figure as lmbench writes it: `0.46`, `117.`, `26.9K`.
fn figure(field: &str) -> Option<f64> {
    let letter = LETTERS.iter().find(|(letter, _)| field.ends_with(*letter));
    let (digits, worth) = letter.map_or((field, 1.0), |(letter, worth)| (field.trim_end_matches(*letter), *worth));
    lines::number(digits).map(|number| number * worth)
}

impl System {
    fn journal(self, version: &str, mut draft: Draft<'_>) -> Journal {
        draft.run.tool = format!("lmbench {version}");
        draft.fact("system.host", "Host", "System", &self.host);
        draft.fact("system.os", "Operating system", "System", &self.os);
        draft.run.host = self.host;
        for ((table, column), values) in self.figures.into_iter().grouped() {
            let Table { unit, metric, columns, .. } = &TABLES[table];
            let label = columns[column].to_owned();
            draft.figure(&Heading { label, copies: 1, unit, metric: *metric }, values);
        }
        draft.finish()
    }
}
