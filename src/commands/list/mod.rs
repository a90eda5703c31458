//! `unixmark list`: the catalogue and the runs.

mod conditions;
mod runs;
mod tests;

use std::ffi::OsStr;

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::{PossibleValue, TypedValueParser};
use serde_json::{Value, json};

use crate::options::{ListForm, ListFormat, Results};
use crate::status::{Status, usage};
use crate::terminal::{columns, print_json, print_words};
use catalogue::Catalogue;
use words::{mentions, wrap};

/// Of a list; a longer id has a line of its own.
const ID_COLUMNS: usize = 18;

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
    /// What to list [default: groups], or a word to look for in everything
    #[arg(value_parser = TopicParser)]
    what: Option<Topic>,
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

impl Arguments {
    /// The list that was asked for.
    fn list(&self) -> Option<What> {
        match self.what {
            Some(Topic::List(what)) => Some(what),
            _ => None,
        }
    }
}

/// A list, or a word that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Topic {
    List(What),
    Word(String),
}

/// Reads a topic; help and completions name the lists.
#[derive(Clone)]
struct TopicParser;

impl TypedValueParser for TopicParser {
    type Value = Topic;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        word: &OsStr,
    ) -> Result<Topic, clap::Error> {
        let word = word.to_string_lossy();
        Ok(match What::from_str(&word, false) {
            Ok(what) => Topic::List(what),
            Err(_) => Topic::Word(word.into_owned()),
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(What::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// One row of a list.
#[derive(Default)]
struct Row {
    heading: String,
    id: String,
    /// A line about it.
    about: String,
    doc: String,
    /// Why it cannot be used here.
    missing: Option<String>,
    /// Everything about it, for programs.
    value: Value,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let what = match &arguments.what {
        Some(Topic::Word(word)) => return search(word, arguments, &catalogue),
        Some(Topic::List(what)) => *what,
        None => What::Groups,
    };
    let has_tests = !matches!(what, What::Groups | What::Indexes | What::Conditions | What::Runs);
    if arguments.group.is_some() && !has_tests {
        return Err(usage(anyhow::anyhow!(
            "--group is for lists of tests; try `unixmark list tests --group memory`"
        )));
    }

    let mut rows = match what {
        What::Runs => runs::rows(&arguments.results.store()?)?,
        _ => rows_of_catalogue(what, &catalogue),
    };
    keep_matching(&mut rows, arguments, &catalogue);
    if let Some(group) = &arguments.group {
        let members = catalogue.expand(std::slice::from_ref(group)).map_err(usage)?;
        rows.retain(|row| members.iter().any(|test| test.id == row.id));
    }
    rows.retain(|row| !arguments.available || row.missing.is_none());

    print_rows(rows, arguments, || empty_list(what, arguments, &catalogue))
}

/// Lists everything about a word and those after it, whatever list it is in.
fn search(word: &str, arguments: &Arguments, catalogue: &Catalogue) -> Result<Status> {
    let words = std::iter::once(word).chain(arguments.words.iter().map(String::as_str));
    let terms: Vec<Term> = words.map(|word| Term::new(word, catalogue)).collect();

    // Tasks, loads and others of a kind are tests, too.
    let mut rows = Vec::new();
    for what in [What::Groups, What::Tests, What::Indexes, What::Conditions] {
        rows.extend(rows_of_catalogue(what, catalogue));
    }
    rows.retain(|row| terms.iter().all(|term| term.matches(row)));
    rows.retain(|row| !arguments.available || row.missing.is_none());

    print_rows(rows, arguments, || Ok(no_match(word, catalogue)))
}

/// Prints the rows; what `describe_none` returns where a reader would see none.
fn print_rows(
    rows: Vec<Row>,
    arguments: &Arguments,
    describe_none: impl FnOnce() -> Result<String>,
) -> Result<Status> {
    match arguments.form.format {
        ListFormat::Json => print_json(&values(rows))?,
        ListFormat::Text if rows.is_empty() => print_words(&describe_none()?)?,
        ListFormat::Text => print_words(&listing(&rows, arguments))?,
    }
    Ok(Status::Fine)
}

/// What to try where nothing is about a word.
fn no_match(word: &str, catalogue: &Catalogue) -> String {
    match catalogue.expand(&[word.to_owned()]) {
        Err(hint) => format!("{hint}\n"),
        Ok(_) => "no matches\n".to_owned(),
    }
}

fn rows_of_catalogue(what: What, catalogue: &Catalogue) -> Vec<Row> {
    match what {
        What::Groups => tests::groups(catalogue),
        What::Indexes => tests::indexes(catalogue),
        What::Conditions => conditions::rows(catalogue),
        _ => tests::rows(what, catalogue),
    }
}

/// Leaves the rows that are about all the words asked for.
fn keep_matching(rows: &mut Vec<Row>, arguments: &Arguments, catalogue: &Catalogue) {
    let words = arguments.words.iter().chain(&arguments.group);
    let terms: Vec<Term> = words.map(|word| Term::new(word, catalogue)).collect();
    rows.retain(|row| terms.iter().all(|term| term.matches(row)));
}

/// A word to look for.
enum Term {
    /// The ids of the group of that name and of its tests.
    Group(Vec<String>),
    Word(String),
}

impl Term {
    fn new(word: &str, catalogue: &Catalogue) -> Term {
        let is_group = catalogue.groups.iter().any(|group| group.id == word);
        let tests = catalogue.expand(&[word.to_owned()]).unwrap_or_default();
        if !is_group || tests.is_empty() {
            return Term::Word(word.to_owned());
        }
        let mut ids = vec![word.to_owned()];
        ids.extend(tests.iter().map(|test| test.id.clone()));
        Term::Group(ids)
    }

    /// True if a row is about the word.
    fn matches(&self, row: &Row) -> bool {
        match self {
            Term::Group(ids) => ids.contains(&row.id),
            Term::Word(word) => {
                row.id.to_lowercase().contains(&word.to_lowercase())
                    || mentions(&row.about, word)
                    || mentions(&row.doc, word)
            }
        }
    }
}

/// Rows for programs: why one is missing is null where it is there.
fn values(rows: Vec<Row>) -> Vec<Value> {
    let mut values = Vec::new();
    for mut row in rows {
        if let Value::Object(object) = &mut row.value {
            object.insert("unavailable".to_owned(), json!(row.missing));
        }
        values.push(row.value);
    }
    values
}

/// Says that a list is empty, and which others have something about the words.
fn empty_list(what: What, arguments: &Arguments, catalogue: &Catalogue) -> Result<String> {
    if what == What::Runs && arguments.words.is_empty() {
        return Ok(format!("no runs in {}\n", arguments.results.store()?.root().display()));
    }

    let words: Vec<String> = arguments.words.iter().chain(&arguments.group).cloned().collect();
    let words = words::shell(&words);
    let mut commands = Vec::new();
    for other in What::value_variants() {
        let Some(name) = other.to_possible_value() else { continue };
        if *other == What::Runs {
            continue;
        }
        let mut rows = rows_of_catalogue(*other, catalogue);
        keep_matching(&mut rows, arguments, catalogue);
        if !rows.is_empty() {
            commands.push(format!("`unixmark list {} {words}`", name.get_name()));
        }
    }

    if commands.is_empty() {
        return Ok("no matches\n".to_owned());
    }
    Ok(format!("no matches; try {}\n", commands.join(" or ")))
}

/// The rows under their headings, as wide as the terminal.
fn listing(rows: &[Row], arguments: &Arguments) -> String {
    let mut text = String::new();
    let mut heading = "";
    for row in rows {
        if row.heading != heading {
            if !heading.is_empty() {
                text += "\n";
            }
            text += &wrapped("", &row.heading);
            heading = &row.heading;
        }

        text += &row_lines(row, arguments.list());
        if arguments.long && !row.doc.is_empty() {
            text += &wrapped("      ", &row.doc);
        }
    }

    if arguments.what.is_none() && arguments.words.is_empty() {
        text += AFTER_OVERVIEW;
    }
    text
}

/// A row's id, and what is about it beside or under that.
fn row_lines(row: &Row, what: Option<What>) -> String {
    // A run's time, procedure and end are columns; its command line has a line of its own.
    if let (Some(What::Runs), Some((columns, words))) = (what, row.about.split_once('\n')) {
        let line = words::visible(&format!("  {:<30}  {columns}", row.id));
        return format!("{line}\n{}", wrapped("      ", words));
    }

    let mut about = row.about.clone();
    // A condition says it level by level.
    if let Some(reason) = &row.missing
        && what != Some(What::Conditions)
    {
        about += &format!(" - not here: {reason}");
    }

    let id = format!("  {:<ID_COLUMNS$} ", row.id);
    if words::width(&id) > ID_COLUMNS + 3 {
        let below = " ".repeat(ID_COLUMNS + 3);
        return format!("{}\n{}", words::visible(id.trim_end()), wrapped(&below, &about));
    }
    wrapped(&id, &about)
}

fn wrapped(lead: &str, content: &str) -> String {
    let mut text = String::new();
    for line in wrap(lead, content, columns()) {
        text += &words::visible(line.trim_end());
        text.push('\n');
    }
    text
}

/// The lines after the overview.
const AFTER_OVERVIEW: &str = "
`unixmark list tests` shows all tests, `list tests memory` those of a group or
about a word. There are also tasks, indexes, loads, burnins, watchers,
conditions and runs. --long describes each row.
";
