//! Output of other benchmarks: its figures under their own names; unknown versions and damaged
//! files are refused by line.
//!
//! UnixBench, fio, hyperfine, cyclictest, hackbench and sysbench are recordings of the real
//! programs (`tests/vectors/imports/README.md`). The other formats are minimal samples made up here
//! after public descriptions.
#![cfg(test)]

extern crate unixmark_interop as interop;

use std::sync::LazyLock;

use analysis::{Asked, Comparisons, Figure, Results};
use catalogue::{Catalogue, Metric};
use interop::import;
use journal::Journal;
use proptest::prelude::*;
use proptest::sample::Index as Place;

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/vectors/imports/", $name))
    };
}

mod latencies;

const SIX: &str = recorded!("unixbench-6.0.0.txt");
const SIX_PAGE: &str = recorded!("unixbench-6.0.0.html");
const SIX_WIDE: &str = recorded!("unixbench-6.0.0.csv");
const FIVE: &str = recorded!("unixbench-5.1.3.txt");
const FIVE_PAGE: &str = recorded!("unixbench-5.1.3.html");
const FIO: &str = recorded!("fio.json");
const HYPERFINE: &str = recorded!("hyperfine.json");
const CYCLIC: &str = recorded!("cyclictest.txt");
const CYCLIC_JSON: &str = recorded!("cyclictest.json");
const CYCLIC_HISTOGRAM: &str = recorded!("cyclictest-histogram.txt");
const TIMERLAT_HISTOGRAM: &str = recorded!("rtla-timerlat-hist.txt");
const TIMERLAT_TOP: &str = recorded!("rtla-timerlat-top.txt");
const OSNOISE_TOP: &str = recorded!("rtla-osnoise-top.txt");
const HACKBENCH: &str = recorded!("hackbench.txt");
const SCHBENCH: &str = recorded!("schbench.txt");
const CPU: &str = recorded!("sysbench-cpu.txt");
const MEMORY: &str = recorded!("sysbench-memory.txt");
const FILES: &str = recorded!("sysbench-fileio.txt");
const THREADS: &str = recorded!("sysbench-threads.txt");

const LMBENCH: &str = "
                 L M B E N C H  3 . 0   S U M M A R Y
                 ------------------------------------
\t\t (Alpha software, do not distribute)

Processor, Processes - times in microseconds - smaller is better
------------------------------------------------------------------------------
Host                 OS  Mhz null null      open slct sig  sig  fork exec sh
                             call  I/O stat clos TCP  inst hndl proc proc proc
--------- ------------- ---- ---- ---- ---- ---- ---- ---- ---- ---- ---- ----
one       Linux 6.1.0-1 2600 0.10 0.20 0.50 1.10 3.10 0.15 0.90 110. 350. 1.2K
one       Linux 6.1.0-1 2600 0.12 0.21 0.52 1.12 3.12 0.16 0.92 112. 355. 1250
two       Linux 6.1.0-1 2600 0.11      0.51 1.11 3.11 0.15 0.91 111. 351. 1201

*Local* Communication bandwidths in MB/s - bigger is better
-----------------------------------------------------------------------------
Host                OS  Pipe AF    TCP  File   Mmap  Bcopy  Bcopy  Mem   Mem
                             UNIX      reread reread (libc) (hand) read write
--------- ------------- ---- ---- ---- ------ ------ ------ ------ ---- -----
one       Linux 6.1.0-1 3000 6000 5.0K 5100.0 6400.0 5500.0 4000.0 6300 6000.
";

