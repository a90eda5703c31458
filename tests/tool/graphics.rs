//! The graphics tests on real displays: private Xvfbs with llvmpipe, and none at all.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::{Place, stderr};

/// `unixmark run` with a private X server, in short windows; extra variables for its environment.
fn run(place: &Place, words: &str, environment: &[(&str, &str)]) -> Value {
    let scratch = place.scratch();
    let mut command =
        place.unixmark(&format!("run --procedure quick --dir {} {words}", scratch.display()));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    place.json("latest")
}

/// The PATH with a fake x11perf before the system's.
fn fake() -> String {
    let folder = testing::file("tests/tool/graphics");
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn row<'a>(report: &'a Value, table: &str, test: &str) -> &'a Value {
    let rows = report[table].as_array().unwrap();
    rows.iter()
        .find(|row| row["test"] == test)
        .unwrap_or_else(|| panic!("no {test} in {table}: {report:#}"))
}

fn index<'a>(report: &'a Value, category: &str) -> &'a Value {
    report["index"].as_array().unwrap().iter().find(|index| index["category"] == category).unwrap()
}

/// The X servers that this process's tool started.
fn servers(tool: u32) -> Vec<String> {
    testing::processes_with(&format!("-auth /proc/{tool}/fd/"))
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs an X server"]
fn scores_and_indices_come_out_as_by_hand() {
    let place = Place::new();
    let path = fake();
    let report = run(&place, "2d-rects 2d-window -i 1 --xvfb", &[("PATH", &path)]);
    // (2 + 1 + 1/2 + 1/2) / 4 · 1000, and all four quotients 4.
    assert_eq!(row(&report, "results", "2d-rects")["value"], 1000.0);
    assert_eq!(row(&report, "results", "2d-window")["value"], 4000.0);
    let index = index(&report, "2d");
    assert_eq!(
        (&index["complete"], &index["name"]),
        (&false.into(), &"2D Graphics Benchmarks".into())
    );
    // 10·√(1000/15 · 4000/15) = 10 · 2000/15.
    assert!((index["score"].as_f64().unwrap() - 20_000.0 / 15.0).abs() < 1e-9, "{index}");
    let values = &row(&report, "results", "2d-rects")["values"];
    assert_eq!(values["rect10"]["value"], 14_360_000.0, "{values}");
}

/// UnixBench's procedure: three repetitions; x11perf's own average counts.
#[test]
#[ignore = "needs an X server"]
fn the_classic_procedure_takes_the_average() {
    let place = Place::new();
    let path = fake();
    let report = run(&place, "2d-rects -i 1 --xvfb --procedure classic", &[("PATH", &path)]);
    let row = row(&report, "results", "2d-rects");
    assert!((row["value"].as_f64().unwrap() - 1000.0).abs() < 1e-9 && row["n"] == 1, "{row:#}");
}

#[test]
#[ignore = "needs an X server"]
fn a_sub_test_that_fails_is_told_and_the_others_count() {
    let place = Place::new();
    let path = fake();
    let report = run(&place, "2d-aashapes 2d-circle 2d-polys -i 1 --xvfb", &[("PATH", &path)]);
    let shapes = row(&report, "results", "2d-aashapes");
    // (1 + 2 + 3) / 3 · 1000.
    assert_eq!(shapes["value"], 2000.0);
    let told = shapes["warnings"].to_string();
    assert!(told.contains("error in aa4trap300: x11perf was killed by signal 11"), "{told}");
    assert!(told.contains("the mean of the other 3"), "{told}");
    // (2 + 4) / 2 · 1000: one is left out in the middle, without an error, and one is unknown.
    let circle = row(&report, "results", "2d-circle");
    assert_eq!(circle["value"], 3000.0, "{circle:#}");
    let told = circle["warnings"].to_string();
    assert!(told.contains("error in wddcircle100: x11perf says 'Could not load font"), "{told}");
    assert!(told.contains("error in fspcircle100: this x11perf has no such sub-test"), "{told}");
    assert_eq!(circle["values"]["wpcircle100"]["value"], 156_000.0);
    // None of four is an error row.
    let reason = row(&report, "errors", "2d-polys")["reason"].to_string();
    assert!(reason.contains("BadAlloc"), "{reason}");
}

/// Every sub-test has a rate or a reason, all but the one that crashes a rate.
fn assert_group(row: &Value) {
    assert!(row["value"].as_f64().unwrap() > 0.0, "{row}");
    let measured = row["values"].as_object().unwrap().len();
    let failed = row["warnings"].to_string().matches("error in ").count();
    assert!(measured + failed == 4 && measured >= 3, "{row:#}");
}

/// With few requests each, since finding out how many fill a second takes x11perf three.
#[test]
#[ignore = "needs an X server"]
fn x11perf_s_groups_give_scores() {
    let place = Place::new();
    let groups = "rects lines circle ellipse shapes aashapes polys text blit window";
    let names: Vec<String> = groups.split(' ').map(|name| format!("2d-{name}:reps=100")).collect();
    let report = run(&place, &format!("{} -i 1 --xvfb", names.join(" ")), &[]);
    let rows = report["results"].as_array().unwrap();
    assert_eq!(rows.len(), 10, "{:#}", report["errors"]);
    rows.iter().for_each(assert_group);
    place.assert_clean();
}

#[test]
#[ignore = "needs an X server"]
fn x11perf_fills_its_time_by_itself() {
    let place = Place::new();
    let report = run(&place, "2d-window -i 1 --xvfb", &[]);
    let row = row(&report, "results", "2d-window");
    assert_group(row);
    assert!(row["seconds"].as_f64().unwrap() > 4.0, "four sub-tests of a second each: {row}");
}

/// The check values hold on an X display and off-screen, and the gears' known frame is the same
/// picture in both.
#[test]
#[ignore = "needs an X server"]
fn gears_render_the_known_frame() {
    let place = Place::new();
    let shown = run(&place, "3d -i 2 --xvfb", &[]);
    let hidden = run(&place, "3d -i 2", &[]);
    for (report, platform) in [(&shown, "x11"), (&hidden, "surfaceless")] {
        assert!(report["errors"].as_array().unwrap().is_empty(), "{:#}", report["errors"]);
        assert!(report["skipped"].as_array().unwrap().is_empty(), "{:#}", report["skipped"]);
        assert_eq!(report["results"].as_array().unwrap().len(), 3);
        let facts = &report["facts"];
        let server = facts["graphics.server"].to_string();
        assert!(platform != "x11" || server.contains("Xvfb"), "{server}");
        assert_eq!(
            (&facts["graphics.gl_platform"], &facts["graphics.rendering"]),
            (&platform.into(), &"software".into())
        );
        assert!(facts["graphics.gl_renderer"].as_str().unwrap().contains("llvmpipe"), "{facts:#}");
        let warnings = row(report, "results", "ubgears")["warnings"].to_string();
        assert!(warnings.contains("software renderer"), "{warnings}");
    }
    let hash =
        |report: &Value| row(report, "results", "ubgears")["values"]["frame_hash"]["value"].clone();
    assert!(
        hash(&shown).is_number() && hash(&shown) == hash(&hidden),
        "{} {}",
        hash(&shown),
        hash(&hidden)
    );
    // 10 · fps / 33.4.
    let index = index(&shown, "3d");
    let fps = row(&shown, "results", "ubgears")["value"].as_f64().unwrap();
    assert_eq!(index["complete"], true);
    assert!((index["score"].as_f64().unwrap() - fps * 10.0 / 33.4).abs() < 1e-6, "{index}");
}

#[test]
#[ignore = "needs an X server"]
fn what_is_missing_is_a_row_with_what_would_help() {
    let place = Place::new();
    let report = run(&place, "2d-text 2d-rects -c 1", &[]);
    for test in ["2d-text", "2d-rects"] {
        let reason = row(&report, "skipped", test)["reason"].to_string();
        assert!(reason.contains("--xvfb") && reason.contains("package xvfb"), "{reason}");
    }
    let dead = run(&place, "2d-text 2d-rects -c 1", &[("DISPLAY", ":4095")]);
    for test in ["2d-text", "2d-rects"] {
        let reason = row(&dead, "skipped", test)["reason"].to_string();
        assert!(reason.contains(":4095"), "{reason}");
    }
    // Without a compiler the portable programs are prepared, and none is needed.
    let bare = run(&place, "2d-text -c 1", &[("PATH", "/nowhere")]);
    let reason = row(&bare, "skipped", "2d-text")["reason"].to_string();
    assert!(reason.contains("x11perf") && reason.contains("x11-apps"), "{reason}");
    // A library that is none, before the system's.
    let folder = place.root.path().join("libraries");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("libEGL.so.1"), "none").unwrap();
    let blind = run(&place, "3d -c 1", &[("LD_LIBRARY_PATH", folder.to_str().unwrap())]);
    assert_eq!(blind["skipped"].as_array().unwrap().len(), 3, "{:#}", blind["errors"]);
    let reason = row(&blind, "skipped", "ubgears")["reason"].to_string();
    assert!(
        reason.contains("EGL cannot be loaded") && reason.contains("install libegl1"),
        "{reason}"
    );
    let output = place.unixmark("run 2d-text --xvfb").env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("install the package xvfb"), "{}", stderr(&output));
}

