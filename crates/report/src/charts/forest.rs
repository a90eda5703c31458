//! The forest plot: a difference per row with its interval, a control below it, and what all come to at the end.

use analysis::Verdict;
use stats::Estimate;

use super::dots::{arrow, whiskers};
use super::scale::Scale;
use super::svg::{Anchor, Svg, key_of, n, outline};

/// A plot of differences in per cent or points, negative if worse.
pub(crate) struct Forest {
    /// What stands for the plot where it is not seen.
    pub(crate) label: String,
    /// Differences up to this are drawn on a linear scale, and shaded.
    pub(crate) threshold: f64,
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// What rows come to: diamonds below them.
    pub(crate) means: Vec<Row>,
}

/// One difference.
pub(crate) struct Row {
    /// Its name.
    pub(crate) label: String,
    /// The difference.
    pub(crate) at: Estimate,
    /// What it comes to; `None` for a mean.
    pub(crate) verdict: Option<Verdict>,
    /// The difference, its interval, the time factor and the verdict in words.
    pub(crate) words: [String; 4],
    /// Everything about it, on hover.
    pub(crate) title: String,
    /// The same between two equal arms, with its hover text.
    pub(crate) control: Option<(Estimate, String)>,
}

/// The measures of one drawing, in pixels.
struct Frame {
    class: &'static str,
    width: f64,
    /// Where the plot begins and ends.
    plot: (f64, f64),
    /// Height of a row's words where they stand above its lanes; beside them it is 0.
    above: f64,
}

const WIDE: Frame = Frame { class: "chart wide", width: 1040.0, plot: (262.0, 672.0), above: 0.0 };
const NARROW: Frame = Frame { class: "chart narrow", width: 360.0, plot: (8.0, 350.0), above: 21.0 };

/// Where the columns of words beside a wide plot end, and the last begins.
const DELTA: f64 = 734.0;
const INTERVAL: f64 = 846.0;
const TIME: f64 = 900.0;
const VERDICT: f64 = 914.0;

const HEAD: f64 = 24.0;
const FOOT: f64 = 26.0;
const LANE: f64 = 15.0;
const CONTROL: f64 = 9.0;
const GAP: f64 = 8.0;
const RADIUS: f64 = 4.0;

/// Differences that may be marked on the axis, the most useful first.
const TICKS: [f64; 25] = [
    0.0, -1.0, 1.0, -10.0, 10.0, -50.0, -90.0, 100.0, -99.0, -2.0, 2.0, -5.0, 5.0, -20.0, 20.0, -80.0, 50.0, -95.0,
    -98.0, 900.0, -99.9, 300.0, -99.99, -0.5, 0.5,
];

/// The least rate left that differs from none: a time factor of a million.
const LEAST: f64 = 1e-6;

/// Returns the marks of verdicts and what they stand for; the last is the control's.
pub(crate) fn legend() -> Vec<(String, String)> {
    let mark = |(class, shape): (&str, usize), text: &str| (key_of(class, shape), text.to_owned());
    vec![
        mark(look(&Verdict::Slower), "slower or worse"),
        mark(look(&Verdict::Faster), "faster or better"),
        mark(look(&Verdict::Same(0.0)), "the same within the threshold"),
        mark(look(&Verdict::Undecided(0.0)), "undecided"),
        mark(("ink hollow", 0), "A/A control"),
    ]
}

/// The classes and the shape of a verdict's mark.
fn look(verdict: &Verdict) -> (&'static str, usize) {
    match verdict {
        Verdict::Slower | Verdict::Worse => ("h1", 4),
        Verdict::Faster | Verdict::Better => ("h0", 3),
        Verdict::Same(_) => ("h2", 0),
        Verdict::Undecided(_) => ("ink hollow", 2),
    }
}

impl Forest {
    /// Returns the plot, once for wide windows and once for narrow ones; `None` without any difference.
    pub(crate) fn draw(mut self) -> Option<String> {
        self.rows.retain(|row| row.at.value.is_finite());
        self.means.retain(|mean| mean.at.value.is_finite());
        if self.rows.is_empty() {
            return None;
        }
        let axis = Axis { least: (self.threshold.max(0.1) / 100.0).ln_1p() };
        let controls = self.rows.iter().filter_map(|row| row.control.as_ref()).map(|control| control.0);
        let all = self.rows.iter().chain(&self.means).map(|row| row.at).chain(controls);
        let ends: Vec<f64> = all.flat_map(|at| [at.value, at.low, at.high]).map(|at| axis.unit(at)).collect();
        let plot = Plot { forest: &self, axis, scale: Scale::asinh(&ends, 2.5) };
        Some([WIDE, NARROW].iter().map(|frame| plot.drawing(frame)).collect())
    }
}