const PHORONIX: &str = r#"<?xml version="1.0"?>
<PhoronixTestSuite>
  <Generated><Title>two boxes</Title><TestClient>Phoronix Test Suite v10.8.4</TestClient></Generated>
  <System>
    <Identifier>one</Identifier>
    <Hardware>Processor: Fast One @ 3.00GHz (4 Cores), Memory: 8GB</Hardware>
    <Software>OS: Debian 12, Kernel: 6.1.0 (x86_64), Compiler: GCC 12.2.0</Software>
    <TimeStamp>2026-01-02 03:04:05</TimeStamp>
  </System>
  <System><Identifier>two</Identifier><TimeStamp>2026-01-03 03:04:05</TimeStamp></System>
  <Result>
    <Identifier>pts/byte-1.3.0</Identifier><Title>BYTE Unix Benchmark</Title><Arguments>dhry2reg</Arguments>
    <Description>Computational Test: Dhrystone 2</Description><Scale>LPS</Scale><Proportion>HIB</Proportion>
    <Data>
      <Entry><Identifier>one</Identifier><Value>41.0</Value><RawString>40:41:42</RawString></Entry>
      <Entry><Identifier>two</Identifier><Value>30.5</Value><RawString></RawString></Entry>
    </Data>
  </Result>
  <Result>
    <Identifier>pts/unixbench-1.0.0</Identifier><Title>A Wait</Title><Description></Description>
    <Scale>Seconds</Scale><Proportion>LIB</Proportion>
    <Data><Entry><Identifier>one</Identifier><Value>2.5</Value><RawString>2.5</RawString></Entry></Data>
  </Result>
</PhoronixTestSuite>
"#;

const GEEKBENCH: &str = recorded!("geekbench.json");

const YABS: &str = r#"{"version":"v2025-04-20","time":"20260102-030405","os":{"arch":"x64","distro":"Debian 12",
"kernel":"6.1.0","uptime":5.0,"vm":"KVM"},"net":{"ipv4":true,"ipv6":false},"cpu":{"model":"Fast One","cores":4,
"freq":"2600 MHz","aes":true,"virt":true},"mem":{"ram":8000000,"ram_units":"KiB"},
"fio":[{"bs":"4k","speed_r":120000,"iops_r":30000,"speed_w":121000,"iops_w":30250,"speed_rw":241000,"iops_rw":60250,"speed_units":"KBps"}],
"iperf":[{"mode":"IPv4","provider":"Some","loc":"Place","send":"1.50 Gbits/sec","recv":"busy ","latency":"9 ms"}],
"geekbench":[{"version":6,"single":1500,"multi":2800,"url":"https://example.org"}]}
"#;

const RT_APP: &str = recorded!("rt-app.log");

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());
    &CATALOGUE
}

fn all(text: &str) -> Vec<(Journal, Results)> {
    let journals = import("host-2026-01-02-01.txt", text, catalogue()).unwrap();
    journals
        .into_iter()
        .map(|journal| (journal.clone(), Results::new(&journal, catalogue(), None)))
        .collect()
}

fn one(text: &str) -> (Journal, Results) {
    let mut all = all(text);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn refused(text: &str) -> String {
    import("", text, catalogue()).unwrap_err().to_string()
}

fn row<'a>(results: &'a Results, label: &str) -> &'a Figure {
    let labels: Vec<&String> = results.figures.iter().map(|row| &row.cell.label).collect();
    let found = results.figures.iter().find(|row| row.cell.label == label);
    found.unwrap_or_else(|| panic!("{label} is not among {labels:?}"))
}

/// What stands after a word of a recording.
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    text.split_once(word).unwrap().1.split_whitespace().next().unwrap()
}

fn scores(results: &Results) -> Vec<(String, u32, String)> {
    let of = |row: &Figure| {
        (row.cell.key.test.clone(), row.cell.key.copies, format!("{:.1}", row.score.value))
    };
    results.figures.iter().map(of).collect()
}

