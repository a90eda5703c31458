//! `deploy/ci`: the shell steps of the GitHub action and of the GitLab template, as they stand, with `gh` and `curl` replaced.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use testing::{Place, stderr, stdout};

/// Returns the blocks of a YAML file that begin after a line such as `run: |`, without their indentation.
fn steps(file: &str, begin: &str) -> Vec<String> {
    let text = fs::read_to_string(testing::file(file)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let starts = lines.iter().enumerate().filter(|(_, line)| line.trim() == begin).map(|(place, _)| place);
    let block = |start: usize| {
        let (outer, inner) = (depth(lines[start]), depth(lines[start + 1]));
        let own = lines[start + 1..].iter().take_while(|line| line.is_empty() || depth(line) > outer);
        own.map(|line| line.get(inner..).unwrap_or_default().to_owned() + "\n").collect()
    };
    starts.map(block).collect()
}

/// A job's directory with two builds of a command: the head's takes 20 ms longer.
struct Job {
    place: Place,
    folder: PathBuf,
}

impl Job {
    fn new() -> Job {
        // One run at a time switches conditions.
        let place = Place::alone();
        let folder = place.root.path().join("a job");
        for (name, text) in [("base", "exit 0"), ("head", "exec sleep 0.02")] {
            fs::create_dir_all(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("app"), text).unwrap();
        }
        fs::create_dir(folder.join("bin")).unwrap();
        symlink(assert_cmd::cargo::cargo_bin("unixmark"), folder.join("bin/unixmark")).unwrap();
        Job { place, folder }
    }

    /// Has a program of that name write its arguments to a file, and end with `status`.
    fn fake(&self, name: &str, status: u8) {
        let path = self.folder.join("bin").join(name);
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'{name}.log'\nexit {status}\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, shell: &[&str], step: &str, variables: &[(&str, &str)]) -> Output {
        let path = format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg("-c").arg(step).current_dir(&self.folder).env("PATH", path);
        command.env("UNIXMARK_RESULTS", "history").env("UNIXMARK_SUBJECT", "4711").envs(variables.iter().copied());
        command.output().unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }
}

/// A command in two directories: the head's loss fails the job, once the table has been posted.
#[test]
fn github() {
    let steps = steps("deploy/ci/github/action.yml", "run: |");
    let [measure, comment, end] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"];
    let files = [("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")];
    let builds = [
        ("UNIXMARK_COMMAND", ". ./app"),
        ("UNIXMARK_BASE", "base"),
        ("UNIXMARK_HEAD", "head"),
        ("UNIXMARK_TESTS", "index"),
        ("UNIXMARK_WINDOW", "300"),
        ("UNIXMARK_FAIL_ON", "10"),
        ("UNIXMARK_OPTIONS", "--quick -i 6"),
    ];
    let output = job.run(&bash, measure, &[&files[..], &builds[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(job.text("output"), "status=1\n", "{}", stderr(&output));
    let table = job.text("unixmark.md");
    assert!(table.contains("| The command | command | runs/s |") && table.contains("slower"), "{table}");
    assert!(table.contains("4711") && !table.contains("## System"), "{table}");
    assert_eq!(job.text("summary"), table);
    // The first comment on a pull request cannot be edited.
    job.fake("gh", 1);
    let posted = job.run(&bash, comment, &[("PULL_REQUEST", "https://example.org/1")]);
    assert!(posted.status.success() && stdout(&posted).contains("::warning::"), "{}", stdout(&posted));
    let calls = job.text("gh.log");
    assert_eq!((calls.matches("pr\n").count(), calls.matches("--edit-last\n").count()), (2, 1), "{calls}");
    assert_eq!(calls.matches("--body-file\nunixmark.md\n").count(), 2);
    assert_eq!(job.run(&bash, end, &[("STATUS", "1")]).status.code(), Some(1));
    // The run is kept, with what it was about.
    let list = job.place.unixmark("list runs --results").arg(job.folder.join("history")).output().unwrap();
    assert!(stdout(&list).contains("4711"), "{}", stdout(&list));
}

/// Two settings, neither losing much, and a head that cannot be measured.
#[test]
fn gitlab() {
    let steps = steps("deploy/ci/gitlab.yml", "- |");
    let [step] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    job.fake("curl", 0);
    let settings = |head| {
        [
            ("UNIXMARK_COMMAND", ""),
            ("UNIXMARK_BASE", "nice=5"),
            ("UNIXMARK_HEAD", head),
            ("UNIXMARK_TESTS", "syscall pipe"),
            ("UNIXMARK_FAIL_ON", "95"),
            ("UNIXMARK_OPTIONS", "--quick -i 6"),
            ("UNIXMARK_TOKEN", "secret"),
            ("CI_MERGE_REQUEST_IID", "5"),
            ("CI_PROJECT_ID", "9"),
            ("CI_API_V4_URL", "https://example.org/api/v4"),
        ]
    };
    let output = job.run(&["sh"], step, &settings("nice=10"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = job.text("unixmark.md");
    assert!(stdout(&output).contains(&table) && table.contains("| syscall | lps |"), "{table}");
    let call = job.text("curl.log");
    assert!(call.contains("body@unixmark.md\nhttps://example.org/api/v4/projects/9/merge_requests/5/notes"), "{call}");
    job.fake("curl", 22);
    let refused = job.run(&["sh"], step, &settings("nothing=1"));
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stdout(&refused).contains("could not measure") && stdout(&refused).contains("could not be posted"));
}
