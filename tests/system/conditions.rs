//! Conditions for real: what is switched is on, says so, and is off again. No costs are measured
//! here.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::conditions::{Entered, Ledger, Refusal, Settings, available, enter};
use ::machine::Machine;
use catalogue::{Catalogue, Condition, Means};
use journal::{Copy, Evidence, Trial, Usage};
use testing::compiled::{Build, PLAIN};

pub fn condition(name: &str) -> Arc<Condition> {
    let found = Catalogue::load().unwrap().expand_conditions(&[name.to_owned()]).unwrap();
    assert_eq!(found.len(), 1, "{name}");
    Arc::clone(&found[0])
}

/// A machine whose conditions are this test's alone.
pub struct Alone {
    pub ledger: Ledger,
    pub settings: Settings,
    pub folder: tempfile::TempDir,
    _lock: files::Lock,
    _machine: testing::Machine,
}

impl Alone {
    pub fn begin() -> Alone {
        let machine = testing::Machine::alone();
        let deadline = Instant::now() + Duration::from_secs(300);
        let lock = loop {
            match ::conditions::lock() {
                Ok(lock) => break lock,
                Err(error) if Instant::now() > deadline => panic!("{error:#}"),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let folder =
            tempfile::Builder::new().prefix("unixmark-test-").tempdir_in("/var/tmp").unwrap();
        let scratch = folder.path().join("scratch");
        fs::create_dir(&scratch).unwrap();
        let settings = Settings { scratch, ..Settings::default() };
        Alone { ledger: Ledger::open().unwrap(), settings, folder, _lock: lock, _machine: machine }
    }

    /// Enters a condition; nothing, and why, where it cannot be had here.
    pub fn enter(&mut self, name: &str) -> Option<Entered> {
        self.begin_with(&condition(name))
    }

    pub fn begin_with(&mut self, condition: &Condition) -> Option<Entered> {
        let name = &condition.name;
        let folder = self.folder.path().join("trial");
        fs::create_dir_all(&folder).unwrap();
        match enter(condition, &Machine::here(), &self.settings, &mut self.ledger, &folder, None) {
            Ok(entered) => Some(entered),
            Err(Refusal::Unavailable(why)) => {
                testing::skip(&format!("{name}: {why}"));
                self.leave();
                None
            }
            Err(refusal) => panic!("{name}: {refusal}"),
        }
    }

    pub fn leave(&mut self) {
        let path = self.ledger.path();
        self.ledger.close().unwrap();
        assert!(!path.exists(), "nothing is left to be put back");
        self.ledger = Ledger::open().unwrap();
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.ledger.close().unwrap();
    }
}

pub fn prove(
    entered: &mut Entered,
    trial: &Trial,
    companion: Option<f64>,
) -> Result<Evidence, String> {
    crate::room::prove(entered, trial, 0..1, companion).map_err(|refusal| refusal.to_string())
}

/// A trial of one program that reported values.
fn trial(values: &[(&str, f64)]) -> Trial {
    let values =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value, String::new()))).collect();
    let copy = Copy { values, usage: Some(Usage::default()), ..Copy::default() };
    Trial { copies: vec![copy], ..Trial::default() }
}

/// What is mounted by conditions: others may mount what they like meanwhile.
pub fn mounts(alone: &Alone) -> Vec<String> {
    let folder = alone.folder.path().to_string_lossy().into_owned();
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let ours = |line: &&str| line.contains(&folder) || line.contains("tracefs");
    text.lines().filter(ours).map(str::to_owned).collect()
}

// --- the rows ---

