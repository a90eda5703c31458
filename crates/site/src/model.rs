//! Per processor model, how the figures of all its runs are spread, each a mark that leads to its run.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::board::Board;
use crate::layout::{Page, table};
use crate::measure::LEVELS;
use crate::record::MODEL;
use stats::{Estimate, median};

/// A processor model's runs of a class: place in the board, value.
type Runs = Vec<(usize, Estimate)>;

/// Returns the page.
pub(crate) fn page(board: &Board, title: &str) -> String {
    let body = html! {
        p.sentence { "Where each run lies among the runs of its processor." }
        p.text { "Each mark is a run and links to its page; the link on a run’s page highlights its mark." }
        @if let Some(measure) = board.measures.get(board.first).filter(|first| !first.is_change) {
            @for (level, (_, heading)) in LEVELS.iter().enumerate().take(2) {
                @for class in 0..board.classes.len() {
                    @let models = models(board, class, |id| measure.value(id, level));
                    @if !models.is_empty() {
                        section {
                            h2 { (measure.label) ", " (heading) }
                            p.tool { (board.classes[class].label()) }
                            (strips(board, &models, &format!("{heading}, {}", board.classes[class].label()), &|id| {
                                level == 0 || measure.value(id, 0).is_none()
                            }))
                        }
                    }
                }
            }
        }
    };
    let line = "How much runs of one processor model differ".to_owned();
    Page { up: "", site: title, title: "Processors", line, name: "models.html", scripts: &[], body }.render()
}

fn models(board: &Board, class: usize, value: impl Fn(&str) -> Option<Estimate>) -> Vec<(&str, Runs)> {
    let mut models: BTreeMap<&str, Runs> = BTreeMap::new();
    for (place, entry) in board.entries_of(class) {
        let Some(value) = value(&entry.id) else { continue };
        let model = entry.fact(MODEL).unwrap_or("unknown processor");
        models.entry(model).or_default().push((place, value));
    }
    let middle = |runs: &Runs| median(&runs.iter().map(|(_, value)| value.value).collect::<Vec<_>>());
    let mut models: Vec<(&str, Runs)> = models.into_iter().collect();
    models.sort_by(|a, b| middle(&b.1).total_cmp(&middle(&a.1)).then(a.0.cmp(b.0)));
    models
}

/// One line per model; the marks have names where the page is to find them by.
fn strips(board: &Board, models: &[(&str, Runs)], label: &str, named: &dyn Fn(&str) -> bool) -> Markup {
    let most = models.iter().flat_map(|(_, runs)| runs).map(|(_, value)| value.value).fold(0.0, f64::max);
    let numbers = ["Runs", "Least", "Median", "Most"].map(|head| ("n", head));
    let heads = [&[("", "Processor")], &numbers[..], &[("", "Every run, from 0")]].concat();
    let rows = html! { @for (model, runs) in models {
        @let values = runs.iter().map(|(_, value)| value.value).collect::<Vec<f64>>();
        tr {
            th scope="row" { bdi { (model) } }
            td.n { (runs.len()) }
            td.n { (words::score(values.iter().copied().fold(f64::INFINITY, f64::min))) }
            td.n { b { (words::score(median(&values))) } }
            td.n { (words::score(values.iter().copied().fold(0.0, f64::max))) }
            td { (strip(board, runs, most, named)) }
        }
    } };
    table(label, "strips", &heads, &rows)
}

fn strip(board: &Board, runs: &Runs, most: f64, named: &dyn Fn(&str) -> bool) -> Markup {
    html! {
        svg.strip role="group" aria-label=(words::count(runs.len(), "run")) viewBox="0 0 300 20" {
            path.rule d="M0 10H300" {}
            @for (place, value) in runs {
                @let entry = &board.entries[*place];
                a href={ "r/" (entry.id) ".html" } id=[named(&entry.id).then(|| format!("p-{}", entry.id))] tabindex="-1" {
                    title { (entry.host) ", " (entry.date()) ": " (words::score(value.value)) }
                    circle.point cx=(format!("{:.1}", 295.0 * value.value / most)) cy="10" r="4" {}
                }
            }
        }
    }
}
