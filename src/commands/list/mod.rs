//! `unixmark list`: the catalogue and the runs.

mod conditions;
mod runs;
mod tests;

use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::options::{ListForm, ListFormat, Results};
use crate::status::{Status, usage};
use crate::terminal::{columns, print_json, print_words};
use catalogue::Catalogue;
use words::{mentions, wrap};

/// Columns of a name.
const NAME: usize = 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum What {
    /// What can be measured
    Tests,
    /// Interactive tests, which `unixmark latency` measures
    Tasks,
    /// Names for several tests
    Groups,
    /// Ways to combine scores into one number
    Indexes,
    /// What can run in the background
    Loads,
    /// What `unixmark burnin` runs
    Burnins,
    /// What runs alongside tests for a condition
    Watchers,
    /// What can be switched on the machine
    Conditions,
    /// The runs in the results directory
    Runs,
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What to list [default: groups]
    #[arg(value_enum)]
    what: Option<What>,
    /// Only rows that match all of these words: a group, part of a name, a word of the description
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only tests of this group
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// Only what can run, or be switched, on this machine
    #[arg(long)]
    available: bool,
    /// Add what each one exercises, and what it does not show
    #[arg(short, long)]
    long: bool,
    #[command(flatten)]
    form: ListForm,
    #[command(flatten)]
    results: Results,
}

/// One row of a list.
#[derive(Default)]
struct Row {
    /// Its heading.
    heading: String,
    id: String,
    /// A line about it.
    about: String,
    doc: String,
    /// The reason why it cannot be used here.
    missing: Option<String>,
    /// Everything about it, for programs.
    value: Value,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let what = arguments.what.unwrap_or(What::Groups);
    if arguments.group.is_some() && matches!(what, What::Groups | What::Indexes | What::Conditions | What::Runs) {
        return Err(usage(anyhow::anyhow!("--group is for lists of tests; try `unixmark list tests --group memory`")));
    }
    let all = if what == What::Runs { runs::rows(&arguments.results.store()?)? } else { rows(what, &catalogue) };
    let mut rows = about(all, arguments, &catalogue);
    if let Some(group) = &arguments.group {
        let members = catalogue.expand(std::slice::from_ref(group)).map_err(usage)?;
        rows.retain(|row| members.iter().any(|test| test.id == row.id));
    }
    rows.retain(|row| !arguments.available || row.missing.is_none());
    match arguments.form.format {
        ListFormat::Json => print_json(&values(rows))?,
        ListFormat::Text if rows.is_empty() => print_words(&empty(what, arguments, &catalogue)?)?,
        ListFormat::Text => print_words(&listing(&rows, arguments))?,
    }
    Ok(Status::Fine)
}

/// The rows of a list of the catalogue.
fn rows(what: What, catalogue: &Catalogue) -> Vec<Row> {
    match what {
        What::Groups => tests::groups(catalogue),
        What::Indexes => tests::indexes(catalogue),
        What::Conditions => conditions::rows(catalogue),
        _ => tests::rows(what, catalogue),
    }
}

/// The rows that are about all the words asked for.
fn about(mut rows: Vec<Row>, arguments: &Arguments, catalogue: &Catalogue) -> Vec<Row> {
    let words = arguments.words.iter().chain(&arguments.group);
    let words: Vec<Vec<String>> = words.map(|word| tests::names(word, catalogue)).collect();
    rows.retain(|row| words.iter().all(|names| is_about(row, names)));
    rows
}

/// Returns true if a row is about the first of `names`, a word; where that is a group, whether it is one of its tests,
/// which follow.
fn is_about(row: &Row, names: &[String]) -> bool {
    if names.len() > 1 {
        return names.contains(&row.id);
    }
    let has = |word: &String| {
        row.id.to_lowercase().contains(&word.to_lowercase())
            || [&row.about, &row.doc].into_iter().any(|text| mentions(text, word))
    };
    names.first().is_some_and(has)
}

/// Rows for programs: why one is missing is null where it is there.
fn values(rows: Vec<Row>) -> Vec<Value> {
    let with = |mut row: Row| {
        if let Value::Object(object) = &mut row.value {
            object.insert("unavailable".to_owned(), json!(row.missing));
        }
        row.value
    };
    rows.into_iter().map(with).collect()
}

/// Says that a list is empty, and which others have something about the words.
fn empty(what: What, arguments: &Arguments, catalogue: &Catalogue) -> Result<String> {
    Ok(match what {
        What::Runs if arguments.words.is_empty() => {
            format!("no runs in {}\n", arguments.results.store()?.root().display())
        }
        _ => {
            let has_some =
                |other: &What| *other != What::Runs && !about(rows(*other, catalogue), arguments, catalogue).is_empty();
            let name = |other: What| other.to_possible_value().map(|value| value.get_name().to_owned());
            let words: Vec<String> = arguments.words.iter().chain(&arguments.group).cloned().collect();
            let words = words::shell(&words);
            let others = What::value_variants().iter().copied().filter(has_some).filter_map(name);
            let others: Vec<String> = others.map(|other| format!("`unixmark list {other} {words}`")).collect();
            let hint = if others.is_empty() { String::new() } else { format!("; try {}", others.join(" or ")) };
            format!("no matches{hint}\n")
        }
    })
}

/// The rows under their headings, in lines of 80 columns.
fn listing(rows: &[Row], arguments: &Arguments) -> String {
    let mut text = String::new();
    let mut heading = "";
    for row in rows {
        if row.heading != heading {
            let gap = if heading.is_empty() { "" } else { "\n" };
            text += gap;
            text += &wrapped("", &row.heading);
            heading = &row.heading;
        }
        text += &lines(row, arguments.what);
        if arguments.long && !row.doc.is_empty() {
            text += &wrapped("      ", &row.doc);
        }
    }
    if arguments.what.is_none() && arguments.words.is_empty() {
        text += MORE;
    }
    text
}

/// A row's id, and what is about it beside or under that.
fn lines(row: &Row, what: Option<What>) -> String {
    // A run's time, procedure and end are columns; its command line has a line of its own.
    if let (Some(What::Runs), Some((state, words))) = (what, row.about.split_once('\n')) {
        return words::visible(&format!("  {:<30}  {state}", row.id)) + "\n" + &wrapped("      ", words);
    }
    let missing = row.missing.as_ref().filter(|_| what != Some(What::Conditions));
    let about = row.about.clone() + &missing.map_or_else(String::new, |why| format!(" - not here: {why}"));
    let lead = format!("  {:<NAME$} ", row.id);
    if words::width(&lead) > NAME + 3 {
        return format!("{}\n{}", words::visible(lead.trim_end()), wrapped(&" ".repeat(NAME + 3), &about));
    }
    wrapped(&lead, &about)
}

fn wrapped(lead: &str, content: &str) -> String {
    wrap(lead, content, columns()).iter().map(|line| words::visible(line.trim_end()) + "\n").collect()
}

/// The lines after the overview.
const MORE: &str = "
`unixmark list tests` shows all tests, `list tests memory` those of a group or
about a word. There are also tasks, indexes, loads, burnins, watchers,
conditions and runs. --long describes each row.
";
