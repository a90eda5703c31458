//! The forest plot: a row per change with its interval and verdict, the change of a control below
//! it, and at the end the means.
//!
//! A change is drawn where the table has it: slower is to the left among rates and to the right
//! among times. So rates and times have a drawing each.

use analysis::Verdict;
use maud::Markup;
use stats::Estimate;

use super::rows::{self, Mark, MarkKind, Rows, Shade, Tick};
use super::scale::Scale;
use super::svg::{CIRCLE, DIAMOND, Drawings, TRIANGLE_DOWN, TRIANGLE_UP, key_of};

/// A plot of changes in per cent or points.
pub(crate) struct Forest {
    /// The words for readers who do not see the plot.
    pub(crate) label: String,
    /// Changes up to this are drawn on a linear scale, and shaded.
    pub(crate) threshold: f64,
    pub(crate) rows: Vec<Row>,
    /// The rows of means.
    pub(crate) means: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) label: String,
    /// The change in per cent; of shares of deadlines met, in points.
    pub(crate) at: Estimate,
    /// True of times, energies and memory, whose growth is a loss.
    pub(crate) lower_is_better: bool,
    /// `None` for a mean of others, which is a diamond.
    pub(crate) verdict: Option<Verdict>,
    /// The change, its interval and the verdict in words.
    pub(crate) words: [String; 3],
    /// Everything about it, on hover.
    pub(crate) title: String,
    /// The change between two equal arms, with its hover text.
    pub(crate) control: Option<(Estimate, String)>,
}

/// Changes in per cent that may be marked on the axis, the most useful first.
const TICKS: [f64; 27] = [
    0.0, -1.0, 1.0, -10.0, 10.0, -50.0, -90.0, 100.0, -99.0, -2.0, 2.0, -5.0, 5.0, -20.0, 20.0,
    -80.0, 50.0, -95.0, -98.0, 900.0, -99.9, 300.0, -99.99, -0.5, 0.5, 9900.0, 99900.0,
];

/// Heights in px of the lane of changes, and of that of their controls.
const LANE_PX: f64 = 15.0;
const CONTROL_LANE_PX: f64 = 9.0;

/// The class of a control's mark.
const CONTROL_CLASS: &str = "ink hollow";

/// The classes and the shape of a mark.
struct Look {
    class: &'static str,
    shape: usize,
}

impl Look {
    fn of_verdict(verdict: &Verdict) -> Look {
        let (class, shape) = match verdict {
            Verdict::Slower | Verdict::Worse => ("h1", TRIANGLE_DOWN),
            Verdict::Faster | Verdict::Better => ("h0", TRIANGLE_UP),
            Verdict::Differs | Verdict::Undirected => ("ink", TRIANGLE_DOWN),
            Verdict::Same(_) => ("h2", CIRCLE),
            Verdict::Undecided(_) => ("ink hollow", DIAMOND),
        };
        Look { class, shape }
    }

    fn key(&self) -> Markup {
        key_of(self.class, self.shape)
    }
}

/// The marks of verdicts and what they mean; with that of differences between runs, and that of the
/// control, where there are any.
pub(crate) fn legend(has_control: bool, has_runs_apart: bool) -> Vec<(Markup, String)> {
    let mut meanings = vec![
        (Look::of_verdict(&Verdict::Slower), "slower or worse"),
        (Look::of_verdict(&Verdict::Faster), "faster or better"),
        (Look::of_verdict(&Verdict::Same(0.0)), "the same within the threshold"),
        (Look::of_verdict(&Verdict::Undecided(0.0)), "undecided"),
    ];
    if has_runs_apart {
        meanings.push((Look::of_verdict(&Verdict::Differs), "differs between the runs"));
    }
    if has_control {
        meanings.push((Look { class: CONTROL_CLASS, shape: CIRCLE }, "A/A control"));
    }
    meanings.into_iter().map(|(look, meaning)| (look.key(), meaning.to_owned())).collect()
}

