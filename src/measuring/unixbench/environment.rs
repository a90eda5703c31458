//! UnixBench's variables. One that is set to nothing counts as unset.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use super::make_directory;
use crate::measuring::options::{check_workplace, workplace};
use crate::terminal::say;
use plan::Kind;

/// The settings in the variables.
pub(super) struct Environment {
    /// The directory of the reports.
    pub(super) results: PathBuf,
    /// The directory in which the programs work.
    pub(super) tmp: PathBuf,
    /// Name of the text report, in place of one with host, date and number.
    pub(super) file_name: Option<String>,
    /// True if the wide CSV is wanted.
    pub(super) csv: bool,
    /// How many texts each shell script sorts.
    pub(super) work_factor: u32,
    /// The procedure, unless the command line has one.
    pub(super) procedure: Option<Kind>,
}

impl Environment {
    /// Reads the variables, and makes the directories that they name.
    ///
    /// # Errors
    /// One is set that cannot be honoured, or a directory cannot be made.
    pub(super) fn read() -> Result<Environment> {
        for (name, why) in [
            ("UB_BINDIR", "unixmark measures with its own programs, not with those there"),
            ("UB_GCC_OPTIONS", "unixmark compiles its programs with UnixBench's usual options"),
        ] {
            ensure!(variable(name).is_none(), "{name} is set, but {why}; unset {name}");
        }

        let results = variable("UB_RESULTDIR").unwrap_or_else(|| "results".into());
        let environment = Environment {
            results: PathBuf::from(results),
            tmp: choose_tmp()?,
            file_name: text_variable("UB_OUTPUT_FILE_NAME")?,
            csv: text_variable("UB_OUTPUT_CSV")?.is_some_and(|value| value == "true"),
            work_factor: work_factor()?,
            procedure: procedure()?,
        };
        if environment.file_name.as_ref().is_some_and(|name| name.contains('/')) {
            bail!(
                "UB_OUTPUT_FILE_NAME has a '/': it is a name within UB_RESULTDIR; set that instead"
            );
        }

        make_directory(&environment.results, "UB_RESULTDIR")?;
        make_directory(&environment.tmp, "UB_TMPDIR")?;
        Ok(environment)
    }
}

/// The procedure that UNIXMARK_PROCEDURE names, if it is set.
fn procedure() -> Result<Option<Kind>> {
    let Some(name) = text_variable("UNIXMARK_PROCEDURE")? else {
        return Ok(None);
    };
    let kind = Kind::from_str(&name, false).ok().with_context(|| {
        format!("UNIXMARK_PROCEDURE is '{name}'; try standard, classic or quick")
    })?;
    Ok(Some(kind))
}

/// The directory in which the programs work: that of UB_TMPDIR, or ./tmp. Where root would work in
/// another user's directory, it is the usual workplace.
///
/// # Errors
/// UB_TMPDIR names another user's directory.
fn choose_tmp() -> Result<PathBuf> {
    let named = variable("UB_TMPDIR").map(PathBuf::from);
    let is_named = named.is_some();
    let tmp = named.unwrap_or_else(|| PathBuf::from("tmp"));
    let Err(why) = check_workplace(&tmp) else { return Ok(tmp) };
    if is_named {
        bail!("the directory {} cannot be used: {why}; set UB_TMPDIR to another", tmp.display());
    }

    let usual = workplace(None);
    say(&format!(
        "unixmark: the programs work in {}: {why}; UB_TMPDIR names another place",
        usual.display()
    ));
    Ok(usual.to_path_buf())
}

/// The number of texts that each shell script sorts.
///
/// # Errors
/// MULTI_SH_WORK_FACTOR is not such a number.
pub(super) fn work_factor() -> Result<u32> {
    let Some(value) = text_variable("MULTI_SH_WORK_FACTOR")? else {
        return Ok(1);
    };
    match value.parse() {
        Ok(number @ 1..=10_000) => Ok(number),
        _ => bail!(
            "MULTI_SH_WORK_FACTOR is '{value}', which is not a number from 1 to 10000; unset it, or try 2"
        ),
    }
}

/// The value of a variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn text_variable(name: &str) -> Result<Option<String>> {
    let value = variable(name).map(OsString::into_string).transpose();
    value.ok().with_context(|| format!("{name} is not text in UTF-8; try plain letters"))
}
