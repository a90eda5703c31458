//! The HTML report: whatever a journal holds, the page is one safe, complete, bounded file.

mod burnin;
mod cost;
pub mod fleet;
mod latency;

use analysis::{
    Figure, Findings, Gain, Index, Missing, Neighbour, Neighbours, Part, Remark, Results, Sample,
};
use catalogue::Arithmetic;
use journal::{Build, Cell, Ended, Fact, Facts, Key, Procedure, Run};
use report::{Format, Subject};
use stats::Estimate;
use testing::page::{check, text};

/// Id, label, unit, baseline and an index to make scores of.
const TESTS: [(&str, &str, &str, f64, f64); 12] = [
    ("dhry2reg", "Dhrystone 2 using register variables", "lps", 116_700.0, 4210.0),
    ("whetstone-double", "Double-Precision Whetstone", "MWIPS", 55.0, 1510.0),
    ("execl", "Execl Throughput", "lps", 43.0, 1105.0),
    ("fstime", "File Copy 1024 bufsize 2000 maxblocks", "KBps", 3960.0, 2433.0),
    ("fsbuffer", "File Copy 256 bufsize 500 maxblocks", "KBps", 1655.0, 1602.0),
    ("fsdisk", "File Copy 4096 bufsize 8000 maxblocks", "KBps", 5800.0, 4630.0),
    ("pipe", "Pipe Throughput", "lps", 12_440.0, 1190.0),
    ("context1", "Pipe-based Context Switching", "lps", 4000.0, 312.0),
    ("spawn", "Process Creation", "lps", 126.0, 720.0),
    ("syscall", "System Call Overhead", "lps", 15_000.0, 905.0),
    ("shell1", "Shell Scripts (1 concurrent)", "lpm", 42.4, 2011.0),
    ("shell8", "Shell Scripts (8 concurrent)", "lpm", 6.0, 2860.0),
];

fn cell(test: &str, label: &str, unit: &str, copies: u32) -> Cell {
    Cell {
        id: 0,
        key: Key {
            test: test.to_owned(),
            copies,
            load: "none".to_owned(),
            condition: "none".to_owned(),
        },
        label: label.to_owned(),
        unit: unit.to_owned(),
        timebase: 1.0,
        scale: 1.0,
        category: "system".to_owned(),
        ..Cell::default()
    }
}

/// A number between −1 and 1 that looks random and is not.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 40) as f64 / (1u64 << 23) as f64 - 1.0
}

fn row(cell: Cell, score: f64, half: f64, count: usize) -> Figure {
    let sample = |block: usize| Sample {
        at: 3.0 + 34.0 * block as f64 + 17.0 * noise(block + cell.label.len()),
        block: block as u32,
        value: score
            * (1.0 + half * 1.5 * noise(block * 31 + cell.label.len() + cell.key.copies as usize)),
        neighbour: None,
    };
    let samples = (0..count).map(sample).collect();
    Figure {
        cell,
        score: Estimate::within(score, half),
        n: count,
        seconds: 1.02,
        another: None,
        quiet: None,
        within: 0.0,
        widening: analysis::Widening::default(),
        samples,
        slices: Vec::new(),
        warnings: Vec::new(),
        load: None,
        energy: None,
        details: None,
        executed: None,
        latency: None,
    }
}

fn index(rows: &[Figure], copies: u32) -> Index {
    let of_row = |row: &&Figure| {
        let baseline =
            TESTS.iter().find(|test| test.0 == row.cell.key.test).map_or(1.0, |test| test.3);
        let times = |value: f64| value * 10.0 / baseline;
        let index = Estimate {
            value: times(row.score.value),
            low: times(row.score.low),
            high: times(row.score.high),
        };
        Part {
            test: row.cell.key.test.clone(),
            label: row.cell.label.clone(),
            score: row.score.value,
            baseline,
            index,
        }
    };
    let parts: Vec<Part> =
        rows.iter().filter(|row| row.cell.key.copies == copies).map(|row| of_row(&row)).collect();
    let mean = parts.iter().map(|part| part.index.value.ln()).sum::<f64>() / parts.len() as f64;
    let bounded = parts.iter().all(|part| part.index.bounded());
    Index {
        id: "system".to_owned(),
        name: "System Benchmarks".to_owned(),
        copies,
        arithmetic: Arithmetic::Geometric,
        score: Estimate::within(mean.exp(), if bounded { 0.006 } else { f64::INFINITY }),
        another: None,
        quiet: None,
        watts: None,
        sum: 0.0,
        complete: parts.len() == TESTS.len(),
        parts,
        others: Vec::new(),
    }
}

