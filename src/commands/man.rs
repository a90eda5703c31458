//! `unixmark man`: one page for all verbs.

use std::io::Write;

use anyhow::Result;
use clap::CommandFactory;
use clap_mangen::Man;

use super::Cli;
use crate::status::Status;
use crate::terminal::print;

pub(super) fn run() -> Result<Status> {
    let mut command = Cli::command();
    command.build();
    let mut text = Vec::new();
    let page = Man::new(command.clone());
    page.render(&mut text)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        writeln!(text, ".SH {}", verb.get_name().to_uppercase())?;
        let page = Man::new(verb.clone());
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
    }
    print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Fine)
}
