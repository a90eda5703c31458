use super::*;
use analysis::Reference;
use testing::recorded;

fn catalogue() -> Catalogue {
    Catalogue::load().unwrap()
}

fn entry(name: &str) -> Results {
    entries(&catalogue()).into_iter().find(|entry| entry.run.name == name).unwrap()
}

fn results(run: &str) -> Results {
    Results::new(&journal::read(&recorded(run)).unwrap(), &catalogue(), None)
}

/// The lines of an entry of a recorded run.
fn of_run() -> Journal {
    results("zen4").entry("mine", "a machine", "")
}

/// The line of a text that has `old` in it, with `new` instead.
fn changed(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[test]
fn every_entry_is_accepted() {
    let files =
        std::fs::read_dir(testing::file("reference")).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|end| end == "jsonl")).collect();
    assert_eq!(files.len(), ENTRIES.len());
    for file in files {
        let found = check(&std::fs::read_to_string(&file).unwrap(), &catalogue()).unwrap();
        assert_eq!(Some(found.run.name.as_str()), file.file_stem().unwrap().to_str());
        assert!(!found.run.comment.is_empty() && !found.figures.is_empty(), "{}", file.display());
    }

    assert_eq!(entries(&catalogue()).len(), ENTRIES.len());
}

/// UnixBench's USAGE, "Multiple CPUs": gains in per cent.
#[test]
fn the_dual_processor_table_has_its_gains() {
    let published = [
        ("Dhrystone 2 using register variables", 97.0),
        ("Double-Precision Whetstone", 100.0),
        ("Execl Throughput", 95.0),
        ("File Copy 1024 bufsize 2000 maxblocks", -22.0),
        ("File Copy 256 bufsize 500 maxblocks", -18.0),
        ("File Copy 4096 bufsize 8000 maxblocks", -17.0),
        ("Pipe Throughput", 104.0),
        ("Pipe-based Context Switching", 276.0),
        ("Process Creation", 87.0),
        ("Shell Scripts (1 concurrent)", 47.0),
        ("Shell Scripts (8 concurrent)", 9.0),
        ("System Call Overhead", 53.0),
    ];
    let entry = entry("dual-processor");
    let gain =
        |label: &str| entry.gains().iter().find(|gain| gain.label == label).unwrap().gain.value;
    for (label, percent) in published {
        assert_eq!((100.0 * (gain(label) - 1.0)).round(), percent, "{label}");
    }

    let [one, two] = entry.indexes() else { panic!("{:?}", entry.indexes()) };
    // Its indexes have one decimal, so that theirs is known to a tenth.
    for (index, published) in [(one, 678.2), (two, 1026.2)] {
        assert!((index.score.value - published).abs() < 0.1, "{index:?}");
        assert_eq!(index.printed(&entry.facts), Some(published));
    }

    assert_eq!((100.0 * (two.score.value / one.score.value - 1.0)).round(), 51.0);
}

#[test]
fn the_article_has_its_index() {
    let cloud = entry("cloud-2018");
    let [index] = cloud.indexes() else { panic!("{:?}", cloud.indexes()) };
    let tenths = |value: f64| (10.0 * value).round() / 10.0;
    // The scores it prints come to 1362.84.
    assert!(index.complete && (index.score.value - 1362.9).abs() < 0.1, "{index:?}");
    assert_eq!(index.printed(&cloud.facts), Some(1362.9));
    // Its scores have one decimal, so that its indexes are known to a tenth.
    let published = [
        2654.0, 714.2, 725.0, 1628.9, 1386.7, 2222.0, 1315.1, 843.3, 653.8, 1371.9, 3639.9, 1643.8,
    ];
    assert_eq!(index.parts.len(), published.len());
    for (part, published) in index.parts.iter().zip(published) {
        assert!((part.index.value - published).abs() < 0.1, "{part:?}");
    }

    assert_eq!(tenths(entry("george").indexes()[0].score.value), 10.0);
}

/// Lbench's own claim: four threads move 1.4 times as much as one.
#[test]
fn lbench_scales_as_it_claims() {
    let entry = entry("core-i7-920");
    let row = entry.scaling().iter().find(|row| row.label == "memory move 50 MB").unwrap();
    let total =
        |copies: u32| row.levels.iter().find(|level| level.copies == copies).unwrap().total.value;
    assert!((total(4) / total(1) - 1.4).abs() < 0.05);
}

