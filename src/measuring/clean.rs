//! `unixmark clean`: removes builds from the cache.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;

use crate::status::Status;
use crate::terminal::print;
use build::Stored;

/// A build that was not used for so long is old.
pub(super) const MIN_OLD_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

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
    let builds = build::stored()?;
    let is_unwanted = |build: &Stored| arguments.all || build.age >= MIN_OLD_AGE;
    let removed = if arguments.dry_run {
        builds.iter().filter(|build| !build.is_used && is_unwanted(build)).cloned().collect()
    } else {
        build::remove(is_unwanted)?
    };

    let verb = if arguments.dry_run { "would be removed" } else { "removed" };
    let folder = build::cache_folder()?.display().to_string();
    print(&list_builds(&builds, &removed, verb, &folder))?;
    Ok(Status::Fine)
}

/// A line for each build, and the sum. `verb` says of the `removed` builds that they are, or would
/// be.
fn list_builds(builds: &[Stored], removed: &[Stored], verb: &str, folder: &str) -> String {
    let mut text = String::new();
    for build in builds {
        let state = if removed.iter().any(|removed| removed.path == build.path) {
            verb
        } else if build.is_used {
            "in use"
        } else {
            "kept"
        };
        let name = build.path.file_name().unwrap_or_default().to_string_lossy();
        let age = words::uptime(build.age.as_secs_f64());
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "{name:<26} {:>9}  used {age} ago  {state}", words::bytes(build.bytes));
    }

    let count = words::count(builds.len(), "build");
    let [removed_bytes, bytes] = [removed, builds].map(show_bytes);
    let _ = writeln!(
        text,
        "{} of {count} {verb}, {removed_bytes} of {bytes}, from {folder}",
        removed.len()
    );
    text
}

/// The bytes of all builds, in a unit that suits them.
fn show_bytes(builds: &[Stored]) -> String {
    words::bytes(builds.iter().map(|build| build.bytes).sum())
}
