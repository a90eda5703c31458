//! The frame of charts of rows on one axis. Each row has a label, lanes of marks with intervals,
//! and words in columns next to them.
//!
//! A view fills a [`Rows`], which knows values and words and no pixels. [`Rows::draw`] lays it out
//! for each medium: text in a chart that shrinks would be too small. A page has two drawings, wide
//! for a desk and narrow for a phone, and the style sheet shows one of them. In a narrow drawing
//! the label is above the lanes, and there are no columns of words.

use std::collections::BTreeMap;
use std::ops::Range;

use stats::Estimate;

use super::scale::{Scale, format_tick};
use super::svg::{
    Anchor, BOLD, CIRCLE, Drawing, Drawings, IMAGE_PX, Medium, Svg, Widths, coordinate, hue_class,
    outline, text_width,
};

/// A chart of rows, as a view fills it.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The words for readers who do not see the chart.
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// The most useful first: those without room are left out.
    pub(crate) ticks: Vec<Tick>,
    /// The words above and below the axis.
    pub(crate) axes: [&'static str; 2],
    /// A shaded part of the axis.
    pub(crate) shade: Option<Shade>,
    pub(crate) guides: Vec<Guide>,
    /// The value that stems grow from, if there are stems.
    pub(crate) origin: Option<f64>,
    /// The heights of a row's lanes in px.
    pub(crate) lanes: Vec<f64>,
    /// The headings of the columns of words.
    pub(crate) heads: &'static [&'static str],
    pub(crate) rows: Vec<Row>,
}

/// A value that is marked on the axis, with words below and above it.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) below: String,
    pub(crate) above: String,
}

/// A shaded part of the axis, and why it is.
#[derive(Debug)]
pub(crate) struct Shade {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) reason: String,
}

/// A vertical line with a band around it, and words on top.
#[derive(Debug)]
pub(crate) struct Guide {
    /// The classes of its hue and style.
    pub(crate) class: String,
    pub(crate) at: Estimate,
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// True if it sums others up.
    pub(crate) is_strong: bool,
    pub(crate) marks: Vec<Mark>,
}

/// A mark in one lane of a row.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) lane: usize,
    /// The class of its hue, followed by `hollow` if it is hollow.
    pub(crate) class: String,
    /// The number of its shape, or of its series, as [`outline`] takes it.
    pub(crate) shape: usize,
    pub(crate) kind: MarkKind,
    /// NaN if there is no value, and the words say why.
    pub(crate) at: Estimate,
    /// A word for each column.
    pub(crate) words: Vec<String>,
    /// Everything about it, on hover.
    pub(crate) title: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// A result with its interval.
    Result,
    /// A smaller mark, of something other than the results.
    Small,
    /// A diamond from one end of the interval to the other.
    Span,
    /// One of many, without an interval.
    Point,
    /// One of many that stands out; its words are its name.
    Flag,
}

const WIDTHS: Widths = Widths { wide: 1040.0, narrow: 360.0, image: IMAGE_PX };

/// Height in px of a line of words on top: the columns' headings, or a guide's words.
const HEAD_PX: f64 = 18.0;

/// From the top of such a line to a guide's line, to its baseline, and to a guide's band, in px.
const GUIDE_LINE_PX: f64 = 2.0;
const GUIDE_WORDS_PX: f64 = 12.0;
const GUIDE_BAND_PX: f64 = 14.0;

/// From the edges of the plot to the baselines of the words above and below the axis, in px.
const ABOVE_AXIS_PX: f64 = 9.0;
const BELOW_AXIS_PX: f64 = 17.0;

/// From the middle of words to their baseline in px: of those next to marks, and of labels, whose
/// letters are larger.
const BASELINE_PX: f64 = 4.0;
const LABEL_BASELINE_PX: f64 = 4.5;

/// Room in px above and below everything.
const TOP_PX: f64 = 6.0;
const FOOT_PX: f64 = 26.0;

/// Room between rows in px.
const ROW_GAP_PX: f64 = 10.0;

/// Labels next to lanes are cut at this share of the width.
const MAX_LABEL_SHARE: f64 = 0.315;

/// Room in px between a label and the plot, and before a column of words.
const LABEL_GAP_PX: f64 = 15.0;
const COLUMN_GAP_PX: f64 = 18.0;

/// Room to the right of the plot in px where there are no columns of words.
const MIN_RIGHT_PX: f64 = 12.0;

/// Length in px of the dashed line in place of an end that an interval lacks.
const OPEN_END_PX: f64 = 16.0;

