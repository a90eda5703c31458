//! The drawings of a run about cost.

use analysis::{Condition, Cost, Effect};
use catalogue::NONE;
use words::{Unique, copies};

use super::{Family, Line, Series, mean};
use crate::charts::plot::{self, Axis, Form, Mark, Plot};
use crate::charts::{forest, key, scale::Scale};
use crate::document::{Block, Chart, Field};
use crate::views::comparisons::{self, measured};
use crate::views::totals;
use maud::Markup;

/// Returns the forest plot of a condition.
pub(super) fn forest(cost: &Cost, condition: &Condition) -> Block {
    let control = |effect: &Effect| {
        let mut controls = cost.control.iter().map(|control| &control.comparison);
        controls.find(|control| control.is_akin(&effect.comparison))
    };
    let row = |effect: &Effect| {
        let mut row = comparisons::row(&Line::new(effect, &cost.against));
        row.control = control(effect).map(|one| {
            let interval = Field::Interval(one.change(), words::signed_fine).words();
            let delta = comparisons::change(one).words();
            (one.delta, format!("A/A control: {delta} ({interval}), {}", one.verdict.word()))
        });
        row
    };
    let drawing = forest::Forest {
        label: format!(
            "{}: difference of each test from {} with its interval, a loss to the left; the table has the figures",
            condition.name, cost.against
        ),
        threshold: cost.threshold,
        rows: condition.effects.iter().map(row).collect(),
        means: condition.totals.iter().map(|total| totals::row(&mean(total))).collect(),
    };
    comparisons::chart(drawing)
}

/// Returns a panel per test that was measured at several levels of copies, with a curve per condition.
pub(super) fn by_copies(cost: &Cost, series: &[Series<'_>]) -> Block {
    let families: Vec<&Family<'_>> = series.iter().map(|series| &series.family).unique();
    let panel = |family: &&Family<'_>| {
        let name = measured(family.2, &family.0.under(NONE), family.1);
        let own: Vec<&Series<'_>> = series.iter().filter(|series| series.family == **family).collect();
        let plot = over_copies(cost, format!("{name}: delta over copies; the table has the figures"), &own)?;
        Some((name, plot.panel(170.0)))
    };
    let panels: Vec<(String, Markup)> = families.iter().filter_map(panel).collect();
    let caption =
        "The delta of each test in per cent at each number of copies, with its 95 % interval; a loss is below 0.";
    let legend = cost.conditions.iter().enumerate().map(|(place, condition)| (key(place), condition.name.clone()));
    Block::Chart(Chart { panels, ..Chart::new(None, caption, legend.collect()) })
}

/// The axis reaches at least to twice the threshold on either side, so that noise looks small.
fn over_copies(cost: &Cost, label: String, own: &[&Series<'_>]) -> Option<Plot> {
    let mark = |effect: &&Effect| {
        let line = Line::new(effect, &cost.against);
        let delta = line.comparison.delta;
        Mark {
            at: (f64::from(line.key.copies), delta.value),
            interval: delta.bounded().then_some((delta.low, delta.high)),
            form: Form::Full,
            title: format!("{}: {} ({})", copies(line.key.copies), line.delta().words(), line.interval().words()),
        }
    };
    let curve = |series: &&Series<'_>| {
        let marks: Vec<Mark> = series.effects.iter().map(mark).collect();
        let line = plot::Line { points: marks.iter().map(|mark| mark.at).collect(), ..plot::Line::default() };
        plot::Series { number: series.place, lines: vec![line], marks, ..plot::Series::default() }
    };
    let compared = own.iter().flat_map(|series| &series.effects).map(|effect| &effect.comparison);
    let deltas = compared.clone().map(|one| one.delta);
    let ends = deltas.flat_map(|delta| [delta.value, delta.low, delta.high]).filter(|end| end.is_finite());
    let reach = 2.0 * cost.threshold;
    let (low, high) = ends.fold((-reach, reach), |(low, high), end| (low.min(end), high.max(end)));
    let mut levels: Vec<u32> = compared.map(|one| one.cell.key.copies).unique();
    levels.sort_unstable();
    let (least, most) = (f64::from(*levels.first()?), f64::from(*levels.last()?));
    let margin = 0.06 * (most - least);
    let ticks = levels.iter().map(|level| (f64::from(*level), level.to_string())).collect();
    Some(Plot {
        label,
        x: Axis { scale: Scale::linear(least - margin, most + margin), ticks },
        y: Axis::new(Scale::linear(low, high)),
        across: vec![(0.0, String::new())],
        series: own.iter().map(curve).collect(),
        ..Plot::default()
    })
}
