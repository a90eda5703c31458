//! `unixmark bisect`, and `ab --bisect`, on repositories that are made here.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use testing::{Place, stderr, stdout};

/// Waits in place of working, so that what is planted is the same on a busy machine.
const FAST: &str = "exec sleep 0.02";
const SLOW: &str = "exec sleep 0.04";

/// A repository whose commits set what `run` does.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    /// Makes one of `count` commits after the first, the `culprit` of which makes it slow.
    fn new(count: usize, culprit: usize) -> Repository {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.git("init --quiet --initial-branch main");
        for commit in 0..=count {
            repository.commit(commit, if commit < culprit { FAST } else { SLOW });
        }
        repository
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, words: &str) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let output =
            Command::new("git").args(identity).args(words.split(' ')).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "git {words}: {}", stderr(&output));
        stdout(&output)
    }

    fn commit(&self, number: usize, run: &str) {
        std::fs::write(self.path().join("number"), number.to_string()).unwrap();
        std::fs::write(self.path().join("run"), run).unwrap();
        self.git("add .");
        self.git(&format!("commit --quiet --message commit-{number}"));
    }

    /// Searches from the first commit to the last.
    fn bisect(&self, place: &Place, words: &[&str]) -> Output {
        let count = self.git("rev-list --count HEAD").trim().parse::<usize>().unwrap() - 1;
        let mut tool = place.unixmark("bisect --bad HEAD --budget 20s --good");
        tool.arg(format!("HEAD~{count}")).args(words).args(["--", "sh", "run"]).current_dir(self.path());
        tool.output().unwrap()
    }

    /// Everything that git keeps of the repository itself and of its checkouts.
    fn state(&self) -> String {
        let lists = ["status --porcelain", "worktree list --porcelain", "for-each-ref"];
        lists.map(|list| self.git(list)).concat() + &format!("{}", self.path().join(".git/worktrees").exists())
    }
}

#[test]
fn the_commit_is_named_with_its_certainty_and_the_repository_left_alone() {
    let (place, repository) = (Place::new(), Repository::new(8, 5));
    let before = repository.state();
    let output =
        repository.bisect(&place, &["--build", "test $(cat number) -ne 3 || { echo no such type >&2; exit 1; }"]);
    let (said, told) = (stdout(&output), stderr(&output));
    assert!(output.status.success(), "{said}{told}");
    assert!(said.contains("(commit-5) made it slower, by ") && said.contains(" % certain"), "{said}{told}");
    assert!(said.contains("it was the commit before, ") && said.contains("it was the commit after, "), "{said}");
    assert!(!told.contains("(commit-3)") || told.contains("(commit-3) is skipped: ") && told.contains("no such type"));
    assert_eq!(repository.state(), before);
}

