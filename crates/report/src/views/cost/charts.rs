//! The drawings of a run about cost.

use analysis::{Condition, Cost, Effect};
use catalogue::NONE;
use words::Unique;

use super::{Family, Line, Series, mean};
use crate::charts::copies::Point;
use crate::charts::{copies, forest, key};
use crate::document::{Block, Chart, Field, Style};
use crate::views::comparisons::{self, measured};
use crate::views::totals;

/// Returns the forest plot of a condition; `None` without any difference.
pub(super) fn forest(cost: &Cost, condition: &Condition) -> Option<Block> {
    let control = |effect: &Effect| {
        let mut controls = cost.floor.iter().map(|floor| &floor.comparison);
        controls.find(|control| control.is_akin(&effect.comparison))
    };
    let row = |effect: &Effect| {
        let mut row = comparisons::row(&Line::of(effect, &cost.against));
        row.control = control(effect).map(|one| {
            let interval = Field::Interval(one.delta, Style::SignedFine).words();
            let delta = Field::Suffixed(one.delta.value, Style::SignedFine, comparisons::unit(one.measure)).words();
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
pub(super) fn by_copies(cost: &Cost, series: &[Series<'_>]) -> Option<Block> {
    let families: Vec<&Family<'_>> = series.iter().map(|series| &series.family).unique();
    let point = |effect: &&Effect| {
        let line = Line::of(effect, &cost.against);
        let (copies, at) = (line.key.copies, line.comparison.delta);
        let title = format!("{}: {} ({})", words::copies(copies), line.delta().words(), line.interval().words());
        Point { x: f64::from(copies), y: at, title }
    };
    let panel = |family: &&Family<'_>| {
        let own = series.iter().filter(|series| series.family == **family);
        let curves: Vec<(usize, Vec<Point>)> =
            own.map(|series| (series.place, series.effects.iter().map(point).collect())).collect();
        let name = measured(family.2, &family.0.under(NONE), family.1);
        let label = format!("{name}: delta over copies; the table has the figures");
        let drawing = copies::draw(&label, 2.0 * cost.threshold, &curves)?;
        Some((name, drawing))
    };
    let panels: Vec<(String, String)> = families.iter().filter_map(panel).collect();
    let caption =
        "The delta of each test in per cent at each number of copies, with its 95 % interval; a loss is below 0.";
    let legend = cost.conditions.iter().enumerate().map(|(place, condition)| (key(place), condition.name.clone()));
    let chart = Chart { title: String::new(), caption: caption.to_owned(), legend: legend.collect(), panels };
    (!chart.panels.is_empty()).then_some(Block::Chart(chart))
}
