//! The forest plot: what a condition does to each test, with the control below each, and the geometric means at the end.

use super::dots::{arrow, whiskers};
use super::scale::Scale;
use super::svg::{Anchor, Svg, key_of, n, outline};
use super::words::{clean, number};
use crate::compare::coordinates;
use crate::cost::{Room, delta, interval, name, percent, time, verdict};
use analysis::{Comparison, Condition, Cost, CostTotal, Effect, Measure, Verdict};
use catalogue::NONE;
use stats::Estimate;

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

/// Differences that may be marked on the axis, the more telling first.
const TICKS: [f64; 25] = [
    0.0, -1.0, 1.0, -10.0, 10.0, -50.0, -90.0, 100.0, -99.0, -2.0, 2.0, -5.0, 5.0, -20.0, 20.0, -80.0, 50.0, -95.0,
    -98.0, 900.0, -99.9, 300.0, -99.99, -0.5, 0.5,
];

/// The least loss whose rate is told from nothing: a time factor of a million.
const LEAST: f64 = 1e-6;

/// Returns the marks of verdicts and what they mean.
pub(super) fn legend() -> Vec<(String, String)> {
    let look = |(class, shape): (&str, usize), text: &str| (key_of(class, shape), text.to_owned());
    vec![
        look(look_of(&Verdict::Slower), "slower or worse"),
        look(look_of(&Verdict::Faster), "faster or better"),
        look(look_of(&Verdict::Same(0.0)), "the same within the threshold"),
        look(look_of(&Verdict::Undecided(0.0)), "undecided"),
        look(("ink hollow", 0), "A/A control"),
    ]
}

/// The classes and the shape of a verdict's mark.
fn look_of(verdict: &Verdict) -> (&'static str, usize) {
    match verdict {
        Verdict::Slower | Verdict::Worse => ("h1", 4),
        Verdict::Faster | Verdict::Better => ("h0", 3),
        Verdict::Same(_) => ("h2", 0),
        Verdict::Undecided(_) => ("ink hollow", 2),
    }
}

/// Returns the plot of a condition, once for wide windows and once for narrow ones; nothing without any difference.
pub(super) fn draw(cost: &Cost, condition: &Condition) -> Option<String> {
    let controls = |effect: &Effect| {
        let (cell, measure) = (&effect.comparison.cell, effect.comparison.measure);
        cost.floor
            .iter()
            .map(|floor| &floor.comparison)
            .find(|one| one.measure == measure && one.cell.key.same_family(&cell.key))
    };
    let axis = Axis { least: (cost.threshold.max(0.1) / 100.0).ln_1p() };
    let rows: Vec<Row<'_>> = condition
        .effects
        .iter()
        .filter(|effect| effect.comparison.delta.value.is_finite())
        .map(|effect| Row {
            effect,
            at: axis.of(&effect.comparison),
            control: controls(effect).map(|one| (one, axis.of(one))),
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let means: Vec<Mean<'_>> = condition
        .totals
        .iter()
        .filter(|total| total.delta.value.is_finite())
        .map(|total| Mean { total, at: axis.estimate(&total.delta) })
        .collect();
    let all = rows.iter().map(|row| row.at).chain(rows.iter().filter_map(|row| Some(row.control?.1)));
    let ends: Vec<f64> =
        all.chain(means.iter().map(|mean| mean.at)).flat_map(|at| [at.value, at.low, at.high]).collect();
    let plot = Plot { axis, scale: Scale::asinh(&ends, 2.5), threshold: cost.threshold, rows, means };
    let label = format!(
        "{}: difference of each test from {} with its interval, a loss to the left; the table has the figures",
        condition.name, cost.against
    );
    Some([WIDE, NARROW].iter().map(|frame| plot.drawing(frame, &label)).collect())
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

    fn estimate(self, delta: &Estimate) -> Estimate {
        Estimate { value: self.unit(delta.value), low: self.unit(delta.low), high: self.unit(delta.high) }
    }

    /// A point of deadlines met is drawn as a per cent.
    fn of(self, one: &Comparison) -> Estimate {
        self.estimate(&one.delta)
    }
}

struct Row<'a> {
    effect: &'a Effect,
    at: Estimate,
    control: Option<(&'a Comparison, Estimate)>,
}

struct Mean<'a> {
    total: &'a CostTotal,
    at: Estimate,
}

struct Plot<'a> {
    axis: Axis,
    scale: Scale,
    threshold: f64,
    rows: Vec<Row<'a>>,
    means: Vec<Mean<'a>>,
}