/// The tool with an x11perf that takes a minute, and its X server.
fn begun(place: &Place) -> Child {
    let tool = testing::built_program("unixmark");
    let scratch = place.scratch();
    let child = std::process::Command::new(tool)
        .args(["run", "2d-text", "-i", "1", "-q", "--xvfb", "--dir"])
        .arg(&scratch)
        .env("PATH", fake())
        .env("UNIXMARK_RESULTS", place.results())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mark = scratch.display().to_string();
    wait_until("x11perf is at work", || {
        testing::processes_with(&mark).iter().any(|line| line.contains("sleep 60"))
    });
    assert_eq!(servers(child.id()).len(), 1, "{:?}", testing::processes_with("Xvfb"));
    child
}

/// The number of the display that an X server listens on, by its environment's readers: what the
/// tool told its programs.
fn display(place: &Place) -> u32 {
    let mark = place.scratch().display().to_string();
    let program = testing::processes_with(&mark)
        .into_iter()
        .find(|line| line.contains("unixmark-graphics"))
        .unwrap();
    let environment = std::fs::read(format!("/proc/{}/environ", process(&program))).unwrap();
    let text = String::from_utf8_lossy(&environment).into_owned();
    text.split('\0')
        .find_map(|word| word.strip_prefix("DISPLAY=:")?.parse().ok())
        .expect("it has a display")
}

