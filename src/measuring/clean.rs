//! `unixmark clean`: removes builds from the cache.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;

use crate::status::Status;
use crate::terminal::print;
use build::Stored;

/// A build that was not used for so long is old.
pub(super) const OLD: Duration = Duration::from_secs(30 * 24 * 3600);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Remove every build that is not in use, not only those unused for 30 days
    #[arg(long)]
    all: bool,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let goes = |build: &Stored| arguments.all || build.age >= OLD;
    let before = build::stored()?;
    let gone = if arguments.dry_run {
        before.iter().filter(|build| !build.is_used && goes(build)).cloned().collect()
    } else {
        build::remove(goes)?
    };
    print(&listing(&before, &gone, arguments.dry_run, &build::cache_folder()?.display().to_string()))?;
    Ok(Status::Fine)
}

/// A line for each build, and what has gone of how much.
fn listing(all: &[Stored], gone: &[Stored], is_dry: bool, folder: &str) -> String {
    let mut text = String::new();
    for build in all {
        let state = match () {
            () if gone.iter().any(|one| one.path == build.path) && is_dry => "would be removed",
            () if gone.iter().any(|one| one.path == build.path) => "removed",
            () if build.is_used => "in use",
            () => "kept",
        };
        let name = build.path.file_name().unwrap_or_default().to_string_lossy();
        let age = words::uptime(build.age.as_secs_f64());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<26} {:>9}  used {age} ago  {state}", words::bytes(build.bytes));
    }
    let bytes = |builds: &[Stored]| words::bytes(builds.iter().map(|build| build.bytes).sum());
    let verb = if is_dry { "would be removed" } else { "removed" };
    let of = words::count(all.len(), "build");
    let _ = writeln!(text, "{} of {of} {verb}, {} of {}, from {folder}", gone.len(), bytes(gone), bytes(all));
    text
}
