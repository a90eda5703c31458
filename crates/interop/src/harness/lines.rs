//! The formats of benchmark programs that are lines of text.

use std::collections::{BTreeMap, BTreeSet};

use super::Measurements;
use crate::lines::number;
use catalogue::Metric;

/// The worth of criterion's units in ns.
const TIMES: [(&str, f64); 6] = [("ps", 1e-3), ("ns", 1.0), ("µs", 1e3), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A line of Go's: the benchmark's name, then pairs of a figure and its unit.
fn go_line(line: &str) -> Option<(&str, Vec<(f64, &str)>)> {
    let mut words = line.split_whitespace();
    let name = words.next().filter(|name| name.starts_with("Benchmark"))?;
    words.next()?.parse::<u64>().ok()?;
    let words: Vec<&str> = words.collect();
    let pairs = words.chunks_exact(2).map(|pair| Some((number(pair[0])?, pair[1])));
    let pairs: Vec<(f64, &str)> = pairs.collect::<Option<_>>()?;
    (!pairs.is_empty()).then_some((name, pairs))
}

pub(super) fn is_gobench(text: &str) -> bool {
    text.lines().any(|line| go_line(line).is_some())
}

/// Adds the figures of Go's benchmarks, those of `-count` as one. Where there are several packages,
/// a name has its package.
pub(super) fn gobench(text: &str, to: &mut Measurements) {
    let packages: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix("pkg: ")).collect();
    let (mut package, mut better) = (String::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("pkg: ").filter(|_| packages.len() > 1) {
            package = format!("{}.", name.trim());
        } else if let Some((unit, said)) = line.strip_prefix("Unit ").and_then(|line| line.split_once(' ')) {
            let said = said.split_whitespace().find_map(|word| word.strip_prefix("better="));
            better.extend(said.map(|said| (unit, said == "higher")));
        } else if let Some((name, pairs)) = go_line(line) {
            for (value, unit) in pairs {
                let rate = better.get(unit).copied().unwrap_or(unit.ends_with("/s"));
                let metric = if rate { Metric::Rate } else { Metric::Time };
                to.add(&format!("{package}{name}"), unit, metric, Some(value));
            }
        }
    }
}

/// Returns the name and the estimate in ns of a line of criterion, `hash  time:   [1.17 µs 1.51 µs
/// 2.16 µs]`, or of libtest, `test hash ... bench:  1,510 ns/iter (+/- 20)`. The name is empty where
/// it was too long for the line.
fn criterion_line(line: &str) -> Option<(&str, f64)> {
    if let Some((name, figure)) = line.strip_prefix("test ").and_then(|line| line.split_once(" ... bench:")) {
        let (figure, _) = figure.split_once(" ns/iter")?;
        return Some((name.trim(), number(&figure.trim().replace(',', ""))?));
    }
    let (name, interval) = line.split_once("time:")?;
    let interval = interval.trim().strip_prefix('[')?.strip_suffix(']')?;
    let words: Vec<&str> = interval.split_whitespace().collect();
    let [_, _, estimate, unit, _, _] = words[..] else { return None };
    let (_, worth) = TIMES.iter().find(|(known, _)| *known == unit)?;
    Some((name.trim(), number(estimate)? * worth))
}

pub(super) fn is_criterion(text: &str) -> bool {
    text.lines().any(|line| criterion_line(line).is_some())
}

/// Adds criterion's estimates in ns. Its throughput says the same, and is left out.
pub(super) fn criterion(text: &str, to: &mut Measurements) {
    let mut before = "";
    for line in text.lines() {
        if let Some((name, estimate)) = criterion_line(line) {
            let name = if name.is_empty() { before } else { name };
            to.add(name, "ns", Metric::Time, Some(estimate));
        }
        before = line.trim();
    }
}
