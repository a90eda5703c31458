//! Figures of benchmark programs, as they printed them (`tests/vectors/imports/README.md` has their
//! versions).
#![cfg(test)]

extern crate unixmark_interop as interop;

use catalogue::{Catalogue, Metric};
use interop::harness::{Harness, Kind, Measurement, measurements};
use journal::NoValue;

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../tests/vectors/imports/", $name))
    };
}

const GO: &str = recorded!("gobench-base.txt");
const GO_HEAD: &str = recorded!("gobench-head.txt");
const GO_EVENTS: &str = recorded!("gobench-events.txt");
const GBENCH: &str = recorded!("gbench.json");
const GBENCH_AGGREGATES: &str = recorded!("gbench-aggregates.json");
const CRITERION: &str = recorded!("criterion.txt");
const PYTEST: &str = recorded!("pytest-benchmark.json");
const JMH: &str = recorded!("jmh.json");
const NANOBENCH: &str = recorded!("nanobench.json");
const PLAIN: &str = r#"{"parse": 12.5, "print": 3}"#;

const ALL: [(Kind, &str); 9] = [
    (Kind::Gobench, GO),
    (Kind::Gobench, GO_EVENTS),
    (Kind::Gbench, GBENCH),
    (Kind::Gbench, GBENCH_AGGREGATES),
    (Kind::Criterion, CRITERION),
    (Kind::Pytest, PYTEST),
    (Kind::Jmh, JMH),
    (Kind::Nanobench, NANOBENCH),
    (Kind::Json, PLAIN),
];

fn auto(text: &str) -> Vec<Measurement> {
    measurements(None, text).unwrap()
}

fn refused(kind: Option<Kind>, text: &str) -> String {
    measurements(kind, text).unwrap_err().to_string()
}

/// Name, unit, whether higher is better, and the count of values, of each figure.
fn shapes(all: &[Measurement]) -> Vec<(&str, &str, bool, usize)> {
    let shape = |one: &'_ Measurement| (one.metric.is_higher_better(), one.values.len());
    all.iter()
        .map(|one| (one.name.as_str(), one.unit.as_str(), shape(one).0, shape(one).1))
        .collect()
}

#[test]
fn go() {
    let all = auto(GO);
    let expected = [
        ("BenchmarkHash", "ns/op", false, 6),
        ("BenchmarkHash MB/s", "MB/s", true, 6),
        ("BenchmarkJoin/parts=10", "ns/op", false, 6),
        ("BenchmarkJoin/parts=10 B/op", "B/op", false, 6),
        ("BenchmarkJoin/parts=10 allocs/op", "allocs/op", false, 6),
        ("BenchmarkJoin/parts=100", "ns/op", false, 6),
        ("BenchmarkJoin/parts=100 B/op", "B/op", false, 6),
        ("BenchmarkJoin/parts=100 allocs/op", "allocs/op", false, 6),
        ("BenchmarkQueue", "ns/op", false, 6),
        ("BenchmarkQueue misses/op", "misses/op", false, 6),
        ("BenchmarkQueue msgs/s", "msgs/s", true, 6),
    ];
    assert_eq!(shapes(&all), expected);
    assert_eq!(all[3].values, [80.0; 6]);
    assert_eq!(
        shapes(&auto(GO_EVENTS)),
        [("BenchmarkHash", "ns/op", false, 1), ("BenchmarkHash MB/s", "MB/s", true, 1)]
    );
    assert_eq!(auto(GO_EVENTS)[0].values, [938.5]);
}

#[test]
fn gos_packages_and_directions() {
    let two = "pkg: a/b\nBenchmarkX \t 10 \t 5.0 ns/op\npkg: a/c\nBenchmarkX 10 7 ns/op\n";
    assert_eq!(
        shapes(&auto(two)),
        [("a/b.BenchmarkX", "ns/op", false, 1), ("a/c.BenchmarkX", "ns/op", false, 1)]
    );
    let said = "Unit hits better=higher assume=exact\nUnit msgs/s better=lower\nBenchmarkX 10 5 hits 6 msgs/s 0 allocs/op\n";
    let expected = [
        ("BenchmarkX hits", "hits", true, 1),
        ("BenchmarkX msgs/s", "msgs/s", false, 1),
        ("BenchmarkX allocs/op", "allocs/op", false, 1),
    ];
    assert_eq!(shapes(&auto(said)), expected, "a figure of 0 is one");
    let logged = "{\"level\": 1}\nBenchmarkX 10 5 ns/op\nBenchmarkX\nBenchmarkY: failed\nBenchmarkZ 10 nan ns/op\n";
    assert_eq!(
        shapes(&auto(logged)),
        [("BenchmarkX", "ns/op", false, 1), ("BenchmarkZ", "ns/op", false, 0)],
        "a plain object is a log here"
    );
}

