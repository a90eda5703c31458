//! Conditions through the command a user types: entered, proved and left; tools that are killed at
//! every step; two at once; no rights; a full disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::process::{Pid, Signal, kill_process};
use testing::{FLAG, Place, stderr, stdout};

use crate::room::wait_for;

const STATE: &str = "/var/lib/unixmark";
const SWAPPINESS: &str = "/proc/sys/vm/swappiness";

/// A place with conditions of the user's own.
pub struct Bench {
    pub place: Place,
    swappiness: String,
}

impl Bench {
    /// Nothing where these tests cannot switch anything.
    pub fn new() -> Option<Bench> {
        if !testing::is_root() {
            return None;
        }
        let place = Place::alone();
        let root = place.root.path().display().to_string();
        let text = [FLAG, OWN].concat().replace("ROOT", &root);
        fs::write(place.root.path().join("catalogue.toml"), text).unwrap();
        Some(Bench { place, swappiness: fs::read_to_string(SWAPPINESS).unwrap() })
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
        command.args(words.split_whitespace());
        command.env("UNIXMARK_RESULTS", self.place.results());
        command.env("UNIXMARK_CATALOGUE", self.place.root.path().join("catalogue.toml"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn cost(&self, words: &str) -> Output {
        self.command(&format!(
            "cost --long --quick --dir {} {words}",
            self.place.scratch().display()
        ))
        .output()
        .unwrap()
    }

    /// Returns the path of a file in the place of the conditions.
    pub fn file(&self, name: &str) -> std::path::PathBuf {
        self.place.root.path().join(name)
    }

    /// Waits until nothing is switched any more: the guardian needs a moment.
    pub fn is_put_back(&self) {
        wait_for("no ledger", || {
            let ledgers = fs::read_dir(STATE).unwrap().map(|entry| entry.unwrap().path());
            ledgers.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).count() == 0
        });
        assert!(!self.file("flag").exists(), "the user's condition was not left");
        let run = fs::read_dir("/run").unwrap().map(|entry| entry.unwrap().file_name());
        let agents: Vec<_> =
            run.filter(|name| name.to_string_lossy().starts_with("unixmark-")).collect();
        assert!(agents.is_empty(), "{agents:?} were not stopped");
        assert_eq!(fs::read_to_string(SWAPPINESS).unwrap(), self.swappiness);
    }
}

const OWN: &str = r#"
[[condition]]
id = "boxed"
label = "a mount namespace"
means = "command"
levels = ["one", "two"]
enter = "test $1 = one"
verify = "echo level $1"
leave = "true"
prefix = ["unshare", "--mount", "--"]
doc = "Programs are started inside; it has one level."

# It sleeps, and loses every tenth of more events than are made, each time it is looked at.
[[condition]]
id = "agent"
label = "an agent"
means = "command"
enter = "cp /bin/sleep ROOT/watcherd; start_agent watcherd ROOT/watcherd 1000; await_agent watcherd test -e pid"
verify = "verify_agent watcherd; echo x >> /run/unixmark-watcherd/looks"
leave = "stop_agent watcherd"
agent = "watcherd"
doc = "It counts by how often it was looked at."
[condition.counters]
events = "echo $(($(wc -l < /run/unixmark-watcherd/looks) * 90000000))"
lost = "echo $(($(wc -l < /run/unixmark-watcherd/looks) * 10000000))"

[[condition]]
id = "breaks"
label = "an agent that ends at once"
means = "command"
enter = "start_agent breaks sh -c 'echo no such probe >&2'; await_agent breaks false"
verify = "verify_agent breaks"
leave = "stop_agent breaks"
doc = "x"

[[condition]]
id = "miscounts"
label = "an agent that cannot count"
means = "command"
enter = "true"
verify = "true"
leave = "true"
doc = "x"
counters = { events = "echo many" }

[[condition]]
id = "unboxed"
label = "no mount namespace"
means = "command"
enter = "true"
verify = "true"
leave = "true"
prefix = ["env"]
doc = "It claims to start programs inside."

[[condition]]
id = "liar"
label = "never on"
means = "command"
enter = "echo up > ROOT/flag"
verify = "echo it is not there >&2; false"
leave = "rm -f ROOT/flag"
doc = "It cannot be proved."

[[condition]]
id = "fades"
label = "on at first"
means = "command"
enter = "echo 1 > ROOT/flag"
verify = "mv ROOT/flag ROOT/gone"
leave = "rm -f ROOT/flag ROOT/gone"
doc = "It is on when entered and not after the trial."

[[condition]]
id = "dies-entering"
label = "kills the tool while it enters"
means = "command"
enter = "echo up > ROOT/flag; kill -9 $PPID; sleep 1"
verify = "true"
leave = "rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "dies-verifying"
label = "kills the tool while it verifies"
means = "command"
enter = "echo up > ROOT/flag"
verify = "kill -9 $PPID; sleep 1"
leave = "rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "dies-leaving"
label = "kills the tool while it leaves"
means = "command"
enter = "echo up > ROOT/flag"
verify = "true"
leave = "test -e ROOT/died || { touch ROOT/died; kill -9 $PPID; sleep 1; }; rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "dies-with-guardian"
label = "kills the tool and its guardian"
means = "command"
enter = "echo up > ROOT/flag; pkill -9 -P $PPID -f unixmark-[g]uardian; kill -9 $PPID; sleep 1"
verify = "true"
leave = "rm -f ROOT/flag"
doc = "x"
"#;

#[test]
#[ignore = "changes the system"]
fn conditions_are_entered_proved_and_left() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.cost("swappiness=10+flag,swappiness=100 -i 2 syscall");
    assert!(output.status.success(), "{}", stderr(&output));
    bench.is_put_back();
    let report = bench.place.json("latest");
    let names: Vec<&str> = report["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["condition"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["swappiness=10+flag", "swappiness=100"]);
    let proof = report["cost"]["conditions"][0]["evidence"].to_string();
    assert!(proof.contains("/proc/sys/vm/swappiness = 10") && proof.contains("up"), "{proof}");
    assert_eq!(report["cost"]["against"], "none");
}

#[test]
#[ignore = "changes the system"]
fn what_is_not_proved_is_an_error_row() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.cost("liar,fades -i 2 syscall");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    bench.is_put_back();
    let report = bench.place.json("latest");
    assert_eq!(report["comparisons"].as_array().unwrap().len(), 0);
    let reason = |place: usize| report["errors"][place]["reason"].as_str().unwrap().to_owned();
    assert!(
        reason(0).contains("liar could not be switched: its verify command says that it is not on"),
        "{}",
        reason(0)
    );
    assert!(
        reason(1).contains("fades was not in effect, so its cost was not measured"),
        "{}",
        reason(1)
    );
}

/// Each load is under its own condition, and that of the task as well.
#[test]
#[ignore = "changes the system"]
fn loads_have_conditions_of_their_own() {
    let Some(bench) = Bench::new() else { return };
    let _host = testing::host();
    let swaps = || fs::read_to_string("/proc/swaps").unwrap();
    let before = swaps();
    let loads = ["memload-cgroup", "memload-swap", "memload-zram", "write-slow", "write-strict"];
    let scratch = bench.place.scratch().display().to_string();
    let words = format!("latency audio -w {} --quick -t 1 -i 1 --dir {scratch}", loads.join(","));
    let output = bench.command(&words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    bench.is_put_back();
    assert_eq!(swaps(), before);
    let report = bench.place.json("latest");
    let rows = |name: &str, field: &str| {
        let rows = report[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[field].as_str().unwrap_or_default().to_owned());
        rows.collect::<Vec<_>>()
    };
    let skipped = rows("skipped", "reason").join("; ");
    assert_eq!(
        rows("results", "load").len() + rows("skipped", "load").len(),
        loads.len(),
        "{report:#}"
    );
    assert!(rows("results", "load").len() >= 2, "{skipped}");
    let output = bench.cost("swappiness=10 syscall -i 2 --load memload-swap");
    assert!(output.status.success(), "{}", stderr(&output));
    bench.is_put_back();
}

#[test]
#[ignore = "changes the system"]
fn a_tool_killed_at_any_step_leaves_nothing() {
    let Some(bench) = Bench::new() else { return };
    for step in ["dies-entering", "dies-verifying", "dies-leaving"] {
        // The guardian puts back the sysctl that was set before, as well.
        let output = bench.cost(&format!("swappiness=10+{step} -i 2 syscall"));
        assert_eq!(output.status.code(), None, "{step} did not kill it: {}", stderr(&output));
        bench.is_put_back();
    }
}

#[test]
#[ignore = "changes the system"]
fn programs_that_a_row_starts_inside_prove_that_they_are() {
    let Some(bench) = Bench::new() else { return };
    let inside = bench.cost("boxed=one -i 2 syscall");
    assert!(
        inside.status.success() && stdout(&inside).contains("level one"),
        "{}",
        stderr(&inside)
    );
    let outside = bench.cost("unboxed -i 2 syscall");
    assert!(stderr(&outside).contains("reports inside 0"), "{}", stderr(&outside));
    let other = bench.cost("boxed=two -i 2 syscall");
    assert!(stderr(&other).contains("`test $1 = one` failed"), "{}", stderr(&other));
    bench.is_put_back();
}

/// Every means by which a condition switches the system, at moments of chance.
#[test]
#[ignore = "changes the system"]
fn a_tool_killed_at_any_moment_leaves_no_setting_mount_or_group() {
    let Some(bench) = Bench::new() else { return };
    let mut random = Pcg64Mcg::seed_from_u64(35);
    let rounds = if testing::all_must_run() { 2 } else { 1 };
    let conditions = [
        "swappiness=10+flag",
        "cgroup-cpu=50+flag",
        "quota=50:10ms+flag",
        "weight=1000+flag",
        "cpus=1+flag",
        "shield=1+flag",
        "ftrace+flag",
        "fs=ext4+flag",
        "fs=overlay+flag",
        "slow-disk=10:strict+flag",
        "agent+flag",
    ];
    let costs = conditions.map(|condition| format!("cost --quick {condition} -i 9 syscall"));
    let runs = [costs.as_slice(), &["latency video --why -w none -t 60".to_owned()]].concat();
    for run in std::iter::repeat_n(runs, rounds).flatten() {
        let before = traces();
        let words = format!("{run} --dir {}", bench.place.scratch().display());
        let mut child = bench.command(&words).spawn().unwrap();
        // Until then it builds, plans, and switches nothing.
        wait_for("a scratch directory", || {
            fs::read_dir(bench.place.scratch()).unwrap().count() > 0
        });
        std::thread::sleep(Duration::from_millis(random.random_range(0..1500)));
        child.kill().unwrap();
        child.wait().unwrap();
        bench.is_put_back();
        bench.place.assert_gone(Duration::from_secs(20));
        // A loop device goes a little after its mount.
        wait_for("the machine as it was", || traces() == before);
    }
}

/// What conditions leave behind that are not left: mounts, loop devices, control groups, tracing.
fn traces() -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let ours = mounts.lines().filter(|line| line.contains("unixmark")).map(str::to_owned);
    let loops = stdout(&Command::new("losetup").arg("--list").output().unwrap());
    let ours =
        ours.chain(loops.lines().filter(|line| line.contains("unixmark")).map(str::to_owned));
    let folders = ["/sys/fs/cgroup", "/sys/kernel/tracing/instances"];
    let find = Command::new("find")
        .args(folders)
        .args(["-maxdepth", "4", "-name", "unixmark*"])
        .output()
        .unwrap();
    ours.chain(stdout(&find).lines().map(str::to_owned)).collect()
}

#[test]
#[ignore = "changes the system"]
fn where_the_guardian_died_too_restore_puts_it_back() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.cost("swappiness=10+dies-with-guardian -i 2 syscall");
    assert_eq!(output.status.code(), None, "{}", stderr(&output));
    assert!(bench.file("flag").exists());
    assert_eq!(fs::read_to_string(SWAPPINESS).unwrap().trim(), "10");
    let offered = bench.command("list conditions").output().unwrap();
    assert!(stderr(&offered).contains("`unixmark restore` undoes that"), "{}", stderr(&offered));
    assert!(stderr(&offered).contains("swappiness back to"), "{}", stderr(&offered));
    let refused = bench.cost("flag -i 2 syscall");
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("`unixmark restore`"), "{}", stderr(&refused));
    let restored = bench.command("restore").output().unwrap();
    assert!(
        restored.status.success() && stdout(&restored).contains("leave dies-with-guardian"),
        "{}",
        stdout(&restored)
    );
    bench.is_put_back();
    let again = bench.command("restore").output().unwrap();
    assert_eq!(stdout(&again), "there is nothing to undo\n");
}

