//! The drawings of a run about cost.

use analysis::{Comparison, Condition, Cost, Effect};
use catalogue::NONE;
use stats::Estimate;
use words::{Unique, copies};

use super::{Family, Line, Series, mean};
use crate::charts::plot::{self, Axis, Form, Mark, Plot};
use crate::charts::{Drawings, forest, key, scale::Scale};
use crate::document::{Block, Chart};
use crate::views::comparisons::{self, measured};
use crate::views::totals;

const PANEL_HEIGHT_PX: f64 = 170.0;

/// The vertical axis reaches at least to this multiple of the threshold on either side, so that
/// noise looks small.
const MIN_REACH_IN_THRESHOLDS: f64 = 2.0;

const BY_COPIES_CAPTION: &str =
    "The delta of each test in per cent at each number of copies, with its 95 % interval.";

/// The forest plot of some conditions, whose effects are `lines`.
pub(super) fn forest(cost: &Cost, conditions: &[Condition], lines: &[Line<'_>]) -> Vec<Block> {
    let mut rows = Vec::new();
    for line in lines {
        let control = control_of(cost, line.comparison);
        rows.push(forest::Row { control, ..comparisons::row(line) });
    }
    let totals = conditions.iter().flat_map(|condition| &condition.totals);
    let means = totals.map(|total| totals::row(&mean(total))).collect();

    let names: Vec<&str> = conditions.iter().map(|condition| condition.name.as_str()).collect();
    let (against, names) = (&cost.against, names.join(", "));
    let label = format!(
        "The change of each test from {against} to {names} with its interval; the table has the \
         figures"
    );
    comparisons::charts(forest::Forest { label, threshold: cost.threshold, rows, means })
}

/// The change of a comparison's A/A control, with its hover text.
fn control_of(cost: &Cost, comparison: &Comparison) -> Option<(Estimate, String)> {
    let mut controls = cost.control.iter().map(|control| &control.comparison);
    let control = controls.find(|control| control.is_akin(comparison))?;

    let delta = comparisons::change(control).words();
    let interval = comparisons::interval_of(control).words();
    let title = format!("A/A control: {delta} ({interval}), {}", control.verdict.word());
    Some((control.change(), title))
}

/// A panel per test that was measured at several levels of copies, with a curve per condition.
pub(super) fn by_copies(cost: &Cost, series: &[Series<'_>]) -> Block {
    let families: Vec<&Family<'_>> = series.iter().map(|series| &series.family).unique();
    let panels: Vec<(String, Drawings)> =
        families.into_iter().filter_map(|family| panel(cost, series, family)).collect();

    let mut legend = Vec::new();
    for (number, condition) in cost.conditions.iter().enumerate() {
        legend.push((key(number), condition.name.clone()));
    }
    Block::Chart(Chart { panels, ..Chart::new(None, BY_COPIES_CAPTION, legend) })
}

fn panel(cost: &Cost, series: &[Series<'_>], family: &Family<'_>) -> Option<(String, Drawings)> {
    let (key, measure, label) = family;
    let name = measured(label, &key.under(NONE), *measure);
    let series: Vec<&Series<'_>> =
        series.iter().filter(|series| series.family == *family).collect();

    let label = format!("{name}: delta over copies; the table has the figures");
    let plot = plot_over_copies(cost, label, &series)?;
    Some((name, plot.panel(PANEL_HEIGHT_PX)))
}

fn plot_over_copies(cost: &Cost, label: String, series: &[&Series<'_>]) -> Option<Plot> {
    let comparisons: Vec<&Comparison> =
        series.iter().flat_map(|series| &series.effects).map(|effect| &effect.comparison).collect();

    let mut levels: Vec<u32> =
        comparisons.iter().map(|comparison| comparison.cell.key.copies).unique();
    levels.sort_unstable();
    let (first, last) = (f64::from(*levels.first()?), f64::from(*levels.last()?));
    let margin = 0.06 * (last - first);
    let ticks = levels.iter().map(|level| (f64::from(*level), level.to_string())).collect();

    let reach = MIN_REACH_IN_THRESHOLDS * cost.threshold;
    let ends: Vec<f64> = comparisons
        .iter()
        .map(|comparison| comparison.change())
        .flat_map(|change| [change.value, change.low, change.high])
        .filter(|end| end.is_finite())
        .collect();
    let low = ends.iter().copied().fold(-reach, f64::min);
    let high = ends.iter().copied().fold(reach, f64::max);

    Some(Plot {
        label,
        x: Axis { scale: Scale::linear(first - margin, last + margin), ticks },
        y: Axis::new(Scale::linear(low, high)),
        across: vec![(0.0, String::new())],
        series: series.iter().map(|series| curve(cost, series)).collect(),
        ..Plot::default()
    })
}

/// The changes under one condition, joined by a line.
fn curve(cost: &Cost, series: &Series<'_>) -> plot::Series {
    let marks: Vec<Mark> = series.effects.iter().map(|effect| mark(cost, effect)).collect();
    let points = marks.iter().map(|mark| mark.at).collect();
    let line = plot::Line { points, ..plot::Line::default() };
    plot::Series { number: series.place, lines: vec![line], marks, ..plot::Series::default() }
}

fn mark(cost: &Cost, effect: &Effect) -> Mark {
    let line = Line::new(effect, &cost.against);
    let change = line.comparison.change();
    let (delta, interval) = (line.delta().words(), line.interval().words());
    Mark {
        at: (f64::from(line.key.copies), change.value),
        interval: change.bounded().then_some((change.low, change.high)),
        form: Form::Full,
        title: format!("{}: {delta} ({interval})", copies(line.key.copies)),
    }
}
