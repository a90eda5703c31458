//! A run's page: its report, with the way back, the journal, and the command that repeats it.

use anyhow::Result;
use maud::html;

use crate::class::Class;
use crate::layout::UP;
use crate::name::name_of;
use crate::record::Record;
use analysis::Results;
use report::{Format, Repeat, Subject};

/// The page.
///
/// # Errors
/// The report cannot be rendered: a defect.
pub(crate) fn page(record: &Record, results: &Results) -> Result<String> {
    let report = report::render(Subject::Run(results), Format::Html)?;
    let id = &record.id;
    let links = html! {
        nav.site aria-label="Site" {
            p.tool {
                a href={ (UP) "index.html" } { "Ranking" } " · "
                a href={ (UP) "compare.html#r=" (id) } { "Side by side" } " · "
                a href={ (UP) "models.html#p-" (id) } { "Among its processor’s runs" } " · "
                a href={ (UP) "h/" (name_of(record.system())) ".html" } { "This system’s runs" } " · "
                a href={ (id) ".jsonl" } download={ (id) ".jsonl" } { "Journal" }
            }
        }
    };
    let run = record.run();
    let repeat = Repeat::new(run);
    let again = html! {
        section {
            h2 { "On this site" }
            table.facts {
                tr { th scope="row" { "Content" } td { (id) ", the beginning of the SHA-256 of its journal" } }
                tr { th scope="row" { "Comparable with" } td { "runs of the " (Class::new(run).label()) } }
                @if !repeat.words.is_empty() {
                    tr { th scope="row" { "To repeat it" } td { code { (repeat.command()) } } }
                }
                @if !repeat.left_out.is_empty() {
                    tr { th scope="row" { "Left out of it" } td { (repeat.left_out) } }
                }
                tr { th scope="row" { "The report again" } td { code { "unixmark report " (id) ".jsonl" } } }
            }
        }
    };
    let report = report.replacen("<header>", &format!("<header>{}", words::clean(&links.0)), 1);
    Ok(report.replacen("</main>", &format!("{}</main>", words::clean(&again.0)), 1))
}
