//! What the tool has switched is put back however it ends: the ledger, its guardian, and `unixmark
//! restore`.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Output;

use rustix::process::{Signal, kill_process};
use testing::{stderr, stdout};

use crate::room::{Room, Tool, state, wait_for};

/// Conditions that stop where a test wants it, at FIFOs.
const CONDITIONS: &str = r#"
[[condition]]
id = "entering"
label = "takes its time to enter"
means = "command"
enter = "echo entering > ROOT/entering; read go < ROOT/gate; echo up > ROOT/flag"
verify = "cat ROOT/flag"
leave = "rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "escaping"
label = "enters by a process in a session of its own"
means = "command"
enter = "setsid sh -c 'echo entering > ROOT/entering; read go < ROOT/gate; echo up > ROOT/flag' & wait"
verify = "cat ROOT/flag"
leave = "rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "verifying"
label = "takes its time to verify"
means = "command"
enter = "echo up > ROOT/flag"
verify = "echo verifying > ROOT/verifying; read go < ROOT/gate"
leave = "rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "leaving"
label = "takes its time to leave"
means = "command"
enter = "echo up > ROOT/flag"
verify = "cat ROOT/flag"
leave = "echo leaving > ROOT/leaving; read go < ROOT/gate; rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "stuck"
label = "cannot be left"
means = "command"
enter = "echo up > ROOT/flag"
verify = "cat ROOT/flag"
leave = "test -e ROOT/mended && rm -f ROOT/flag"
doc = "x"

[[condition]]
id = "mounting"
label = "mounts something in the trial's directory and does not unmount it"
means = "command"
enter = "mkdir -p b && mount --bind ROOT/precious b"
verify = "test -e b/kept && echo verifying > ROOT/verifying"
leave = "umount b"
doc = "x"

[[condition]]
id = "forgetful"
label = "leaves its mount to others"
means = "command"
enter = "mkdir -p b && mount --bind ROOT/precious b"
verify = "test -e b/kept"
leave = "true"
doc = "x"

[[condition]]
id = "also-stuck"
label = "cannot be left either"
means = "command"
enter = "true"
verify = "true"
leave = "test -e ROOT/mended"
doc = "x"
"#;

fn room() -> Option<Room> {
    Room::new(CONDITIONS)
}

/// Starts a `cost` of conditions.
fn start(room: &Room, conditions: &str) -> Tool {
    room.start(&room.cost(&format!("{conditions} -i 3 syscall")))
}

/// A ledger with the steps of `conditions`, whose tool and guardian were killed.
fn left_behind(room: &Room, conditions: &str) {
    room.gate("gate");
    let mut tool = start(room, &format!("{conditions}+verifying"));
    room.wait_for_file("verifying");
    let guardian = tool.guardian();
    kill_process(guardian, Signal::KILL).unwrap();
    wait_for("the guardian's end", || matches!(state(guardian), None | Some('Z')));
    tool.kill();
    assert_eq!(room.ledgers().len(), 1);
}

/// Runs `restore`, which must say that it could not.
fn refused(room: &Room, words: &str) -> Output {
    let output = room.run(words);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert!(!stdout(&output).contains("nothing to undo"));
    output
}

fn restored(room: &Room) -> String {
    let output = room.run("restore");
    assert!(output.status.success(), "{}", stderr(&output));
    room.wait_until_clean();
    stdout(&output)
}

#[test]
#[ignore = "changes the system"]
fn a_command_that_enters_ends_before_it_is_undone() {
    for condition in ["entering", "escaping"] {
        let Some(room) = room() else { return };
        room.gate("gate");
        let mut tool = start(&room, condition);
        room.wait_for_file("entering");
        tool.kill();
        room.wait_until_clean();
        assert!(!room.open_gate("gate"), "{condition}: the command was not ended");
        assert_eq!(stdout(&room.run("restore")), "there is nothing to undo\n");
    }
}