#[test]
#[ignore = "changes the system"]
fn every_row_can_be_had_or_says_why_not() {
    let catalogue = Catalogue::load().unwrap();
    for switch in catalogue.switches.iter().filter(|switch| switch.means != Means::Audit) {
        let any = ["cc", "sysctl", "file", "arg"].contains(&switch.id.as_str());
        let name = match switch.id.as_str() {
            "cc" => "cc=no-such-compiler",
            "apparmor" => "apparmor=unconfined",
            "sysctl" => "sysctl:no.such=1",
            "file" => "file:/proc/no/such=1",
            "arg" => "arg:no_such=1",
            id => switch.example().unwrap_or(id),
        };
        for condition in catalogue.expand_conditions(&[name.to_owned()]).unwrap() {
            for (switch, level) in &condition.parts {
                let answer = available(switch, level, &Machine::here());
                assert!(!any || switch.id == "arg" || answer.is_err(), "{name}");
                let why = answer.err().unwrap_or_default();
                assert!(why.is_empty() || why.split_whitespace().count() > 3, "{name}: {why}");
                assert!(!why.contains('\n'), "{name}: {why}");
            }
        }
    }
}

// --- file systems, control groups, tracing ---

#[test]
#[ignore = "changes the system"]
fn a_file_system_is_there_and_gone_again() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    for name in ["fs=tmpfs", "fs=ext4", "fs=overlay", "fs=tmpfs"] {
        let before = mounts(&alone);
        let Some(mut entered) = alone.enter(name) else {
            continue;
        };
        let place = entered.staging.folder.clone().unwrap();
        fs::write(place.join("file"), "words").unwrap();
        assert!(mounts(&alone).iter().any(|line| line.contains(&*place.to_string_lossy())));
        prove(&mut entered, &Trial::default(), None).unwrap();
        alone.leave();
        assert_eq!(mounts(&alone), before, "{name}");
        assert!(!place.join("file").exists(), "{name}");
        assert!(prove(&mut entered, &Trial::default(), None).is_err(), "{name}: it is off");
    }
}

#[test]
#[ignore = "changes the system"]
fn a_control_group_has_had_work_and_is_gone() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    for name in [
        "cgroup-cpu=50",
        "quota=50%:20ms:5ms",
        "cgroup-memory=64",
        "cgroup-cpu=100+cgroup-memory=256",
    ] {
        let Some(mut entered) = alone.enter(name) else {
            continue;
        };
        let groups = entered.staging.cgroups.clone();
        assert!(
            prove(&mut entered, &Trial::default(), None).is_err(),
            "{name}: nobody has been in it"
        );
        let join: String = groups
            .iter()
            .map(|group| format!("echo $$ >{}/cgroup.procs; ", group.display()))
            .collect();
        // Work of more periods than an idle group counts, and pages.
        let work = format!("{join} i=0; while [ $i -lt 3000000 ]; do i=$((i + 1)); done");
        assert!(Command::new("sh").args(["-c", &work]).status().unwrap().success(), "{name}");
        let evidence = prove(&mut entered, &Trial::default(), None).unwrap();
        assert!(!evidence.figures.is_empty());
        alone.leave();
        assert!(!groups.is_empty() && groups.iter().all(|group| !group.exists()), "{name}");
    }
}

#[test]
#[ignore = "changes the system"]
fn a_number_of_processors_is_what_programs_see() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let Some(mut entered) = alone.enter("cpus=1") else {
        return;
    };
    let [group] = &entered.staging.cgroups.clone()[..] else { panic!("{:?}", entered.staging) };
    let count = format!("echo $$ >{}/cgroup.procs; nproc", group.display());
    assert_eq!(Command::new("sh").args(["-c", &count]).output().unwrap().stdout, b"1\n");
    prove(&mut entered, &Trial::default(), None).unwrap();
    alone.leave();
    assert!(!group.exists());
    for wrong in ["cpus=0", "cpus=100000", "cpus=two"] {
        assert!(
            ::conditions::unavailable_reason(&condition(wrong), &Machine::here()).is_some(),
            "{wrong}"
        );
    }
}

