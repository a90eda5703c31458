//! Auditing switched on, proved and put back, on a kernel in memory: no root, no waiting.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use journal::{Evidence, Trail};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::audit::kernel::{Setting, Status};
use crate::audit::levels::Level;
use crate::audit::rule::{Field, Rule, field, list, op};
use crate::audit::scope::{SENTINEL, exclude_others, exclude_programs, limit_to_programs};
use crate::audit::state::{put_back, wait_until_drained};
use crate::audit::syntax::{Unknown, parse};
use crate::audit::system::System;
use crate::audit::tests::fake::{Fake, KAUDITD, foreign, system, write};
use crate::audit::{Auditing, Found, Ready, Sink, Surroundings, TrailSettings, clock};
use crate::ledger::Undo;

pub(crate) mod fake;
mod in_use;
mod received;

/// The call that the tests' rules are about, and one of the machine's own.
const CALL: u32 = 110;
const OTHER_CALL: u32 = 60;

/// A process that is not the tool's.
const DAEMON: u32 = 4242;

/// A machine with rules of its own.
struct Bench {
    root: TempDir,
    fake: Arc<Fake>,
    system: System,
    steps: Steps,
    settings: TrailSettings,
}

/// A ledger that checks that it is written first.
struct Steps {
    fake: Arc<Fake>,
    undo: Vec<Undo>,
}

impl Steps {
    fn record(&mut self, undo: Undo) -> Result<(), String> {
        if let Undo::Audit { .. } = undo {
            assert_eq!(self.fake.inner().changes, [""; 0], "changed before it was written down");
        }
        self.undo.push(undo);
        Ok(())
    }

    /// What was found, if anything was to be changed.
    fn found(&self) -> Option<Found> {
        self.undo
            .iter()
            .find_map(|undo| if let Undo::Audit { found } = undo { Some(*found) } else { None })
    }
}

impl Bench {
    fn new() -> Bench {
        let (root, fake, system) = system();
        fake.inner().rules = vec![foreign(OTHER_CALL), foreign(61)];
        let steps = Steps { fake: Arc::clone(&fake), undo: Vec::new() };
        Bench {
            root,
            fake,
            system,
            steps,
            settings: TrailSettings { sink: Sink::Count, ..TrailSettings::default() },
        }
    }

    fn enter(&mut self, level: Level) -> Result<Auditing, String> {
        let scratch = self.root.path();
        let record = &mut |undo| self.steps.record(undo);
        Ready::new(self.system.clone(), level)?.enter(Surroundings {
            settings: &self.settings,
            scratch,
            record,
        })
    }

    /// Enters `text`'s rules, has `work` done, proves it, and leaves.
    fn measure(&mut self, text: &str, work: impl FnOnce(&Bench)) -> Result<Evidence, String> {
        let mut auditing = self.enter(rules(text))?;
        self.fake.settle();
        work(self);
        let mut evidence = Evidence::default();
        auditing.prove(&window(), &mut evidence).map(|()| evidence)
    }

    /// Makes calls as a measured program.
    fn calls(&self, count: u32) {
        (0..count).for_each(|_| self.fake.inner().call(CALL, SENTINEL));
    }

    /// Starts a process that receives the records from now on.
    fn start_daemon(&self) {
        for (file, text) in [("comm", "auditd\n"), ("cmdline", "auditd\0")] {
            write(self.root.path(), &format!("/proc/{DAEMON}/{file}"), text);
        }

        self.fake.inner().status.pid = DAEMON;
    }

    fn login_uid(&self) -> String {
        std::fs::read_to_string(self.root.path().join("proc/thread-self/loginuid")).unwrap()
    }

    /// Everything that must be as it was: settings, rules in their order, and the login uid.
    fn state(&self) -> (Status, Vec<Rule>, String) {
        let inner = self.fake.inner();
        let status = Status { lost: 0, backlog: 0, waited: None, ..inner.status };
        (status, inner.rules.clone(), self.login_uid())
    }

    fn is_marked(&self) -> bool {
        self.root.path().join("run/unixmark/audit-was-on").exists()
    }
}

/// One rule about [`CALL`], as an administrator writes it.
const ONE: &str = "-a always,exit -F arch=b64 -S 110 -k mine";

fn rules(text: &str) -> Level {
    Level::On(parse(text, "my.rules", Unknown::Refuse).unwrap())
}

/// Everything until now, and a little more.
fn window() -> Range<u64> {
    0..clock::monotonic_ns() + 1_000_000_000
}