#[test]
#[ignore = "changes the system"]
fn two_experiments_at_once_are_refused() {
    let Some(bench) = Bench::new() else { return };
    let words =
        format!("cost --quick --dir {} flag -i 50 syscall", bench.place.scratch().display());
    let mut first = bench.command(&words).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !bench.file("flag").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = bench.cost("swappiness=10 -i 2 syscall");
    assert_eq!(second.status.code(), Some(3));
    assert!(
        stderr(&second).contains("another unixmark is switching conditions"),
        "{}",
        stderr(&second)
    );
    // It offers nothing to put back, since that run still goes on.
    assert!(!stderr(&second).contains("restore"), "{}", stderr(&second));
    kill_process(Pid::from_child(&first), Signal::INT).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(130));
    bench.is_put_back();
}

#[test]
#[ignore = "changes the system"]
fn a_loss_that_is_there_is_confirmed_and_fails_the_gate() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.cost("arg:slowed=40 -i 8 --fail-on 10% arithoh");
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let said = stderr(&output);
    let loss = said.lines().find(|line| line.starts_with("unixmark: arithoh: "));
    assert!(loss.is_some_and(|line| line.contains(" % slower under arg:slowed=40")), "{said}");
    let report = bench.place.json("latest");
    let one = &report["comparisons"][0];
    assert_eq!((&one["verdict"], &one["confirmed"]), (&"slower".into(), &true.into()), "{one}");
    let end = |name: &str| one[name].as_f64().unwrap();
    assert!(end("low") < -25.0 && end("high") < -10.0, "{one}");
    let output = bench.cost("arg:slowed=40 -i 6 --fail-on 60% arithoh");
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
#[ignore = "changes the system"]
fn without_rights_it_measures_what_it_can() {
    let Some(bench) = Bench::new() else { return };
    let root = bench.place.root.path();
    for folder in [root, &bench.place.scratch()] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        fs::set_permissions(folder, mode).unwrap();
    }
    // The binary may lie where nobody else can go.
    let tool = root.join("unixmark");
    fs::copy(env!("CARGO_BIN_EXE_unixmark"), &tool).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&tool)
        .args([
            "cost",
            "--quick",
            "audit=all,nice=10",
            "--against",
            "none",
            "-i",
            "2",
            "syscall",
            "--dir",
        ])
        .arg(bench.place.scratch())
        .env("UNIXMARK_RESULTS", root.join("results-of-nobody"))
        .env("XDG_STATE_HOME", root.join("state-of-nobody"))
        .env("XDG_CACHE_HOME", root.join("cache-of-nobody"))
        .env("HOME", root)
        .output()
        .unwrap();
    assert!(stdout(&output).contains("nice=10"), "{}\n{}", stdout(&output), stderr(&output));
    let journal =
        fs::read_dir(root.join("results-of-nobody")).unwrap().next().unwrap().unwrap().path();
    let report = bench.place.json(&journal.display().to_string());
    assert_eq!(report["comparisons"][0]["condition"], "nice=10");
    let skipped = report["skipped"].to_string();
    assert!(
        skipped.contains("audit=all")
            && (skipped.contains("root") || skipped.contains("CAP_AUDIT_CONTROL")),
        "{skipped}"
    );
}

