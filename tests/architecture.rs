//! ARCHITECTURE.md describes the code as it is: its tables and lists are compared with the sources.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where code that is no test lives.
const CODE: [&str; 3] = ["crates", "src", "programs"];

#[test]
fn the_table_of_crates_is_the_graph_of_the_workspace() {
    let manifests = manifests();
    let table = table();
    for (name, uses) in &table {
        assert_eq!(
            Some(uses),
            manifests.get(name),
            "{name}: left is the document, right Cargo.toml"
        );
    }
    assert_eq!(table.len(), manifests.len(), "every crate has one row: {:?}", manifests.keys());
}

#[test]
fn dependencies_point_down_the_table_of_crates() {
    let table = table();
    for (row, (name, uses)) in table.iter().enumerate() {
        let below: BTreeSet<String> =
            table[row + 1..].iter().map(|(name, _)| name.clone()).collect();
        assert!(uses.is_subset(&below), "{name} uses a crate that is not below it");
    }
}

#[test]
fn proc_and_sys_are_read_where_the_document_says() {
    compare(
        "Who reads /proc and /sys",
        &code_where(|line| ["/proc", "/sys"].iter().any(|root| names(line, root))),
    );
}

#[test]
fn processes_are_started_where_the_document_says() {
    compare("Who starts processes", &code_where(|line| line.contains("Command::new(")));
}

/// Strangers' words reach a terminal or a CI through one printer only.
#[test]
fn output_is_printed_where_the_document_says() {
    let printers = ["print!(", "println!(", "dbg!(", "stdout()", "stderr()", "Stdout", "Stderr"];
    let prints = |line: &str| printers.iter().any(|printer| calls(line, printer));
    compare("Who prints", &code_where(|line| prints(line) && !is_directive(line)));
}

/// The umask may let others write what a plain call makes.
#[test]
fn files_are_made_where_the_document_says() {
    let makers = [
        "create_dir(",
        "create_dir_all(",
        "DirBuilder::new(",
        "fs::write(",
        "fs::copy(",
        "File::create(",
        "File::create_new(",
        "File::options(",
        "OpenOptions::new(",
        "UnixListener::bind(",
    ];
    let makes = |line: &str| makers.iter().any(|maker| calls(line, maker));
    compare("Who makes files and directories", &code_where(makes));
}

#[test]
fn sources_reach_outside_their_folder_where_the_document_says() {
    let reaches =
        |line: &str| line.contains("\"../") || line.contains("#[path") || line.contains("dir(\"..");
    compare("Which sources reach outside their folder", &code_where(reaches));
}

/// The C libraries' functions differ in the last digit, and reports would with them.
#[test]
fn figures_are_the_same_on_every_machine() {
    let own = [
        ".ln(", ".exp(", ".powf(", ".log10(", ".log2(", ".exp_m1(", ".ln_1p(", ".sin(", ".cos(",
        ".hypot(", "f64::ln", "f64::exp",
    ];
    let found = code_where(|line| own.iter().any(|function| line.contains(function)));
    let counts = ["crates/stats", "crates/analysis", "crates/report"];
    let wrong: Vec<_> =
        found.iter().filter(|path| counts.iter().any(|crates| path.starts_with(crates))).collect();
    assert!(
        wrong.is_empty(),
        "{wrong:?} call the C library's functions: take those of stats::Exact"
    );
}

/// rustfmt leaves comments as they are. Tables cannot be wrapped.
#[test]
fn comments_end_at_100_columns() {
    let is_long = |line: &&str| {
        line.trim_start().starts_with("//") && !line.contains("//! |") && line.chars().count() > 100
    };
    let long = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines().find(is_long).map(|line| (path, line.to_owned()))
    };
    let found: Vec<(PathBuf, String)> = rust_files().filter_map(long).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn modules_of_a_crate_use_each_other_in_one_direction() {
    let all: BTreeMap<Vec<String>, String> = rust_files()
        .map(|path| (module(&path), joined_code(&std::fs::read_to_string(&path).unwrap())))
        .collect();
    let uses: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
        all.iter().map(|(own, code)| (own, named_modules(code, own, &all))).collect();
    assert!(uses.values().any(|used| used.len() > 5), "few modules use others");
    for own in all.keys() {
        let (mut reached, mut next) = (BTreeSet::new(), vec![own]);
        while let Some(module) = next.pop() {
            next.extend(uses[module].iter().filter(|used| reached.insert(**used)));
        }
        assert!(!reached.contains(own), "{} uses what uses it: {reached:?}", own.join("/"));
    }
}

