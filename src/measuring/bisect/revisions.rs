//! Revisions of a git repository, each checked out and built below the run's scratch directory. The user's repository
//! is only read: the checkouts are worktrees of a clone that borrows its objects.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::measuring::options::current_dir;
use crate::terminal::say;
use processes::Failure;
use runner::Supervisor;

/// git, about the repository of the directory it works in whoever calls the tool (a hook of git, say).
const GIT: [&str; 8] = ["env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "git"];

/// The format in which git lists a commit: its hash, that shortened, its subject.
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

/// The revisions from a good one to a bad one, along first parents.
pub(super) struct Revisions<'a, 'm> {
    supervisor: &'a mut Supervisor<'m>,
    here: PathBuf,
    build: Option<&'a str>,
    /// The commits that make them, from the oldest; the first is the good end.
    pub(super) commits: Vec<Commit>,
    /// The build directory of each commit, or the reason that it has none.
    folders: BTreeMap<usize, Result<PathBuf, String>>,
}

impl<'a, 'm> Revisions<'a, 'm> {
    /// Returns the revisions between two of the repository that this directory is in.
    ///
    /// # Errors
    /// There is no repository, one of them is unknown, or the first is no ancestor of the second.
    pub(super) fn find(
        supervisor: &'a mut Supervisor<'m>,
        (good, bad): (&str, &str),
        build: Option<&'a str>,
    ) -> Result<Revisions<'a, 'm>> {
        let here = current_dir()?;
        let mut revisions = Revisions { supervisor, here, build, commits: Vec::new(), folders: BTreeMap::new() };
        revisions
            .git(&["rev-parse", "--git-dir"])
            .context("there is no git repository to search here; change to one")?;
        let (first, last) = (revisions.commit(good)?, revisions.commit(bad)?);
        ensure!(first.hash != last.hash, "--good and --bad are the same commit, {first}; name an older --good");
        if !revisions.is_ancestor(&first, &last) {
            if revisions.is_ancestor(&last, &first) {
                bail!("--good {first} is newer than --bad {last}; swap them");
            }
            bail!(
                "--good {first} is no ancestor of --bad {last}; try the commit where they part: `git merge-base {good} {bad}`"
            );
        }
        if revisions.git(&["status", "--porcelain", "-uno"]).is_ok_and(|changes| !changes.is_empty()) {
            say("warning: uncommitted changes are not measured; commit them and name that commit as --bad");
        }
        let list = revisions.supervisor.scratch().join("commits");
        let range = format!("{}..{}", first.hash, last.hash);
        let output = format!("--output={}", list.display());
        revisions
            .git(&["-c", "log.showSignature=false", "log", "--first-parent", "--reverse", FORMAT, &output, &range])?;
        let list = fs::read(&list).with_context(|| format!("{} cannot be read", list.display()))?;
        revisions.commits = vec![first];
        revisions.commits.extend(String::from_utf8_lossy(&list).lines().filter_map(parse));
        Ok(revisions)
    }

    /// Returns the signal that asked the search to stop, if one did.
    pub(super) fn signal(&self) -> Option<i32> {
        self.supervisor.signal()
    }

    /// Returns where the command works in the checkout of a revision, which is built the first time.
    ///
    /// # Errors
    /// A sentence: it cannot be checked out or built, or a signal came.
    pub(super) fn folder(&mut self, revision: usize) -> Result<PathBuf, String> {
        if !self.folders.contains_key(&revision) {
            let folder = self.make(revision).map_err(|error| format!("{error:#}"));
            self.folders.insert(revision, folder);
        }
        self.folders[&revision].clone()
    }

    fn make(&mut self, revision: usize) -> Result<PathBuf> {
        let clone = self.supervisor.scratch().join("repository");
        if !clone.exists() {
            let source = self.git(&["rev-parse", "--git-common-dir"])?;
            self.git(&["clone", "--quiet", "--shared", "--no-checkout", source.trim_end(), &path(&clone)?])?;
        }
        let hash = self.commits[revision].hash.clone();
        let folder = self.supervisor.scratch().join(&hash);
        self.git(&["-C", &path(&clone)?, "worktree", "add", "--quiet", "--detach", &path(&folder)?, &hash])?;
        let folder = folder.join(self.git(&["rev-parse", "--show-prefix"])?.trim_end());
        ensure!(folder.is_dir(), "it does not have this directory");
        if let Some(build) = self.build {
            self.execute(&["sh", "-c", build], &folder)?;
        }
        Ok(folder)
    }

    fn commit(&mut self, revision: &str) -> Result<Commit> {
        let named = format!("{revision}^{{commit}}");
        let hash = self.git(&["rev-parse", "--verify", "--quiet", &named]);
        let hash =
            hash.map_err(|_| anyhow!("there is no revision '{revision}' here; `git log --oneline` lists them"))?;
        let line = self.git(&["-c", "log.showSignature=false", "log", "-1", FORMAT, hash.trim_end()])?;
        parse(line.trim_end()).context("git printed a commit in an unknown form; try another version of git")
    }

    fn is_ancestor(&mut self, one: &Commit, other: &Commit) -> bool {
        self.git(&["merge-base", "--is-ancestor", &one.hash, &other.hash]).is_ok()
    }

    fn git(&mut self, words: &[&str]) -> Result<String> {
        self.execute(&[&GIT[..], words].concat(), &self.here.clone())
    }

    fn execute(&mut self, words: &[&str], folder: &Path) -> Result<String> {
        self.supervisor.execute(words, folder).map_err(|failure| match failure {
            Failure::Stopped => anyhow!("it was interrupted"),
            Failure::Failed(why) => anyhow!(why),
        })
    }
}

/// Reads a line of a list of commits.
fn parse(line: &str) -> Option<Commit> {
    let mut words = line.splitn(3, ' ').map(str::to_owned);
    Some(Commit { hash: words.next()?, name: words.next()?, subject: words.next().unwrap_or_default() })
}

fn path(path: &Path) -> Result<String> {
    let known = path.to_str().with_context(|| format!("{} is not UTF-8; try --dir DIR", path.display()))?;
    Ok(known.to_owned())
}