#[test]
fn unixbenchs_files_of_one_run_are_one_result() {
    for (report, page) in [(SIX, SIX_PAGE), (FIVE, FIVE_PAGE)] {
        let ((text, text_results), (page, page_results)) = (one(report), one(page));
        assert_eq!(scores(&text_results), scores(&page_results));
        assert_eq!(text.warnings, page.warnings);
        let known = |journal: &Journal| {
            (journal.run.tool.clone(), journal.run.started.clone(), journal.run.cpus)
        };
        assert_eq!(known(&text), known(&page));
        for fact in [
            "system.host",
            "system.os",
            "cpu.model",
            "cpu.features",
            "software.lang",
            "imported.index.1.1",
        ] {
            assert_eq!(text.facts.value(fact), page.facts.value(fact), "{fact}");
        }
        assert_eq!(text_results.indexes().len(), page_results.indexes().len());
    }
    let (wide, results) = one(SIX_WIDE);
    assert_eq!(scores(&results), scores(&one(SIX).1));
    assert!(wide.warnings.iter().any(|warning| warning.text.contains("has no system")));
}

#[test]
fn what_sets_a_version_apart_is_noted() {
    let noted = |text: &str| {
        one(text).0.warnings.iter().any(|warning| warning.text.starts_with("UnixBench 5.1.3 has"))
    };
    assert!(noted(FIVE) && noted(FIVE_PAGE) && !noted(SIX));
    let sides = vec![one(FIVE).1, one(SIX).1];
    let compared = Comparisons::new(sides, &Asked::default());
    assert!(
        compared
            .warnings
            .iter()
            .any(|warning| warning.contains("the tools differ: UnixBench 5.1.3"))
    );
    assert!(compared.comparisons.iter().any(|one| one.cell.key.test == "pipe"));
}

#[test]
fn fio() {
    let (journal, results) = one(FIO);
    assert_eq!(journal.run.tool, "fio 3.33");
    assert_eq!(journal.run.started, "2026-11-22T19:20:35Z");
    let json: serde_json::Value = serde_json::from_str(FIO).unwrap();
    let read = &json["jobs"][0]["read"];
    assert_eq!(Some(row(&results, "randread 4k read iops").score.value), read["iops"].as_f64());
    let p99 = row(&results, "randread 4k read clat p99");
    assert_eq!(Some(p99.score.value * 1e3), read["clat_ns"]["percentile"]["99.000000"].as_f64());
    assert_eq!((p99.cell.unit.as_str(), p99.cell.metric), ("us", Metric::Time));
    assert_eq!(row(&results, "mixed 64k write bw").cell.unit, "KiB/s");
    assert!(journal.facts.value("imported.options-of-mixed-64k").unwrap().contains("rwmixread=50"));
    let failed = FIO.replacen("\"error\": 0", "\"error\": 22", 1);
    assert!(
        one(&failed)
            .0
            .warnings
            .iter()
            .any(|warning| warning.text.contains("it failed with error 22"))
    );
}

#[test]
fn hyperfines_times_are_trials() {
    let (_, results) = one(HYPERFINE);
    let slept = row(&results, "sleep 0.01");
    assert_eq!((slept.n, slept.cell.unit.as_str(), slept.cell.metric), (8, "s", Metric::Time));
    assert!(slept.score.bounded() && slept.score.low > 0.01);
    let longer = row(&results, "sleep 0.02");
    assert!(longer.score.low > slept.score.high);
}

#[test]
fn hackbenchs_runs_are_trials() {
    let (_, results) = one(HACKBENCH);
    let [row] = &results.figures[..] else { panic!("one cell") };
    assert_eq!(row.n, HACKBENCH.matches("Time:").count());
    assert!(
        row.cell.label.starts_with("hackbench: in process mode with 2 groups"),
        "{}",
        row.cell.label
    );
    assert!(row.cell.label.ends_with("200 messages of 100 bytes"));
    let (_, old) = one("Running with 10*40 (== 400) tasks.\nTime: 1.5\n");
    assert_eq!(
        (old.figures[0].cell.label.as_str(), old.figures[0].score.value),
        ("hackbench: with 10*40 (== 400) tasks", 1.5)
    );
    let open = HACKBENCH.rsplit_once("Time:").unwrap().0;
    assert!(refused(open).contains(&format!("in line {}", open.lines().count() - 1)));
    assert!(refused("Running with 10*40 (== 400) tasks.\nTime: soon\n").contains("in line 2"));
}