/// From differences to units of the axis: the threshold's logarithm is 1.
#[derive(Clone, Copy)]
struct Axis {
    least: f64,
}

impl Axis {
    fn unit(self, percent: f64) -> f64 {
        if percent.is_finite() { (percent / 100.0).max(LEAST - 1.0).ln_1p() / self.least } else { percent }
    }

    /// A point of deadlines met is drawn as a per cent.
    fn estimate(self, delta: &Estimate) -> Estimate {
        Estimate { value: self.unit(delta.value), low: self.unit(delta.low), high: self.unit(delta.high) }
    }
}

struct Plot<'a> {
    forest: &'a Forest,
    axis: Axis,
    scale: Scale,
}

impl Plot<'_> {
    fn drawing(&self, frame: &Frame) -> String {
        let Forest { label, rows, means, .. } = self.forest;
        let scale = self.scale.between(frame.plot.0, frame.plot.1);
        let control = if rows.iter().any(|row| row.control.is_some()) { CONTROL } else { 0.0 };
        let (tall, low) = (frame.above + GAP + LANE + control, frame.above + GAP + LANE);
        let bottom = HEAD + tall * rows.len() as f64 + low * means.len() as f64;
        let mut svg = Svg::default();
        self.grid(&mut svg, &scale, bottom, frame);
        let mut top = HEAD;
        for row in rows {
            self.row(&mut svg, row, &scale, top, frame);
            top += tall;
        }
        for mean in means {
            self.mean(&mut svg, mean, &scale, top, frame);
            top += low;
        }
        svg.finish(frame.class, (frame.width, bottom + FOOT), label)
    }

    /// The band of the threshold, the line of no difference, and ticks: per cent below, time factors above.
    fn grid(&self, svg: &mut Svg, scale: &Scale, bottom: f64, frame: &Frame) {
        let threshold = self.forest.threshold;
        let within = [-threshold, threshold].map(|end| scale.at(self.axis.unit(end)));
        if let [Some(low), Some(high)] = within {
            svg.open(Some(&format!("within {threshold} %")));
            svg.rect("band ink", (low, HEAD), (high - low, bottom - HEAD));
            svg.close();
        }
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for percent in TICKS {
            let unit = self.axis.unit(percent);
            let Some(x) = scale.at(unit).filter(|_| scale.shows(unit)) else { continue };
            let (text, factor) = (tick(percent), factor(percent));
            let half = text.chars().count().max(factor.chars().count()) as f64 * 3.5 + 3.0;
            if taken.iter().any(|(from, to)| x + half > *from && x - half < *to) || x + half > frame.plot.1 + 14.0 {
                continue;
            }
            taken.push((x - half, x + half));
            svg.line(if percent == 0.0 { "zero" } else { "grid" }, (x, HEAD), (x, bottom));
            svg.text("tick", (x, bottom + 17.0), Anchor::Middle, &text);
            svg.text("tick", (x, HEAD - 9.0), Anchor::Middle, &factor);
        }
        if frame.above == 0.0 {
            svg.text("tick", (0.0, HEAD - 9.0), Anchor::Start, "times as long");
            svg.text("tick", (0.0, bottom + 17.0), Anchor::Start, "delta of the rate, %");
            for (x, anchor, text) in [
                (DELTA, Anchor::End, "delta"),
                (INTERVAL, Anchor::End, "95 %"),
                (TIME, Anchor::End, "time"),
                (VERDICT, Anchor::Start, "verdict"),
            ] {
                svg.text("tick", (x, HEAD - 9.0), anchor, text);
            }
        }
    }

    fn row(&self, svg: &mut Svg, row: &Row, scale: &Scale, top: f64, frame: &Frame) {
        let (class, shape) = row.verdict.as_ref().map_or(("ink", 0), look);
        let hue = class.split(' ').next().unwrap_or_default();
        svg.line("rule", (0.0, top), (frame.width, top));
        svg.open(Some(&row.title));
        let y = write_words(svg, row, hue, top, frame);
        let at = self.axis.estimate(&row.at);
        if let Some(x) = scale.at(at.value) {
            whiskers(svg, &at, scale, (x, y), hue);
            let shown = scale.shows(at.value);
            let mark = if shown { outline(shape, (x, y), RADIUS) } else { arrow(x, y, scale, at.value) };
            svg.path(&format!("mark {class}"), &mark, None);
        }
        svg.close();
        if let Some((control, title)) = &row.control {
            let at = self.axis.estimate(control);
            let Some(x) = scale.at(at.value) else { return };
            let y = y + LANE / 2.0 + CONTROL / 2.0;
            svg.open(Some(title));
            whiskers(svg, &at, scale, (x, y), "ink thin");
            svg.path("mark ink hollow", &outline(0, (x, y), 2.4), None);
            svg.close();
        }
    }

    /// A diamond from one end of the interval to the other.
    fn mean(&self, svg: &mut Svg, mean: &Row, scale: &Scale, top: f64, frame: &Frame) {
        svg.line(if frame.above == 0.0 { "zero" } else { "rule" }, (0.0, top), (frame.width, top));
        svg.open(Some(&mean.title));
        let y = write_words(svg, mean, "ink", top, frame);
        let at = self.axis.estimate(&mean.at);
        let (low, high) = if at.bounded() { (at.low, at.high) } else { (at.value, at.value) };
        if let (Some(low), Some(x), Some(high)) = (scale.at(low), scale.at(at.value), scale.at(high)) {
            let (low, high) = (low.min(x - RADIUS), high.max(x + RADIUS));
            let d =
                format!("M{} {y}L{} {}L{} {y}L{} {}z", n(low), n(x), n(y - 5.0), n(high), n(x), n(y + 5.0), y = n(y));
            svg.path("mark ink", &d, None);
        }
        svg.close();
    }
}

