//! Tables of Lbench, as they are published: figures per thread at several numbers of threads.
//!
//! `{"source": …, "threads": [1, 2, 4], "rows": [[label, unit, [figure, …]], …], "claims": {name: number}}`

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Number;

use super::draft::{Draft, cleaned, quoted};
use super::lines;
use super::text::Text;
use analysis::{Results, Scaling};
use catalogue::Metric;
use journal::{Journal, View};

/// Units of lower-is-better figures.
const TIMES: [&str; 4] = ["s", "ms", "us", "ns"];

/// More threads than any machine has processors.
const MOST_THREADS: u32 = 65_536;

/// The most by which published figures may round a quotient.
const ROUNDED: f64 = 0.01;

/// The file.
#[derive(Debug, Deserialize)]
struct Table {
    #[serde(default)]
    source: String,
    threads: Vec<u32>,
    rows: Vec<(String, String, Vec<f64>)>,
    #[serde(default)]
    claims: BTreeMap<String, Number>,
}

/// A claim about one row: its total at some threads, of that at others or at the fewest.
#[derive(Debug, PartialEq)]
struct Claim {
    /// Words of the row's label, lower case.
    words: Vec<String>,
    to: u32,
    from: Option<u32>,
}

pub(super) fn is_it(text: &Text<'_>) -> bool {
    table(text).is_some()
}

fn table(text: &Text<'_>) -> Option<Table> {
    Table::deserialize(text.json.as_ref()?).ok()
}

/// Returns the table as a journal: totals are figures per thread times threads, but times stay what they are.
///
/// # Errors
/// None: a text without a table is not of this kind.
pub(super) fn read(text: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let Some(table) = table(text) else { return Ok(Vec::new()) };
    let catalogue = draft.catalogue;
    "Lbench".clone_into(&mut draft.run.tool);
    draft.run.view = View::Scaling;
    draft.fact("imported.source", "Source", "Imported", &cleaned(&table.source));
    for (place, row) in table.rows.iter().enumerate() {
        if !put(&mut draft, &table.threads, row) {
            draft.warn(format!(
                "row {} ('{}') is left out: it needs a positive figure for each of the numbers of threads",
                place + 1,
                quoted(&cleaned(&row.0))
            ));
        }
    }
    let results = Results::new(&draft.clone().finish(), catalogue, None);
    for (place, (name, claimed)) in table.claims.iter().enumerate() {
        check(&mut draft, results.scaling(), place + 1, &cleaned(name), claimed);
    }
    Ok(vec![draft.finish()])
}

/// Makes the cells of a row; false where it cannot be one.
fn put(draft: &mut Draft<'_>, threads: &[u32], (label, unit, figures): &(String, String, Vec<f64>)) -> bool {
    let (label, unit) = (cleaned(label), cleaned(unit));
    let usable = |figure: &f64| *figure > 0.0 && *figure <= lines::ABSURD;
    let counted = threads.iter().all(|count| (1..=MOST_THREADS).contains(count));
    if label.is_empty() || figures.len() != threads.len() || !figures.iter().all(usable) || !counted {
        return false;
    }
    let metric = if TIMES.contains(&unit.as_str()) { Metric::Time } else { Metric::Rate };
    for (threads, figure) in threads.iter().zip(figures) {
        let cell = draft.foreign(&label, *threads, &unit, metric);
        let value = if metric == Metric::Time { *figure } else { figure * f64::from(*threads) };
        draft.put_score(cell, value, 0.0, 1);
    }
    true
}

/// Compares a claim of the file with its rows.
fn check(draft: &mut Draft<'_>, scaling: &[Scaling], number: usize, name: &str, claimed: &Number) {
    let known = claim(name).and_then(|claim| quotient(&claim, scaling));
    let Some((ours, claimed_value)) = known.zip(claimed.as_f64()) else {
        draft.warn(format!("the claim '{}' is not understood: it was not checked", quoted(name)));
        return;
    };
    let text = claimed.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * 0.1_f64.powi(decimals.min(15) as i32);
    if (ours - claimed_value).abs() > half + ROUNDED * claimed_value.abs() {
        draft.warn(format!("the file claims {text} for '{}', and its rows give {ours:.3}", quoted(name)));
    }
    let label = name.replace('_', " ");
    let said = format!("{text} is claimed, {ours:.2} is what the rows give");
    draft.fact(&format!("imported.claim.{number}"), &label, "Imported", &said);
}

/// Reads `ROW_total_gain_4_threads` and `ROW_4_threads_share_of_2_thread_swap_rate`.
fn claim(name: &str) -> Option<Claim> {
    let words: Vec<String> = name.split('_').map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let of = |row: &[&str], to: &str, from: Option<&str>| {
        let row: Vec<String> = row.iter().map(|word| (*word).to_owned()).collect();
        let from = from.map(str::parse).transpose().ok()?;
        (!row.is_empty()).then_some(Claim { words: row, to: to.parse().ok()?, from })
    };
    if let [row @ .., "total", "gain", to, "threads"] = &words[..] {
        return of(row, to, None);
    }
    let place = words.windows(3).position(|three| three == ["threads", "share", "of"])?;
    match (words[..place].split_last()?, &words[place + 3..]) {
        ((to, row), [from, "thread" | "threads", ..]) => of(row, to, Some(from)),
        _ => None,
    }
}

/// The total at some threads over that at others, of the one row that has all words of the claim.
fn quotient(claim: &Claim, scaling: &[Scaling]) -> Option<f64> {
    let mut named = scaling.iter().filter(|row| {
        let words = words(&row.label);
        claim.words.iter().all(|word| words.contains(word))
    });
    let (row, None) = (named.next()?, named.next()) else { return None };
    let total = |threads: u32| row.levels.iter().find(|level| level.copies == threads).map(|level| level.total.value);
    let from = claim.from.or(row.levels.first().map(|level| level.copies))?;
    Some(total(claim.to)? / total(from)?)
}

/// The words of a label, lower case, each also with the number before it: `50 MB` is `50`, `mb` and `50mb`.
fn words(label: &str) -> Vec<String> {
    let label = label.to_lowercase();
    let single: Vec<&str> = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let pairs = single.windows(2).map(|pair| pair.concat());
    single.iter().map(|word| (*word).to_owned()).chain(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims() {
        let of = |words: &[&str], to, from| {
            Some(Claim { words: words.iter().map(|word| (*word).to_owned()).collect(), to, from })
        };
        assert_eq!(claim("memory_50MB_total_gain_4_threads"), of(&["memory", "50mb"], 4, None));
        assert_eq!(claim("mutex_4_threads_share_of_2_thread_swap_rate"), of(&["mutex"], 4, Some(2)));
        for name in [
            "", "total_gain_4_threads", "x_total_gain_y_threads", "threads_share_of", "4_threads_share_of_2_thread",
            "x",
        ] {
            assert_eq!(claim(name), None, "{name}");
        }
    }

    #[test]
    fn labels_have_words() {
        let words = words("memory move 50 MB");
        assert!(words.contains(&"50mb".to_owned()) && words.contains(&"memory".to_owned()));
        assert!(!words.contains(&"0mb".to_owned()) && !words.contains(&"5mb".to_owned()));
    }
}
