//! `deploy/ci`: the shell steps of the GitHub actions, of the GitLab template and of the site's
//! workflow, as they stand, with `gh` and `curl` replaced.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use testing::{Place, stderr, stdout};

/// Returns the blocks of a YAML file that begin after a line such as `run: |`, without their
/// indentation.
fn steps(file: &str, begin: &str) -> Vec<String> {
    let text = fs::read_to_string(testing::file(file)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let starts =
        lines.iter().enumerate().filter(|(_, line)| line.trim() == begin).map(|(place, _)| place);
    let block = |start: usize| {
        let (outer, inner) = (depth(lines[start]), depth(lines[start + 1]));
        let own =
            lines[start + 1..].iter().take_while(|line| line.is_empty() || depth(line) > outer);
        own.map(|line| line.get(inner..).unwrap_or_default().to_owned() + "\n").collect()
    };
    starts.map(block).collect()
}

/// A job's directory with two builds of a command: the head's takes 20 ms longer.
struct Job {
    place: Place,
    folder: PathBuf,
    _host: File,
}

impl Job {
    fn new() -> Job {
        // One run at a time switches conditions.
        let host = testing::host();
        let place = Place::new();
        let folder = place.root.path().join("a job");
        for (name, text) in [("base", "exit 0"), ("head", "exec sleep 0.02")] {
            fs::create_dir_all(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("app"), text).unwrap();
        }
        fs::create_dir(folder.join("bin")).unwrap();
        symlink(testing::built_program("unixmark"), folder.join("bin/unixmark")).unwrap();
        Job { place, folder, _host: host }
    }

    /// Has a program of that name write its arguments to a file, and end with `status`.
    fn fake(&self, name: &str, status: u8) {
        let path = self.folder.join("bin").join(name);
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'{name}.log'\nexit {status}\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, shell: &[&str], step: &str, variables: &[(&str, &str)]) -> Output {
        let path =
            format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg("-c").arg(step).current_dir(&self.folder).env("PATH", path);
        command
            .env("UNIXMARK_RESULTS", "history")
            .env("UNIXMARK_SUBJECT", "4711")
            .envs(variables.iter().copied());
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
    let [measure, end] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"];
    let files = [("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")];
    let builds = [
        ("UNIXMARK_COMMAND", ". ./app"),
        ("UNIXMARK_HARNESS", ""),
        ("UNIXMARK_BASE", "base"),
        ("UNIXMARK_HEAD", "head"),
        ("UNIXMARK_TESTS", "index"),
        ("UNIXMARK_FAIL_ON", "10"),
        ("UNIXMARK_OPTIONS", "--quick --iterations 6"),
    ];
    let output = job.run(&bash, measure, &[&files[..], &builds[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(job.text("output"), "status=1\n", "{}", stderr(&output));
    let table = job.text("unixmark.md");
    assert!(
        table.contains("**head ") && table.contains("| time | ") && table.contains("| slower |"),
        "{table}"
    );
    assert!(table.contains("4711") && !table.contains("## System"), "{table}");
    assert_eq!(job.text("summary"), table);
    assert_eq!(job.run(&bash, end, &[("STATUS", "1")]).status.code(), Some(1));
    // The run is kept, with what it was about.
    let list =
        job.place.unixmark("list runs --results").arg(job.folder.join("history")).output().unwrap();
    assert!(stdout(&list).contains("4711"), "{}", stdout(&list));
}

/// The figures that a command prints, of which one is worse.
#[test]
fn figures_of_a_harness() {
    for (file, begin, shell) in [
        ("deploy/ci/github/action.yml", "run: |", &["bash", "-e"][..]),
        ("deploy/ci/gitlab.yml", "- |", &["sh"]),
    ] {
        let job = Job::new();
        for (name, slow) in [("base", 100), ("head", 150)] {
            let text =
                format!("sleep 0.01; echo BenchmarkA 1 100 ns/op; echo BenchmarkB 1 {slow} ns/op");
            fs::write(job.folder.join(name).join("app"), text).unwrap();
        }
        let variables = [
            ("GITHUB_OUTPUT", "output"),
            ("GITHUB_STEP_SUMMARY", "summary"),
            ("UNIXMARK_COMMAND", ". ./app"),
            ("UNIXMARK_HARNESS", "auto"),
            ("UNIXMARK_BASE", "base"),
            ("UNIXMARK_HEAD", "head"),
            ("UNIXMARK_FAIL_ON", "10"),
            ("UNIXMARK_OPTIONS", "--quick --iterations 6"),
        ];
        let output = job.run(shell, &steps(file, begin)[0], &variables);
        let table = job.text("unixmark.md");
        assert!(
            table.contains("head is worse than base in 1 of 2 figures (BenchmarkB +50.0 %)"),
            "{table}{}",
            stderr(&output)
        );
        assert!(
            output.status.code() == Some(1) || job.text("output") == "status=1\n",
            "{}",
            stderr(&output)
        );
    }
}

/// The comment is made where nothing that was measured runs, of a table that is a file.
#[test]
fn github_comments() {
    let steps = steps("deploy/ci/github/comment/action.yml", "run: |");
    let [comment] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"];
    let pull = [("PULL_REQUEST", "https://example.org/o/r/pull/7"), ("JOB", "bench")];
    fs::create_dir(job.folder.join("unixmark-measured")).unwrap();
    let table = job.folder.join("unixmark-measured/unixmark.md");
    fs::write(&table, "a table").unwrap();
    // Who may not comment only loses the comment.
    job.fake("gh", 1);
    let posted = job.run(&bash, comment, &pull);
    assert!(posted.status.success(), "{}", stderr(&posted));
    assert!(stdout(&posted).contains("::warning::"), "{}", stdout(&posted));

    // What gh is asked for, and the body that it is given, with and without a comment of this job.
    let script = "#!/bin/sh\nprintf '%s ' \"$@\" >>gh.log\nfor word; do case $word in
        body=@*) cat \"${word#body=@}\" >body ;; /*) cat \"$word\" >body ;; esac; done
        [ \"$2\" != view ] || [ ! -e answer ] || { echo \"$marker\" >marker; cat answer; }\n";
    fs::write(job.folder.join("bin/gh"), script).unwrap();
    for (answer, asked) in [
        (None, "pr comment https://example.org/o/r/pull/7 --body-file"),
        (
            Some("https://example.org/o/r/pull/7#issuecomment-12\n"),
            "api --silent --method PATCH repos/o/r/issues/comments/12 --field body=@",
        ),
    ] {
        fs::write(job.folder.join("gh.log"), "").unwrap();
        answer.iter().for_each(|answer| fs::write(job.folder.join("answer"), answer).unwrap());
        let posted = job.run(&bash, comment, &pull);
        assert!(posted.status.success(), "{}", stderr(&posted));
        assert!(job.text("gh.log").contains(asked), "{}", job.text("gh.log"));
        assert_eq!(job.text("body"), "<!-- unixmark bench -->\na table");
    }
    assert_eq!(job.text("marker"), "<!-- unixmark bench -->\n");
    let calls = job.text("gh.log");
    fs::remove_file(&table).unwrap();
    symlink("/proc/self/environ", &table).unwrap();
    assert!(!job.run(&bash, comment, &pull).status.success());
    assert_eq!(job.text("gh.log"), calls);
}

/// Two settings, neither losing much, and a head that cannot be measured.
#[test]
fn gitlab() {
    let steps = steps("deploy/ci/gitlab.yml", "- |");
    let [step, _] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let settings = |head| {
        [
            ("UNIXMARK_COMMAND", ""),
            ("UNIXMARK_BASE", "nice=5"),
            ("UNIXMARK_HEAD", head),
            ("UNIXMARK_TESTS", "syscall"),
            ("UNIXMARK_FAIL_ON", "95"),
            ("UNIXMARK_OPTIONS", "--quick --iterations 6"),
        ]
    };
    let output = job.run(&["sh"], step, &settings("nice=10"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = job.text("unixmark.md");
    assert!(
        stdout(&output).contains(&table) && table.contains("| System Call Overhead | "),
        "{table}"
    );
    let refused = job.run(&["sh"], step, &settings("nothing=1"));
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stdout(&refused).contains("could not measure"), "{}", stdout(&refused));
}

/// The token is in no command line, and the table is text: it merges nothing, and is no link to
/// what this job alone may read.
#[test]
fn gitlab_comments() {
    let steps = steps("deploy/ci/gitlab.yml", "- |");
    let [_, comment] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let program = job.folder.join("bin/curl");
    let keep = "#!/bin/sh\nprintf '%s\\n' \"$@\" >>curl.log\nfor word; do case $word in @*) cat \"${word#@}\" >header ;; body@*) cat \"${word#body@}\" >body ;; esac; done\n";
    fs::write(&program, keep).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(job.folder.join("unixmark.md"), "| a/b |\n/merge\n  /approve\n").unwrap();
    let variables = [
        ("UNIXMARK_TOKEN", "secret"),
        ("CI_MERGE_REQUEST_IID", "5"),
        ("CI_PROJECT_ID", "9"),
        ("CI_API_V4_URL", "https://example.org/api/v4"),
    ];
    let output = job.run(&["sh"], comment, &variables);
    assert!(output.status.success(), "{}", stderr(&output));
    let call = job.text("curl.log");
    assert!(
        call.ends_with("\nhttps://example.org/api/v4/projects/9/merge_requests/5/notes\n"),
        "{call}"
    );
    assert!(!call.contains("secret") && job.text("header") == "PRIVATE-TOKEN: secret\n", "{call}");
    assert_eq!(job.text("body"), "| a/b |\n&#47;merge\n  &#47;approve\n");
    fs::remove_file(job.folder.join("unixmark.md")).unwrap();
    symlink("/proc/self/environ", job.folder.join("unixmark.md")).unwrap();
    assert!(!job.run(&["sh"], comment, &variables).status.success());
    assert_eq!(job.text("curl.log"), call);
}

/// A journal that was renamed and changed is checked as any other, whichever way it came.
#[test]
fn a_site_checks_all_runs() {
    let steps = steps("deploy/ci/site.yml", "run: |");
    let [_, check] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"];
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(words)
            .current_dir(&job.folder);
        assert!(git.output().unwrap().status.success(), "{words:?}");
    };
    fs::create_dir(job.folder.join("runs")).unwrap();
    let good = fs::read_to_string(testing::recorded("years").join("run.jsonl")).unwrap();
    fs::write(job.folder.join("runs/a.jsonl"), &good).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "runs"]);
    git(&["commit", "-qm", "a"]);
    let checked = || job.run(&bash, check, &[("GITHUB_BASE_REF", "main")]);
    let output = checked();
    assert!(
        output.status.success() && stdout(&output).contains("runs/a.jsonl: fine"),
        "{}",
        stderr(&output)
    );
    // A link leads to what is not checked.
    symlink("..", job.folder.join("runs/nodes")).unwrap();
    let output = checked();
    assert!(
        !output.status.success() && stderr(&output).contains("runs/nodes"),
        "{}",
        stderr(&output)
    );
    fs::remove_file(job.folder.join("runs/nodes")).unwrap();
    git(&["mv", "runs/a.jsonl", "runs/b.jsonl"]);
    let changed = good.replacen("\"scale\":1.0", "\"scale\":2.0", 1);
    assert_ne!(changed, good);
    fs::write(job.folder.join("runs/b.jsonl"), changed).unwrap();
    git(&["commit", "-qam", "b"]);
    let output = checked();
    assert!(
        !output.status.success() && stderr(&output).contains("is not scored as in the catalogue"),
        "{}",
        stderr(&output)
    );
}

/// The tool that checks is itself checked: its signature, then its sum.
#[test]
fn a_site_is_built_by_a_release_that_was_signed() {
    if !testing::has("ssh-keygen") {
        return;
    }
    let steps = steps("deploy/ci/site.yml", "run: |");
    let [fetch, _] = &steps[..] else { panic!("{steps:?}") };
    let job = Job::new();
    let shell = |script: &str| {
        let status = Command::new("sh")
            .args(["-ec", script])
            .current_dir(&job.folder)
            .output()
            .unwrap()
            .status;
        assert!(status.success(), "{script}");
    };
    // Serves the files of a release from a directory.
    let program = job.folder.join("bin/curl");
    let serve = "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" != --output ] || into=$2; shift; done\ncp \"$RELEASE/${1##*/}\" \"$into\"\n";
    fs::write(&program, serve).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    shell(
        "mkdir -p release tree/u/bin temp && echo tool >tree/u/bin/unixmark && tar -C tree -czf release/u.tar.gz u \
         && (cd release && sha256sum u.tar.gz >SHA256SUMS) \
         && ssh-keygen -q -t ed25519 -N '' -f own && ssh-keygen -q -t ed25519 -N '' -f other \
         && ssh-keygen -q -Y sign -n file -f own release/SHA256SUMS",
    );
    let fetched = |signer: &str| {
        let _ = fs::remove_dir_all(job.folder.join("temp"));
        fs::create_dir(job.folder.join("temp")).unwrap();
        let line = format!("release@unixmark {}", job.text(&format!("{signer}.pub")));
        let [temp, release, path] =
            ["temp", "release", "path"].map(|name| job.folder.join(name).display().to_string());
        let variables = [
            ("RUNNER_TEMP", temp.as_str()),
            ("RELEASE", &release),
            ("GITHUB_PATH", &path),
            ("FROM", "https://example.org"),
            ("TARBALL", "u.tar.gz"),
            ("SIGNERS", &line),
        ];
        let output =
            job.run(&["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"], fetch, &variables);
        (output.status.success(), job.folder.join("temp/unixmark/bin/unixmark").exists())
    };
    assert_eq!(fetched("own"), (true, true));
    assert_eq!(fetched("other"), (false, false), "somebody else's signature");
    shell("echo more >>release/u.tar.gz");
    assert_eq!(fetched("own"), (false, false), "another tarball");
    shell("(cd release && sha256sum u.tar.gz >SHA256SUMS)");
    assert_eq!(fetched("own"), (false, false), "other sums");
}
