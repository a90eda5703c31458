//! What reports say about scaling: published tables, planted laws, recorded runs.

use analysis::{Results, Scaling};
use catalogue::{Catalogue, Metric};
use interop::import;
use journal::{Cell, Copy, End, Ended, Journal, Key, Trial, View};
use report::{Format, Subject, render};
use serde_json::Value;
use stats::Usl;

const LBENCH: &str = include_str!("../../../../tests/vectors/lbench_scaling.json");

fn results(journal: &Journal) -> Results {
    Results::new(journal, &Catalogue::load().unwrap(), None)
}

fn imported(text: &str) -> (Journal, Results) {
    let journal = import("lbench.json", text, &Catalogue::load().unwrap()).unwrap().remove(0);
    let results = results(&journal);
    (journal, results)
}

fn of<'a>(results: &'a Results, label: &str) -> &'a Scaling {
    results.scaling().iter().find(|test| test.label == label).unwrap()
}

/// The lines of a test's block in the text report.
fn block(text: &str, title: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with(title));
    // The title may share its line with the first level.
    lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.contains('%'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_published_table_shows_the_gains_it_claims() {
    let (journal, results) = imported(LBENCH);
    assert_eq!((journal.run.tool.as_str(), results.scaling().len()), ("Lbench", 17));
    let only_the_date =
        journal.warnings.iter().all(|warning| warning.text.contains("no time stamp"));
    assert!(only_the_date, "{:?}", journal.warnings);
    let memory = of(&results, "memory move 50 MB");
    assert!(
        (memory.levels[2].gain.value - 1.40).abs() < 1e-9
            && (memory.levels[2].efficiency.value - 0.35).abs() < 1e-9
    );
    let law = memory.law.unwrap().law;
    assert!((law.sigma - 0.58).abs() < 0.005 && (law.kappa - 0.0095).abs() < 0.0001, "{law:?}");
    let mutex = of(&results, "mutex lock/unlock");
    assert!((mutex.levels[2].step.unwrap().value - 0.39).abs() < 0.005);
    // Times are kept as they are, and less is better.
    let fibonacci = of(&results, "Fibonacci 44");
    assert_eq!((fibonacci.metric, fibonacci.levels[2].per_copy.value), (Metric::Time, 12.1));
    assert!((fibonacci.levels[2].gain.value - 4.0 * 12.4 / 12.1).abs() < 1e-9);

    let text = render(Subject::Run(&results), Format::Text).unwrap();
    assert!(
        text.lines().any(|line| line.starts_with("memory move 50 MB")
            && line.ends_with("4.000    2.500    1.400")),
        "{text}"
    );
    assert!(block(&text, "memory move 50 MB, GB/s")[2].contains(" 1.40x "), "{text}");
    assert!(block(&text, "mutex lock/unlock, MOP/s")[2].contains(" 0.39x "), "{text}");
    assert!(
        text.contains("not normalised by the clock")
            && text.contains("three levels determine the law")
    );
    assert!(
        !text.contains("parallel cop") && !text.contains("Gain from"),
        "the scaling stands in place of lists and gains"
    );
}

#[test]
fn claims_that_do_not_hold_are_warned_of() {
    let warned = |from: &str, to: &str| -> String {
        let (journal, _) = imported(&LBENCH.replace(from, to));
        journal.warnings.iter().map(|warning| warning.text.clone()).collect::<Vec<_>>().join("; ")
    };
    let wrong = warned(
        r#""memory_50MB_total_gain_4_threads": 1.4"#,
        r#""memory_50MB_total_gain_4_threads": 1.9"#,
    );
    assert!(
        wrong.contains(
            "the file claims 1.9 for 'memory_50MB_total_gain_4_threads', and its rows give 1.400"
        ),
        "{wrong}"
    );
    for strange in [
        "disk_total_gain_4_threads",
        "memory_total_gain_4_threads",
        "memory_50MB_total_gain_3_threads",
        "\\u001b[31m",
    ] {
        let told = warned("memory_50MB_total_gain_4_threads", strange);
        assert!(
            told.contains("is not understood: it was not checked") && !told.contains('\u{1b}'),
            "{told}"
        );
    }
}

#[test]
fn damaged_tables() {
    let warned = |text: &str| {
        imported(text)
            .0
            .warnings
            .iter()
            .filter(|warning| warning.text.contains("is left out"))
            .count()
    };
    assert_eq!(warned(&LBENCH.replacen("1137,", "", 1)), 1);
    for figure in ["-1", "0", "1e300"] {
        assert_eq!(warned(&LBENCH.replacen("1137", figure, 1)), 1, "{figure}");
    }
    let refused =
        |text: &str| import("x", text, &Catalogue::load().unwrap()).unwrap_err().to_string();
    assert!(refused("{\"threads\": \"1\"}").contains("it is in no format that is known here"));
    assert!(refused("{\"threads\": [1, 2], \"rows\": []}").contains("has no result"));
    assert!(
        refused("{\"threads\": [0, 2], \"rows\": [[\"a\", \"b\", [1, 2]]]}")
            .contains("has no result")
    );
    for cut in (0..LBENCH.len()).step_by(97) {
        assert!(import("x", &LBENCH[..cut], &Catalogue::load().unwrap()).is_err());
    }
    // The same row twice, and the same number of threads twice: the last counts.
    let (_, twice) = imported(
        r#"{"threads": [1, 2, 2], "rows": [["a", "s", [1, 2, 3]], ["a", "s", [4, 5, 6]]]}"#,
    );
    assert_eq!(
        of(&twice, "a").levels.iter().map(|level| level.per_copy.value).collect::<Vec<_>>(),
        [4.0, 6.0]
    );
}

/// A run of one test that follows a law, at many levels.
fn planted(law: &Usl, levels: &[u32], borders: &[(u32, &str)]) -> Results {
    let mut journal = Journal::default();
    journal.run.view = View::Scaling;
    journal.run.cpus = 64;
    journal.run.borders =
        borders.iter().map(|(copies, what)| (*copies, (*what).to_owned())).collect();
    for (id, copies) in levels.iter().enumerate() {
        journal.cells.push(Cell {
            id,
            key: Key {
                test: "planted".to_owned(),
                copies: *copies,
                load: "none".to_owned(),
                condition: "none".to_owned(),
            },
            label: "A label of thirty-seven characters ok".to_owned(),
            unit: "Mop/s".to_owned(),
            timebase: 1.0,
            scale: 1e-6,
            clock: Some("core-clock".to_owned()),
            category: "cpu".to_owned(),
            ..Cell::default()
        });
        for block in 0..6_u32 {
            let noise = 1.0 + 0.001 * f64::from((block * 7 + copies * 3) % 11);
            let each = law.at(f64::from(*copies)) / f64::from(*copies) * 1e6 * noise;
            let copy =
                Copy { slices: vec![[0, 1_000_000_000, each as u64].into()], ..Copy::default() };
            journal.trials.push(Trial {
                cell: id,
                block,
                copies: vec![copy; *copies as usize],
                ..Trial::default()
            });
        }
    }
    journal.end = Some(End { reason: Ended::Complete, seconds: 60.0 });
    results(&journal)
}

const LADDER: [u32; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

#[test]
fn many_levels_fit_into_every_report() {
    let law = Usl { lambda: 500.0, sigma: 0.04, kappa: 0.0006 };
    let results = planted(&law, &LADDER, &[(32, "SMT siblings")]);
    let test = &results.scaling()[0];
    let found = test.law.unwrap();
    assert!(
        (found.law.sigma - 0.04).abs() < 0.004 && (found.law.kappa - 0.0006).abs() < 0.0001,
        "{found:?}"
    );
    assert!(found.sigma.low <= 0.04 && 0.04 <= found.sigma.high && test.fitted == 10);
    let text = render(Subject::Run(&results), Format::Text).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for copies in LADDER {
        let star = if copies > 32 { "*" } else { "" };
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(&format!("{copies}{star} "))),
            "{copies}: {text}"
        );
    }
    assert!(
        text.contains("fitted up to 32 copies; beyond that are SMT siblings (from 33"),
        "{text}"
    );
    let html = render(Subject::Run(&results), Format::Html).unwrap();
    testing::page::check(&html);
    assert!(
        html.contains("curve h0 dashed") && html.contains("mean ink dashed"),
        "the law beyond its border, and the straight line"
    );
    let csv = render(Subject::Run(&results), Format::Csv).unwrap();
    let fields = |line: &str| line.split(',').count();
    assert!(csv.lines().all(|line| fields(line) == fields(csv.lines().next().unwrap())), "{csv}");
    let json: Value =
        serde_json::from_str(&render(Subject::Run(&results), Format::Json).unwrap()).unwrap();
    let levels = json["scaling"].as_array().unwrap();
    assert_eq!(
        levels.iter().filter(|level| level["in_law"] == true).count(),
        10,
        "of {}",
        levels.len()
    );
}