fn fact(group: &str, name: &str, label: &str, value: &str) -> Fact {
    let [group, name, label, value] = [group, name, label, value].map(str::to_owned);
    Fact::from_text(name, label, group, value)
}

fn missing(test: usize, copies: u32, reason: &str) -> Missing {
    let none = || "none".to_owned();
    Missing {
        printed: false,
        lost: false,
        key: Key { test: TESTS[test].0.to_owned(), copies, load: none(), condition: none() },
        label: TESTS[test].1.to_owned(),
        latency: false,
        reason: reason.to_owned(),
    }
}

/// A run with nothing in it.
fn empty() -> Results {
    Results {
        run: Run {
            name: "tern-2026-11-21-01".to_owned(),
            host: "tern".to_owned(),
            tool: "unixmark 0.1.0".to_owned(),
            started: "2026-11-21T03:14:15+00:00".to_owned(),
            procedure: Procedure::Standard,
            seed: 7,
            cpus: 4,
            ..Run::default()
        },
        end: Some(Ended::Complete),
        findings: Findings::Scores { indexes: Vec::new(), gains: Vec::new() },
        ..Results::default()
    }
}

/// The lists of a run about scores.
fn lists(results: &mut Results) -> (&mut Vec<Index>, &mut Vec<Gain>) {
    let Findings::Scores { indexes, gains } = &mut results.findings else {
        panic!("not about scores")
    };
    (indexes, gains)
}

/// The index at `levels` of copies: one skip, one error, one score without an interval, one
/// outlier.
fn typical(levels: &[u32]) -> Results {
    let mut results = empty();
    results.run.arguments = ["run", "--copies", "1,2", "index"].map(str::to_owned).to_vec();
    results.run.build = Some(Build {
        name: "native".to_owned(),
        compiler: "gcc (Debian 12.2.0-14+deb12u1) 12.2.0".to_owned(),
        flags: "-O3 -ffast-math -march=native -mtune=native".to_owned(),
        hash: "3f1c9a5e0b7d".repeat(5),
    });
    results.seconds = 430.0;
    for &copies in levels {
        for (place, test) in TESTS.iter().enumerate() {
            let gain = f64::from(copies).powf(0.5 + 0.5 * noise(place + 40));
            let half = 0.004 + 0.02 * noise(place).abs();
            let mut row = row(
                cell(test.0, test.1, test.2, copies),
                test.3 * test.4 / 10.0 * gain,
                half,
                6 + place % 7,
            );
            match (place, copies) {
                (2, 2) => results.errors.push(missing(
                    2,
                    2,
                    "the program ended with status 3 before its window did",
                )),
                (11, 1) => {
                    results.skipped.push(missing(11, 1, "needs the tool bc, which is not in PATH"))
                }
                _ => {
                    unusual(&mut row, place, copies);
                    results.figures.push(row);
                }
            }
        }
        let index = index(&results.figures, copies);
        lists(&mut results).0.push(index);
    }
    let found = gains(&results, levels);
    *lists(&mut results).1 = found;
    results.facts = facts();
    results.warnings.push(Remark::Journal("the governor was 'powersave' at the start".to_owned()));
    results
}

fn unusual(row: &mut Figure, place: usize, copies: u32) {
    if (place, copies) == (6, 1) {
        row.score = Estimate::alone(row.score.value);
        row.samples.truncate(1);
        row.n = 1;
        row.warnings.push(Remark::NoInterval { trials: 1 });
    }
    if place == 8 {
        row.samples[3].value *= 0.6;
        row.warnings.push(Remark::Steal { percent: 4.1 });
    }
}

