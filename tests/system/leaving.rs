//! What was switched is off again, and that is proved: whatever directories are called, whichever
//! step a signal meets, and whatever outlives the tool.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testing::{stderr, stdout};

use crate::room::{Room, Tool, state, wait_for};

/// A row whose `leave` does not do what it says.
const CONDITIONS: &str = r#"
[[condition]]
id = "believed"
label = "is left by words alone"
means = "command"
enter = "echo up > ROOT/flag"
verify = "cat ROOT/flag"
leave = "test ! -e ROOT/mended || rm -f ROOT/flag"
absent = "test ! -e ROOT/flag || { echo the flag is up >&2; exit 1; }"
doc = "x"

[[condition]]
id = "noted"
label = "knows what is its own"
means = "command"
enter = "echo $UNIXMARK_ID >$UNIXMARK_NOTES/id; echo up > ROOT/flag"
verify = "test \"$(cat $UNIXMARK_NOTES/id)\" = $UNIXMARK_ID"
leave = "test \"$(cat $UNIXMARK_NOTES/id)\" = $UNIXMARK_ID && rm -f ROOT/flag"
absent = "test ! -e ROOT/flag"
doc = "x"
"#;

/// Counts the calls of commands. At the chosen one the tool gets a signal, and only one: two
/// commands of a pipeline may count to the same number.
const SHIM: &str = r#"#!/bin/sh
echo step >>ROOT/steps
read -r at signal <ROOT/at
if [ "$(wc -l <ROOT/steps)" = "$at" ] && mkdir ROOT/met 2>/dev/null; then
    while [ ! -s ROOT/pid ]; do sleep 0.01; done
    read -r pid <ROOT/pid
    kill -s "$signal" "$pid"
fi
PATH=${PATH#*:} exec "${0##*/}" "$@"
"#;

/// Containers are files in ROOT/containers, and mount namespaces.
const PODMAN: &str = r#"#!/bin/sh
echo step >>ROOT/steps
read -r at signal <ROOT/at
if [ "$(wc -l <ROOT/steps)" = "$at" ] && mkdir ROOT/met 2>/dev/null; then
    read -r pid <ROOT/pid
    kill -s "$signal" "$pid"
fi
cd ROOT/containers || exit
for last; do :; done
[ "$1" != --runtime ] || shift 2
case $1 in
run)
    while [ "$1" != --name ]; do shift; done
    [ ! -e "$2" ] || { echo "the container name $2 is in use" >&2; exit 125; }
    touch "$2"
    ;;
exec)
    while [ "$1" != -w ]; do shift; done
    [ -e "$3" ] || exit 125
    cd "$2" && shift 3 && exec unshare --mount -- "$@"
    ;;
container) [ -e "$last" ] && echo running ;;
rm) rm -f "$last" ;;
esac
"#;

/// Commands of rows and of the tool that count as steps.
const STEPS: [&str; 12] = [
    "cat",
    "ls",
    "stat",
    "dd",
    "chmod",
    "mkswap",
    "swapon",
    "swapoff",
    "mkfs.ext4",
    "mount",
    "rm",
    "tail",
];

fn room() -> Option<Room> {
    Room::new(CONDITIONS)
}

/// Puts a script in a directory that goes before all others in the PATH of `shims`.
fn shim(room: &Room, name: &str, script: &str) {
    let folder = room.file("shims");
    fs::create_dir_all(&folder).unwrap();
    let root = room.place.root.path().display().to_string();
    fs::write(folder.join(name), script.replace("ROOT", &root)).unwrap();
    fs::set_permissions(folder.join(name), PermissionsExt::from_mode(0o755)).unwrap();
}

fn path_with_shims(room: &Room) -> String {
    format!("{}:{}", room.file("shims").display(), std::env::var("PATH").unwrap())
}

