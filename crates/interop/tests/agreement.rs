//! What `import` reads of a benchmark program's output and what `ab --harness` reads of it, for
//! every format, whole and damaged: the same figures, units, directions, values and gaps.
#![cfg(test)]

extern crate unixmark_interop as interop;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use catalogue::Catalogue;
use interop::harness::{Kind, Measurement, measurements};
use journal::{Cell, Journal, NoValue};
use testing::Damage;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());

/// Damaged files of each format.
const FILES: u64 = 300;

/// A figure as both must have it.
#[derive(Debug, PartialEq)]
struct Figure {
    name: String,
    copies: u32,
    unit: String,
    direction: String,
    values: Vec<f64>,
    gaps: Vec<String>,
}

/// The figures of a run of an imported file; those of later runs have its label in their names, as
/// a program's have.
fn figures_of_run(journal: &Journal) -> Vec<Figure> {
    let label = match journal.run.comment.as_str() {
        "" => String::new(),
        label => format!(" [{label}]"),
    };
    journal.cells.iter().map(|cell| figure_of_cell(cell, journal, &label)).collect()
}

fn figure_of_cell(cell: &Cell, journal: &Journal, label: &str) -> Figure {
    let mut figure = Figure {
        name: format!("{}{label}", cell.label),
        copies: cell.key.copies,
        unit: cell.unit.clone(),
        direction: format!("{:?}", cell.metric),
        values: Vec::new(),
        gaps: Vec::new(),
    };
    for trial in journal.trials.iter().filter(|trial| trial.cell == cell.id) {
        figure.values.extend(trial.score.as_ref().map(|score| score.value));
        figure.gaps.extend(trial.error.iter().chain(&trial.skip).cloned());
    }
    figure
}

fn figure_of_program(measurement: Measurement) -> Figure {
    let Measurement { name, unit, metric, copies, values, gaps } = measurement;
    let direction = format!("{metric:?}");
    let gaps = gaps.iter().map(|gap: &NoValue| gap.reason().to_owned()).collect();
    Figure { name, copies, unit, direction, values, gaps }
}

/// The figures of runs that have any value: the others are no runs of a file.
fn without_empty_runs(figures: Vec<Figure>) -> Vec<Figure> {
    let run = |figure: &Figure| figure.name.rsplit_once(" [").map(|(_, run)| run.to_owned());
    let has_value = |figure: &&Figure| !figure.values.is_empty();
    let full: BTreeSet<Option<String>> = figures.iter().filter(has_value).map(run).collect();
    figures.into_iter().filter(|figure| full.contains(&run(figure))).collect()
}

/// The figures of a text that a benchmark program printed; `None` if it is refused, or of a suite.
fn imported(text: &str) -> Option<Vec<Figure>> {
    const PROGRAMS: [&str; 7] = [
        "go test -bench",
        "Google Benchmark",
        "criterion",
        "pytest-benchmark",
        "JMH",
        "nanobench",
        "JSON",
    ];
    let journals = interop::import("x", text, &CATALOGUE).ok()?;
    let is_read = |journal: &Journal| PROGRAMS.contains(&journal.run.tool.as_str());
    journals.iter().all(is_read).then(|| journals.iter().flat_map(figures_of_run).collect())
}

/// Whole files of a format.
fn seeds(kind: Kind) -> Vec<String> {
    let recorded: &[&str] = match kind {
        Kind::Gobench => &[
            "vectors/imports/gobench-base.txt",
            "vectors/imports/gobench-events.txt",
            "cases/imports/go_two_configs.txt",
            "cases/imports/go_14313.txt",
            "cases/imports/go_negative.txt",
        ],
        Kind::Gbench => &[
            "vectors/imports/gbench.json",
            "vectors/imports/gbench-aggregates.json",
            "cases/imports/gb_counters.json",
            "cases/imports/gb_labels.json",
            "cases/imports/gb_log_before.json",
        ],
        Kind::Criterion => &[
            "vectors/imports/criterion.txt",
            "cases/imports/crit_names.txt",
            "cases/imports/crit_two_runs.txt",
            "cases/imports/libtest_units.txt",
        ],
        Kind::Pytest => {
            &["vectors/imports/pytest-benchmark.json", "cases/imports/py_without_data.json"]
        }
        Kind::Jmh => &["vectors/imports/jmh.json", "cases/imports/jmh_modes.json"],
        Kind::Nanobench => &["vectors/imports/nanobench.json"],
        Kind::Json => &["cases/imports/json_twin_keys.json", "cases/imports/gab_custom.json"],
    };
    let name = kind.name();
    let pairs = ["base", "head"]
        .iter()
        .flat_map(|side| ["json", "txt"].map(|end| format!("cases/figures/{name}-{side}.{end}")));
    let paths = recorded.iter().map(|path| (*path).to_owned()).chain(pairs);
    let tests = testing::file("tests");
    let read = |path: String| std::fs::read_to_string(tests.join(Path::new(&path))).ok();
    let seeds: Vec<String> = paths.filter_map(read).collect();
    assert!(seeds.len() > recorded.len(), "{name}");
    seeds
}

#[test]
fn import_and_harness_read_the_same_of_every_format() {
    for kind in Kind::ALL {
        let seeds = seeds(kind);
        let mut read = 0;
        for number in 0..testing::simulated(FILES) {
            let mut damage = Damage::new(number);
            let seed = &seeds[number as usize % seeds.len()];
            let bytes = if number < seeds.len() as u64 {
                seed.clone().into_bytes()
            } else {
                damage.damaged(seed)
            };
            let text = String::from_utf8_lossy(&bytes);

            let Some(of_file) = imported(&text) else { continue };
            let of_program = measurements(None, &text)
                .unwrap_or_else(|why| panic!("{} {number}: {why}: {text}", kind.name()));
            let of_program = of_program.into_iter().map(figure_of_program).collect();

            assert_eq!(of_file, without_empty_runs(of_program), "{} {number}: {text}", kind.name());
            read += 1;
        }
        assert!(read > testing::simulated(FILES) / 4, "{}: {read}", kind.name());
    }
}

/// What only `import` has a reader of, `--harness auto` reads by that.
#[test]
fn import_and_harness_read_the_same_of_every_suite() {
    let mut read = 0;
    for entry in std::fs::read_dir(testing::file("tests/vectors/imports")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(journals) = interop::import("x", &text, &CATALOGUE) else { continue };
        let [journal] = &journals[..] else { continue };

        let printed = measurements(None, &text).unwrap();

        let of_program: Vec<Figure> = printed.into_iter().map(figure_of_program).collect();
        let of_file: Vec<Figure> =
            journal.cells.iter().map(|cell| figure_of_cell(cell, journal, "")).collect();
        assert_eq!(of_file, of_program, "{}", path.display());
        read += 1;
    }
    assert!(read > 20, "{read}");
}
