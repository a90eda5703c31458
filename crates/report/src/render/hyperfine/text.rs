//! What hyperfine prints: each benchmark, and a summary. It ranks only what can be told apart, and
//! ends in the sentences and notes of `ab`.

use analysis::{Cost, Measure, Results, Verdict};
use anyhow::Result;
use journal::{Sort, TimeUnit};
use stats::Estimate;

use super::{Benchmark, measured, ratio, run, sorted_by_mean};
use crate::subject::Subject;
use crate::views;

/// Columns of a time with its unit.
const TIME_WIDTH: usize = 8;

/// The benchmarks of a run and how they compare.
///
/// # Errors
/// As [`run`]. Of a run that measured no command there is nothing to say.
pub(crate) fn render(subject: Subject<'_>) -> Result<String> {
    let results = run(subject)?;
    let benchmarks = measured(results);
    let mut text = String::new();
    for (number, benchmark) in (1..).zip(&benchmarks) {
        text.push_str(&format!("Benchmark {number}: {}\n", benchmark.given.title()));
        text.push_str(&times(benchmark, results.run.time_unit));
        text.push_str(" \n");
    }
    let cost = results.cost().filter(|_| benchmarks.len() > 1);
    if let Some(cost) = cost {
        text.push_str(&match results.run.sort {
            Some(Sort::Command) => speeds(&benchmarks, results),
            _ => summary(&benchmarks, results, cost),
        });
        for sentence in views::ab_sentences(results, cost) {
            text.push_str(&format!("\n{}\n", words::wrap("", &sentence, words::WIDTH).join("\n")));
        }
    }
    if !benchmarks.is_empty() {
        text.push_str(&notes(results, cost.is_some()));
    }
    Ok(words::log_lines(&text))
}

/// What else must be known of a run, a list item each: `has_sentences` that hold some of it.
fn notes(results: &Results, has_sentences: bool) -> String {
    let mut notes = if has_sentences { Vec::new() } else { views::notes_in_answer(results) };
    notes.extend(views::caveats_beside_answer(results));

    let mut text = String::new();
    if has_sentences && !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        text.push_str(&words::wrap("- ", &note, words::WIDTH).join("\n"));
        text.push('\n');
    }
    text
}

/// The lines about a benchmark's times.
fn times(benchmark: &Benchmark<'_>, unit: Option<TimeUnit>) -> String {
    let Benchmark { times, mean, deviation, user, system, min, max, .. } = benchmark;
    let unit = unit.unwrap_or_else(|| TimeUnit::suited(mean * 1000.0));
    let (symbol, per_ms) = unit.scale();
    let decimals = if unit == TimeUnit::Second { 3 } else { 1 };
    let time = |seconds: f64| format!("{:.decimals$} {symbol}", seconds * 1000.0 * per_ms);

    let used = format!("[User: {}, System: {}]", time(*user), time(*system));
    let mean = time(*mean);
    let mut text = match deviation {
        Some(deviation) => {
            let (deviation, min, max) = (time(*deviation), time(*min), time(*max));
            let runs = words::count(times.len(), "run");
            format!(
                "  Time (mean ± σ):     {mean:>TIME_WIDTH$} ± {deviation:>TIME_WIDTH$}    {used}\n  \
                   Range (min … max):   {min:>TIME_WIDTH$} … {max:>TIME_WIDTH$}    {runs}\n"
            )
        }
        None => {
            let room = " ".repeat(TIME_WIDTH + 7);
            format!("  Time (abs ≡):        {mean:>TIME_WIDTH$}{room}{used}\n")
        }
    };
    let failed = benchmark.executions.iter().filter(|execution| execution.status != 0).count();
    if failed > 0 {
        let failures = words::count(failed, "execution");
        text.push_str(&format!("  Warning: Ignoring non-zero exit code: {failures} failed.\n"));
    }
    text
}

/// How the other commands compare with the reference or the fastest, where that can be told.
fn summary(benchmarks: &[Benchmark<'_>], results: &Results, cost: &Cost) -> String {
    let sorted = sorted_by_mean(benchmarks);
    let Some(base) = compared_with(&sorted, results) else {
        return String::new();
    };

    let mut text = format!("Summary\n  {} ran\n", base.given.title());
    for other in sorted.iter().filter(|other| !std::ptr::eq(**other, base)) {
        let title = other.given.title();
        let is_slower = other.mean >= base.mean;
        let (ratio, deviation) = if is_slower { ratio(other, base) } else { ratio(base, other) };
        let word = if is_slower { "faster" } else { "slower" };
        let line = match (is_apart(base, other, cost), deviation) {
            (true, Some(deviation)) => {
                format!("{ratio:>8.2} ± {deviation:.2} times {word} than {title}")
            }
            (true, None) => format!("{ratio:>8.2} times {word} than {title}"),
            (false, _) => format!("    cannot be told from {title}"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// How the commands compare with the reference or the fastest, in the order in which they were
/// given. As in hyperfine, the ratio of a faster one is above 1, too.
fn speeds(benchmarks: &[Benchmark<'_>], results: &Results) -> String {
    let sorted = sorted_by_mean(benchmarks);
    let Some(base) = compared_with(&sorted, results) else {
        return String::new();
    };

    let mut text = "Relative speed comparison\n".to_owned();
    for benchmark in benchmarks {
        let is_slower = benchmark.mean >= base.mean;
        let (ratio, deviation) =
            if is_slower { ratio(benchmark, base) } else { ratio(base, benchmark) };
        let deviation = match deviation {
            Some(deviation) if !std::ptr::eq(benchmark, base) => format!(" ± {deviation:>5.2}"),
            _ => " ".repeat(8),
        };
        text.push_str(&format!("  {ratio:>10.2}{deviation}  {}\n", benchmark.given.title()));
    }
    text
}

/// The command that the others are compared with: the one of --reference, else the fastest.
fn compared_with<'a, 'b>(
    sorted: &[&'a Benchmark<'b>],
    results: &Results,
) -> Option<&'a Benchmark<'b>> {
    let is_reference = |benchmark: &&&Benchmark<'_>| benchmark.given.name == results.run.against;
    let reference = sorted.iter().find(is_reference).filter(|_| results.run.has_reference);
    reference.or(sorted.first()).copied()
}

/// True if two commands differ by the verdict of the run, or because the intervals of their
/// differences from the reference do not overlap.
fn is_apart(one: &Benchmark<'_>, other: &Benchmark<'_>, cost: &Cost) -> bool {
    let known = |benchmark: &Benchmark<'_>| {
        let name = &benchmark.given.name;
        let condition = cost.conditions.iter().find(|condition| condition.name == *name)?;
        let comparisons = condition.effects.iter().map(|effect| &effect.comparison);
        comparisons.into_iter().find(|comparison| comparison.measure == Measure::Score)
    };
    let is_reference = |benchmark: &Benchmark<'_>| benchmark.given.name == cost.against;
    match (known(one), known(other)) {
        (Some(one), Some(other)) => are_disjoint(one.change(), other.change()),
        (Some(comparison), None) if is_reference(other) => is_decided(comparison.verdict),
        (None, Some(comparison)) if is_reference(one) => is_decided(comparison.verdict),
        _ => false,
    }
}

fn is_decided(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Worse | Verdict::Faster | Verdict::Better)
}

fn are_disjoint(one: Estimate, other: Estimate) -> bool {
    one.bounded() && other.bounded() && (one.high < other.low || other.high < one.low)
}
