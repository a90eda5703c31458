//! Fleet runs: what nodes hand over, however it gets here, makes one fleet run.

use std::path::{Path, PathBuf};

use serde_json::Value;
use testing::{Place, contents, stderr, stdout};

/// A journal as a node emits it: measured by a fake program in the quick procedure, which needs a
/// place alone.
fn emitted(place: &Place, node: &str, attempt: u32) -> String {
    emitted_by(place, "honest", node, attempt)
}

fn emitted_by(place: &Place, program: &str, node: &str, attempt: u32) -> String {
    let mut command = place.unixmark(&format!(
        "run --procedure quick --dir {} --program {} -c 1 -i 2 --fleet night --node {node} --emit",
        place.scratch().display(),
        testing::fake(program).display()
    ));
    command.env("UNIXMARK_ATTEMPT", attempt.to_string());
    let began = std::time::Instant::now();
    let mut output = command.output().unwrap();
    // The guardian of a tool that another test killed cleans up for a moment yet.
    while stderr(&output).contains("another unixmark is measuring")
        && began.elapsed().as_secs() < 20
    {
        output = command.output().unwrap();
    }
    assert!(output.status.success() == (program == "honest"), "{}", stderr(&output));
    stdout(&output)
}

fn write(place: &Place, name: &str, text: &str) -> PathBuf {
    let path = place.root.path().join("sources").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn collect(place: &Place, words: &str) -> (i32, String, String) {
    let root = place.root.path().display();
    let output = place
        .unixmark(&format!("collect {root}/sources --into {root}/fleet {words}"))
        .output()
        .unwrap();
    (output.status.code().unwrap(), stdout(&output), stderr(&output))
}

fn status(place: &Place) -> Value {
    let output = place
        .unixmark(&format!("fleet status {}/fleet --format json", place.root.path().display()))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A journal is often nowhere else: its node is gone.
#[test]
fn a_journal_is_on_the_disk_before_it_is_collected() {
    if !testing::has("strace") {
        return;
    }
    let place = Place::alone();
    write(&place, "a1/stdout", &emitted(&place, "a1", 0));
    let (root, trace) = (place.root.path(), place.root.path().join("trace"));
    let mut tool = std::process::Command::new("strace");
    tool.args(["-f", "-y", "-e", "trace=fsync,/^rename", "-o"]).arg(&trace);
    tool.arg(testing::built_program("unixmark")).arg("collect").arg(root.join("sources"));
    assert!(tool.arg("--into").arg(root.join("fleet")).output().unwrap().status.success());
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(testing::synced_first(&trace, ".jsonl"), "{trace}");
    let (_, after) = trace.split_once(".jsonl\") = 0").unwrap();
    assert!(after.contains("/nodes>) = 0"), "the name is on the disk too: {trace}");
}

#[test]
fn three_nodes_make_one_fleet_run() {
    let place = Place::alone();
    for node in ["a1", "a2", "a3"] {
        // As pdsh, clush and parallel name them.
        let name = if node == "a1" { "out.jsonl" } else { "stdout" };
        write(&place, &format!("{node}/{name}"), &emitted(&place, node, 0));
        write(&place, &format!("{node}/stderr"), "expected duration: 1 s at most\n");
    }
    let (code, text, _) = collect(&place, "--expect a1,a2,a3");
    assert_eq!(code, 0, "{text}");
    assert!(text.starts_with("fleet run night: 3 whole\n"), "{text}");
    let first = contents(&place.root.path().join("fleet"));
    // Again, and from what was collected: the same bytes.
    let (code, _, said) = collect(&place, "--expect a1,a2,a3");
    assert!(code == 0 && said.contains("0 journals taken in, 3 already there"), "{said}");
    assert_eq!(contents(&place.root.path().join("fleet")), first);
}

/// Eight collectors at once, some of them killed, leave what one leaves.
#[test]
fn collectors_do_not_disturb_each_other() {
    let place = Place::alone();
    let first = emitted(&place, "n0", 0);
    for number in 0..40 {
        let text = first.replace("\"node\":\"n0\"", &format!("\"node\":\"n{number}\""));
        // The same attempt as it was half way, which some collectors meet first.
        write(
            &place,
            &format!("a/{number}.jsonl"),
            &text[..text.rfind("{\"type\":\"end\"").unwrap()],
        );
        write(&place, &format!("b/{number}.jsonl"), &text);
    }
    let root = place.root.path();
    let collector = |into: &str, order: [&str; 2], node: usize| {
        let mut command = std::process::Command::new(testing::built_program("unixmark"));
        command.arg("collect").args(order.map(|folder| root.join("sources").join(folder)));
        command.arg("--into").arg(root.join(into)).arg("--expect").arg(format!("n{node}"));
        command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    for node in 0..8 {
        collector("one", ["a", "b"], node).wait().unwrap();
    }
    let mut collectors: Vec<_> = (0..8)
        .map(|node| {
            (node, collector("many", if node % 2 == 0 { ["a", "b"] } else { ["b", "a"] }, node))
        })
        .collect();
    for (node, collector) in collectors.iter_mut().filter(|(node, _)| node % 3 == 0) {
        std::thread::sleep(std::time::Duration::from_millis(10 * *node as u64));
        collector.kill().unwrap();
    }
    for (_, collector) in &mut collectors {
        collector.wait().unwrap();
    }
    // Those that were killed begin anew.
    for node in (0..8).step_by(3) {
        collector("many", ["b", "a"], node).wait().unwrap();
    }
    let (one, many) = (contents(&root.join("one")), contents(&root.join("many")));
    assert_eq!(one.len(), 82, "forty journals with what they came to, the manifest and the lock");
    let names = |of: &[(PathBuf, Vec<u8>)], folder: &str| -> Vec<(PathBuf, Vec<u8>)> {
        let inside = |path: &Path| path.strip_prefix(root.join(folder)).unwrap().to_path_buf();
        of.iter().map(|(path, bytes)| (inside(path), bytes.clone())).collect()
    };
    assert_eq!(names(&many, "many"), names(&one, "one"));
}

#[test]
fn what_is_missing_partial_or_delivered_twice_is_told() {
    let place = Place::alone();
    let whole = emitted(&place, "a1", 0);
    write(&place, "a1.jsonl", &whole);
    write(&place, "requeued/a1.jsonl", &emitted(&place, "a1", 1));
    let cut = emitted(&place, "a2", 0);
    write(&place, "a2.jsonl", &cut[..cut.len() - 20]);
    let (code, text, _) = collect(&place, "--expect a1,a2,a3");
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("fleet run night: 1 whole, 1 partial, 1 missing\n"), "{text}");
    let entries = status(&place)["entries"].clone();
    let entry = |node: &str| {
        entries.as_array().unwrap().iter().find(|entry| entry["node"] == node).unwrap().clone()
    };
    assert_eq!((&entry("a1")["state"], &entry("a1")["attempt"]), (&"whole".into(), &0.into()));
    assert!(
        entry("a1")["notes"].to_string().contains("2 attempts were delivered; attempt 0 counts")
    );
    assert!(entry("a2")["reason"].to_string().contains("cut short after"), "{entries:#}");
    assert!(entry("a3")["reason"].to_string().contains("no journal"), "{entries:#}");
    // The longer journal of the same attempt takes the place of the shorter.
    write(&place, "a2.jsonl", &cut);
    write(&place, "a4.jsonl", &emitted_by(&place, "crash", "a4", 0));
    let (code, text, _) = collect(&place, "");
    assert!(
        code == 1 && text.starts_with("fleet run night: 2 whole, 1 partial, 1 missing\n"),
        "{text}"
    );
    assert!(text.contains("nothing of it could be measured: "), "{text}");
}

#[test]
fn what_is_no_part_of_it_is_refused_with_the_reason() {
    let place = Place::alone();
    let good = emitted(&place, "a1", 0);
    write(&place, "good.jsonl", &good);
    write(&place, "newer.jsonl", &good.replace("unixmark-run/1", "unixmark-run/9"));
    write(&place, "foreign.jsonl", "{\"type\":\"benchmark\"}\n");
    write(&place, "other.jsonl", &good.replace("\"run\":\"night\"", "\"run\":\"day\""));
    write(&place, "alone.jsonl", &good.replace("\"fleet\":", "\"flotilla\":"));
    write(&place, "empty.jsonl", "");
    let (code, text, said) = collect(&place, "--run night");
    assert!(code == 0 && text.starts_with("fleet run night: 1 whole\n"), "{text}");
    for reason in [
        "unixmark-run/9",
        "not a unixmark run",
        "it belongs to the fleet run 'day'",
        "made without --fleet",
        "holds no run",
    ] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
}

/// A journal behind a login banner counts and is marked; a node whose file says something else has
/// that beside its name.
#[test]
fn banners_are_passed_over_and_other_texts_quoted() {
    let place = Place::alone();
    write(&place, "n13", &format!("Welcome!\n\n{}", emitted(&place, "n13", 0)));
    let spaced =
        emitted(&place, "n15", 0).replacen("{\"type\":\"run\",", "{ \"type\" : \"run\", ", 1);
    write(&place, "n15", &spaced);
    write(&place, "n14", "ssh: connect to host n14 port 22: No route to host\n");
    write(&place, "n16.jsonl", "Permission denied (publickey).\n");
    let (code, text, said) = collect(&place, "--expect n13,n14,n15,n16,n17");
    assert!(code == 1 && text.starts_with("fleet run night: 2 whole, 3 missing\n"), "{text}{said}");
    let line = |node: &str| text.lines().find(|line| line.starts_with(node)).unwrap().to_owned();
    assert!(line("n13").contains("whole    2 lines before its journal skipped"), "{text}");
    assert!(
        line("n14").contains("it begins with 'ssh: connect to host n14 port 22: No route to host'"),
        "{text}"
    );
    assert!(line("n16").contains("line 1: this is not a unixmark run"), "{text}");
    assert!(line("n17").contains("no journal of it was found"), "{text}");
    assert!(said.contains("no journals: ") && said.contains("not taken in: "), "{said}");
}

/// What is collected to be posted names no host, the same way each time.
#[test]
fn a_redacted_fleet_names_nobody() {
    let place = Place::alone();
    for node in ["secret1", "secret2"] {
        write(&place, &format!("{node}/out"), &emitted(&place, node, 0));
    }
    let (code, text, said) = collect(&place, "--redact --expect secret1,secret2,secret3");
    assert!(code == 1 && text.starts_with("fleet run night: 2 whole, 1 missing\n"), "{text}{said}");
    let files = contents(&place.root.path().join("fleet"));
    let scratch = place.scratch().display().to_string();
    for (path, bytes) in &files {
        let all =
            format!("{}{}", path.file_name().unwrap().display(), String::from_utf8_lossy(bytes));
        assert!(!all.contains("secret") && !all.contains(&scratch), "{all:.500}");
    }
    collect(&place, "--redact --expect secret1,secret2,secret3");
    assert_eq!(contents(&place.root.path().join("fleet")), files);
}

/// What is refused leaves the fleet run as it was, and where there is none, nothing.
#[test]
fn another_fleet_run_is_not_mixed_in() {
    let place = Place::alone();
    let night = emitted(&place, "a1", 0);
    write(&place, "night/a1.jsonl", &night);
    assert_eq!(collect(&place, "").0, 0);
    let before = contents(&place.root.path().join("fleet"));
    write(&place, "day/a2.jsonl", &night.replace("\"run\":\"night\"", "\"run\":\"day\""));
    let (code, _, said) = collect(&place, "--run day");
    assert!(code == 2 && said.contains("has the fleet run 'night' and not 'day'"), "{said}");
    assert_eq!(contents(&place.root.path().join("fleet")), before);
    let root = place.root.path().display();
    std::fs::write(place.root.path().join("none"), "").unwrap();
    let output =
        place.unixmark(&format!("collect {root}/none --into {root}/new")).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(!place.root.path().join("new").exists());
}

/// One journal that cannot be read is one node's matter.
#[test]
fn a_damaged_journal_is_a_partial_node() {
    let place = Place::alone();
    let good = emitted(&place, "a1", 0);
    write(&place, "a1.jsonl", &good);
    write(&place, "a2.jsonl", &good.replace("\"node\":\"a1\"", "\"node\":\"a.2\""));
    assert_eq!(collect(&place, "").0, 0);
    let nodes = place.root.path().join("fleet/nodes");
    let names = std::fs::read_dir(&nodes).unwrap().map(|entry| entry.unwrap().path());
    let journal = names
        .filter(|path| path.extension().unwrap() == "jsonl")
        .find(|path| path.to_str().unwrap().contains("a.2"));
    std::fs::write(journal.unwrap(), "{\"type\":\"run\",\u{1b}[2J}\n").unwrap();
    let entries = status(&place)["entries"].as_array().unwrap().clone();
    assert_eq!(entries.len(), 2, "{entries:?}");
    assert!(entries[0]["node"] == "a.2" && entries[0]["state"] == "partial", "{entries:?}");
    let root = place.root.path().display();
    let output = place.unixmark(&format!("fleet status {root}/fleet")).output().unwrap();
    assert!(!stdout(&output).contains('\u{1b}'), "{}", stdout(&output));
}

/// A hostile name breaks no path.
#[test]
fn names_of_nodes_lead_nowhere() {
    let place = Place::alone();
    let good = emitted(&place, "a1", 0);
    for (number, node) in
        ["../../../etc/cron.d/x", "a/b", ".", "", "x\\u0000y", &"n".repeat(500)].iter().enumerate()
    {
        write(
            &place,
            &format!("{number}.jsonl"),
            &good.replace("\"node\":\"a1\"", &format!("\"node\":\"{node}\"")),
        );
    }
    let (code, text, said) = collect(&place, "");
    assert_eq!(code, 0, "{text}{said}");
    let entries = status(&place)["entries"].as_array().unwrap().len();
    assert_eq!(entries, 6);
    let files = contents(&place.root.path().join("fleet"));
    assert_eq!(
        files.len(),
        14,
        "six journals with what they came to, the manifest and the lock: {files:?}"
    );
}

#[test]
fn a_host_runs_one_fleet_s_measurement_at_a_time() {
    let place = Place::alone();
    let slow = testing::fake("honest");
    let words = format!(
        "run --dir {} --program {} -c 1 -i 20 -q",
        place.scratch().display(),
        slow.display()
    );
    let tool = testing::built_program("unixmark");
    let mut first = std::process::Command::new(tool)
        .args(words.split_whitespace())
        .env("UNIXMARK_RESULTS", place.results())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    // It measures once it has a scratch directory.
    while std::fs::read_dir(place.scratch()).unwrap().count() == 0 {
        assert!(started.elapsed().as_secs() < 20);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = place.unixmark(&format!("{words} --fleet night")).output().unwrap();
    assert_eq!(second.status.code(), Some(3));
    assert!(
        stderr(&second).contains("another unixmark is measuring on this host"),
        "{}",
        stderr(&second)
    );
    first.kill().unwrap();
    first.wait().unwrap();
}
