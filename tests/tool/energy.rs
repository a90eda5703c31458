//! Joules and watts: by fake counters and a fake meter of 40 W, and by meters that die, hang and
//! lie.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::{Place, fake, processes_with, stderr, stdout};

/// What both fakes draw.
const WATTS: f64 = 40.0;

/// Energy that is known of something is near what the fakes draw, which other work on the machine
/// delays.
fn assert_watts(watts: f64) {
    assert!((watts / WATTS - 1.0).abs() < 0.25, "{watts} W");
}

/// Runs the honest program with a meter that behaves in a way.
fn metered(place: &Place, way: &str, words: &str) -> Output {
    let program = fake("honest");
    let words = format!(
        "run --quick -c 1 -i 5 --program {} --dir {} {words}",
        program.display(),
        place.scratch().display()
    );
    place.unixmark(&words).arg("--meter").arg(meter(place, way)).output().unwrap()
}

/// The command of a meter, with the place in it by which its processes are found.
fn meter(place: &Place, way: &str) -> String {
    format!("exec {} {way} # {}", fake("meter").display(), place.scratch().display())
}

/// The trials of the last run.
fn trials(place: &Place) -> Vec<Value> {
    let journal =
        fs::read_to_string(place.results().join(place.newest()).join("run.jsonl")).unwrap();
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "trial").collect()
}

/// Trials have their energy, unless the fake was kept waiting, and reports have its median and what
/// an operation takes.
fn assert_known(place: &Place, source: &str) {
    let report = place.json("latest");
    let row = &report["results"][0];
    let number = |key: &str| row[key].as_f64().unwrap();
    assert_watts(number("watts"));
    assert!(number("watts_low") <= number("watts") && number("watts") <= number("watts_high"));
    let joules = number("joules_per_operation") * number("value");
    assert!(
        (joules / number("watts") - 1.0).abs() < 0.1,
        "J per operation, by operations per second: {joules}"
    );
    let known =
        trials(place).iter().filter(|trial| trial["energy"]["joules"].as_f64() > Some(0.0)).count();
    assert!(known > 2 && row["energy_trials"] == known, "{known} trials have energy: {row}");
    assert_eq!(report["facts"]["run.energy"], source);
    let idle = report["fact_table"]
        .as_array()
        .unwrap()
        .iter()
        .find(|fact| fact["name"] == "run.idle-power")
        .unwrap();
    assert_eq!(idle["unit"], "W");
    assert_watts(idle["number"].as_f64().unwrap());
    for format in ["text", "html", "markdown"] {
        let text =
            stdout(&place.unixmark(&format!("report latest --format {format}")).output().unwrap());
        let text = testing::flat(&text);
        assert!(
            text.contains("J per op") && text.contains("before anything ran"),
            "{format}: {text}"
        );
    }
    let csv = stdout(&place.unixmark("report latest --format csv").output().unwrap());
    assert!(csv.lines().next().unwrap().contains("joules_per_operation"), "{csv}");
}

/// Nothing of energy is in the last run.
fn assert_unknown(place: &Place) {
    assert!(trials(place).iter().all(|trial| trial["energy"].is_null()));
    for format in ["text", "html", "markdown", "csv", "json"] {
        let text =
            stdout(&place.unixmark(&format!("report latest --format {format}")).output().unwrap());
        let has = |word: &str| text.contains(word);
        assert!(
            !has("watts") && !has("joules") && !has("J per op") && !has("run.energy"),
            "{format}: {text}"
        );
    }
}