fn gains(results: &Results, levels: &[u32]) -> Vec<Gain> {
    let find = |test: &str, copies: u32| {
        results.figures.iter().find(|r| r.cell.key.test == test && r.cell.key.copies == copies)
    };
    let gain = |label: &str, to: u32, more: Estimate, less: Estimate| Gain {
        label: label.to_owned(),
        from: levels[0],
        to,
        gain: more.over(&less),
    };
    let mut gains = Vec::new();
    for &to in &levels[1..] {
        for test in &TESTS {
            if let (Some(less), Some(more)) = (find(test.0, levels[0]), find(test.0, to)) {
                gains.push(gain(test.1, to, more.score, less.score));
            }
        }
    }
    for more in &results.indexes()[1..] {
        gains.push(gain(&more.title(), more.copies, more.score, results.indexes()[0].score));
    }
    gains
}

fn facts() -> Facts {
    let vulnerable = "spectre_v2: Mitigation: Retpolines; IBPB: conditional; IBRS_FW; STIBP: disabled; RSB filling";
    let facts = [
        fact("System", "system.os", "Operating system", "Debian GNU/Linux 12 (bookworm)"),
        fact("System", "system.virtualisation", "Virtualisation", "KVM"),
        fact("Kernel", "kernel.release", "Release", "6.1.0-28-amd64"),
        fact(
            "Kernel",
            "kernel.command_line",
            "Command line",
            "BOOT_IMAGE=/vmlinuz-6.1.0-28-amd64 root=UUID=7c1e ro quiet",
        ),
        fact("Processor", "cpu.model", "Model", "AMD EPYC 7763 64-Core Processor"),
        fact("Processor", "cpu.governor", "Governor", "powersave"),
        fact("Processor", "cpu.mitigations", "Mitigations", vulnerable),
        fact("Memory", "memory.total", "Memory", "15.6 GiB"),
        fact("Software", "software.libc", "C library", "glibc 2.36"),
    ];
    facts.into_iter().collect()
}

/// BYTE 3.11's index of two tests.
fn byte3() -> Results {
    let mut results = empty();
    let a = row(cell("dhry2reg", TESTS[0].1, "lps", 1), 44_732.6, 0.01, 6);
    let b = row(cell("execl", TESTS[2].1, "lps", 1), 49.5, 0.01, 6);
    results.figures = vec![a, b];
    let mut index = index(&results.figures, 1);
    "byte3".clone_into(&mut index.id);
    "BYTE 3.11".clone_into(&mut index.name);
    index.arithmetic = Arithmetic::Arithmetic;
    (index.sum, index.score) = (5.0, Estimate::within(2.5, 0.01));
    *lists(&mut results).0 = vec![index];
    results
}

fn html(results: &Results) -> String {
    report::render(Subject::Run(results), Format::Html).unwrap()
}

#[test]
fn the_typical_page_is_complete() {
    let results = typical(&[1, 2]);
    let page = html(&results);
    check(&page);
    let text = text(&page);
    assert!(page.contains("<h1><bdi>System Benchmarks"));
    assert!(text.contains("tern-2026-11-21-01"), "the run's name stands below the title");
    for (_, label, ..) in TESTS {
        assert!(text.contains(label), "{label}");
    }
    for (kind, list) in [("error", &results.errors), ("skipped", &results.skipped)] {
        for missing in list {
            assert!(
                text.contains(&format!("\n{kind}: {}\n", missing.reason)),
                "{}",
                missing.reason
            );
        }
    }
    for row in results.figures.iter().filter(|row| row.score.bounded()) {
        for number in [row.score.value, row.score.low, row.score.high] {
            let shown =
                words::known(format!("{number:.1}"), (row.score.high - row.score.low) / 2.0);
            assert!(text.contains(&shown), "{shown}");
        }
    }
    for fact in &results.facts {
        assert!(text.contains(&fact.label) && text.contains(&fact.value));
    }
    for words in
        ["Partial index", "no interval: it needs two trials", "powersave", "unixmark report tern"]
    {
        assert!(text.contains(words), "{words}");
    }
    assert!(text.contains("2 beyond the scale"), "the outliers are marked");
}