/// Writes what stands beside a row's marks, or above them, and returns where the marks stand.
fn write_words(svg: &mut Svg, row: &Row, hue: &str, top: f64, frame: &Frame) -> f64 {
    let [delta, interval, time, verdict] = &row.words;
    let label = if row.verdict.is_none() { "label strong" } else { "label" };
    let value = format!("value {hue}");
    let y = top + frame.above + GAP / 2.0 + LANE / 2.0;
    if frame.above > 0.0 {
        let shown: Vec<&str> =
            [delta, time, verdict].map(String::as_str).into_iter().filter(|w| !w.is_empty()).collect();
        let shown = shown.join("  ");
        let room = frame.width - 6.6 * shown.chars().count() as f64 - 8.0;
        svg.fitted(label, (0.0, top + 17.0), Anchor::Start, &row.label, room);
        svg.text(&value, (frame.width, top + 17.0), Anchor::End, &shown);
        return y;
    }
    svg.fitted(label, (0.0, y + 4.5), Anchor::Start, &row.label, frame.plot.0 - 14.0);
    svg.text(&value, (DELTA, y + 4.0), Anchor::End, delta);
    svg.text("tick", (INTERVAL, y + 4.0), Anchor::End, interval);
    svg.text("tick", (TIME, y + 4.0), Anchor::End, time);
    svg.fitted(&value, (VERDICT, y + 4.0), Anchor::Start, verdict, frame.width - VERDICT);
    y
}

/// `-50 %`, `0`.
fn tick(percent: f64) -> String {
    if percent == 0.0 { "0".to_owned() } else { format!("{percent:+} %").replace('-', "−") }
}

/// `2×`: how many times as long the same takes.
fn factor(percent: f64) -> String {
    let text = format!("{:.2}", 1.0 / (1.0 + percent / 100.0));
    format!("{}×", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_differences_have_room() {
        let axis = Axis { least: 0.01f64.ln_1p() };
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
        assert_eq!((tick(0.0), factor(-1.0)), ("0".to_owned(), "1.01×".to_owned()));
        assert_eq!((tick(100.0), factor(-99.9)), ("+100 %".to_owned(), "1000×".to_owned()));
    }
}
