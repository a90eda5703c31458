//! The table for a commit message.

use analysis::{Asked, Comparisons, Design, Results};
use catalogue::Catalogue;
use journal::Journal;
use report::{Format, Subject};

/// The recorded run, and others a few times as fast, the last without its first cell.
fn compared(run: &str, speeds: &[f64]) -> Comparisons {
    let before = journal::read(&testing::recorded(run)).unwrap();
    let faster = |speed: &f64| -> Journal {
        let mut run = before.clone();
        run.run.name = format!("invented, {speed} times as fast");
        run.cells.iter_mut().for_each(|cell| cell.scale *= speed);
        run
    };
    let mut runs: Vec<Journal> =
        std::iter::once(before.clone()).chain(speeds.iter().map(faster)).collect();
    if let [_, _, .., last] = &mut runs[..] {
        let lost = last.cells[0].id;
        last.trials.retain(|trial| trial.cell != lost);
    }
    let catalogue = Catalogue::load().unwrap();
    let asked = Asked { design: Design::Apart, threshold: 1.0, conditions: None };
    Comparisons::new(runs.iter().map(|one| Results::new(one, &catalogue, None)).collect(), &asked)
}

/// The table, which every mailing list leaves whole and git takes no line of for a comment.
fn checked(text: String) -> String {
    for line in text.lines() {
        assert!(
            line.len() <= 78
                && line.is_ascii()
                && line == line.trim_end()
                && !line.starts_with('#'),
            "{line:?}"
        );
    }
    text
}

fn table(all: &Comparisons) -> String {
    checked(report::render(Subject::Comparison(all, None), Format::Commit).unwrap())
}

#[test]
fn user_5_a_setting_stands_beside_what_it_was() {
    let mut journal = journal::read(&testing::recorded("cost")).unwrap();
    for trial in &mut journal.trials {
        if let Some(evidence) = &mut trial.evidence {
            evidence.notes.push("/proc/sys/vm/swappiness = 10 in place of 60".to_owned());
        }
    }
    let results = Results::new(&journal, &Catalogue::load().unwrap(), None);

    let text = checked(report::render(Subject::Run(&results), Format::Commit).unwrap());

    let flat = testing::flat(&text);
    let after = "after: audit=on (/proc/sys/vm/swappiness = 10 in place of 60), 12 blocks";
    assert!(flat.contains(after), "{text}");
}

#[test]
fn two_sides_have_what_changed() {
    for run in ["index", "latency", "graphics", "classic"] {
        let all = compared(run, &[1.5]);
        let text = table(&all);
        let verdicts =
            |word: &str| text.lines().filter(|line| line.ends_with(&format!(" {word}"))).count();
        for word in ["slower", "faster", "better", "worse", "differs", "same", "undecided"] {
            assert_eq!(
                verdicts(word),
                all.comparisons.iter().filter(|one| one.verdict.word() == word).count(),
                "{run}: {text}"
            );
        }
        assert_eq!(verdicts("missing"), all.missing.len(), "{run}: {text}");
    }
    insta::assert_snapshot!("two_sides", table(&compared("index", &[1.5])));
    insta::assert_snapshot!("two_sides_of_latency", table(&compared("latency", &[1.5])));
}

#[test]
fn conditions_have_what_they_cost() {
    let results = Results::new(
        &journal::read(&testing::recorded("cost")).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    );
    insta::assert_snapshot!(
        "conditions",
        checked(report::render(Subject::Run(&results), Format::Commit).unwrap())
    );
}

/// Best and worst are marked only where intervals do not overlap, and what a system lacks stays
/// missing.
#[test]
fn several_systems_have_a_column_each() {
    let all = compared("index", &[1.0, 3.0]);
    let text = table(&all);
    insta::assert_snapshot!("three_systems", text);
    let own = |test: &str| text.lines().find(|line| line.starts_with(test)).unwrap().to_owned();
    let first = journal::read(&testing::recorded("index")).unwrap().cells[0].key.test.clone();
    assert!(own(&format!("{first}, ")).ends_with(" -"), "{text}");
    // A and B are the same, so only C, three times as fast, can be told from the others.
    assert!(
        text.contains('*')
            && !text.lines().any(|line| line.contains('!') && !line.starts_with('*')),
        "{text}"
    );
}

#[test]
fn what_has_no_room_says_so() {
    let refused = |all: &Comparisons| {
        report::render(Subject::Comparison(all, None), Format::Commit).unwrap_err().to_string()
    };
    assert!(refused(&compared("index", &[1.0, 1.1, 1.2, 1.3, 1.4])).contains("room for 5 systems"));
    let results = Results::new(
        &journal::read(&testing::recorded("index")).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    );
    let alone = report::render(Subject::Run(&results), Format::Commit).unwrap_err().to_string();
    assert!(alone.contains("compares nothing"), "{alone}");
}