/// From this many points on, a lane shows how densely they lie.
pub(crate) const MIN_DENSE_POINTS: usize = 300;

/// Width in px of a column of a dense lane.
const DENSITY_BIN_PX: f64 = 3.0;

/// Flags of a lane have their names next to them if they are at most so many.
const MAX_NAMED_FLAGS: usize = 2;

/// The golden ratio modulo 1: its multiples modulo 1 are spread evenly, however many there are.
const GOLDEN_FRACTION: f64 = 0.618_033_988_749_895;

impl Tick {
    /// The round values of a scale, each followed by `unit`.
    pub(crate) fn round_values(scale: &Scale, unit: &str) -> Vec<Tick> {
        let mut ticks = Vec::new();
        for at in scale.ticks() {
            ticks.push(Tick { at, below: format_tick(at) + unit, above: String::new() });
        }
        ticks
    }
}

impl Mark {
    /// The result of a series, hollow if it has no interval.
    pub(crate) fn new(
        series: usize,
        lane: usize,
        at: Estimate,
        words: String,
        title: String,
    ) -> Mark {
        let hollow = if at.bounded() { "" } else { " hollow" };
        Mark {
            lane,
            class: hue_class(series) + hollow,
            shape: series,
            kind: MarkKind::Result,
            at,
            words: vec![words],
            title,
        }
    }

    /// True if it has words in columns.
    fn has_columns(&self) -> bool {
        matches!(self.kind, MarkKind::Result | MarkKind::Span)
    }

    fn hue(&self) -> &str {
        self.class.split(' ').next().unwrap_or_default()
    }
}

impl Rows {
    /// The drawings for all media.
    pub(crate) fn draw(&self) -> Drawings {
        WIDTHS.draw(|medium, width| Layout::new(self, medium, width).draw())
    }

    /// The width in px that the labels take next to the lanes of a drawing `chart_width` wide.
    fn label_width(&self, chart_width: f64) -> f64 {
        let mut width = text_width(self.axes[1]);
        for row in &self.rows {
            let boldness = if row.is_strong { BOLD } else { 1.0 };
            width = width.max(boldness * text_width(&row.label));
        }
        width.min(MAX_LABEL_SHARE * chart_width)
    }

    /// The widths of the columns of words in px. A mark without a value has its words in its lane.
    fn column_widths(&self) -> Vec<f64> {
        let marks = self.rows.iter().flat_map(|row| &row.marks);
        let words: Vec<&[String]> = marks
            .filter(|mark| mark.has_columns() && mark.at.value.is_finite())
            .map(|mark| &mark.words[..])
            .collect();
        let count = words.iter().map(|words| words.len()).max().unwrap_or(0);

        let mut widths = Vec::new();
        for column in 0..count {
            let head_width = self.heads.get(column).map_or(0.0, |head| text_width(head));
            let word_widths =
                words.iter().filter_map(|words| words.get(column)).map(|word| text_width(word));
            widths.push(word_widths.fold(head_width, f64::max) + COLUMN_GAP_PX);
        }
        widths
    }
}

/// The layout of a chart in one width, and what is drawn so far. Lengths are in px.
struct Layout<'a> {
    chart: &'a Rows,
    medium: Medium,
    svg: Svg,
    scale: Scale,
    width: f64,
    /// The edges of the plot.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    row_height: f64,
    /// The height of a label above its lanes; 0 where it is next to them, as in wide drawings.
    label_height: f64,
    /// The right ends of the columns of words; none in a narrow drawing.
    column_ends: Vec<f64>,
}