#[test]
fn a_negative_sigma_is_reported() {
    let results = planted(&Usl { lambda: 500.0, sigma: -0.03, kappa: 0.004 }, &LADDER[..7], &[]);
    let text = render(Subject::Run(&results), Format::Text).unwrap();
    assert!(text.contains(" -0.0") && text.contains(" peak 95 %\n"), "{text}");
    let efficiency = results.scaling()[0].levels[1].efficiency.value;
    assert!(efficiency > 1.0, "{efficiency}");
}

#[test]
fn the_forms_agree() {
    let folder = testing::file("tests/runs/scaling");
    let results = results(&journal::read(&folder).unwrap());
    let json: Value =
        serde_json::from_str(&render(Subject::Run(&results), Format::Json).unwrap()).unwrap();
    let levels: usize = results.scaling().iter().map(|test| test.levels.len()).sum();
    assert_eq!(json["scaling"].as_array().unwrap().len(), levels);
    assert_eq!(json["laws"].as_array().unwrap().len(), results.scaling().len());
    assert!(
        json["gains"].as_array().unwrap().is_empty()
            && json["index"].as_array().unwrap().is_empty()
    );
    for format in [Format::Text, Format::Html, Format::Markdown] {
        let text = render(Subject::Run(&results), format).unwrap();
        for level in json["scaling"].as_array().unwrap() {
            assert!(
                text.contains(level["label"].as_str().unwrap()),
                "{format:?}: {}",
                level["label"]
            );
            let end = |key: &str| level[key].as_f64();
            let half = end("gain_high")
                .zip(end("gain_low"))
                .map_or(f64::INFINITY, |(high, low)| (high - low) / 2.0);
            let gain = words::known(format!("{:.2}", level["gain"].as_f64().unwrap()), half);
            assert!(text.contains(&gain), "{format:?}: {gain}");
        }
        assert!(
            text.contains("with 1, 2, 3 copies: ") || text.contains("1, 2, 3 copies: "),
            "{format:?}: what failed"
        );
    }
    testing::page::check(&render(Subject::Run(&results), Format::Html).unwrap());
}
