//! rtla's text: latencies of `timerlat` and noise of `osnoise`, from the last table of `top` or the
//! summary of `hist`:
//!
//! ```text
//!                                      Timer Latency
//!   0 00:00:05   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)
//! CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
//!   0 #5000      |        1         0         1         8 |        5         3         5        20
//!
//! # RTLA timerlat histogram
//! Index   IRQ-000   Thr-000
//! …
//! count:     5000      5000
//! min:          0         3
//! avg:          1         5
//! max:          8        20
//! ```

use std::collections::BTreeMap;

use super::{
    Draft, Heading, Journal, Result, Starts, Text, ThreadLatency, add_latencies, ensure,
    fold_unless_nan, lines,
};
use crate::figure;

/// The start of a histogram, before the tracer's name.
const HISTOGRAM_START: &str = "# RTLA ";

/// What only the head of `timerlat top`'s table has.
const LATENCY_HEAD: &str = "Timer Latency (";

/// The lines above the heads of `top`'s tables.
const TITLES: [&str; 2] = ["Operating System Noise", "Timer Latency"];

/// What only the head of `osnoise top`'s table has: "available", as rtla spells it.
const NOISE_HEAD: &str = "% CPU Aval";

/// Heads of a summary's lines, which have a figure for each column of the histogram.
const SUMMARY_HEADS: [&str; 4] = ["count:", "min:", "avg:", "max:"];

/// What a text without any row lacks.
const ROW: &str = "a CPU's figures";

/// The figures of each CPU by the name of their kind of latency.
type LatenciesByKind = BTreeMap<&'static str, Vec<ThreadLatency>>;

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.has_line(HISTOGRAM_START)
        || text.raw.contains(LATENCY_HEAD)
        || text.raw.contains(NOISE_HEAD)
}

/// Notes where runs begin: at a histogram, or at a table of `top` that does not go on with the one
/// before it. While a run goes on, it prints its table again and again.
pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    // The last row of each CPU.
    let mut rows: BTreeMap<u32, TopRow<'_>> = BTreeMap::new();
    for (number, line) in text.lines() {
        if line.trim_start().starts_with(HISTOGRAM_START) {
            starts.begin(number);
        } else if TITLES.iter().any(|title| line.trim() == *title) {
            starts.may_begin(number);
        } else if let Some(row) = TopRow::parse(line) {
            if rows.is_empty() {
                starts.go_on();
            }
            if rows.get(&row.cpu).is_some_and(|earlier| !row.goes_on_after(earlier)) {
                rows.clear();
                starts.begin_another(number);
            }
            rows.insert(row.cpu, row);
        }
    }
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "rtla".clone_into(&mut draft.run.tool);
    if source.raw.contains(NOISE_HEAD) {
        add_noise(source, &mut draft)?;
        return Ok(vec![draft.finish()]);
    }

    let is_histogram = source.has_line(HISTOGRAM_START);
    let latencies = if is_histogram { read_summary(source)? } else { read_top(source)? };
    ensure!(!latencies.is_empty(), source.truncated_error(ROW));
    let unit = if source.raw.contains("(ns)") { "ns" } else { "us" };
    for (name, cpus) in latencies {
        add_latencies(name, unit, &cpus, source, &mut draft)?;
    }
    Ok(vec![draft.finish()])
}

/// The name of a column's kind of latency, by its head: `IRQ Timer Latency (us)` or `IRQ-000`. The
/// columns of `osnoise hist`, `CPU-000`, have one kind.
fn latency_name(head: &str) -> &'static str {
    match head.trim_start().get(..2) {
        Some("IR") => "rtla timerlat IRQ",
        Some("Th") => "rtla timerlat Thread",
        Some("Us" | "Re") => "rtla timerlat Return to user",
        _ => "rtla osnoise",
    }
}

/// A CPU's latencies, from its samples, minimum, average and maximum; `None` if one of them is a
/// dash, which is printed where there are no samples.
fn parse_latency(
    source: &Text<'_>,
    line_number: usize,
    cells: [&str; 4],
) -> Result<Option<ThreadLatency>> {
    if cells.contains(&"-") {
        return Ok(None);
    }
    let [Some(samples), Some(min), Some(mean), Some(max)] = cells.map(figure::parse_number) else {
        let wanted = "samples, minimum, average and maximum of a CPU";
        return Err(source.damaged_line_error(line_number, &cells.join(" "), wanted));
    };
    Ok(Some(ThreadLatency { samples, min, mean, max }))
}

