//! The Wayland test against weston without a screen: that frames are shown, how it ends, and that nothing stays behind.

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::{Place, processes_with, stderr, stdout};

/// A compositor in a runtime directory of its own.
struct Weston {
    child: Child,
    folder: PathBuf,
    socket: String,
}

impl Weston {
    fn start(place: &Place) -> Weston {
        let folder = place.root.path().join("runtime");
        std::fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        let socket = format!("unixmark-test-{}", std::process::id());
        let child = Command::new("weston")
            .args(["--backend=headless-backend.so", "--use-pixman", "--no-config", "--idle-time=0"])
            .arg(format!("--socket={socket}"))
            .env("XDG_RUNTIME_DIR", &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("weston is not there: install the package weston");
        let weston = Weston { child, folder, socket };
        wait_for("weston's socket", || weston.folder.join(&weston.socket).exists());
        weston
    }

    /// The tool on this display, with results and scratch in the place.
    fn unixmark(&self, place: &Place, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
        command
            .env("UNIXMARK_RESULTS", place.results())
            .env("XDG_RUNTIME_DIR", &self.folder)
            .env("WAYLAND_DISPLAY", &self.socket)
            .args(words.split_whitespace())
            .args(["--dir", place.scratch().to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Drop for Weston {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !there() {
        assert!(Instant::now() < deadline, "still no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the place's trials have left; its graphics program has its scratch directory as its own.
fn left(place: &Place) -> Vec<String> {
    processes_with(place.scratch().to_str().unwrap())
}

fn draws(place: &Place) -> bool {
    left(place).iter().any(|process| process.contains("size=640x480"))
}

#[test]
#[ignore = "needs a Wayland compositor"]
fn frames_are_shown() {
    let place = Place::new();
    let weston = Weston::start(&place);
    let output = weston.unixmark(&place, "run wayland-frames --procedure quick").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let report = place.json("latest");
    assert_eq!(report["errors"].as_array().unwrap().len() + report["skipped"].as_array().unwrap().len(), 0);
    let row = &report["results"][0];
    assert_eq!(
        (&row["test"], &row["metric"], &row["unit"]),
        (&"wayland-frames".into(), &"latency".into(), &"ms".into())
    );
    assert!(row["frames"].as_u64().unwrap() > 0 && row["frames"].as_u64() <= row["planned"].as_u64(), "{row:#}");

    let journal = std::fs::read_to_string(place.journal()).unwrap();
    let trial = journal.lines().find(|line| line.contains("\"type\":\"trial\"")).unwrap();
    let trial: Value = serde_json::from_str(trial).unwrap();
    let value =
        |name: &str| trial["copies"][0]["values"][name][0].as_f64().unwrap_or_else(|| panic!("{name}: {trial:#}"));
    assert_eq!(trial["copies"][0]["checks"]["presented"], 1.0);
    // Weston without a screen reports 60 Hz. A frame is on the screen after more than nothing, and in half of all cases
    // within some refreshes, whatever else this machine does.
    assert!((59.0..61.0).contains(&value("refresh")));
    let p50 = row["percentiles"]["p50"].as_f64().unwrap();
    assert!(p50 > 0.0 && p50 < 20.0 * 1000.0 / value("refresh"), "{row:#}");
    // Frames follow each other: in a window there are as many as fit.
    let window = row["seconds"].as_f64().unwrap() * 1000.0;
    let fit = window / value("interval");
    let each = row["frames"].as_f64().unwrap() / row["trials"].as_array().unwrap().len() as f64;
    assert!(each > 0.5 * fit && each < 1.5 * fit, "{each} of {fit}: {row:#}");
    place.assert_clean();
    assert_eq!(left(&place), Vec::<String>::new());
}

#[test]
fn without_a_display_it_is_skipped() {
    let place = Place::new();
    for (display, reason) in [(None, "no Wayland display: set"), (Some("nobody"), "no Wayland display at nobody: set")]
    {
        let mut command = place.unixmark("run wayland-frames -q --procedure quick");
        command.env("XDG_RUNTIME_DIR", place.root.path()).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        command.envs(display.map(|name| ("WAYLAND_DISPLAY", name)));
        command.arg("--dir").arg(place.scratch()).output().unwrap();
        let skipped = place.json("latest")["skipped"][0]["reason"].as_str().unwrap().to_owned();
        assert!(skipped.contains(reason) && skipped.contains("(package weston)"), "{skipped}");
    }
}

#[test]
#[ignore = "needs a Wayland compositor"]
fn a_compositor_that_ends_is_an_error_row() {
    let place = Place::new();
    let mut weston = Weston::start(&place);
    let child = weston.unixmark(&place, "latency wayland-frames -q -w none -i 1 -t 20").spawn().unwrap();
    wait_for("program that draws", || draws(&place));
    std::thread::sleep(Duration::from_millis(1500));
    weston.child.kill().unwrap();
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let reason = place.json("latest")["errors"][0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("the connection to the Wayland compositor was lost"), "{reason}");
    place.assert_clean();
    assert_eq!(left(&place), Vec::<String>::new());
}

#[test]
#[ignore = "needs a Wayland compositor"]
fn a_tool_that_is_killed_leaves_nothing() {
    let place = Place::new();
    let mut weston = Weston::start(&place);
    let mut child = weston.unixmark(&place, "latency wayland-frames -q -w none -i 1 -t 20").spawn().unwrap();
    wait_for("program that draws", || draws(&place));
    std::thread::sleep(Duration::from_millis(1500));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("end", || left(&place).is_empty() && std::fs::read_dir(place.scratch()).unwrap().next().is_none());
    assert!(weston.child.try_wait().unwrap().is_none(), "the compositor was there before, and stays");
}