/// The floors of the analysis, from the ground up: each uses only those below it.
const FLOORS: [&str; 4] = ["figures", "products", "findings", "runs"];

#[test]
fn each_floor_of_the_analysis_uses_only_those_below() {
    for (number, floor) in FLOORS.iter().enumerate() {
        let folder = PathBuf::from("crates/analysis/src").join(floor);
        let sources = rust_files().filter(|path| path.starts_with(&folder));
        let texts: Vec<String> =
            sources.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert!(texts.len() > 3, "{floor} has no files");

        for above in &FLOORS[number + 1..] {
            let path = format!("crate::{above}");
            let is_used = texts.iter().any(|text| code(text).any(|line| line.contains(&path)));
            assert!(!is_used, "{floor} uses {above}");
        }
    }
}

#[test]
fn the_glossary_names_types_that_exist() {
    let text = std::fs::read_to_string("docs/glossary.md").unwrap();
    let mut types = text.lines().flat_map(quoted).filter(|name| name.contains("::")).peekable();
    assert!(types.peek().is_some());
    for name in types {
        let (room, kind) = name.split_once("::").unwrap();
        let found = files(&[&format!("crates/{room}/src")]).iter().any(|path| {
            let code = std::fs::read_to_string(path).unwrap();
            ["struct", "enum", "trait"]
                .iter()
                .any(|word| defines(&code, &format!("pub {word} {kind}")))
        });
        assert!(found, "docs/glossary.md names {name}, which does not exist");
    }
}

