//! The results directory: naming, finding and listing runs.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};

use super::{Ended, FILE, Head, Line, Record, Run, has_trials, head};
use files::open_regular;
use words::nearest;

/// The free space without which no run begins: a long run's journal is a few megabytes.
const MIN_FREE_BYTES: u64 = 16 << 20;

/// The maximum number of runs of a host on one day.
const MAX_RUNS_PER_DAY: u32 = 9999;

/// Characters of a host's name that are part of a run's name.
const MAX_HOST_CHARACTERS: usize = 64;

/// A directory with a sub-directory per run.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// One run in the results directory.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The name of its directory.
    pub name: String,
    /// Its directory.
    pub path: PathBuf,
    /// The run that its journal begins with, unless that cannot be read.
    pub run: Option<Run>,
}

impl Listed {
    /// True if a trial of the run ran: a run that was interrupted before its first trial, or had to
    /// skip every test, measured nothing.
    pub fn has_trials(&self) -> bool {
        has_trials(&self.path.join(FILE))
    }
}

/// A data directory, or root's own where another user could lead root anywhere from it: `sudo -E`
/// keeps that user's HOME.
#[cfg(unix)]
fn trusted_directory(data: PathBuf) -> PathBuf {
    let is_root = rustix::process::geteuid().is_root();
    if is_root && files::check_trusted(&data).is_err() {
        PathBuf::from("/var/lib/unixmark")
    } else {
        data
    }
}

#[cfg(not(unix))]
fn trusted_directory(data: PathBuf) -> PathBuf {
    data
}

impl Store {
    /// The store at `root`, or in the user's data directory.
    ///
    /// # Errors
    /// No root is given, there is no home, and no temporary directory for this user alone.
    pub fn at(root: Option<PathBuf>) -> Result<Store> {
        if let Some(root) = root {
            return Ok(Store { root });
        }

        let data = files::directory(files::Kind::Data)
            .map_err(|why| anyhow!("{why}, or try --results DIR"))?;
        Ok(Store { root: trusted_directory(data).join("results") })
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
        let failed = |what: &str| format!("the results directory {root} cannot be {what}");
        files::make_directories(&self.root).with_context(|| failed("made; try --results DIR"))?;
        let free = free_bytes(&self.root).with_context(|| failed("read"))?;
        if free.is_some_and(|bytes| bytes < MIN_FREE_BYTES) {
            bail!(
                "the results directory {root} has less than {} MiB free; make room or try --results DIR",
                MIN_FREE_BYTES >> 20
            );
        }

        let host = to_file_name(host);
        for number in 1..=MAX_RUNS_PER_DAY {
            let name = format!("{host}-{date}-{number:02}");
            let path = self.root.join(&name);
            match files::make_directory(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => {
                    made.with_context(|| failed("written; try --results DIR"))?;
                    return Ok((name, path));
                }
            }
        }

        bail!("{root} has {MAX_RUNS_PER_DAY} runs of {host} on {date}; try --results DIR")
    }