fn trail(evidence: Evidence) -> Trail {
    evidence.trail.unwrap()
}

fn has_note(evidence: &Evidence, part: &str) -> bool {
    evidence.notes.iter().any(|note| note.contains(part))
}

#[test]
fn the_programs_are_audited_and_nobody_else_and_everything_is_put_back() {
    let mut bench = Bench::new();
    let before = bench.state();
    let evidence = bench.measure(ONE, |bench| {
        let (status, listed, login_uid) = bench.state();
        assert_eq!((status.enabled, status.pid), (1, std::process::id()));
        assert_eq!(status.backlog_limit, 1024);
        assert!(listed.contains(&exclude_others()) && login_uid == SENTINEL.to_string());
        bench.calls(3);
        let mut inner = bench.fake.inner();
        inner.call(CALL + 1, SENTINEL);
        inner.call(CALL, 1000);
        inner.call(OTHER_CALL, 12_345);
    });
    let evidence = evidence.unwrap();
    assert!(
        has_note(&evidence, "for the first time")
            && has_note(&evidence, "2 rules of the machine's own")
    );
    assert_eq!(evidence.figures["rules"].0, 1.0);
    let trail = trail(evidence);
    assert_eq!((trail.events, trail.all_events, trail.records, trail.lost), (3, 3, 6, 0));
    assert!(trail.bytes > 3 * 60 && trail.bytes == trail.all_bytes);
    assert_eq!(bench.state(), before);
    assert!(bench.is_marked(), "what cannot be put back is written down");
}

#[test]
fn rules_stand_in_their_order_before_the_machine_s() {
    let mut bench = Bench::new();
    let text = "-a always,exit -S 1 -k a\n-a never,exit -S 2\n-a always,exit -S 3\n";
    let Level::On(set) = rules(text) else { panic!() };
    let own: Vec<Rule> =
        set.rules.iter().map(|line| limit_to_programs(line.rule.clone(), None)).collect();
    let wanted: Vec<Rule> = own.into_iter().chain([foreign(OTHER_CALL), foreign(61)]).collect();
    bench
        .measure(text, |bench| {
            let exit: Vec<Rule> =
                bench.state().1.into_iter().filter(|rule| rule.list == list::EXIT).collect();
            assert_eq!(exit, wanted);
        })
        .unwrap();
}

#[test]
fn rules_that_cannot_be_loaded_are_counted() {
    let mut bench = Bench::new();
    let text = format!("-w /absent -p wa\n{ONE}\n{ONE}\n");
    let evidence = bench.measure(&text, |bench| bench.calls(1)).unwrap();
    assert!(has_note(&evidence, "1 of 3 rules could be loaded"), "{:?}", evidence.notes);
    assert!(has_note(&evidence, "my.rules:1: its path does not exist"));
    assert!(has_note(&evidence, "my.rules:2: an identical rule follows"));
    assert_eq!(trail(evidence).events, 1);
}

#[test]
fn off_excludes_the_programs_by_a_rule_that_must_come_first() {
    let mut bench = Bench::new();
    bench.fake.inner().status.enabled = 1;
    let before = bench.state();
    let mut off = bench.enter(Level::Off).unwrap();
    assert_eq!(bench.state().1[0], exclude_programs());
    assert_eq!(bench.login_uid(), SENTINEL.to_string());
    assert_eq!(bench.state().0, before.0, "nothing is set");
    let mut evidence = Evidence::default();
    off.prove(&window(), &mut evidence).unwrap();
    assert!(has_note(&evidence, "task,never") && evidence.trail.is_none());
    let mut other = exclude_programs();
    other.fields.push(Field::number(field::PID, op::EQUAL, 1));
    bench.system.kernel.prepend(&other).unwrap();
    assert!(off.prove(&window(), &mut evidence).unwrap_err().contains("changed the rules"));
    bench.system.kernel.delete(&other).unwrap();
    drop(off);
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.state(), before);
}

#[test]
fn off_after_on_switches_on_once() {
    let mut bench = Bench::new();
    let before = bench.state();
    let mut off = bench.enter(Level::OffAfterOn).unwrap();
    assert_eq!(bench.fake.inner().changes, ["Enabled 1", "Enabled 0"]);
    assert!(bench.is_marked());
    let mut evidence = Evidence::default();
    off.prove(&window(), &mut evidence).unwrap();
    assert!(has_note(&evidence, "after it had been on"));
    bench.fake.inner().status.enabled = 1;
    assert!(off.prove(&window(), &mut evidence).unwrap_err().contains("switched auditing on"));
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.state(), before);
    bench.fake.inner().changes.clear();
    bench.enter(Level::OffAfterOn).unwrap();
    assert_eq!(bench.fake.inner().changes, [""; 0], "it was on already");
}

