//! schbench's text: percentiles of wake-ups and requests, and requests per second; of several runs each a trial.

use super::{Draft, Heading, Journal, Result, Text, ensure, lines};
use words::Grouped;

/// The end of a section's name, before what its percentiles are of.
const PERCENTILES: &str = " percentiles (";

/// The first section of a run.
const FIRST: &str = "Wakeup Latencies percentiles (";

const RATE: &str = "average rps: ";

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.has_line(FIRST)
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "schbench".clone_into(&mut draft.run.tool);
    let mut figures: Vec<(Heading<'_>, f64)> = Vec::new();
    // Sections are printed while a run goes on, too: the last of a run counts.
    let mut last: Vec<(String, f64)> = Vec::new();
    let mut section = "";
    for (number, line) in source.lines() {
        if let Some((name, _)) = line.split_once(PERCENTILES) {
            section = name;
            last.retain(|known| !known.0.starts_with(name));
        } else if let Some((percentile, value)) = percentile(line).filter(|_| section.ends_with("Latencies")) {
            last.push((format!("{section} p{percentile}"), value));
        } else if let Some(rate) = line.strip_prefix(RATE) {
            let Some(rate) = lines::number(rate.trim()) else { return Err(source.damaged(number, line, "rate")) };
            figures.push((Heading::rate("schbench requests", "1/s"), rate));
            let latencies = last.drain(..).map(|(name, us)| (Heading::time(format!("schbench {name}"), "us"), us));
            figures.extend(latencies);
        }
    }
    ensure!(!figures.is_empty(), source.cut("the average of requests per second at its end"));
    for (heading, values) in figures.into_iter().grouped() {
        draft.figure(&heading, values);
    }
    Ok(vec![draft.finish()])
}

/// Returns a percentile and its value: `99` and `26` of `* 99.0th: 26         (161 samples)`.
fn percentile(line: &str) -> Option<(&str, f64)> {
    let (percentile, value) = line.trim_start_matches([' ', '\t', '*']).split_once("th: ")?;
    Some((percentile.trim_end_matches(".0"), lines::number(value.split_whitespace().next()?)?))
}
