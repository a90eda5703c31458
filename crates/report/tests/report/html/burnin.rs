//! Burn-ins on the page: what was recorded, what is very long, and what a hostile journal holds.

use super::html;
use analysis::Results;
use catalogue::Catalogue;
use journal::{Beat, BurnIn, Fault, Journal, Pass, Sample, Stage, Trial, Word, read};
use testing::page::{check, text};

fn recorded(run: &str) -> Journal {
    read(&testing::recorded(run)).unwrap()
}

fn results(journal: &Journal) -> Results {
    Results::new(journal, &Catalogue::load().unwrap(), None)
}

#[test]
fn a_notebook_that_throttles() {
    let page = html(&results(&recorded("cooling")));
    check(&page);
    let text = text(&page);
    for words in [
        "It throttled: after 24 s",
        "Clock of each processor, GHz",
        "Temperature, °C",
        "fell 24 s",
        "rest 2 min 0 s",
        "limit 100",
        "Power, W",
        "coretemp Package id 0",
    ] {
        assert!(text.contains(words), "{words}");
    }
    for absent in
        ["parallel cop", "Nothing was measured", "No index", "<h2>Trials</h2>", "no results"]
    {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn a_server_with_a_bad_bit() {
    let page = html(&results(&recorded("memory")));
    check(&page);
    let text = text(&page);
    for words in ["4 faults in 2 passes", "0x2f1c04e48", "Faults by pattern", "Temperature, °C"] {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn very_many_processors_for_very_long() {
    let mut journal = recorded("cooling");
    let beat = |second: u32, thread: u32| Beat {
        thread,
        cpu: thread,
        at: f64::from(second),
        count: 100,
        clock: 3.0 + f64::from(second % 7) / 100.0,
        wrong: 0,
    };
    let sample = |second: u32| Sample {
        at: f64::from(second) + 0.1,
        beats: (0..300).map(|thread| beat(second, thread)).collect(),
        ..Sample::default()
    };
    journal.samples = (0..3000).map(sample).collect();
    let page = html(&results(&journal));
    check(&page);
    assert!(page.len() < 400_000, "{} bytes", page.len());
    assert!(page.contains("the slowest of 300") && page.contains("the 40 that kept least, of 300"));
}

#[test]
fn very_many_faults_and_passes() {
    let mut journal = recorded("memory");
    let fault =
        Fault { read: Word(u64::MAX), address: Word(u64::MAX), ..journal.faults[0].clone() };
    journal.faults = vec![fault; 1000];
    journal.passes = (1..5000)
        .map(|pass| Pass { pass, seconds: 1.0, bytes: 1 << 30, ..Pass::default() })
        .collect();
    let page = html(&results(&journal));
    check(&page);
    assert!(page.len() < 300_000, "{} bytes", page.len());
    assert!(page.contains("the first 40 of 1000") && page.contains("40 of 4999"));
}

#[test]
fn a_hostile_journal() {
    let hostile = "<b>\u{202e}\u{1b}[31m&\"'".to_owned();
    for run in ["cooling", "memory"] {
        let mut journal = recorded(run);
        journal.cells[0].label = hostile.clone();
        let mut sample = Sample { at: f64::NAN, ..Sample::default() };
        sample.sensors.temperature.insert(hostile.clone(), f64::INFINITY);
        sample.sensors.power.insert(hostile.clone(), f64::NAN);
        sample.stage = Some(Stage { pass: 99, pattern: hostile.clone(), done: 5, total: 0 });
        sample.beats.push(Beat { at: f64::MAX, clock: f64::MAX, ..Beat::default() });
        journal.samples.push(sample);
        journal.faults.push(Fault { pattern: hostile.clone(), at: -1e300, ..Fault::default() });
        journal.passes.push(Pass { seconds: f64::NAN, bytes: u64::MAX, ..Pass::default() });
        journal.trials.push(Trial { error: Some(hostile.clone()), ..Trial::default() });
        check(&html(&results(&journal)));
    }
}

#[test]
fn one_that_never_worked() {
    let mut journal = Journal { burnin: Some(BurnIn::default()), ..Journal::default() };
    let page = html(&results(&journal));
    check(&page);
    assert!(text(&page).contains("Nothing was measured"));
    journal.cells = recorded("cooling").cells;
    journal.trials.push(Trial { skip: Some("it is too cold".to_owned()), ..Trial::default() });
    let page = html(&results(&journal));
    check(&page);
    assert!(text(&page).contains("Not done: it is too cold."));
}
