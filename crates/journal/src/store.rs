//! The results directory: naming, finding and listing runs.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};

use super::{Ended, FILE, Head, Line, Record, Run, has_trials, head};
use files::open_regular;
use words::nearest;

/// The least free space a run begins with: a long run's journal is a few megabytes.
const ROOM: u64 = 16 << 20;

/// A directory with a sub-directory per run.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// One run in the results directory.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its directory's name.
    pub name: String,
    /// Its directory.
    pub path: PathBuf,
    /// Its first line, unless that cannot be read.
    pub run: Option<Run>,
}

impl Listed {
    /// Returns true if a trial of it ran: one that was interrupted before its first, or had to skip every test,
    /// measured nothing.
    pub fn has_trials(&self) -> bool {
        has_trials(&self.path.join(FILE))
    }
}

/// Returns the directory itself, or root's where another user could lead root anywhere from it: `sudo -E` keeps that
/// user's HOME.
#[cfg(unix)]
fn own(data: PathBuf) -> PathBuf {
    let is_root = rustix::process::geteuid().is_root();
    if is_root && files::check_trusted(&data).is_err() { PathBuf::from("/var/lib/unixmark") } else { data }
}

#[cfg(not(unix))]
fn own(data: PathBuf) -> PathBuf {
    data
}

impl Store {
    /// Returns the store at `root`, or at the user's data directory.
    ///
    /// # Errors
    /// No root is given, there is no home, and no temporary directory for this user alone.
    pub fn at(root: Option<PathBuf>) -> Result<Store> {
        if let Some(root) = root {
            return Ok(Store { root });
        }
        let data = files::directory(files::Kind::Data).map_err(|why| anyhow!("{why}, or try --results DIR"))?;
        Ok(Store { root: own(data).join("results") })
    }

    /// The results directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the directory of a new run, `HOST-YYYY-MM-DD-NN`, with the first free NN.
    ///
    /// # Errors
    /// The directory cannot be made or has too little room: refused before anything is measured.
    pub fn create(&self, host: &str, date: &str) -> Result<(String, PathBuf)> {
        let root = self.root.display();
        let cannot = |what: &str| format!("the results directory {root} cannot be {what}");
        fs::create_dir_all(&self.root).with_context(|| cannot("made; try --results DIR"))?;
        let free = free(&self.root).with_context(|| cannot("read"))?;
        if free.is_some_and(|free| free < ROOM) {
            let least = ROOM >> 20;
            bail!("the results directory {root} has less than {least} MiB free; make room or try --results DIR");
        }
        let host = plain(host);
        for number in 1..10_000 {
            let name = format!("{host}-{date}-{number:02}");
            let path = self.root.join(&name);
            match fs::create_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => {
                    made.with_context(|| cannot("written; try --results DIR"))?;
                    return Ok((name, path));
                }
            }
        }
        bail!("{root} has 9999 runs of {host} on {date}; try --results DIR")
    }

    /// Returns every run, the one written longest ago first.
    ///
    /// # Errors
    /// The results directory cannot be read; that there is none is an empty list.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let why = || format!("{} cannot be read", self.root.display());
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(why)?,
        };
        let mut runs = Vec::new();
        for entry in entries {
            let path = entry.with_context(why)?.path();
            let journal = path.join(FILE);
            let Ok(metadata) = fs::metadata(&journal) else { continue };
            // By when they were written here: an imported run describes an older day.
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            runs.push((written, Listed { name, run: first_line(&journal), path }));
        }
        runs.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }

    /// Returns the directory of the run that `name` stands for: a path, a run's name, `latest`, `latest~N`, or the
    /// comment of the newest run that has it. Runs that measured nothing are `latest` never, and a comment's only where
    /// no other has it.
    ///
    /// # Errors
    /// There is no such run; the message suggests what to try.
    pub fn find(&self, name: &str) -> Result<PathBuf> {
        if name.is_empty() {
            bail!("the name of the run is empty; `unixmark list runs` shows names");
        }
        if let Some(back) = back_from_latest(name) {
            let runs = self.list()?;
            let mut measured = runs.iter().rev().filter(|listed| listed.has_trials());
            return match measured.nth(back) {
                Some(run) => Ok(run.path.clone()),
                None => Err(self.too_far_back(name, &runs)),
            };
        }
        let path = Path::new(name);
        for candidate in [path.to_path_buf(), self.root.join(name)] {
            if candidate.join(FILE).is_file() || (candidate.is_file() && name.ends_with(".jsonl")) {
                return Ok(candidate);
            }
        }
        let runs = self.list()?;
        let has_comment = |listed: &&Listed| listed.run.as_ref().is_some_and(|run| run.comment == name);
        let mut commented = runs.iter().rev().filter(has_comment);
        if let Some(run) = commented.clone().find(|run| run.has_trials()).or_else(|| commented.next()) {
            return Ok(run.path.clone());
        }
        match nearest(name, runs.iter().map(|run| run.name.as_str())) {
            Some(near) => bail!("there is no run '{name}'; did you mean '{near}'?"),
            None => bail!("there is no run '{name}'; `unixmark list runs` shows them"),
        }
    }

    /// Why no run is as far back as `name`.
    fn too_far_back(&self, name: &str, runs: &[Listed]) -> anyhow::Error {
        let root = self.root.display();
        let measured = runs.iter().filter(|listed| listed.has_trials()).count();
        match (runs.last(), measured) {
            (None, _) => anyhow!("there are no runs in {root}; `unixmark run --budget 2m` makes one"),
            (Some(Listed { name, .. }), 0) => {
                anyhow!("no run in {root} measured anything; `unixmark report {name}` says why the newest did not")
            }
            _ => {
                anyhow!("'{name}' goes back further than the {} with a trial in {root}", words::count(measured, "run"))
            }
        }
    }
}

fn back_from_latest(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("latest")?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

/// Returns how a journal says that its run ended; `None` if its last line does not say so.
pub fn last_line(journal: &Path) -> Option<Ended> {
    // The last line is short.
    const TAIL: u64 = 4096;
    let mut file = open_regular(journal).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let line = tail.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?;
    match Line::read(line).ok()? {
        Line::Known(Record::End(end)) => Some(end.reason),
        _ => None,
    }
}

/// Returns the run that a journal begins with; `None` if there is none that this version can read.
pub fn first_line(journal: &Path) -> Option<Run> {
    match head(journal).ok()? {
        Head::Run(run, _) => run.map(|run| *run),
        Head::Other(_) => None,
    }
}

/// Returns `host` with everything that is awkward in a file name replaced.
fn plain(host: &str) -> String {
    let plain: String =
        host.chars().take(64).map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    if plain.trim_matches(['.', '_', '-']).is_empty() || plain.starts_with(['.', '-']) {
        format!("host{plain}")
    } else {
        plain
    }
}

/// Returns today's date where the machine is, as run directories carry it.
pub fn today() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d").to_string()
}

/// The bytes that are free where `path` is; none where the system is not asked.
#[cfg(unix)]
fn free(path: &Path) -> std::io::Result<Option<u64>> {
    let space = rustix::fs::statvfs(path)?;
    Ok(Some(space.f_bavail.saturating_mul(space.f_frsize)))
}

#[cfg(not(unix))]
fn free(_: &Path) -> std::io::Result<Option<u64>> {
    Ok(None)
}
