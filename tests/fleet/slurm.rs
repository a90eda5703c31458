//! `unixmark fleet slurm` on a real Slurm of three nodes, some of which die. They share this host's
//! processors: nothing here is about speed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::cluster::{Cluster, await_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// The tool on the cluster's head.
fn unixmark(cluster: &Cluster, words: &[&str]) -> Command {
    let mut command = cluster.command(testing::built_program("unixmark"));
    command.args(words);
    command
}

/// What a node measures: `blocks` windows of a fake program, each of a third of a second or so.
fn measuring(blocks: &str) -> Vec<String> {
    let fake = testing::fake("honest").display().to_string();
    ["run", "--procedure", "quick", "--program", &fake, "-c", "1", "-i", blocks]
        .map(str::to_owned)
        .to_vec()
}

/// Starts a fleet run, whose messages go to a file `NAME.said`.
fn start(cluster: &Cluster, name: &str, options: &[&str], words: &[String]) -> Child {
    let said = fs::File::create(cluster.path().join(format!("{name}.said"))).unwrap();
    let mut command = unixmark(cluster, &["fleet", "slurm", "--name", name]);
    let both = said.try_clone().unwrap();
    command.args(options).arg("--").args(words).stdout(both).stderr(said);
    // A group of its own: with it dies what entered the namespaces for it.
    command.process_group(0).spawn().unwrap()
}

fn said(cluster: &Cluster, name: &str) -> String {
    fs::read_to_string(cluster.path().join(format!("{name}.said"))).unwrap()
}

/// Node, state, reason and notes of every entry of `fleet status`.
fn status(cluster: &Cluster, directory: &str) -> Vec<(String, String, String)> {
    let output =
        unixmark(cluster, &["fleet", "status", "--format", "json", directory]).output().unwrap();
    let fleet: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let entries = fleet["entries"].as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let why = |entry: &Value| format!("{} {}", word(&entry["reason"]), entry["notes"]);
    entries.iter().map(|entry| (word(&entry["node"]), word(&entry["state"]), why(entry))).collect()
}

fn states(cluster: &Cluster, directory: &str) -> Vec<String> {
    status(cluster, directory).into_iter().map(|(_, state, _)| state).collect()
}

