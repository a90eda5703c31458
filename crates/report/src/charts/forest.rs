//! The forest plot: a difference per row with its interval, a control below it, and what all come to at the end.

use analysis::Verdict;
use stats::{Estimate, Exact};

use super::rows::{self, Form, Mark, Rows, Tick};
use super::scale::Scale;
use super::svg::key_of;
use maud::Markup;

/// A plot of differences in per cent or points, negative if worse.
pub(crate) struct Forest {
    /// The stand-in for the plot where it is not seen.
    pub(crate) label: String,
    /// Differences up to this are drawn on a linear scale, and shaded.
    pub(crate) threshold: f64,
    /// The differences.
    pub(crate) rows: Vec<Row>,
    /// The rows of means.
    pub(crate) means: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) at: Estimate,
    /// True if it is of energies.
    pub(crate) is_energy: bool,
    /// Its verdict; `None` for a mean of others, which is a diamond.
    pub(crate) verdict: Option<Verdict>,
    /// The difference, its interval, the time factor and the verdict in words.
    pub(crate) words: [String; 4],
    /// Everything about it, on hover.
    pub(crate) title: String,
    /// The same between two equal arms, with its hover text.
    pub(crate) control: Option<(Estimate, String)>,
}

/// Differences that may be marked on the axis, the most useful first.
const TICKS: [f64; 25] = [
    0.0, -1.0, 1.0, -10.0, 10.0, -50.0, -90.0, 100.0, -99.0, -2.0, 2.0, -5.0, 5.0, -20.0, 20.0, -80.0, 50.0, -95.0,
    -98.0, 900.0, -99.9, 300.0, -99.99, -0.5, 0.5,
];

/// The smallest remaining rate that is told from none: a time factor of a million.
const LEAST: f64 = 1e-6;

/// Returns the marks of verdicts and what they stand for, with the control's if there is one.
pub(crate) fn legend(has_control: bool, has_runs_apart: bool) -> Vec<(Markup, String)> {
    let mark = |(class, shape): (&str, usize), text: &str| (key_of(class, shape), text.to_owned());
    let control = has_control.then(|| mark(("ink hollow", 0), "A/A control"));
    let differs = has_runs_apart.then(|| mark(look(&Verdict::Differs), "differs between the runs"));
    let verdicts = [
        mark(look(&Verdict::Slower), "slower or worse"),
        mark(look(&Verdict::Faster), "faster or better"),
        mark(look(&Verdict::Same(0.0)), "the same within the threshold"),
        mark(look(&Verdict::Undecided(0.0)), "undecided"),
    ];
    verdicts.into_iter().chain(differs).chain(control).collect()
}

/// The classes and the shape of a verdict's mark.
fn look(verdict: &Verdict) -> (&'static str, usize) {
    match verdict {
        Verdict::Slower | Verdict::Worse => ("h1", 4),
        Verdict::Faster | Verdict::Better => ("h0", 3),
        Verdict::Differs => ("ink", 4),
        Verdict::Same(_) => ("h2", 0),
        Verdict::Undecided(_) => ("ink hollow", 2),
    }
}

impl Forest {
    /// Returns true if any of its rows is of energies.
    pub(crate) fn has_energy(&self) -> bool {
        self.rows.iter().any(|row| row.is_energy)
    }