/// An entry has the figures of its run, to the digits it has, and their intervals; the index's,
/// which needs the trials, too.
#[test]
fn an_entry_comes_to_what_its_run_does() {
    let run = results("zen4");
    let text = lines(&of_run()).unwrap();
    assert!(text.len() < 10_000, "{} bytes", text.len());
    let found = check(&text, &catalogue()).unwrap();
    let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-4;
    assert_eq!(found.figures.len(), run.figures.len());
    for (one, other) in found.figures.iter().zip(&run.figures) {
        let (one, other) = (&one.score, &other.score);
        assert!(
            near(one.value, other.value) && near(one.low, other.low) && near(one.high, other.high),
            "{one:?} {other:?}"
        );
    }

    let (one, other) = (&found.indexes()[0].score, &run.indexes()[0].score);
    assert!(
        near(one.value, other.value) && near(one.low, other.low) && near(one.high, other.high),
        "{one:?} {other:?}"
    );
    for word in [&run.run.host, &run.run.name] {
        assert!(!text.contains(word.as_str()), "{word}");
    }
}

#[test]
fn what_is_no_entry_is_refused() {
    let catalogue = catalogue();
    let refused = |text: &str| format!("{:#}", check(text, &catalogue).unwrap_err());
    let text = lines(&of_run()).unwrap();
    check(&text, &catalogue).unwrap();
    let with = |change: &dyn Fn(&mut Journal)| {
        let mut entry = of_run();
        change(&mut entry);
        refused(&lines(&entry).unwrap())
    };
    assert!(
        refused(&changed(&text, "\"host\":\"\"", "\"host\":\"web1\""))
            .starts_with("it names the host 'web1'")
    );
    assert!(
        with(&|entry| entry.run.host = "web1".to_owned()).starts_with("it names the host 'web1'")
    );
    assert!(
        with(&|entry| entry.run.comment = "in /home/me".to_owned()).starts_with("it names a user")
    );
    assert!(
        with(&|entry| entry.run.arguments.push("run".to_owned())).starts_with("it names a user")
    );
    let user = |entry: &mut Journal| {
        let [name, label, group, value] =
            ["system.user", "User", "System", "me"].map(str::to_owned);
        entry.facts.push(Fact { name, label, group, value, quantity: None });
    };
    assert!(with(&user).starts_with("it names a user"));
    let unknown = changed(&text, "\"procedure\":\"standard\"", "\"procedure\":\"guesswork\"");
    assert!(refused(&unknown).starts_with("its procedure is unknown"));
    assert!(
        with(&|entry| entry.run.procedure = Procedure::Quick).starts_with("its procedure is quick")
    );
    assert!(
        with(&|entry| entry.run.procedure = Procedure::Imported).starts_with("it is imported, but")
    );
    assert!(refused(&changed(&text, "\"cpus\":2", "\"cpus\":3")).starts_with("its sum is"));
    let run = std::fs::read_to_string(recorded("classic").join("run.jsonl")).unwrap();
    assert!(
        refused(&changed(&run, "\"host\":\"vm\"", "\"host\":\"\"")).starts_with("it names a user")
    );
    assert!(with(&|entry| entry.trials[0].score = None).starts_with("it is a run, not an entry"));
    assert!(refused("").contains("holds no run"));
    assert!(refused(&" ".repeat(MAX_ENTRY_BYTES + 1)).contains("at most"));
}

/// The run that an entry was made of is level with it in everything, and imported figures are
/// counted apart.
#[test]
fn a_run_stands_among_the_entries() {
    let mut run = results("zen4");
    run.stand_among(&entries(&catalogue()));
    let of = |test: &str| {
        run.references.iter().filter(|one| one.key.test == test).collect::<Vec<&Reference>>()
    };
    let [alike, imported, portable] = of("index.system")[..] else {
        panic!("{:?}", of("index.system"))
    };

    assert!(
        alike.alike
            && alike.procedure == "standard procedure, native build"
            && alike.nearest == "zen-4"
    );
    assert!(alike.better_than.0 < alike.better_than.1 && alike.better_than.1 <= alike.of);
    assert!(!imported.alike && imported.procedure == "imported" && imported.of == 3);
    assert!(
        !portable.alike && portable.nearest == "zen-5-portable",
        "cards are apart: {portable:?}"
    );
    assert!(imported.better_than.0 >= 1, "George is slower: {imported:?}");
    assert!(of("pipe").iter().any(|one| one.alike && one.nearest == "zen-4"));
    let mut same = entry("zen-4");
    same.stand_among(&entries(&catalogue()));
    assert!(
        same.references.iter().all(|one| one.nearest != "zen-4"),
        "an entry does not stand beside itself"
    );
    let mut cost = results("cost");
    cost.stand_among(&entries(&catalogue()));
    assert!(cost.references.is_empty());
}