/// Names of the swap, zram and loop devices there are. The caller has the host, so that no other
/// test adds one meanwhile.
fn devices(room: &Room) -> Vec<String> {
    let swaps = fs::read_to_string("/proc/swaps").unwrap();
    // Not how much of each is in use.
    let swaps = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let names = fs::read_dir("/sys/block").unwrap().map(|entry| entry.unwrap().file_name());
    let zram =
        names.map(|name| name.into_string().unwrap()).filter(|name| name.starts_with("zram"));
    let mut all: Vec<String> = swaps.map(str::to_owned).chain(zram).chain(loops(room)).collect();
    all.sort();
    all
}

/// The loop devices of files in a room.
fn loops(room: &Room) -> Vec<String> {
    let listed = stdout(&Command::new("losetup").arg("--list").output().unwrap());
    let root = room.place.root.path().display().to_string();
    listed.lines().filter(|line| line.contains(&root)).map(str::to_owned).collect()
}

#[test]
#[ignore = "changes the system"]
fn a_leave_that_undoes_nothing_is_not_believed() {
    let Some(room) = room() else { return };

    let output = room.run(&room.cost("believed -i 2 syscall"));

    assert!(!output.status.success());
    let said = stderr(&output);
    assert!(said.contains("its commands ended well, but it is still on"), "{said}");
    assert!(said.contains("the flag is up"), "{said}");
    let listed = stdout(&room.run("restore --list"));
    assert!(listed.contains("believed: leave believed"), "{listed}");
    assert_eq!(room.run("restore").status.code(), Some(3));
    fs::write(room.file("mended"), "").unwrap();
    assert!(room.run("restore").status.success());
    room.wait_until_clean();
    assert!(room.run(&room.cost("noted -i 2 syscall")).status.success());
    room.wait_until_clean();
}

/// `/proc/swaps` writes some bytes otherwise than they are.
#[test]
#[ignore = "changes the system"]
fn swap_goes_whatever_its_directory_is_called() {
    use std::os::unix::ffi::OsStrExt;
    let Some(room) = room() else { return };
    let _alone = testing::host();
    let before = devices(&room);
    for name in [
        &b"plain"[..],
        b"a b",
        b"tab\there",
        b"new\nline",
        b"back\\slash",
        b"\xff\xfe",
        b"q'uo\"te$(x)",
    ] {
        let folder = room.place.scratch().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&folder).unwrap();
        for condition in ["swap=16", "zram=16"] {
            let script = format!("exec \"$0\" cost --quick {condition} -i 2 syscall --dir \"$D\"");
            let output = room.shell(&script).env("D", &folder).output().unwrap();
            assert!(output.status.success(), "{name:?} {condition}: {}", stderr(&output));
            assert_eq!(devices(&room), before, "{name:?} {condition}");
        }
        fs::remove_dir(&folder).unwrap();
        room.wait_until_clean();
    }
    // Where the command works is the user's directory, and may hold a link of another's.
    let victim = room.file("victim");
    fs::write(&victim, "kept").unwrap();
    symlink(&victim, room.file("unixmark-swap")).unwrap();
    let words = format!("quiet -q --with swap=16 --dir {} -- true", room.place.scratch().display());
    let mut command = room.command(&words);
    let output = command.current_dir(room.place.root.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(victim).unwrap(), "kept");
    assert_eq!(devices(&room), before);
}

#[test]
#[ignore = "changes the system"]
fn a_signal_at_any_step_leaves_nothing() {
    let Some(room) = room() else { return };
    signals_at_any_step(&room, &["podman=root", "fs=ext4", "slow-disk=50"], loops);
}

#[test]
#[ignore = "changes the system"]
fn a_signal_at_any_step_leaves_no_swap() {
    let Some(room) = room() else { return };
    let _alone = testing::host();
    signals_at_any_step(&room, &["swap=16", "zram=16"], devices);
}

