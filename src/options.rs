//! Options that several verbs share, each declared once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::terminal;
use crate::terminal::say;
use ::report::{Extent, Format, Layout};
use analysis::Better;
use files::{Kind, is_temporary};
use journal::{Journal, Store};

/// The name that --results has for no directory.
const NOWHERE: &str = "none";

/// The variable that names the directory of runs.
const RESULTS_VARIABLE: &str = "UNIXMARK_RESULTS";

/// The directory of runs.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Results {
    // Read here: clap shows an option that has a variable in every usage line once that is set.
    /// Directory that holds the runs, or `none` to keep nothing [env: UNIXMARK_RESULTS] [default:
    /// the user's data directory]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Results {
    /// # Errors
    /// There is no such place.
    pub(crate) fn store(&self) -> Result<Store> {
        let named = self.named_folder();
        let is_temporary = named.is_none() && !self.is_nowhere() && is_temporary(Kind::Data);
        let store = Store::at(named)?;
        if is_temporary {
            let root = store.root().display();
            say(&format!(
                "warning: there is no home directory, so results are kept in {root}; try --results DIR"
            ));
        }
        Ok(store)
    }

    /// The option as it was typed, if it was.
    pub(crate) fn words(&self) -> Vec<String> {
        let typed = self.results.iter();
        typed.flat_map(|folder| ["--results".to_owned(), folder.display().to_string()]).collect()
    }

    /// The directory that the user named.
    pub(crate) fn named_folder(&self) -> Option<PathBuf> {
        self.named().filter(|path| path != Path::new(NOWHERE))
    }

    /// True if a run is not to be kept.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.named().is_some_and(|path| path == Path::new(NOWHERE))
    }

    /// The value of the option, or else of the variable.
    fn named(&self) -> Option<PathBuf> {
        if self.results.is_some() {
            return self.results.clone();
        }
        let value = std::env::var_os(RESULTS_VARIABLE)?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    }
}

/// Checks the directions of --better, of which a name has one.
///
/// # Errors
/// A name has both.
pub(crate) fn check_directions(directions: &[Better]) -> Result<()> {
    for (number, better) in directions.iter().enumerate() {
        let opposes = |other: &Better| other.name() == better.name() && other != better;
        ensure!(
            !directions[..number].iter().any(opposes),
            "--better says of '{}' that higher is better, and that lower is; give one of the two",
            better.name()
        );
    }
    Ok(())
}

/// The runs that a command line, which may be unfinished, is about: those of its --results, or the
/// usual ones.
///
/// # Errors
/// There is no such place.
pub(crate) fn store_of_words(words: impl Iterator<Item = OsString>) -> Result<Store> {
    let words: Vec<String> = words.filter_map(|word| word.into_string().ok()).collect();
    let named = values_in_words(&words, "--results").next();
    Store::at(Results { results: named.map(PathBuf::from) }.named_folder())
}

/// The values of an option in a command line, which may be unfinished, as `--option VALUE` or
/// `--option=VALUE`.
pub(crate) fn values_in_words<'w>(
    words: &'w [String],
    option: &'w str,
) -> impl Iterator<Item = &'w str> {
    words.iter().enumerate().filter_map(move |(place, word)| match word.strip_prefix(option)? {
        "" => words.get(place + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    })
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

/// How much of a run is shown.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Detail {
    /// Show the full report in place of the short one: also the system, notes and how to read the
    /// figures
    #[arg(long)]
    long: bool,
    /// With --format json, also the system, the controls and every sample, pair and histogram
    #[arg(long)]
    samples: bool,
}

impl Detail {
    /// The layout of a run's report in a format.
    pub(crate) fn layout(&self, format: Format) -> Layout {
        let extent = if self.long { Extent::Whole } else { Extent::Short };
        Layout { extent, has_details: self.samples, ..terminal::layout(format) }
    }
}

/// The option that leaves out whose machine it was.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Redact {
    /// Leave out the user, the host, the control group and paths, so that the result can be
    /// published
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
    /// Comment to show in reports and lists; it can be used as the run's name: `-m before`, then
    /// `unixmark compare before latest`
    #[arg(short = 'm', long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) comment: String,
}

/// A choice as it is written on the command line, and in the arguments of programs.
pub(crate) fn name(choice: impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Reads `5%` or `5` as 5 per cent.
///
/// # Errors
/// It is not a number above 0 and below 100.
pub(crate) fn percent(text: &str) -> Result<f64> {
    match text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number < 100.0 => Ok(number),
        _ => bail!("'{text}' is not a percentage above 0 and below 100; try 5%"),
    }
}