#[test]
fn a_whole_index_without_a_quiet_one_says_why() {
    let missing = "has no undisturbed figure: fewer than 4 trials of Dhrystone 2 using register variables were undisturbed.";
    for (copies, whole, undisturbed) in [(4, true, 3), (4, true, 4), (1, false, 3)] {
        let mut results = typical(&[copies]);
        assert_eq!(results.indexes()[0].complete, whole);
        for sample in results.figures[0].samples.iter_mut().skip(undisturbed) {
            sample.neighbour = Some(Neighbour::Hypervisor);
        }
        assert!(!text(&html(&results)).contains("has no figure"), "nothing is known of neighbours");
        results.neighbours = Some(Neighbours { hypervisor: 0.4, ..Neighbours::default() });
        assert_eq!(text(&html(&results)).contains(missing), whole && undisturbed < 4);
    }
}

#[test]
fn charts_hold_every_value() {
    let results = typical(&[1, 2]);
    let page = html(&results);
    for index in results.indexes() {
        for part in &index.parts {
            let copies = ["", "1 copy", "2 copies"][index.copies as usize];
            let title = format!("{}, {copies}: index {} ", part.label, report::score(&part.index));
            assert_eq!(page.matches(&title).count(), 2, "{title}");
        }
    }
    for gain in results.gains() {
        let half = (gain.gain.high - gain.gain.low) / 2.0;
        let title = format!(
            "{}, 1 to 2: {} ",
            gain.label,
            words::known(words::gain(gain.gain.value), half)
        );
        assert_eq!(page.matches(&title).count(), 2, "{title}");
    }
    let samples = results.figures.iter().filter(|row| row.n > 1).flat_map(|row| &row.samples);
    assert_eq!(page.matches(", block ").count(), samples.count());
    // One mark without an interval at one copy, and the whole index of that level.
    assert_eq!(page.matches("mark h0 hollow").count(), 2);
}

#[test]
fn hostile_strings_are_text() {
    let hostile = "</title></style><script>alert(1)</script>\"'><img src=x onerror=a()>&amp;{{ x }}\u{1b}[31m\u{202e}\u{0}\n--> ]]>";
    let shown = "</title></style><script>alert(1)</script>\"'><img src=x onerror=a()>&amp;{{ x }}[31m --> ]]>";
    let mut results = typical(&[1, 2]);
    let run = &mut results.run;
    for text in [&mut run.name, &mut run.host, &mut run.tool, &mut run.started] {
        hostile.clone_into(text);
    }
    run.arguments.push(hostile.to_owned());
    let [name, compiler, flags, hash] = [hostile; 4].map(str::to_owned);
    results.run.build = Some(Build { name, compiler, flags, hash });
    results.facts.push(fact(hostile, "system.os", hostile, hostile));
    results.warnings.push(Remark::Journal(hostile.to_owned()));
    for row in &mut results.figures {
        let cell = &mut row.cell;
        for text in [&mut cell.label, &mut cell.unit, &mut cell.key.load, &mut cell.key.condition] {
            hostile.clone_into(text);
        }
        row.warnings.push(Remark::Journal(hostile.to_owned()));
    }
    for missing in results.errors.iter_mut().chain(&mut results.skipped) {
        hostile.clone_into(&mut missing.label);
        hostile.clone_into(&mut missing.reason);
    }
    let (indexes, gains) = lists(&mut results);
    for index in indexes {
        hostile.clone_into(&mut index.name);
        index.parts.iter_mut().for_each(|part| hostile.clone_into(&mut part.label));
    }
    gains.iter_mut().for_each(|gain| hostile.clone_into(&mut gain.label));
    let page = html(&results);
    check(&page);
    assert!(text(&page).matches(shown).count() > 100);
}

#[test]
fn odd_numbers_are_drawn_or_left_out() {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -1.0,
        1e-300,
        1e300,
        f64::MIN_POSITIVE,
        f64::MAX,
    ];
    for (place, &value) in odd.iter().enumerate() {
        let mut results = typical(&[1, 2]);
        results.seconds = value;
        for (number, row) in results.figures.iter_mut().enumerate() {
            let other = odd[(number + place) % odd.len()];
            row.score = Estimate {
                value: if number % 3 == 0 { value } else { other },
                low: other,
                high: value,
            };
            row.seconds = value;
            for sample in row.samples.iter_mut().skip(number % 4) {
                (sample.value, sample.at) = (other, value);
            }
        }
        let indexes = vec![index(&results.figures, 1), index(&results.figures, 2)];
        let gains = gains(&results, &[1, 2]);
        results.findings = Findings::Scores { indexes, gains };
        check(&html(&results));
    }
}

