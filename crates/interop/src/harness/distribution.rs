//! Many values under one name of a program's JSON: a list of numbers, or a histogram as
//! HdrHistogram's libraries write it.
//!
//! ```text
//! [1.2, 1.3, …]
//! "HISTFAAAAB542pNp…"              V2, deflated or not, in base64; also a line of its log, which
//!                                  ends in that
//! "  Value   Percentile   TotalCount 1/(1-Percentile)
//!    1.203     0.000000            1           1.00
//!    …
//!   13.519     1.000000        10000            inf
//!  #[Mean = …"                     its percentiles, as wrk2 prints them
//! ```

use serde_json::Value;

/// Base64 of the first bytes of a histogram: of V2, deflated or not, and of V1 and V0, which are
/// not read.
const HISTOGRAM_STARTS: [&str; 6] = ["HISTFA", "HISTEw", "HISTAg", "HISTAQ", "HISTCQ", "HISTCA"];

/// The first cells of a table's head.
const TABLE_HEAD: [&str; 3] = ["Value", "Percentile", "TotalCount"];

/// The share in the last row of a table that is whole. The column `Percentile` has shares, from 0.
const LAST_SHARE: f64 = 1.0;

/// The values under one name.
pub(super) enum Distribution {
    List(Vec<f64>),
    Histogram(stats::Histogram),
    /// The rows of a table of percentiles, of which there is one at least.
    Table(Vec<Row>),
}

/// A row of a table: `count` values, which are `share` of all, do not exceed `value`.
#[derive(Clone, Copy)]
pub(super) struct Row {
    value: f64,
    share: f64,
    count: u64,
}

impl Distribution {
    /// The values of a member of a JSON object; `None` if it is neither a list of numbers nor a
    /// histogram.
    ///
    /// # Errors
    /// It is a damaged histogram: why.
    pub(super) fn read(value: &Value) -> Result<Option<Distribution>, String> {
        if let Some(list) = value.as_array() {
            let numbers: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
            return Ok(numbers.map(Distribution::List));
        }
        let Some(text) = value.as_str() else {
            return Ok(None);
        };
        if let Some(rows) = read_table(text)? {
            return Ok(Some(Distribution::Table(rows)));
        }

        // A line of a log is `START,LENGTH,MAX,HISTOGRAM`.
        let last = text.trim().rsplit(',').next().unwrap_or_default();
        if !HISTOGRAM_STARTS.iter().any(|start| last.starts_with(start)) {
            return Ok(None);
        }
        stats::Histogram::from_another(last).map(|all| Some(Distribution::Histogram(all)))
    }

    pub(super) fn count(&self) -> u64 {
        match self {
            Distribution::List(values) => values.len() as u64,
            Distribution::Histogram(histogram) => histogram.count(),
            Distribution::Table(rows) => rows.last().map_or(0, |row| row.count),
        }
    }

    /// The value below which `share` of the values lie.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        match self {
            Distribution::List(values) => stats::quantile(values, share),
            Distribution::Histogram(histogram) => histogram.quantile(share),
            Distribution::Table(rows) => quantile_of_table(rows, share),
        }
    }
}

/// The value at a share, interpolated linearly between the rows around it.
fn quantile_of_table(rows: &[Row], share: f64) -> f64 {
    let after = rows.partition_point(|row| row.share < share);
    let upper = rows[after.min(rows.len() - 1)];
    let Some(lower) = after.checked_sub(1).map(|before| rows[before]) else {
        return upper.value;
    };
    let distance = upper.share - lower.share;
    let part = if distance > 0.0 { (share - lower.share) / distance } else { 1.0 };
    lower.value + part.min(1.0) * (upper.value - lower.value)
}

