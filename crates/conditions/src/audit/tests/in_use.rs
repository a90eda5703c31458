//! A machine that audits already: nothing of that is weakened.

use super::*;
use crate::audit::kernel::PANIC;
use crate::audit::rule::ALWAYS;

/// A machine on which auditd receives the records of its rules.
fn production() -> Bench {
    let bench = Bench::new();
    bench.start_daemon();
    let mut inner = bench.fake.inner();
    let Status { enabled, failure, backlog_limit, .. } = &mut inner.status;
    (*enabled, *failure, *backlog_limit) = (1, PANIC, 8192);
    drop(inner);
    bench
}

/// Returns why a level cannot be entered, of which no trace may be left.
fn refused(bench: &mut Bench, level: Level) -> String {
    let why = bench.enter(level).err().unwrap();
    assert_eq!(
        (&bench.fake.inner().changes[..], &bench.steps.undo[..]),
        (&[][..], &[][..]),
        "{why}"
    );
    why
}

#[test]
fn where_auditing_was_on_it_stays_on() {
    let mut bench = Bench::new();
    bench.fake.inner().status.enabled = 1;
    let before = bench.state();
    let evidence = bench.measure(ONE, |bench| {
        assert!(!bench.state().1.contains(&exclude_others()), "others are still audited");
        bench.calls(2);
        bench.fake.inner().call(OTHER_CALL, 12_345);
    });
    let evidence = evidence.unwrap();
    assert!(has_note(&evidence, "other processes are still audited"));
    assert_eq!(trail(evidence).events, 2, "others' events do not count");
    assert_eq!(bench.state(), before);
}

#[test]
fn a_daemon_that_receives_the_records_keeps_its_place() {
    let mut bench = production();
    let schedstat = format!("/proc/{DAEMON}/task/{DAEMON}/schedstat");
    write(bench.root.path(), &schedstat, "7000000000 0 0\n");
    let mut rule = Rule::new(list::EXIT, ALWAYS);
    assert!(rule.add_call(CALL));
    bench.fake.inner().rules.push(rule);
    let before = bench.state();
    let evidence = bench.measure("", |bench| {
        bench.calls(2);
        bench.fake.inner().drop_events(9);
        bench.calls(1);
        write(bench.root.path(), &schedstat, "9000000000 0 0\n");
    });
    let evidence = evidence.unwrap();
    assert!(has_note(&evidence, "process 4242 (auditd) receives the records"));
    assert!(has_note(&evidence, "9 events came too fast to be counted alongside a daemon"));
    assert!(!has_note(&evidence, "for the first time"));
    let trail = trail(evidence);
    assert_eq!(
        (trail.events, trail.lost, trail.sink_cpu_s),
        (3, 0, 2.0),
        "the machine's own rules have them recorded"
    );
    assert_eq!(bench.state(), before);
    assert_eq!(bench.fake.inner().status.pid, DAEMON);
}

#[test]
fn a_daemon_that_comes_first_is_not_replaced() {
    let mut bench = Bench::new();
    let before = bench.state();
    for (errno, part) in
        [(Errno::EXIST, "another process receives"), (Errno::NOBUFS, "cannot be received")]
    {
        bench.fake.inner().refuse_receiver = Some(errno);
        let why = bench.measure(ONE, |_| ()).unwrap_err();
        assert!(why.contains(part), "{why}");
        assert_eq!(
            bench.state(),
            before,
            "nothing is set before it is known who receives the records"
        );
        bench.fake.inner().changes.clear();
    }
}

#[test]
fn beside_a_daemon_no_setting_is_changed_whatever_it_is() {
    let mut bench = production();
    bench.settings.backlog = 64;
    let before = bench.state();
    let evidence = bench.measure("", |bench| {
        assert_eq!((bench.state().0, bench.state().1), (before.0, before.1.clone()));
        assert_eq!(bench.login_uid(), SENTINEL.to_string());
    });
    assert!(has_note(&evidence.unwrap(), "8192 records are queued, not 64"));
    assert_eq!(bench.state(), before);
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.state(), before);
    let written = |change: &String| change == "write";
    assert!(bench.fake.inner().changes.iter().all(written), "{:?}", bench.fake.inner().changes);
}

#[test]
fn beside_a_daemon_there_are_no_records_of_the_programs() {
    for level in ["-w /etc/passwd -p wa\n", "-a always,exit -S all\n", ONE] {
        let why = refused(&mut production(), rules(level));
        for part in [
            "process 4242 (auditd) receives",
            "push older ones out of its log",
            "--sink auditd",
            "audit=on",
        ] {
            assert!(why.contains(part), "{why}");
        }
    }

    let mut bench = production();
    let before = bench.state();
    drop(bench.enter(Level::Off).unwrap());
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.state(), before);
}

#[test]
fn a_daemon_with_auditing_off_gets_nothing() {
    let mut bench = production();
    bench.fake.inner().status.enabled = 0;
    for level in [rules(""), rules(ONE), Level::OffAfterOn] {
        let why = refused(&mut bench, level);
        assert!(why.contains("(auditd) receives"), "{why}");
    }

    assert!(!refused(&mut bench, rules(ONE)).contains("audit=on"));
    let why = refused(&mut bench, rules(""));
    assert!(why.contains("enabled=0") && why.contains("`auditctl -e 1`"), "{why}");
}

