//! Kernel auditing of a machine that audits already: nothing of that is weakened, and a trial whose
//! records were not received is void.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use ::conditions::{Refusal, Sink};
use rustix::process::{Pid, Signal, kill_process};

use crate::audit::{Caller, SENTINEL, Stage, auditctl, calls, setting, state};

/// The machine's own auditd, with settings and a rule of its own, until this is dropped.
struct Production {
    daemon: Child,
    folder: PathBuf,
    /// A process that is not measured and does what the rule is about, once per line that it reads.
    neighbour: Child,
    replies: BufReader<ChildStdout>,
}

impl Production {
    /// Nothing where auditd is not installed.
    fn start(stage: &mut Stage) -> Option<Production> {
        if !testing::has("auditd") {
            return None;
        }
        let folder = stage.scratch.path().join("theirs");
        fs::create_dir_all(folder.join("plugins.d")).unwrap();
        let config = format!(
            "log_file = {0}/audit.log\nlog_group = root\nlog_format = RAW\nflush = DATA\n\
             plugin_dir = {0}/plugins.d\nspace_left = 2\nadmin_space_left = 1\n",
            folder.display()
        );
        fs::write(folder.join("auditd.conf"), config).unwrap();
        fs::set_permissions(folder.join("auditd.conf"), fs::Permissions::from_mode(0o640)).unwrap();
        let work = format!("while read line; do chmod 755 {}; echo done; done", folder.display());
        let mut neighbour = Command::new("sh");
        neighbour.args(["-c", &work]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut neighbour = neighbour.spawn().unwrap();
        let replies = BufReader::new(neighbour.stdout.take().unwrap());
        let daemon = Command::new("auditd")
            .args(["-n", "-s", "nochange", "-c"])
            .arg(&folder)
            .spawn()
            .unwrap();
        let production = Production { daemon, folder, neighbour, replies };
        let pid = production.daemon.id().to_string();
        processes::retry(|| {
            (setting("pid") == pid).then_some(()).ok_or("auditd does not receive the records")
        })
        .unwrap();
        // A failure mode of 2 would panic the machine; only the crate's kernel in memory tries it.
        auditctl(&["-b", "8192", "-f", "1"]);
        auditctl(&["-w", production.folder.to_str().unwrap(), "-p", "a", "-k", "theirs"]);
        auditctl(&["-e", "1"]);
        // auditd 3.0 loses the first record when it starts.
        let begun =
            || fs::read_to_string(production.folder.join("audit.log")).unwrap().contains("begun");
        processes::retry(|| {
            auditctl(&["-m", "begun"]);
            begun().then_some(()).ok_or("auditd does not write the records")
        })
        .unwrap();
        stage.before = state();
        assert!(stage.before.contains(&format!("pid {pid}\n")), "{}", stage.before);
        Some(production)
    }

    /// Has the neighbour do what makes one event.
    fn audited(&mut self) {
        self.neighbour.stdin.as_mut().unwrap().write_all(b"do\n").unwrap();
        self.replies.read_line(&mut String::new()).unwrap();
    }

    /// Ends the daemon; returns how many events it has of its rule, and of measured programs.
    fn events(mut self) -> (usize, usize) {
        self.stop();
        let log = fs::read_to_string(self.folder.join("audit.log")).unwrap();
        let count = |part: &str| {
            log.lines()
                .filter(|line| line.starts_with("type=SYSCALL") && line.contains(part))
                .count()
        };
        (count("key=\"theirs\""), count("comm=\"caller\""))
    }

    fn stop(&mut self) {
        if self.daemon.try_wait().unwrap().is_none() {
            auditctl(&["-e", "0"]);
            auditctl(&["-W", self.folder.to_str().unwrap(), "-p", "a", "-k", "theirs"]);
            kill_process(Pid::from_child(&self.daemon), Signal::TERM).unwrap();
            self.daemon.wait().unwrap();
        }
    }
}

impl Drop for Production {
    fn drop(&mut self) {
        self.stop();
        drop(self.neighbour.stdin.take());
        self.neighbour.wait().unwrap();
    }
}

/// Why a level cannot be had, if it cannot.
fn refused(stage: &Stage, level: &str) -> Option<String> {
    let refusal = stage.refusal(level);
    refusal.map(|why| if let Refusal::Unavailable(why) = why { why } else { panic!("{why:?}") })
}

#[test]
#[ignore = "changes the system"]
fn runs_in_a_row_leave_a_daemon_its_settings_its_rules_and_its_records() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    let Some(mut production) = Production::start(&mut stage) else {
        return;
    };
    let runs = if testing::all_must_run() { 100 } else { 5 };
    let lost = setting("lost");
    for run in 0..runs {
        let level = ["audit=on", "audit=off"][run % 2];
        let evidence = stage.measure(level, |stage| {
            let exempt = format!("-a never,task -F auid={SENTINEL}\n");
            assert_eq!(
                state().replace(&exempt, ""),
                stage.before,
                "not even meanwhile is a setting changed"
            );
            production.audited();
            calls(&program, 1, 10);
        });
        let trail = evidence.unwrap().trail;
        assert_eq!(trail.map(|trail| (trail.events, trail.lost)), (run % 2 == 0).then_some((0, 0)));
    }
    let level = stage.rules("-a always,exit -F arch=b64 -S getppid -k mine\n");
    for level in [&level, "audit=exec", "audit=all"] {
        let why = refused(&stage, level).unwrap();
        assert!(why.contains("(auditd) receives this machine's audit records"), "{why}");
    }
    assert_eq!((setting("lost"), state()), (lost, stage.before.clone()));
    assert_eq!(production.events(), (runs, 0));
}

