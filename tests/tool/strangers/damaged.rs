//! Thousands of damaged journals and imports in little memory: each is read or refused, and none
//! ends the tool.
//!
//! They are read by this program itself, started again with a limit of memory: as many processes of
//! the tool would take an hour.

use std::collections::BTreeSet;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use analysis::{Asked, Comparisons, Results, Sorted, Summary};
use catalogue::Catalogue;
use journal::Journal;
use report::{Format, Subject};
use rustix::process::{Resource, Rlimit, setrlimit};
use testing::Damage;

/// Memory that the program may have, in bytes, its own code with it.
const MEMORY: u64 = 256 << 20;

/// Seconds of processor time for one file.
const SECONDS: u64 = 10;

/// Files of a process.
const BATCH: u64 = 1000;

/// Names the first file of a batch.
const FIRST: &str = "UNIXMARK_TEST_DAMAGED";

#[test]
fn files_are_read_or_refused() {
    if let Ok(first) = std::env::var(FIRST) {
        return batch(first.parse().unwrap());
    }
    let batches = if testing::all_must_run() { 5 } else { 1 };
    let failed: Vec<String> = (0..batches).filter_map(|number| failure(number * BATCH)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Every suite of which something can be imported; UnixBench's versions, tables and pages are many.
const SUITES: [&str; 25] = [
    "BYTE",
    "Geekbench",
    "Google",
    "Interbench",
    "JMH",
    "JSON",
    "Lbench",
    "MangoHud",
    "Phoronix",
    "PresentMon",
    "UnixBench",
    "YABS",
    "criterion",
    "cyclictest",
    "fio",
    "go",
    "hackbench",
    "hyperfine",
    "lmbench",
    "nanobench",
    "pytest-benchmark",
    "rt-app",
    "rtla",
    "schbench",
    "sysbench",
];

#[test]
fn what_is_damaged_is_of_every_suite() {
    let mut suites = BTreeSet::new();
    for seed in seeds().iter().filter(|seed| seed.name != "run.jsonl") {
        let journals = interop::import(&seed.name, &seed.bytes, &CATALOGUE).unwrap_or_default();
        let names = journals.iter().filter_map(|journal| journal.run.tool.split(' ').next());
        suites.extend(names.map(str::to_owned));
    }
    assert_eq!(Vec::from_iter(suites), SUITES);
}

/// Why the files from number `first` on were not all read or refused.
fn failure(first: u64) -> Option<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "strangers::damaged::files_are_read_or_refused", "--nocapture"])
        .env(FIRST, first.to_string())
        // An arena or a stack of each thread would be counted as memory, used or not.
        .envs([("MALLOC_ARENA_MAX", "1"), ("RAYON_NUM_THREADS", "1")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let last = String::from_utf8_lossy(&output.stderr)
        .lines()
        .rev()
        .take(30)
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let last: Vec<String> = last.into_iter().rev().collect();
    (!output.status.success()).then(|| format!("{}: {}", output.status, last.join("\n")))
}

fn batch(first: u64) {
    let memory = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    setrlimit(Resource::As, memory).unwrap();
    let seeds = seeds();
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for number in first..first + BATCH {
        // What it dies of is said by the system; of which file, by the last line.
        writeln!(std::io::stderr(), "file {number}").unwrap();
        let spent =
            rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec as u64;
        setrlimit(Resource::Cpu, Rlimit { current: Some(spent + SECONDS + 1), maximum: None })
            .unwrap();
        if catch_unwind(AssertUnwindSafe(|| read(number, &seeds, folder.path()))).is_err() {
            failed.push(number);
        }
    }
    assert!(failed.is_empty(), "these panicked: {failed:?}");
}

/// A file before it is damaged.
struct Seed {
    name: String,
    bytes: Vec<u8>,
}

impl Seed {
    fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Seed {
        Seed { name: name.into(), bytes: bytes.into() }
    }
}

fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for run in [
        "classic", "cooling", "cost", "energy", "graphics", "index", "latency", "memory", "power",
        "scaling", "zen4",
    ] {
        let text = std::fs::read_to_string(testing::recorded(run).join("run.jsonl")).unwrap();
        seeds.extend(
            [short(&text, 3, 8), short(&text, 30, 1)].map(|text| Seed::new("run.jsonl", text)),
        );
    }
    let node = std::fs::read_to_string(testing::recorded("fleet").join("n1.jsonl")).unwrap();
    seeds.push(Seed::new("run.jsonl", node));
    let folders =
        ["tests/vectors", "tests/vectors/imports", "tests/cases/imports", "tests/cases/figures"];
    let entries = folders.map(|folder| std::fs::read_dir(testing::file(folder)).unwrap());
    for path in entries.into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_file() && path.extension().is_none_or(|end| end != "md") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            seeds.push(Seed::new(name, std::fs::read(&path).unwrap()));
        }
    }
    // Several documents, other encodings.
    let fio = std::fs::read(testing::file("tests/cases/imports/fio_plain.json")).unwrap();
    seeds.push(Seed::new("status.json", fio.repeat(3)));
    let report = std::fs::read(testing::file("tests/cases/imports/ub_one.txt")).unwrap();
    let wide: Vec<u8> = report.iter().flat_map(|byte| [0, *byte]).collect();
    seeds.push(Seed::new("report.txt", wide));
    seeds.sort_by(|a, b| (&a.name, &a.bytes).cmp(&(&b.name, &b.bytes)));
    seeds
}