#[test]
fn schbenchs_runs_are_trials_of_what_each_says_at_its_end() {
    let (_, results) = one(SCHBENCH);
    assert_eq!(row(&results, "schbench requests").n, SCHBENCH.matches("average rps").count());
    let printed = SCHBENCH
        .split("Wakeup Latencies")
        .skip(1)
        .map(|part| after(part, "99.0th: ").parse().unwrap());
    let p99 = |results: &Results| row(results, "schbench Wakeup Latencies p99").score.value;
    assert_eq!(p99(&results), stats::median(&printed.collect::<Vec<f64>>()));
    // Percentiles that are printed during a run are not its result.
    let end = SCHBENCH.lines().position(|line| line.starts_with("average rps")).unwrap() + 1;
    let first = SCHBENCH.lines().take(end).collect::<Vec<_>>().join("\n");
    let interim = first.split("RPS percentiles").next().unwrap().replace("th: ", "th: 9");
    assert_eq!(p99(&one(&format!("{interim}{first}")).1), p99(&one(&first).1));
    assert!(refused(&interim).contains("the average of requests per second at its end"));
    assert!(
        refused(&first.replace("average rps: ", "average rps: x"))
            .contains(&format!("in line {end}"))
    );
}

#[test]
fn sysbench() {
    for (text, label, unit, printed) in [
        (CPU, "sysbench cpu events", "1/s", after(CPU, "events per second:")),
        (FILES, "sysbench fileio reads (random r/w)", "1/s", after(FILES, "reads/s:")),
        (FILES, "sysbench fileio written (random r/w)", "MiB/s", after(FILES, "written, MiB/s:")),
        (
            MEMORY,
            "sysbench memory",
            "MiB/s",
            MEMORY.split(" MiB/sec)").next().unwrap().rsplit('(').next().unwrap(),
        ),
    ] {
        let (journal, results) = one(text);
        let row = row(&results, label);
        assert_eq!((row.score.value, row.cell.unit.as_str()), (printed.parse().unwrap(), unit));
        assert_eq!(journal.run.tool, "sysbench 1.0.20");
    }
    assert_eq!(one(CPU).1.figures[0].cell.key.copies, 2, "threads");
    let events: f64 = after(THREADS, "total number of events:").parse().unwrap();
    let rate = row(&one(THREADS).1, "sysbench events").score.value;
    assert!((rate / events - 1.0).abs() < 0.01, "a run of a second: {rate}");
    assert_eq!(row(&one(CPU).1, "sysbench cpu latency avg").cell.unit, "ms");
    let cut = CPU.split_once("Threads fairness").unwrap().0;
    assert!(refused(cut).starts_with(&format!("it ends at line {}, without", cut.lines().count())));
    assert!(refused(&CPU.replace("1.0.20", "2.0.1")).contains("'2.0.1' (line 1)"));
}

#[test]
fn lmbenchs_systems_are_runs() {
    let systems = all(LMBENCH);
    let [(one, results), (two, others)] = &systems[..] else { panic!("two systems") };
    assert_eq!((one.run.host.as_str(), two.run.host.as_str()), ("one", "two"));
    assert_eq!(one.run.tool, "lmbench 3.0");
    let exec = row(results, "sh proc");
    assert_eq!(
        (exec.n, exec.score.value, exec.cell.metric),
        (2, 1225.0, Metric::Time),
        "1.2K and 1250"
    );
    assert_eq!(row(results, "TCP bandwidth").score.value, 5000.0);
    assert_eq!(row(others, "stat").score.value, 0.51, "after an empty column");
    assert!(others.figures.iter().all(|row| row.cell.label != "null I/O"));
    assert!(refused(&LMBENCH.replace("3 . 0", "9 . 0")).contains("'9.0' (line 2)"));
    assert!(refused(&LMBENCH.replace("110.", "11x.")).contains("in line 11"));
    let (other, _) = &all(&LMBENCH.replacen(" ----\none", "\none", 1))[0];
    assert!(other.warnings.iter().any(|warning| warning.text.contains("(line 10) is left out")));
    assert_eq!(all(LMBENCH.trim_end()).len(), 2, "only the last newline is missing");
    let cut = LMBENCH.trim_end().trim_end_matches('.');
    assert!(refused(cut).starts_with(&format!("it ends at line {}", LMBENCH.lines().count())));
}

