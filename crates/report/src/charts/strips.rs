//! The strip chart: every node's figure in every test, a lane per group; of many nodes how dense they lie.

use super::dots::Frame;
use super::scale::Scale;
use super::svg::{Anchor, Svg, hue, n, outline};
use words::signed;

const WIDE: Frame = Frame { class: "chart wide", width: 1040.0, left: 300.0, right: 12.0, above: 0.0 };
const NARROW: Frame = Frame { class: "chart narrow", width: 360.0, left: 10.0, right: 10.0, above: 20.0 };

const TOP: f64 = 6.0;
const FOOT: f64 = 26.0;
const GAP: f64 = 10.0;
const LANE: f64 = 20.0;
const RADIUS: f64 = 2.6;

/// Groups that have a lane of their own; the others share the last.
pub(crate) const LANES: usize = 4;

/// How many names have room in a lane.
const NAMES: usize = 2;

/// From this many nodes on, a lane shows how dense they lie.
pub(crate) const DENSE: usize = 300;

/// Width of a column of dense nodes, in pixels.
const BIN: f64 = 3.0;

/// Differences that are marked on the axis, in per cent.
const TICKS: [f64; 15] =
    [0.0, -2.0, 2.0, -10.0, 10.0, -50.0, 50.0, -5.0, 5.0, -20.0, 20.0, 100.0, 300.0, -90.0, 1000.0];

/// The chart.
pub(crate) struct Chart {
    /// How many lanes each row has.
    pub(crate) lanes: usize,
    /// The rows, one per test.
    pub(crate) rows: Vec<Row>,
}

/// One test.
pub(crate) struct Row {
    /// Its name.
    pub(crate) label: String,
    /// The nodes that have a figure in it.
    pub(crate) dots: Vec<Dot>,
}

/// One node.
pub(crate) struct Dot {
    /// Its name.
    pub(crate) name: String,
    /// The place of its group.
    pub(crate) lane: usize,
    /// In per cent from the fleet's median, negative where it is worse.
    pub(crate) at: f64,
    /// Whether it stands out.
    pub(crate) flagged: bool,
    /// Everything about it, on hover.
    pub(crate) title: String,
}

impl Chart {
    /// Returns the drawings, one for wide windows and one for narrow ones; `None` if no node has a figure.
    pub(crate) fn draw(&self) -> Option<String> {
        let all: Vec<f64> = self.rows.iter().flat_map(|row| row.dots.iter().map(|dot| dot.at)).collect();
        let scale = (!all.is_empty()).then(|| Scale::asinh(&all, 5.0))?;
        let tests = words::count(self.rows.len(), "test");
        let label =
            format!("Every node's figure in {tests}, in per cent from the fleet's median; the tables have the figures");
        Some([WIDE, NARROW].iter().map(|frame| self.drawing(&scale, frame, &label)).collect())
    }

    fn drawing(&self, scale: &Scale, frame: &Frame, label: &str) -> String {
        let scale = scale.between(frame.left, frame.width - frame.right);
        let height = frame.above + GAP + LANE * self.lanes as f64;
        let bottom = TOP + height * self.rows.len() as f64;
        let mut svg = Svg::default();
        grid(&mut svg, &scale, (TOP, bottom), frame);
        for (place, row) in self.rows.iter().enumerate() {
            self.row(&mut svg, row, &scale, TOP + height * place as f64, frame);
        }
        svg.finish(frame.class, (frame.width, bottom + FOOT), label)
    }

