//! `deploy/ci` and whatever else runs others' code with somebody's rights: actions are those that
//! were looked at, tokens are small.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use testing::{stderr, stdout};

/// Every YAML file of the repository, by its name there.
fn files() -> BTreeMap<String, String> {
    let list = Command::new("git")
        .args(["ls-files", "-z", "*.yml", "*.yaml"])
        .current_dir(testing::file(""))
        .output();
    let names = stdout(&list.unwrap());
    let names = names.split('\0').filter(|name| !name.is_empty());
    names
        .map(|name| (name.to_owned(), std::fs::read_to_string(testing::file(name)).unwrap()))
        .collect()
}

/// The documents of a file, as those who run it read them.
fn read(python: &std::path::Path, name: &str) -> Vec<Value> {
    let read = "import sys, json, yaml\n\
                yaml.SafeLoader.add_constructor('!reference', lambda loader, node: None)\n\
                json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";
    let mut command = Command::new(python.join("bin/python"));
    let output = command.args(["-c", read]).arg(testing::file(name)).output().unwrap();
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A tag can be moved to other code, a commit cannot; the comment says which version it is.
#[test]
fn actions_are_pinned_by_commit() {
    let mut pins: BTreeMap<String, String> = BTreeMap::new();
    let documents = ["deploy/ci/README.md", "docs/guide/ci.md"]
        .map(|name| (name.to_owned(), std::fs::read_to_string(testing::file(name)).unwrap()));
    for (name, text) in files().into_iter().chain(documents) {
        for line in text
            .lines()
            .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "))
        {
            let (action, pin) = line.split_once('@').unwrap();
            // An example of the reader's own copy.
            if action.starts_with("OWNER/") && pin == "COMMIT" {
                continue;
            }
            let (commit, version) =
                pin.split_once(" # v").unwrap_or_else(|| panic!("{name}: {line}"));
            assert!(
                commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()),
                "{name}: {line}"
            );
            assert_eq!(version.split('.').count(), 3, "{name}: {line}");
            let known = pins.entry(action.to_owned()).or_insert_with(|| pin.to_owned());
            assert_eq!(known, pin, "{name}: one action, one version");
        }
    }
    assert!(pins.len() >= 6, "{pins:?}");
}

#[test]
#[ignore = "needs Python packages"]
fn workflows_may_do_little() {
    let Some(python) = testing::python_or_skip("PyYAML==6.0.3") else { return };
    let mut workflows = 0;
    for name in files().keys() {
        let documents = read(&python, name);
        for workflow in documents.iter().filter(|document| !document["jobs"].is_null()) {
            workflows += 1;
            assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}), "{name}");
            for (job, steps) in workflow["jobs"].as_object().unwrap() {
                check(&format!("{name}: {job}"), steps);
            }
        }
        for action in documents.iter().filter(|document| !document["runs"].is_null()) {
            check(name, &action["runs"]);
        }
    }
    assert_eq!(workflows, 2);
}

/// Checks the steps of a job or of an action.
fn check(name: &str, job: &Value) {
    let steps = job["steps"].as_array().unwrap();
    let text = |step: &Value, key: &str| step[key].as_str().unwrap_or_default().to_owned();
    for step in steps {
        // What is typed into a shell script by the workflow could be a script itself.
        assert!(!text(step, "run").contains("${{"), "{name}: {step}");
        if text(step, "uses").starts_with("actions/checkout@") {
            assert_eq!(
                step["with"]["persist-credentials"], false,
                "{name}: a token stays in .git/config"
            );
        }
    }
    // A secret, or a token that may write, is not where what was built or measured runs.
    let whole = job.to_string();
    let has_secret =
        whole.contains("secrets.") || whole.contains("GH_TOKEN") || job["permissions"].is_object();
    let runs = ["make ", "unixmark cost", "unixmark site", "cargo "];
    let measures = steps.iter().any(|step| runs.iter().any(|run| text(step, "run").contains(run)));
    assert!(!(has_secret && measures), "{name}");
}

/// GitLab's token is in the job that comments, and nowhere on a command line.
#[test]
#[ignore = "needs Python packages"]
fn the_gitlab_job_that_measures_has_no_token() {
    let Some(python) = testing::python_or_skip("PyYAML==6.0.3") else { return };
    let jobs = &read(&python, "deploy/ci/gitlab.yml")[0];
    assert!(!jobs[".unixmark"].to_string().contains("TOKEN"), "{}", jobs[".unixmark"]);
    let comment = &jobs[".unixmark-comment"];
    assert_eq!(comment["variables"]["GIT_STRATEGY"], "none");
    assert_eq!(comment["environment"]["name"], "unixmark-comment");
    let script = comment["script"][0].as_str().unwrap();
    assert!(script.contains("--header \"@$work/header\""), "{script}");
}
