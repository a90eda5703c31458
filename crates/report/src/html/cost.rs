//! The part of the page about what conditions cost.

use super::Key;
use super::forest;
use super::scale::{Scale, tick};
use super::svg::{Anchor, Svg, hue, key, n, outline};
use super::words::clean;
use crate::cost::{
    Column, Room, Table, beyond, control, delta, evidence, floor, interval, loads, matrix, missing, notes,
    of_condition, sentences, series, storage, totals,
};
use analysis::{Condition, Cost, Effect, Results};

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 24.0;
const RADIUS: f64 = 3.4;

/// The part.
pub(super) struct Part {
    pub(super) sentences: Vec<String>,
    pub(super) against: String,
    pub(super) threshold: f64,
    pub(super) legend: Vec<Key>,
    pub(super) matrix: Vec<Grid>,
    pub(super) conditions: Vec<Under>,
    /// Totals, trails and single system calls.
    pub(super) tables: Vec<Grid>,
    pub(super) panels: Vec<Panel>,
    pub(super) panel_legend: Vec<Key>,
    pub(super) loads: Vec<Grid>,
    pub(super) floor: String,
    pub(super) control: Vec<Grid>,
    pub(super) evidence: Vec<(String, Vec<String>)>,
    pub(super) missing: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

/// One condition.
pub(super) struct Under {
    pub(super) name: String,
    pub(super) table: Grid,
    pub(super) plot: String,
    /// What is beyond the threshold by estimate alone.
    pub(super) open: String,
}

/// A table: every field with its class.
pub(super) struct Grid {
    pub(super) name: String,
    pub(super) remark: String,
    /// Whether it is narrower than the page.
    pub(super) small: bool,
    pub(super) head: Vec<(String, &'static str)>,
    pub(super) rows: Vec<Vec<(String, &'static str)>>,
}

/// Columns that are what a table is about.
const MAIN: [&str; 5] = ["delta", "verdict", "added ns", "B/op", "lost"];

/// So many columns are less than the page's width.
const FEW: usize = 7;

/// The cost of a test over copies.
pub(super) struct Panel {
    pub(super) label: String,
    pub(super) svg: String,
}

/// Returns the part; nothing of a run that is not about cost.
pub(super) fn part(results: &Results) -> Option<Part> {
    let cost = results.cost()?;
    let room = Room::Wide;
    Some(Part {
        sentences: sentences(cost).iter().map(|sentence| clean(sentence)).collect(),
        against: clean(&cost.against),
        threshold: cost.threshold,
        legend: forest::legend(),
        matrix: grids(matrix(cost, room)),
        conditions: cost.conditions.iter().map(|condition| under(cost, condition)).collect(),
        tables: grids(totals(cost, room).into_iter().chain(storage(cost, room))),
        panels: panels(cost),
        panel_legend: cost.conditions.iter().enumerate().map(|(place, one)| (key(place), clean(&one.name))).collect(),
        loads: grids(loads(cost, room)),
        floor: clean(&floor(cost)),
        control: grids(control(cost)),
        evidence: evidence(cost)
            .into_iter()
            .map(|(name, proofs)| (clean(name), proofs.iter().map(|proof| clean(proof)).collect()))
            .collect(),
        missing: missing(results, cost).iter().map(|(what, reason)| (clean(what), clean(reason))).collect(),
        notes: notes(cost).iter().map(|note| clean(note)).collect(),
    })
}

fn under(cost: &Cost, condition: &Condition) -> Under {
    let (_, open) = beyond(cost, condition, Room::Wide);
    let mut table = of_condition(cost, condition, Room::Wide);
    Under {
        name: clean(&condition.name),
        // The heading has its name.
        table: grid(Table { name: std::mem::take(&mut table.remark), ..table }),
        plot: forest::draw(cost, condition).unwrap_or_default(),
        open: clean(&open.join(", ")),
    }
}

fn grids(tables: impl IntoIterator<Item = Table>) -> Vec<Grid> {
    tables.into_iter().map(grid).collect()
}

fn grid(table: Table) -> Grid {
    let class = |column: &Column| match (MAIN.contains(&column.name.as_str()), column.words) {
        (true, true) => "main",
        (true, false) => "n main",
        (false, true) => "",
        (false, false) => "n",
    };
    let classes: Vec<&str> = table.head.iter().map(class).collect();
    let row = |row: Vec<String>| row.iter().map(|field| clean(field)).zip(classes.iter().copied()).collect();
    Grid {
        name: clean(&table.name),
        remark: clean(&table.remark),
        small: table.head.len() <= FEW,
        head: table.head.iter().map(|column| (clean(&column.name), class(column))).collect(),
        rows: table.rows.into_iter().map(row).collect(),
    }
}

/// One curve per condition.
type Curves<'a> = Vec<(usize, Vec<&'a Effect>)>;

/// Returns a panel per test that was measured at several levels of copies.
fn panels(cost: &Cost) -> Vec<Panel> {
    let mut tests: Vec<(String, Curves<'_>)> = Vec::new();
    for (place, condition) in cost.conditions.iter().enumerate() {
        for series in series(condition, Room::Wide) {
            match tests.iter_mut().find(|test| test.0 == series.name) {
                Some((_, curves)) => curves.push((place, series.effects)),
                None => tests.push((series.name, vec![(place, series.effects)])),
            }
        }
    }
    tests.into_iter().filter_map(|(name, curves)| panel(cost, &name, &curves)).collect()
}

fn panel(cost: &Cost, name: &str, curves: &Curves<'_>) -> Option<Panel> {
    let effects = || curves.iter().flat_map(|curve| &curve.1).map(|effect| &effect.comparison);
    let ends = effects().flat_map(|one| [one.delta.value, one.delta.low, one.delta.high]).filter(|end| end.is_finite());
    // At least the threshold on either side, so that noise looks small.
    let reach = 2.0 * cost.threshold;
    let (low, high) = ends.fold((-reach, reach), |(low, high), end| (low.min(end), high.max(end)));
    let most = effects().map(|one| one.cell.key.copies).max()?;
    let least = effects().map(|one| one.cell.key.copies).min()?;
    let margin = 0.06 * f64::from(most - least);
    let x = Scale::linear(f64::from(least) - margin, f64::from(most) + margin).between(LEFT, WIDTH - RIGHT);
    let y = Scale::linear(low, high).between(HEIGHT - BOTTOM, TOP);
    let mut svg = Svg::default();
    for value in y.ticks() {
        let Some(at) = y.at(value) else { continue };
        svg.line(if value == 0.0 { "zero" } else { "grid" }, (LEFT, at), (WIDTH - RIGHT, at));
        svg.text("tick", (LEFT - 6.0, at + 4.0), Anchor::End, &tick(value).replace('-', "−"));
    }
    let mut levels: Vec<u32> = effects().map(|one| one.cell.key.copies).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut free = f64::NEG_INFINITY;
    for level in levels {
        let half = level.to_string().len() as f64 * 3.6;
        if let Some(at) = x.at(f64::from(level)).filter(|at| at - half > free) {
            svg.text("tick", (at, HEIGHT - 6.0), Anchor::Middle, &level.to_string());
            free = at + half + 5.0;
        }
    }
    for (place, effects) in curves {
        curve(&mut svg, (&x, &y), *place, effects);
    }
    let label = format!("{name}: delta over copies; the table has the figures");
    Some(Panel { label: clean(name), svg: svg.finish("panel", (WIDTH, HEIGHT), &label) })
}

fn curve(svg: &mut Svg, (x, y): (&Scale, &Scale), place: usize, effects: &[&Effect]) {
    let hue = hue(place);
    let mut d = String::new();
    for effect in effects {
        let one = &effect.comparison;
        if let (Some(x), Some(y)) = (x.at(f64::from(one.cell.key.copies)), y.at(one.delta.value)) {
            d += &format!("{}{} {}", if d.is_empty() { "M" } else { "L" }, n(x), n(y));
        }
    }
    if d.contains('L') {
        svg.path(&format!("curve {hue}"), &d, None);
    }
    for effect in effects {
        let one = &effect.comparison;
        let Some((x, at)) = x.at(f64::from(one.cell.key.copies)).zip(y.at(one.delta.value)) else { continue };
        let copies = crate::copies(one.cell.key.copies);
        svg.open(Some(&format!("{copies}: {} ({})", delta(one), interval(&one.delta))));
        if let (Some(low), Some(high)) = (y.at(one.delta.low), y.at(one.delta.high)) {
            svg.line(&format!("whisker {hue}"), (x, low), (x, high));
        }
        svg.path(&format!("mark {hue}"), &outline(place, (x, at), RADIUS), None);
        svg.close();
    }
}