#[test]
#[ignore = "changes the system"]
fn where_auditing_is_on_it_stays_as_it_is() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    auditctl(&["-e", "1"]);
    stage.before = state();
    assert!(stage.before.starts_with("enabled 1"));
    let level = stage.rules("-a always,exit -F arch=b64 -S getppid -k mine\n");
    let message = format!("not-for-unixmark-{}", std::process::id());
    let evidence = stage
        .measure(&level, |_| {
            // Others keep their audit contexts, and the queue its length.
            assert!(
                !auditctl(&["-l"]).contains("-a never,task") && setting("backlog_limit") == "77"
            );
            auditctl(&["-m", &message]);
            calls(&program, 1, 1000);
        })
        .unwrap();
    assert_eq!(evidence.trail.unwrap().events, 1000);
    assert!(evidence.notes.iter().any(|note| note.contains("other processes are still audited")));
    let log = Command::new("dmesg").output().unwrap().stdout;
    let line = String::from_utf8_lossy(&log)
        .lines()
        .find(|line| line.contains(&message))
        .map(str::to_owned);
    assert!(
        line.is_some_and(|line| line.contains("audit: type=")),
        "the record of another goes where it went before"
    );
    let why = refused(&stage, "audit=off-after-on").unwrap();
    assert!(why.contains("would leave a gap"), "{why}");
    stage.measure("audit=off", |_| calls(&program, 1, 10)).unwrap();
    for (option, value, usual) in
        [("-r", "1000", "0"), ("--backlog_wait_time", "0", "14000"), ("-b", "0", "77")]
    {
        auditctl(&[option, value]);
        let why = refused(&stage, &level);
        auditctl(&[option, usual]);
        let why = why.unwrap();
        assert!(why.contains(&format!("auditctl {option}")), "{why}");
    }
}

/// Stops a process for a second, or for as long as that takes; returns when it runs again.
fn stop(pid: u32) {
    let script = format!("kill -STOP {pid}; sleep 1; kill -CONT {pid}");
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
}

#[test]
#[ignore = "changes the system"]
fn a_receiver_that_was_stopped_voids_its_trial() {
    let Some(mut stage) = Stage::switched() else {
        return;
    };
    let program = Caller::build(&stage);
    let level = stage.rules("-a always,exit -F arch=b64 -S getppid -k mine\n");
    let why = stage.measure(&level, |_| {
        stop(std::process::id());
        calls(&program, 1, 1000);
    });
    let why = why.unwrap_err();
    assert!(
        why.contains("no records were received for") && why.contains("unixmark was stopped"),
        "{why}"
    );
    if testing::has("auditd") {
        stage.settings.trail.sink = Sink::Auditd;
        let why = stage.measure(&level, |_| {
            stop(setting("pid").parse().unwrap());
            calls(&program, 1, 1000);
        });
        assert!(why.unwrap_err().contains("was stopped by a signal"));
    }
    stage.settings.trail.sink = Sink::Count;
    assert_eq!(
        stage.measure(&level, |_| calls(&program, 1, 1000)).unwrap().trail.unwrap().events,
        1000
    );
}