#[test]
#[ignore = "changes the system"]
fn a_weight_is_that_of_the_programs_without_their_load() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let Some(mut entered) = alone.enter("weight=1000") else {
        return;
    };
    let [group] = &entered.staging.own_cgroups.clone()[..] else { panic!("{:?}", entered.staging) };
    assert!(entered.staging.cgroups.is_empty());
    let evidence = prove(&mut entered, &Trial::default(), None).unwrap();
    let (file, value) = evidence.notes[0].split_once(" = ").unwrap();
    assert!(
        ["cpu.weight = 1000", "cpu.shares = 10240"].contains(&&*evidence.notes[0]),
        "{evidence:?}"
    );
    fs::write(group.join(file), "100").unwrap();
    assert!(prove(&mut entered, &Trial::default(), None).is_err(), "it is no longer {value}");
    alone.leave();
    assert!(!group.exists());
}

#[test]
#[ignore = "changes the system"]
fn system_calls_are_traced() {
    if !testing::is_root() {
        return;
    }
    let mut alone = Alone::begin();
    let before = mounts(&alone);
    if let Some(mut entered) = alone.enter("ftrace") {
        assert!(Command::new("true").status().unwrap().success());
        let evidence = prove(&mut entered, &Trial::default(), None).unwrap();
        assert!(evidence.figures["events"].0 > 10.0, "{evidence:?}");
        alone.leave();
        assert!(!Path::new("/sys/kernel/tracing/instances/unixmark").exists());
    }
    assert_eq!(mounts(&alone), before);
}

// --- builds ---

#[test]
#[ignore = "changes the system"]
fn builds_are_asked_for() {
    let mut alone = Alone::begin();
    for (name, build) in [("cc=cc", "cc=cc"), ("build=portable", "build=portable")] {
        let Some(entered) = alone.enter(name) else {
            continue;
        };
        assert_eq!(entered.staging.build.as_deref(), Some(build));
        alone.leave();
    }
}

// --- what the programs prove themselves ---

#[test]
#[ignore = "changes the system"]
fn a_claim_must_be_made_and_hold() {
    let mut alone = Alone::begin();
    let mut claims = |name: &str, values: &[(&str, f64)]| {
        let mut entered = alone.enter(name).unwrap();
        prove(&mut entered, &trial(values), None)
    };
    assert!(claims("seccomp=allow", &[("seccomp", 2.0)]).is_ok());
    assert!(claims("seccomp=allow", &[("seccomp", 0.0)]).is_err(), "the mode is none");
    assert!(claims("seccomp=allow", &[]).unwrap_err().contains("'seccomp'"));
    assert!(claims("landlock=16", &[("landlock", 1.0)]).unwrap_err().contains("not 16"));
    assert!(claims("nice=10", &[("nice", 10.0)]).is_ok());
    assert!(claims("arg:slowed=5", &[("slowed", 2.0)]).unwrap_err().contains("slowed"));
    assert!(claims("arg:mode=exec", &[]).unwrap().notes[0].contains("mode"));
    assert!(claims("seccomp=allow+nice=5", &[("seccomp", 2.0)]).is_err(), "one of two");
    let mut entered = alone.enter("namespaces").unwrap();
    assert_eq!(entered.staging.args, ["namespaces=1"]);
    assert!(prove(&mut entered, &Trial::default(), None).is_err(), "no program has reported");
}

fn binary(id: &str) -> PathBuf {
    let catalogue = Catalogue::load().unwrap();
    let test = catalogue.test(id).unwrap();
    let units: Vec<String> = test.units().collect();
    let build = Build { cc: "cc", flags: PLAIN };
    build.program(test.binary(), &units, &test.define).unwrap_or_else(|why| panic!("{why}"))
}

/// Runs a program as its condition has it run, for three slices, and returns what it says.
fn run(entered: &Entered, id: &str, folder: &Path) -> String {
    let mut words = entered.staging.prefix.clone();
    words.push(binary(id).display().to_string());
    words.extend(entered.staging.args.iter().cloned());
    let mut child = spawn(&words, folder);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"go 0 100000000 3\n").unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success(), "{words:?}: {said}");
    said
}

