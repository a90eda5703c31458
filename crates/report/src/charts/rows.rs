//! Charts of rows on one axis: each row has a label, marks with intervals in lanes, and words beside them. They are
//! drawn twice, for a desk and for a phone, and the style sheet shows one: text in a chart that shrinks is too small.

use std::collections::BTreeMap;

use stats::Estimate;

use super::scale::{Scale, tick};
use super::svg::{Anchor, BOLD, Svg, hue, length, n, outline};
use maud::{Markup, html};

#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The stand-in for the chart where it is not seen.
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// The most useful first: those without room are left out.
    pub(crate) ticks: Vec<Tick>,
    /// The words above and below the axis.
    pub(crate) axes: [&'static str; 2],
    /// A shaded part of the axis, and why.
    pub(crate) shade: Option<(f64, f64, String)>,
    pub(crate) guides: Vec<Guide>,
    /// The value that stems grow from, if there are stems.
    pub(crate) origin: Option<f64>,
    /// The heights of a row's lanes.
    pub(crate) lanes: Vec<f64>,
    /// The headings of marks' words.
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

/// A vertical line with a band around it, and words on top.
#[derive(Debug)]
pub(crate) struct Guide {
    /// Its hue as a class.
    pub(crate) class: String,
    pub(crate) at: Estimate,
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// True if it sums others up.
    pub(crate) strong: bool,
    pub(crate) marks: Vec<Mark>,
}

/// A mark in one lane of a row.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) lane: usize,
    /// Its hue, and whether it is hollow.
    pub(crate) class: String,
    pub(crate) shape: usize,
    pub(crate) form: Form,
    /// The value; NaN if there is none, and the words say why.
    pub(crate) at: Estimate,
    /// The words beside it.
    pub(crate) words: Vec<String>,
    /// Everything about it, on hover.
    pub(crate) title: String,
}

/// The look of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A result with its interval.
    Full,
    /// Something beside the results.
    Small,
    /// A diamond from one end of the interval to the other.
    Span,
    /// One of many, without an interval.
    Point,
    /// One of many that stands out; its words are its name.
    Flag,
}

const HEAD: f64 = 18.0;
const EDGE: f64 = 6.0;
const FOOT: f64 = 26.0;
const GAP: f64 = 10.0;

/// The widest labels beside lanes.
const LABEL: f64 = 328.0;

/// Length of the open ends of an interval that has none.
const OPEN: f64 = 16.0;

/// From this many points on, a lane shows how densely they lie, in columns of some pixels.
pub(crate) const DENSE: usize = 300;
const BIN: f64 = 3.0;

/// The most names of marks that stand out in a lane.
const NAMES: usize = 2;

impl Tick {
    /// Returns the round values of a scale, followed by a unit.
    pub(crate) fn round(scale: &Scale, unit: &str) -> Vec<Tick> {
        let text = |at: f64| Tick { at, below: tick(at) + unit, above: String::new() };
        scale.ticks().into_iter().map(text).collect()
    }
}

impl Mark {
    /// Returns the mark of a series, hollow if it has no interval.
    pub(crate) fn new(series: usize, lane: usize, at: Estimate, words: String, title: String) -> Mark {
        let class = hue(series) + if at.bounded() { "" } else { " hollow" };
        Mark { lane, class, shape: series, form: Form::Full, at, words: vec![words], title }
    }

    /// Returns true if words stand beside it.
    fn is_result(&self) -> bool {
        matches!(self.form, Form::Full | Form::Span)
    }

    fn hue(&self) -> &str {
        self.class.split(' ').next().unwrap_or_default()
    }
}

impl Rows {
    /// Returns the drawings, for wide windows and for narrow ones.
    pub(crate) fn draw(&self) -> Markup {
        html! { @for wide in [true, false] { (Drawing::new(self, wide).finish()) } }
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.rows.iter().flat_map(|row| &row.marks)
    }

    /// Widths of the columns of words.
    fn columns(&self) -> Vec<f64> {
        let beside = |mark: &&Mark| mark.is_result() && mark.at.value.is_finite();
        let count = self.marks().filter(beside).map(|mark| mark.words.len()).max().unwrap_or(0);
        let widest = |place: usize| {
            let words = self.marks().filter(beside).filter_map(|mark| mark.words.get(place));
            let head = self.heads.get(place).map_or(0.0, |head| length(head));
            words.map(|words| length(words)).fold(head, f64::max) + 14.0
        };
        (0..count).map(widest).collect()
    }
}

