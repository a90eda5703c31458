//! Schedulers of sched_ext, with a fake of the kernel's side and of a scheduler: no kernel here has
//! any.

use crate::room::Room;
use testing::stdout;

/// Two schedulers: one schedules until it is told to end, the other ends by itself.
const FAKES: &str = r#"
mount -t tmpfs fake /sys/kernel && mkdir -p /sys/kernel/sched_ext/root && echo disabled >/sys/kernel/sched_ext/state
mount -t tmpfs fake /usr/local/bin && mount -t tmpfs fake /run
cat >/usr/local/bin/scx_calm <<'END'
#!/bin/sh
cd /sys/kernel/sched_ext
ended() { echo disabled >state; rm root/ops; exit; }
trap ended TERM
echo $$ >owner
echo calm_1.0 >root/ops
echo enabled >state
while :; do sleep 0.05; done
END
cat >/usr/local/bin/scx_brief <<'END'
#!/bin/sh
cd /sys/kernel/sched_ext
echo brief >root/ops
echo enabled >state
sleep 0.5
echo "runtime error: stall"
echo disabled >state
END
chmod +x /usr/local/bin/scx_*
until_gone() { while [ -e "$1" ]; do sleep 0.05; done; }
until_ended() { while grep -q '^State:.[^Z]' "/proc/$1/status"; do sleep 0.05; done; } 2>/dev/null
until_state() { until grep -q "$1" /sys/kernel/sched_ext/state; do sleep 0.05; done; }
"#;

/// Returns a script that measures once under a condition.
fn measured(room: &Room, words: &str) -> String {
    let folder = room.place.scratch().display().to_string();
    format!("\"$0\" run --quick -i 1 -c 1 --format json --dir {folder} --condition {words}")
}

#[test]
#[ignore = "changes the system"]
fn a_scheduler_is_started_proved_and_stopped() {
    let Some(room) = Room::new("") else { return };
    let run = |words: &str| {
        let script = format!(
            "{FAKES}{} 2>&1; cat \"$UNIXMARK_RESULTS\"/*/run.jsonl /sys/kernel/sched_ext/state",
            measured(&room, words)
        );
        stdout(&room.shell(&script).output().unwrap())
    };
    let calm = run("scx=calm syscall");
    assert!(
        calm.contains("the scheduler calm_1.0") && calm.trim_end().ends_with("disabled"),
        "{calm}"
    );
    let brief = run("scx=brief -- sleep 1");
    assert!(
        brief.contains("scx was not in effect") && brief.contains("runtime error: stall"),
        "{brief}"
    );
    let absent = run("scx=absent syscall");
    assert!(absent.contains("there is no scx_absent here"), "{absent}");
    let others = format!(
        "scx_calm & until_state enabled; {} 2>&1; kill $!",
        measured(&room, "scx=brief syscall")
    );
    let busy = stdout(&room.shell(&format!("{FAKES}{others}")).output().unwrap());
    assert!(busy.contains("the scheduler calm_1.0 is at work; stop it first"), "{busy}");
}

/// The tool may be killed while the command that starts the scheduler still runs: then both are,
/// and the fake kernel is not told that its scheduler has ended.
#[test]
#[ignore = "changes the system"]
fn a_tool_that_is_killed_leaves_no_scheduler() {
    let Some(room) = Room::new("") else { return };
    let kill = "& tool=$!; until_state enabled; kill -9 $tool; until_gone /run/unixmark-scx; \
                until_ended $(cat /sys/kernel/sched_ext/owner)";
    let script = format!("{FAKES}{} {kill}", measured(&room, "scx=calm -- sleep 30"));
    assert!(room.shell(&script).status().unwrap().success());
}
