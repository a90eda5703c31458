//! What reports share about how tests scale.

use super::{figure, plus_minus};
use analysis::{Missing, Results, Scaling, named};
use stats::Estimate;

/// What the columns and the law mean.
pub(super) const LEGEND: &str = "Gain: the total over that with the fewest copies; step: over that of the line above; \
efficiency: the gain, of what as many times the copies would bring; fair: what the slowest copy did of what the fastest did; \
GHz: the clock that the law is normalised by. The Universal Scalability Law: sigma is the share of the work that copies do \
one after another, kappa what each pair of them costs (Amdahl's law has none); below zero, copies help each other. Peak: the \
copies with the highest total; below 1 where a second copy lowers it. Brackets have the 95 % interval. A star: beyond a \
border, and not part of the law.";

/// A test that has no result at some levels, for one reason.
pub(super) struct Gap {
    pub(super) label: String,
    /// `skipped` or `error`.
    pub(super) kind: &'static str,
    /// `1, 2, 4 copies`.
    pub(super) copies: String,
    pub(super) reason: String,
}

/// Returns what is missing, each reason once per test.
pub(super) fn gaps(results: &Results) -> Vec<Gap> {
    let mut gaps: Vec<(Gap, Vec<u32>)> = Vec::new();
    for (kind, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list.iter().filter(|missing| !missing.latency) {
            let label = title(missing);
            let same = |(gap, _): &&mut (Gap, Vec<u32>)| {
                (&gap.label, gap.kind, &gap.reason) == (&label, kind, &missing.reason)
            };
            match gaps.iter_mut().find(same) {
                Some((_, levels)) => levels.push(missing.key.copies),
                None => {
                    let gap = Gap { label, kind, copies: String::new(), reason: missing.reason.clone() };
                    gaps.push((gap, vec![missing.key.copies]));
                }
            }
        }
    }
    let told = |(gap, levels): (Gap, Vec<u32>)| {
        let list: Vec<String> = levels.iter().map(u32::to_string).collect();
        Gap { copies: format!("{} {}", list.join(", "), if levels == [1] { "copy" } else { "copies" }), ..gap }
    };
    gaps.into_iter().map(told).collect()
}

fn title(missing: &Missing) -> String {
    named(&missing.label, &missing.key.load, &missing.key.condition)
}

/// Returns every level that any test has.
pub(super) fn levels(scaling: &[Scaling]) -> Vec<u32> {
    let mut levels: Vec<u32> = scaling.iter().flat_map(|test| test.levels.iter().map(|level| level.copies)).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// Returns a number in at most seven characters: four figures, and a letter for thousands.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size >= 999.95e9 => format!("{value:.1e}"),
        size if size >= 999.95e6 => format!("{}G", four(value / 1e9)),
        size if size >= 999.95e3 => format!("{}M", four(value / 1e6)),
        size if size >= 99_999.5 => format!("{}K", four(value / 1e3)),
        _ => four(value),
    }
}

fn four(value: f64) -> String {
    match value.abs() {
        size if size >= 999.95 => format!("{value:.0}"),
        size if size >= 99.995 => format!("{value:.1}"),
        size if size >= 9.9995 => format!("{value:.2}"),
        size if size >= 0.999_95 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Returns sigma or kappa with three figures, however small.
pub(super) fn coefficient(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_owned(),
        0.0 => "0".to_owned(),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        size if size >= 0.099_95 => format!("{value:.3}"),
        size if size >= 0.009_995 => format!("{value:.4}"),
        size if size >= 0.000_999_5 => format!("{value:.5}"),
        size if size >= 0.000_05 => format!("{value:.6}"),
        _ => format!("{value:.1e}"),
    }
}

/// Returns a gain: `1.40x`.
pub(super) fn gain(value: f64) -> String {
    format!("{value:.2}x")
}

/// Returns a share in per cent: `62.5%`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Returns the ends of an interval in words; an end that does not exist is `∞`.
pub(super) fn range(estimate: &Estimate, words: fn(f64) -> String) -> String {
    let end = |end: f64| if end.is_finite() { words(end) } else { "∞".to_owned() };
    match estimate.low.is_finite() {
        true => format!("{} to {}", end(estimate.low), end(estimate.high)),
        false => "±∞".to_owned(),
    }
}

/// A parameter of the law: its name, its value and its interval.
pub(super) type Parameter = (&'static str, String, String);

/// Returns the parameters of a test's law.
pub(super) fn parameters(test: &Scaling) -> Vec<Parameter> {
    let Some(law) = &test.law else { return Vec::new() };
    let mut parameters = vec![("sigma", coefficient(law.sigma.value), range(&law.sigma, coefficient))];
    if let Some(kappa) = &law.kappa {
        parameters.push(("kappa", coefficient(kappa.value), range(kappa, coefficient)));
        parameters.push(match &law.peak {
            Some(peak) => ("peak", figure(peak.value), range(peak, figure)),
            None => ("peak", "none".to_owned(), String::new()),
        });
    }
    parameters
}

/// Returns the law in a line: `sigma 0.58 (0.55 to 0.61), …`.
pub(super) fn law(test: &Scaling) -> Option<String> {
    let told = |(name, value, range): Parameter| {
        if range.is_empty() { format!("{name} {value}") } else { format!("{name} {value} ({range})") }
    };
    let words: Vec<String> = parameters(test).into_iter().map(told).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns the fields of a level's line: total, ±, gain, ±, step, efficiency, fair and GHz, empty where there is nothing.
pub(super) fn fields(test: &Scaling, place: usize) -> [String; 8] {
    let level = &test.levels[place];
    let more = |text: String| if place == 0 { String::new() } else { text };
    [
        short(level.total.value),
        plus_minus(&level.total),
        more(gain(level.gain.value)),
        more(plus_minus(&level.gain)),
        level.step.map_or_else(String::new, |step| gain(step.value)),
        more(percent(level.efficiency.value)),
        level.fairness.map_or_else(String::new, |share| format!("{:.0}%", share * 100.0)),
        level.clock.map_or_else(String::new, figure),
    ]
}

/// Returns the number of copies of a level, with a star where the law is not of it.
pub(super) fn copies(test: &Scaling, place: usize) -> String {
    format!("{}{}", test.levels[place].copies, if place < test.fitted { "" } else { "*" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [
            (1137.0, "1137"),
            (20.8, "20.80"),
            (4.0, "4.000"),
            (0.098, "0.0980"),
            (99_999.0, "99999"),
            (123_456.0, "123.5K"),
            (999_960.0, "1.000M"),
            (41_234_567.0, "41.23M"),
            (9_876_543_210.0, "9.877G"),
            (1e13, "1.0e13"),
        ];
        for (value, text) in shown {
            assert_eq!(short(value), text);
            assert!(text.len() <= 7);
        }
        for (value, text) in
            [(0.580_95, "0.581"), (0.009_524, "0.00952"), (-0.04, "-0.0400"), (2.3, "2.30"), (1e-7, "1.0e-7")]
        {
            assert_eq!(coefficient(value), text);
        }
    }

    #[test]
    fn intervals_may_be_open() {
        assert_eq!(range(&Estimate { value: 2.0, low: 1.0, high: f64::INFINITY }, figure), "1.00 to ∞");
        assert_eq!(range(&Estimate::alone(2.0), figure), "±∞");
    }
}