#[test]
fn one_of_gos_benchmarks_was_changed() {
    let least = |one: &Measurement| one.values.iter().copied().fold(f64::INFINITY, f64::min);
    let (base, head) = (auto(GO), auto(GO_HEAD));
    let times = base.iter().zip(&head).filter(|(one, _)| one.unit == "ns/op");
    for (old, new) in times {
        assert_eq!((&old.name, &old.unit), (&new.name, &new.unit));
        let changed = least(new) / least(old) > 2.0;
        assert_eq!(changed, old.name == "BenchmarkHash", "{}", old.name);
    }
}

#[test]
fn google_benchmark() {
    let expected = |count| {
        vec![
            ("BM_Copy/4096", "ns", false, count),
            ("BM_Copy/4096 bytes_per_second", "bytes_per_second", true, count),
            ("BM_Parse", "us", false, count),
            ("BM_Parse depth", "depth", false, count),
            ("BM_Parse items_per_second", "items_per_second", true, count),
        ]
    };
    let all = auto(GBENCH);
    let failed = ("BM_Fails", "ns", false, 0);
    assert_eq!(shapes(&all), [expected(3), vec![failed]].concat());
    assert_eq!(all[5].gaps, vec![NoValue::Failed("no device".to_owned()); 3]);
    assert_eq!(all[0].values[0], 1.014_187_729_021_485_6e2);
    assert_eq!(all[3].values, [7.0; 3]);
    assert_eq!(
        shapes(&auto(GBENCH_AGGREGATES)),
        [expected(1), vec![failed]].concat(),
        "the medians"
    );
}

#[test]
fn criterion() {
    let all = auto(CRITERION);
    let expected = [
        ("hash", "ns", false, 1),
        ("a group with a long name/copy/100", "ns", false, 1),
        ("a group with a long name/copy/10000", "ns", false, 1),
    ];
    assert_eq!(shapes(&all), expected, "a change is no figure");
    for (one, printed) in all.iter().zip([1786.7, 133.48, 17_594.0]) {
        assert!((one.values[0] / printed - 1.0).abs() < 1e-12, "{one:?}");
    }
    let libtest = auto("test hash ... bench:       1,510.25 ns/iter (+/- 20)\ntest other ... ok\n");
    assert_eq!((libtest[0].name.as_str(), &libtest[0].values[..]), ("hash", &[1510.25][..]));
    assert_eq!(libtest.len(), 1);
}

#[test]
fn pytest() {
    let all = auto(PYTEST);
    assert_eq!(all[0].name, "test_a.py::test_hash[100]");
    assert_eq!(shapes(&all)[2], ("test_a.py::test_sort", "s", false, 5));
    assert_eq!(all[0].values[0], 2.790_569_997_159_764_3e-6);
    let mut short: serde_json::Value = serde_json::from_str(PYTEST).unwrap();
    short["benchmarks"][0]["stats"]["data"] = serde_json::Value::Null;
    let median = short["benchmarks"][0]["stats"]["median"].as_f64().unwrap();
    assert_eq!(auto(&short.to_string())[0].values, [median], "`--benchmark-save` keeps no rounds");
}

#[test]
fn jmh() {
    let all = auto(JMH);
    let expected = [
        ("x.Sample.hash:size=10", "ops/ms", true, 6),
        ("x.Sample.hash:size=10 gc.alloc.rate.norm", "B/op", false, 6),
        ("x.Sample.hash:size=10 gc.count", "counts", false, 6),
    ];
    assert_eq!(shapes(&all)[..3], expected, "three iterations of two forks");
    assert_eq!(all[0].values[3], 174_001.403_911_899_22);
    assert!(shapes(&all).contains(&("x.Sample.join:size=1000", "ns/op", false, 6)));
}

#[test]
fn nanobench() {
    let all = auto(NANOBENCH);
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(shapes(&all)[0], ("copy", "s/byte", false, 3), "in {names:?}");
    assert_eq!(all[0].values[0], 1.104_216_689_628_03e-7 / 4096.0);
    let counted = NANOBENCH.replacen("\"instructions\": 0", "\"instructions\": 8192", 1);
    let counted = auto(&counted);
    let instructions = counted.iter().find(|one| one.unit == "instructions/byte").unwrap();
    assert_eq!(
        (instructions.name.as_str(), instructions.values[0]),
        ("copy instructions/byte", 2.0)
    );
}

#[test]
fn plain_objects() {
    let all = auto(PLAIN);
    assert_eq!(shapes(&all), [("parse", "", false, 1), ("print", "", false, 1)]);
    let within = format!("building …\n{PLAIN}\ndone\n");
    assert_eq!(measurements(Some(Kind::Json), &within).unwrap(), all);
    for none in ["{}", r#"{"a": "1"}"#, r#"{"a": {"b": 1}}"#, "[1]", ""] {
        assert!(refused(None, none).starts_with("it has no figures in the format of"), "{none}");
    }
}

