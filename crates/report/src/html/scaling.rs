//! How tests scale: a chart per test, and the tables.

use super::scale::{Scale, tick};
use super::svg::{Anchor, Svg, hue, n, outline};
use super::words::{clean, end, number, times};
use crate::scaling::{coefficient, copies, gaps, levels, parameters, percent};
use crate::{Footnotes, figure, plus_minus};
use analysis::{Level, Results, Scaling};
use stats::Estimate;

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 24.0;
const RADIUS: f64 = 3.4;

/// Places of a line.
const POINTS: usize = 60;
/// From so many copies on their axis is logarithmic.
const MANY: f64 = 17.0;
/// Most levels that a chart has marks for.
const MARKS: usize = 48;
/// A total that normalising moves by less has one mark.
const MOVED: f64 = 0.01;

/// The part of the page.
pub(super) struct Part {
    pub(super) legend: &'static str,
    pub(super) panels: Vec<Panel>,
    /// The levels of the table of figures per copy.
    pub(super) levels: Vec<u32>,
    pub(super) tests: Vec<Test>,
    pub(super) gaps: Vec<Gap>,
}

/// A test's chart.
pub(super) struct Panel {
    pub(super) label: String,
    pub(super) remark: String,
    pub(super) svg: String,
}

/// A test in the tables.
pub(super) struct Test {
    pub(super) label: String,
    pub(super) unit: String,
    pub(super) total_unit: String,
    pub(super) notes: Vec<usize>,
    /// Figures per copy, by level of the whole table.
    pub(super) per_copy: Vec<String>,
    /// A line per level: its copies and the other fields.
    pub(super) lines: Vec<(String, Vec<String>)>,
    /// The law's parameters with their intervals; none where it has no law.
    pub(super) law: Vec<(String, String)>,
    pub(super) r2: String,
    pub(super) worst: String,
}

/// What has no result at some levels.
pub(super) struct Gap {
    pub(super) label: String,
    pub(super) kind: &'static str,
    pub(super) copies: String,
    pub(super) reason: String,
}

/// Returns the part; nothing of a run that is not about scaling. Footnotes are added to `notes`.
pub(super) fn part(results: &Results, notes: &mut Footnotes) -> Option<Part> {
    if !results.run.is_scaling() {
        return None;
    }
    let levels = levels(results.scaling());
    Some(Part {
        legend: crate::scaling::LEGEND,
        panels: results.scaling().iter().filter_map(panel).collect(),
        tests: results.scaling().iter().map(|scaling| test(scaling, &levels, notes)).collect(),
        levels,
        gaps: gaps(results)
            .into_iter()
            .map(|gap| Gap { label: clean(&gap.label), reason: clean(&gap.reason), kind: gap.kind, copies: gap.copies })
            .collect(),
    })
}

fn test(scaling: &Scaling, levels: &[u32], notes: &mut Footnotes) -> Test {
    let level = |copies: &u32| scaling.levels.iter().find(|level| level.copies == *copies);
    let per_copy = |copies: &u32| level(copies).map_or_else(String::new, |level| number(level.per_copy.value));
    let mut law: Vec<(String, String)> =
        parameters(scaling).into_iter().map(|(_, value, range)| (value, range)).collect();
    law.resize(3, (String::new(), String::new()));
    // As many levels as parameters leave nothing to judge a law by.
    let judged = scaling.law.filter(|_| scaling.fitted > 3);
    let worst = |law: stats::UslFit| format!("{:+.1}% at {}", law.worst.1 * 100.0, law.worst.0);
    Test {
        label: clean(&scaling.title()),
        unit: clean(&scaling.unit),
        total_unit: clean(&scaling.total_unit),
        notes: scaling.notes.iter().map(|note| notes.number(note)).collect(),
        per_copy: levels.iter().map(per_copy).collect(),
        lines: (0..scaling.levels.len()).map(|place| (copies(scaling, place), fields(scaling, place))).collect(),
        law,
        r2: judged.map_or_else(String::new, |law| coefficient(law.r2)),
        worst: judged.map_or_else(String::new, worst),
    }
}

fn fields(scaling: &Scaling, place: usize) -> Vec<String> {
    let level = &scaling.levels[place];
    let more = |text: String| if place == 0 { String::new() } else { text };
    vec![
        number(level.total.value),
        plus_minus(&level.total),
        end(level.total.low),
        end(level.total.high),
        more(times(level.gain.value)),
        more(plus_minus(&level.gain)),
        level.step.map_or_else(String::new, |step| times(step.value)),
        more(percent(level.efficiency.value)),
        level.fairness.map_or_else(String::new, |share| format!("{:.0}%", share * 100.0)),
        level.clock.map_or_else(String::new, figure),
        level.n.to_string(),
    ]
}

/// The axes of a chart.
struct Plot {
    x: Scale,
    y: Scale,
    /// The highest total on the axis.
    most: f64,
}

/// Where the law ends: the copies of the last level it was fitted to.
fn edge(scaling: &Scaling) -> f64 {
    let fitted = &scaling.levels[..scaling.fitted];
    fitted.last().map_or(1.0, |level| f64::from(level.copies))
}

/// How high the axis goes: over all totals, and over intervals and the law's peak where these are not far off.
fn highest(scaling: &Scaling, most: f64) -> f64 {
    let peak = scaling.law.and_then(|law| Some((law.law, law.peak?.value)));
    let peak = peak.filter(|(_, copies)| (1.0..=edge(scaling)).contains(copies)).map(|(law, copies)| law.at(copies));
    let highs = scaling.levels.iter().map(|level| level.judged().high).chain(peak);
    highs.filter(|high| high.is_finite() && *high <= most * 1.5).fold(most, f64::max) * 1.05
}

