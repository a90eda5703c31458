//! `unixmark build`: compiles a test of one's own.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use crate::status::{Status, usage};
use crate::terminal::{print, say_lines};
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// C files, the main one first; files of the kit, such as thread/team.c, need not be copied
    #[arg(value_name = "FILE.c", required = true)]
    files: Vec<PathBuf>,
    /// Where to put the program [default: next to the first file, without .c]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let out = choose_out(arguments).map_err(usage)?;
    if let Some(first) = arguments.files.first().filter(|first| !first.exists()) {
        return Err(usage(anyhow!(
            "{} does not exist; `unixmark new test NAME` makes one",
            first.display()
        )));
    }

    let built = build::program(&arguments.files, &out)?;
    if !built.warnings.is_empty() {
        say_lines(built.warnings.trim_end());
    }
    let command = measuring_command(&out);
    print(&format!("{} was built by {}\nmeasure it: {command}\n", out.display(), built.how))?;
    Ok(Status::Fine)
}

/// The path of the program: that of --out, or the first file without `.c`.
fn choose_out(arguments: &Arguments) -> Result<PathBuf> {
    match (&arguments.out, &arguments.files[..]) {
        (Some(out), _) => Ok(out.clone()),
        (None, [first, ..]) if first.extension().is_some_and(|end| end == "c") => {
            Ok(first.with_extension(""))
        }
        _ => bail!("the first file is not called FILE.c; say with --out where to put the program"),
    }
}

/// The command that measures the program: by its row where it has one.
fn measuring_command(out: &Path) -> String {
    let words = match find_row(out) {
        Some(id) => vec![id],
        None => vec!["--program".to_owned(), out.display().to_string()],
    };
    format!("unixmark run {}", words::shell(&words))
}

/// The id of the test whose program this is, if the catalogue has one.
fn find_row(program: &Path) -> Option<String> {
    let catalogue = Catalogue::load().ok()?;
    let program = std::path::absolute(program).unwrap_or_else(|_| program.to_path_buf());
    let test = catalogue.tests.iter().find(|test| Path::new(&test.program) == program)?;
    Some(test.id.clone())
}