    fn row(&self, svg: &mut Svg, row: &Row, scale: &Scale, top: f64, frame: &Frame) {
        svg.line("rule", (0.0, top), (frame.width, top));
        if frame.above > 0.0 {
            svg.fitted("label", (0.0, top + 17.0), Anchor::Start, &row.label, frame.width);
        } else {
            let middle = top + (GAP + LANE * self.lanes as f64) / 2.0 + 4.5;
            svg.fitted("label", (0.0, middle), Anchor::Start, &row.label, frame.left - 14.0);
        }
        for lane in 0..self.lanes {
            let dots: Vec<&Dot> = row.dots.iter().filter(|dot| dot.lane == lane).collect();
            let middle = top + frame.above + GAP / 2.0 + LANE * (lane as f64 + 0.5);
            let dense = dots.len() >= DENSE;
            if dense {
                density(svg, &dots, scale, middle, lane);
            }
            let plain = dots.iter().filter(|dot| !dot.flagged && !dense);
            for (number, dot) in plain.enumerate() {
                let Some(x) = scale.at(dot.at) else { continue };
                let outline = outline(0, (x, middle + scatter(number)), RADIUS);
                svg.path(&format!("point {}", hue(lane)), &outline, Some(&dot.title));
            }
            // Flagged ones last, so that they lie on top.
            let flagged: Vec<&&Dot> = dots.iter().filter(|dot| dot.flagged).collect();
            for (number, dot) in flagged.iter().enumerate() {
                let y = middle + if flagged.len() > 1 { scatter(number) } else { 0.0 };
                flagged_mark(svg, dot, scale, y, flagged.len() <= NAMES);
            }
        }
    }
}

fn grid(svg: &mut Svg, scale: &Scale, (top, bottom): (f64, f64), frame: &Frame) {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for value in TICKS {
        let Some(x) = scale.at(value).filter(|_| scale.shows(value)) else { continue };
        let text = if value == 0.0 { "median".to_owned() } else { format!("{} %", signed(value)) };
        let half = text.chars().count() as f64 * 3.6 + 4.0;
        let (from, to) = (x - half, x + half);
        if from < 0.0 || to > frame.width || taken.iter().any(|other| from < other.1 && to > other.0) {
            continue;
        }
        taken.push((from, to));
        svg.line(if value == 0.0 { "zero" } else { "grid" }, (x, top), (x, bottom));
        svg.text("tick", (x, bottom + 17.0), Anchor::Middle, &text);
    }
}

/// A node that stands out, with its name where there is room for it.
fn flagged_mark(svg: &mut Svg, dot: &Dot, scale: &Scale, y: f64, with_name: bool) {
    let Some(x) = scale.at(dot.at) else { return };
    svg.open(Some(&dot.title));
    svg.path("mark alarm", &outline(4, (x, y), RADIUS + 1.6), None);
    if with_name {
        let name: String = dot.name.chars().take(24).collect();
        let (at, anchor) = if x > 180.0 { (x - 7.0, Anchor::End) } else { (x + 7.0, Anchor::Start) };
        svg.text("tick", (at, y + 4.0), anchor, &name);
    }
    svg.close();
}

/// The share of a lane's height by which a dot lies above or below its middle: the same for the same number, and evenly spread
/// (multiples of the golden ratio).
fn scatter(number: usize) -> f64 {
    let share = (number as f64 * 0.618_033_988_749_895).fract();
    (share - 0.5) * (LANE - 8.0)
}

/// Columns whose height goes by the root of how many nodes are in them, so that one alone is still seen.
fn density(svg: &mut Svg, dots: &[&Dot], scale: &Scale, middle: f64, lane: usize) {
    let mut columns: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
    for x in dots.iter().filter_map(|dot| scale.at(dot.at)) {
        *columns.entry((x / BIN).floor() as i64).or_default() += 1;
    }
    let most = columns.values().copied().max().unwrap_or(1) as f64;
    let mut d = String::new();
    for (column, count) in columns {
        let half = (count as f64 / most).sqrt() * (LANE - 4.0) / 2.0;
        let (left, right) = (n(column as f64 * BIN), n((column as f64 + 1.0) * BIN));
        let (top, bottom) = (n(middle - half), n(middle + half));
        d += &format!("M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}z");
    }
    svg.path(&format!("dense {}", hue(lane)), &d, None);
}
