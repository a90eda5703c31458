//! A test of one's own: made, built, measured, and what is said of one that breaks the protocol.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use testing::{FLAG, Place, stderr, stdout};

/// Runs the tool in a directory of the user's, with a configuration and a cache of its own.
fn tool(place: &Place, folder: &Path, words: &str) -> std::process::Output {
    let mut tool = place.unixmark(words);
    let root = place.root.path();
    tool.env("XDG_CONFIG_HOME", root.join("config")).env("XDG_CACHE_HOME", root.join("cache"));
    tool.env_remove("UNIXMARK_CATALOGUE").current_dir(folder).output().unwrap()
}

fn done(place: &Place, folder: &Path, words: &str) -> String {
    let output = tool(place, folder, words);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    stdout(&output)
}

/// The command that a step names as the next one.
fn next(said: &str, what: &str) -> String {
    let line = said
        .lines()
        .find(|line| line.starts_with(what))
        .unwrap_or_else(|| panic!("no {what} in {said}"));
    line.split_once("unixmark ").unwrap().1.to_owned()
}

fn script(place: &Place, name: &str, text: &str) -> PathBuf {
    let path = place.root.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn from_its_name_to_its_report() {
    let place = Place::new();
    let folder = place.root.path();
    let scratch = place.scratch();
    let said = done(&place, folder, "new test my-loop --label Loopy --unit loops");
    // As printed: first the row that has no program yet, then the build, then the row again.
    let (build, run) = (next(&said, "build it"), next(&said, "measure it"));
    let measure = format!("{run} --quick -c 1 -i 1 -q --dir {}", scratch.display());
    let early = tool(&place, folder, &measure);
    assert_eq!(early.status.code(), Some(3));
    assert!(stderr(&early).contains(&format!("try `unixmark {build}`")), "{}", stderr(&early));
    let built = done(&place, folder, &build);
    assert_eq!(next(&built, "measure it"), run);
    done(&place, folder, &measure);
    let result = &place.json("latest")["results"][0];
    assert_eq!(
        (&result["test"], &result["label"], &result["unit"]),
        (&"my-loop".into(), &"Loopy".into(), &"loops".into())
    );
    assert!(result["value"].as_f64().unwrap() > 0.0);
    let list = done(&place, folder, "list tests my-loop");
    assert!(list.contains("Loopy (loops)"), "{list}");
    // Nothing is overwritten.
    let twice = tool(&place, folder, "new test my-loop");
    assert_eq!(twice.status.code(), Some(2));
    assert!(
        stderr(&twice).contains("there is already a test or group 'my-loop'"),
        "{}",
        stderr(&twice)
    );
    for (name, why) in [("pipe", "there is already"), ("a/b", "is not a name"), ("latency", "")] {
        let output = tool(&place, folder, &format!("new test {name}"));
        assert!(
            why.is_empty() || (output.status.code() == Some(2) && stderr(&output).contains(why)),
            "{name}"
        );
    }
}

#[test]
fn in_the_project_it_is_one_of_its_own() {
    let place = Place::new();
    let project = place.root.path().join("project");
    for folder in ["programs/memory", "catalogue"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    fs::copy(testing::file("programs/kit.h"), project.join("programs/kit.h")).unwrap();
    for table in ["tests", "memory"] {
        let name = format!("catalogue/{table}.toml");
        fs::copy(testing::file(&name), project.join(name)).unwrap();
    }
    let said = done(&place, &project.join("programs"), "new test my-moves --in memory");
    assert!(said.contains("cargo run -- run my-moves"), "{said}");
    assert!(project.join("programs/memory/my-moves.c").is_file());
    let table: toml::Table =
        fs::read_to_string(project.join("catalogue/memory.toml")).unwrap().parse().unwrap();
    let row = table["test"].as_array().unwrap().last().unwrap();
    let text = |key: &str| row[key].as_str().unwrap();
    assert_eq!(
        (text("id"), text("program"), text("category")),
        ("my-moves", "memory/my-moves", "memory")
    );
    // The lint of the tables accepts it.
    assert!(text("doc").split_whitespace().count() >= 12 && text("doc").contains("not"));
    let source = project.join("programs/memory/my-moves.c");
    let built = done(&place, &project, &format!("build {} -o moves", source.display()));
    assert!(next(&built, "measure it").starts_with("run --program moves"), "{built}");
}

#[test]
fn what_is_built_may_use_the_kit() {
    let place = Place::new();
    let folder = place.root.path();
    let program = "#include \"kit.h\"\n#include \"thread/team.h\"\n\
                   static void work(struct kit_thread *me) { for (;;) me->count++; }\n\
                   int main(int argc, char **argv) { kit_init(argc, argv); team_start(work); }\n";
    fs::write(folder.join("mine.c"), program).unwrap();
    done(&place, folder, "build mine.c thread/team.c -o mine");
    done(
        &place,
        folder,
        &format!("run --program ./mine --quick -c 1 -i 1 -q --dir {}", place.scratch().display()),
    );
    fs::write(folder.join("bad.c"), "int main(void) { return nothing; }\n").unwrap();
    let bad = tool(&place, folder, "build bad.c");
    assert_eq!(bad.status.code(), Some(3));
    assert!(stderr(&bad).contains("bad.c:1:") && !folder.join("bad").exists(), "{}", stderr(&bad));
    for (words, why) in [
        ("build nothing.c", "unixmark new test NAME"),
        ("build bad.c nothing.c", "the kit has no such file"),
        ("build mine", "say with --out"),
    ] {
        let output = tool(&place, folder, words);
        assert!(
            !output.status.success() && stderr(&output).contains(why),
            "{words}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_program_has_a_label_and_a_unit() {
    let place = Place::new();
    let output = place.fake("honest", "-q --label Honesty --unit words");
    assert!(output.status.success(), "{}", stderr(&output));
    let report = place.json("latest");
    assert_eq!(
        (&report["results"][0]["label"], &report["results"][0]["unit"]),
        (&"Honesty".into(), &"words".into())
    );
}

#[test]
fn a_wrong_line_is_named_by_its_field() {
    for (line, why) in [
        ("slice 1 2 3", "START_NS is before the window, which began at "),
        ("slice $start $((start - 1)) 3", "END_NS is before START_NS"),
        ("slice $start", "END_NS is missing"),
        ("slice $start x 3", "END_NS is not a whole number"),
        ("slice $start $start 3 4", "there is more after COUNT"),
        ("value speed fast", "NUMBER is not a number"),
        ("check right", "NUMBER is missing"),
        ("copy 4", "NUMBER is not 0, the next thread's"),
        ("usage 1 2", "CHILD_USER_NS is missing"),
        ("frame 1 2 3", "there is no plan before it"),
        ("plan 16 16 1 9 wake", "PERIOD_NS is shorter than 1 us"),
        ("nothing", "which is not part of the protocol"),
    ] {
        let place = Place::new();
        let text = format!(
            "#!/bin/sh\necho ready\nread -r go start slice slices || exit 0\necho \"{line}\"\n"
        );
        let program = script(&place, "wrong", &text);
        let output = place.run(&format!("--program {} -c 1 -i 1 -q", program.display()));
        assert_eq!(output.status.code(), Some(3));
        assert!(stderr(&output).contains(why), "{line}: {}", stderr(&output));
    }
}

#[test]
fn a_file_that_may_not_be_executed_says_why() {
    let place = Place::new();
    let program = script(&place, "plain", "#!/bin/sh\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    let output = place.run(&format!("--program {} -c 1 -i 1 -q", program.display()));
    assert!(
        stderr(&output).contains("it has no execute permission; try chmod +x"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn builds_are_cleaned_but_those_in_use() {
    let place = Place::new();
    let folder = place.root.path();
    let builds = folder.join("cache/unixmark");
    let names = || {
        let entries = fs::read_dir(&builds)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries.filter(|name| name.contains('-')).collect::<Vec<_>>()
    };
    assert!(done(&place, folder, "clean").contains("0 of 0 builds removed"));
    let run = |build: &str| {
        done(&place, folder, &format!("run pipe --quick -c 1 -i 1 -q --build {build}"))
    };
    run("portable");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 3600);
    let used = builds.join(&names()[0]).join("used");
    fs::File::options().write(true).open(&used).unwrap().set_modified(old).unwrap();
    let doctor = stdout(&tool(&place, folder, "doctor"));
    assert!(doctor.contains("1 build in ") && doctor.contains("XDG_CACHE_HOME"), "{doctor}");
    run("native");
    assert_eq!(names().len(), 2);
    assert!(done(&place, folder, "clean --dry-run").contains("1 of 2 builds would be removed"));
    assert_eq!(names().len(), 2);
    // As a tool that runs holds it.
    let running = fs::File::open(&used).unwrap();
    running.lock_shared().unwrap();
    assert!(done(&place, folder, "clean").contains("0 of 2 builds removed"));
    assert!(done(&place, folder, "clean --all").contains("in use"));
    assert_eq!(names().len(), 1);
    drop(running);
    assert!(done(&place, folder, "clean").contains("1 of 1 build removed"));
    assert!(names().is_empty());
}

#[test]
fn what_verify_prints_of_a_condition_of_ones_own_is_kept_with_its_trials() {
    let _host = testing::host();
    let place = Place::new();
    let root = place.root.path();
    let catalogue = root.join("catalogue.toml");
    fs::write(&catalogue, FLAG.replace("ROOT", &root.display().to_string())).unwrap();

    let mut tool = place.unixmark("cost flag --quick -i 3 -q -- true");
    let output = tool.env("UNIXMARK_CATALOGUE", catalogue).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    let journal = fs::read_to_string(place.journal()).unwrap();
    assert_eq!(journal.matches(r#""notes":["up"]"#).count(), 3, "{journal}");
}
