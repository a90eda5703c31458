//! cyclictest's summary (`-q`), histogram (`-h`) and JSON (`--json`): wake-up latencies of its
//! threads. A summary is a line per thread, printed again and again without `-q`; a histogram ends
//! in lines with a figure per thread:
//!
//! ```text
//! # /dev/cpu_dma_latency set to 0us
//! T: 0 ( 2604) P:95 I:1000 C: 349868 Min:      4 Act:    6 Avg:    5 Max:      30
//!
//! # Histogram
//! …
//! # Total: 000010000 000009998
//! # Min Latencies: 00003 00002
//! # Avg Latencies: 00004 00004
//! # Max Latencies: 00031 00127
//! # Histogram Overflows: 00000 00000
//! ```

use std::collections::BTreeMap;

use super::{
    Draft, HeadedLine, Journal, Result, Starts, Text, ThreadLatency, Value, add_latencies, date,
    lines, number_at, outcome_at, string_at, word_after,
};
use crate::figure;

/// The only version of its JSON.
const FILE_VERSION: f64 = 1.0;

/// Heads of a histogram's lines with a figure per thread.
const TOTAL_HEAD: &str = "# Total:";
const MIN_HEAD: &str = "# Min Latencies:";
const AVG_HEAD: &str = "# Avg Latencies:";
const MAX_HEAD: &str = "# Max Latencies:";
const OVERFLOWS_HEAD: &str = "# Histogram Overflows:";

/// The first line, about what cyclictest did to the processors.
const HEAD: &str = "# /dev/cpu_dma_latency";

/// Minimum characters of a maximum in a thread's line: blanks fill it up.
const MIN_SUMMARY_WIDTH: usize = 8;

/// Minimum digits of a figure below a histogram: zeros fill it up.
const MIN_HISTOGRAM_DIGITS: usize = 5;

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    match &text.json {
        Some(json) => is_json(json),
        None => text.raw.lines().any(|line| is_thread_line(line) || line.starts_with(MIN_HEAD)),
    }
}

/// True of cyclictest's JSON. Other programs of rt-tests write documents of the same form, which
/// differ by the program in the command line.
fn is_json(json: &Value) -> bool {
    // Two of rt-tests' keys end in a colon.
    let command = string_at(json, &["cmdline:"]);
    let program = command.split_whitespace().next().unwrap_or("cyclictest");
    let has = |key: &str| json.get(key).is_some();
    let is_of_rt_tests = has("rt_test_version:") || has("file_version") && has("thread");
    is_of_rt_tests && program.ends_with("cyclictest")
}

/// Notes where runs begin: at the next histogram, or at lines of threads that do not go on with
/// those before them. While a run goes on, it prints its threads again and again.
pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    // The last line of each thread.
    let mut threads: BTreeMap<&str, ThreadLine<'_>> = BTreeMap::new();
    // True after a line that only the start of a run has.
    let mut is_divided = false;
    for (number, line) in text.lines() {
        if line.starts_with(HEAD) || line.contains("cyclictest ") {
            if !is_divided {
                starts.may_begin(number);
            }
            is_divided = true;
        } else if line.starts_with("# Histogram") && !line.contains(':') {
            starts.note_mark_or_begin(number, "histogram".to_owned());
        } else if let Some(thread) = ThreadLine::parse(line) {
            let last = threads.get(thread.id);
            if last.is_some_and(|last| is_divided || !thread.goes_on_after(last)) {
                threads.clear();
                starts.begin_another(number);
            }
            starts.go_on();
            is_divided = false;
            threads.insert(thread.id, thread);
        }
    }
}

/// A thread's line, as far as it distinguishes one run from another.
struct ThreadLine<'t> {
    id: &'t str,
    process: &'t str,
    interval: Option<&'t str>,
    cycles: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
}