impl Plot<'_> {
    fn drawing(&self, frame: &Frame, label: &str) -> String {
        let scale = self.scale.between(frame.plot.0, frame.plot.1);
        let control = if self.rows.iter().any(|row| row.control.is_some()) { CONTROL } else { 0.0 };
        let (tall, low) = (frame.above + GAP + LANE + control, frame.above + GAP + LANE);
        let bottom = HEAD + tall * self.rows.len() as f64 + low * self.means.len() as f64;
        let mut svg = Svg::default();
        self.grid(&mut svg, &scale, bottom, frame);
        let mut top = HEAD;
        for row in &self.rows {
            row.draw(&mut svg, &scale, top, frame);
            top += tall;
        }
        for mean in &self.means {
            mean.draw(&mut svg, &scale, top, frame);
            top += low;
        }
        svg.finish(frame.class, (frame.width, bottom + FOOT), label)
    }

    /// The band of the threshold, the line of no difference, and ticks: per cent below, time factors above.
    fn grid(&self, svg: &mut Svg, scale: &Scale, bottom: f64, frame: &Frame) {
        let within = [-self.threshold, self.threshold].map(|end| scale.at(self.axis.unit(end)));
        if let [Some(low), Some(high)] = within {
            svg.open(Some(&format!("within {} %", self.threshold)));
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
}

impl Row<'_> {
    fn draw(&self, svg: &mut Svg, scale: &Scale, top: f64, frame: &Frame) {
        let one = &self.effect.comparison;
        let (class, shape) = look_of(&one.verdict);
        svg.line("rule", (0.0, top), (frame.width, top));
        svg.open(Some(&title(self.effect)));
        let words = Words {
            label: clean(&name(one, Room::Wide)),
            delta: delta(one),
            interval: interval(&one.delta),
            time: if one.measure == Measure::Met { String::new() } else { time(one) },
            verdict: verdict(self.effect, Room::Narrow),
            hue: class.split(' ').next().unwrap_or_default(),
            strong: false,
        };
        let y = words.draw(svg, top, frame);
        if let Some(x) = scale.at(self.at.value) {
            whiskers(svg, &self.at, scale, (x, y), words.hue);
            let mark = if scale.shows(self.at.value) {
                outline(shape, (x, y), RADIUS)
            } else {
                arrow(x, y, scale, self.at.value)
            };
            svg.path(&format!("mark {class}"), &mark, None);
        }
        svg.close();
        if let Some((control, at)) = &self.control
            && let Some(x) = scale.at(at.value)
        {
            let y = y + LANE / 2.0 + CONTROL / 2.0;
            let verdict = control.verdict.word();
            svg.open(Some(&format!("A/A control: {} ({}), {verdict}", delta(control), interval(&control.delta))));
            whiskers(svg, at, scale, (x, y), "ink thin");
            svg.path("mark ink hollow", &outline(0, (x, y), 2.4), None);
            svg.close();
        }
    }
}