/// Every command that a row calls is a step; a signal meets the first, the second, … the last.
fn signals_at_any_step(room: &Room, conditions: &[&str], devices: fn(&Room) -> Vec<String>) {
    STEPS.iter().for_each(|name| shim(room, name, SHIM));
    shim(room, "podman", PODMAN);
    fs::create_dir(room.file("containers")).unwrap();
    for theirs in ["unixmark-container", "another"] {
        fs::write(room.file("containers").join(theirs), "").unwrap();
    }
    let before = devices(room);
    for condition in conditions {
        for signal in [Signal::KILL, Signal::INT] {
            let mut steps = [1, 2];
            while meet(room, condition, steps[0], signal) {
                wait_for("the devices as they were", || devices(room) == before);
                let containers = fs::read_dir(room.file("containers")).unwrap().count();
                assert_eq!(containers, 2, "{condition}, step {}", steps[0]);
                steps = match testing::all_must_run() {
                    true => [steps[0] + 1, 0],
                    // As close together as it takes to enter, then wider apart.
                    false => [steps[1], steps[0] + steps[1]],
                };
            }
        }
    }
}

/// Sends a signal at a step of a run under a condition; false once there are not as many steps.
fn meet(room: &Room, condition: &str, step: usize, signal: Signal) -> bool {
    let name = if signal == Signal::KILL { "KILL" } else { "INT" };
    fs::write(room.file("at"), format!("{step} {name}\n")).unwrap();
    fs::write(room.file("steps"), "").unwrap();
    let _ = fs::remove_file(room.file("pid"));
    let _ = fs::remove_dir(room.file("met"));
    let script = format!(
        "export PATH='{}' && echo $$ >'{}' && exec \"$0\" {}",
        path_with_shims(room),
        room.file("pid").display(),
        room.cost(&format!("{condition} -i 1 syscall")),
    );
    let output = room.shell(&script).output().unwrap();
    let count = fs::read_to_string(room.file("steps")).unwrap().lines().count();
    let is_met = count >= step;
    let code = output.status.code();
    assert!(is_met || code == Some(0), "{condition}, step {step}: {}", stderr(&output));
    assert!(!is_met || code != Some(3), "{condition}, step {step}: {}", stderr(&output));
    room.wait_until_clean();
    is_met
}

