//! hyperfine's tables: CSV in seconds, and Markdown, AsciiDoc and Org mode in a unit that suits the
//! first command.

use anyhow::Result;
use journal::{Sort, TimeUnit};
use words::Unique;

use super::{Benchmark, benchmarks, ratio, run, sorted_by_mean};
use crate::subject::Subject;

/// A row of a table in markup.
struct Row {
    command: String,
    mean: String,
    min: String,
    max: String,
    relative: String,
}

impl Row {
    fn cells(&self) -> [&str; 5] {
        [&self.command, &self.mean, &self.min, &self.max, &self.relative]
    }
}

/// A table in markup: its columns, and a row for each command.
struct Table {
    columns: [String; 5],
    rows: Vec<Row>,
}

/// The times of a run's commands as CSV, a column for each parameter last.
///
/// # Errors
/// As [`run`] and [`benchmarks`].
pub(crate) fn csv(subject: Subject<'_>) -> Result<String> {
    let benchmarks = benchmarks(run(subject)?)?;
    let parameters = benchmarks.iter().flat_map(|benchmark| &benchmark.given.parameters);
    let parameters = parameters.map(|parameter| &parameter.name).unique();

    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];
    let own = parameters.iter().map(|name| words::csv_field(&format!("parameter_{name}")));
    writer.write_record(columns.iter().map(|column| (*column).to_owned()).chain(own))?;
    for benchmark in &benchmarks {
        let Benchmark { given, mean, deviation, median, user, system, min, max, .. } = benchmark;
        let numbers = [*mean, deviation.unwrap_or(0.0), *median, *user, *system, *min, *max];
        let value = |name: &&String| {
            let found = given.parameters.iter().find(|parameter| parameter.name == **name);
            found.map_or_else(String::new, |parameter| parameter_field(&parameter.value))
        };
        writer.write_record(
            std::iter::once(words::csv_field(&given.command))
                .chain(numbers.iter().map(f64::to_string))
                .chain(parameters.iter().map(value)),
        )?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// A negative number is no formula.
fn parameter_field(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.to_owned() } else { words::csv_field(value) }
}

/// The times of a run's commands as a table in Markdown.
///
/// # Errors
/// As [`run`] and [`benchmarks`].
pub(crate) fn markdown(subject: Subject<'_>) -> Result<String> {
    let Table { columns, rows } = table(subject)?;
    let mut text = format!("| {} |\n|:---|---:|---:|---:|---:|\n", columns.join(" | "));
    for row in &rows {
        let [command, numbers @ ..] = row.cells();
        let command = command.replace('|', "\\|");
        text.push_str(&format!("| `{command}` | {} |\n", numbers.join(" | ")));
    }
    Ok(words::log_lines(&text))
}

/// The times of a run's commands as a table in AsciiDoc.
///
/// # Errors
/// As [`run`] and [`benchmarks`].
pub(crate) fn asciidoc(subject: Subject<'_>) -> Result<String> {
    let Table { columns, rows } = table(subject)?;
    let mut text = "[cols=\"<,>,>,>,>\"]\n|===\n".to_owned();
    text.extend(columns.iter().map(|column| format!("| {column} \n")));
    for row in &rows {
        let [command, numbers @ ..] = row.cells();
        text.push_str(&format!("\n| `{}` \n", command.replace('|', "\\|")));
        text.extend(numbers.iter().map(|number| format!("| {number} \n")));
    }
    Ok(words::log_lines(&(text + "|===\n")))
}

/// The times of a run's commands as a table of Org mode.
///
/// # Errors
/// As [`run`] and [`benchmarks`].
pub(crate) fn orgmode(subject: Subject<'_>) -> Result<String> {
    let Table { columns, rows } = table(subject)?;
    let [command, numbers @ ..] = &columns;
    let mut text = format!("| {command}  |  {} |\n|--+--+--+--+--|\n", numbers.join(" |  "));
    for row in &rows {
        let [command, numbers @ ..] = row.cells();
        let command = command.replace('|', "\\vert{}");
        text.push_str(&format!("| ={command}=  |  {} |\n", numbers.join(" |  ")));
    }
    Ok(words::log_lines(&text))
}

fn table(subject: Subject<'_>) -> Result<Table> {
    let results = run(subject)?;
    let benchmarks = benchmarks(results)?;
    let unit = results.run.time_unit;
    let unit = unit.unwrap_or_else(|| TimeUnit::suited(benchmarks[0].mean * 1000.0));
    let (symbol, per_ms) = unit.scale();
    let decimals = if unit == TimeUnit::Second { 3 } else { 1 };
    let number = |seconds: f64| format!("{:.decimals$}", seconds * 1000.0 * per_ms);

    let sorted = sorted_by_mean(&benchmarks);
    let fastest = sorted[0];
    let in_order = match results.run.sort {
        Some(Sort::MeanTime) => sorted,
        _ => benchmarks.iter().collect(),
    };
    let rows = in_order.into_iter().map(|benchmark| Row {
        command: benchmark.given.title(),
        mean: match benchmark.deviation {
            Some(deviation) => format!("{} ± {}", number(benchmark.mean), number(deviation)),
            None => number(benchmark.mean),
        },
        min: number(benchmark.min),
        max: number(benchmark.max),
        relative: relative(benchmark, fastest),
    });
    let columns = [
        "Command".to_owned(),
        format!("Mean [{symbol}]"),
        format!("Min [{symbol}]"),
        format!("Max [{symbol}]"),
        "Relative".to_owned(),
    ];
    Ok(Table { columns, rows: rows.collect() })
}

/// The mean of a command as a multiple of the fastest one's.
fn relative(benchmark: &Benchmark<'_>, fastest: &Benchmark<'_>) -> String {
    if std::ptr::eq(benchmark, fastest) {
        return "1.00".to_owned();
    }
    match ratio(benchmark, fastest) {
        (ratio, Some(deviation)) => format!("{ratio:.2} ± {deviation:.2}"),
        (ratio, None) => format!("{ratio:.2}"),
    }
}