impl Forest {
    /// The drawings with their titles: of rates, of times and what else is better if it is less, or
    /// of both.
    pub(crate) fn panels(self) -> Vec<(String, Drawings)> {
        let Forest { label, threshold, rows, means } = self;
        let (times, rates) = split_by_direction(rows);
        let (mean_times, mean_rates) = split_by_direction(means);

        let rates = Forest { label: label.clone(), threshold, rows: rates, means: mean_rates };
        let times = Forest { label, threshold, rows: times, means: mean_times };
        match (rates.draw(), times.draw()) {
            (Some(rates), Some(times)) => vec![
                ("Rates, slower to the left".to_owned(), rates),
                ("Times and amounts, slower and more to the right".to_owned(), times),
            ],
            (rates, times) => {
                let only = rates.or(times);
                only.into_iter().map(|drawing| (String::new(), drawing)).collect()
            }
        }
    }

    /// The plot of rows of one direction; `None` without any.
    fn draw(self) -> Option<Drawings> {
        self.rows.first()?;
        let controls: Vec<&Estimate> =
            self.rows.iter().filter_map(|row| Some(&row.control.as_ref()?.0)).collect();
        let has_control = !controls.is_empty();

        let changes = self.rows.iter().chain(&self.means).map(|row| &row.at);
        let drawn: Vec<f64> =
            changes.chain(controls).flat_map(|at| [at.value, at.low, at.high]).collect();
        let ticks = TICKS.map(|percent| Tick {
            at: percent,
            below: format_tick(percent),
            above: format_factor(percent),
        });

        let rows = self.rows.into_iter().chain(self.means);
        let chart = Rows {
            label: self.label,
            scale: Scale::changes(&drawn, self.threshold),
            ticks: ticks.into(),
            axes: ["as a factor", "change, %"],
            shade: Some(Shade {
                low: -self.threshold,
                high: self.threshold,
                reason: format!("within {} %", self.threshold),
            }),
            lanes: if has_control { vec![LANE_PX, CONTROL_LANE_PX] } else { vec![LANE_PX] },
            heads: &["change", "95 %", "verdict"],
            rows: rows.map(Row::into_drawn).collect(),
            ..Rows::default()
        };
        Some(chart.draw())
    }
}

/// The rows with a number: first those where lower is better, then the others.
fn split_by_direction(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    rows.into_iter().filter(|row| row.at.value.is_finite()).partition(|row| row.lower_is_better)
}

impl Row {
    /// The row as the chart has it: the change in the first lane, the control in the second.
    fn into_drawn(self) -> rows::Row {
        let is_mean = self.verdict.is_none();
        let look = match &self.verdict {
            Some(verdict) => Look::of_verdict(verdict),
            // A mean is drawn from end to end of its interval, without the shape of a mark.
            None => Look { class: "ink", shape: CIRCLE },
        };

        let mut marks = vec![Mark {
            lane: 0,
            class: look.class.to_owned(),
            shape: look.shape,
            kind: if is_mean { MarkKind::Span } else { MarkKind::Result },
            at: self.at,
            words: self.words.to_vec(),
            title: self.title,
        }];
        if let Some((at, title)) = self.control {
            marks.push(Mark {
                lane: 1,
                class: CONTROL_CLASS.to_owned(),
                shape: CIRCLE,
                kind: MarkKind::Small,
                at,
                words: Vec::new(),
                title,
            });
        }
        rows::Row { label: self.label, is_strong: is_mean, marks }
    }
}

/// A change in per cent: `−50 %`.
fn format_tick(percent: f64) -> String {
    if percent == 0.0 { "0".to_owned() } else { format!("{percent:+} %").replace('-', "−") }
}

/// A change in per cent as a multiple of the reference: `0.5×`.
fn format_factor(percent: f64) -> String {
    let factor = format!("{:.4}", 1.0 + percent / 100.0);
    format!("{}×", factor.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_changes_and_factors() {
        for (percent, tick, factor) in [
            (-50.0, "−50 %", "0.5×"),
            (0.0, "0", "1×"),
            (-1.0, "−1 %", "0.99×"),
            (100.0, "+100 %", "2×"),
            (9900.0, "+9900 %", "100×"),
        ] {
            assert_eq!(format_tick(percent), tick);
            assert_eq!(format_factor(percent), factor);
        }
    }

    #[test]
    fn no_label_stands_for_two_ticks() {
        let factors: std::collections::BTreeSet<String> = TICKS.map(format_factor).into();

        assert_eq!(factors.len(), TICKS.len());
    }
}