#[test]
fn a_kind_reads_its_own_alone() {
    for (kind, text) in ALL {
        let own = kind.name().parse::<Harness>().unwrap();
        assert_eq!(own.printed(text, 0, None).unwrap().len(), auto(text).len());
        assert_eq!(measurements(Some(kind), text).unwrap(), auto(text), "{kind:?}");
        for other in Kind::ALL.into_iter().filter(|other| *other != kind) {
            let refused = refused(Some(other), text);
            assert!(
                refused.starts_with("it has no figures in the format of "),
                "{other:?} in {kind:?}: {refused}"
            );
        }
    }
    let error = "cargo".parse::<Harness>().unwrap_err().to_string();
    assert!(error.contains("'cargo'") && error.contains("gobench"), "{error}");
}

#[test]
fn figures_stand_among_other_lines() {
    for (kind, text) in ALL.into_iter().filter(|(_, text)| *text != GO_EVENTS) {
        let among = format!("[1/3] \u{1b}[1mbuilding\n{{ warm }}\n{text}\n[done]\n");
        assert_eq!(auto(&among), auto(text), "{kind:?}");
    }
}

#[test]
fn what_is_endless_is_bounded() {
    let lines: String = (0..10_001).map(|n| format!("Benchmark{n} 1 5 ns/op\n")).collect();
    assert!(refused(None, &lines).starts_with("it has more than 10000 figures"));
    let repeats = "BenchmarkX 1 5 ns/op\nBenchmarkX 1 7 ns/op\n".repeat(2500);
    assert_eq!(auto(&repeats)[0].values, [5.8, 6.2].repeat(500), "means of five neighbours");
    for open in ["[", "{\"a\":", "[{},\n", "{\"a\": 1,\n"] {
        assert!(
            refused(None, &open.repeat(100_000)).starts_with("it has no figures in the format of")
        );
    }
}

#[test]
fn imports() {
    let catalogue = Catalogue::load().unwrap();
    for (kind, text) in ALL {
        let journals = interop::import("x", text, &catalogue).unwrap();
        let all = auto(text);
        let [journal] = &journals[..] else { panic!("one run") };
        let cells: Vec<(&str, &str, Metric, u32)> = journal
            .cells
            .iter()
            .map(|cell| (cell.label.as_str(), cell.unit.as_str(), cell.metric, cell.key.copies))
            .collect();
        let expected: Vec<(&str, &str, Metric, u32)> = all
            .iter()
            .map(|one| (one.name.as_str(), one.unit.as_str(), one.metric, one.copies))
            .collect();
        assert_eq!(cells, expected, "{kind:?}");
        let repeats: usize = all.iter().map(|one| one.values.len() + one.gaps.len()).sum();
        assert_eq!(journal.trials.len(), repeats, "{kind:?}: every repeat is a trial");
    }
}

#[test]
fn an_execution_has_the_median_of_what_it_repeats() {
    let text = "BenchmarkX 1 5 ns/op\nBenchmarkX 1 7 ns/op\nBenchmarkX 1 90 ns/op\n";
    for word in ["auto", "gobench"] {
        let printed = word.parse::<Harness>().unwrap().printed(text, 3, None).unwrap();
        let [one] = &printed[..] else { panic!("{printed:?}") };
        assert_eq!(
            (&*one.name, &*one.unit, &one.rounds[..]),
            ("BenchmarkX", "ns/op", &[(3, 7.0)][..])
        );
    }
    assert!("jmh".parse::<Harness>().unwrap().printed(text, 0, None).is_err());
    let many: String = (0..1001).map(|number| format!("BenchmarkX{number} 1 5 ns/op\n")).collect();
    assert!(
        "auto"
            .parse::<Harness>()
            .unwrap()
            .printed(&many, 0, None)
            .unwrap_err()
            .to_string()
            .contains("more than 1000")
    );
}

/// `import` reads files in these encodings, too.
#[test]
fn what_a_program_prints_is_read_in_any_encoding() {
    let line = "BenchmarkX 1 5 µs/op\n";
    for bytes in [
        line.as_bytes().to_vec(),
        line.chars().map(|c| c as u8).collect(),
        line.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    ] {
        let printed = "auto".parse::<Harness>().unwrap().printed(&bytes, 0, None).unwrap();

        assert_eq!((&*printed[0].unit, &printed[0].rounds[..]), ("µs/op", &[(0, 5.0)][..]));
    }
}

/// What stands in the place of a number does not take the other figures with it, and an object that
/// cannot be read says why.
#[test]
fn plain_json_keeps_its_good_figures() {
    for word in ["null", "true", "[1]", "\"n/a\"", "\"12 ms\""] {
        let text = format!("{{\"good\": 1, \"bad\": {word}}}");
        let all = measurements(Some(Kind::Json), &text).unwrap();
        let good = all.iter().find(|one| one.name == "good").unwrap();
        let bad = all.iter().find(|one| one.name == "bad").unwrap();
        assert_eq!((&good.values[..], &good.gaps[..]), (&[1.0][..], &[][..]), "{word}");
        assert!(bad.values.is_empty() && bad.gaps.len() == 1, "{word}");
    }
    assert_eq!(
        refused(Some(Kind::Json), r#"{"good": 1, "bad": {}}"#),
        "'bad' in its JSON is no number: it is an object; print an object of {\"name\": number}"
    );
}