/// How many trials a node's attempt has written so far.
fn trials(cluster: &Cluster, directory: &str, attempt: &str) -> usize {
    let path =
        cluster.path().join(directory).join("slurm/journals").join(format!("{attempt}.jsonl"));
    fs::read_to_string(path).unwrap_or_default().matches(r#""type":"trial""#).count()
}

fn links() -> String {
    let output = Command::new("ip").args(["-o", "link"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split(':').nth(1).unwrap().to_owned())
        .collect()
}

/// Nothing of a cluster may be there when it is down.
fn assert_gone(directory: &Path, links_before: &str) {
    let mark = directory.display().to_string();
    await_until(
        5,
        || testing::processes_with(&mark).join("\n"),
        || testing::processes_with(&mark).is_empty(),
    );
    assert_eq!(links(), links_before);
    assert!(!fs::read_to_string("/proc/mounts").unwrap().contains(&mark));
}

#[test]
#[ignore = "needs Slurm"]
fn fleets_on_a_slurm_whose_nodes_die() {
    let links_before = links();
    let mut cluster = match Cluster::up() {
        Ok(cluster) => cluster,
        Err(reason) => return testing::skip(&reason),
    };
    the_collector_does_it_when_the_command_was_killed(&cluster);
    a_node_that_died_and_came_back_gives_one_result(&mut cluster);
    a_job_that_never_starts_is_given_up(&mut cluster);
    what_makes_no_sense_is_refused(&cluster);
    // Another one, of the same names and addresses, whose first process dies by SIGKILL.
    let second = Cluster::up().unwrap();
    kill_process(Pid::from_raw(second.id().try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    assert_gone(&second.down(), &links_before);
    assert_eq!(cluster.say("sinfo -h -o %D"), "3");
    assert_gone(&cluster.down(), &links_before);
}

/// The names are such as no shell, pattern or list may take apart.
fn the_collector_does_it_when_the_command_was_killed(cluster: &Cluster) {
    let name = "it's 50% $(reboot), n1";
    let mut words = measuring("4");
    words.push("word=1 \"2'\n3".to_owned());
    let mut command = start(cluster, name, &[], &words);
    await_until(20, || said(cluster, name), || said(cluster, name).contains("3 jobs named"));
    kill_process_group(Pid::from_child(&command), Signal::KILL).unwrap();
    command.wait().unwrap();
    let text = || format!("{:?}", status(cluster, name));
    let late = status(cluster, name);
    assert!(
        late.iter().any(|(_, state, why)| state == "late" && why.contains("its job ")),
        "{late:?}"
    );
    await_until(40, text, || states(cluster, name) == ["whole"; 3]);
    // The program got the argument as it was.
    let journal = cluster.path().join(name).join("slurm/journals/n1.0.jsonl");
    assert!(fs::read_to_string(journal).unwrap().contains(r#""word=1 \"2'\n3""#));
    // Nothing stays on the nodes.
    for node in ["n1", "n2", "n3"] {
        assert!(cluster.left(node, "tmp").is_empty(), "{node}: {:?}", cluster.left(node, "tmp"));
    }
}

fn a_node_that_died_and_came_back_gives_one_result(cluster: &mut Cluster) {
    let mut command =
        start(cluster, "night", &["--give-up", "10m", "--time", "5m"], &measuring("12"));
    await_until(30, || said(cluster, "night"), || trials(cluster, "night", "n3.0") >= 2);
    cluster.tell("kill 3");
    cluster.tell("restart-controller");
    // The others are not disturbed, and what n3 wrote until then is there.
    await_until(
        40,
        || format!("{:?}", status(cluster, "night")),
        || trials(cluster, "night", "n2.0") == 12,
    );
    unixmark(cluster, &["collect", "night/slurm/journals", "--into", "night"]).output().unwrap();
    let told = status(cluster, "night");
    assert!(told[2].1 == "late" && told[2].2.contains("its job "), "{told:?}");
    await_until(
        60,
        || format!("{:?}\n{}", status(cluster, "night"), cluster.say("squeue")),
        || status(cluster, "night")[2].2.contains("waits: ReqNodeNotAvail"),
    );
    cluster.tell("start 3");
    // The command frees the job that Slurm would hold for two minutes, and ends when the node has
    // delivered.
    await_until(100, || said(cluster, "night"), || command.try_wait().unwrap().is_some());
    assert!(command.wait().unwrap().success(), "{}", said(cluster, "night"));
    let told = status(cluster, "night");
    assert_eq!(states(cluster, "night"), ["whole"; 3], "{told:?}");
    assert!(told[2].2.contains("2 attempts were delivered; attempt 1 counts"), "{told:?}");
}

/// By Slurm itself: the command is closed.
fn a_job_that_never_starts_is_given_up(cluster: &mut Cluster) {
    cluster.tell("kill 2");
    await_until(
        40,
        || cluster.say("sinfo"),
        || cluster.say("sinfo -h -n n2 -o %T").starts_with("down"),
    );
    let options = ["--nodes", "n[2-3]", "--give-up", "6s", "--time", "1m", "--detach"];
    let mut command = start(cluster, "never", &options, &measuring("1"));
    assert!(command.wait().unwrap().success(), "{}", said(cluster, "never"));
    assert!(
        said(cluster, "never").contains("n2 accepts no jobs now (down*"),
        "{}",
        said(cluster, "never")
    );
    let told = status(cluster, "never");
    assert!(told[0].1 == "late" && told[0].2.contains("waits: "), "{told:?}");
    await_until(60, || cluster.say("squeue"), || cluster.say("squeue -h").is_empty());
    let told = status(cluster, "never");
    assert_eq!(states(cluster, "never"), ["missing", "whole"], "{told:?}");
    assert!(told[0].2.contains("ended as DEADLINE"), "{told:?}");
    // Slurm forgets how jobs ended; the directory does not.
    let record = fs::read_to_string(cluster.path().join("never/slurm/jobs")).unwrap();
    assert!(record.contains("ended\tn2\tDEADLINE\n"), "{record}");
    // Nor is a node asked for that is away, where none was named.
    let mut command = start(cluster, "two", &["--detach"], &measuring("1"));
    assert!(
        command.wait().unwrap().success() && said(cluster, "two").contains("n2 is left out"),
        "{}",
        said(cluster, "two")
    );
    await_until(40, || cluster.say("squeue"), || states(cluster, "two") == ["whole"; 2]);
}

fn what_makes_no_sense_is_refused(cluster: &Cluster) {
    let good = measuring("1").join(" ");
    for (words, code, reason) in [
        ("-- burnin cooling".to_owned(), 2, "'burnin' does not measure for a fleet"),
        ("-- run --emit".to_owned(), 2, "--emit is set by"),
        ("-- run --fleet=x".to_owned(), 2, "--fleet is set by"),
        ("-- run indx".to_owned(), 2, "did you mean 'index'"),
        (format!("--into night -- {good}"), 2, "has a submission already"),
        (format!("--partition none -- {good}"), 3, "no partition 'none'; it has bench"),
        (format!("--nodes n[1-4] -- {good}"), 3, "has no node 'n4'"),
    ] {
        let words: Vec<&str> =
            ["fleet", "slurm"].into_iter().chain(words.split_whitespace()).collect();
        let output = unixmark(cluster, &words).output().unwrap();
        let said = testing::stderr(&output);
        assert!(output.status.code() == Some(code) && said.contains(reason), "{words:?}: {said}");
    }
    let left: Vec<PathBuf> =
        fs::read_dir(cluster.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!left.iter().any(|path| path.display().to_string().contains("fleet-")), "{left:?}");
}

/// Slurm's commands as far as the script uses them. `sbatch` runs a job of a node at once and keeps
/// the collector waiting.
const COMMANDS: [(&str, &str); 5] = [
    (
        "sinfo",
        r#"case $* in *%P*) echo 'bench*' ;; *) printf 'n1|idle~|none\nn2|down*|Not responding\nn3|idle|none\n' ;; esac"#,
    ),
    ("scontrol", "echo \"$3\" | tr , '\\n'"),
    ("squeue", "cat queue 2>/dev/null"),
    ("scancel", "echo \"$1\" >>cancelled"),
    (
        "sbatch",
        r#"node='' log='' id=$(($(wc -l <queue) + 1))
           while :; do
               case $1 in
               --nodelist=*) node=${1#*=} ;;
               --output=*) log=$(printf '%s' "${1#*=}" | sed 's/%%/%/g') ;;
               --*) ;;
               *) break ;;
               esac
               shift
           done
           state=PENDING
           [ -z "$node" ] || state=FAILED
           [ "${node:-n2}" = n2 ] || ! SLURMD_NODENAME=$node sh "$@" >"$log" 2>&1 || state=COMPLETED
           printf '%s\t%s\t%s\tN/A\tDependency\n' "$id" "$node" "$state" >>queue
           echo "$id;cluster""#,
    ),
];

/// The words are such as no shell, pattern or list may take apart.
#[test]
fn a_fleet_is_measured_by_slurms_commands() {
    let place = testing::Place::alone();
    let home = place.root.path();
    fs::write(home.join("queue"), "").unwrap();
    for (name, body) in COMMANDS {
        let path = home.join(name);
        fs::write(&path, format!("#!/bin/sh\ncd '{}' || exit\n{body}\n", home.display())).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", home.display(), std::env::var("PATH").unwrap());
    let unixmark = |words: &[&str]| {
        let output =
            place.unixmark("").args(words).current_dir(home).env("PATH", &path).output().unwrap();
        (output.status.code(), testing::stdout(&output), testing::stderr(&output))
    };
    let name = "it's 50% $(reboot), n1";
    let fake = testing::fake("honest").display().to_string();
    let measuring = [
        "--",
        "run",
        "--procedure",
        "quick",
        "--program",
        &fake,
        "-c",
        "1",
        "-i",
        "1",
        "word=1 \"2'\n3",
    ];
    let (code, table, said) =
        unixmark(&[&["fleet", "slurm", "--name", name], &measuring[..]].concat());
    let log = fs::read_to_string(home.join(name).join("slurm/log/n1.txt")).unwrap_or_default();
    assert!(code == Some(0) && table.contains("2 whole"), "{table}{said}{log}");
    assert!(
        said.contains("n2 is left out: it accepts no jobs now (down*, Not responding)"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(home.join("cancelled")).unwrap(),
        "3\n",
        "the collector is not needed"
    );
    let journal = fs::read_to_string(home.join(name).join("slurm/journals/n1.0.jsonl")).unwrap();
    assert!(journal.contains(r#""word=1 \"2'\n3""#), "{journal}");
    // A node that is named is waited for; its job fails.
    let options = ["fleet", "slurm", "--nodes", "n2", "--into", "b", "--detach"];
    let (_, _, said) = unixmark(&[&options, &measuring[..]].concat());
    assert!(
        said.contains("n2 accepts no jobs now (down*, Not responding): waiting for it"),
        "{said}"
    );
    let (code, table, _) = unixmark(&["fleet", "status", "b"]);
    assert!(
        code == Some(1)
            && table.contains("n2  missing")
            && table.contains("its job 4 ended as FAILED"),
        "{table}"
    );
}

/// Where Slurm is not, that is said.
#[test]
fn without_slurm_the_command_says_so() {
    let place = testing::Place::new();
    let output = place
        .unixmark("fleet slurm -- run syscall")
        .env("PATH", place.root.path())
        .output()
        .unwrap();
    let said = testing::stderr(&output);
    assert!(output.status.code() == Some(3) && said.contains("sinfo is not here"), "{said}");
}

/// What a site runs by ReFrame is Python at least; it was run with ReFrame 4.10.4 on this cluster,
/// which takes 240 MB to install.
#[test]
fn the_reframe_check_is_python() {
    let folder = testing::file("deploy/reframe");
    let compile = "import sys; [compile(open(path).read(), path, 'exec') for path in sys.argv[1:]]";
    let files = ["unixmark.py", "settings.py"].map(|name| folder.join(name));
    let output = Command::new("python3").args(["-c", compile]).args(files).output().unwrap();
    assert!(output.status.success(), "{}", testing::stderr(&output));
}
