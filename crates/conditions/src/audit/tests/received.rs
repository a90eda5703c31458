//! Records that do not reach who should receive them.

use super::*;

/// Loses events in both of the kernel's ways.
fn lose(bench: &Bench, lost: u32, dropped: u64) {
    bench.calls(2);
    let mut inner = bench.fake.inner();
    inner.status.lost = inner.status.lost.wrapping_add(lost);
    inner.drop_events(dropped);
    drop(inner);
    bench.calls(1);
}

#[test]
fn a_lost_record_voids_the_trial_where_processes_wait_for_room() {
    for (lost, dropped) in [(7, 0), (0, 7), (3, 4)] {
        let why = Bench::new().measure(ONE, |bench| lose(bench, lost, dropped)).unwrap_err();
        assert!(why.contains("7 records were lost, although processes wait for room"), "{why}");
    }
}

#[test]
fn where_the_machine_drops_records_they_are_a_figure() {
    for before in [5, u32::MAX - 2] {
        let mut bench = Bench::new();
        bench.fake.inner().status.lost = before;
        bench.fake.inner().status.backlog_wait_time = 0;
        let evidence = bench.measure(ONE, |bench| lose(bench, 7, 4)).unwrap();
        assert!(has_note(&evidence, "4 events were dropped before they were received"));
        let counted = trail(evidence);
        assert_eq!((counted.events, counted.lost), (3, 11));
    }
    // A rate limit drops events on purpose, and counts them.
    let mut bench = Bench::new();
    bench.fake.inner().status.rate_limit = 100;
    assert_eq!(trail(bench.measure(ONE, |bench| lose(bench, 7, 4)).unwrap()).lost, 7);
}

#[test]
fn a_receiver_that_was_stopped_voids_the_trial() {
    let stop = |bench: &Bench| {
        bench.calls(1);
        bench.fake.inner().stop_receiver();
    };
    let why = Bench::new().measure(ONE, stop).unwrap_err();
    assert!(
        why.contains("no records were received for 0.") && why.contains("unixmark was stopped"),
        "{why}"
    );
    // Even where lost records are a figure.
    let mut bench = Bench::new();
    bench.fake.inner().status.backlog_wait_time = 0;
    assert!(bench.measure(ONE, stop).unwrap_err().contains("no records were received"));
}

#[test]
fn a_daemon_that_was_stopped_voids_the_trial() {
    let measure = |state: &str| {
        let mut bench = Bench::new();
        bench.start_daemon();
        bench.fake.inner().status.enabled = 1;
        let stat = format!("/proc/{DAEMON}/stat");
        write(bench.root.path(), &stat, "4242 (auditd) S 1 4242");
        bench.measure("", |bench| {
            write(bench.root.path(), &stat, &format!("4242 (auditd) {state} 1 4242"))
        })
    };
    assert!(measure("S").is_ok());
    let why = measure("T").unwrap_err();
    assert!(why.contains("was stopped by a signal"), "{why}");
}
