//! Revisions of a git repository, each checked out and built below the run's scratch directory. The
//! user's repository is only read: the checkouts are worktrees of a clone that borrows its objects.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};

use crate::measuring::builds::execute_build;
use crate::measuring::options::current_dir;
use crate::measuring::seeds::check_seed_is_used;
use crate::terminal::say;
use runner::Supervisor;

/// git with what keeps it from writing to the user's repository and from executing what that names:
/// a look at the index refreshes it, asks a monitor and calls a hook.
const GIT: [&str; 6] =
    ["git", "--no-optional-locks", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null"];

/// The format in which git lists a commit: its hash, the hash shortened, its subject.
const FORMAT: &str = "--format=%H %h %s";

/// A commit.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    hash: String,
    /// The hash, shortened.
    pub(super) name: String,
    subject: String,
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.subject)
    }
}

/// How revisions are built.
#[derive(Debug, Clone, Copy)]
pub(super) struct Build<'a> {
    pub(super) command: &'a str,
    /// How often each revision is built, with another seed each time; `None` for once, without one.
    pub(super) count: Option<u32>,
    /// The executable that is measured.
    pub(super) program: &'a Path,
}

/// The revisions from a good one to a bad one, along first parents.
pub(super) struct Revisions<'a, 'm> {
    supervisor: &'a mut Supervisor<'m>,
    /// The directory of this process, in the user's repository.
    here: PathBuf,
    build: Option<Build<'a>>,
    /// The commits that make the revisions, from the oldest; the first is the good end.
    pub(super) commits: Vec<Commit>,
    /// The build directories of each commit, or the reason that it has none.
    folders: BTreeMap<usize, Result<Vec<PathBuf>, String>>,
}

impl<'a, 'm> Revisions<'a, 'm> {
    /// The revisions from `good` to `bad`, both included, of the repository that this directory is
    /// in.
    ///
    /// # Errors
    /// There is no repository, a revision is unknown, or the good one is no ancestor of the bad.
    pub(super) fn find(
        supervisor: &'a mut Supervisor<'m>,
        (good, bad): (&str, &str),
        build: Option<Build<'a>>,
    ) -> Result<Revisions<'a, 'm>> {
        let here = current_dir()?;
        let mut revisions =
            Revisions { supervisor, here, build, commits: Vec::new(), folders: BTreeMap::new() };
        revisions.git(&["rev-parse", "--git-dir"]).map_err(explain_no_repository)?;

        let (first, last) = (revisions.find_commit(good)?, revisions.find_commit(bad)?);
        ensure!(
            first.hash != last.hash,
            "--good and --bad are the same commit, {first}; name an older --good"
        );
        if !revisions.is_ancestor(&first, &last) {
            if revisions.is_ancestor(&last, &first) {
                bail!("--good {first} is newer than --bad {last}; swap them");
            }
            bail!(
                "--good {first} is no ancestor of --bad {last}; try the commit where they part: `git merge-base {good} {bad}`"
            );
        }

        if revisions
            .git(&["status", "--porcelain", "-uno", "--ignore-submodules=dirty"])
            .is_ok_and(|changes| !changes.is_empty())
        {
            say(
                "warning: uncommitted changes are not measured; commit them and name that commit as --bad",
            );
        }

        let later = revisions.list_commits(&first, &last)?;
        revisions.commits = [vec![first], later].concat();
        Ok(revisions)
    }

    /// The commits after `first` until `last`, along first parents, from the oldest.
    fn list_commits(&mut self, first: &Commit, last: &Commit) -> Result<Vec<Commit>> {
        let list = self.supervisor.scratch().join("commits");
        let range = format!("{}..{}", first.hash, last.hash);
        let output = format!("--output={}", list.display());
        self.git(&[
            "-c",
            "log.showSignature=false",
            "log",
            "--first-parent",
            "--reverse",
            FORMAT,
            &output,
            &range,
        ])?;
        let text = fs::read(&list).with_context(|| format!("{} cannot be read", list.display()))?;
        Ok(String::from_utf8_lossy(&text).lines().filter_map(parse_commit).collect())
    }

    /// The signal that asked the search to stop, if one did.
    pub(super) fn signal(&self) -> Option<i32> {
        self.supervisor.signal()
    }

    /// The directories in which the command works in the checkouts of a revision, one for each
    /// build. They are built the first time.
    ///
    /// # Errors
    /// A sentence: the revision cannot be checked out or built, or a signal came.
    pub(super) fn folders(&mut self, revision: usize) -> Result<Vec<PathBuf>, String> {
        if !self.folders.contains_key(&revision) {
            let folders = self.build_all(revision).map_err(|error| format!("{error:#}"));
            self.folders.insert(revision, folders);
        }
        self.folders[&revision].clone()
    }

