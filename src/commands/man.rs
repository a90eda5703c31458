//! `unixmark man`: the manual.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::manual::{ManualPage, pages};
use crate::status::{Status, usage};
use crate::terminal::print;
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Page: a verb such as `fleet slurm`, or `tests` or `conditions` [default: the page of the
    /// tool itself]
    #[arg(value_name = "VERB")]
    verb: Vec<String>,
    /// Write all pages, such as man1/unixmark.1, below this directory
    #[arg(long, value_name = "DIR", conflicts_with = "verb")]
    into: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let pages = pages(super::command(), &Catalogue::load()?);
    if let Some(folder) = &arguments.into {
        pages.iter().try_for_each(|page| write(page, folder))?;
        return Ok(Status::Fine);
    }
    let name = std::iter::once("unixmark")
        .chain(arguments.verb.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("-");
    let page = pages.iter().find(|page| page.name == name);
    let page = page.with_context(|| {
        let all: Vec<&str> =
            pages.iter().filter_map(|page| page.name.strip_prefix("unixmark-")).collect();
        format!(
            "there is no page '{}'; try one of {}",
            arguments.verb.join(" "),
            all.join(", ").replace('-', " ")
        )
    });
    print(&page.map_err(usage)?.source)?;
    Ok(Status::Fine)
}

fn write(page: &ManualPage, folder: &Path) -> Result<()> {
    let ManualPage { name, section, source } = page;
    let folder = folder.join(format!("man{section}"));
    let path = folder.join(format!("{name}.{section}"));
    files::make_directories(&folder)
        .and_then(|()| files::write_atomically(&path, source.as_bytes()))
        .with_context(|| format!("{} cannot be written; try another --into DIR", path.display()))
}