#[test]
fn phoronixs_systems_are_runs() {
    let systems = all(PHORONIX);
    let [(one, results), (two, others)] = &systems[..] else { panic!("two systems") };
    assert_eq!(
        (one.run.tool.as_str(), one.run.host.as_str()),
        ("Phoronix Test Suite 10.8.4", "one")
    );
    assert_eq!(
        (one.run.started.as_str(), two.run.started.as_str()),
        ("2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z")
    );
    let label = "BYTE Unix Benchmark, Computational Test: Dhrystone 2";
    let dhry = row(results, label);
    assert_eq!((dhry.n, dhry.score.value, dhry.cell.unit.as_str()), (3, 41.0, "LPS"));
    assert_eq!(row(others, label).score.value, 30.5);
    assert_eq!(row(results, "A Wait").cell.metric, Metric::Time);
    assert_eq!((results.figures.len(), others.figures.len()), (2, 1));
    assert_eq!(one.facts.value("kernel.release"), Some("6.1.0 (x86_64)"));
    let cut = &PHORONIX[..PHORONIX.len() - 60];
    assert!(
        refused(cut).starts_with("it is XML that is damaged or truncated at line"),
        "{}",
        refused(cut)
    );
    assert!(refused(&PHORONIX.replace("v10.8.4", "v99.1")).contains("(line 3)"));
    let (one, _) = &all(&PHORONIX.replace("30.5", "much"))[0];
    assert!(
        one.warnings
            .iter()
            .any(|warning| warning.text.ends_with("its value 'much' is not a number (line 11)"))
    );
}

#[test]
fn geekbench_and_yabs() {
    let (journal, results) = one(GEEKBENCH);
    assert_eq!(journal.run.tool, "Geekbench 6.2.1");
    assert_eq!(row(&results, "Multi-Core Clang").score.value, 3100.0);
    assert_eq!(row(&results, "Single-Core Score").cell.unit, "points");
    assert!(refused(&GEEKBENCH.replace("6.2.1", "9.0.0")).contains("'9.0.0' (line 2)"));
    let (journal, results) = one(YABS);
    assert_eq!((journal.run.tool.as_str(), journal.run.cpus), ("YABS v2025-04-20", 4));
    assert_eq!(journal.run.started, "2026-01-02T03:04:05Z");
    assert_eq!(row(&results, "fio 4k total").score.value, 241_000.0);
    assert_eq!(row(&results, "Geekbench 6 multi").score.value, 2800.0);
    let sent = row(&results, "iperf IPv4 Some Place send");
    assert_eq!((sent.score.value, sent.cell.unit.as_str()), (1500.0, "Mbit/s"));
    assert_eq!(
        results.figures.iter().filter(|row| row.cell.unit == "Mbit/s").count(),
        1,
        "busy is no speed"
    );
    let latency = row(&results, "iperf IPv4 Some Place latency");
    assert_eq!((latency.score.value, latency.cell.unit.as_str()), (9.0, "ms"));
    assert!(refused(&YABS.replace("v2025-04-20", "2")).contains("'2' (line 1)"));
}

#[test]
fn rt_apps_log() {
    let (journal, results) = one(RT_APP);
    assert_eq!(row(&results, "wu_lat mean").score.value, 60.0);
    assert_eq!(row(&results, "run mean").score.value, 2020.0);
    assert_eq!(journal.facts.value("imported.missed"), Some("1 of 2"));
    let (cut, _) = one(RT_APP.trim_end().trim_end_matches('5'));
    assert_eq!(cut.facts.value("imported.missed"), Some("0 of 1"));
    let (other, _) = one(&RT_APP.replace("2030", "inf"));
    assert_eq!(other.facts.value("imported.missed"), Some("0 of 1"));
    assert!(other.warnings[0].text.starts_with("line 4 is not understood and left out"));
}

