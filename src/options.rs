//! Options that several verbs share, each declared once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::terminal;
use crate::terminal::say;
use ::report::{Format, Layout};
use files::{Kind, is_temporary};
use journal::{Journal, Store};

/// The variable that says where runs are kept.
const RESULTS: &str = "UNIXMARK_RESULTS";

/// The directory of runs.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Results {
    // Read here: clap shows an option that has a variable in every usage line once that is set.
    /// Directory that holds the runs [env: UNIXMARK_RESULTS] [default: the user's data directory]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Results {
    /// # Errors
    /// There is no such place.
    pub(crate) fn store(&self) -> Result<Store> {
        let asked = self.named_folder();
        let is_temporary = asked.is_none() && is_temporary(Kind::Data);
        let store = Store::at(asked)?;
        if is_temporary {
            let root = store.root().display();
            say(&format!("warning: there is no home directory, so results are kept in {root}; try --results DIR"));
        }
        Ok(store)
    }

    /// The directory that the user named.
    pub(crate) fn named_folder(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os(RESULTS).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.results.clone().or_else(variable)
    }
}

/// The runs that a command line is about, whole or not: those of its --results, or the usual ones.
///
/// # Errors
/// There is no such place.
pub(crate) fn stored(words: impl Iterator<Item = OsString>) -> Result<Store> {
    let words: Vec<String> = words.filter_map(|word| word.into_string().ok()).collect();
    let after = |place: usize| words.get(place + 1).cloned();
    let named = words.iter().enumerate().find_map(|(place, word)| match word.strip_prefix("--results") {
        Some("") => after(place),
        Some(rest) => rest.strip_prefix('=').map(str::to_owned),
        None => None,
    });
    Store::at(Results { results: named.map(PathBuf::from) }.named_folder())
}

/// The form in which a report is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct Form {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

impl Form {
    /// The format, as the terminal can show it.
    pub(crate) fn layout(&self) -> Layout {
        terminal::layout(self.format)
    }
}

/// The option that leaves out what tells whose machine it was.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Redact {
    /// Leave out the user, the host, the control group and paths, so that the result can be published
    #[arg(long)]
    pub(crate) redact: bool,
}

impl Redact {
    /// Reads a run, without what is to be left out.
    ///
    /// # Errors
    /// As [`journal::read`].
    pub(crate) fn read(&self, path: &Path) -> Result<Journal> {
        let mut journal = journal::read(path)?;
        if self.redact {
            journal.redact();
        }
        Ok(journal)
    }
}

/// The form in which a list is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct ListForm {
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
}

/// The formats of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListFormat {
    /// For a terminal of 80 columns
    Text,
    /// Everything, for programs
    Json,
}

/// The comment on a run in reports and lists.
#[derive(Debug, clap::Args)]
pub(crate) struct Comment {
    /// Comment to show in reports and lists; it can be used as the run's name: `-m before`, then `unixmark compare
    /// before latest`
    #[arg(short = 'm', long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) comment: String,
}

/// Returns a choice as it is written on the command line, and in the arguments of programs.
pub(crate) fn name(choice: impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Reads `5%` or `5` as 5 per cent.
///
/// # Errors
/// It is not a number between 0 and 100.
pub(crate) fn percent(text: &str) -> Result<f64> {
    match text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number < 100.0 => Ok(number),
        _ => bail!("'{text}' is not a percentage between 0 and 100; try 5%"),
    }
}