    /// Every run, the one written longest ago first.
    ///
    /// # Errors
    /// The results directory cannot be read. If there is none, the list is empty.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let why = || format!("{} cannot be read", self.root.display());
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(why)?,
        };

        let mut runs: Vec<(SystemTime, Listed)> = Vec::new();
        for entry in entries {
            let path = entry.with_context(why)?.path();
            let journal = path.join(FILE);
            let Ok(metadata) = fs::metadata(&journal) else {
                continue;
            };

            // Not when it was measured: an imported run may be of an older day.
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            runs.push((written, Listed { name, run: read_run(&journal), path }));
        }
        runs.sort_by(|(written, run), (other_written, other)| {
            (written, &run.name).cmp(&(other_written, &other.name))
        });
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }

    /// The directory of the run that a name stands for, the first of these that there is:
    ///
    /// 1. `latest` or `latest~N`, counted from the newest run that measured something;
    /// 2. the path of a run or of its journal;
    /// 3. a run's name in this store;
    /// 4. a comment, of the newest run that has it, if possible one that measured something;
    /// 5. a directory of runs, for its newest that measured something.
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
        let has_comment =
            |listed: &Listed| listed.run.as_ref().is_some_and(|run| run.comment == name);
        let commented: Vec<&Listed> =
            runs.iter().rev().filter(|listed| has_comment(listed)).collect();
        let measured = commented.iter().find(|listed| listed.has_trials());
        if let Some(run) = measured.or(commented.first()) {
            return Ok(run.path.clone());
        }

        if path.is_file() {
            let word = words::shell(&[name.to_owned()]);
            bail!(
                "'{name}' is a file and no run; `unixmark import {word} -m NAME` makes a run of it"
            );
        }
        if path.is_dir() {
            // Another machine's results, as they were copied.
            let runs = Store::at(Some(path.to_path_buf()))?.list()?;
            if let Some(newest) = runs.iter().rev().find(|listed| listed.has_trials()) {
                return Ok(newest.path.clone());
            }
            let word = words::shell(&[name.to_owned()]);
            bail!("'{name}' is a directory without a run; try a run in it, or --results {word}");
        }
        match nearest(name, runs.iter().map(|run| run.name.as_str())) {
            Some(near) => bail!("there is no run '{name}'; did you mean '{near}'?"),
            None => bail!("there is no run '{name}'; `unixmark list runs` shows them"),
        }
    }

    /// The error if no run is as far back as `name`.
    fn too_far_back(&self, name: &str, runs: &[Listed]) -> anyhow::Error {
        let root = self.root.display();
        let measured = runs.iter().filter(|listed| listed.has_trials()).count();
        match (runs.last(), measured) {
            (None, _) => {
                anyhow!("there are no runs in {root}; `unixmark run --budget 2m` makes one")
            }
            (Some(Listed { name, .. }), 0) => {
                anyhow!(
                    "no run in {root} measured anything; `unixmark report {name}` says why the newest did not"
                )
            }
            _ => {
                anyhow!(
                    "'{name}' goes back further than the {} with a trial in {root}",
                    words::count(measured, "run")
                )
            }
        }
    }
}

/// The number of runs after the one that a name stands for: 3 for `latest~3`.
fn back_from_latest(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("latest")?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

/// How a run ended, by the last line of its journal; `None` if that does not say it.
pub fn read_end(journal: &Path) -> Option<Ended> {
    /// Enough for the last line, which is short.
    const TAIL_BYTES: u64 = 4096;

    let mut file = open_regular(journal).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;

    let line = tail.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?;
    match Line::read(line).ok()? {
        Line::Known(Record::End(end)) => Some(end.reason),
        _ => None,
    }
}

/// The run that a journal begins with; `None` if there is none that this version can read.
pub fn read_run(journal: &Path) -> Option<Run> {
    match head(journal).ok()? {
        Head::Run(run, _) => run.map(|run| *run),
        Head::Other(_) => None,
    }
}

/// A host's name with everything replaced that is awkward in the name of a file.
fn to_file_name(host: &str) -> String {
    let name: String = host
        .chars()
        .take(MAX_HOST_CHARACTERS)
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
        .collect();

    // A leading '.' hides a file, and '-' makes it look like an option.
    let is_awkward = name.starts_with(['.', '-']);
    let has_alphanumerics = !name.trim_matches(['.', '_', '-']).is_empty();
    if is_awkward || !has_alphanumerics { format!("host{name}") } else { name }
}

/// Today's date where the machine is, as run directories have it in their names.
pub fn today() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d").to_string()
}

/// The bytes that are free where `path` is; `None` on systems that are not asked.
#[cfg(unix)]
fn free_bytes(path: &Path) -> std::io::Result<Option<u64>> {
    let space = rustix::fs::statvfs(path)?;
    Ok(Some(space.f_bavail.saturating_mul(space.f_frsize)))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> std::io::Result<Option<u64>> {
    Ok(None)
}