    /// Checks a revision out and builds it, once for each seed.
    fn build_all(&mut self, revision: usize) -> Result<Vec<PathBuf>> {
        let Some(Build { count: Some(count), program, .. }) = self.build else {
            return Ok(vec![self.build_one(revision, None)?]);
        };
        // No two builds of the search have the same seed.
        let first_seed = u32::try_from(revision)?.wrapping_mul(count) + 1;
        let mut folders = Vec::new();
        for seed in first_seed..first_seed + count {
            folders.push(self.build_one(revision, Some(seed))?);
        }
        let warning = check_seed_is_used(&folders, program, &self.commits[revision].name)?;
        warning.iter().for_each(|warning| say(warning));
        Ok(folders)
    }

    /// Checks a revision out and builds it; returns the directory in which the command works.
    fn build_one(&mut self, revision: usize, seed: Option<u32>) -> Result<PathBuf> {
        let checkout = self.check_out(revision, seed)?;
        let prefix = self.git(&["rev-parse", "--show-prefix"])?;
        let folder = directory_in(&checkout, prefix.trim_end_matches('\n'))?;
        match (self.build, seed) {
            (Some(build), Some(seed)) => {
                execute_build(self.supervisor, build.command, &folder, seed)
                    .map_err(|why| anyhow!(why))?;
            }
            (Some(build), None) => drop(self.execute(&["sh", "-c", build.command], &folder)?),
            (None, _) => {}
        }
        Ok(folder)
    }

    /// Checks a revision out into a worktree of the clone, which is made the first time.
    fn check_out(&mut self, revision: usize, seed: Option<u32>) -> Result<PathBuf> {
        let clone = self.supervisor.scratch().join("repository");
        if !clone.exists() {
            let source = self.git(&["rev-parse", "--git-common-dir"])?;
            self.git(&[
                "clone",
                "--quiet",
                "--shared",
                "--no-checkout",
                "--template=",
                source.trim_end(),
                &to_text(&clone)?,
            ])?;
        }

        // Each seed is built in a checkout of its own.
        let hash = self.commits[revision].hash.clone();
        let name = seed.map_or(hash.clone(), |seed| format!("{hash}-{seed}"));
        let checkout = self.supervisor.scratch().join(name);
        self.git(&[
            "-C",
            &to_text(&clone)?,
            "worktree",
            "add",
            "--quiet",
            "--detach",
            &to_text(&checkout)?,
            &hash,
        ])?;
        Ok(checkout)
    }

    fn find_commit(&mut self, revision: &str) -> Result<Commit> {
        let named = format!("{revision}^{{commit}}");
        let hash = self.git(&["rev-parse", "--verify", "--quiet", &named]).map_err(|_| {
            anyhow!("there is no revision '{revision}' here; `git log --oneline` lists them")
        })?;
        let line =
            self.git(&["-c", "log.showSignature=false", "log", "-1", FORMAT, hash.trim_end()])?;
        parse_commit(line.trim_end())
            .context("git printed a commit in an unknown form; try another version of git")
    }

    fn is_ancestor(&mut self, older: &Commit, newer: &Commit) -> bool {
        self.git(&["merge-base", "--is-ancestor", &older.hash, &newer.hash]).is_ok()
    }

    /// Has git look at the repository of this directory, whatever calls the tool: a hook of git has
    /// variables that name another, or its objects, or settings.
    fn git(&mut self, words: &[&str]) -> Result<String> {
        let variables: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| name.starts_with("GIT_"))
            .collect();
        let mut command = vec!["env"];
        for variable in &variables {
            command.extend(["-u", variable]);
        }
        command.extend(GIT);
        command.extend(words);
        self.execute(&command, &self.here.clone())
    }

    fn execute(&mut self, words: &[&str], folder: &Path) -> Result<String> {
        self.supervisor.execute(words, folder).map_err(|failure| anyhow!("{failure}"))
    }
}

/// Says why git finds no repository: there is none, or git does not trust it.
fn explain_no_repository(error: Error) -> Error {
    const REMEDY: &str = "git config --global --add safe.directory ";
    let text = format!("{error:#}");
    match text.split_once(REMEDY) {
        Some((_, folder)) => anyhow!(
            "the repository belongs to another user, so git does not trust it; if you do, try `{REMEDY}{}`",
            folder.trim()
        ),
        None => error.context("there is no git repository to search here; change to one"),
    }
}

/// The directory of a checkout that corresponds to the current one. It must not lead elsewhere:
/// what is built and measured there would not be the revision.
fn directory_in(checkout: &Path, prefix: &str) -> Result<PathBuf> {
    let folder = checkout.join(prefix);
    ensure!(folder.is_dir(), "it does not have this directory");
    let [real, checkout] = [&folder, checkout].map(fs::canonicalize);
    ensure!(
        real?.starts_with(checkout?),
        "its {prefix} is a link that leads out of the checkout; start in another directory"
    );
    Ok(folder)
}

/// Reads a line of git's list of commits.
fn parse_commit(line: &str) -> Option<Commit> {
    let mut words = line.splitn(3, ' ').map(str::to_owned);
    Some(Commit {
        hash: words.next()?,
        name: words.next()?,
        subject: words.next().unwrap_or_default(),
    })
}

fn to_text(path: &Path) -> Result<String> {
    let text =
        path.to_str().with_context(|| format!("{} is not UTF-8; try --dir DIR", path.display()))?;
    Ok(text.to_owned())
}