#[test]
fn never_on_ends_when_auditing_is_switched_on() {
    let mut bench = Bench::new();
    assert!(bench.enter(Level::NeverOn).err().unwrap().contains("2 rules are loaded"));
    bench.fake.inner().rules.clear();
    let mut evidence = Evidence::default();
    let mut never = bench.enter(Level::NeverOn).unwrap();
    never.prove(&window(), &mut evidence).unwrap();
    assert_eq!((bench.fake.inner().changes.len(), bench.steps.undo.len()), (0, 0));
    bench.measure(ONE, |bench| bench.calls(1)).unwrap();
    let why = bench.enter(Level::NeverOn).err().unwrap();
    assert!(
        why.contains("since the machine started") && why.contains("audit-was-on is there"),
        "{why}"
    );
    assert_eq!(never.prove(&window(), &mut evidence), Err(why));
    // The mark of another boot says nothing about this one; the kernel's command line does.
    write(bench.root.path(), "/run/unixmark/audit-was-on", "that-boot\n");
    assert!(bench.enter(Level::NeverOn).is_ok());
    write(bench.root.path(), "/proc/cmdline", "quiet audit=1\n");
    assert!(bench.enter(Level::NeverOn).err().unwrap().contains("the kernel was started with it"));
}

#[test]
fn a_failure_at_any_step_leaves_everything_as_it_was() {
    let text = format!("{ONE}\n-a always,exit -S 111\n");
    for (name, on) in [("off", false), ("off-after-on", false), ("on", false), ("on", true)] {
        for budget in 0..99 {
            let mut bench = Bench::new();
            bench.fake.inner().status.enabled = u32::from(on);
            let before = bench.state();
            bench.fake.inner().budget = Some(budget);
            let entered = bench.enter(if name == "on" {
                rules(&text)
            } else {
                Level::new(name, None).unwrap()
            });
            let failed = entered.is_err();
            drop(entered);
            bench.fake.inner().budget = None;
            put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
            assert_eq!(bench.state(), before, "{name}, failing at change {budget}");
            if !failed {
                assert!(budget > 0, "{name} changes nothing");
                break;
            }

            assert!(budget < 98, "{name} is never entered");
        }
    }
}

#[test]
fn putting_back_may_fail_and_be_repeated() {
    for budget in 0..99 {
        let mut bench = Bench::new();
        let before = bench.state();
        std::mem::forget(bench.enter(rules(ONE)).unwrap());
        bench.fake.inner().budget = Some(budget);
        let found = bench.steps.found().unwrap();
        let failed = put_back(&bench.system, &found).is_err();
        bench.fake.inner().budget = None;
        put_back(&bench.system, &found).unwrap();
        put_back(&bench.system, &found).unwrap();
        assert_eq!(
            (bench.state().0, bench.state().1),
            (before.0, before.1),
            "failing at change {budget}"
        );
        if !failed {
            assert!(budget > 4, "there are at least five things to put back");
            break;
        }
    }
}

#[test]
fn a_lock_set_meanwhile_is_reported() {
    let mut bench = Bench::new();
    let _on = bench.enter(rules(ONE)).unwrap();
    bench.fake.inner().status.enabled = 2;
    let why = put_back(&bench.system, &bench.steps.found().unwrap()).unwrap_err();
    assert!(why.contains("locked meanwhile"), "{why}");
}

#[test]
fn queue_waits_and_processor_time_are_measured() {
    let mut bench = Bench::new();
    let schedstat = format!("/proc/{KAUDITD}/task/{KAUDITD}/schedstat");
    write(bench.root.path(), &schedstat, "5000 0 0\n");
    let evidence = bench.measure(ONE, |bench| {
        bench.calls(1);
        write(bench.root.path(), &schedstat, "2000005000 0 0\n");
        let mut inner = bench.fake.inner();
        inner.status.waited = Some(3 + 500);
        inner.overrun();
        drop(inner);
        bench.fake.settle();
    });
    let evidence = evidence.unwrap();
    assert!(
        has_note(&evidence, "no room on the socket for records 1 times"),
        "{:?}",
        evidence.notes
    );
    let trail = trail(evidence);
    assert!((trail.kernel_cpu_s - 2.0).abs() < 1e-9 && trail.sink_cpu_s > 0.0);
    assert!((trail.waited_s - 500.0 * clock::tick_ns() / 1e9).abs() < 1e-9);
    let mut bench = Bench::new();
    bench.fake.inner().status.waited = None;
    assert!(has_note(
        &bench.measure(ONE, |_| ()).unwrap(),
        "does not count how long processes waited"
    ));
}

