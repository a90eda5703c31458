//! The frame of charts of points and lines on two axes: a grid, guides, and series of lines and
//! marks.
//!
//! A view fills a [`Plot`] with values; a [`Frame`] is its layout in one size. Pages that have many
//! such charts limit the hover texts, each of which is an element of its own: beyond the limit, all
//! marks of a series that look the same are one path.

use super::scale::{Scale, format_tick};
use super::svg::{
    Anchor, Drawing, Drawings, IMAGE_PX, Medium, Svg, Widths, coordinate, hue_class, outline,
    text_width,
};

const PANEL_PX: f64 = 330.0;
const WIDTHS: Widths = Widths { wide: 1000.0, narrow: 420.0, image: IMAGE_PX };

/// Room in px for the numbers of the vertical axis, and at the other edges.
const LEFT_PX: f64 = 50.0;
const RIGHT_PX: f64 = 10.0;
const TOP_PX: f64 = 8.0;
const BOTTOM_PX: f64 = 24.0;

/// Additional room in px at the top for the words of guides.
const GUIDE_WORDS_PX: f64 = 16.0;

/// Room in px for marks beyond the ends of an axis.
const INSET_PX: f64 = 4.0;

/// From the middle of words to their baseline in px.
const BASELINE_PX: f64 = 4.0;

/// Height in px of the triangle that stands for a mark off the vertical axis.
const CLIP_PX: f64 = 6.0;

/// With more marks, they are small, and each series has one hover text, unless the plot has a limit
/// of its own.
const MAX_HOVERS: usize = 240;

/// The classes of marks, in the order in which they are drawn.
const MARK_CLASSES: [&str; 4] = [POINT_CLASS, FULL_CLASS, HOLLOW_CLASS, CLIP_CLASS];
const POINT_CLASS: &str = "point";
const FULL_CLASS: &str = "mark";
const HOLLOW_CLASS: &str = "mark hollow";
const CLIP_CLASS: &str = "clip";

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
    /// The marks that may have hover texts of their own, where a page has many such charts.
    pub(crate) hovers: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Axis {
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
    /// Something other than a result.
    Hollow,
}

impl Axis {
    /// An axis with round ticks.
    pub(crate) fn new(scale: Scale) -> Axis {
        let mut ticks = Vec::new();
        for value in scale.ticks() {
            ticks.push((value, format_tick(value).replace('-', "−")));
        }
        Axis { scale, ticks }
    }

    /// An axis of seconds from 0 to `end`.
    pub(crate) fn time(end: f64) -> Axis {
        let end = end.max(1e-3);
        let ticks = vec![(0.0, "0".to_owned()), (end, words::duration(end))];
        Axis { scale: Scale::linear(0.0, end), ticks }
    }
}

impl Plot {
    /// The drawing of a small multiple; `height` is in px.
    pub(crate) fn panel(&self, height: f64) -> Drawings {
        self.draw(Medium::Panel, (PANEL_PX, height)).into()
    }

    /// The drawings for all media; `height` is in px.
    pub(crate) fn chart(&self, height: f64) -> Drawings {
        WIDTHS.draw(|medium, width| self.draw(medium, (width, height)))
    }

    fn draw(&self, medium: Medium, (width, height): (f64, f64)) -> Drawing {
        let frame = Frame::new(self, width, height);
        let marks = self.series.iter().map(|series| series.marks.len()).sum::<usize>();
        let is_crowded = marks > self.hovers.unwrap_or(MAX_HOVERS);

        let mut svg = Svg::default();
        frame.draw_rows_of_grid(&mut svg, &self.y.ticks);
        frame.draw_columns_of_grid(&mut svg, &self.x.ticks);
        frame.draw_lines_across(&mut svg, &self.across);
        frame.draw_lines_down(&mut svg, &self.down);
        for series in &self.series {
            frame.draw_series(&mut svg, series, is_crowded);
        }
        svg.finish(medium, (width, height), &self.label)
    }
}

/// The layout of one drawing: its axes, and its edges in px.
struct Frame {
    x: Scale,
    y: Scale,
    top: f64,
    right: f64,
    bottom: f64,
    /// The width of the drawing, to the right of which nothing is seen.
    width: f64,
}

