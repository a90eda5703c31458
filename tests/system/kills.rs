//! Kills at random moments over verbs and conditions: whatever was changed is put back, or the
//! ledger names it and `restore` does.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::process::{Pid, Signal, kill_process};
use testing::{stderr, stdout};

use crate::room::{Room, wait_for, wait_for_none};

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

/// Starts of sandboxes that are killed.
const STARTS: [&str; 3] = [
    "cost bubblewrap --start -i 1",
    "cost podman --start -i 1",
    "cost runc,bubblewrap --start -i 1",
];

/// Names of containers, of their folders, processes and control groups, and of network devices.
/// Podman keeps `libpod_parent` for good.
const LIST_SANDBOXES: &str = "
podman ps --all --format '{{.Names}}'
runc list --quiet
find /sys/fs/cgroup -type d -name 'libpod-*' -o -type d -name 'unixmark-*'
find /var/lib /run/runc /run/crun -maxdepth 1 -name 'unixmark-*'
ls /sys/class/net
";

/// Kills one of the runs at a moment of chance, and returns the process that it was.
fn kill_once(seed: u64, runs: &[&str]) -> Option<Pid> {
    let room = Room::new(CONDITIONS)?;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let words = runs[random.random_range(0..runs.len())];
    // Tests that count the host's swap devices must not see this one's.
    let _host = words.contains("swap").then(testing::host);
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
    let [first, second] =
        if guardian_first { [guardian, Some(tool.pid())] } else { [Some(tool.pid()), guardian] };
    first.into_iter().chain(second).for_each(kill);
    tool.child.wait().unwrap();
    check(&room, words);
    Some(tool.pid())
}

/// Checks that nothing is changed, or that `restore` puts it back.
fn check(room: &Room, words: &str) {
    // Without its guardian, a container runs until it is restored.
    if !STARTS.contains(&words) {
        wait_for("the end of all that was started", || {
            testing::processes_with(&room.place.scratch().display().to_string()).is_empty()
        });
    }
    let is_left = !room.ledgers().is_empty();
    assert!(
        is_left || !room.file("flag").exists(),
        "{words}: the flag is up, and no ledger names it"
    );
    std::fs::write(room.file("mended"), "").unwrap();
    wait_for("restore that works", || {
        let restored = room.run("restore");
        let said = stderr(&restored);
        // A process that ends has no name any more while it still holds its files.
        assert!(
            restored.status.success() || said.contains("cleaning up after itself"),
            "{words}: {said}"
        );
        restored.status.success()
    });
    room.wait_until_clean();
}

#[test]
#[ignore = "changes the system"]
fn a_tool_killed_at_any_moment_leaves_nothing_that_restore_does_not_undo() {
    let count = if testing::all_must_run() { 120 } else { 24 };
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some(seed) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < count)
                {
                    kill_once(seed, &RUNS);
                }
            });
        }
    });
}

/// What there is of sandboxes that are not another tool's.
fn sandboxes(tool: Pid) -> BTreeSet<String> {
    let listed = Command::new("sh").args(["-c", LIST_SANDBOXES]).output().unwrap();
    let own = format!("unixmark-{tool}-");
    let is_another_s = |line: &str| line.contains("unixmark-") && !line.contains(&own);
    stdout(&listed).lines().filter(|line| !is_another_s(line)).map(str::to_owned).collect()
}

#[test]
#[ignore = "changes the system"]
fn starts_of_sandboxes_killed_at_any_moment_leave_none() {
    let count = if testing::all_must_run() { 30 } else { 6 };
    let before = sandboxes(rustix::process::getpid());
    for seed in 0..count {
        let Some(tool) = kill_once(seed, &STARTS) else {
            return;
        };

        // Other tests' containers have control groups by numbers, and are removed.
        wait_for_none("of all sandboxes", || &sandboxes(tool) - &before);
    }
}