fn spawn(words: &[String], folder: &Path) -> Child {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the `value` lines say.
fn values(said: &str) -> Vec<(&str, f64)> {
    said.lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix("value ")?.split(' ');
            Some((words.next()?, words.next()?.parse().ok()?))
        })
        .collect()
}

/// A profile of a container engine: what it denies fails with its error, in the measured command
/// alone.
#[test]
#[ignore = "changes the system"]
fn a_profile_denies_what_it_says() {
    let _host = testing::host();
    let place = testing::Place::new();
    let root = place.root.path();
    let profile = root.join("profile.json");
    let denied =
        "{\"names\": [\"mkdir\", \"mkdirat\"], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 13}";
    std::fs::write(
        &profile,
        format!("{{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{denied}]}}"),
    )
    .unwrap();
    let command =
        "mkdir \"$0/made\" 2>>\"$0/said\" && rmdir \"$0/made\" && echo made >>\"$0/said\"; :";
    let condition = format!("seccomp=profile:{}", profile.display());
    let mut tool = place.unixmark("cost --quick -i 2 --quiet --dir");
    tool.arg(place.scratch()).arg(&condition).args(["--", "sh", "-c", command]).arg(root);
    let output = tool.output().unwrap();
    assert!(output.status.success(), "{}", testing::stderr(&output));
    let said = std::fs::read_to_string(root.join("said")).unwrap();
    assert!(said.contains("made\n") && said.contains("Permission denied"), "{said}");
    let report = place.json("latest");
    let evidence = report["trials"].to_string() + &report["results"].to_string();
    assert!(evidence.contains("seccomp"), "{evidence}");
    std::fs::write(&profile, "{}").unwrap();
    let output = place.unixmark(&format!("cost {condition} syscall")).output().unwrap();
    assert!(
        testing::stderr(&output).contains("profile.json: missing field"),
        "{}",
        testing::stderr(&output)
    );
}

/// Each call that a profile reports waits for a supervisor, which ends with the program.
#[test]
#[ignore = "changes the system"]
fn a_supervisor_lets_calls_go_on() {
    let _host = testing::host();
    let place = testing::Place::new();
    let profile = place.root.path().join("profile.json");
    let reported = "{\"names\": [\"umask\"], \"action\": \"SCMP_ACT_NOTIFY\"}";
    std::fs::write(
        &profile,
        format!("{{\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\": [{reported}]}}"),
    )
    .unwrap();
    let condition = format!("seccomp=profile:{}", profile.display());
    let mut tool = place.unixmark("cost --quick -i 4 --quiet --dir");
    let output = tool.arg(place.scratch()).args([&condition, "syscall"]).output().unwrap();
    assert!(output.status.success(), "{}", testing::stderr(&output));
    let report = place.json("latest");
    let delta = report["comparisons"][0]["delta"].as_f64().unwrap_or_else(|| panic!("{report:#}"));
    assert!(delta < -50.0, "{delta}");
    place.assert_gone(Duration::ZERO);
}