/// Returns true if auditing can be switched here, and may be: once on, it leaves its mark until the
/// machine restarts.
fn can_audit(bench: &Bench) -> bool {
    let may = testing::all_must_run() || Path::new("/run/unixmark/audit-was-on").exists();
    if !may {
        testing::skip("auditing was never on; UNIXMARK_TEST_ALL=1 switches it on");
    }
    if !may || !testing::has("auditctl") {
        return false;
    }
    let list = stdout(&bench.command("list conditions").output().unwrap());
    let row = list.split("\n  audit ").nth(1).unwrap().split("\n  seccomp").next().unwrap();
    let can = !row.contains("not here:");
    if !can {
        testing::skip(row);
    }
    can
}

#[test]
#[ignore = "changes the system"]
fn the_state_of_auditing_is_put_back_after_a_kill() {
    let Some(bench) = Bench::new() else { return };
    if !can_audit(&bench) {
        return;
    }
    let state = || {
        let status = stdout(&Command::new("/usr/sbin/auditctl").arg("-s").output().unwrap());
        let kept = status.lines().filter(|line| {
            !line.starts_with("lost") && !line.starts_with("backlog_wait_time_actual")
        });
        let rules = stdout(&Command::new("/usr/sbin/auditctl").arg("-l").output().unwrap());
        (kept.map(str::to_owned).collect::<Vec<String>>(), rules)
    };
    let before = state();
    for step in ["dies-entering", "dies-verifying", "dies-leaving", "dies-with-guardian"] {
        let _ = fs::remove_file(bench.file("died"));
        let output = bench.cost(&format!("audit=all+{step} -i 2 syscall"));
        assert_eq!(output.status.code(), None, "{step}: {}", stderr(&output));
        if step == "dies-with-guardian" {
            assert!(bench.command("restore").output().unwrap().status.success());
        }
        bench.is_put_back();
        assert_eq!(state(), before, "{step}");
    }
}

#[test]
#[ignore = "changes the system"]
fn a_full_disk_under_the_trail_ends_the_run_with_its_reason() {
    let Some(bench) = Bench::new() else { return };
    if !can_audit(&bench) {
        return;
    }
    let small = bench.file("small");
    fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=3m", "none"])
        .arg(&small)
        .status()
        .unwrap();
    assert!(mounted.success());
    let words = format!("cost --long audit=all -i 30 syscall --dir {}", small.display());
    let output = bench.command(&words).output().unwrap();
    let capped = format!("cost audit=all -i 1 syscall --trail-limit 1m --dir {}", small.display());
    // On a busy disk records wait too long now and then.
    let run = |_| bench.command(&capped).output().unwrap();
    let capped = (0..2).fold(
        run(0),
        |output, number| {
            if output.status.success() { output } else { run(number) }
        },
    );
    assert!(Command::new("umount").arg(&small).status().unwrap().success());
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
    assert!(stderr(&output).contains("the trail could not be written"), "{}", stderr(&output));
    assert!(stdout(&output).contains("the run ended early: "), "{}", stdout(&output));
    assert!(capped.status.success(), "a trail of 1 MiB has room: {}", stderr(&capped));
    bench.is_put_back();
}
