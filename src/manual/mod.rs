//! The manual: a page for every verb, made from the command line, and two made from the catalogue.

mod catalogue;
mod roff;
mod verbs;

use clap::Command;

use ::catalogue::Catalogue;

/// One page.
pub(crate) struct ManualPage {
    /// Its name, as unixmark-run.
    pub(crate) name: String,
    /// Its section.
    pub(crate) section: u8,
    /// Its source.
    pub(crate) source: String,
}

/// Returns all pages, that of the tool first.
pub(crate) fn pages(mut command: Command, catalogue: &Catalogue) -> Vec<ManualPage> {
    command.build();
    let mut pages = Vec::new();
    add(&mut pages, &command, "unixmark", "");
    let page = |name: &str, source| ManualPage { name: name.to_owned(), section: 7, source };
    pages.push(page("unixmark-tests", catalogue::tests(catalogue)));
    pages.push(page("unixmark-conditions", catalogue::conditions(catalogue)));
    pages
}

fn add(pages: &mut Vec<ManualPage>, command: &Command, name: &str, path: &str) {
    pages.push(ManualPage {
        name: name.to_owned(),
        section: 1,
        source: verbs::page(command, name, path),
    });
    for verb in below(command) {
        let word = verb.get_name();
        add(pages, verb, &format!("{name}-{word}"), format!("{path} {word}").trim());
    }
}

/// The verbs below a command.
fn below(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| verb.get_name() != "help")
}