/// The path of a mark, and its class without the hue.
struct MarkPath {
    class: &'static str,
    d: String,
}

impl Frame {
    fn new(plot: &Plot, width: f64, height: f64) -> Frame {
        let top = if plot.down.is_empty() { TOP_PX } else { TOP_PX + GUIDE_WORDS_PX };
        let (right, bottom) = (width - RIGHT_PX, height - BOTTOM_PX);
        Frame {
            x: plot.x.scale.between(LEFT_PX + INSET_PX, right - INSET_PX),
            y: plot.y.scale.between(bottom - INSET_PX, top + INSET_PX),
            top,
            right,
            bottom,
            width,
        }
    }

    fn draw_rows_of_grid(&self, svg: &mut Svg, ticks: &[(f64, String)]) {
        for (value, text) in ticks {
            let Some(y) = self.y.place(*value) else { continue };
            svg.line("grid", (LEFT_PX, y), (self.right, y));
            svg.text("tick", (LEFT_PX - 6.0, y + BASELINE_PX), Anchor::End, text);
        }
    }

    fn draw_columns_of_grid(&self, svg: &mut Svg, ticks: &[(f64, String)]) {
        let mut last_end = f64::NEG_INFINITY;
        for (value, text) in ticks.iter().filter(|(value, _)| self.x.shows(*value)) {
            let Some(x) = self.x.place(*value) else { continue };
            let length = text_width(text);
            let fits = x + length / 2.0 < self.width;
            let start = if fits { x - length / 2.0 } else { self.right - length };
            if start <= last_end {
                continue;
            }

            let (text_x, anchor) =
                if fits { (x, Anchor::Middle) } else { (self.right, Anchor::End) };
            svg.line("grid", (x, self.top), (x, self.bottom));
            svg.text("tick", (text_x, self.bottom + 18.0), anchor, text);
            last_end = start + length + 4.0;
        }
    }

    fn draw_lines_across(&self, svg: &mut Svg, lines: &[(f64, String)]) {
        for (value, text) in lines {
            let Some(y) = self.y.place(*value) else { continue };
            svg.line("zero dashed", (LEFT_PX, y), (self.right, y));
            svg.text("tick", (self.right, y - 4.0), Anchor::End, text);
        }
    }

    fn draw_lines_down(&self, svg: &mut Svg, lines: &[(f64, String)]) {
        for (value, text) in lines {
            let Some(x) = self.x.place(*value) else { continue };
            svg.line("zero dashed", (x, self.top - 6.0), (x, self.bottom));

            let has_room_to_the_right = x + text_width(text) < self.right;
            let (text_x, anchor) = match has_room_to_the_right {
                true => (x - 3.0, Anchor::Start),
                false => (x + 3.0, Anchor::End),
            };
            svg.text("tick", (text_x, self.top - 10.0), anchor, text);
        }
    }

    fn draw_series(&self, svg: &mut Svg, series: &Series, is_crowded: bool) {
        let hue = hue_class(series.number);
        svg.open_group(&series.title);
        for line in &series.lines {
            self.draw_line(svg, line, &hue);
        }

        let mut without_hover: Vec<MarkPath> = Vec::new();
        for mark in &series.marks {
            let Some(path) = self.mark_path(series.number, mark, is_crowded) else { continue };
            self.draw_interval(svg, mark, &hue);
            if is_crowded || mark.title.is_empty() {
                without_hover.push(path);
            } else {
                svg.path(&format!("{} {hue}", path.class), &path.d, &mark.title);
            }
        }

        // Marks without hover texts need no elements of their own.
        for class in MARK_CLASSES {
            let same_class = without_hover.iter().filter(|path| path.class == class);
            let d: String = same_class.map(|path| path.d.as_str()).collect();
            if !d.is_empty() {
                svg.path(&format!("{class} {hue}"), &d, "");
            }
        }
        svg.close_group();
    }

    /// Draws a line as one path, which is interrupted where a point has no place.
    fn draw_line(&self, svg: &mut Svg, line: &Line, hue: &str) {
        let mut d = String::new();
        let mut is_pen_down = false;
        for point in &line.points {
            let place = self.place(*point);
            if let Some((x, y)) = place {
                let command = if is_pen_down { "L" } else { "M" };
                d += &format!("{command}{} {}", coordinate(x), coordinate(y));
            }
            is_pen_down = place.is_some();
        }

        let mut class = if line.plain { "mean ink".to_owned() } else { format!("curve {hue}") };
        if line.dashed {
            class += " dashed";
        }
        let has_segment = d.contains('L');
        if has_segment {
            svg.path(&class, &d, "");
        }
    }

