//! rtla's text: latencies of `timerlat` and noise of `osnoise`, from the last table of `top` or the summary of `hist`.

use std::collections::BTreeMap;

use super::{Draft, Heading, Journal, Latencies, Result, Text, ensure, latencies, lines};

/// Begins a histogram, before the tracer's name.
const HISTOGRAM: &str = "# RTLA ";

/// In the head of `timerlat top`'s table.
const LATENCIES: &str = "Timer Latency (";

/// In the head of `osnoise top`'s table.
const NOISE: &str = "% CPU Aval";

/// Heads of a histogram's lines with a figure for each column.
const SUMMARY: [&str; 4] = ["count:", "min:", "avg:", "max:"];

/// A text without any lacks its end.
const ROW: &str = "a CPU's figures";

/// Kinds of latency with the figures of each CPU.
type Kinds = BTreeMap<&'static str, Vec<Latencies>>;

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.has_line(HISTOGRAM) || text.raw.contains(LATENCIES) || text.raw.contains(NOISE)
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "rtla".clone_into(&mut draft.run.tool);
    if source.raw.contains(NOISE) {
        noise(source, &mut draft)?;
        return Ok(vec![draft.finish()]);
    }
    let kinds = if source.has_line(HISTOGRAM) { histogram(source)? } else { table(source)? };
    ensure!(!kinds.is_empty(), source.cut(ROW));
    let unit = if source.raw.contains("(ns)") { "ns" } else { "us" };
    for (name, cpus) in kinds {
        latencies(name, unit, &cpus, source, &mut draft)?;
    }
    Ok(vec![draft.finish()])
}

/// Returns the name of the kind of latency that a column is of, by its head in either form.
fn kind(head: &str) -> &'static str {
    match head.trim_start().get(..2) {
        Some("IR") => "rtla timerlat IRQ",
        Some("Th") => "rtla timerlat Thread",
        Some("Us" | "Re") => "rtla timerlat Return to user",
        _ => "rtla osnoise",
    }
}

/// Returns a CPU's samples and least, mean and largest latency; none where a dash stands for no sample.
fn figures(source: &Text<'_>, number: usize, values: [&str; 4]) -> Result<Option<Latencies>> {
    if values.contains(&"-") {
        return Ok(None);
    }
    match values.map(lines::number) {
        [Some(count), Some(min), Some(avg), Some(max)] => Ok(Some([count, min, avg, max])),
        _ => Err(source.damaged(number, &values.join(" "), "samples, minimum, average and maximum of a CPU")),
    }
}

/// Returns the summary under a histogram; a later one is of all CPUs together.
fn histogram(source: &Text<'_>) -> Result<Kinds> {
    let cells = |head| Ok(source.headed(head)?.2.split_whitespace().collect());
    let rows: Vec<Vec<&str>> = SUMMARY.into_iter().map(cells).collect::<Result<_>>()?;
    let (number, ..) = source.headed(SUMMARY[0])?;
    let mut kinds = Kinds::new();
    for (column, head) in source.headed("Index")?.2.split_whitespace().enumerate() {
        let values = std::array::from_fn(|row| rows[row].get(column).copied().unwrap_or_default());
        if let Some(cpu) = figures(source, number, values)? {
            kinds.entry(kind(head)).or_default().push(cpu);
        }
    }
    Ok(kinds)
}

/// Returns the last line of each CPU in `top`, which prints its table again and again, and the line's number.
fn last_rows<'t>(source: &Text<'t>) -> impl Iterator<Item = (usize, &'t str)> {
    let row = |(number, line): (usize, &'t str)| {
        let (cpu, rest) = line.trim_start().split_once(" #")?;
        rest.starts_with(|digit: char| digit.is_ascii_digit()).then_some((cpu.parse::<u32>().ok()?, (number, line)))
    };
    source.lines().filter_map(row).collect::<BTreeMap<_, _>>().into_values()
}

/// Returns the table of `timerlat top`.
fn table(source: &Text<'_>) -> Result<Kinds> {
    let heads = source.raw.lines().rfind(|line| line.contains(LATENCIES)).unwrap_or_default();
    let mut kinds = Kinds::new();
    for (number, line) in last_rows(source) {
        let count = line.split(['#', '|']).nth(1).unwrap_or_default().trim();
        for (head, cells) in heads.split('|').zip(line.split('|')).skip(1) {
            let mut cells = cells.split_whitespace().skip(1);
            let [min, avg, max] = std::array::from_fn(|_| cells.next().unwrap_or_default());
            if let Some(cpu) = figures(source, number, [count, min, avg, max])? {
                kinds.entry(kind(head)).or_default().push(cpu);
            }
        }
    }
    Ok(kinds)
}

/// Makes the cells of `osnoise top`: the share of the CPUs' time, and the most of a period and the longest of one
/// source.
fn noise(source: &Text<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let (mut cpus, mut time, mut lost, mut most, mut longest) = (0, 0.0, 0.0, 0.0_f64, 0.0_f64);
    for (number, line) in last_rows(source) {
        let mut cells = line.split_whitespace().skip(2).map(lines::number);
        let cells: [Option<f64>; 5] = std::array::from_fn(|_| cells.next().flatten());
        let [Some(runtime), Some(noise), _, Some(period), Some(single)] = cells else {
            return Err(source.damaged(number, line, "runtime, noise and largest noise of a CPU"));
        };
        cpus += 1;
        time += runtime;
        lost += noise;
        most = most.max(period);
        longest = longest.max(single);
    }
    ensure!(time > 0.0, source.cut(ROW));
    let share = 100.0 * lost / time;
    for (name, unit, value) in [("Noise", "%", share), ("Max Noise", "us", most), ("Max Single", "us", longest)] {
        draft.figure(&Heading::time(format!("rtla osnoise {name}"), unit).at(cpus), [value]);
    }
    Ok(())
}