/// Neither processes, files of the X server nor the scratch directory's may stay.
fn nothing_is_left(place: &Place, tool: u32, number: u32) {
    let mark = place.scratch().display().to_string();
    wait_until("the programs end", || testing::processes_with(&mark).is_empty());
    wait_until("the X server ends", || servers(tool).is_empty());
    // Another test's server may have the number now.
    let socket = format!("/tmp/.X11-unix/X{number}");
    wait_until("its socket goes", || {
        !Path::new(&socket).exists() || UnixStream::connect(&socket).is_ok()
    });
    wait_until("the scratch directory is empty", || {
        std::fs::read_dir(place.scratch()).unwrap().next().is_none()
    });
}

/// The process that a line of /proc is about.
fn process(line: &str) -> Pid {
    Pid::from_raw(line.split(':').next().unwrap().parse().unwrap()).unwrap()
}

#[test]
#[ignore = "needs an X server"]
fn killed_in_the_middle_nothing_stays() {
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let place = Place::new();
        let mut tool = begun(&place);
        let number = display(&place);
        kill_process(Pid::from_child(&tool), signal).unwrap();
        tool.wait().unwrap();
        nothing_is_left(&place, tool.id(), number);
    }
}

/// An X server that is killed leaves its lock and its socket; the tool takes them away, and tells
/// why there is no score.
#[test]
#[ignore = "needs an X server"]
fn a_dead_x_server_is_an_error_and_is_cleaned_up_after() {
    let place = Place::new();
    let mut tool = begun(&place);
    let server = process(&servers(tool.id())[0]);
    let number = display(&place);
    kill_process(server, Signal::KILL).unwrap();
    // What x11perf would notice by itself the fake does not.
    for line in testing::processes_with(&place.scratch().display().to_string()) {
        if line.contains("sleep 60") {
            kill_process(process(&line), Signal::KILL).unwrap();
        }
    }
    assert_eq!(tool.wait().unwrap().code(), Some(3));
    nothing_is_left(&place, tool.id(), number);
    let report = place.json("latest");
    let reason = row(&report, "errors", "2d-text")["reason"].to_string();
    assert!(reason.contains("x11perf") || reason.contains("display"), "{reason}");
}

/// The graphics program by hand, off-screen, with `words`.
fn by_hand(words: &str) -> Child {
    let program = testing::built_program("unixmark-graphics");
    std::process::Command::new(program)
        .args(words.split_whitespace())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A line at a time, so that the program is where the test wants it.
fn says(program: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(program.stdout.take().unwrap()).lines().map(Result::unwrap)
}

#[test]
#[ignore = "needs an X server"]
fn the_end_of_stdin_ends_a_program() {
    for begun in [false, true] {
        let mut program = by_hand("gears");
        let mut lines = says(&mut program);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        if begun {
            program.stdin.as_mut().unwrap().write_all(b"go 0 60000000000 10\n").unwrap();
        }
        drop(program.stdin.take());
        wait_until("it ends", || program.try_wait().unwrap().is_some());
        assert_eq!(lines.next(), None, "silently");
    }
}

#[test]
#[ignore = "needs the graphics programs"]
fn wrong_words_are_met_with_a_sentence() {
    for (words, told) in [
        ("", "error there is no '' here: try one of gears, triangles, x11perf"),
        ("gears size=0x300", "error size=0x300 is not a size: try WIDTHxHEIGHT"),
        ("gears teeth", "error 'teeth' is not an argument: try key=value"),
        ("gears teeth=20", "skip the graphics programs know no argument teeth="),
        ("gears cpu=all", "error cpu=all is not a whole number"),
        ("x11perf tests=rect10", "error 'rect10' is not a sub-test: try tests=rect10:7180000"),
    ] {
        let mut program = by_hand(words);
        let said = says(&mut program).next().unwrap_or_default();
        if said.starts_with("skip EGL cannot be loaded") {
            program.wait().unwrap();
            testing::skip(&said);
            continue;
        }
        assert!(said.starts_with(told), "{words}: {said}");
        // Waiting closes stdin, which may be faster than a GL driver's end.
        let code = program.wait().unwrap().code();
        assert!(
            code.is_none_or(|code| (code == 0) == told.starts_with("skip")),
            "{words}: {code:?}"
        );
    }
}