#[test]
fn the_checks_see_what_they_look_for() {
    assert!(names(r#"read("/proc/stat")"#, "/proc") && names(r#"starts_with("/sys")"#, "/sys"));
    assert!(
        !names("this/processor", "/proc")
            && !names(r#""/usr/sys""#, "/sys")
            && !names("a /system b", "/sys")
    );
    assert!(
        calls("let mut out = std::io::stdout();", "stdout()")
            && calls("eprintln!(\"x\")", "println!(")
    );
    assert!(calls("std::fs::write(&path, text)", "fs::write("));
    assert!(!calls("TrailFile::create(&path)", "File::create("));
    assert!(
        !calls("program.take_stdout()?", "stdout()")
            && is_directive("println!(\"cargo::warning=x\");")
    );
    let text = "a\n// \"/proc\"\nb // /sys\n#[cfg(test)]\nmod tests {\nc";
    assert_eq!(code(text).collect::<Vec<_>>(), ["a", "b "]);
    assert_eq!(
        code("#[cfg(test)]\nmod tests;\nc\n#[cfg(test)]\nmod t {").collect::<Vec<_>>(),
        ["#[cfg(test)]", "mod tests;", "c"]
    );
    let [own, beside] =
        ["crates/a/src/b/c.rs", "crates/a/src/d/mod.rs"].map(|path| module(Path::new(path)));
    let parent = module(Path::new("crates/a/src/lib.rs"));
    let exports = "mod d;\npub use d::{Y, Z};\npub use b::c::W;".to_owned();
    let all = BTreeMap::from([
        (own.clone(), String::new()),
        (beside.clone(), String::new()),
        (parent, exports),
    ]);
    let used =
        |code: &str| named_modules(code, &own, &all).into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(own, ["crates/a/src", "b", "c"]);
    assert_eq!(
        (used("use crate::{x, d::Y};"), used("super::super::d::f()")),
        (vec![beside.clone()], vec![beside.clone()])
    );
    assert_eq!((used("use crate::Z;"), used("super::super::W")), (vec![beside.clone()], vec![]));
    assert_eq!((used("use crate::e; subcrate::d"), used("self::d()")), (vec![], vec![]));
}

/// The document's rows, top to bottom: a crate and the workspace's crates that it may use.
fn table() -> Vec<(String, BTreeSet<String>)> {
    let text = section("Crates");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|line| line.trim_matches('|').split('|').collect::<Vec<_>>());
    let crates = cells.filter(|cells| cells.len() == 3);
    crates
        .map(|cells| (quoted(cells[0]).remove(0), quoted(cells[2]).into_iter().collect()))
        .collect()
}

/// Every package of the workspace by its short name, with the workspace's crates among its
/// dependencies.
fn manifests() -> BTreeMap<String, BTreeSet<String>> {
    let read = |path: &Path| {
        toml::from_str::<toml::Table>(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let root = read(Path::new("Cargo.toml"));
    let known = root["workspace"]["dependencies"].as_table().unwrap().iter();
    let members: BTreeMap<&str, &str> =
        known.filter_map(|(name, by)| Some((&**name, by.get("path")?.as_str()?))).collect();
    let uses = |manifest: &toml::Table| -> BTreeSet<String> {
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flatten().filter_map(|(_, target)| target.as_table());
        let all = std::iter::once(manifest)
            .chain(targets)
            .filter_map(|table| table.get("dependencies")?.as_table());
        all.flatten()
            .map(|(name, _)| name.clone())
            .filter(|name| members.contains_key(&**name))
            .collect()
    };
    let mut found = BTreeMap::from([("unixmark".to_owned(), uses(&root))]);
    for (name, path) in &members {
        found.insert((*name).to_owned(), uses(&read(&Path::new(path).join("Cargo.toml"))));
    }
    found.insert(
        "unixmark-graphics".to_owned(),
        uses(&read(Path::new("programs/graphics/Cargo.toml"))),
    );
    let folders = std::fs::read_dir("crates").unwrap().count();
    assert_eq!(members.len(), folders, "each folder of crates/ is one of [workspace.dependencies]");
    found
}

/// Compares what was found with the list under `heading`, both ways.
fn compare(heading: &str, found: &BTreeSet<PathBuf>) {
    let text = section(heading);
    let listed: Vec<String> = text
        .lines()
        .filter(|line| line.starts_with("- "))
        .map(|line| quoted(line).remove(0))
        .collect();
    let covers = |entry: &str, path: &Path| {
        if entry.ends_with('/') { path.starts_with(entry) } else { path == Path::new(entry) }
    };
    for path in found {
        assert!(
            listed.iter().any(|entry| covers(entry, path)),
            "{} is not listed under '{heading}'",
            path.display()
        );
    }
    for entry in &listed {
        assert!(
            found.iter().any(|path| covers(entry, path)),
            "'{heading}' lists {entry}, which does not belong there"
        );
    }
}

/// What stands under a heading of the document, up to the next one.
fn section(heading: &str) -> String {
    let text = std::fs::read_to_string("ARCHITECTURE.md").unwrap();
    let mut lines = text.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading);
    assert!(lines.next().is_some(), "ARCHITECTURE.md has no heading '{heading}'");
    lines.take_while(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The Rust files with a line of code, outside tests, that `matches`.
fn code_where(matches: impl Fn(&str) -> bool) -> BTreeSet<PathBuf> {
    rust_files()
        .filter(|path| code(&std::fs::read_to_string(path).unwrap()).any(&matches))
        .collect()
}

/// The Rust files that hold no tests alone.
fn rust_files() -> impl Iterator<Item = PathBuf> {
    let rust =
        files(&CODE).into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let is_test = |path: &PathBuf| {
        path.file_stem().is_some_and(|name| name == "tests")
            || path.iter().any(|name| name == "tests" || name == "testing")
            || is_declared_a_test(path)
    };
    rust.filter(move |path| !is_test(path))
}

/// Returns whether the module above a file has it for its tests alone.
fn is_declared_a_test(path: &Path) -> bool {
    let (folder, name) = (path.parent().unwrap(), path.file_stem().unwrap().to_str().unwrap());
    let above = ["mod.rs", "lib.rs", "main.rs"].map(|above| folder.join(above));
    let declared = format!("#[cfg(test)]\nmod {name};");
    above
        .iter()
        .any(|above| std::fs::read_to_string(above).is_ok_and(|text| text.contains(&declared)))
}

/// Returns the lines of a Rust file before its tests, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let lines = before_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| line.split("// ").next().unwrap())
}

/// Returns what stands before the tests in a Rust file: they are at its end, or in a file of their
/// own.
fn before_tests(text: &str) -> &str {
    let mut ends = text
        .match_indices("#[cfg(test)]\n")
        .map(|(at, attribute)| (at, &text[at + attribute.len()..]));
    let end = ends.find(|(_, item)| !item.lines().next().is_some_and(|line| line.ends_with(';')));
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Returns a crate's module in a file, with the crate's folder before it: `crates/runner/src`,
/// `supervisor`, `trial`.
fn module(path: &Path) -> Vec<String> {
    let text = path.with_extension("").display().to_string();
    let folder = if text.starts_with("src/") {
        "src"
    } else {
        &text[..text.find("/src/").map_or(0, |at| at + 4)]
    };
    let names =
        text[folder.len()..].split('/').filter(|name| !["", "mod", "lib", "main"].contains(name));
    std::iter::once(folder.to_owned()).chain(names.map(str::to_owned)).collect()
}

/// Returns the paths in code that begin with `crate`, `self` or `super`: of a list in braces one
/// for each item.
fn paths(code: &str) -> Vec<String> {
    let is_outside = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
    let (mut found, mut list) = (Vec::new(), "");
    for part in code.split_inclusive(is_outside) {
        let path = part.trim_end_matches(is_outside);
        match ["crate::", "self::", "super::"].iter().any(|start| path.starts_with(start)) {
            true if part.ends_with('{') => list = path,
            true => found.push(path.to_owned()),
            false if !list.is_empty() => found.push(format!("{list}{path}")),
            false => {}
        }
        if part.ends_with('}') {
            list = "";
        }
    }
    found
}

/// Returns the modules of `all`, each with its code, that the code of `own` names, except those above and below it. An
/// item that a module re-exports is one of the module that defines it.
fn named_modules<'a>(
    code: &str,
    own: &[String],
    all: &'a BTreeMap<Vec<String>, String>,
) -> BTreeSet<&'a Vec<String>> {
    let modules = paths(code).into_iter().filter_map(|path| find_module(&path, own, all));
    modules.filter(|module| !module.starts_with(own) && !own.starts_with(module)).collect()
}

/// Returns the module of `all` that defines the item of a path in the code of `own`.
fn find_module<'a>(
    path: &str,
    own: &[String],
    all: &'a BTreeMap<Vec<String>, String>,
) -> Option<&'a Vec<String>> {
    let mut target = own.to_vec();
    for word in path.split("::") {
        match word {
            "crate" => target.truncate(1),
            "super" => drop(target.pop()),
            "self" | "" => {}
            word => target.push(word.to_owned()),
        }
    }

    // A path ends with an item of its module.
    let length = (1..=target.len()).rev().find(|length| all.contains_key(&target[..*length]))?;
    let (module, code) = all.get_key_value(&target[..length])?;
    let origin = target.get(length).and_then(|item| reexported_from(code, item));
    origin.and_then(|path| find_module(&path, module, all)).or(Some(module))
}

/// Returns the path from which a module's code re-exports `item`, if it does.
fn reexported_from(code: &str, item: &str) -> Option<String> {
    let code = code.replace("pub(crate) use ", "pub use ").replace("pub(super) use ", "pub use ");
    let mut exports = code.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';'));
    exports.find_map(|(export, _)| {
        let (path, list) = match export.split_once("::{") {
            Some((path, list)) => (path, list.trim_end_matches('}')),
            None => export.rsplit_once("::")?,
        };
        let is_listed = list.split(',').any(|name| name.trim() == item);
        is_listed.then(|| format!("self::{}::{item}", path.trim_start_matches("self::")))
    })
}