/// Returns a journal with some of its facts, its first cells, and as many trials of each, and a few
/// other lines.
fn short(text: &str, cells: u64, trials: usize) -> String {
    let mut kept = std::collections::HashMap::new();
    let mut keep = |line: &&str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let kind = value["type"].as_str().unwrap().to_owned();
        let most = match kind.as_str() {
            "fact" => 12,
            "cell" => cells as usize,
            "trial" => trials,
            _ => 10,
        };
        let of = if kind == "trial" { value["cell"].as_u64().unwrap() } else { 0 };
        let count: &mut usize = kept.entry((kind, of)).or_default();
        *count += 1;
        *count <= most && of < cells
    };
    text.lines().filter(&mut keep).map(|line| format!("{line}\n")).collect()
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());

/// Damages a file, and does with it what the tool could.
fn read(number: u64, seeds: &[Seed], folder: &Path) {
    let mut damage = Damage::new(number);
    let seed = &seeds[damage.below(seeds.len())];
    let bytes = damage.damaged(&seed.bytes);
    if seed.name == "run.jsonl" {
        let path = folder.join("run.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        listed(&path);
        match number % 24 {
            0 => built(&path, seed),
            1 => collected(&path),
            2..=5 => drop(site::check(&path, &CATALOGUE)),
            _ => shown(journal::read(&path), &seed.bytes, number),
        }
    } else if let Ok(journals) = interop::import(&seed.name, &bytes, &CATALOGUE) {
        // What a program prints is read by the same readers, and ends no run.
        let printed = String::from_utf8_lossy(&bytes);
        drop(interop::harness::measurements(None, &printed));
        for journal in journals {
            let again: Vec<u8> = journal
                .records()
                .iter()
                .flat_map(|record| [serde_json::to_vec(record).unwrap(), b"\n".to_vec()].concat())
                .collect();
            if !journal.run.format.is_empty() {
                assert_eq!(
                    journal::parse(&again[..], Path::new("x")).unwrap().trials.len(),
                    journal.trials.len()
                );
            }
            shown(Ok(journal), b"", number);
        }
    }
}

/// What lists of runs look at.
fn listed(path: &Path) {
    let _ = (journal::read_run(path), journal::read_end(path), journal::has_trials(path));
}

/// A report of a journal in one of the formats, and what else is computed of one.
fn shown(journal: anyhow::Result<Journal>, seed: &[u8], number: u64) {
    let Ok(mut journal) = journal else { return };
    let results = Results::new(&journal, &CATALOGUE, None);
    let formats = [
        Format::Text,
        Format::Html,
        Format::Json,
        Format::Csv,
        Format::Markdown,
        Format::Bmf,
        Format::Openmetrics,
        Format::Commit,
    ];
    // Three uses come before the formats.
    let formats_and_uses = formats.len() + 3;
    match number as usize / 24 % formats_and_uses {
        0 => {
            let summary = Summary::from_results(&results, 1);
            #[cfg(feature = "parquet")]
            export(&summary);
            let name = summary
                .figures
                .first()
                .map_or("index".to_owned(), |figure| figure.cell.key.test.clone());
            report::render(Subject::Trend(&analysis::Trend::new(&name, &[summary])), Format::Text)
                .unwrap();
        }
        1 => {
            journal.redact();
            let good = journal::parse(seed, Path::new("seed")).unwrap_or_default();
            let both = vec![
                Results::new(&good, &CATALOGUE, None),
                Results::new(&journal, &CATALOGUE, None),
            ];
            let mut comparisons = Comparisons::new(both, &Asked::default());
            comparisons.ask_why(&CATALOGUE);
            report::render(Subject::Comparison(&comparisons, None), Format::Html).unwrap();
            report::render(Subject::Systems(&comparisons, Sorted::default()), Format::Text)
                .unwrap();
        }
        2 => {
            let heading: &report::unixbench::Heading = &[];
            let _ = (
                report::unixbench::report(&results, heading),
                report::unixbench::page(&results, heading),
            );
            report::unixbench::csv(&results).unwrap();
        }
        place => drop(report::render(Subject::Run(&results), formats[place - 3])),
    }
}

/// An archive of a run.
#[cfg(feature = "parquet")]
fn export(summary: &Summary) {
    let place = archive::Place::new(&summary.run);
    let archive = tempfile::tempdir().unwrap();
    for (name, make) in [
        ("results", archive::results as fn(&str, &Summary) -> archive::Table),
        ("samples", archive::samples),
        ("facts", archive::facts),
    ] {
        place.write(archive.path(), name, &make(&place.id, summary)).unwrap();
    }
}

/// A site of a good journal and this one: there is one of at least the former.
fn built(path: &Path, seed: &Seed) {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.jsonl");
    std::fs::write(&good, &seed.bytes).unwrap();
    let sources: Vec<PathBuf> = vec![good, path.to_path_buf()];
    let built = site::build(
        &site::Asked {
            sources: &sources,
            into: &folder.path().join("site"),
            title: "x",
            anonymous: true,
            cache: None,
        },
        &CATALOGUE,
    );
    assert!(built.unwrap().runs >= 1);
}

/// A fleet run of a good journal and this one.
fn collected(path: &Path) {
    let into = tempfile::tempdir().unwrap();
    let sources = [testing::recorded("fleet").join("n2.jsonl"), path.to_path_buf()];
    let collected = fleet::collect(&sources, into.path(), None, false, &CATALOGUE).unwrap();
    assert_eq!(collected.taken + collected.known + collected.refused.len(), 2);
}
