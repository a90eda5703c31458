//! The parts of every page of a site: head, links, style and scripts.

use anyhow::Result;
use maud::{Markup, html};

use crate::files::Files;
use stats::Estimate;

const STYLE: &str = include_str!("assets/site.css");
const SCRIPTS: [(&str, &str); 3] = [
    ("site.js", include_str!("assets/site.js")),
    ("front.js", include_str!("assets/front.js")),
    ("aside.js", include_str!("assets/aside.js")),
];

/// The rights of a page: show its own styles and run its own scripts. Nothing is fetched from
/// anywhere.
const POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'";

/// The pages that every page leads to.
const LINKS: [(&str, &str); 4] = [
    ("index.html", "Ranking"),
    ("compare.html", "Side by side"),
    ("models.html", "Processors"),
    ("runs.html", "All runs"),
];

/// The way from a page in a folder to the site's directory.
pub(crate) const UP: &str = "../";

/// Writes styles and scripts.
///
/// # Errors
/// They cannot be written.
pub(crate) fn assets(files: &Files) -> Result<()> {
    files.write("site.css", format!("{}\n{STYLE}", report::STYLE).as_bytes())?;
    for (name, script) in SCRIPTS {
        files.write(name, script.as_bytes())?;
    }

    Ok(())
}

/// A page, before it is written.
pub(crate) struct Page<'a> {
    /// The way to the site's directory: empty or `../`.
    pub(crate) up: &'a str,
    /// The name of its site.
    pub(crate) site: &'a str,
    /// Its heading.
    pub(crate) title: &'a str,
    /// A line below that.
    pub(crate) line: String,
    /// Its file, if it is one of [`LINKS`].
    pub(crate) name: &'a str,
    /// The scripts it runs.
    pub(crate) scripts: &'a [&'a str],
    pub(crate) body: Markup,
}

impl Page<'_> {
    pub(crate) fn render(&self) -> String {
        let Page { up, site, title, line, name, scripts, body } = self;
        let head = html! {
            meta name="color-scheme" content="light dark";
            meta name="description" content=(line);
            title { (title) @if site != title { " — " (site) } }
            link rel="stylesheet" href={ (up) "site.css" };
            @for script in *scripts { script defer src={ (up) (script) } {} }
        };
        let body = html! {
            header {
                nav aria-label="Site" {
                    @for (file, text) in LINKS {
                        a href={ (up) (file) } aria-current=[(file == *name).then_some("page")] { (text) }
                    }
                }
                h1 { bdi { (title) } }
                p.tool { (line) }
            }
            main { (body) }
            footer { "Made by unixmark from runs’ journals; these pages load nothing from elsewhere." }
        };
        report::page(POLICY, &head, &body).replace("</tr>", "</tr>\n")
    }
}

/// A table that can be scrolled: its name, its class, its headings, each after its class,
/// and its rows.
pub(crate) fn table(name: &str, class: &str, heads: &[(&str, &str)], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table class=(class) {
                thead { tr {
                    @for (class, text) in heads { th class=[Some(class).filter(|class| !class.is_empty())] scope="col" { (text) } }
                } }
                tbody { (rows) }
            }
        }
    }
}

/// How far a bar with its interval reaches, to the left and to the right.
pub(crate) fn ends(value: &Estimate) -> [f64; 2] {
    if value.bounded() { [value.low, value.high] } else { [value.value; 2] }
}

/// A bar from 0 to a value with its interval, where `from` and `to` are the picture's ends.
pub(crate) fn bar(value: &Estimate, (from, to): (f64, f64)) -> Markup {
    let position = |number: f64| {
        (100.0 * (number - from) / (to - from).max(f64::MIN_POSITIVE)).clamp(0.0, 100.0)
    };
    let x = |number: f64| format!("{:.1}", position(number));
    let (zero, end) = (position(0.0), position(value.value));
    html! {
        svg.bar aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" {
            rect.h0 x=(format!("{:.1}", zero.min(end))) y="0" width=(format!("{:.1}", (end - zero).abs())) height="8" {}
            @if value.bounded() {
                path.ends d={ "M" (x(value.low)) " 4H" (x(value.high)) "M" (x(value.low)) " 1v6M" (x(value.high)) " 1v6" } {}
            }
        }
    }
}

/// A value with its interval, in two parts of one cell.
pub(crate) fn value(estimate: Option<&Estimate>) -> Markup {
    html! {
        @if let Some(one) = estimate {
            b { (report::score(one)) } " " small { (words::plus_minus(one.halves())) }
        } @else { "–" }
    }
}

/// A change in per cent or points with its interval likewise.
pub(crate) fn change(estimate: Option<&Estimate>) -> Markup {
    html! {
        @if let Some(one) = estimate {
            b { (words::signed_fine(one.value)) } " "
            small {
                @if one.bounded() { (words::signed_fine(one.low)) " to " (words::signed_fine(one.high)) } @else { "no interval" }
            }
        } @else { "–" }
    }
}

/// Returns JSON as a script's file may hold it, calling a function.
pub(crate) fn call(function: &str, json: &serde_json::Value) -> String {
    format!("unixmark.{function}({json});\n")
}
