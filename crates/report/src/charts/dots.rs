//! The dot-and-whisker chart: one row per test, one lane per level of copies. It is drawn twice, for
//! a desk and for a phone, and the style sheet shows one: text in a chart that shrinks is too small.

use super::scale::{Scale, tick};
use super::svg::{Anchor, Svg, hue, n, outline};
use stats::Estimate;

/// What the chart shows.
pub(crate) struct Dots {
    /// The words for who does not see it.
    pub(crate) label: String,
    /// The axis.
    pub(crate) scale: Scale,
    /// What stands behind a number on the axis.
    pub(crate) unit: &'static str,
    /// The value that stems grow from, if there are stems.
    pub(crate) origin: Option<f64>,
    /// The series, in the order of their lanes.
    pub(crate) series: Vec<usize>,
    /// The vertical lines.
    pub(crate) lines: Vec<Line>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// A vertical line with its words on top.
pub(crate) struct Line {
    /// Whose hue it has; none is ink.
    pub(crate) series: Option<usize>,
    /// Where it stands, with the band around it.
    pub(crate) at: Estimate,
    /// Whether it is something to aim at rather than a result.
    pub(crate) dashed: bool,
    /// The words.
    pub(crate) text: String,
}

/// One row.
pub(crate) struct Row {
    /// Its name.
    pub(crate) label: String,
    /// Whether it sums the others up.
    pub(crate) strong: bool,
    /// What is in its lanes.
    pub(crate) marks: Vec<Mark>,
}

/// What is in one lane of a row.
pub(crate) struct Mark {
    /// The lane.
    pub(crate) series: usize,
    /// The value; none where it could not be measured.
    pub(crate) value: Option<Estimate>,
    /// The value as text.
    pub(crate) text: String,
    /// Everything about it, on hover.
    pub(crate) title: String,
}

/// The measures of one drawing, in pixels.
pub(crate) struct Frame {
    pub(crate) class: &'static str,
    pub(crate) width: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    /// Height of a row's label where it stands above the lanes; beside them it is 0.
    pub(crate) above: f64,
}

const WIDE: Frame = Frame { class: "chart wide", width: 1040.0, left: 342.0, right: 62.0, above: 0.0 };
const NARROW: Frame = Frame { class: "chart narrow", width: 360.0, left: 8.0, right: 10.0, above: 20.0 };

const HEAD: f64 = 18.0;
const FOOT: f64 = 26.0;
const GAP: f64 = 12.0;
const RADIUS: f64 = 3.8;
/// Length of the open ends of an interval that has none.
const OPEN: f64 = 16.0;

impl Dots {
    /// Returns the drawings: one for wide windows and one for narrow ones.
    pub(crate) fn draw(&self) -> String {
        self.drawing(&WIDE) + &self.drawing(&NARROW)
    }

    fn drawing(&self, frame: &Frame) -> String {
        let scale = self.scale.between(frame.left, frame.width - frame.right);
        let top = HEAD * self.lines.len() as f64 + 6.0;
        let height = self.row_height(frame);
        let bottom = top + height * self.rows.len() as f64;
        let mut svg = Svg::default();
        self.grid(&mut svg, &scale, (top, bottom), frame);
        for (place, line) in self.lines.iter().enumerate() {
            draw_line(&mut svg, line, &scale, (HEAD * place as f64, bottom), frame);
        }
        for (place, row) in self.rows.iter().enumerate() {
            self.row(&mut svg, row, &scale, top + height * place as f64, frame);
        }
        svg.finish(frame.class, (frame.width, bottom + FOOT), &self.label)
    }

    fn lane(&self) -> f64 {
        match self.series.len() {
            0..=3 => 14.0,
            _ => 12.0,
        }
    }

    fn row_height(&self, frame: &Frame) -> f64 {
        frame.above + GAP + self.lane() * self.series.len().max(1) as f64
    }

    fn grid(&self, svg: &mut Svg, scale: &Scale, (top, bottom): (f64, f64), frame: &Frame) {
        let mut free = f64::NEG_INFINITY;
        for value in scale.ticks() {
            let Some(x) = scale.at(value) else { continue };
            svg.line("grid", (x, top), (x, bottom));
            let text = tick(value) + self.unit;
            let half = text.chars().count() as f64 * 3.6;
            if x - half > free && x + half <= frame.width {
                svg.text("tick", (x, bottom + 17.0), Anchor::Middle, &text);
                free = x + half + 8.0;
            }
        }
    }