impl<'a> Layout<'a> {
    fn new(chart: &'a Rows, medium: Medium, width: f64) -> Layout<'a> {
        let is_narrow = medium == Medium::NarrowPage;
        let (left, label_height) = match is_narrow {
            true => (8.0, 20.0),
            false => (chart.label_width(width) + LABEL_GAP_PX, 0.0),
        };
        let column_widths = if is_narrow { Vec::new() } else { chart.column_widths() };
        let right = width - column_widths.iter().sum::<f64>().max(MIN_RIGHT_PX);
        let column_ends = (1..=column_widths.len())
            .map(|count| right + column_widths[..count].iter().sum::<f64>())
            .collect();

        let head_lines = chart.guides.len() + usize::from(!chart.heads.is_empty());
        let top = TOP_PX + HEAD_PX * head_lines as f64;
        let row_height = label_height + ROW_GAP_PX + chart.lanes.iter().sum::<f64>();
        let bottom = top + row_height * chart.rows.len() as f64;

        Layout {
            chart,
            medium,
            svg: Svg::default(),
            scale: chart.scale.between(left, right),
            width,
            left,
            right,
            top,
            bottom,
            row_height,
            label_height,
            column_ends,
        }
    }

    fn is_narrow(&self) -> bool {
        self.medium == Medium::NarrowPage
    }

    fn draw(mut self) -> Drawing {
        self.draw_shade();
        self.draw_axis();
        for (number, guide) in self.chart.guides.iter().enumerate() {
            self.draw_guide(guide, HEAD_PX * number as f64);
        }
        for (number, row) in self.chart.rows.iter().enumerate() {
            self.draw_row(row, self.top + self.row_height * number as f64);
        }

        self.svg.finish(self.medium, (self.width, self.bottom + FOOT_PX), &self.chart.label)
    }

    fn draw_shade(&mut self) {
        let Some(Shade { low, high, reason }) = &self.chart.shade else { return };
        let (Some(low), Some(high)) = (self.scale.place(*low), self.scale.place(*high)) else {
            return;
        };

        self.svg.open_group(reason);
        let size = (high - low, self.bottom - self.top);
        self.svg.rect("band ink", (low, self.top), size);
        self.svg.close_group();
    }

    fn draw_axis(&mut self) {
        let (y_above, y_below) = (self.top - ABOVE_AXIS_PX, self.bottom + BELOW_AXIS_PX);

        let mut taken: Vec<Range<f64>> = Vec::new();
        for tick in self.chart.ticks.iter().filter(|tick| self.scale.shows(tick.at)) {
            let Some(x) = self.scale.place(tick.at) else { continue };
            let half = text_width(&tick.below).max(text_width(&tick.above)) / 2.0 + 4.0;
            let is_free =
                taken.iter().all(|words| x + half <= words.start || x - half >= words.end);
            if !is_free || x + half > self.right + 14.0 {
                continue;
            }

            taken.push(x - half..x + half);
            let class = if tick.at == 0.0 { "zero" } else { "grid" };
            self.svg.line(class, (x, self.top), (x, self.bottom));
            self.svg.text("tick", (x, y_below), Anchor::Middle, &tick.below);
            self.svg.text("tick", (x, y_above), Anchor::Middle, &tick.above);
        }

        if !self.is_narrow() {
            let [above, below] = self.chart.axes;
            self.svg.text("tick", (0.0, y_above), Anchor::Start, above);
            self.svg.text("tick", (0.0, y_below), Anchor::Start, below);
        }
        for (head, x) in self.chart.heads.iter().zip(&self.column_ends) {
            self.svg.text("tick", (*x, y_above), Anchor::End, head);
        }
    }

    /// Draws a guide through all rows, with its words in the line of headings that begins at `top`.
    fn draw_guide(&mut self, guide: &Guide, top: f64) {
        let Guide { class, at, text } = guide;
        let Some(x) = self.scale.place(at.value) else { return };

        self.svg.open_group(text);
        let ends = self.scale.place(at.low).zip(self.scale.place(at.high));
        if let Some((low, high)) = ends.filter(|_| at.bounded()) {
            let band_top = top + GUIDE_BAND_PX;
            let size = (high - low, self.bottom - band_top);
            self.svg.rect(&format!("band {class}"), (low, band_top), size);
        }
        self.svg.line(&format!("mean {class}"), (x, top + GUIDE_LINE_PX), (x, self.bottom));

        let has_room_to_the_right = x + text_width(text) + 8.0 < self.width;
        let (x, anchor) = match has_room_to_the_right {
            true => (x + 5.0, Anchor::Start),
            false => (x - 5.0, Anchor::End),
        };
        self.svg.text(&format!("head {class}"), (x, top + GUIDE_WORDS_PX), anchor, text);
        self.svg.close_group();
    }

    fn draw_row(&mut self, row: &Row, top: f64) {
        let heights = &self.chart.lanes;
        let middles = lane_middles(heights, top + self.label_height + ROW_GAP_PX / 2.0);

        self.svg.line("rule", (0.0, top), (self.width, top));
        match self.is_narrow() {
            true => self.draw_label_above(row, top),
            false => self.draw_label_at_left(row, top, &middles),
        }
        for (lane, (y, height)) in middles.into_iter().zip(heights).enumerate() {
            self.draw_lane(row, lane, y, *height);
        }
    }

    /// Draws the label at the middle of its lanes; in a chart with columns of words, at that of the
    /// first lane, where the marks that have such words are.
    fn draw_label_at_left(&mut self, row: &Row, top: f64, lane_middles: &[f64]) {
        let first = lane_middles.first().unwrap_or(&top);
        let has_columns = !self.chart.heads.is_empty();
        let last = if has_columns { first } else { lane_middles.last().unwrap_or(&top) };
        let y = (first + last) / 2.0 + LABEL_BASELINE_PX;

        self.svg.fitted_text(label_class(row), (0.0, y), &row.label, self.left - 14.0);
    }

    /// Draws the label, and in the same line the words of its mark if it has just one.
    fn draw_label_above(&mut self, row: &Row, top: f64) {
        let y = top + 17.0;
        let mut room = self.width;

        let mut with_words =
            row.marks.iter().filter(|mark| mark.has_columns() && !mark.words.is_empty());
        if let (Some(mark), None) = (with_words.next(), with_words.next()) {
            // A result has its value first and its verdict last; a single word is both.
            let mut words: Vec<&str> =
                mark.words.first().into_iter().chain(mark.words.last()).map(|w| &**w).collect();
            words.dedup();
            let words = words.join("  ");
            room -= text_width(&words) + 8.0;
            let class = format!("value {}", mark.hue());
            self.svg.text(&class, (self.width, y), Anchor::End, &words);
        }

        self.svg.fitted_text(label_class(row), (0.0, y), &row.label, room);
    }

    fn draw_lane(&mut self, row: &Row, lane: usize, y: f64, height: f64) {
        let (mut points, mut results, mut flags) = (Vec::new(), Vec::new(), Vec::new());
        for mark in row.marks.iter().filter(|mark| mark.lane == lane) {
            match mark.kind {
                MarkKind::Point => points.push(mark),
                MarkKind::Result | MarkKind::Small | MarkKind::Span => results.push(mark),
                MarkKind::Flag => flags.push(mark),
            }
        }

        self.draw_points(&points, y, height);
        for mark in results {
            self.draw_result(mark, y);
        }
        // Those that stand out come last, so that they lie on top.
        for (number, flag) in flags.iter().enumerate() {
            let offset = if flags.len() > 1 { scatter_offset(number, height) } else { 0.0 };
            self.draw_flag(flag, y + offset, flags.len() <= MAX_NAMED_FLAGS);
        }
    }

    fn draw_result(&mut self, mark: &Mark, y: f64) {
        let (at, hue) = (mark.at, mark.hue());
        self.svg.open_group(&mark.title);

        let Some(x) = self.scale.place(at.value) else {
            let reason = mark.words.join(" ");
            self.svg.text("missing", (self.left + 6.0, y + BASELINE_PX), Anchor::Start, &reason);
            return self.svg.close_group();
        };
        if let Some(origin) = self.chart.origin.and_then(|origin| self.scale.place(origin)) {
            self.svg.line(&format!("stem {hue}"), (origin, y), (x, y));
        }

        match mark.kind {
            MarkKind::Span => {}
            MarkKind::Small => self.draw_whiskers(&at, (x, y), "ink thin"),
            _ => self.draw_whiskers(&at, (x, y), hue),
        }
        let radius = if mark.kind == MarkKind::Small { 2.4 } else { 3.9 };
        let path = match (self.scale.shows(at.value), mark.kind) {
            (false, _) => edge_arrow(x, y, &self.scale, at.value),
            (true, MarkKind::Span) => diamond(x, y, &self.scale, &at),
            (true, _) => outline(mark.shape, (x, y), radius),
        };
        self.svg.path(&format!("mark {}", mark.class), &path, "");

        for (column, (word, end)) in mark.words.iter().zip(&self.column_ends).enumerate() {
            let is_outer = column == 0 || column + 1 == mark.words.len();
            let class = if is_outer { format!("value {hue}") } else { "tick".to_owned() };
            self.svg.text(&class, (*end, y + BASELINE_PX), Anchor::End, word);
        }
        self.svg.close_group();
    }

    /// Draws an interval, and a short dashed line where an end does not exist. It has no caps:
    /// those of a small interval would hide under the mark.
    fn draw_whiskers(&mut self, at: &Estimate, (x, y): (f64, f64), class: &str) {
        for (end, open_end) in [(at.low, x - OPEN_END_PX), (at.high, x + OPEN_END_PX)] {
            let Some(to) = self.scale.place(end) else {
                self.svg.line(&format!("open {class}"), (x, y), (open_end, y));
                continue;
            };
            self.svg.line(&format!("whisker {class}"), (x, y), (to, y));
            if !self.scale.shows(end) {
                let arrow = edge_arrow(to, y, &self.scale, end);
                self.svg.path(&format!("mark {class}"), &arrow, "");
            }
        }
    }

    fn draw_points(&mut self, points: &[&Mark], y: f64, height: f64) {
        let Some(class) = points.first().map(|mark| mark.class.as_str()) else { return };

        if points.len() >= MIN_DENSE_POINTS {
            let places = points.iter().filter_map(|mark| self.scale.place(mark.at.value));
            let columns = density_columns(places, y, height - 4.0);
            return self.svg.path(&format!("dense {class}"), &columns, "");
        }
        for (number, mark) in points.iter().enumerate() {
            if let Some(x) = self.scale.place(mark.at.value) {
                let point = outline(CIRCLE, (x, y + scatter_offset(number, height)), 2.6);
                self.svg.path(&format!("point {class}"), &point, &mark.title);
            }
        }
    }

    fn draw_flag(&mut self, mark: &Mark, y: f64, has_name: bool) {
        let Some(x) = self.scale.place(mark.at.value) else { return };

        self.svg.open_group(&mark.title);
        self.svg.path(&format!("mark {}", mark.class), &outline(mark.shape, (x, y), 4.2), "");
        if has_name {
            let name = mark.words.join(" ");
            let has_room_to_the_left = x - text_width(&name) > self.left;
            let (x, anchor) = match has_room_to_the_left {
                true => (x - 7.0, Anchor::End),
                false => (x + 7.0, Anchor::Start),
            };
            self.svg.text("tick", (x, y + BASELINE_PX), anchor, &name);
        }
        self.svg.close_group();
    }
}

fn label_class(row: &Row) -> &'static str {
    if row.is_strong { "label strong" } else { "label" }
}