/// The rows of a text's first table of percentiles; `None` if no line is a table's head.
///
/// # Errors
/// A column descends, or the table ends before its last share: it may be truncated.
fn read_table(text: &str) -> Result<Option<Vec<Row>>, String> {
    let mut lines = text.lines().map(cells).skip_while(|cells| !cells.starts_with(&TABLE_HEAD));
    if lines.next().is_none() {
        return Ok(None);
    }

    let mut rows: Vec<Row> = Vec::new();
    for cells in lines {
        let Some(row) = read_row(&cells) else {
            // A blank line follows the head, and other words follow the table.
            if cells.is_empty() && rows.is_empty() {
                continue;
            }
            break;
        };
        let is_sorted = rows.last().is_none_or(|last| {
            last.share <= row.share && last.count <= row.count && last.value <= row.value
        });
        if !is_sorted {
            return Err("the rows of its table of percentiles do not ascend".to_owned());
        }
        rows.push(row);
    }
    match rows.last() {
        Some(last) if last.share >= LAST_SHARE => Ok(Some(rows)),
        _ => Err("its table of percentiles does not end at 1.0; is it whole?".to_owned()),
    }
}

/// The cells of a line, which commas separate in tables for spreadsheets.
fn cells(line: &str) -> Vec<&str> {
    let cells = line.split(|c: char| c.is_whitespace() || c == ',');
    cells.map(|cell| cell.trim_matches('"')).filter(|cell| !cell.is_empty()).collect()
}

fn read_row(cells: &[&str]) -> Option<Row> {
    let [value, share, count, ..] = cells else {
        return None;
    };
    let row =
        Row { value: value.parse().ok()?, share: share.parse().ok()?, count: count.parse().ok()? };
    (row.value.is_finite() && (0.0..=LAST_SHARE).contains(&row.share)).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As HdrHistogram_c writes it, for wrk2's -L.
    const TABLE: &str = "\
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.921     0.000000            1         1.00
       1.200     0.500000         1000         2.00
       4.000     0.980000         1960        50.00
       6.000     1.000000         2000          inf
#[Mean    =        1.347, StdDeviation   =        0.486]
#[Max     =        6.000, Total count    =         2000]
#[Buckets =           27, SubBuckets     =         2048]
";

    fn read(text: &str) -> Result<Option<Distribution>, String> {
        Distribution::read(&Value::from(text))
    }

    #[test]
    fn a_table_of_percentiles_has_every_quantile() {
        let spreadsheet = TABLE.replace("       ", ",").replace("TotalCount 1/", "TotalCount,1/");
        for text in [TABLE, &spreadsheet] {
            let table = read(text).unwrap().unwrap();

            assert_eq!(table.count(), 2000);
            for (share, value) in [(0.5, 1.2), (0.98, 4.0), (0.99, 5.0), (0.25, 1.0605)] {
                assert!((table.quantile(share) - value).abs() < 1e-9, "{share}");
            }
        }
    }

    #[test]
    fn a_histogram_in_base64_has_every_quantile() {
        let mut histogram = stats::Histogram::default();
        (1..=2000).for_each(|value| histogram.record(value));
        let text = String::from(histogram);

        for text in [text.clone(), format!("Tag=get,0.5,1.0,2.0,{text}\n")] {
            let read = read(&text).unwrap().unwrap();
            assert_eq!((read.count(), read.quantile(0.99)), (2000, 1980.0), "{text}");
        }
    }

    #[test]
    fn what_is_damaged_is_told_and_other_texts_are_left() {
        for (text, why) in [
            (&TABLE[..TABLE.find("6.000").unwrap()], "does not end at 1.0"),
            (&TABLE.replace("1960", "960"), "do not ascend"),
            ("       Value   Percentile   TotalCount 1/(1-Percentile)", "does not end at 1.0"),
            ("HISTFAAAAA", "histogram"),
            ("HISTFAAA", "damaged"),
        ] {
            assert!(read(text).err().is_some_and(|said| said.contains(why)), "{why}");
        }
        for text in ["", "ok", "1.2.3", "Value", "HISTORY", "a,HISTOGRAM"] {
            assert!(read(text).unwrap().is_none(), "{text}");
        }
    }
}