#[test]
#[ignore = "changes the system"]
fn restore_ends_what_still_enters_where_the_guardian_died_too() {
    let Some(room) = room() else { return };
    room.gate("gate");
    let mut tool = start(&room, "flag+entering");
    room.wait_for_file("entering");
    let guardian = tool.guardian();
    kill_process(guardian, Signal::KILL).unwrap();
    tool.kill();
    // A dying process holds the ledger until it is gone.
    wait_for("the guardian's end", || matches!(state(guardian), None | Some('Z')));
    assert!(restored(&room).contains("end a command of entering"));
    assert!(!room.open_gate("gate"), "the command was not ended");
}

#[test]
#[ignore = "changes the system"]
fn no_socket_of_a_user_s_hides_what_is_left() {
    let Some(room) = room() else { return };
    let bind = |name: &str| UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap());
    // Another run of this test, or of an older tool, may have it: as good.
    let _taken = ["unixmark-conditions", "unixmark-alone", "unixmark-run-0"].map(bind);
    left_behind(&room, "flag");
    let offered = room.run("list conditions");
    assert!(stderr(&offered).contains("`unixmark restore` undoes that"), "{}", stderr(&offered));
    assert!(restored(&room).contains("leave flag"));
}

#[test]
#[ignore = "changes the system"]
fn restore_beside_a_run_says_so() {
    let Some(room) = room() else { return };
    room.gate("gate");
    let mut tool = start(&room, "verifying");
    room.wait_for_file("verifying");
    let output = refused(&room, "restore");
    assert!(stderr(&output).contains("another unixmark is running"), "{}", stderr(&output));
    let second = room.run(&room.cost("flag -i 2 syscall"));
    assert_eq!(second.status.code(), Some(3));
    assert!(
        stderr(&second).contains("another unixmark is switching conditions"),
        "{}",
        stderr(&second)
    );
    assert!(room.file("flag").exists(), "the first run's condition is on");
    tool.signal(Signal::INT);
    assert_eq!(tool.wait(), 130);
    room.wait_until_clean();
}

