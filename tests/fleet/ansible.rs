//! `deploy/ansible` against machines that Ansible reaches by ssh: three namespaces, some of which
//! fail. Needs root, and is skipped with a word where it cannot be had.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use rustix::process::{Pid, Signal, kill_process};
use testing::{processes_with, stderr, stdout};

fn here(path: &str) -> PathBuf {
    testing::file(path)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what} did not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn kill(pid: &str) {
    // It may have ended by itself.
    let _ = kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL);
}

/// What Ansible's controller does.
trait Controller {
    fn file(&self, name: &str) -> PathBuf;
    fn cut_connections(&self, node: &str);
    fn gated(&self) -> PathBuf;
    fn inventory(&self, name: &str, nodes: [&str; 3], more: &str);
    fn play(&self, inventory: &str, words: &[&str]) -> Command;
}

impl Controller for Cluster {
    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Cuts every ssh connection of a node, as a network would.
    fn cut_connections(&self, node: &str) {
        let script = r#"
            inside=$(readlink "/proc/$(cat "$0")/ns/pid_for_children") cut=1
            for process in /proc/[0-9]*; do
                [ "$(readlink "$process/ns/pid")" = "$inside" ] || continue
                grep -q "^sshd: root" "$process/cmdline" || continue
                kill -9 "${process#/proc/}" && cut=0
            done
            exit "$cut""#;
        let mut command = Command::new(here("tests/fleet/cluster/cluster"));
        command
            .arg("in")
            .arg(self.path())
            .args(["sh", "-c", script])
            .arg(self.file(&format!("run/{node}.pid")));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{node} had no connection: {}", stderr(&output));
    }

    /// A program that measures nothing before `gate` is there.
    fn gated(&self) -> PathBuf {
        let text = format!(
            "#!/bin/sh\nuntil [ -e {} ]; do sleep 0.1; done\nexec {} \"$@\"\n",
            self.file("gate").display(),
            testing::fake("honest").display()
        );
        let path = self.file("gated.sh");
        std::fs::write(&path, text).unwrap();
        assert!(Command::new("chmod").arg("755").arg(&path).status().unwrap().success());
        path
    }

    /// Writes an inventory of nodes without Python; a node's line may have variables of its own.
    fn inventory(&self, name: &str, nodes: [&str; 3], more: &str) {
        // Its symbols would be a hundred megabytes to every node.
        let tool = self.file("unixmark");
        if !tool.exists() {
            let whole = testing::built_program("unixmark");
            assert!(
                Command::new("strip").arg("-o").arg(&tool).arg(whole).status().unwrap().success()
            );
        }
        let text = format!(
            "{}\n[all:vars]\nansible_user=root\nansible_ssh_common_args=-F {}\nunixmark_binary={}\nunixmark_poll=1\n\
             ansible_python_interpreter=/nowhere\n{more}\n",
            nodes.join("\n"),
            self.file("ssh_config").display(),
            tool.display(),
        );
        std::fs::write(self.file(name), text).unwrap();
    }