struct Drawing<'a> {
    chart: &'a Rows,
    svg: Svg,
    scale: Scale,
    width: f64,
    /// The edges of the plot.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Height of a row.
    height: f64,
    /// Height of its label where it stands above the lanes; beside them it is 0.
    above: f64,
    /// The right ends of the columns of words, if they stand beside the plot.
    columns: Vec<f64>,
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Rows, wide: bool) -> Drawing<'a> {
        let bold = |row: &Row| if row.strong { BOLD } else { 1.0 };
        let labels = chart.rows.iter().map(|row| bold(row) * length(&row.label));
        let (width, left, above) = match wide {
            true => (1040.0, labels.fold(length(chart.axes[1]), f64::max).min(LABEL) + 15.0, 0.0),
            false => (360.0, 8.0, 20.0),
        };
        let widths = if wide { chart.columns() } else { Vec::new() };
        let right = width - widths.iter().sum::<f64>().max(12.0);
        let columns = (1..=widths.len()).map(|count| right + widths[..count].iter().sum::<f64>()).collect();
        let top = EDGE + HEAD * (chart.guides.len() + usize::from(!chart.heads.is_empty())) as f64;
        let height = above + GAP + chart.lanes.iter().sum::<f64>();
        let (scale, bottom) = (chart.scale.between(left, right), top + height * chart.rows.len() as f64);
        Drawing { chart, svg: Svg::default(), scale, width, left, right, top, bottom, height, above, columns }
    }

    fn finish(mut self) -> Markup {
        self.axis();
        for (place, guide) in self.chart.guides.iter().enumerate() {
            self.guide(guide, HEAD * place as f64);
        }
        for (place, row) in self.chart.rows.iter().enumerate() {
            self.row(row, self.top + self.height * place as f64);
        }
        let class = if self.above > 0.0 { "chart narrow" } else { "chart wide" };
        self.svg.finish(class, (self.width, self.bottom + FOOT), &self.chart.label)
    }

    fn axis(&mut self) {
        let Drawing { chart, svg, scale, top, bottom, right, .. } = self;
        let (over, under) = (*top - 9.0, *bottom + 17.0);
        if let Some((low, high, why)) = &chart.shade
            && let Some((low, high)) = scale.at(*low).zip(scale.at(*high))
        {
            svg.open(why);
            svg.rect("band ink", (low, *top), (high - low, *bottom - *top));
            svg.close();
        }
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for tick in chart.ticks.iter().filter(|tick| scale.shows(tick.at)) {
            let Some(x) = scale.at(tick.at) else { continue };
            let half = length(&tick.below).max(length(&tick.above)) / 2.0 + 4.0;
            let free = taken.iter().all(|(from, to)| x + half <= *from || x - half >= *to);
            if free && x + half <= *right + 14.0 {
                taken.push((x - half, x + half));
                svg.line(if tick.at == 0.0 { "zero" } else { "grid" }, (x, *top), (x, *bottom));
                svg.text("tick", (x, under), Anchor::Middle, &tick.below);
                svg.text("tick", (x, over), Anchor::Middle, &tick.above);
            }
        }
        if self.above == 0.0 {
            svg.text("tick", (0.0, over), Anchor::Start, chart.axes[0]);
            svg.text("tick", (0.0, under), Anchor::Start, chart.axes[1]);
        }
        for (head, x) in chart.heads.iter().zip(&self.columns) {
            svg.text("tick", (*x, over), Anchor::End, head);
        }
    }

    fn guide(&mut self, guide: &Guide, top: f64) {
        let Drawing { svg, scale, bottom, .. } = self;
        let Guide { class, at, text } = guide;
        let Some(x) = scale.at(at.value) else { return };
        svg.open(text);
        if let (true, Some(low), Some(high)) = (at.bounded(), scale.at(at.low), scale.at(at.high)) {
            svg.rect(&format!("band {class}"), (low, top + 14.0), (high - low, *bottom - top - 14.0));
        }
        svg.line(&format!("mean {class}"), (x, top + 2.0), (x, *bottom));
        let fits = x + length(text) + 8.0 < self.width;
        let (at, anchor) = if fits { (x + 5.0, Anchor::Start) } else { (x - 5.0, Anchor::End) };
        svg.text(&format!("head {class}"), (at, top + 12.0), anchor, text);
        svg.close();
    }

    fn row(&mut self, row: &Row, top: f64) {
        let lanes = &self.chart.lanes;
        let (first, mut end) = (top + self.above + GAP / 2.0, 0.0);
        let middle = |height: &f64| {
            let begin = end;
            end += height;
            first + (begin + end) / 2.0
        };
        let lane_middles: Vec<f64> = lanes.iter().map(middle).collect();
        self.svg.line("rule", (0.0, top), (self.width, top));
        self.label(row, top, &lane_middles);
        for (lane, y) in lane_middles.into_iter().enumerate() {
            let of = |form: fn(Form) -> bool| {
                row.marks.iter().filter(move |mark| mark.lane == lane && form(mark.form)).collect::<Vec<&Mark>>()
            };
            self.points(&of(|form| form == Form::Point), y, lanes[lane]);
            of(|form| !matches!(form, Form::Point | Form::Flag)).into_iter().for_each(|mark| self.mark(mark, y));
            // Those that stand out last, so that they lie on top.
            let flags = of(|form| form == Form::Flag);
            for (place, mark) in flags.iter().enumerate() {
                let y = y + if flags.len() > 1 { scatter(place, lanes[lane]) } else { 0.0 };
                self.flag(mark, y, flags.len() <= NAMES);
            }
        }
    }

    /// Where there is no room beside the lanes, the label stands above them, with the words of a single mark.
    fn label(&mut self, row: &Row, top: f64, lanes: &[f64]) {
        let class = if row.strong { "label strong" } else { "label" };
        if self.above == 0.0 {
            // Marks that have words in columns stand in the first lane.
            let last = if self.chart.heads.is_empty() { lanes.last() } else { lanes.first() };
            let middle = (lanes.first().unwrap_or(&top) + last.unwrap_or(&top)) / 2.0 + 4.5;
            return self.svg.fitted(class, (0.0, middle), Anchor::Start, &row.label, self.left - 14.0);
        }
        let mut with_words = row.marks.iter().filter(|mark| mark.is_result() && !mark.words.is_empty());
        let (mut room, y) = (self.width, top + 17.0);
        if let (Some(mark), None) = (with_words.next(), with_words.next()) {
            let mut words: Vec<&str> = mark.words.first().into_iter().chain(mark.words.last()).map(|w| &**w).collect();
            words.dedup();
            let words = words.join("  ");
            room -= length(&words) + 8.0;
            self.svg.text(&format!("value {}", mark.hue()), (self.width, y), Anchor::End, &words);
        }
        self.svg.fitted(class, (0.0, y), Anchor::Start, &row.label, room);
    }

    fn mark(&mut self, mark: &Mark, y: f64) {
        let Drawing { svg, scale, .. } = self;
        let (at, hue) = (mark.at, mark.hue());
        svg.open(&mark.title);
        let Some(x) = scale.at(at.value) else {
            svg.text("missing", (self.left + 6.0, y + 4.0), Anchor::Start, &mark.words.join(" "));
            return svg.close();
        };
        if let Some(from) = self.chart.origin.and_then(|origin| scale.at(origin)) {
            svg.line(&format!("stem {hue}"), (from, y), (x, y));
        }
        let radius = if mark.form == Form::Small { 2.4 } else { 3.9 };
        let drawn = match (scale.shows(at.value), mark.form) {
            (false, _) => arrow(x, y, scale, at.value),
            (true, Form::Span) => diamond(x, y, scale, &at),
            _ => outline(mark.shape, (x, y), radius),
        };
        if mark.form != Form::Span {
            whiskers(svg, &at, scale, (x, y), if mark.form == Form::Small { "ink thin" } else { hue });
        }
        svg.path(&format!("mark {}", mark.class), &drawn, "");
        for (place, (words, end)) in mark.words.iter().zip(&self.columns).enumerate() {
            let is_outer = place == 0 || place + 1 == mark.words.len();
            let class = if is_outer { format!("value {hue}") } else { "tick".to_owned() };
            svg.text(&class, (*end, y + 4.0), Anchor::End, words);
        }
        svg.close();
    }

    fn points(&mut self, points: &[&Mark], y: f64, height: f64) {
        let Some(class) = points.first().map(|mark| mark.class.as_str()) else { return };
        if points.len() >= DENSE {
            let places = points.iter().filter_map(|mark| self.scale.at(mark.at.value));
            return self.svg.path(&format!("dense {class}"), &density(places, y, height - 4.0), "");
        }
        for (place, mark) in points.iter().enumerate() {
            if let Some(x) = self.scale.at(mark.at.value) {
                let outline = outline(0, (x, y + scatter(place, height)), 2.6);
                self.svg.path(&format!("point {class}"), &outline, &mark.title);
            }
        }
    }

    fn flag(&mut self, mark: &Mark, y: f64, with_name: bool) {
        let Some(x) = self.scale.at(mark.at.value) else { return };
        self.svg.open(&mark.title);
        self.svg.path(&format!("mark {}", mark.class), &outline(mark.shape, (x, y), 4.2), "");
        if with_name {
            let name = mark.words.join(" ");
            let fits = x - length(&name) > self.left;
            let (at, anchor) = if fits { (x - 7.0, Anchor::End) } else { (x + 7.0, Anchor::Start) };
            self.svg.text("tick", (at, y + 4.0), anchor, &name);
        }
        self.svg.close();
    }
}