/// A log in the form of MangoHud's documentation: each hundredth frame takes 50 ms, the others
/// `usual`.
fn mangohud(frames: usize, usual: f64) -> String {
    let head = "os,cpu,gpu,ram,kernel,driver,cpuscheduler\n\
                Debian,AMD Ryzen 7,AMD Radeon,32 GB,6.12.1,Mesa 25,schedutil\nfps,frametime,cpu_load,elapsed\n";
    let mut log = head.to_owned();
    let mut elapsed = 0.0;
    for number in 0..frames {
        let time = if number % 100 == 99 { 50.0 } else { usual };
        elapsed += time;
        log += &format!("{},{time},50,{}\n", 1e3 / time, elapsed * 1e6);
    }
    log
}

#[test]
fn mangohuds_frames() {
    let log = mangohud(4000, 10.0);
    let (journal, results) = one(&log);
    let value = |label: &str| row(&results, label).score.value;
    // 99 frames of 10 ms and one of 50 take 1.04 s; 20 frames per second are one in 50 ms.
    assert!((value("frames") - 96.15).abs() < 0.5, "{}", value("frames"));
    assert_eq!((value("1 % low"), row(&results, "1 % low").n), (20.0, 4));
    assert!(
        results.figures.iter().all(|row| row.cell.label != "0.1 % low"),
        "4000 frames have no ten thousandths"
    );
    assert!((value("change between frames") - 0.8).abs() < 0.1);
    let stutters = journal.facts.value("imported.frames-over-twice-the-median-time");
    assert_eq!(
        (stutters, journal.facts.value("cpu.model")),
        (Some("40 of 4000"), Some("AMD Ryzen 7"))
    );
    // Older versions log microseconds.
    let old: String = log
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let time = fields[1]
                .parse::<f64>()
                .map_or(fields[1].to_owned(), |time| (1e3 * time).to_string());
            [&[fields[0], &time], &fields[2..]].concat().join(",") + "\n"
        })
        .collect();
    assert_eq!(row(&one(&old).1, "1 % low").score.value, 20.0);
    assert!(
        refused(&log.replacen("100,10,50,", "100,fast,50,", 1)).contains("frame time in line 4")
    );
    let (cut, _) = one(log.trim_end().rsplit_once(',').unwrap().0);
    assert!(cut.warnings.iter().any(|warning| warning.text.starts_with("line 4003 is left out")));
}

#[test]
fn presentmons_frames_are_an_applications() {
    for (columns, time) in [
        ("TimeInSeconds,Dropped,msBetweenPresents", 10.0),
        ("CPUStartTime,FrameTime,CPUBusy", 20.0),
    ] {
        let place = columns.split(',').position(|name| {
            name != "CPUBusy" && (name.contains("Between") || name == "FrameTime")
        });
        let mut log = format!("Application,ProcessID,{columns}\n");
        for number in 0..800 {
            let mut fields = ["1".to_owned(), "1".to_owned(), "1".to_owned()];
            fields[place.unwrap()] = if number == 0 { "NA".to_owned() } else { time.to_string() };
            log += &format!(
                "{},7,{}\n",
                if number % 4 == 0 { "shell.exe" } else { "game.exe" },
                fields.join(",")
            );
        }
        let (journal, results) = one(&log);
        assert_eq!(journal.run.tool, "PresentMon");
        assert_eq!(row(&results, "game.exe frames").score.value, 1e3 / time);
        assert_eq!(row(&results, "shell.exe frames").score.value, 1e3 / time);
        assert_eq!(
            results.figures.len(),
            2,
            "too few for lows, and each frame as long as the last"
        );
    }
}

