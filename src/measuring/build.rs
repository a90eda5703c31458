//! `unixmark build`: compiles a test of one's own.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

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
    let out = out(arguments).map_err(usage)?;
    let missing = arguments.files.first().filter(|first| !first.exists());
    if let Some(first) = missing {
        return Err(usage(anyhow::anyhow!("{} does not exist; `unixmark new test NAME` makes one", first.display())));
    }
    let built = build::program(&arguments.files, &out)?;
    if !built.warnings.is_empty() {
        say_lines(built.warnings.trim_end());
    }
    print(&format!("{} was built by {}\nmeasure it: {}\n", out.display(), built.how, measure(&out)))?;
    Ok(Status::Fine)
}

/// Returns the path of the program.
fn out(arguments: &Arguments) -> Result<PathBuf> {
    match (&arguments.out, &arguments.files[..]) {
        (Some(out), _) => Ok(out.clone()),
        (None, [first, ..]) if first.extension().is_some_and(|end| end == "c") => Ok(first.with_extension("")),
        _ => bail!("the first file is not called FILE.c; say with --out where to put the program"),
    }
}

/// The command that measures the program: by its row where it has one.
fn measure(out: &Path) -> String {
    let full = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf());
    let catalogue = Catalogue::load().ok();
    let row = catalogue.and_then(|all| all.tests.iter().find(|test| Path::new(&test.program) == full).cloned());
    let words = match row {
        Some(test) => vec![test.id.clone()],
        None => vec!["--program".to_owned(), out.display().to_string()],
    };
    format!("unixmark run {}", words::shell(&words))
}
