//! cyclictest's summary (`-q`), histogram (`-h`) and JSON (`--json`): wake-up latencies of its threads.

use super::{Draft, Journal, Latencies, Result, Text, Value, after, date, latencies, lines, number, string_at};

/// The only version of its JSON.
const FILE_VERSION: f64 = 1.0;

/// Heads of a histogram's lines with a figure per thread.
const HISTOGRAM: [&str; 4] = ["# Total:", "# Min Latencies:", "# Avg Latencies:", "# Max Latencies:"];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    match &text.json {
        Some(json) => json.get("rt_test_version:").is_some() || is_json(json),
        None => text.raw.lines().any(|line| is_thread(line) || line.starts_with(HISTOGRAM[1])),
    }
}

fn is_json(json: &Value) -> bool {
    json.get("file_version").is_some() && json.get("thread").is_some()
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "cyclictest".clone_into(&mut draft.run.tool);
    let threads = match &source.json {
        Some(json) => of_json(json, source, &mut draft)?,
        None if source.raw.contains(HISTOGRAM[1]) => of_histogram(source)?,
        None => of_summary(source)?,
    };
    latencies("cyclictest", "us", &threads, source, &mut draft)?;
    Ok(vec![draft.finish()])
}

fn of_json(json: &Value, source: &Text<'_>, draft: &mut Draft<'_>) -> Result<Vec<Latencies>> {
    if number(json, &["file_version"]) != Some(FILE_VERSION) {
        let version = string_at(json, &["file_version"]);
        return Err(source.unknown(source.line_of("\"file_version\""), "cyclictest's JSON", &version, "version 1"));
    }
    draft.run.tool = format!("cyclictest {}", string_at(json, &["rt_test_version:"])).trim_end().to_owned();
    draft.host(&string_at(json, &["sysinfo", "nodename"]));
    draft.started(date::of_mail(&string_at(json, &["start_time"])));
    draft.fact("kernel.release", "Release", "Kernel", &string_at(json, &["sysinfo", "release"]));
    draft.fact("system.architecture", "Architecture", "System", &string_at(json, &["sysinfo", "machine"]));
    draft.fact("imported.command", "Command", "Imported", &string_at(json, &["cmdline:"]));
    let threads = json.get("thread").and_then(Value::as_object).map(|threads| threads.iter().collect::<Vec<_>>());
    let of = |(id, thread): (&String, &Value)| {
        let figures = ["cycles", "min", "avg", "max"].map(|key| number(thread, &[key]));
        let [Some(cycles), Some(min), Some(avg), Some(max)] = figures else {
            let line = source.line_of(&format!("\"{id}\""));
            return Err(source.damaged(line, id, "cycles, min, avg and max of a thread"));
        };
        Ok([cycles, min, avg, max])
    };
    threads.unwrap_or_default().into_iter().map(of).collect()
}

fn is_thread(line: &str) -> bool {
    line.starts_with("T:") && line.contains("I:") && line.contains("C:")
}

/// The last line of each thread: without `-q` there are many.
fn of_summary(source: &Text<'_>) -> Result<Vec<Latencies>> {
    let mut threads: Vec<(&str, Latencies)> = Vec::new();
    for (number, line) in source.lines().filter(|(_, line)| line.starts_with("T:")) {
        let figure = |word: &str| after(line, word).and_then(lines::number);
        let id = after(line, "T:").unwrap_or_default();
        let figures = ["C:", "Min:", "Avg:", "Max:"].map(figure);
        let [Some(cycles), Some(min), Some(avg), Some(max)] = figures else {
            return Err(source.damaged(number, line, "cycles, minimum, average and maximum"));
        };
        threads.retain(|(known, _)| *known != id);
        threads.push((id, [cycles, min, avg, max]));
    }
    Ok(threads.into_iter().map(|(_, thread)| thread).collect())
}

fn of_histogram(source: &Text<'_>) -> Result<Vec<Latencies>> {
    let figures = |head: &str| {
        let (number, line, rest) = source.headed(head)?;
        let numbers: Option<Vec<f64>> = rest.split_whitespace().map(lines::number).collect();
        numbers.ok_or_else(|| source.damaged(number, line, "figure of each thread"))
    };
    let [cycles, min, avg, max] = HISTOGRAM.map(figures);
    let (cycles, min, avg, max) = (cycles?, min?, avg?, max?);
    // The total is of the histogram, which latencies beyond it are not in.
    let beyond = figures("# Histogram Overflows:").unwrap_or_default();
    let counted = |(thread, within): (usize, &f64)| within + beyond.get(thread).unwrap_or(&0.0);
    let cycles: Vec<f64> = cycles.iter().enumerate().map(counted).collect();
    // With several threads some versions add a figure of all of them.
    let threads = [min.len(), avg.len(), max.len(), cycles.len()].into_iter().min().unwrap_or(0);
    Ok((0..threads).map(|thread| [cycles[thread], min[thread], avg[thread], max[thread]]).collect())
}