    fn row(&self, svg: &mut Svg, row: &Row, scale: &Scale, top: f64, frame: &Frame) {
        let (lanes, lane) = (self.series.len() as f64, self.lane());
        let class = if row.strong { "label strong" } else { "label" };
        svg.line("rule", (0.0, top), (frame.width, top));
        if frame.above > 0.0 {
            svg.fitted(class, (0.0, top + 17.0), Anchor::Start, &row.label, frame.width);
        } else {
            let middle = top + (GAP + lane * lanes) / 2.0 + 4.5;
            svg.fitted(class, (0.0, middle), Anchor::Start, &row.label, frame.left - 14.0);
        }
        for mark in &row.marks {
            let place = self.series.iter().position(|series| *series == mark.series).unwrap_or(0);
            let y = top + frame.above + GAP / 2.0 + lane * (place as f64 + 0.5);
            self.mark(svg, mark, scale, y, frame);
        }
    }

    fn mark(&self, svg: &mut Svg, mark: &Mark, scale: &Scale, y: f64, frame: &Frame) {
        let hue = hue(mark.series);
        svg.open(Some(&mark.title));
        let place = mark.value.and_then(|estimate| Some((estimate, scale.at(estimate.value)?)));
        if let Some((estimate, x)) = place {
            if let Some(from) = self.origin.and_then(|origin| scale.at(origin)) {
                svg.line(&format!("stem {hue}"), (from, y), (x, y));
            }
            whiskers(svg, &estimate, scale, (x, y), &hue);
            let hollow = if estimate.bounded() { "" } else { " hollow" };
            let outline = if scale.shows(estimate.value) {
                outline(mark.series, (x, y), RADIUS)
            } else {
                arrow(x, y, scale, estimate.value)
            };
            svg.path(&format!("mark {hue}{hollow}"), &outline, None);
            if frame.above == 0.0 {
                let size = if self.series.len() > 3 { "value tight" } else { "value" };
                svg.text(&format!("{size} {hue}"), (frame.width, y + 4.0), Anchor::End, &mark.text);
            }
        } else {
            svg.text("missing", (frame.left + 6.0, y + 4.0), Anchor::Start, &mark.text);
        }
        svg.close();
    }
}

fn draw_line(svg: &mut Svg, line: &Line, scale: &Scale, (top, bottom): (f64, f64), frame: &Frame) {
    let Some(x) = scale.at(line.at.value) else { return };
    let hue = line.series.map_or_else(|| "ink".to_owned(), hue);
    svg.open(Some(&line.text));
    if let (true, Some(low), Some(high)) = (line.at.bounded(), scale.at(line.at.low), scale.at(line.at.high)) {
        svg.rect(&format!("band {hue}"), (low, top + 14.0), (high - low, bottom - top - 14.0));
    }
    let dashed = if line.dashed { " dashed" } else { "" };
    svg.line(&format!("mean {hue}{dashed}"), (x, top + 2.0), (x, bottom));
    let width = line.text.chars().count() as f64 * 7.0;
    let (at, anchor) = if x + width + 5.0 < frame.width { (x + 5.0, Anchor::Start) } else { (x - 5.0, Anchor::End) };
    svg.text(&format!("head {hue}"), (at, top + 12.0), anchor, &line.text);
    svg.close();
}

/// Draws the interval, without caps that a small one would hide under its mark; where an end does not exist, a short dashed line.
pub(crate) fn whiskers(svg: &mut Svg, estimate: &Estimate, scale: &Scale, (x, y): (f64, f64), hue: &str) {
    for (end, open) in [(estimate.low, -OPEN), (estimate.high, OPEN)] {
        match scale.at(end) {
            None => svg.line(&format!("open {hue}"), (x, y), (x + open, y)),
            Some(to) => {
                svg.line(&format!("whisker {hue}"), (x, y), (to, y));
                if !scale.shows(end) {
                    svg.path(&format!("mark {hue}"), &arrow(to, y, scale, end), None);
                }
            }
        }
    }
}

/// Returns an arrow at the edge beyond which the value lies.
pub(crate) fn arrow(x: f64, y: f64, scale: &Scale, value: f64) -> String {
    let back = if scale.is_below(value) { 5.0 } else { -5.0 };
    let (tip, tail) = (n(x), n(x + back));
    format!("M{tip} {}L{tail} {}L{tail} {}z", n(y), n(y - 3.5), n(y + 3.5))
}