#[test]
fn the_queue_is_waited_for() {
    let bench = Bench::new();
    assert!(wait_until_drained(&bench.system, Duration::from_millis(10)));
    bench.fake.inner().status.backlog = 3;
    assert!(!wait_until_drained(&bench.system, Duration::from_millis(10)));
}

#[test]
fn what_others_change_is_no_proof() {
    let own = || limit_to_programs(foreign(CALL), None);
    type Change = fn(&Bench);
    let changes: [(&str, Change); 5] = [
        ("enabled is 0 and should be 1", |bench| bench.fake.inner().status.enabled = 0),
        ("process 4242 receives the records", |bench| bench.fake.inner().status.pid = DAEMON),
        ("changed the limits", |bench| bench.fake.inner().status.backlog_limit = 8192),
        ("changed the rules", |bench| drop(bench.fake.inner().rules.pop())),
        ("changed the rules", |bench| bench.fake.inner().rules.reverse()),
    ];
    for (part, change) in changes {
        let why = Bench::new().measure(ONE, change).unwrap_err();
        assert!(why.contains(part), "{why}");
    }
    // A rule of the tool's own that is there before is somebody's, and stays.
    let mut bench = Bench::new();
    bench.fake.inner().rules.insert(0, own());
    assert!(bench.measure(ONE, |_| ()).unwrap_err().contains("`unixmark restore`"));
    assert_eq!(bench.fake.inner().rules[0], own());
}

#[test]
fn auditing_of_everything_must_produce_something() {
    let all = || rules("-a always,exit -S all");
    let mut bench = Bench::new();
    let mut on = bench.enter(all()).unwrap();
    let why = on.prove(&window(), &mut Evidence::default()).unwrap_err();
    assert!(why.contains("no event came from the window") && !on.is_fatal(), "{why}");
    drop(on);
    let mut bench = Bench::new();
    let mut on = bench.enter(all()).unwrap();
    bench.fake.inner().call(CALL, SENTINEL);
    assert_eq!(on.prove(&window(), &mut Evidence::default()), Ok(()));
    assert!(on.prove(&window(), &mut Evidence::default()).unwrap_err().contains("proved before"));
}

#[test]
fn a_full_disk_ends_the_run() {
    let mut bench = Bench::new();
    bench.settings.sink = Sink::File;
    let path = bench.root.path().join("trail.log");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let mut on = bench.enter(rules(ONE)).unwrap();
    assert_eq!(bench.steps.undo[1..], [Undo::RemoveFile { path }]);
    bench.calls(100);
    let why = on.prove(&window(), &mut Evidence::default()).unwrap_err();
    assert!(
        why.contains("No space left") && why.contains("--trail-limit") && on.is_fatal(),
        "{why}"
    );
}

#[test]
fn the_trail_is_a_file() {
    let mut bench = Bench::new();
    bench.settings.sink = Sink::File;
    let path = bench.root.path().join("trail.log");
    let mut on = bench.enter(rules(ONE)).unwrap();
    bench.calls(2);
    let mut evidence = Evidence::default();
    on.prove(&window(), &mut evidence).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let kinds: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(kinds, ["type=SYSCALL", "type=PROCTITLE", "type=SYSCALL", "type=PROCTITLE"]);
    assert_eq!(trail(evidence).bytes, text.len() as u64);
}

#[test]
fn the_fake_kernel_has_the_real_one_s_habits() {
    let (_root, fake, system) = system();
    let kernel = &system.kernel;
    assert_eq!(kernel.delete(&foreign(1)), Err(Errno::NOENT));
    kernel.prepend(&foreign(1)).unwrap();
    assert_eq!(kernel.prepend(&foreign(1)), Err(Errno::EXIST));
    fake.inner().status.pid = DAEMON;
    assert_eq!(kernel.set(Setting::Pid, 0), Err(Errno::ACCESS));
    fake.inner().status.enabled = 2;
    assert_eq!(kernel.set(Setting::BacklogLimit, 2), Err(Errno::PERM));
}