/// Draws the interval, without caps that a small one would hide under its mark; where an end does not exist, a short
/// dashed line.
fn whiskers(svg: &mut Svg, at: &Estimate, scale: &Scale, (x, y): (f64, f64), class: &str) {
    for (end, open) in [(at.low, -OPEN), (at.high, OPEN)] {
        match scale.at(end) {
            None => svg.line(&format!("open {class}"), (x, y), (x + open, y)),
            Some(to) => {
                svg.line(&format!("whisker {class}"), (x, y), (to, y));
                if !scale.shows(end) {
                    svg.path(&format!("mark {class}"), &arrow(to, y, scale, end), "");
                }
            }
        }
    }
}

/// An arrow at the edge beyond which the value lies.
fn arrow(x: f64, y: f64, scale: &Scale, value: f64) -> String {
    let tail = n(x + if scale.is_below(value) { 5.0 } else { -5.0 });
    format!("M{} {}L{tail} {}L{tail} {}z", n(x), n(y), n(y - 3.5), n(y + 3.5))
}

/// A diamond from one end of the interval to the other, and at least as wide as a mark.
fn diamond(x: f64, y: f64, scale: &Scale, at: &Estimate) -> String {
    let ends = if at.bounded() { scale.at(at.low).zip(scale.at(at.high)) } else { None };
    let (low, high) = ends.map_or((x, x), |(low, high)| (low, high));
    let (low, high) = (n(low.min(x - 4.0)), n(high.max(x + 4.0)));
    format!("M{low} {y}L{x} {}L{high} {y}L{x} {}z", n(y - 5.0), n(y + 5.0), x = n(x), y = n(y))
}

/// Returns the distance of a point from the middle of its lane: the same for the same number, and evenly spread
/// (multiples of the golden ratio).
fn scatter(number: usize, height: f64) -> f64 {
    ((number as f64 * 0.618_033_988_749_895).fract() - 0.5) * (height - 8.0)
}

/// Columns whose height goes by the root of how many points are in them, so that one alone is still seen.
fn density(places: impl Iterator<Item = f64>, middle: f64, height: f64) -> String {
    let mut columns: BTreeMap<i64, usize> = BTreeMap::new();
    places.for_each(|x| *columns.entry((x / BIN).floor() as i64).or_default() += 1);
    let most = columns.values().copied().max().unwrap_or(1) as f64;
    let column = |(column, count): (&i64, &usize)| {
        let half = (*count as f64 / most).sqrt() * height / 2.0;
        let (left, right) = (n(*column as f64 * BIN), n((*column as f64 + 1.0) * BIN));
        let (top, bottom) = (n(middle - half), n(middle + half));
        format!("M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}z")
    };
    columns.iter().map(column).collect()
}