/// The real programs prove what the rows have them do; also one that replaces itself again and
/// again.
#[test]
#[ignore = "changes the system"]
fn programs_prove_what_they_do_to_themselves() {
    let mut alone = Alone::begin();
    let folder = alone.folder.path().to_path_buf();
    for name in [
        "seccomp=allow",
        "seccomp=argument",
        "landlock=1",
        "landlock=16",
        "landlock-rules=256",
        "namespaces",
        "nice=19",
        "arg:slowed=20",
        "strace",
        "strace-exec",
        "bubblewrap",
        "nspawn",
        "podman=whole",
        "podman=root",
        "podman=namespaces",
        "podman=seccomp",
        "podman=runc",
    ] {
        for id in ["syscall", "execl"] {
            let Some(mut entered) = alone.enter(name) else {
                continue;
            };
            let said = run(&entered, id, &folder);
            if let Some(why) = said.lines().find_map(|line| line.strip_prefix("skip ")) {
                // A count that no timer reads cannot be slowed.
                if (name, id) != ("arg:slowed=20", "execl") {
                    testing::skip(&format!("{name}: {why}"));
                }
                continue;
            }
            assert!(said.starts_with("ready\n") && said.ends_with("done\n"), "{name}: {said}");
            prove(&mut entered, &trial(&values(&said)), None)
                .unwrap_or_else(|why| panic!("{name}, {id}: {why}: {said}"));
            // Without the condition the same is not proved; an argument of the user's is believed
            // to programs that take it.
            if name.starts_with("arg") {
                continue;
            }
            let said = run(&Entered::default(), id, &folder);
            assert!(prove(&mut entered, &trial(&values(&said)), None).is_err(), "{name}: {said}");
            alone.leave();
        }
    }
    alone.leave();
}

// --- companions ---

/// Lets a companion count while a program works, and returns what it counted.
fn count(entered: &Entered, alone: &Alone) -> f64 {
    let folder =
        entered.staging.folder.clone().unwrap_or_else(|| alone.folder.path().to_path_buf());
    let (id, more) = entered.staging.companion.clone().unwrap();
    let test = Catalogue::load().unwrap().test(&id).unwrap().clone();
    let mut words = vec![binary(&id).display().to_string()];
    words.extend(test.args.iter().chain(&more).cloned());
    if !test.command.is_empty() {
        words.push("--".to_owned());
        words.extend(test.command.iter().cloned());
    }
    let mut child = spawn(&words, &folder);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut ready = [0; 6];
    stdout.read_exact(&mut ready).unwrap();
    if &ready != b"ready\n" {
        let mut rest = String::from_utf8_lossy(&ready).into_owned();
        stdout.read_to_string(&mut rest).unwrap();
        panic!("{id}: {rest}");
    }
    stdin.write_all(b"go 0 0 0\nmark\n").unwrap();
    std::thread::sleep(Duration::from_millis(150));
    for number in 0..20 {
        fs::write(folder.join(format!("file-{number}")), "words").unwrap();
    }
    drop(stdin);
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success() && said.ends_with("done\n"), "{id}: {said}");
    let line = said.lines().find(|line| line.starts_with("slice ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "changes the system"]
fn companions_count_what_happens() {
    let mut alone = Alone::begin();
    let before = mounts(&alone);
    for name in [
        "inotify",
        "fanotify=notify",
        "fanotify=permission",
        "fs=tmpfs+fanotify=permission",
        "bpf",
        "perf",
    ] {
        let Some(mut entered) = alone.enter(name) else {
            continue;
        };
        let counted = count(&entered, &alone);
        assert!(counted >= 20.0, "{name}: 20 files were written, and it counted {counted}");
        let evidence = prove(&mut entered, &Trial::default(), Some(counted)).unwrap();
        assert_eq!(evidence.figures["events"].0, counted);
        assert!(
            prove(&mut entered, &Trial::default(), None).is_err(),
            "{name}: no count is no proof"
        );
        alone.leave();
        assert_eq!(mounts(&alone), before, "{name}");
    }
}

#[test]
#[ignore = "changes the system"]
fn what_cannot_go_together_is_refused() {
    let mut alone = Alone::begin();
    for name in ["inotify+fanotify=notify", "strace+strace-exec", "fs=tmpfs+fs=overlay"] {
        let folder = alone.folder.path().to_path_buf();
        let result = enter(
            &condition(name),
            &Machine::here(),
            &alone.settings,
            &mut alone.ledger,
            &folder,
            None,
        );
        assert!(matches!(result, Err(Refusal::Unavailable(_))), "{name}");
        alone.leave();
    }
}