    fn draw_interval(&self, svg: &mut Svg, mark: &Mark, hue: &str) {
        let Some((low, high)) = mark.interval else { return };
        let places = (self.x.place(mark.at.0), self.y.place(low), self.y.place(high));
        if let (Some(x), Some(low), Some(high)) = places {
            svg.line(&format!("whisker {hue}"), (x, low), (x, high));
        }
    }

    /// The place of a point; `None` off the vertical axis.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        if !self.y.shows(y) {
            return None;
        }
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    /// The path of a mark of the series `number`; `None` if its values are no numbers.
    fn mark_path(&self, number: usize, mark: &Mark, is_crowded: bool) -> Option<MarkPath> {
        let (x, y) = (self.x.place(mark.at.0)?, self.y.place(mark.at.1)?);
        if !self.y.shows(mark.at.1) {
            let is_below = self.y.is_below(mark.at.1);
            let base = if is_below { y - CLIP_PX } else { y + CLIP_PX };
            let [x, y, base, left, right] = [x, y, base, x - 3.5, x + 3.5].map(coordinate);
            let d = format!("M{x} {y}L{left} {base}L{right} {base}z");
            return Some(MarkPath { class: CLIP_CLASS, d });
        }

        let (class, radius) = match mark.form {
            Form::Point if is_crowded => (POINT_CLASS, 1.9),
            Form::Point => (POINT_CLASS, 3.0),
            Form::Full => (FULL_CLASS, 3.3),
            Form::Hollow => (HOLLOW_CLASS, 3.3),
        };
        Some(MarkPath { class, d: outline(number, (x, y), radius) })
    }
}

/// Thins a series to at most `max_points`: the highest of every stretch, so that none of the
/// highest is lost.
pub(crate) fn keep_highest(points: &[(f64, f64)], max_points: usize) -> Vec<(f64, f64)> {
    let highest =
        |stretch: &[(f64, f64)]| stretch.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(stretch_length(points, max_points)).filter_map(highest).collect()
}

/// Thins a series to at most `max_points`: the median of every stretch.
pub(crate) fn keep_medians(points: &[(f64, f64)], max_points: usize) -> Vec<(f64, f64)> {
    let mut medians = Vec::new();
    for stretch in points.chunks(stretch_length(points, max_points)) {
        let (x, y): (Vec<f64>, Vec<f64>) = stretch.iter().copied().unzip();
        medians.push((stats::median(&x), stats::median(&y)));
    }
    medians
}

/// The points in each of `max_points` stretches.
fn stretch_length(points: &[(f64, f64)], max_points: usize) -> usize {
    points.len().div_ceil(max_points.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_are_thinned() {
        let points: Vec<(f64, f64)> =
            (0..1000).map(|k| (f64::from(k), if k == 777 { 9.0 } else { 1.0 })).collect();

        let highest = keep_highest(&points, 30);
        let medians = keep_medians(&points, 30);

        assert!(highest.len() <= 30);
        assert!(highest.contains(&(777.0, 9.0)));
        assert_eq!(keep_highest(&points, 1000), points);
        assert!(medians.len() <= 30);
        assert!(medians.iter().all(|point| point.1 == 1.0));
    }

    #[test]
    fn marks_off_the_axis_are_triangles_at_its_edge() {
        let mark = |y: f64| Mark { at: (0.5, y), title: format!("at {y}"), ..Mark::default() };
        let series = Series { marks: vec![mark(0.5), mark(7.0)], ..Series::default() };

        let svg = Plot { series: vec![series], ..Plot::default() }
            .panel(200.0)
            .render_for_page()
            .into_string();

        assert_eq!(svg.matches(r#"class="point h0""#).count(), 1);
        assert_eq!(svg.matches(r#"class="clip h0""#).count(), 1);
        assert!(svg.contains("<title>at 7</title>"), "{svg}");
    }
}