#[test]
fn a_meter_of_40_watts() {
    let place = Place::new();
    let output = metered(&place, "", "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_known(&place, "meter");
    assert_eq!(processes_with(&place.scratch().display().to_string()), Vec::<String>::new());
    place.assert_clean();
}

#[test]
fn without_a_source_nothing_is_said() {
    let place = Place::new();
    place.fake("honest", "");
    if place.json("latest")["facts"]["run.energy"].is_null() {
        assert_unknown(&place);
    }
}

/// Runs the tool in a mount namespace with fake counters; `None` if it cannot have one.
fn with_powercap(place: &Place, mode: &str, words: &[&str]) -> Option<Output> {
    let mut command = Command::new("unshare");
    command.arg("-m").arg(fake("powercap")).arg(mode).args(words);
    let root = place.root.path();
    command
        .env("UNIXMARK_RESULTS", place.results())
        .env("HOME", root)
        .env("XDG_STATE_HOME", root.join("state"));
    let output = command.current_dir(root).output().unwrap();
    let said = stderr(&output);
    if ["unshare:", "mount:", "CalledProcessError", "setpriv:"]
        .iter()
        .any(|word| said.contains(word))
    {
        testing::skip(&format!("fake counters need root: {said}"));
        return None;
    }
    Some(output)
}

#[test]
fn counters_of_40_watts_that_begin_at_0_again() {
    let place = Place::new();
    let (program, dir) =
        (fake("honest").display().to_string(), place.scratch().display().to_string());
    let tool = env!("CARGO_BIN_EXE_unixmark");
    let words =
        [tool, "run", "--quick", "-c", "1", "-i", "8", "--program", &program, "--dir", &dir];
    let Some(output) = with_powercap(&place, "400", &words) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_known(&place, "powercap: package-0, package-0 dram");
    // The package's counter goes round every 1.3 s: some windows have that in them, and each is
    // right.
    for trial in trials(&place).iter().filter(|trial| trial["energy"].is_object()) {
        let number = |key: &str| trial["energy"][key].as_f64().unwrap();
        assert!((0.5..2.0).contains(&(number("joules") / number("seconds") / WATTS)), "{trial}");
    }
    let doctor = with_powercap(&place, "400", &[tool, "doctor"]).unwrap();
    assert!(stdout(&doctor).contains("energy is read from powercap"), "{}", stdout(&doctor));
}

#[test]
fn counters_that_only_root_may_read() {
    let place = Place::new();
    for folder in [place.root.path(), &place.scratch()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    // The binary and the program may lie where nobody else can go.
    let [tool, program] = ["unixmark", "honest"].map(|name| place.root.path().join(name));
    fs::copy(env!("CARGO_BIN_EXE_unixmark"), &tool).unwrap();
    fs::copy(fake("honest"), &program).unwrap();
    let [tool, program, dir] =
        [&tool, &program, &place.scratch()].map(|path| path.display().to_string());
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", &tool];
    let run = ["run", "--quick", "-c", "1", "-i", "2", "--program", &program, "--dir", &dir];
    let Some(output) = with_powercap(&place, "400", &[&nobody[..], &run[..]].concat()) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert_eq!(said.matches("energy is not known: only root may read").count(), 1, "{said}");
    assert!(said.contains("sudo chmod a+r /sys/class/powercap/*/energy_uj"), "{said}");
    assert_unknown(&place);
    let doctor = with_powercap(&place, "400", &[&nobody[..], &["doctor"]].concat()).unwrap();
    assert!(stdout(&doctor).contains("only root may read"), "{}", stdout(&doctor));
}

#[test]
fn meters_that_do_not_start() {
    let place = Place::new();
    let of = |command: &str| {
        let program = fake("honest");
        let words = format!(
            "run --quick -c 1 --program {} --dir {}",
            program.display(),
            place.scratch().display()
        );
        let output = place.unixmark(&words).arg("--meter").arg(command).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(of("no-such-meter").contains("not found"));
    assert!(of("echo five").contains("'five' is not a number of joules"));
    assert!(of("exit 4").contains("it ended with exit status 4"));
    assert!(of("true").contains("it ended"));
    place.assert_clean();
}

/// A run goes on without a meter that fails in it, and says why.
fn assert_given_up(way: &str, why: &str) {
    let place = Place::new();
    let output = metered(&place, &format!("{way} 1.7"), "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let warnings = place.json("latest")["warnings"].to_string();
    assert!(
        warnings.contains("energy is not known of") && warnings.contains(why),
        "{way}: {warnings}"
    );
    let known = trials(&place).iter().filter(|trial| trial["energy"].is_object()).count();
    assert!(known < 5, "{way}: {known} of 5");
    assert_eq!(processes_with(&place.scratch().display().to_string()), Vec::<String>::new());
}

#[test]
fn a_meter_that_dies() {
    assert_given_up("dies", "it ended with exit status 1, saying 'the battery is empty'");
}

#[test]
fn a_meter_that_hangs() {
    assert_given_up("hangs", "the meter's readings cover less than half of them");
}

#[test]
fn meters_that_lie() {
    assert_given_up("talks", "'40 watts' is not a number of joules");
    assert_given_up("back", "it went back from");
}

#[test]
fn a_meter_ends_with_a_tool_that_is_killed() {
    let place = Place::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
    command
        .args(["run", "-q", "-c", "1", "--dir"])
        .arg(place.scratch())
        .arg("--program")
        .arg(fake("honest"));
    command.arg("--meter").arg(meter(&place, "")).env("UNIXMARK_RESULTS", place.results());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_metered = || {
        processes_with(&place.scratch().display().to_string())
            .iter()
            .any(|line| line.contains("fakes/meter"))
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while fs::read_dir(place.scratch()).unwrap().count() == 0 || !is_metered() {
        assert!(Instant::now() < deadline, "no meter was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.assert_gone(Duration::from_secs(2));
}