fn panel(scaling: &Scaling) -> Option<Panel> {
    let values = || scaling.levels.iter().flat_map(|level| [level.total.value, level.judged().value]);
    let most = values().filter(|value| value.is_finite()).max_by(f64::total_cmp)?;
    let highest = highest(scaling, most);
    let last = f64::from(scaling.levels.last()?.copies);
    let counts: Vec<f64> = scaling.levels.iter().map(|level| f64::from(level.copies)).collect();
    let x = if last < MANY { Scale::linear(0.0, last * 1.04) } else { Scale::log(&counts, &[])? };
    let plot = Plot {
        x: x.between(LEFT, WIDTH - RIGHT),
        y: Scale::linear(0.0, highest).between(HEIGHT - BOTTOM, TOP),
        most: highest,
    };
    let mut svg = Svg::default();
    plot.grid(&mut svg, scaling);
    plot.lines(&mut svg, scaling);
    let step = scaling.levels.len().div_ceil(MARKS);
    // The last is always there.
    for (back, level) in scaling.levels.iter().rev().enumerate() {
        if back % step == 0 {
            plot.mark(&mut svg, scaling, level);
        }
    }
    let label = format!("{}: total over copies, with the law; the tables have the figures", scaling.title());
    Some(Panel {
        label: format!("{}, {}", clean(&scaling.title()), clean(&scaling.total_unit)),
        remark: crate::scaling::law(scaling).unwrap_or_default(),
        svg: svg.finish("panel scaling", (WIDTH, HEIGHT), &label),
    })
}

impl Plot {
    fn grid(&self, svg: &mut Svg, scaling: &Scaling) {
        for value in self.y.ticks() {
            let Some(y) = self.y.at(value) else { continue };
            svg.line("grid", (LEFT, y), (WIDTH - RIGHT, y));
            svg.text("tick", (LEFT - 6.0, y + 4.0), Anchor::End, &tick(value));
        }
        let mut free = f64::NEG_INFINITY;
        for level in &scaling.levels {
            let Some(x) = self.x.at(f64::from(level.copies)) else { continue };
            let text = level.copies.to_string();
            let half = text.chars().count() as f64 * 3.6;
            if x - half > free {
                svg.text("tick", (x, HEIGHT - 6.0), Anchor::Middle, &text);
                free = x + half + 5.0;
            }
        }
    }

    /// Every copy as fast as at the first level, and the law: solid where it was fitted, dashed beyond.
    fn lines(&self, svg: &mut Svg, scaling: &Scaling) {
        let Some((first, last)) = scaling.levels.first().zip(scaling.levels.last()) else { return };
        let (from, to) = (f64::from(first.copies), f64::from(last.copies));
        let each = first.judged().value / from;
        self.line(svg, "mean ink dashed", "every copy as fast as with the fewest", (from, to), &|copies| each * copies);
        let Some(law) = &scaling.law else { return };
        let edge = edge(scaling);
        let name = crate::scaling::law(scaling).unwrap_or_default();
        self.line(svg, &format!("curve {}", hue(0)), &name, (from, edge), &|copies| law.law.at(copies));
        if edge < to {
            let name = format!("{name}; not fitted here");
            self.line(svg, &format!("curve dashed {}", hue(0)), &name, (edge, to), &|copies| law.law.at(copies));
        }
    }

    fn line(&self, svg: &mut Svg, class: &str, title: &str, (from, to): (f64, f64), of: &dyn Fn(f64) -> f64) {
        let (mut d, mut drawn) = (String::new(), false);
        for part in 0..=POINTS {
            let copies = from * (to / from).powf(part as f64 / POINTS as f64);
            let value = of(copies);
            // A law with a pole would come back from below.
            if !value.is_finite() || value < 0.0 {
                break;
            }
            if let Some((x, y)) = self.x.at(copies).zip(self.y.at(value)).filter(|_| value <= self.most) {
                d += &format!("{}{} {}", if drawn { "L" } else { "M" }, n(x), n(y));
                drawn = true;
            } else {
                drawn = false;
            }
        }
        if d.contains('L') {
            svg.path(class, &d, Some(title));
        }
    }

    fn mark(&self, svg: &mut Svg, scaling: &Scaling, level: &Level) {
        let judged = level.judged();
        let Some((x, y)) = self.x.at(f64::from(level.copies)).zip(self.y.at(judged.value)) else { return };
        let hue = hue(0);
        svg.open(Some(&title(scaling, level)));
        if judged.bounded()
            && let Some((low, high)) = self.y.at(judged.low).zip(self.y.at(judged.high))
        {
            svg.line(&format!("whisker {hue}"), (x, low), (x, high));
        }
        let moved = (judged.value / level.total.value - 1.0).abs() > MOVED;
        if let Some(raw) = self.y.at(level.total.value).filter(|_| moved) {
            svg.path(&format!("mark {hue} hollow"), &outline(0, (x, raw), RADIUS), None);
        }
        svg.path(&format!("mark {hue}"), &outline(0, (x, y), RADIUS), None);
        svg.close();
    }
}

fn title(scaling: &Scaling, level: &Level) -> String {
    let total =
        |estimate: &Estimate| format!("{} {} {}", number(estimate.value), scaling.total_unit, plus_minus(estimate));
    let mut title = format!(
        "{}: {}, gain {}, efficiency {}",
        crate::copies(level.copies),
        total(&level.total),
        times(level.gain.value),
        percent(level.efficiency.value)
    );
    if let (Some(normalised), Some(clock)) = (&level.normalised, level.clock) {
        title += &format!("; at the first level’s clock {} (here {} GHz)", total(normalised), figure(clock));
    }
    title
}