impl Mean<'_> {
    /// A diamond from one end of the interval to the other.
    fn draw(&self, svg: &mut Svg, scale: &Scale, top: f64, frame: &Frame) {
        let total = self.total;
        let told = format!("{}%", percent(total.delta.value));
        let factor = 1.0 / (1.0 + total.delta.value / 100.0);
        svg.line(if frame.above == 0.0 { "zero" } else { "rule" }, (0.0, top), (frame.width, top));
        let worst = format!("worst {} {}%", clean(&total.worst.0), percent(total.worst.1));
        svg.open(Some(&format!(
            "{} of {} rates: {told} ({}); {worst}",
            total.name,
            total.rates,
            interval(&total.delta)
        )));
        let words = Words {
            label: clean(&format!("{}{}", total.name, coordinates(total.copies, &total.load, NONE))),
            delta: told,
            interval: interval(&total.delta),
            time: if factor.is_finite() { format!("{factor:.2}x") } else { String::new() },
            verdict: format!("{} rates", total.rates),
            hue: "ink",
            strong: true,
        };
        let y = words.draw(svg, top, frame);
        let (low, high) = if self.at.bounded() { (self.at.low, self.at.high) } else { (self.at.value, self.at.value) };
        if let (Some(low), Some(x), Some(high)) = (scale.at(low), scale.at(self.at.value), scale.at(high)) {
            let (low, high) = (low.min(x - RADIUS), high.max(x + RADIUS));
            let d =
                format!("M{} {y}L{} {}L{} {y}L{} {}z", n(low), n(x), n(y - 5.0), n(high), n(x), n(y + 5.0), y = n(y));
            svg.path("mark ink", &d, None);
        }
        svg.close();
    }
}

/// What stands beside a row's marks, or above them.
struct Words<'a> {
    label: String,
    delta: String,
    interval: String,
    time: String,
    verdict: String,
    hue: &'a str,
    strong: bool,
}

impl Words<'_> {
    /// Writes them, and returns where the marks stand.
    fn draw(&self, svg: &mut Svg, top: f64, frame: &Frame) -> f64 {
        let label = if self.strong { "label strong" } else { "label" };
        let value = format!("value {}", self.hue);
        let y = top + frame.above + GAP / 2.0 + LANE / 2.0;
        if frame.above > 0.0 {
            let told = [&self.delta, &self.time, &self.verdict].map(String::as_str);
            let told: Vec<&str> = told.into_iter().filter(|part| !part.is_empty()).collect();
            let told = told.join("  ");
            let room = frame.width - 6.6 * told.chars().count() as f64 - 8.0;
            svg.fitted(label, (0.0, top + 17.0), Anchor::Start, &self.label, room);
            svg.text(&value, (frame.width, top + 17.0), Anchor::End, &told);
            return y;
        }
        svg.fitted(label, (0.0, y + 4.5), Anchor::Start, &self.label, frame.plot.0 - 14.0);
        svg.text(&value, (DELTA, y + 4.0), Anchor::End, &self.delta);
        svg.text("tick", (INTERVAL, y + 4.0), Anchor::End, &self.interval);
        svg.text("tick", (TIME, y + 4.0), Anchor::End, &self.time);
        svg.fitted(&value, (VERDICT, y + 4.0), Anchor::Start, &self.verdict, frame.width - VERDICT);
        y
    }
}

/// Everything about a row, on hover.
fn title(effect: &Effect) -> String {
    let one = &effect.comparison;
    let mut text = format!(
        "{}: {} ({}), {} the time, {}; {} blocks, p {}, q {}",
        name(one, Room::Wide),
        delta(one),
        interval(&one.delta),
        time(one),
        verdict(effect, Room::Wide),
        one.n.1,
        number(one.p),
        number(one.q)
    );
    if let Some(floor) = effect.floor.filter(|floor| floor.is_finite()) {
        text += &format!("; the control reaches {floor:.1}");
    }
    text
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
    fn ticks_are_told_both_ways() {
        assert_eq!((tick(-50.0), factor(-50.0)), ("−50 %".to_owned(), "2×".to_owned()));
        assert_eq!((tick(0.0), factor(-1.0)), ("0".to_owned(), "1.01×".to_owned()));
        assert_eq!((tick(100.0), factor(-99.9)), ("+100 %".to_owned(), "1000×".to_owned()));
    }
}
