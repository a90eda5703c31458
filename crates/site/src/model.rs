//! Per processor model, how the figures of all its runs are spread, each a mark that leads to its
//! run.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::board::Board;
use crate::layout::{Page, table};
use crate::measure::LEVELS;
use crate::record::MODEL_FACET;
use stats::{Estimate, median};

/// A processor model, with its runs of a class that have a value.
struct Model<'b> {
    name: &'b str,
    runs: Vec<ModelRun>,
}

/// A run of a model.
struct ModelRun {
    /// Its place in the board.
    entry: usize,
    value: f64,
}

impl Model<'_> {
    fn values(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.value).collect()
    }
}

pub(crate) fn page(board: &Board, title: &str) -> String {
    let body = html! {
        p.sentence { "Where each run lies among the runs of its processor." }
        p.text { "Each mark is a run and links to its page; the link on a run’s page highlights its mark." }
        @if let Some(measure) = board.measures.get(board.first).filter(|first| !first.is_change) {
            @for (level, (_, heading)) in LEVELS.iter().enumerate().take(2) {
                @for class in 0..board.classes.len() {
                    @let models = group_by_model(board, class, |id| measure.value(id, level));
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
    Page { up: "", site: title, title: "Processors", line, name: "models.html", scripts: &[], body }
        .render()
}

/// The models of a class by the runs that have a value, the one with the largest median first.
fn group_by_model(
    board: &Board,
    class: usize,
    value: impl Fn(&str) -> Option<Estimate>,
) -> Vec<Model<'_>> {
    let mut runs_by_model: BTreeMap<&str, Vec<ModelRun>> = BTreeMap::new();
    for (place, entry) in board.entries_of(class) {
        if let Some(estimate) = value(&entry.id) {
            let model = entry.fact(MODEL_FACET).unwrap_or("unknown processor");
            let run = ModelRun { entry: place, value: estimate.value };
            runs_by_model.entry(model).or_default().push(run);
        }
    }

    let mut models: Vec<Model<'_>> =
        runs_by_model.into_iter().map(|(name, runs)| Model { name, runs }).collect();
    models.sort_by(|a, b| {
        let medians = [a, b].map(|model| median(&model.values()));
        medians[1].total_cmp(&medians[0]).then(a.name.cmp(b.name))
    });
    models
}

/// One line per model. Marks that the page of a run links to have names, which `is_named` says by
/// the run's id.
fn strips(
    board: &Board,
    models: &[Model<'_>],
    label: &str,
    is_named: &dyn Fn(&str) -> bool,
) -> Markup {
    let max = models.iter().flat_map(Model::values).fold(0.0, f64::max);
    let numbers = ["Runs", "Least", "Median", "Most"].map(|head| ("n", head));
    let heads = [&[("", "Processor")], &numbers[..], &[("", "Every run, from 0")]].concat();
    let rows = html! { @for model in models {
        @let values = model.values();
        tr {
            th scope="row" { bdi { (model.name) } }
            td.n { (model.runs.len()) }
            td.n { (words::score(values.iter().copied().fold(f64::INFINITY, f64::min))) }
            td.n { b { (words::score(median(&values))) } }
            td.n { (words::score(values.iter().copied().fold(0.0, f64::max))) }
            td { (strip(board, &model.runs, max, is_named)) }
        }
    } };
    table(label, "strips", &heads, &rows)
}

/// A mark for each run, on a scale from zero to `max`.
fn strip(board: &Board, runs: &[ModelRun], max: f64, is_named: &dyn Fn(&str) -> bool) -> Markup {
    html! {
        svg.strip role="group" aria-label=(words::count(runs.len(), "run")) viewBox="0 0 300 20" {
            path.rule d="M0 10H300" {}
            @for run in runs {
                @let entry = &board.entries[run.entry];
                a href={ "r/" (entry.id) ".html" } id=[is_named(&entry.id).then(|| format!("p-{}", entry.id))] tabindex="-1" {
                    title { (entry.host) ", " (entry.date()) ": " (words::score(run.value)) }
                    circle.point cx=(format!("{:.1}", 295.0 * run.value / max)) cy="10" r="4" {}
                }
            }
        }
    }
}
