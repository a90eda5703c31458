//! The HTML report: one file without scripts, whose charts are SVG.
//!
//! `templates/page.html` is what all pages have, `report.html` and `fleet.html` are the two, and `report.css` is their style. Strings of the journal
//! may hold anything: [`words::clean`] takes out what disturbs the text around, and markup is escaped
//! by askama in the page and by [`svg`] in the charts.

mod burnin;
mod charts;
mod cost;
mod curve;
mod dots;
pub(super) mod fleet;
mod forest;
mod headline;
mod heat;
mod latency;
mod loads;
mod over_time;
mod scale;
mod scaling;
mod spread;
mod svg;
mod tables;
mod words;

use anyhow::Result;
use askama::Template;

use super::{Footnotes, copies};
use analysis::{Index, Results};
use burnin::BurnInPart;
use headline::Headline;
use latency::Latencies;
use loads::Loads;
use spread::Panel;
use tables::{Gain, Group, Level, Sheet};

/// The mark of a level of copies or of a load, and its words.
type Key = (String, String);

/// What the template shows.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    /// The host, or the run where an imported report does not name one.
    host: String,
    run: String,
    tool: String,
    lead: Vec<String>,
    states: Vec<String>,
    headlines: Vec<Headline>,
    manner: Vec<(&'static str, String)>,
    legend: Vec<Key>,
    charts: Vec<(String, String)>,
    burnin: Option<BurnInPart>,
    levels: Vec<Level>,
    latencies: Option<Latencies>,
    loads: Option<Loads>,
    scaling: Option<scaling::Part>,
    cost: Option<cost::Part>,
    /// Whether rates were to be measured, or nothing was.
    rates: bool,
    sheets: Vec<Sheet>,
    gain_legend: Vec<Key>,
    gain_chart: Option<String>,
    gains: Vec<Gain>,
    panels: Vec<Panel>,
    record: Vec<(&'static str, String)>,
    facts: Vec<Group>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// Returns the report.
///
/// # Errors
/// The template cannot be rendered: a defect.
pub(super) fn render(results: &Results) -> Result<String> {
    let mut notes = Footnotes::default();
    let cost = cost::part(results);
    // What a run about cost measured stands in its own tables.
    let levels = if cost.is_none() { tables::levels(results, &mut notes) } else { Vec::new() };
    let latencies = latency::latencies(results, &mut notes);
    let known = latencies.as_ref().map_or(&[][..], |latencies| &latencies.loads);
    let scaling = scaling::part(results, &mut notes);
    let run = &results.run;
    let host = words::clean(if run.host.trim().is_empty() { &run.name } else { &run.host });
    let page = Page {
        host,
        run: words::clean(&run.name),
        tool: words::clean(&run.tool),
        lead: headline::lead(results),
        states: headline::states(results),
        headlines: headline::headlines(results),
        manner: headline::manner(results),
        legend: legend(results, 0),
        charts: if results.cost().is_none() { index_charts(results) } else { Vec::new() },
        burnin: burnin::part(results),
        rates: !levels.is_empty()
            || (latencies.is_none() && results.scaling().is_empty() && results.burnin().is_none() && cost.is_none()),
        cost,
        scaling,
        levels,
        loads: loads::loads(results, known),
        latencies,
        sheets: tables::sheets(results, &mut notes),
        gain_legend: legend(results, 1),
        gain_chart: charts::gains(results).filter(|_| results.cost().is_none()),
        gains: if results.cost().is_none() { tables::gains(results) } else { Vec::new() },
        panels: spread::panels(results),
        record: headline::record(results),
        facts: tables::facts(results),
        notes: notes.texts.iter().map(|note| words::clean(note)).collect(),
        warnings: results.warnings.iter().map(|warning| words::clean(&warning.to_string())).collect(),
    };
    Ok(page.render()?)
}

/// The marks of the levels of copies but the first `skip`.
fn legend(results: &Results, skip: usize) -> Vec<Key> {
    let levels = results.levels();
    let key = |(series, level): (usize, &u32)| (svg::key(series), copies(*level));
    levels.iter().enumerate().skip(skip).map(key).collect()
}

/// The chart of each index, with its name.
fn index_charts(results: &Results) -> Vec<(String, String)> {
    let mut ids: Vec<&str> = Vec::new();
    for index in results.indexes() {
        if !ids.contains(&index.id.as_str()) {
            ids.push(&index.id);
        }
    }
    let chart = |id: &str| {
        let levels: Vec<&Index> = results.indexes().iter().filter(|index| index.id == id).collect();
        let name = words::clean(&levels.first()?.name);
        Some((name, charts::index(results, &levels)?))
    };
    ids.into_iter().filter_map(chart).collect()
}
