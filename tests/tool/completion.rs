//! What TAB completes, in the shells themselves.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use testing::{Place, stderr, stdout};

/// What is typed before TAB, and what stands there afterwards.
const TYPED: [(&str, &str); 12] = [
    ("unixmark lat", "unixmark latency"),
    ("unixmark run dhry2r", "unixmark run dhry2reg"),
    ("unixmark run oldsys", "unixmark run oldsystem"),
    ("unixmark run --load compi", "unixmark run --load compile"),
    ("unixmark latency audio-d", "unixmark latency audio-desktop"),
    ("unixmark cost thp=ne", "unixmark cost thp=never"),
    ("unixmark cost thp=never,al", "unixmark cost thp=never,always"),
    ("unixmark cost --against seccomp=al", "unixmark cost --against seccomp=allow"),
    ("unixmark report vm-2", "unixmark report vm-2026-01-02-03"),
    ("unixmark compare --base=vm-2", "unixmark compare --base=vm-2026-01-02-03"),
    ("unixmark report --trend whetstone-d", "unixmark report --trend whetstone-double"),
    ("unixmark fleet status nig", "unixmark fleet status night"),
];

/// A place with a run and a fleet run, and the tool on the path.
fn shell(place: &Place, words: &[&str]) -> Command {
    let run = place.results().join("vm-2026-01-02-03");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("run.jsonl"), "").unwrap();
    let fleet = place.root.path().join("night");
    fs::create_dir_all(&fleet).unwrap();
    fs::write(
        fleet.join("fleet.json"),
        r#"{"format":"unixmark-fleet/1","run":"night","expected":[]}"#,
    )
    .unwrap();
    let tool = Path::new(env!("CARGO_BIN_EXE_unixmark")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(place.root.path()).env("PATH", path).env("TERM", "xterm");
    command
        .env("UNIXMARK_RESULTS", place.results())
        .env("HOME", place.root.path())
        .env("ZDOTDIR", place.root.path());
    command
        .env_remove("UNIXMARK_CATALOGUE")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME");
    command
}

/// Writes a file of the place that has the shell's script after `lead`.
fn script(place: &Place, name: &str, shell: &str, lead: &str) {
    let output = place.unixmark(&format!("completions {shell}")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    fs::write(place.root.path().join(name), format!("{lead}{}", stdout(&output))).unwrap();
}

/// Types all of it at the prompt of a shell.
fn type_all(place: &Place, prompt: &str) {
    let driver = testing::file("tests/typed.py");
    let mut words = vec!["python3", driver.to_str().unwrap(), prompt];
    words.extend(TYPED.iter().map(|(typed, _)| *typed));
    let output: Output = shell(place, &words).output().unwrap();
    let shown = stdout(&output);
    for ((typed, expected), shown) in TYPED.iter().zip(shown.lines()) {
        assert_eq!(shown, *expected, "{prompt}: {typed}");
    }
    assert_eq!(shown.lines().count(), TYPED.len(), "{}", stderr(&output));
}

#[test]
fn bash() {
    if !testing::has("bash") {
        return;
    }
    let place = Place::new();
    script(&place, "bashrc", "bash", "PS1='READY> '\nbind 'set enable-bracketed-paste off'\n");
    type_all(&place, "bash --noprofile --rcfile bashrc -i");
}

#[test]
fn zsh() {
    if !testing::has("zsh") {
        return;
    }
    let lead =
        "PS1='READY> '\nunset zle_bracketed_paste\nbindkey -e\nsetopt no_auto_menu no_list_beep\n";
    // Sourced, and as a file that zsh loads at the first TAB.
    let place = Place::new();
    script(&place, ".zshrc", "zsh", &format!("{lead}autoload -U compinit\ncompinit -u -D\n"));
    type_all(&place, "zsh -i");
    let place = Place::new();
    fs::create_dir(place.root.path().join("functions")).unwrap();
    script(&place, "functions/_unixmark", "zsh", "");
    let lead =
        format!("{lead}fpath=($HOME/functions $fpath)\nautoload -U compinit\ncompinit -u -D\n");
    fs::write(place.root.path().join(".zshrc"), lead).unwrap();
    type_all(&place, "zsh -i");
}

#[test]
fn fish() {
    if !testing::has("fish") {
        return;
    }
    let place = Place::new();
    script(&place, "unixmark.fish", "fish", "");
    for (typed, expected) in TYPED {
        let ask = format!("source unixmark.fish; complete -C '{typed}'");
        let output = shell(&place, &["fish", "-c", &ask]).output().unwrap();
        let shown = stdout(&output);
        let values: Vec<&str> =
            shown.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(values, [expected.rsplit(' ').next().unwrap()], "{typed}: {}", stderr(&output));
    }
}

#[test]
fn all_that_begins_alike_is_offered() {
    if !testing::has("fish") {
        return;
    }
    let place = Place::new();
    script(&place, "unixmark.fish", "fish", "");
    let ask = |typed: &str| {
        let output =
            shell(&place, &["fish", "-c", &format!("source unixmark.fish; complete -C '{typed}'")])
                .output();
        stdout(&output.unwrap())
    };
    let tests = ask("unixmark run dhry2");
    assert!(
        tests.contains("dhry2reg\tDhrystone 2 using register variables\n")
            && tests.lines().count() >= 2,
        "{tests}"
    );
    let levels = ask("unixmark cost thp=");
    assert!(
        ["never", "always", "madvise"]
            .iter()
            .all(|level| levels.contains(&format!("thp={level}\t"))),
        "{levels}"
    );
    let runs = ask("unixmark report ");
    assert!(runs.contains("latest\t") && runs.contains("vm-2026-01-02-03"), "{runs}");
    let elsewhere = ask("unixmark report --results nowhere ");
    assert!(!elsewhere.contains("vm-2026-01-02-03"), "{elsewhere}");
}