/// The middles of lanes that lie below each other from `top` on.
fn lane_middles(heights: &[f64], top: f64) -> Vec<f64> {
    let mut middles = Vec::new();
    let mut begin = 0.0;
    for height in heights {
        let end = begin + height;
        middles.push(top + (begin + end) / 2.0);
        begin = end;
    }
    middles
}

/// An arrow at the edge beyond which the value lies.
fn edge_arrow(x: f64, y: f64, scale: &Scale, value: f64) -> String {
    let tail = x + if scale.is_below(value) { 5.0 } else { -5.0 };
    let [x, y, tail, above, below] = [x, y, tail, y - 3.5, y + 3.5].map(coordinate);
    format!("M{x} {y}L{tail} {above}L{tail} {below}z")
}

/// A diamond from one end of the interval to the other, and at least as wide as a mark.
fn diamond(x: f64, y: f64, scale: &Scale, at: &Estimate) -> String {
    let ends = if at.bounded() { scale.place(at.low).zip(scale.place(at.high)) } else { None };
    let (low, high) = ends.unwrap_or((x, x));
    let [low, high] = [low.min(x - 4.0), high.max(x + 4.0)].map(coordinate);
    let [x, above, below] = [x, y - 5.0, y + 5.0].map(coordinate);
    format!("M{low} {y}L{x} {above}L{high} {y}L{x} {below}z", y = coordinate(y))
}

/// The distance of a point from the middle of its lane: the same for the same number, and evenly
/// spread.
fn scatter_offset(number: usize, lane_height: f64) -> f64 {
    ((number as f64 * GOLDEN_FRACTION).fract() - 0.5) * (lane_height - 8.0)
}

/// Columns around a middle, whose heights go by the root of how many places are in them, so that
/// a single one is still seen.
fn density_columns(places: impl Iterator<Item = f64>, middle: f64, max_height: f64) -> String {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for x in places {
        *counts.entry((x / DENSITY_BIN_PX).floor() as i64).or_default() += 1;
    }
    let max_count = counts.values().copied().max().unwrap_or(1) as f64;

    let mut path = String::new();
    for (bin, count) in counts {
        let half = (count as f64 / max_count).sqrt() * max_height / 2.0;
        let left = bin as f64 * DENSITY_BIN_PX;
        let right = (bin as f64 + 1.0) * DENSITY_BIN_PX;
        let [left, right, top, bottom] =
            [left, right, middle - half, middle + half].map(coordinate);
        path += &format!("M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}z");
    }
    path
}
