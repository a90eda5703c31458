//! Kernel auditing for real: entered, counted and put back on this machine, as root. Once on, it
//! leaves a mark until the machine starts again, so the tests that switch it on need that it was on
//! before, or UNIXMARK_TEST_ALL=1.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ::conditions::{self, Entered, Flush, Ledger, Refusal, Settings, Sink};
use ::machine::Machine;
use catalogue::Catalogue;
use journal::{Evidence, Trial};
use tempfile::TempDir;

use crate::room::prove;

/// A rule that nobody else has, as a machine's own.
const FOREIGN: [&str; 9] =
    ["-a", "always,exit", "-F", "arch=b64", "-S", "acct", "-F", "auid=12345", "-kforeign"];

/// The login uid of measured programs, as `auditctl -l` has it.
pub(super) const SENTINEL: &str = "1970102642";

pub(super) fn auditctl(words: &[&str]) -> String {
    let output = Command::new("/usr/sbin/auditctl").args(words).output().unwrap();
    assert!(
        output.status.success(),
        "auditctl {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// One setting of `auditctl -s`.
pub(super) fn setting(name: &str) -> String {
    let text = auditctl(&["-s"]);
    let line = text.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
    line.split(' ').nth(1).unwrap().to_owned()
}

/// Everything of the state, without what only counts up.
pub(super) fn state() -> String {
    let status = auditctl(&["-s"]);
    let counts = ["lost", "backlog", "backlog_wait_time_actual"];
    let kept = status.lines().filter(|line| !counts.contains(&line.split(' ').next().unwrap()));
    kept.chain(auditctl(&["-l"]).lines()).map(|line| format!("{line}\n")).collect()
}

/// The machine, for one test: odd settings and a rule of its own, which go with this.
pub(super) struct Stage {
    pub settings: Settings,
    pub before: String,
    own: [(&'static str, String); 5],
    pub scratch: TempDir,
    _lock: files::Lock,
    _alone: testing::Machine,
}

impl Stage {
    /// Nothing where auditing cannot be had.
    pub(super) fn set() -> Option<Stage> {
        if !testing::is_root() || !testing::has("auditctl") {
            return None;
        }
        if !Command::new("/usr/sbin/auditctl")
            .arg("-s")
            .output()
            .is_ok_and(|output| output.status.success())
        {
            testing::skip("auditctl has no rights here");
            return None;
        }
        let alone = testing::Machine::alone();
        let wait = |_| {
            conditions::lock().inspect_err(|_| std::thread::sleep(Duration::from_millis(100))).ok()
        };
        let lock = (0..600).find_map(wait).unwrap();
        let own = [
            ("-e", setting("enabled")),
            ("-b", setting("backlog_limit")),
            ("-f", setting("failure")),
            ("-r", setting("rate_limit")),
            ("--backlog_wait_time", setting("backlog_wait_time")),
        ];
        for (option, value) in
            [("-b", "77"), ("-f", "1"), ("-r", "0"), ("--backlog_wait_time", "14000")]
        {
            auditctl(&[option, value]);
        }
        auditctl(&FOREIGN);
        let scratch =
            tempfile::Builder::new().prefix("unixmark-audit-").tempdir_in("/var/tmp").unwrap();
        let settings = Settings { scratch: scratch.path().to_path_buf(), ..Settings::default() };
        Some(Stage { settings, before: state(), own, scratch, _lock: lock, _alone: alone })
    }

    /// Nothing where auditing may not be switched on.
    pub(super) fn switched() -> Option<Stage> {
        let stage = Stage::set()?;
        let was_on = stage
            .available("audit=never-on")
            .is_err_and(|why| why.contains("since the machine started"));
        if !was_on && !testing::all_must_run() {
            testing::skip("auditing was never on; UNIXMARK_TEST_ALL=1 switches it on");
            return None;
        }
        Some(stage)
    }

    fn available(&self, name: &str) -> Result<(), String> {
        // The rule of the test's own is in the way of knowing.
        auditctl(&[&["-d"], &FOREIGN[1..]].concat());
        let condition =
            &Catalogue::load().unwrap().expand_conditions(&[name.to_owned()]).unwrap()[0];
        let (switch, level) = &condition.parts[0];
        let said = conditions::available(switch, level, &Machine::here());
        auditctl(&FOREIGN);
        said
    }

    pub(super) fn enter(&self, name: &str, ledger: &mut Ledger) -> Result<Entered, Refusal> {
        let condition =
            &Catalogue::load().unwrap().expand_conditions(&[name.to_owned()]).unwrap()[0];
        conditions::enter(
            condition,
            &Machine::here(),
            &self.settings,
            ledger,
            self.scratch.path(),
            None,
        )
    }

    /// Returns why a level cannot be entered, if it cannot; it is put back.
    pub fn refusal(&self, name: &str) -> Option<Refusal> {
        let mut ledger = Ledger::open().unwrap();
        let refusal = self.enter(name, &mut ledger).err();
        ledger.close().unwrap();
        refusal
    }

    /// Enters a level, has `work` done in a window, and proves it; everything is put back. Where
    /// others kept the disk busy, so that the records had to wait for it, once more.
    pub(super) fn measure(
        &self,
        name: &str,
        mut work: impl FnMut(&Stage),
    ) -> Result<Evidence, String> {
        let found = self.measure_once(name, &mut work);
        let is_held_up = found.as_ref().is_err_and(|why| why.contains("waited for the disk"));
        if is_held_up { self.measure_once(name, &mut work) } else { found }
    }

    fn measure_once(&self, name: &str, work: &mut impl FnMut(&Stage)) -> Result<Evidence, String> {
        let mut ledger = Ledger::open().unwrap();
        let mut entered = self.enter(name, &mut ledger).map_err(|why| format!("{why:?}"))?;
        let before = fs::read_to_string("/proc/thread-self/loginuid").unwrap();
        assert_eq!(before, SENTINEL);
        let start = monotonic();
        // The clock of stamps is up to a tick or two behind: work at the very edges would be shared
        // with what is outside.
        std::thread::sleep(Duration::from_millis(30));
        work(self);
        std::thread::sleep(Duration::from_millis(30));
        let end = monotonic();
        let evidence = prove(&mut entered, &Trial::default(), start..end, None);
        drop(entered);
        assert_ne!(fs::read_to_string("/proc/thread-self/loginuid").unwrap(), SENTINEL);
        ledger.close().unwrap();
        assert_eq!(state(), self.before);
        evidence.map_err(|refusal| refusal.to_string())
    }

    pub(super) fn rules(&self, text: &str) -> String {
        let file = self.scratch.path().join("my.rules");
        fs::write(&file, text).unwrap();
        format!("audit=rules:{}", file.display())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        auditctl(&[&["-d"], &FOREIGN[1..]].concat());
        self.own.iter().for_each(|(option, value)| drop(auditctl(&[option, value])));
    }
}

fn monotonic() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// A program that makes its system calls when told to.
pub(super) struct Caller {
    child: Child,
}

impl Caller {
    /// Builds it.
    pub(super) fn build(stage: &Stage) -> PathBuf {
        let (source, program) =
            (stage.scratch.path().join("caller.c"), stage.scratch.path().join("caller"));
        let text = "#include <stdlib.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main(int n, char **v)\n{\n\
                    char c = 'd';\n(void)n;\nwrite(1, &c, 1);\nread(0, &c, 1);\nfor (long i = atol(v[1]); i; i--) \
                    syscall(SYS_getppid);\nwrite(1, &c, 1);\nread(0, &c, 1);\nreturn 0;\n}\n";
        fs::write(&source, text).unwrap();
        assert!(
            Command::new("cc")
                .arg("-w")
                .arg("-O2")
                .arg("-o")
                .arg(&program)
                .arg(&source)
                .status()
                .unwrap()
                .success()
        );
        program
    }

    fn start(program: &Path, calls: u32) -> Caller {
        let mut command = Command::new(program);
        command.arg(calls.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut caller = Caller { child: command.spawn().unwrap() };
        caller.heard();
        caller
    }

    fn go(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"g").unwrap();
    }

    fn heard(&mut self) {
        self.child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// Has `callers` programs make `calls` calls each, all at once.
pub(super) fn calls(program: &Path, callers: usize, calls: u32) {
    let mut all: Vec<Caller> = (0..callers).map(|_| Caller::start(program, calls)).collect();
    all.iter_mut().for_each(Caller::go);
    all.iter_mut().for_each(Caller::heard);
    all.into_iter().for_each(Caller::end);
}

#[test]
#[ignore = "changes the system"]
fn off_is_a_rule_for_the_programs_alone_and_goes_without_a_trace() {
    let Some(stage) = Stage::set() else { return };
    let evidence = stage.measure("audit=off", |stage| {
        let rules = auditctl(&["-l"]);
        assert!(rules.contains(&format!("-a never,task -F auid={SENTINEL}")), "{rules}");
        assert!(rules.contains("acct"), "{rules}");
        assert_eq!(
            state().replace(&format!("-a never,task -F auid={SENTINEL}\n"), ""),
            stage.before
        );
    });
    let evidence = evidence.unwrap();
    assert!(evidence.trail.is_none() && evidence.notes[0].contains("task,never"));
}

#[test]
#[ignore = "changes the system"]
fn what_a_killed_tool_leaves_is_put_back_by_the_ledger() {
    let Some(stage) = Stage::set() else { return };
    let mut ledger = Ledger::open().unwrap();
    std::mem::forget(stage.enter("audit=off", &mut ledger).unwrap());
    drop(ledger);
    assert_ne!(state(), stage.before);
    assert_eq!(conditions::restore().unwrap().steps.len(), 1);
    assert_eq!(conditions::restore().unwrap().steps.len(), 0);
    assert_eq!(state(), stage.before);
    fs::write("/proc/thread-self/loginuid", "4294967295").unwrap();
}

#[test]
#[ignore = "changes the system"]
fn rules_that_name_the_programs_are_in_the_way() {
    let Some(stage) = Stage::set() else { return };
    let field = format!("auid={SENTINEL}");
    auditctl(&["-a", "never,exit", "-S", "acct", "-F", &field]);
    let refused = stage.refusal("audit=off");
    auditctl(&["-d", "never,exit", "-S", "acct", "-F", &field]);
    assert!(
        matches!(refused, Some(Refusal::Unavailable(why)) if why.contains("`unixmark restore`"))
    );
}

#[test]
#[ignore = "changes the system"]
fn never_on_is_refused_where_there_are_rules() {
    let Some(stage) = Stage::set() else { return };
    let refused = stage.refusal("audit=never-on");
    assert!(
        matches!(refused, Some(Refusal::Unavailable(why)) if why.contains("it may have been on"))
    );
}

#[test]
#[ignore = "changes the system"]
fn a_program_s_calls_are_counted_one_by_one() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    let level = stage.rules(
        "-D\n-a always,exit -F arch=b64 -S getppid -F success=1 -k mine\n-w /no/such/path -p wa\n",
    );
    for sink in [Sink::Count, Sink::File] {
        stage.settings.trail.sink = sink;
        let evidence = stage
            .measure(&level, |stage| {
                let rules = auditctl(&["-l"]);
                assert!(rules.contains(&format!("-a never,task -F auid!={SENTINEL}")), "{rules}");
                assert!(
                    rules.contains(&format!(
                        "-S getppid -F success=1 -F auid={SENTINEL} -F key=mine"
                    )),
                    "{rules}"
                );
                assert_eq!(
                    (setting("enabled"), setting("pid")),
                    ("1".to_owned(), std::process::id().to_string())
                );
                calls(&program, 1, 5000);
                assert!(stage.scratch.path().exists());
            })
            .unwrap();
        let trail = evidence.trail.unwrap();
        assert_eq!((trail.events, trail.all_events, trail.lost), (5000, 5000, 0), "{trail:?}");
        assert_eq!(trail.records, 10000);
        assert!((150..600).contains(&(trail.bytes / trail.events)), "{trail:?}");
        assert!(
            trail.bytes == trail.all_bytes && trail.kernel_cpu_s > 0.0 && trail.sink_cpu_s > 0.0,
            "{trail:?}"
        );
        assert!(
            evidence.notes.iter().any(|note| note.contains("1 of 2 rules")),
            "{:?}",
            evidence.notes
        );
        assert_eq!(evidence.figures["rules"].0, 1.0);
        assert!(!stage.scratch.path().join("trail.log").exists());
    }
}

#[test]
#[ignore = "changes the system"]
fn every_call_of_two_busy_programs_is_counted_and_none_is_lost() {
    let Some(stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    // How many calls it takes to start a program and to end it depends on the machine.
    let idle = stage.measure("audit=all", |_| calls(&program, 2, 0)).unwrap().trail.unwrap();
    let mut size = 0;
    let evidence = stage
        .measure("audit=all", |stage| {
            calls(&program, 2, 20_000);
            size = testing::settled(&stage.scratch.path().join("trail.log"));
        })
        .unwrap();
    let trail = evidence.trail.unwrap();
    // A few more are this test's, which waits for the trail.
    assert!((40_000..40_100).contains(&(trail.events - idle.events)), "{idle:?} {trail:?}");
    assert_eq!(trail.lost, 0);
    assert!(
        size >= trail.bytes && size < trail.bytes + trail.bytes / 100 + 4096,
        "{size} {trail:?}"
    );
}

#[test]
#[ignore = "changes the system"]
fn degrees_from_no_rules_to_many() {
    let Some(stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    let events = |level: &str| {
        let evidence = stage
            .measure(&format!("audit={level}"), |stage| {
                calls(&program, 1, 10);
                fs::write(stage.scratch.path().join("file"), "").unwrap();
                assert!(
                    Command::new("touch")
                        .arg(stage.scratch.path().join("file"))
                        .status()
                        .unwrap()
                        .success()
                );
            })
            .unwrap();
        let rules = evidence.figures["rules"].0;
        (rules, evidence.trail.unwrap().events)
    };
    assert_eq!(events("on"), (0.0, 0));
    let (rules, count) = events("exec");
    assert!(rules == 1.0 && (2..20).contains(&count), "{count}");
    let (_, opened) = events("open");
    assert!((4..400).contains(&opened), "{opened}");
    assert!(events("identity").0 >= 2.0 && events("files").0 >= 5.0);
    assert!(events("stig-like").0 >= 20.0);
}

#[test]
#[ignore = "changes the system"]
fn off_after_on_is_told_apart_from_never_on() {
    let Some(stage) = Stage::switched() else {
        return;
    };
    let mut ledger = Ledger::open().unwrap();
    let mut entered = stage.enter("audit=off-after-on", &mut ledger).unwrap();
    let now = monotonic();
    let evidence = prove(&mut entered, &Trial::default(), now..now + 1, None).unwrap();
    assert!(evidence.notes[0].contains("after it had been on"));
    drop(entered);
    ledger.close().unwrap();
    assert_eq!(state(), stage.before);
    assert!(stage.available("audit=never-on").unwrap_err().contains("since the machine started"));
}

#[test]
#[ignore = "changes the system"]
fn another_s_changes_are_no_proof() {
    let Some(stage) = Stage::switched() else {
        return;
    };
    let off = stage.measure("audit=on", |_| drop(auditctl(&["-e", "0"]))).unwrap_err();
    assert!(off.contains("enabled is 0 and should be 1"), "{off}");
    let field = format!("auid={SENTINEL}");
    let rules = stage.measure("audit=exec", |_| {
        drop(auditctl(&["-a", "never,exit", "-S", "acct", "-F", &field]))
    });
    assert!(rules.unwrap_err().contains("another process changed the rules"));
    let nothing = stage.measure("audit=all", |_| ()).unwrap_err();
    assert!(nothing.contains("no event came from the window"), "{nothing}");
}

#[test]
#[ignore = "changes the system"]
fn a_full_disk_is_an_error_with_its_reason() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    let disk = stage.scratch.path().join("disk");
    fs::create_dir(&disk).unwrap();
    assert!(
        Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(&disk)
            .status()
            .unwrap()
            .success()
    );
    stage.settings.scratch = disk.clone();
    let full = stage.measure("audit=all", |_| calls(&program, 1, 5000));
    stage.settings.trail.limit = 128 * 1024;
    let capped = stage.measure("audit=all", |_| calls(&program, 1, 5000));
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    let why = full.unwrap_err();
    assert!(
        why.contains("the trail could not be written: No space left") && why.contains("make room"),
        "{why}"
    );
    assert!(capped.unwrap().trail.unwrap().events >= 5000);
}

#[test]
#[ignore = "changes the system"]
fn flushes_are_auditd_s() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    for flush in
        [Flush::None, Flush::Incremental, Flush::IncrementalAsync, Flush::Data, Flush::Sync]
    {
        stage.settings.trail.flush = flush;
        let evidence = stage.measure("audit=exec", |_| calls(&program, 4, 1)).unwrap();
        assert!(evidence.trail.unwrap().all_events >= 4, "{flush:?}");
    }
}

#[test]
#[ignore = "changes the system"]
fn auditd_itself_keeps_the_trail() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    if !testing::has("auditd") {
        return;
    }
    let program = Caller::build(&stage);
    fs::set_permissions(stage.scratch.path(), fs::Permissions::from_mode(0o700)).unwrap();
    stage.settings.trail.sink = Sink::Auditd;
    let level = stage.rules("-a always,exit -F arch=b64 -S getppid -k mine\n");
    let evidence = stage
        .measure(&level, |_| {
            assert_ne!(setting("pid"), std::process::id().to_string());
            calls(&program, 1, 1000);
        })
        .unwrap();
    let trail = evidence.trail.unwrap();
    assert_eq!((trail.events, trail.lost), (1000, 0), "{trail:?}");
    assert!(trail.all_events == 1000 && trail.records == 2000, "{trail:?}");
    assert!(trail.sink_cpu_s > 0.0, "{trail:?}");
    assert_eq!(
        fs::read_dir(stage.scratch.path()).unwrap().count(),
        3,
        "its directory goes with it"
    );
    assert_eq!(setting("pid"), "0");
}

/// Returns how many events with the key `mine` laurel has written.
fn events_of_laurel() -> usize {
    let logs = fs::read_dir("/var/log/laurel").into_iter().flatten().flatten();
    logs.map(|log| fs::read_to_string(log.path()).unwrap_or_default().matches("\"mine\"").count())
        .sum()
}

#[test]
#[ignore = "changes the system"]
fn plugins_of_auditd_have_the_records_too() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    if !testing::has("auditd") || !testing::has("laurel") {
        return;
    }
    let program = Caller::build(&stage);
    fs::set_permissions(stage.scratch.path(), fs::Permissions::from_mode(0o700)).unwrap();
    stage.settings.trail.sink = Sink::AuditdPlugins;
    let level = stage.rules("-a always,exit -F arch=b64 -S getppid -k mine\n");
    let before = events_of_laurel();
    let trail = stage.measure(&level, |_| calls(&program, 1, 1000)).unwrap().trail.unwrap();
    assert_eq!((trail.events, trail.lost), (1000, 0), "{trail:?}");
    // It writes what is left of them once auditd has ended.
    for _ in 0..200 {
        if events_of_laurel() == before + 1000 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(events_of_laurel(), before + 1000);
}

#[test]
#[ignore = "changes the system"]
fn a_tool_that_was_killed_leaves_auditing_to_the_ledger() {
    let Some(stage) = Stage::switched() else {
        return;
    };
    for sink in ["file", "auditd"] {
        let mut tool = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--include-ignored", "audit::the_tool_that_is_killed"])
            .env(KILLED, sink)
            .env("UNIXMARK_TEST_SCRATCH", stage.scratch.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Its parent need not know yet that it is dead.
        let dead = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(
            rustix::process::WaitId::Pid(rustix::process::Pid::from_child(&tool)),
            dead,
        )
        .unwrap();
        assert_eq!(setting("enabled"), "1");
        assert!(!conditions::restore().unwrap().steps.is_empty());
        assert_eq!(state(), stage.before, "{sink}");
        assert!(!tool.wait().unwrap().success());
        assert!(conditions::restore().unwrap().steps.is_empty());
        let left: Vec<_> = fs::read_dir(stage.scratch.path()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Names the sink of the tool that is killed.
const KILLED: &str = "UNIXMARK_TEST_KILLED";

/// Not a test: the other one's tool, started by it.
#[test]
#[ignore = "changes the system"]
fn the_tool_that_is_killed() {
    let Some(sink) = std::env::var_os(KILLED) else {
        return;
    };
    let scratch = PathBuf::from(std::env::var_os("UNIXMARK_TEST_SCRATCH").unwrap());
    let mut settings = Settings { scratch: scratch.clone(), ..Settings::default() };
    settings.trail.sink = if sink == "auditd" { Sink::Auditd } else { Sink::File };
    let condition =
        &Catalogue::load().unwrap().expand_conditions(&["audit=all".to_owned()]).unwrap()[0];
    let mut ledger = Ledger::open().unwrap();
    let _entered =
        conditions::enter(condition, &Machine::here(), &settings, &mut ledger, &scratch, None);
    assert!(Command::new("true").status().unwrap().success());
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .unwrap();
}