#[test]
#[ignore = "changes the system"]
fn what_cannot_be_read_is_kept_and_named() {
    let Some(room) = room() else { return };
    left_behind(&room, "flag");
    let path = room.ledgers()[0].clone();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let unknown = "0123456789abcdef {\"step\":{\"teleport\":{}}}\n";
    let damaged = [
        String::new(),
        "\0".repeat(300),
        lines[1..].concat(),
        [lines[0], &lines[2..].concat()].concat(),
        text.clone() + unknown,
        lines[0].replace("unixmark-ledger/1", "unixmark-ledger/2") + &lines[1..].concat(),
        text.replacen("rm -f", "rm -r", 1),
    ];
    for damaged in damaged {
        fs::write(&path, &damaged).unwrap();
        let output = refused(&room, "restore");
        assert!(
            stderr(&output).contains(path.file_name().unwrap().to_str().unwrap()),
            "{}",
            stderr(&output)
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        assert!(room.file("flag").exists());
        refused(&room, "restore --list");
        refused(&room, &room.cost("flag -i 2 syscall"));
    }
    // A last line that was cut short is of a change that was not made.
    fs::write(&path, text.clone() + &unknown[..30]).unwrap();
    restored(&room);
}

#[test]
#[ignore = "changes the system"]
fn what_is_left_survives_a_full_disk() {
    let Some(room) = room() else { return };
    left_behind(&room, "stuck+also-stuck");
    let path = room.ledgers()[0].clone();
    let before = fs::read_to_string(&path).unwrap();
    let output = room.shell("ulimit -f 0; \"$0\" restore").output().unwrap();
    assert!(!output.status.success());
    assert!(fs::read_to_string(&path).unwrap().starts_with(&before));
    refused(&room, "restore");
    let listed = stdout(&room.run("restore --list"));
    assert!(
        listed.contains("stuck: leave stuck") && listed.contains("also-stuck: leave also-stuck"),
        "{listed}"
    );
    fs::write(room.file("mended"), "").unwrap();
    restored(&room);
}

#[test]
#[ignore = "changes the system"]
fn nobody_else_writes_a_ledger_whatever_the_umask() {
    let Some(room) = room() else { return };
    fs::set_permissions(room.state(), fs::Permissions::from_mode(0o777)).unwrap();
    let script = format!("umask 0; \"$0\" {}", room.cost("stuck -i 2 syscall"));
    assert!(!room.shell(&script).output().unwrap().status.success());
    let path = room.ledgers()[0].clone();
    assert_eq!(fs::metadata(room.state()).unwrap().mode() & 0o7777, 0o700);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
    fs::write(room.file("mended"), "").unwrap();
    for mode in [0o606, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let output = refused(&room, "restore");
        assert!(stderr(&output).contains("may be written by others"), "{}", stderr(&output));
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
    assert!(stderr(&refused(&room, "restore")).contains("belongs to user 65534"));
    std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    let aside = room.file("aside");
    fs::rename(&path, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &path).unwrap();
    assert!(stderr(&refused(&room, "restore")).contains("is a link"));
    fs::rename(&aside, &path).unwrap();
    restored(&room);
}

#[test]
#[ignore = "changes the system"]
fn a_guardian_that_undoes_is_not_disturbed() {
    let Some(room) = room() else { return };
    room.gate("gate");
    let mut tool = start(&room, "leaving");
    room.wait_for_file("leaving");
    tool.kill();
    wait_for("the guardian at work", || {
        let output = room.run("restore");
        output.status.code() == Some(3) && stderr(&output).contains("cleaning up after itself")
    });
    let second = room.run(&room.cost("flag -i 2 syscall"));
    assert_eq!(second.status.code(), Some(3), "{}", stderr(&second));
    // The tool's own command was ended; that of the guardian waits.
    wait_for("a command that leaves", || room.open_gate("gate"));
    room.wait_until_clean();
    assert!(room.run(&room.cost("flag -i 2 syscall")).status.success());
}

#[test]
#[ignore = "changes the system"]
fn the_guardian_outlives_what_ends_the_tool() {
    let Some(room) = room() else { return };
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        room.gate("gate");
        let mut tool = start(&room, "verifying");
        room.wait_for_file("verifying");
        let guardian = tool.guardian();
        kill_process(guardian, signal).unwrap();
        tool.kill();
        room.wait_until_clean();
        fs::remove_file(room.file("gate")).unwrap();
        fs::remove_file(room.file("verifying")).unwrap();
    }
}

#[test]
#[ignore = "changes the system"]
fn what_can_never_be_undone_is_forgotten_by_name() {
    let Some(room) = room() else { return };
    left_behind(&room, "stuck");
    let output = refused(&room, "restore");
    assert!(
        stderr(&output).contains("leave stuck") && stderr(&output).contains("--forget"),
        "{}",
        stderr(&output)
    );
    let listed = stdout(&room.run("restore --list"));
    assert!(
        listed.contains("/var/lib/unixmark/undo-") && listed.contains("stuck: leave stuck"),
        "{listed}"
    );
    assert_eq!(room.run("restore --forget other").status.code(), Some(3));
    let forgotten = room.run("restore --forget stuck");
    assert!(forgotten.status.success());
    assert!(
        stderr(&forgotten).contains("dropped, not undone: leave stuck"),
        "{}",
        stderr(&forgotten)
    );
    // What was left with it was undone.
    assert_eq!(stdout(&room.run("restore")).lines().count(), 1);
    room.wait_until_clean();
    assert!(room.run(&room.cost("flag -i 2 syscall")).status.success());
}

#[test]
#[ignore = "changes the system"]
fn ctrl_z_leaves_the_condition_and_fg_goes_on() {
    let Some(room) = room() else { return };
    let mut tool = room.start(&room.cost("flag -i 4 syscall"));
    room.wait_for_file("flag");
    tool.signal(Signal::TSTP);
    wait_for("a stopped tool", || state(tool.pid()) == Some('T'));
    assert!(!room.file("flag").exists(), "the condition is on while the tool sleeps");
    assert!(
        testing::processes_with(&room.place.scratch().join("unixmark-").display().to_string())
            .iter()
            .all(|process| process.contains("unixmark-guardian"))
    );
    tool.signal(Signal::CONT);
    assert!([0, 1].contains(&tool.wait()), "{}", fs::read_to_string(room.file("stderr")).unwrap());
    room.wait_until_clean();
    let report = room.place.json("latest");
    assert!(report["end"] == "complete" || report["end"] == "budget", "{}", report["end"]);
    assert!(report["errors"].as_array().unwrap().is_empty(), "{}", report["errors"]);
}

#[test]
#[ignore = "changes the system"]
fn signals_are_heard_while_a_condition_is_switched() {
    for (condition, file, signal, code) in [
        ("entering", "entering", Signal::TERM, 143),
        ("entering", "entering", Signal::INT, 130),
        ("verifying", "verifying", Signal::TERM, 143),
    ] {
        let Some(room) = room() else { return };
        room.gate("gate");
        let mut tool = start(&room, condition);
        room.wait_for_file(file);
        tool.signal(signal);
        assert_eq!(tool.wait(), code, "{condition}");
        room.wait_until_clean();
    }
}

#[test]
#[ignore = "changes the system"]
fn who_asks_twice_does_not_wait_for_a_condition_to_be_left() {
    let Some(room) = room() else { return };
    room.gate("gate");
    let mut tool = start(&room, "leaving");
    room.wait_for_file("leaving");
    tool.signal(Signal::INT);
    tool.signal(Signal::INT);
    // Two of the same may count as one.
    tool.signal(Signal::TERM);
    wait_for("a second try, by the guardian or at the end", || {
        room.open_gate("gate");
        tool.child.try_wait().unwrap().is_some()
    });
    wait_for("the guardian's end", || {
        room.open_gate("gate");
        room.ledgers().is_empty()
    });
    room.wait_until_clean();
}

/// What a condition has mounted in the scratch directory is not the run's to remove.
#[test]
#[ignore = "changes the system"]
fn nothing_is_removed_through_a_mount() {
    let Some(room) = room() else { return };
    let kept = room.file("precious/kept");
    fs::create_dir(room.file("precious")).unwrap();
    fs::write(&kept, "precious").unwrap();
    for condition in ["mounting", "forgetful"] {
        let output = room.run(&room.cost(&format!("{condition} -i 3 syscall")));
        assert!(!output.status.success(), "{}", stderr(&output));
        assert!(kept.exists(), "{condition}: {}", stderr(&output));
    }
    // With its guardian at work, too, and where what is left is forgotten.
    fs::remove_file(room.file("verifying")).unwrap();
    for forgotten in ["mounting", "forgetful"] {
        room.run(&format!("restore --forget {forgotten}"));
    }
    restored(&room);
    let mut tool = start(&room, "mounting");
    room.wait_for_file("verifying");
    tool.kill();
    wait_for("a ledger that nobody holds", || {
        !stdout(&room.run("restore --list")).contains("goes on")
    });
    assert!(kept.exists());
    room.run("restore --forget mounting");
    restored(&room);
    assert!(kept.exists());
}

#[test]
#[ignore = "changes the system"]
fn restore_removes_a_scratch_directory() {
    let Some(room) = room() else { return };
    let words =
        format!("run --procedure quick -i 50 --dir {} syscall", room.place.scratch().display());
    let mut tool = room.start(&words);
    let guardian = tool.guardian();
    wait_for("a scratch directory", || fs::read_dir(room.place.scratch()).unwrap().count() == 1);
    kill_process(guardian, Signal::KILL).unwrap();
    tool.kill();
    // A dying process holds the ledger until it is gone.
    wait_for("the guardian's end", || {
        !fs::exists(format!("/proc/{}", guardian.as_raw_nonzero())).unwrap()
    });
    assert_eq!(fs::read_dir(room.place.scratch()).unwrap().count(), 1);
    assert!(restored(&room).contains("remove "));
}
