//! The pages of what can be measured and switched, from the catalogue.

use super::roff::{Page, bold, capitalised, plain};
use catalogue::{Catalogue, Role, Test};
use words::first_sentence;

/// Kinds of tests that are not rates: the heading, what they are for, and whether a test is one.
type Kind = (&'static str, &'static str, fn(&Test) -> bool);

const KINDS: [Kind; 4] = [
    ("TASKS", "Interactive tests, which unixmark-latency(1) measures.", Test::is_task),
    (
        "LOADS",
        "What --load runs in the background. Any other test can run there as well.",
        |test| test.roles.contains(&Role::Load) && !test.roles.contains(&Role::Bench),
    ),
    ("BURN-INS", "What unixmark-burnin(1) runs.", |test| test.roles == [Role::Burn]),
    ("WATCHERS", "What runs alongside tests for a condition.", |test| {
        test.roles == [Role::Companion]
    }),
];

/// Returns the page of everything that can be measured.
pub(super) fn tests(catalogue: &Catalogue) -> String {
    let mut page = Page::new("unixmark-tests", 7, "what unixmark measures");
    page.section("DESCRIPTION");
    page.text(
        "Tests are named on the command line by the words below, or several at once by the name of a group. Arguments of a \
         test follow a colon, as in `write:sync=1`. `unixmark list tests` says which of them cannot run here, and why.",
    );
    page.section("TESTS");
    let mut category = "";
    for test in catalogue.tests.iter().filter(|test| test.is_rate()) {
        if test.category != category {
            category = &test.category;
            page.subsection(category);
            if let Some(group) = catalogue.groups.iter().find(|group| group.gathers(test)) {
                page.text(&format!("Group `{}`: {}.", group.id, first_sentence(&group.doc)));
            }
        }
        row(&mut page, test);
    }
    for (heading, about, is_of) in KINDS {
        page.section(heading);
        page.text(about);
        catalogue.tests.iter().filter(|test| is_of(test)).for_each(|test| row(&mut page, test));
    }
    page.section("GROUPS");
    for group in &catalogue.groups {
        page.tagged(
            &bold(&group.id),
            &format!("{} Members: {}.", group.doc, catalogue.names(group).join(", ")),
        );
    }
    page.section("INDEXES");
    for index in &catalogue.indexes {
        page.tagged(&bold(&index.id), &format!("{}. {}", index.name, index.doc));
    }
    page.section("SEE ALSO");
    page.line(&format!(".BR {} (1),", plain("unixmark-run")));
    page.line(&format!(".BR {} (7)", plain("unixmark-conditions")));
    page.finish()
}

fn row(page: &mut Page, test: &Test) {
    page.tagged(&bold(&test.id), &format!("{} ({}). {}", test.label, test.unit, test.doc));
}

/// Returns the page of everything that can be switched.
pub(super) fn conditions(catalogue: &Catalogue) -> String {
    let mut page =
        Page::new("unixmark-conditions", 7, "what unixmark switches to measure what it costs");
    page.section("DESCRIPTION");
    page.text(
        "A condition is a switch at a level, as in `thp=never`; several at once are joined by a plus sign. \
         unixmark verifies that every condition is on while it is measured, and undoes it afterwards. \
         `unixmark list conditions` says which of them cannot be switched here, and why.",
    );
    page.section("CONDITIONS");
    for switch in &catalogue.switches {
        let levels: Vec<String> = switch
            .levels
            .iter()
            .filter(|level| !level.id.is_empty())
            .map(|level| format!("`{}`", level.id))
            .collect();
        let levels = if levels.is_empty() {
            String::new()
        } else {
            format!(" Levels: {}.", levels.join(", "))
        };
        let label = capitalised(&switch.label);
        page.tagged(&bold(&switch.id), &format!("{label}.{levels} {}", switch.doc));
    }
    page.section("SEE ALSO");
    page.line(&format!(".BR {} (1),", plain("unixmark-cost")));
    page.line(&format!(".BR {} (1),", plain("unixmark-restore")));
    page.line(&format!(".BR {} (7)", plain("unixmark-tests")));
    page.finish()
}