#[test]
fn what_is_locked_or_on_is_not_switched_off() {
    let mut bench = production();
    for level in [Level::OffAfterOn, Level::NeverOn] {
        let why = refused(&mut bench, level);
        assert!(why.contains("auditing is on"), "{why}");
    }

    bench.fake.inner().status.enabled = 2;
    for level in [Level::NeverOn, Level::Off, Level::OffAfterOn, rules(""), rules(ONE)] {
        assert!(refused(&mut bench, level).contains("locked until the machine restarts"));
    }
    // Even if nobody receives the records and no rule makes any: those of logins are made all the
    // same.
    let mut bench = Bench::new();
    bench.fake.inner().rules.clear();
    bench.fake.inner().status.enabled = 1;
    assert!(refused(&mut bench, Level::OffAfterOn).contains("would leave a gap"));
}

#[test]
fn settings_with_which_others_would_lose_records_refuse_rules() {
    type Set = fn(&mut Status);
    let settings: [(&str, &str, Set); 4] = [
        ("failure=2", "`auditctl -f 1`", |status| status.failure = PANIC),
        ("100 records per second", "`auditctl -r 0`", |status| status.rate_limit = 100),
        ("backlog_wait_time=0", "`auditctl --backlog_wait_time 15000`", |status| {
            status.backlog_wait_time = 0
        }),
        ("backlog_limit=0", "`auditctl -b 8192`", |status| status.backlog_limit = 0),
    ];
    for (setting, advice, set) in settings {
        let machine = |enabled: u32| {
            let bench = Bench::new();
            bench.fake.inner().status.enabled = enabled;
            set(&mut bench.fake.inner().status);
            bench
        };
        let why = refused(&mut machine(1), rules(ONE));
        assert!(why.contains(setting) && why.contains(advice) && why.contains("audit=on"), "{why}");
        machine(1).measure("", |_| ()).unwrap();
        // Where nobody is audited, only a panic is in the way.
        assert_eq!(
            machine(0).measure(ONE, |_| ()).is_ok(),
            !setting.starts_with("failure"),
            "{setting}"
        );
    }
}

#[test]
fn where_auditing_is_on_a_lost_record_voids_the_trial() {
    let mut bench = Bench::new();
    bench.fake.inner().status.enabled = 1;
    let why = bench.measure(ONE, |bench| bench.fake.inner().status.lost += 3).unwrap_err();
    assert!(
        why.contains("3 records were lost, perhaps others' too") && why.contains("`auditctl -b`"),
        "{why}"
    );
    let mut bench = production();
    let why = bench.measure("", |bench| bench.fake.inner().status.lost += 3).unwrap_err();
    assert!(why.contains("3 records were lost, perhaps others' too"), "{why}");
}

#[test]
fn others_records_go_where_they_went_before() {
    let mut bench = Bench::new();
    bench.fake.inner().status.enabled = 1;
    let work = |bench: &Bench| {
        (0..3).for_each(|_| bench.fake.inner().call(OTHER_CALL, 12_345));
        bench.calls(2);
    };
    bench.measure(ONE, work).unwrap();
    let log = std::fs::read_to_string(bench.root.path().join("dev/kmsg")).unwrap();
    assert_eq!(
        (log.matches("<5>audit: type=1300 audit(").count(), log.matches("type=1327").count()),
        (3, 3),
        "{log}"
    );
    assert!(!log.contains(&format!("syscall={CALL} ")) && !log.contains("unixmark-"), "{log}");
}

#[test]
fn a_machine_whose_log_cannot_have_others_records_keeps_them() {
    let mut bench = Bench::new();
    let before = bench.state();
    std::fs::remove_file(bench.root.path().join("dev/kmsg")).unwrap();
    let why = bench.measure(ONE, |_| ()).unwrap_err();
    assert!(why.contains("records of other processes would be lost"), "{why}");
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.state(), before);
}

#[test]
fn what_another_process_sets_meanwhile_stays() {
    // While a trial has auditing on.
    let mut bench = Bench::new();
    let on = bench.enter(rules(ONE)).unwrap();
    let wanted = {
        let mut inner = bench.fake.inner();
        let Status { failure, rate_limit, backlog_limit, backlog_wait_time, .. } =
            &mut inner.status;
        (*failure, *rate_limit, *backlog_limit, *backlog_wait_time) = (2, 9, 8192, 5);
        Status { enabled: 0, pid: 0, ..inner.status }
    };
    drop(on);
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.fake.inner().status, wanted);
    // Long after a trial that was killed, and with it who should have put things back.
    let mut bench = Bench::new();
    std::mem::forget(bench.enter(rules(ONE)).unwrap());
    bench.start_daemon();
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    let Status { enabled, pid, backlog_limit, .. } = bench.fake.inner().status;
    assert_eq!((enabled, pid, backlog_limit), (1, DAEMON, 77));
    // Once it is dead, though its parent may not know yet, nobody else audits.
    write(bench.root.path(), &format!("/proc/{DAEMON}/cmdline"), "");
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.fake.inner().status.enabled, 0);
    // A trial that switched nothing switches nothing off.
    let mut bench = Bench::new();
    drop(bench.enter(Level::Off).unwrap());
    bench.fake.inner().status.enabled = 1;
    put_back(&bench.system, &bench.steps.found().unwrap()).unwrap();
    assert_eq!(bench.fake.inner().status.enabled, 1);
}
