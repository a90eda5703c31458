//! Planted causes among seven synthetic systems are named, and copies of one system name nothing.

use super::*;
use journal::{Cell, Fact, Journal, Procedure, Score, Trial};

const LETTERS: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];

/// What the seven systems are told to be like: by name and value of each. Most of it changes
/// nothing.
const FACTS: [(&str, [&str; 7]); 9] = [
    ("software.libc", ["glibc", "musl", "glibc", "glibc", "musl", "glibc", "glibc"]),
    ("security.mitigations", ["auto", "off", "auto", "off", "off", "auto", "off"]),
    ("cpu.clock", ["2.0 MHz", "3.4 MHz", "2.6 MHz", "3.0 MHz", "2.2 MHz", "3.6 MHz", "2.8 MHz"]),
    ("kernel.release", ["6.1", "6.1", "6.6", "6.6", "6.12", "6.12", "6.12"]),
    ("storage.file_system", ["ext4", "xfs", "xfs", "ext4", "ext4", "xfs", "ext4"]),
    ("memory.total", ["4 GiB", "4 GiB", "8 GiB", "8 GiB", "8 GiB", "16 GiB", "16 GiB"]),
    ("system.os", ["Debian", "Alpine", "Fedora", "Debian", "Fedora", "Debian", "Fedora"]),
    ("software.lang", ["C", "C", "C", "en", "en", "C", "en"]),
    ("system.host", ["a", "b", "c", "d", "e", "f", "g"]),
];

/// A cause: which fact is behind it, by what factor it changes which tests of which systems.
struct Cause {
    fact: &'static str,
    factor: fn(usize, &str) -> f64,
}

const LIBC: Cause = Cause {
    fact: "software.libc",
    factor: |system, test| {
        if [1, 4].contains(&system) && (test == "execl" || test.starts_with("shell")) {
            0.7
        } else {
            1.0
        }
    },
};

const MITIGATIONS: Cause = Cause {
    fact: "security.mitigations",
    factor: |system, test| {
        if [0, 2, 5].contains(&system) && ["syscall", "pipe", "context1"].contains(&test) {
            0.6
        } else {
            1.0
        }
    },
};

const CLOCK: Cause = Cause {
    fact: "cpu.clock",
    factor: |system, _| [2.0, 3.4, 2.6, 3.0, 2.2, 3.6, 2.8][system] / 3.0,
};

/// Numbers from -1 to 1, the same every time.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn catalogue() -> Catalogue {
    Catalogue::load().unwrap()
}

/// Systems with eight trials of each test of the index: 2 % of noise in each, and a drift of 0.5 %
/// that a run's tests share.
fn systems(count: usize, causes: &[Cause], seed: u64) -> Vec<Results> {
    let catalogue = catalogue();
    let tests = catalogue.expand(&["index".to_owned()]).unwrap();
    let mut random = noise(seed);
    let mut of = |system: usize| {
        let drift = 1.0 + 0.005 * random();
        let mut journal = Journal::default();
        journal.run.procedure = Procedure::Imported;
        for (number, test) in tests.iter().enumerate() {
            journal.cells.push(Cell::new(number, test, 1, None, &catalogue::Condition::none()));
            let factor: f64 = causes.iter().map(|cause| (cause.factor)(system, &test.id)).product();
            for block in 0..8 {
                let value = 1000.0 * factor * drift * (1.0 + 0.02 * random());
                let score = Some(Score { value, seconds: 1.0, samples: 1, ..Score::default() });
                journal.trials.push(Trial { cell: number, block, score, ..Trial::default() });
            }
        }
        for (name, values) in FACTS {
            let [name, label, value] = [name, name, values[system]].map(str::to_owned);
            journal.facts.push(Fact::from_text(name, label, "Group".to_owned(), value));
        }
        Results::new(&journal, &catalogue, None)
    };
    (0..count).map(&mut of).collect()
}

fn why(systems: &[Results]) -> Why {
    let lettered: Vec<(&str, &Results)> = LETTERS.iter().copied().zip(systems).collect();
    Why::new(&lettered, &catalogue())
}

fn named(why: &Why) -> Vec<&str> {
    why.hints.iter().map(|hint| hint.name.as_str()).collect()
}

#[test]
fn each_planted_cause_is_named_alone() {
    for cause in [LIBC, MITIGATIONS, CLOCK] {
        for seed in 1..=4 {
            let found = why(&systems(7, std::slice::from_ref(&cause), seed));
            assert_eq!(named(&found), [cause.fact], "seed {seed}: {:#?}", found.hints);
        }
    }
}

#[test]
fn three_planted_at_once_are_all_named() {
    for seed in 1..=4 {
        let found = why(&systems(7, &[LIBC, MITIGATIONS, CLOCK], seed));
        let mut names = named(&found);
        names.sort_unstable();
        assert_eq!(
            names,
            ["cpu.clock", "security.mitigations", "software.libc"],
            "seed {seed}: {:#?}",
            found.hints
        );
    }
}

#[test]
fn a_hint_says_what_it_rests_on() {
    let found = why(&systems(7, &[LIBC], 1));
    let hint = &found.hints[0];
    assert_eq!((found.systems, found.tests, hint.rests_on, hint.reach), (7, 12, 2, Reach::Starts));
    assert_eq!(hint.tests, ["execl", "shell1", "shell8"]);
    assert!((-35.0..-25.0).contains(&hint.effect), "{}", hint.effect);
    let letters: Vec<String> = hint
        .values
        .iter()
        .map(|(value, letters)| format!("{value} {}", letters.concat()))
        .collect();
    assert_eq!(letters[1], "musl BE");
    // Two of seven can be dealt out in 21 ways.
    assert!((hint.chance - 1.0 / 21.0).abs() < 1e-9, "{}", hint.chance);
    let clock = why(&systems(7, &[CLOCK], 1));
    assert_eq!((clock.hints[0].rests_on, clock.hints[0].tests.len()), (1, 12));
    assert!(clock.hints[0].chance < 0.001);
}

#[test]
fn copies_of_one_system_name_nothing() {
    let wrong: Vec<u64> =
        (1..=40).filter(|seed| !why(&systems(7, &[], *seed)).hints.is_empty()).collect();
    assert!(wrong.len() <= 1, "{wrong:?}");
    assert!(why(&systems(7, &[], 1)).examined >= 7, "facts differ, and none is named");
}

#[test]
fn two_systems_have_a_hint_only_by_its_shape() {
    let two = |causes: &[Cause]| {
        let all = systems(2, causes, 3);
        let found = why(&all);
        (
            named(&found).into_iter().map(str::to_owned).collect::<Vec<String>>(),
            found.hints.first().map(|hint| hint.chance),
        )
    };
    let (names, chance) = two(&[LIBC]);
    assert!(names[0] == "software.libc" && !names.contains(&"cpu.clock".to_owned()), "{names:?}");
    assert_eq!(chance, Some(1.0), "two systems differ in many things");
    let wrong = (1..=20).filter(|seed| !why(&systems(2, &[], *seed)).hints.is_empty()).count();
    assert!(wrong <= 1, "{wrong} of 20");
}

#[test]
fn too_little_to_compare_has_a_reason() {
    let one = systems(1, &[], 1);
    assert_eq!(why(&one).silence, "there is only one system");
    let mut two = systems(2, &[], 1);
    two[1].figures.truncate(1);
    assert!(why(&two).silence.contains("fewer than two tests"));
}
