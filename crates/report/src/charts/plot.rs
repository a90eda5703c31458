//! The frame that charts of points and lines share: two axes, a grid, guides, and series of lines and marks.

use super::scale::{Scale, tick};
use super::svg::{Anchor, Svg, hue, length, n, outline};
use maud::{Markup, html};

/// Room for the numbers of the vertical axis, and at the other edges; at the top more where guides have words there.
const LEFT: f64 = 50.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 8.0;
const WORDS: f64 = 16.0;
const BOTTOM: f64 = 24.0;

/// Room for marks beyond the ends of an axis.
const INSET: f64 = 4.0;

/// From this many marks on, they are small, and each series has one hover text.
const MANY: usize = 240;

#[derive(Debug, Default)]
pub(crate) struct Plot {
    /// The words for readers who do not see it.
    pub(crate) label: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Values of the vertical axis that have a line across, with words.
    pub(crate) across: Vec<(f64, String)>,
    /// Values of the horizontal axis that have a line from top to bottom, with words.
    pub(crate) down: Vec<(f64, String)>,
    pub(crate) series: Vec<Series>,
    /// The most marks that may have hover texts of their own, where a page has many such charts.
    pub(crate) hovers: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Axis {
    /// From values to places.
    pub(crate) scale: Scale,
    /// Values with words; those that have no room are left out.
    pub(crate) ticks: Vec<(f64, String)>,
}

/// Lines and marks of one hue.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// Its number, which is that of its key in legends.
    pub(crate) number: usize,
    /// Its title, on hover.
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) marks: Vec<Mark>,
}

/// A line through points; it is broken where a point is off the vertical axis.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) points: Vec<(f64, f64)>,
    /// True if it is something other than a result.
    pub(crate) dashed: bool,
    /// True if it is to compare with, and has no hue.
    pub(crate) plain: bool,
}

/// A mark; one off the vertical axis is an open triangle at its edge.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    pub(crate) at: (f64, f64),
    /// The ends of its interval.
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) form: Form,
    /// Its title, on hover.
    pub(crate) title: String,
}

/// The look of a mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// One of very many.
    #[default]
    Point,
    /// A result.
    Full,
    /// Something beside the results.
    Hollow,
}

impl Axis {
    /// Returns an axis with round ticks.
    pub(crate) fn new(scale: Scale) -> Axis {
        Axis { scale, ticks: scale.ticks().into_iter().map(|value| (value, tick(value).replace('-', "−"))).collect() }
    }

    /// Returns an axis of seconds from 0 to `end`.
    pub(crate) fn time(end: f64) -> Axis {
        let end = end.max(1e-3);
        Axis { scale: Scale::linear(0.0, end), ticks: vec![(0.0, "0".to_owned()), (end, words::duration(end))] }
    }
}

/// The layout of one drawing.
struct Frame {
    x: Scale,
    y: Scale,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Plot {
    /// Returns the drawing of a small multiple.
    pub(crate) fn panel(&self, height: f64) -> Markup {
        self.draw("panel", (330.0, height))
    }

    /// Returns the drawings for wide windows and for narrow ones.
    pub(crate) fn chart(&self, height: f64) -> Markup {
        html! { (self.draw("chart wide", (1000.0, height))) (self.draw("chart narrow", (420.0, height))) }
    }

    fn draw(&self, class: &str, (width, height): (f64, f64)) -> Markup {
        let top = if self.down.is_empty() { TOP } else { TOP + WORDS };
        let (right, bottom) = (width - RIGHT, height - BOTTOM);
        let x = self.x.scale.between(LEFT + INSET, right - INSET);
        let y = self.y.scale.between(bottom - INSET, top + INSET);
        let frame = Frame { x, y, top, right, bottom };
        let mut svg = Svg::default();
        self.grid(&mut svg, &frame, width);
        self.guides(&mut svg, &frame);
        let many = self.series.iter().map(|series| series.marks.len()).sum::<usize>() > self.hovers.unwrap_or(MANY);
        for series in &self.series {
            frame.series(&mut svg, series, many);
        }
        svg.finish(class, (width, height), &self.label)
    }

    fn grid(&self, svg: &mut Svg, frame: &Frame, width: f64) {
        for (value, text) in &self.y.ticks {
            let Some(y) = frame.y.at(*value) else { continue };
            svg.line("grid", (LEFT, y), (frame.right, y));
            svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, text);
        }
        let mut free = f64::NEG_INFINITY;
        for (value, text) in self.x.ticks.iter().filter(|(value, _)| frame.x.shows(*value)) {
            let Some(x) = frame.x.at(*value) else { continue };
            let length = length(text);
            let fits = x + length / 2.0 < width;
            let start = if fits { x - length / 2.0 } else { frame.right - length };
            if start > free {
                let (at, anchor) = if fits { (x, Anchor::Middle) } else { (frame.right, Anchor::End) };
                svg.line("grid", (x, frame.top), (x, frame.bottom));
                svg.text("tick", (at, frame.bottom + 18.0), anchor, text);
                free = start + length + 4.0;
            }
        }
    }

