//! Kills at random moments over verbs and conditions: whatever was changed is put back, or the ledger names it and
//! `restore` does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::process::{Signal, kill_process};
use testing::stderr;

use crate::room::{Room, wait_for};

/// Conditions whose steps take a while: much of a run passes while something enters or leaves.
const CONDITIONS: &str = r#"
[[condition]]
id = "slow"
label = "slow to enter and to leave"
means = "command"
enter = "sleep 0.2; echo up > ROOT/flag; sleep 0.2"
verify = "cat ROOT/flag"
leave = "sleep 0.2; rm -f ROOT/flag; sleep 0.2"
doc = "x"

[[condition]]
id = "fails"
label = "fails to leave"
means = "command"
enter = "echo up > ROOT/flag"
verify = "cat ROOT/flag"
leave = "sleep 0.1; test -e ROOT/mended && rm -f ROOT/flag"
doc = "x"
"#;

/// What is killed.
const RUNS: [&str; 12] = [
    "cost --quick slow -i 2 syscall",
    "cost --quick slow,flag -i 2 syscall",
    "cost --quick fails -i 2 syscall",
    "cost --quick fs=tmpfs+slow -i 2 syscall",
    "cost --quick nice=5+flag -i 2 syscall pipe",
    "latency --quick -i 1 audio --load write",
    "latency --quick -i 1 audio --load memload-swap",
    "cost --quick slow-disk=50 -i 2 syscall",
    "run --procedure quick -i 3 syscall pipe fstime",
    "scale --quick -i 1 syscall",
    "burnin cooling --for 3s",
    "unixbench -c 1 -i 1 syscall",
];

/// Kills one run at a moment of chance.
fn kill_once(seed: u64) {
    let Some(room) = Room::new(CONDITIONS) else { return };
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let words = RUNS[random.random_range(0..RUNS.len())];
    let mut tool = room.start(&format!("{words} --dir {}", room.place.scratch().display()));
    // Half of them early, while the first condition enters.
    let most = if random.random_ratio(1, 2) { 900 } else { 2500 };
    std::thread::sleep(Duration::from_millis(random.random_range(0..most)));
    // A third with their guardian, which goes first in half of these.
    let both = random.random_ratio(1, 3);
    let guardian = if both { tool.find_guardian() } else { None };
    let guardian_first = random.random_ratio(1, 2);
    // One that has ended is as good.
    let kill = |pid| kill_process(pid, Signal::KILL).unwrap_or_default();
    let [first, second] = if guardian_first { [guardian, Some(tool.pid())] } else { [Some(tool.pid()), guardian] };
    first.into_iter().chain(second).for_each(kill);
    tool.child.wait().unwrap();
    check(&room, words);
}

/// Checks that nothing is changed, or that `restore` puts it back.
fn check(room: &Room, words: &str) {
    wait_for("the end of all that was started", || {
        testing::processes_with(&room.place.scratch().display().to_string()).is_empty()
    });
    let is_left = !room.ledgers().is_empty();
    assert!(is_left || !room.file("flag").exists(), "{words}: the flag is up, and no ledger names it");
    std::fs::write(room.file("mended"), "").unwrap();
    wait_for("restore that works", || {
        let restored = room.run("restore");
        let said = stderr(&restored);
        // A process that ends has no name any more while it still holds its files.
        assert!(restored.status.success() || said.contains("cleaning up after itself"), "{words}: {said}");
        restored.status.success()
    });
    room.wait_until_clean();
}

#[test]
#[ignore = "changes the system"]
fn a_tool_killed_at_any_moment_leaves_nothing_that_restore_does_not_undo() {
    let count = if testing::all_must_run() { 300 } else { 24 };
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < count) {
                    kill_once(seed);
                }
            });
        }
    });
}