/// Returns the code of a file, without comments and unit tests.
fn joined_code(text: &str) -> String {
    code(text).collect::<Vec<&str>>().join("\n")
}

/// Whether `line` has a path below `root`, such as `/proc`.
fn names(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = line[at + root.len()..].chars().next().is_some_and(char::is_alphanumeric);
        !before && !after
    })
}

/// Returns whether `line` calls `function`, or its twin for stderr, and no longer name.
fn calls(line: &str, function: &str) -> bool {
    line.match_indices(function).any(|(at, _)| {
        let before = line[..at].strip_suffix('e').unwrap_or(&line[..at]);
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// Returns whether a build script tells Cargo something.
fn is_directive(line: &str) -> bool {
    line.contains("println!(\"cargo::")
}

/// Every source file of Rust and C below `folders`.
fn files(folders: &[&str]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let source = path
                .extension()
                .is_some_and(|end| ["rs", "c", "h"].iter().any(|known| end == *known));
            if path.is_dir() {
                folders.push(path)
            } else if source {
                found.extend([path])
            }
        }
    }
    found
}

/// Whether `code` has `words`, and no longer name in their place.
fn defines(code: &str, words: &str) -> bool {
    code.match_indices(words)
        .any(|(at, _)| !code[at + words.len()..].starts_with(char::is_alphanumeric))
}