#[test]
fn small_runs_have_a_page() {
    let nothing = html(&empty());
    check(&nothing);
    assert!(text(&nothing).contains("Nothing was measured"));

    let mut failed = empty();
    failed.errors = vec![missing(0, 1, "killed by signal 4")];
    failed.end = None;
    let page = html(&failed);
    check(&page);
    assert!(text(&page).contains(": killed by signal 4") && text(&page).contains("Incomplete: "));

    let mut single = empty();
    single.figures =
        vec![row(cell("hanoi", "Recursion Test -- Tower of Hanoi", "lps", 1), 123_456.7, 0.01, 8)];
    let page = html(&single);
    check(&page);
    assert!(page.contains("<span class=\"figure\">123500 <small>"), "the score is the headline");
    assert!(text(&page).contains("No index") && !text(&page).contains("Gain from"));

    let mut imported = typical(&[1]);
    imported.run.procedure = Procedure::Imported;
    imported.figures.iter_mut().for_each(|row| {
        row.samples.clear();
        row.score = Estimate::alone(row.score.value);
    });
    let first = index(&imported.figures, 1);
    *lists(&mut imported).0 = vec![first];
    let page = html(&imported);
    check(&page);
    assert!(text(&page).contains("No test has two trials") && text(&page).contains("Imported: "));
}

#[test]
fn byte3_has_sum_and_average() {
    let page = html(&byte3());
    check(&page);
    let text = text(&page);
    assert!(text.contains("SUM of 2 items\n") && text.contains("AVERAGE\n"));
    assert!(
        text.contains("sum of 2 items 5.00")
            && text.contains("BYTE 3.11 Index Score (Partial Only): average")
    );
}

#[test]
fn many_levels_and_tests_have_a_page() {
    let levels = [1, 2, 4, 8, 16, 32, 64, 128];
    let mut results = typical(&levels);
    for test in 0..48 {
        let cell = cell(&format!("t{test}"), &format!("Test number {test}"), "ops", 1);
        results.figures.push(row(cell, 1000.0, 0.01, 8));
    }
    let page = html(&results);
    check(&page);
    assert_eq!(page.matches("class=\"panel\"").count(), 60);
    assert!(
        levels[1..]
            .iter()
            .all(|level| page.contains(&format!("{level} copies: every one as fast")))
    );
}

#[test]
fn a_million_samples_fit() {
    let mut results = typical(&[1, 2]);
    for (place, row) in results.figures.iter_mut().enumerate() {
        let (score, count) = (row.score.value, 45_000);
        let value = |k: usize| score * (1.0 + 0.009 * noise(k + place));
        row.samples = (0..count)
            .map(|k| Sample {
                at: k as f64 * 0.5,
                block: k as u32,
                value: value(k),
                neighbour: None,
            })
            .collect();
        // A single trial in the middle of them must stay visible.
        row.samples[count / 2].value = score * 0.5;
    }
    assert!(results.figures.iter().map(|row| row.samples.len()).sum::<usize>() > 900_000);
    let started = std::time::Instant::now();
    let page = html(&results);
    assert!(
        started.elapsed().as_secs() < 60,
        "a debug build on a busy machine: {:?}",
        started.elapsed()
    );
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    check(&page);
    assert_eq!(text(&page).matches("2 beyond the scale; 400 of 90000 trials").count(), 10);
    for panel in page.split("class=\"panel\"").skip(1) {
        let panel = panel.split("</svg>").next().unwrap();
        let drawn = panel.matches("zM").count() + panel.matches("z\"").count();
        assert!((100..=400).contains(&drawn), "{drawn} points");
        let clipped = panel.matches("class=\"clip h").count();
        let levels = panel.matches("class=\"point h").count();
        assert!(levels > 0 && clipped == levels, "the outliers are drawn");
    }
}

#[test]
fn pages_are_equal_for_equal_results() {
    assert_eq!(html(&typical(&[1, 2, 4])), html(&typical(&[1, 2, 4])));
    assert_ne!(html(&typical(&[1, 2, 4])), html(&typical(&[1, 2])));
}
