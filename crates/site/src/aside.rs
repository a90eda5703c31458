//! Runs side by side: a page whose script loads the records of the runs that its address names.

use maud::html;

use crate::layout::Page;

pub(crate) fn page(title: &str) -> String {
    let body = html! {
        noscript { p.text { "This page needs its script. `unixmark compare A B …` makes the same table of journals." } }
        div #aside aria-live="polite" {}
    };
    let scripts = &["site.js", "data/site.js", "data/why.js", "aside.js"];
    let line =
        "Tests of several runs; the best and the worst are marked where intervals do not overlap"
            .to_owned();
    Page { up: "", site: title, title: "Side by side", line, name: "compare.html", scripts, body }
        .render()
}