    /// Returns the plot, once for wide windows and once for narrow ones; `None` without any difference.
    pub(crate) fn draw(mut self) -> Option<Markup> {
        self.rows.retain(|row| row.at.value.is_finite());
        self.means.retain(|row| row.at.value.is_finite());
        self.rows.first()?;
        let axis = Axis { threshold: (self.threshold.max(0.1) / 100.0).log_of_1_plus() };
        let controls = || self.rows.iter().filter_map(|row| row.control.as_ref());
        let all = self.rows.iter().chain(&self.means).map(|row| &row.at).chain(controls().map(|control| &control.0));
        let ends: Vec<f64> = all.flat_map(|at| [at.value, at.low, at.high]).map(|at| axis.unit(at)).collect();
        let above = if self.has_energy() { "factor of time or energy" } else { "times as long" };
        let ticks = TICKS.map(|at| Tick { at: axis.unit(at), below: tick(at), above: factor(at) });
        let [low, high] = [-self.threshold, self.threshold].map(|end| axis.unit(end));
        let chart = Rows {
            label: self.label.clone(),
            scale: Scale::asinh(&ends, 2.5),
            ticks: ticks.into(),
            axes: [above, "delta of the rate, %"],
            shade: Some((low, high, format!("within {} %", self.threshold))),
            lanes: if controls().next().is_some() { vec![15.0, 9.0] } else { vec![15.0] },
            heads: &["delta", "95 %", "time", "verdict"],
            rows: self.rows.into_iter().chain(self.means).map(|row| axis.row(row)).collect(),
            ..Rows::default()
        };
        Some(chart.draw())
    }
}

/// From differences to units of the axis: the threshold's logarithm is 1.
#[derive(Clone, Copy)]
struct Axis {
    threshold: f64,
}

impl Axis {
    fn unit(self, percent: f64) -> f64 {
        if percent.is_finite() { (percent / 100.0).max(LEAST - 1.0).log_of_1_plus() / self.threshold } else { percent }
    }

    /// A point of deadlines met is drawn as a per cent.
    fn estimate(self, delta: &Estimate) -> Estimate {
        delta.map(|percent| self.unit(percent))
    }

    fn row(self, row: Row) -> rows::Row {
        let (class, shape) = row.verdict.as_ref().map_or(("ink", 0), look);
        let (at, form) = (self.estimate(&row.at), if row.verdict.is_some() { Form::Full } else { Form::Span });
        let (class, words) = (class.to_owned(), row.words.to_vec());
        let main = Mark { lane: 0, class, shape, form, at, words, title: row.title };
        let control = row.control.map(|(at, title)| Mark {
            lane: 1,
            class: "ink hollow".to_owned(),
            shape: 0,
            form: Form::Small,
            at: self.estimate(&at),
            words: Vec::new(),
            title,
        });
        rows::Row { label: row.label, strong: form == Form::Span, marks: [main].into_iter().chain(control).collect() }
    }
}

fn tick(percent: f64) -> String {
    if percent == 0.0 { "0".to_owned() } else { format!("{percent:+} %").replace('-', "−") }
}

/// `2×`: how many times as long the same takes.
fn factor(percent: f64) -> String {
    // Small ones with as many digits as tell them apart.
    let decimals = if percent.abs() < 3.0 { 3 } else { 2 };
    let text = format!("{:.decimals$}", 1.0 / (1.0 + percent / 100.0));
    format!("{}×", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_differences_have_room() {
        let axis = Axis { threshold: 0.01f64.ln_1p() };
        let ends: Vec<f64> = [-98.0, 1.0].map(|percent| axis.unit(percent)).to_vec();
        let scale = Scale::asinh(&ends, 2.5).between(0.0, 340.0);
        let at = |percent: f64| scale.at(axis.unit(percent)).unwrap_or(f64::NAN);
        assert!(at(0.0) - at(-1.0) > 20.0 && at(1.0) - at(0.0) > 20.0);
        assert!(at(-50.0) - at(-98.0) > 30.0 && at(-98.0) > 0.0);
        assert!(axis.unit(-100.0).is_finite() && axis.unit(f64::NEG_INFINITY).is_infinite());
    }

    #[test]
    fn ticks_are_differences_and_factors() {
        assert_eq!((tick(-50.0), factor(-50.0)), ("−50 %".to_owned(), "2×".to_owned()));
        let factors: std::collections::BTreeSet<String> = TICKS.map(factor).into();
        assert_eq!(factors.len(), TICKS.len(), "no label stands for two ticks");
        assert_eq!((tick(0.0), factor(-1.0)), ("0".to_owned(), "1.01×".to_owned()));
        assert_eq!((tick(100.0), factor(-99.9)), ("+100 %".to_owned(), "1000×".to_owned()));
    }
}