#[test]
fn half_files_and_unknown_versions_of_unixbench_are_refused_by_line() {
    let cut = SIX_PAGE.split_once("</body>").unwrap().0;
    assert!(
        refused(cut)
            .starts_with(&format!("it ends at line {}, without </html>", cut.lines().count()))
    );
    assert!(refused(&SIX_PAGE.replace("6.0.0", "6.1.0")).contains("'6.1.0' (line"));
    assert!(
        refused(&SIX_WIDE[..SIX_WIDE.len() - 20])
            .starts_with("it ends at line 3 without a newline, perhaps within a figure")
    );
    assert!(refused(&SIX_WIDE.replace("793520.2", "fast")).contains("in line 2: 'fast'"));
    assert!(refused(&SIX_WIDE.replace("\n2,", "\n0,")).contains("in line 3"));
    assert!(refused(&FIO[..FIO.len() / 2]).contains("it is JSON that is damaged or truncated"));
    assert!(refused(&FIO.replace("fio-3.33", "fio-9.1")).contains("'fio-9.1' (line 2)"));
    // Lines are counted as an editor counts them.
    assert!(
        refused(&SIX_WIDE.replace("793520.2", "fast").replace('\n', "\r\n"))
            .contains("in line 2: 'fast'")
    );
}

const FRAMES: &str = "Application,FrameTime\na,16.7\nb,16.6\na,NA\na,33.4\n";

const FILES_READ: [&str; 32] = [
    FRAMES,
    SIX,
    SIX_PAGE,
    SIX_WIDE,
    FIVE,
    FIVE_PAGE,
    FIO,
    HYPERFINE,
    CYCLIC,
    CYCLIC_JSON,
    CYCLIC_HISTOGRAM,
    TIMERLAT_HISTOGRAM,
    TIMERLAT_TOP,
    OSNOISE_TOP,
    HACKBENCH,
    CPU,
    MEMORY,
    FILES,
    LMBENCH,
    PHORONIX,
    GEEKBENCH,
    YABS,
    RT_APP,
    THREADS,
    recorded!("gobench-base.txt"),
    recorded!("gobench-events.txt"),
    recorded!("gbench.json"),
    recorded!("criterion.txt"),
    recorded!("pytest-benchmark.json"),
    recorded!("jmh.json"),
    recorded!("nanobench.json"),
    r#"{"parse": 12.5, "print": 3}"#,
];

fn survives(text: &str) {
    match import("host-2026-01-02-01.log", text, catalogue()) {
        Err(error) => assert!(error.to_string().starts_with("it "), "{error}"),
        Ok(journals) => {
            let results: Vec<Results> =
                journals.iter().map(|one| Results::new(one, catalogue(), None)).collect();
            for row in results.iter().flat_map(|results| &results.figures) {
                assert!(row.score.value.is_finite() && row.seconds.is_finite());
            }
            assert!(results.iter().all(|results| !results.figures.is_empty()));
            let twice = [results.clone(), results].concat();
            let _ = Comparisons::new(twice, &Asked::default());
        }
    }
}

fn file() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&FILES_READ[..])
}

fn awkward() -> impl Strategy<Value = String> {
    let known = [
        "nan",
        "1e999",
        "-1",
        "0",
        "99999999999999999999",
        "1e-300",
        "(",
        ")",
        "<",
        ">",
        "\"",
        ",",
        "",
        "é",
        "\n",
    ];
    prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), ".{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn cut_anywhere(text in file(), from in any::<Place>(), to in any::<Place>()) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let (from, to) = (places[from.index(places.len())], places[to.index(places.len())]);
        survives(&text[..from]);
        survives(&format!("{}{}", &text[..from], &text[to..]));
    }

    #[test]
    fn other_words(text in file(), words in proptest::collection::vec((any::<Place>(), awkward()), 1..12)) {
        let mut parts: Vec<String> = text.split_inclusive([' ', '\n', '>', ':', ',']).map(str::to_owned).collect();
        for (place, word) in words {
            let place = place.index(parts.len());
            let end = parts[place].chars().last().unwrap();
            parts[place] = format!("{word}{end}");
        }
        survives(&parts.concat());
    }
}