    fn guides(&self, svg: &mut Svg, frame: &Frame) {
        for (value, text) in &self.across {
            let Some(y) = frame.y.at(*value) else { continue };
            svg.line("zero dashed", (LEFT, y), (frame.right, y));
            svg.text("tick", (frame.right, y - 4.0), Anchor::End, text);
        }
        for (value, text) in &self.down {
            let Some(x) = frame.x.at(*value) else { continue };
            svg.line("zero dashed", (x, frame.top - 6.0), (x, frame.bottom));
            // Where there is no room to the right of it, the text stands to the left.
            let fits = x + length(text) < frame.right;
            let (at, anchor) = if fits { (x - 3.0, Anchor::Start) } else { (x + 3.0, Anchor::End) };
            svg.text("tick", (at, frame.top - 10.0), anchor, text);
        }
    }
}

impl Frame {
    fn series(&self, svg: &mut Svg, series: &Series, many: bool) {
        let hue = hue(series.number);
        svg.open(&series.title);
        for line in &series.lines {
            let d = self.path(line);
            let class = if line.plain { "mean ink".to_owned() } else { format!("curve {hue}") };
            if d.contains('L') {
                svg.path(&(class + if line.dashed { " dashed" } else { "" }), &d, "");
            }
        }
        // Marks without hover texts need no elements of their own.
        let mut joined = ["point", "mark", "mark hollow", "clip"].map(|class| (class, String::new()));
        for mark in &series.marks {
            let Some((kind, d)) = self.mark(series.number, mark, many) else { continue };
            if let Some((low, high)) = mark.interval.and_then(|(low, high)| self.y.at(low).zip(self.y.at(high)))
                && let Some(x) = self.x.at(mark.at.0)
            {
                svg.line(&format!("whisker {hue}"), (x, low), (x, high));
            }
            if many || mark.title.is_empty() {
                joined[kind].1 += &d;
            } else {
                svg.path(&format!("{} {hue}", joined[kind].0), &d, &mark.title);
            }
        }
        for (class, d) in joined.iter().filter(|(_, d)| !d.is_empty()) {
            svg.path(&format!("{class} {hue}"), d, "");
        }
        svg.close();
    }

    fn path(&self, line: &Line) -> String {
        let (mut d, mut drawn) = (String::new(), false);
        for point in line.points.iter().map(|point| self.point(*point)) {
            if let Some((x, y)) = point {
                d += &format!("{}{} {}", if drawn { "L" } else { "M" }, n(x), n(y));
            }
            drawn = point.is_some();
        }
        d
    }

    /// `None` off the vertical axis.
    fn point(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        self.x.at(x).zip(self.y.at(y).filter(|_| self.y.shows(y)))
    }

    /// The outline of a mark, and which of the classes it has.
    fn mark(&self, number: usize, mark: &Mark, many: bool) -> Option<(usize, String)> {
        let (x, y) = self.x.at(mark.at.0).zip(self.y.at(mark.at.1))?;
        if !self.y.shows(mark.at.1) {
            let base = n(if self.y.is_below(mark.at.1) { y - 6.0 } else { y + 6.0 });
            return Some((3, format!("M{} {}L{} {base}L{} {base}z", n(x), n(y), n(x - 3.5), n(x + 3.5))));
        }
        let radius = match mark.form {
            Form::Point if many => 1.9,
            Form::Point => 3.0,
            Form::Full | Form::Hollow => 3.3,
        };
        Some((mark.form as usize, outline(number, (x, y), radius)))
    }
}

/// Returns at most `most` points: the highest of every stretch, so that none of the highest is lost.
pub(crate) fn highest(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(most.max(1)).max(1);
    points.chunks(stretch).filter_map(|part| part.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))).collect()
}

/// Returns at most `most` points: the median of every stretch.
pub(crate) fn medians(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let stretch = points.len().div_ceil(most.max(1)).max(1);
    let middle =
        |part: &[(f64, f64)], value: fn(&(f64, f64)) -> f64| stats::median(&part.iter().map(value).collect::<Vec<_>>());
    points.chunks(stretch).map(|part| (middle(part, |point| point.0), middle(part, |point| point.1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_are_thinned() {
        let points: Vec<(f64, f64)> = (0..1000).map(|k| (f64::from(k), if k == 777 { 9.0 } else { 1.0 })).collect();
        let kept = highest(&points, 30);
        assert!(kept.len() <= 30 && kept.contains(&(777.0, 9.0)));
        assert_eq!(highest(&points, 1000), points);
        let middle = medians(&points, 30);
        assert!(middle.len() <= 30 && middle.iter().all(|point| point.1 == 1.0));
    }

    #[test]
    fn marks_off_the_axis_are_triangles_at_its_edge() {
        let mark = |y: f64| Mark { at: (0.5, y), title: format!("at {y}"), ..Mark::default() };
        let series = Series { marks: vec![mark(0.5), mark(7.0)], ..Series::default() };
        let svg = Plot { series: vec![series], ..Plot::default() }.panel(200.0).into_string();
        assert_eq!((svg.matches(r#"class="point h0""#).count(), svg.matches(r#"class="clip h0""#).count()), (1, 1));
        assert!(svg.contains("<title>at 7</title>"), "{svg}");
    }
}