    /// The playbook on the controller.
    fn play(&self, inventory: &str, words: &[&str]) -> Command {
        let python = testing::python("ansible-core==2.19.14").unwrap();
        let mut command = Command::new(here("tests/fleet/cluster/cluster"));
        command.arg("in").arg(self.path()).args(["env", "LC_ALL=C.UTF-8"]);
        command.arg(python.join("bin/ansible-playbook"));
        command.arg("-i").arg(self.file(inventory)).arg(here("deploy/ansible/fleet.yml"));
        command.arg("-e").arg(format!("unixmark_into={}", self.file("fleet").display()));
        command.args(["-e", "unixmark_fleet=night"]).args(words);
        command
            .env("ANSIBLE_HOME", self.file("home"))
            .env("ANSIBLE_REMOTE_TEMP", self.file("home/remote"));
        command.env("ANSIBLE_NOCOLOR", "1").process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// The words of a run as YAML; each must reach the node unchanged.
fn arguments(program: &Path, more: &str) -> String {
    let words =
        ["run", "--procedure", "quick", "-c", "1", "-i", "2", "--patience", "60s", "--program"];
    let words = words.map(|word| format!("'{word}'")).join(",");
    format!("unixmark_arguments=[{words},'{}',{more}]", program.display())
}

#[test]
#[ignore = "needs Ansible and sshd"]
fn three_machines_of_which_some_fail() {
    let mut cluster = match Cluster::up() {
        Ok(cluster) => cluster,
        Err(reason) => return testing::skip(&reason),
    };
    let mark = cluster.path().display().to_string();
    let gated = cluster.gated();
    let evil = format!("\"x=$(touch {mark}/evil) \\\\ ''; exit\"");
    cluster.inventory("first", ["n1", "n2", "n3"], &arguments(&gated, &evil));

    // One is down. The controller dies and a connection is cut while the others measure.
    cluster.tell("kill 3");
    let mut controller = cluster.play("first", &[]).stdout(Stdio::null()).spawn().unwrap();
    let began =
        |node: &str| cluster.file(&format!("{node}/var-tmp/unixmark-night-{node}/began/at"));
    wait_until("the runs", || began("n1").exists() && began("n2").exists());
    for process in processes_with(&format!("{mark}/first")) {
        kill(process.split(':').next().unwrap());
    }
    controller.wait().unwrap();
    cluster.cut_connections("n1");
    let when = std::fs::read_to_string(began("n1")).unwrap();

    // Played again it picks up what goes on, and outlives a cut connection.
    let mut controller = cluster.play("first", &[]).spawn().unwrap();
    let mut lines = BufReader::new(controller.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said: Vec<String> = Vec::new();
    said.extend(lines.by_ref().take_while(|line| !line.contains("RETRYING: [n2]: Wait")));
    cluster.cut_connections("n1");
    std::fs::write(cluster.file("gate"), "").unwrap();
    said.extend(lines);
    let said = said.join("\n");
    let code = controller.wait().unwrap().code();
    assert!(said.contains("fatal: [n3]: UNREACHABLE!"), "{said}");
    assert!(said.contains("fleet run night: 2 whole, 1 missing"), "{said}");
    assert!(!said.contains("attempts"), "a second run was started: {said}");
    assert_eq!(code, Some(2), "the fleet is not whole: {said}");
    assert!(cluster.file(&format!("fleet/fetched/n1-{}.jsonl", when.trim())).exists(), "{when}");
    assert!(!cluster.file("evil").exists(), "an argument was taken for a command");
    let journals =
        std::fs::read_dir(cluster.file("fleet/nodes")).unwrap().map(|entry| entry.unwrap().path());
    for path in journals.filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        let journal = std::fs::read_to_string(path).unwrap();
        assert!(
            journal.contains(r#"\\ ''; exit""#),
            "the argument did not arrive: {}",
            &journal[..600]
        );
    }
    assert!(
        cluster.left("n1", "var-tmp").is_empty() && cluster.left("n2", "var-tmp").is_empty(),
        "{:?}",
        cluster.left("n1", "var-tmp")
    );

    // One after the other, with a tool that is there: one fails, one takes too long, one is whole.
    cluster.tell("start 3");
    std::fs::remove_file(cluster.file("gate")).unwrap();
    let wrong = "n1 \"unixmark_arguments=['run','nonsense']\"".to_owned();
    let slow = format!("n2 unixmark_timeout=2 \"{}\"", arguments(&gated, "'a=b'"));
    let good = format!("n3 \"{}\"", arguments(&testing::fake("honest"), "'a=b'"));
    let installed = format!("unixmark_installed={mark}/unixmark");
    cluster.inventory("second", [&wrong, &slow, &good], &installed);
    let words = ["-e", "unixmark_fleet=day", "-e", "unixmark_serial=1", "-e"];
    let words: Vec<String> = words
        .iter()
        .map(|word| (*word).to_owned())
        .chain([format!("unixmark_into={mark}/day")])
        .collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = cluster.play("second", &words).output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("fleet run day: 1 whole, 1 partial, 1 missing"), "{said}");
    assert!(said.contains("'nonsense'"), "what was wrong on n1 is reported: {said}");
    assert!(
        cluster.left("n1", "var-tmp").is_empty() && cluster.left("n3", "var-tmp").is_empty(),
        "{:?}",
        cluster.left("n1", "var-tmp")
    );
    // What took too long goes on, and is whole later.
    std::fs::write(cluster.file("gate"), "").unwrap();
    words.extend(["--limit", "n2"]);
    let output = cluster.play("second", &words).output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert!(
        said.contains("fleet run day: 2 whole, 1 missing") && !said.contains("attempts"),
        "{said}"
    );
    assert!(cluster.left("n2", "var-tmp").is_empty(), "{:?}", cluster.left("n2", "var-tmp"));

    drop(cluster);
    wait_until("the end of all processes", || processes_with(&mark).is_empty());
    assert!(!Path::new(&mark).exists());
}

/// The command that keeps what a node sent, with what Ansible puts into it.
fn keeping(fetched: &Path) -> String {
    let most = journal::MAX_JOURNAL_BYTES;
    let limit = format!("unixmark_most_bytes: {most}\n");
    assert!(
        std::fs::read_to_string(here("deploy/ansible/roles/unixmark/vars/main.yml"))
            .unwrap()
            .contains(&limit)
    );
    let tasks =
        std::fs::read_to_string(here("deploy/ansible/roles/unixmark/tasks/node.yml")).unwrap();
    let (_, task) = tasks.split_once("- name: Keep the journal\n").unwrap();
    let (_, command) = task.split_once("cmd: >-\n").unwrap();
    let (command, _) = command.split_once("stdin:").unwrap();
    let values = [
        ("unixmark_fetched | quote", fetched.display().to_string()),
        ("unixmark_most_bytes // 512", (most / 512).to_string()),
        ("unixmark_most_bytes", most.to_string()),
        ("unixmark_plain", "n1".to_owned()),
        ("unixmark_words[1]", "7".to_owned()),
    ];
    let put = |text: String, (name, value): &(&str, String)| {
        text.replace(&format!("{{{{ {name} }}}}"), value)
    };
    let command =
        values.iter().fold(command.lines().map(str::trim).collect::<Vec<&str>>().join(" "), put);
    assert!(!command.contains("{{"), "{command}");
    command
}

#[test]
#[ignore = "needs Ansible and sshd"]
fn what_a_node_sends_is_bounded() {
    let fetched = tempfile::tempdir().unwrap();
    let keep = keeping(fetched.path());
    for (sent, code, kept) in [
        ("echo a journal | gzip", 0, &["n1-7.jsonl"][..]),
        ("head -c 67108863 /dev/zero | gzip -1", 0, &["n1-7.jsonl"]),
        ("head -c 67108865 /dev/zero | gzip -1", 3, &[]),
        ("echo a journal | gzip | head -c 20", 1, &[]),
        ("echo nothing", 1, &[]),
    ] {
        let script = format!("{sent} | base64 | sh -c '{keep}'");
        let status =
            Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{sent}");
        let names =
            std::fs::read_dir(fetched.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), kept, "{sent}");
        kept.iter().for_each(|name| std::fs::remove_file(fetched.path().join(name)).unwrap());
    }
}