/// Reads the first summary under a histogram; a later one is of all CPUs together.
fn read_summary(source: &Text<'_>) -> Result<LatenciesByKind> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for head in SUMMARY_HEADS {
        rows.push(source.find_headed(head)?.rest.split_whitespace().collect());
    }
    let line_number = source.find_headed(SUMMARY_HEADS[0])?.number;
    let heads = source.find_headed("Index")?.rest;

    let mut latencies = LatenciesByKind::new();
    for (column, head) in heads.split_whitespace().enumerate() {
        let cells = std::array::from_fn(|row| rows[row].get(column).copied().unwrap_or_default());
        if let Some(latency) = parse_latency(source, line_number, cells)? {
            latencies.entry(latency_name(head)).or_default().push(latency);
        }
    }
    Ok(latencies)
}

/// A row of `top`, `  0 #3  …`: its CPU and number of periods.
struct TopRow<'t> {
    cpu: u32,
    periods: u64,
    line: &'t str,
}

impl<'t> TopRow<'t> {
    fn parse(line: &'t str) -> Option<TopRow<'t>> {
        let (cpu, after) = line.trim_start().split_once(" #")?;
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        Some(TopRow { cpu: cpu.parse().ok()?, periods: after[..digits].parse().ok()?, line })
    }

    /// The maximum latency of each kind; of `osnoise` the maximum noise of a period and of one
    /// source.
    fn peaks(&self) -> Vec<Option<f64>> {
        if self.line.contains('|') {
            let kinds = self.line.split('|').skip(1);
            return kinds
                .map(|kind| lines::measured_number(kind.split_whitespace().nth(3)?))
                .collect();
        }
        self.line.split_whitespace().skip(5).take(2).map(lines::measured_number).collect()
    }

    /// True if the run of an earlier row can have come to this one: its periods have grown, and no
    /// maximum is lower.
    fn goes_on_after(&self, earlier: &TopRow<'_>) -> bool {
        let has_grown = self.periods > earlier.periods;
        let peaks_grow = earlier.peaks().iter().zip(self.peaks()).all(|(old, new)| *old <= new);
        self.line == earlier.line || has_grown && peaks_grow
    }
}

/// The last row of each CPU, with its line's number: `top` prints its table again and again.
fn last_rows<'t>(source: &Text<'t>) -> impl Iterator<Item = (usize, &'t str)> {
    let mut rows = BTreeMap::new();
    for (number, line) in source.lines() {
        if let Some(row) = TopRow::parse(line) {
            rows.insert(row.cpu, (number, line));
        }
    }
    rows.into_values()
}

/// Reads the table of `timerlat top`: a part for each kind of latency, between bars.
fn read_top(source: &Text<'_>) -> Result<LatenciesByKind> {
    let heads = source.raw.lines().rfind(|line| line.contains(LATENCY_HEAD)).unwrap_or_default();
    let mut latencies = LatenciesByKind::new();
    for (number, line) in last_rows(source) {
        let samples = line.split(['#', '|']).nth(1).unwrap_or_default().trim();
        for (head, part) in heads.split('|').zip(line.split('|')).skip(1) {
            // Without the first, `cur`.
            let mut cells = part.split_whitespace().skip(1);
            let [min, avg, max] = std::array::from_fn(|_| cells.next().unwrap_or_default());
            if let Some(latency) = parse_latency(source, number, [samples, min, avg, max])? {
                latencies.entry(latency_name(head)).or_default().push(latency);
            }
        }
    }
    Ok(latencies)
}

/// Adds the cells of `osnoise top`: the noise as a share of all CPUs' runtime, and the maximum
/// noise of a period and of a single source.
fn add_noise(source: &Text<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let (mut cpus, mut runtime_sum, mut noise_sum) = (0, 0.0, 0.0);
    let (mut period_peaks, mut single_peaks) = (Vec::new(), Vec::new());
    for (number, line) in last_rows(source) {
        // After `0 #3`, the CPU and its periods. The percentage in a row is passed over: that of
        // all CPUs comes from the sums.
        let mut cells = line.split_whitespace().skip(2).map(figure::parse_number);
        let cells: [Option<f64>; 5] = std::array::from_fn(|_| cells.next().flatten());
        let [Some(runtime), Some(noise), _, Some(period_peak), Some(single_peak)] = cells else {
            let wanted = "runtime, noise and largest noise of a CPU";
            return Err(source.damaged_line_error(number, line, wanted));
        };
        cpus += 1;
        runtime_sum += runtime;
        noise_sum += noise;
        period_peaks.push(period_peak);
        single_peaks.push(single_peak);
    }
    ensure!(runtime_sum > 0.0, source.truncated_error(ROW));

    for (name, unit, value) in [
        ("Noise", "%", 100.0 * noise_sum / runtime_sum),
        ("Max Noise", "us", fold_unless_nan(period_peaks.into_iter(), f64::max)),
        ("Max Single", "us", fold_unless_nan(single_peaks.into_iter(), f64::max)),
    ] {
        let heading = Heading::time(format!("rtla osnoise {name}"), unit);
        draft.add_values(&heading.with_copies(cpus), [value]);
    }
    Ok(())
}