#[test]
fn what_cannot_be_searched_is_said_before_anything_is_measured() {
    let (place, repository) = (Place::new(), Repository::new(2, 3));
    repository.git("checkout --quiet -b side HEAD~1");
    repository.commit(7, FAST);
    repository.git("checkout --quiet main");
    let bisect = |good: &str, bad: &str, folder: &Path| {
        let mut tool = place.unixmark("bisect --good");
        tool.args([good, "--bad", bad, "--build", "echo no compiler >&2; exit 1", "--", "sh", "run"]);
        tool.current_dir(folder).output().unwrap()
    };
    let here = repository.path();
    for (good, bad, folder, code, why) in [
        ("none", "HEAD", here, 2, "there is no revision 'none' here; `git log --oneline` lists them"),
        ("HEAD", "HEAD", here, 2, "are the same commit"),
        ("HEAD", "HEAD~1", here, 2, "swap them"),
        ("side", "HEAD", here, 2, "try the commit where they part: `git merge-base side HEAD`"),
        ("HEAD~1", "HEAD", Path::new("/"), 2, "there is no git repository to search here"),
        (
            "HEAD~1",
            "HEAD",
            here,
            3,
            "cannot be built: `sh -c echo no compiler >&2; exit 1` failed (exit status: 1): no compiler",
        ),
    ] {
        let output = bisect(good, bad, folder);
        assert_eq!(output.status.code(), Some(code), "{good} {bad}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{good} {bad}: {}", stderr(&output));
    }
    std::fs::write(here.join("number"), "changed").unwrap();
    let output = bisect("HEAD~1", "HEAD", here);
    assert!(stderr(&output).contains("uncommitted changes are not measured"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(here.join("number")).unwrap(), "changed");
}

#[test]
fn ends_that_do_not_differ_as_asked_end_the_search() {
    let place = Place::new();
    let equal = Repository::new(2, 3).bisect(&place, &["--precision", "10%"]);
    assert!(stderr(&equal).contains("takes as long as"), "{}", stderr(&equal));
    let repository = Repository::new(1, 0);
    repository.commit(2, FAST);
    let faster = repository.bisect(&place, &[]);
    assert!(stderr(&faster).contains("is not slower than"), "{}", stderr(&faster));
    assert_eq!([equal.status.code(), faster.status.code()], [Some(3); 2]);
}

/// A build that takes no notice of anything ends with the search, and so do the checkouts.
#[test]
fn nothing_is_left_of_a_search_that_is_stopped() {
    let (place, repository) = (Place::new(), Repository::new(2, 1));
    let (work, before) = (tempfile::tempdir_in("/var/tmp").unwrap(), repository.state());
    let pid = work.path().join("pid");
    let build = format!("trap '' INT TERM; echo $$ >{}; while :; do sleep 0.1; done", pid.display());
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let _ = std::fs::remove_file(&pid);
        let mut tool = Command::new(env!("CARGO_BIN_EXE_unixmark"));
        tool.env("UNIXMARK_RESULTS", place.results()).args(["bisect", "--good", "HEAD~2", "--bad", "HEAD"]);
        tool.arg("--dir").arg(work.path()).args(["--build", &build, "--", "sh", "run"]).current_dir(repository.path());
        let mut tool = tool.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let number = crate::ab::awaited(|| crate::ab::started(&pid));
        rustix::process::kill_process(rustix::process::Pid::from_child(&tool), signal).unwrap();
        let ended = tool.wait().unwrap();
        assert!(signal == rustix::process::Signal::KILL || ended.code() == Some(130), "{ended}");
        crate::ab::awaited(|| (!Path::new(&format!("/proc/{number}")).exists()).then_some(()));
        let left = || work.path().read_dir().unwrap().flatten().filter(|entry| entry.path() != pid).count();
        crate::ab::awaited(|| (left() == 0).then_some(()));
    }
    assert_eq!(repository.state(), before);
}

#[test]
fn git_is_answered_in_its_own_codes() {
    let place = Place::new();
    let ab = |other: &str, more: &[&str]| {
        let words = ["ab", "--bisect", "-q", "--fail-on", "20%", "sleep 0.02", other];
        let output = place.unixmark("").args(words).args(more).output().unwrap();
        (output.status.code().unwrap(), stderr(&output))
    };
    for (other, more, code) in [
        ("sleep 0.04", &["--budget", "20s"][..], 1),
        ("sleep 0.020", &["--budget", "20s"], 0),
        ("sleep 1.1", &["--iterations", "1"], 125),
        ("exit 3", &[], 125),
        ("sleep 0.02", &[], 255),
        ("true", &["--no-such-option"], 255),
    ] {
        let (found, said) = ab(other, more);
        assert_eq!(found, code, "{other} {more:?}: {said}");
    }
}

/// 64 commits, one of which makes a processor-bound command 5 % slower: no other is called the one, for one search in a
/// hundred may err. On a machine that much else disturbs a search may end without any; so there are up to three.
#[test]
#[ignore = "needs minutes"]
fn one_of_64_commits_that_costs_5_percent_is_found() {
    let place = Place::alone();
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/bench/ab.c");
    assert!(Command::new("cc").args(["-O2", source, "-o"]).arg(&work).status().unwrap().success());
    let found = [20, 40, 60].into_iter().any(|culprit| {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.git("init --quiet --initial-branch main");
        for commit in 0..=64 {
            let number = if commit < culprit { 1000 } else { 1050 };
            repository.commit(commit, &format!("exec {} compute {number}", work.display()));
        }
        let output = repository.bisect(&place, &[]);
        let said = stdout(&output);
        println!("{culprit}: {said}{}", stderr(&output));
        let is_right = |words: &str| said.contains(&format!("(commit-{culprit}) {words}"));
        assert!(!said.contains(") made it slower") || is_right("made it slower"), "{culprit}: {said}");
        is_right("made it slower") || is_right("most likely made it slower")
    });
    assert!(found, "none of 3 was found");
}