impl<'t> ThreadLine<'t> {
    fn parse(line: &'t str) -> Option<ThreadLine<'t>> {
        if !is_thread_line(line) {
            return None;
        }
        let (id, after) = line.strip_prefix("T:")?.split_once('(')?;
        let (process, figures) = after.split_once(')')?;
        let number_after = |word: &str| word_after(figures, word).and_then(lines::measured_number);
        Some(ThreadLine {
            id: id.trim(),
            process: process.trim(),
            interval: figures
                .split_once("I:")
                .and_then(|(_, after)| after.split_whitespace().next()),
            cycles: number_after("C:"),
            min: number_after("Min:"),
            max: number_after("Max:"),
        })
    }

    /// True if the run of an earlier line can have come to this one: its cycles and its maximum
    /// grow, and its minimum falls.
    fn goes_on_after(&self, earlier: &ThreadLine<'_>) -> bool {
        (self.process, self.interval) == (earlier.process, earlier.interval)
            && earlier.cycles <= self.cycles
            && earlier.max <= self.max
            && self.min <= earlier.min
    }
}

/// True if the last line has all digits of its last figure.
pub(crate) fn is_whole(_: &Text<'_>, line: &str) -> bool {
    let digits = line.bytes().rev().take_while(u8::is_ascii_digit).count();
    match line.rsplit_once("Max:") {
        Some((_, maximum)) => digits > 0 && maximum.len() >= MIN_SUMMARY_WIDTH,
        None => line.starts_with('#') && (digits == 0 || digits >= MIN_HISTOGRAM_DIGITS),
    }
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "cyclictest".clone_into(&mut draft.run.tool);
    let threads = match &source.json {
        Some(json) => read_json(json, source, &mut draft)?,
        None if source.raw.contains(MIN_HEAD) => read_histogram(source)?,
        None => read_summary(source)?,
    };
    // JSON says whether its figures are in ns, and `read_json` converts them to us.
    let unit = if source.json.is_none() && counts_ns(source) { "ns" } else { "us" };
    add_latencies("cyclictest", unit, &threads, source, &mut draft)?;
    Ok(vec![draft.finish()])
}

/// Reads the threads of a JSON document, with latencies in us, and puts its facts into the draft.
fn read_json(json: &Value, source: &Text<'_>, draft: &mut Draft<'_>) -> Result<Vec<ThreadLatency>> {
    if number_at(json, &["file_version"]) != Some(FILE_VERSION) {
        let version = string_at(json, &["file_version"]);
        let line = source.line_of("\"file_version\"");
        return Err(source.unknown_version_error(line, "cyclictest's JSON", &version, "version 1"));
    }

    let version = string_at(json, &["rt_test_version:"]);
    draft.run.tool = format!("cyclictest {version}").trim_end().to_owned();
    draft.set_host(&string_at(json, &["sysinfo", "nodename"]));
    let date = string_at(json, &["start_time"]);
    draft.set_start_or_quote(&date, date::from_any_form(&date));
    for (name, label, group, path) in [
        ("kernel.release", "Release", "Kernel", &["sysinfo", "release"][..]),
        ("system.architecture", "Architecture", "System", &["sysinfo", "machine"]),
        ("imported.command", "Command", "Imported", &["cmdline:"]),
    ] {
        draft.add_fact(name, label, group, &string_at(json, path));
    }
    if let Some(code) = number_at(json, &["return_code"]).filter(|code| *code != 0.0) {
        draft.warn(format!(
            "cyclictest ended with status {code}: what it measured until then counts"
        ));
    }

    // With -N this key is 1, and latencies are in ns; otherwise they are in us.
    let units_per_us = if number_at(json, &["resolution_in_ns"]) == Some(1.0) { 1e3 } else { 1.0 };
    let mut latencies = Vec::new();
    for (id, thread) in json.get("thread").and_then(Value::as_object).into_iter().flatten() {
        // Each key must be there. Where one has no number, the figure is NaN.
        let figures = ["cycles", "min", "avg", "max"]
            .map(|key| outcome_at(thread, &[key]).map(|outcome| outcome.unwrap_or(f64::NAN)));
        let [Some(samples), Some(min), Some(mean), Some(max)] = figures else {
            let line = source.line_of(&format!("\"{id}\""));
            let wanted = "cycles, min, avg and max of a thread";
            return Err(source.damaged_line_error(line, id, wanted));
        };
        latencies.push(ThreadLatency {
            samples,
            min: min / units_per_us,
            mean: mean / units_per_us,
            max: max / units_per_us,
        });
    }
    Ok(latencies)
}

fn is_thread_line(line: &str) -> bool {
    line.starts_with("T:") && line.contains("I:") && line.contains("C:")
}

/// True if a command line in the text has `-N`, so that the figures are in ns. Neither the summary
/// nor the histogram names its unit.
fn counts_ns(source: &Text<'_>) -> bool {
    let mut command_lines =
        source.raw.lines().filter_map(|line| line.split_once("cyclictest ")).map(|(_, line)| line);
    command_lines.any(|line| {
        line.split_whitespace().any(|word| match word.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => letters.contains('N'),
            _ => word == "--nsecs",
        })
    })
}

/// Reads the last line of each thread: without `-q` there are many.
fn read_summary(source: &Text<'_>) -> Result<Vec<ThreadLatency>> {
    let mut threads: Vec<(&str, ThreadLatency)> = Vec::new();
    for (number, line) in source.lines().filter(|(_, line)| line.starts_with("T:")) {
        let id = word_after(line, "T:").unwrap_or_default();
        let figures = ["C:", "Min:", "Avg:", "Max:"]
            .map(|word| word_after(line, word).and_then(figure::parse_number));
        let [Some(samples), Some(min), Some(mean), Some(max)] = figures else {
            let wanted = "cycles, minimum, average and maximum";
            return Err(source.damaged_line_error(number, line, wanted));
        };
        threads.retain(|(known, _)| *known != id);
        threads.push((id, ThreadLatency { samples, min, mean, max }));
    }
    Ok(threads.into_iter().map(|(_, latency)| latency).collect())
}

/// Reads the lines below a histogram.
fn read_histogram(source: &Text<'_>) -> Result<Vec<ThreadLatency>> {
    let within = figures_after(source, TOTAL_HEAD)?;
    let min = figures_after(source, MIN_HEAD)?;
    let mean = figures_after(source, AVG_HEAD)?;
    let max = figures_after(source, MAX_HEAD)?;
    // Latencies beyond the histogram are not in its total.
    let beyond = figures_after(source, OVERFLOWS_HEAD).unwrap_or_default();

    let mut latencies = Vec::new();
    for (thread, within) in within.iter().enumerate() {
        // With several threads some versions add a figure of all of them to a line.
        let (Some(min), Some(mean), Some(max)) =
            (min.get(thread), mean.get(thread), max.get(thread))
        else {
            break;
        };
        let samples = within + beyond.get(thread).unwrap_or(&0.0);
        latencies.push(ThreadLatency { samples, min: *min, mean: *mean, max: *max });
    }
    Ok(latencies)
}

/// The figures of all threads in the line with a head.
fn figures_after(source: &Text<'_>, head: &str) -> Result<Vec<f64>> {
    let HeadedLine { number, line, rest } = source.find_headed(head)?;
    let figures: Option<Vec<f64>> = rest.split_whitespace().map(figure::parse_number).collect();
    figures.ok_or_else(|| source.damaged_line_error(number, line, "figure of each thread"))
}