/// A command that goes on when its condition is left goes on without it.
#[test]
#[ignore = "changes the system"]
fn what_outlives_quiet_loses_its_limit() {
    let Some(room) = room() else { return };
    for (condition, is_killed) in
        [("cgroup-cpu=50", false), ("cgroup-memory=256", false), ("cgroup-cpu=50", true)]
    {
        let left = room.file("left");
        let _ = fs::remove_file(&left);
        // Part of it in a group of its own below.
        let script = format!(
            "for g in $(sed -n 's|^[^:]*:[^:]*:\\(/.*unixmark.*\\)|\\1|p' /proc/self/cgroup); do
                 for d in /sys/fs/cgroup/*$g /sys/fs/cgroup$g; do
                     [ -d $d ] && mkdir -p $d/below && {{ sleep 1000 & echo $! >$d/below/cgroup.procs; echo $! >>{0}; }}
                 done
             done
             echo $$ >>{0}; echo done >>{0}; {1}",
            left.display(),
            if is_killed { "exec sleep 1000" } else { "true" }
        );
        let mut command = room.command(&format!("quiet -q --with {condition} -- sh -c \"$S\""));
        let mut quiet =
            Tool { child: command.env("S", script).stdout(Stdio::null()).spawn().unwrap() };
        wait_for("a command that has begun", || {
            fs::read_to_string(&left).is_ok_and(|text| text.contains("done"))
        });
        if is_killed {
            quiet.kill();
        } else {
            assert_eq!(quiet.wait(), 0, "{condition}");
        }

        wait_for("no ledger", || room.ledgers().is_empty());
        let pids: Vec<String> =
            fs::read_to_string(&left).unwrap().lines().map(str::to_owned).collect();
        for pid in pids.iter().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
            let groups = fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_nonzero()));
            let groups = groups.unwrap_or_default();
            let _ = kill_process(pid, Signal::KILL);
            assert!(!groups.contains("unixmark"), "{condition}: {groups}");
        }
        assert!(pids.len() > 1, "{condition}: {pids:?}");
    }
}

#[test]
#[ignore = "changes the system"]
fn ctrl_z_puts_the_settings_of_quiet_back_until_fg() {
    let Some(room) = room() else { return };
    let mut quiet = room.start("quiet -q --with flag+cgroup-cpu=50 -- sleep 1000");
    let command = || {
        let pid = quiet.pid().as_raw_nonzero();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let mut pids = children.split_whitespace().map(str::to_owned);
        pids.find(|pid| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
        })
    };
    wait_for("the command", || command().is_some());
    let pid = command().unwrap();
    let is_limited = || {
        fs::read_to_string(format!("/proc/{pid}/cgroup"))
            .is_ok_and(|text| text.contains("unixmark"))
    };
    assert!(is_limited() && room.file("flag").exists());

    for _ in 0..2 {
        quiet.signal(Signal::TSTP);
        wait_for("a stopped tool", || state(quiet.pid()) == Some('T'));
        assert!(!room.file("flag").exists(), "the setting is on while the tool sleeps");
        assert!(!is_limited());
        assert_eq!(state(Pid::from_raw(pid.parse().unwrap()).unwrap()), Some('T'));

        quiet.signal(Signal::CONT);
        wait_for("the settings", || room.file("flag").exists() && is_limited());
    }
    quiet.signal(Signal::TERM);
    assert_eq!(quiet.wait(), 143);
    room.wait_until_clean();
}

/// A user namespace whose setgroups(2) can be denied, once.
fn namespace() -> Child {
    let mut command = Command::new("unshare");
    let child = command.args(["-U", "sleep", "1000"]).spawn().unwrap();
    let pid = child.id();
    let own = fs::read_link("/proc/self/ns/user").unwrap();
    wait_for("a user namespace", || {
        fs::read_link(format!("/proc/{pid}/ns/user")).is_ok_and(|theirs| theirs != own)
    });
    child
}

#[test]
#[ignore = "changes the system"]
fn what_goes_one_way_is_refused_unless_the_user_insists() {
    let Some(room) = room() else { return };
    let mut sleeper = namespace();
    let setting = PathBuf::from(format!("/proc/{}/setgroups", sleeper.id()));
    let condition = format!("file:{}=deny", setting.display());
    // By another path, too.
    let other = format!("file:/proc/self/root{}=deny", setting.display());
    for words in [
        room.cost(&format!("{condition} -i 2 syscall")),
        room.cost(&format!("flag+{condition} -i 2 syscall")),
        room.cost(&format!("{other} -i 2 syscall")),
        room.cost(&format!("{condition} -i 2 syscall --dry-run")),
        format!("quiet --with {condition} -- true"),
    ] {
        let output = room.run(&words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains("--yes"), "{words}: {}", stderr(&output));
        assert_eq!(fs::read_to_string(&setting).unwrap(), "allow\n", "{words}");
    }

    let insists = room.run(&format!("quiet -q --yes --with {condition} -- true"));
    assert!(insists.status.success(), "{}", stderr(&insists));
    assert_eq!(fs::read_to_string(&setting).unwrap(), "deny\n");
    // Nothing is left that nobody could undo, and what is so already goes no way.
    room.wait_until_clean();
    let again = room.run(&format!("quiet -q --with {condition} -- true"));
    assert!(again.status.success(), "{}", stderr(&again));
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

/// The setting of a process that ended meanwhile went with it.
#[test]
#[ignore = "changes the system"]
fn a_setting_that_is_gone_needs_no_undoing() {
    let Some(room) = room() else { return };
    let mut sleeper = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = sleeper.id();
    let words =
        format!("quiet -q --with file:/proc/{pid}/oom_score_adj=5 -- sh -c 'kill {pid}; read end'");
    let mut command = room.command(&words);
    let mut quiet = Tool { child: command.stdin(Stdio::piped()).spawn().unwrap() };
    sleeper.wait().unwrap();
    drop(quiet.child.stdin.take());
    quiet.wait();
    room.wait_until_clean();
}

// --- boots ---

/// A room where systemd's units are in a directory of the test's, and `words` after `cost
/// boot:quiet`.
fn boots(room: &Room, reboot: &str, before: &str) -> Command {
    fs::create_dir_all(room.file("units")).unwrap();
    let script = format!(
        "mount -t tmpfs none /run && mkdir -p /run/systemd/system /etc/systemd/system &&
         mount --bind '{0}' /etc/systemd/system && {before}
         exec \"${{T:-$0}}\" cost boot:quiet --boots 9 --reboot '{reboot}' syscall",
        room.file("units").display()
    );
    room.shell(&script)
}

fn has_unit(room: &Room) -> bool {
    room.file("units/unixmark-boots.service").exists()
        || fs::symlink_metadata(room.file("units/multi-user.target.wants/unixmark-boots.service"))
            .is_ok()
}

fn experiment(room: &Room) -> PathBuf {
    let mut runs = fs::read_dir(room.place.results()).unwrap().map(|entry| entry.unwrap().path());
    runs.find(|path| path.join("experiment.json").exists()).unwrap()
}

#[test]
#[ignore = "changes the system"]
fn who_is_interrupted_does_not_reboot() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let Some(room) = room() else { return };
        let root = room.place.root.path().display();
        room.gate("gate");
        let reboot =
            format!("echo asked >{root}/asked; read go <{root}/gate; echo x >{root}/rebooted");
        let mut tool = Tool { child: boots(&room, &reboot, "").spawn().unwrap() };
        room.wait_for_file("asked");
        assert!(has_unit(&room));

        tool.signal(signal);

        assert_eq!(tool.wait(), code);
        assert!(!room.open_gate("gate"), "the way was not ended");
        assert!(!has_unit(&room), "the next boot goes on");
        let folder = experiment(&room);
        let output = room.run(&format!("boots {} --go-on", folder.display()));
        assert!(!stderr(&output).contains("boot 2"), "{}", stderr(&output));
        assert!(!room.file("rebooted").exists());
    }
}

#[test]
#[ignore = "changes the system"]
fn after_stop_nothing_reboots() {
    let Some(room) = room() else { return };
    let root = room.place.root.path().display();
    room.gate("gate");
    let reboot = format!("echo $UNIXMARK_ACTION >>{root}/asked; read go <{root}/gate; false");
    let mut tool = Tool { child: boots(&room, &reboot, "").stderr(Stdio::null()).spawn().unwrap() };
    room.wait_for_file("asked");
    // One that failed is tried again.
    wait_for("a way that waits", || room.open_gate("gate"));
    wait_for("a second try", || fs::read_to_string(room.file("asked")).unwrap() == "boot\nboot\n");

    let stopped = room.run(&format!("boots {} --stop", experiment(&room).display()));

    assert!(stderr(&stopped).contains("stopped; the machine stays"), "{}", stderr(&stopped));
    assert!(!room.open_gate("gate"), "the way is still at work");
    tool.wait();
    assert_eq!(fs::read_to_string(room.file("asked")).unwrap(), "boot\nboot\n");
    assert!(!has_unit(&room));
}

/// What root's unit starts, only root can write.
#[test]
#[ignore = "changes the system"]
fn a_unit_starts_nothing_that_a_user_can_write() {
    let Some(room) = room() else { return };
    let home = room.file("home");
    fs::create_dir(&home).unwrap();
    let tool = home.join("unixmark");
    fs::copy(env!("CARGO_BIN_EXE_unixmark"), &tool).unwrap();
    for path in [&home, &tool] {
        chown(path, Some(65534), Some(65534)).unwrap();
    }
    let path = format!("{}:{}", home.display(), std::env::var("PATH").unwrap());
    let start = |before: &str| {
        let mut command = boots(&room, "true", before);
        command.env("PATH", &path).env("T", &tool).output().unwrap()
    };

    let refused = start(&format!("cd '{}' &&", home.display()));
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        stderr(&refused).replace("\n", " ").contains("cannot be trusted"),
        "{}",
        stderr(&refused)
    );
    assert!(!has_unit(&room));

    let begun = start("cd / &&");
    assert!(begun.status.success(), "{}", stderr(&begun));
    let unit = fs::read_to_string(room.file("units/unixmark-boots.service")).unwrap();
    assert!(!unit.contains(&home.display().to_string()), "{unit}");
    let copy = experiment(&room).join("unixmark");
    assert!(unit.contains(&format!("ExecStart=\"{}\"", copy.display())), "{unit}");
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o700);
}
