//! Files as users bring them (`tests/cases/imports`): several runs in one, lines around, other
//! encodings, cut or old. Each gives these lines: its runs with their figures and warnings, or the
//! refusal.
#![cfg(test)]

extern crate unixmark_interop as interop;

use std::io::Write;

use catalogue::{Catalogue, Metric};
use flate2::{Compression, write::GzEncoder};
use journal::Journal;

macro_rules! brought {
    ($name:literal) => {
        include_str!(concat!("../../../tests/cases/imports/", $name))
    };
}

const UNIXBENCH: &str = brought!("ub_one.txt");
const FIO: &str = brought!("fio_plain.json");
const SYSBENCH: &str = brought!("sb_1.txt");
const TWINS: &str = brought!("pts_twins.xml");
const INTERVAL: &str = brought!("mango_interval.csv");

const HACKBENCH: &str = "\
Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)
Each sender will pass 100 messages of 100 bytes
Time: 1.234
";

const CYCLICTEST: &str = "\
# /dev/cpu_dma_latency set to 0us
T: 0 ( 2604) P:95 I:1000 C: 349868 Min:      4 Act:    6 Avg:    5 Max:      30
T: 1 ( 2605) P:95 I:1500 C: 349868 Min:      3 Act:    6 Avg:    5 Max:      31
";

/// After Michal Piotrowski's (LKML, 19 Aug 2005) and Gabriel Devenyi's (3 Aug 2005).
const INTERBENCH: &str = "\
Using 1844991 loops per ms, running every load for 30 seconds
Benchmarking kernel 2.6.13-rc6-2 at datestamp 200508181941

--- Benchmarking simulated cpu of Audio in the presence of simulated ---
Load    Latency +/- SD (ms)  Max Latency   % Desired CPU  % Deadlines Met
Burn      0.199 +/- 1.17          16             100           99.8

--- Benchmarking simulated cpu of Gaming in the presence of simulated---
Load    Latency +/- SD (ms)  Max Latency   % Desired CPU
Burn        400 +/- nan         1004            20.1

";

/// Warnings of nearly every case.
const USUAL: [&str; 2] = ["the file has no time stamp", "UnixBench 5.1.3 has the tests"];

const UNIXBENCH_LINES: [&str; 3] = [
    "UnixBench 5.1.3, alpha, 2026-01-01T12:00:00Z",
    "Dhrystone 2 using register variables: 11670000 lps",
    "Pipe Throughput: 1244000 lps",
];

const FIO_LINES: [&str; 6] = [
    "fio 3.36, 2026-01-01T00:00:00Z",
    "j read iops: 1000 IOPS",
    "j read bw: 4000 KiB/s",
    "j read clat mean: 20 us lower",
    "j read clat p50: 19 us lower",
    "j read clat p99: 80 us lower",
];

const TWIN_LINES: [&str; 3] = [
    "Phoronix Test Suite 10.8.4, box, 2026-01-01T00:00:00Z",
    "Z, Level: 3 (MB/s): 99 101 MB/s",
    "Z, Level: 3 (Seconds): 6 8 Seconds lower",
];

fn lines(content: impl AsRef<[u8]>) -> Vec<String> {
    match interop::import("x", &content, &Catalogue::load().unwrap()) {
        Err(error) => vec![format!("refused: {error}")],
        Ok(journals) => journals.iter().flat_map(lines_of).collect(),
    }
}

fn lines_of(journal: &Journal) -> Vec<String> {
    let run = &journal.run;
    let heads = [&run.tool, &run.host, &run.started].map(String::as_str);
    let heads: Vec<&str> = heads.into_iter().filter(|head| !head.is_empty()).collect();
    let mut lines = vec![heads.join(", ")];
    for cell in &journal.cells {
        let trials = journal.trials.iter().filter(|trial| trial.cell == cell.id);
        let values: Vec<String> =
            trials.filter_map(|trial| Some(trial.score.as_ref()?.value.to_string())).collect();
        let copies = match cell.key.copies {
            1 => String::new(),
            copies => format!(" x{copies}"),
        };
        let direction = if cell.metric == Metric::Time { " lower" } else { "" };
        let values = values.join(" ");
        lines.push(format!("{}{copies}: {values} {}{direction}", cell.label, cell.unit));
    }
    let warnings = journal.warnings.iter().map(|warning| &warning.text);
    let unusual = warnings.filter(|text| !USUAL.iter().any(|usual| text.starts_with(usual)));
    lines.extend(unusual.map(|text| format!("! {text}")));
    lines
}

#[track_caller]
fn assert_lines(content: impl AsRef<[u8]>, expected: &[&str]) {
    assert_eq!(lines(content), expected);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn imports_2_appended_reports_are_runs() {
    let beta = [
        "UnixBench 5.1.3, beta, 2026-01-02T12:00:00Z",
        "Dhrystone 2 using register variables: 23340000 lps",
        "Pipe Throughput: 2488000 lps",
    ];
    assert_lines(brought!("ub_two_reports.txt"), &[&UNIXBENCH_LINES[..], &beta].concat());

    // The second has lost its title.
    let (_, headless) = brought!("ub_beta.txt").split_once("(5000.0 bogomips)").unwrap();
    let unnamed = ["UnixBench, 2026-01-02T12:00:00Z", beta[1], beta[2]];
    assert_lines(format!("{UNIXBENCH}{headless}"), &[&UNIXBENCH_LINES[..], &unnamed].concat());

    // The first has lost its title.
    let (_, headless) = UNIXBENCH.split_once("(5000.0 bogomips)").unwrap();
    let both = lines(format!("{headless}{}", brought!("ub_beta.txt")));
    assert_eq!(both[0], "UnixBench, 2026-01-01T12:00:00Z");
    assert_eq!(both[3..], beta);

    let byte = include_str!("../../../tests/vectors/byte311_run1_report.txt");
    let alone = lines(byte);
    assert_eq!(lines(format!("{byte}{byte}")), [alone.clone(), alone].concat());
    let log = include_str!("../../../tests/vectors/unixbench_two_levels.log");
    let alone = lines(log);
    assert_eq!(lines(format!("{log}{log}")), [alone.clone(), alone].concat());
}

#[test]
fn imports_3_each_run_of_sysbench_is_one() {
    let [one, four] = [lines(SYSBENCH), lines(brought!("sb_4.txt"))];

    assert_lines(
        SYSBENCH,
        &[
            "sysbench 1.0.20",
            "sysbench cpu events: 1000 1/s",
            "sysbench cpu latency avg: 1 ms lower",
            "sysbench cpu latency max: 2 ms lower",
            "sysbench cpu latency 95th percentile: 1.1 ms lower",
        ],
    );
    assert_eq!(four[1], "sysbench cpu events x4: 3900 1/s");
    assert_eq!(lines(brought!("sb_two_runs.txt")), [&one[..], &four].concat());
    // The end of another run stands before it.
    let (_, end) = SYSBENCH.split_once("CPU speed:").unwrap();
    assert_eq!(lines(format!("{end}{}", brought!("sb_4.txt"))), four);
    let cut = format!("{SYSBENCH}{}", &SYSBENCH[..500]);
    assert_lines(
        cut,
        &[
            "refused: it ends at line 45, without its last section, Threads fairness: it is truncated; \
           import the whole file",
        ],
    );
}

#[test]
fn several_runs_of_a_text_are_as_many_runs() {
    let next = CYCLICTEST.replace(" 26", " 27").replace("30\n", "90\n");
    assert_lines(
        format!("{CYCLICTEST}{next}"),
        &[
            "cyclictest",
            "cyclictest Min x2: 3 us lower",
            "cyclictest Avg x2: 5 us lower",
            "cyclictest Max x2: 31 us lower",
            "cyclictest",
            "cyclictest Min x2: 3 us lower",
            "cyclictest Avg x2: 5 us lower",
            "cyclictest Max x2: 90 us lower",
        ],
    );

    for text in [
        INTERBENCH,
        INTERVAL,
        TWINS,
        brought!("make_see.txt"),
        include_str!("../../../tests/vectors/imports/cyclictest-histogram.txt"),
        include_str!("../../../tests/vectors/imports/rtla-timerlat-hist.txt"),
        include_str!("../../../tests/vectors/imports/unixbench-6.0.0.html"),
        include_str!("../../../tests/vectors/imports/unixbench-6.0.0.csv"),
    ] {
        let alone = lines(text);
        assert_eq!(lines(format!("{text}\n{text}")), [alone.clone(), alone].concat());
    }
}

/// As mails have them: repetitions are samples of one run, what other words divide are runs.
#[test]
fn hackbench_and_schbench_below_other_words_are_runs() {
    let hackbench = |times: [&str; 2]| {
        let runs = times.map(|time| HACKBENCH.replace("1.234", time));
        format!("$ hackbench 10\n{}$ hackbench 10\n{}", runs[0], runs[1])
    };
    let label = "hackbench: in process mode with 10 groups using 40 file descriptors each (== 400 \
                 tasks), 100 messages of 100 bytes";
    assert_lines(
        format!("master:\n{}patched:\n{}", hackbench(["1.1", "1.2"]), hackbench(["2.1", "2.2"])),
        &[
            "hackbench",
            &format!("{label}: 1.1 1.2 s lower"),
            "hackbench",
            &format!("{label}: 2.1 2.2 s lower"),
        ],
    );

    let schbench = brought!("full_schbench.txt");
    let found = lines(format!("DELAY_ZERO\n{schbench}\nNO_DELAY_ZERO\n{schbench}"));
    assert_eq!(found.iter().filter(|line| *line == "schbench").count(), 2, "{found:?}");
}

#[test]
fn fio_672_documents_of_a_status_interval_are_runs() {
    let later = FIO.replace("1767225600", "1767225610");
    let mut both = FIO_LINES.to_vec();
    both.push("fio 3.36, 2026-01-01T00:00:10Z");
    both.extend(&FIO_LINES[1..]);

    assert_lines(format!("{FIO}{later}"), &both);
    assert_lines(format!("{FIO}{later}").replace('\n', " "), &both);
    assert_lines(format!("[{FIO},{later}]"), &both);

    let mut interrupted = FIO_LINES.to_vec();
    interrupted.push("! 4 lines after the JSON are left out: '{'");
    interrupted.push(
        "! JSON that is damaged or truncated is left out: EOF while parsing an object at line 10 \
         column 82",
    );
    assert_lines(format!("{FIO}{}", &FIO[..200]), &interrupted);
}

#[test]
fn documents_of_a_program_are_one_run_unless_they_share_figures() {
    assert_lines("{\"a\": 1}\n{\"b\": 2}\n", &["JSON", "a: 1 ", "b: 2 "]);
    assert_lines("{\"a\": 1}\n{\"a\": 3}\n", &["JSON", "a: 1 ", "JSON", "a: 3 "]);
}

#[test]
fn fio_1333_lines_around_a_document_are_left_out() {
    let with = |notes: &[&'static str]| [&FIO_LINES[..], notes].concat();
    for (text, notes) in [
        (
            brought!("fio_text_before.json").to_owned(),
            &[
                "! 2 lines before the JSON are left out: 'fio: this platform does not support process \
               shared mutexes, …'",
            ][..],
        ),
        (
            format!("{FIO}\nfio: done\n$ \n"),
            &["! 2 lines after the JSON are left out: 'fio: done'"],
        ),
        (
            format!("Hi\n```json\n{FIO}```\nbye\n"),
            &[
                "! 2 lines before the JSON are left out: 'Hi'",
                "! 2 lines after the JSON are left out: '```'",
            ],
        ),
        (
            format!("[1] 4711\n{{\"a\": 1}}\n{FIO}"),
            &["! 2 lines before the JSON are left out: '[1] 4711'"],
        ),
    ] {
        assert_lines(text, &with(notes));
    }

    assert_lines(
        brought!("gb_log_before.json").replace("\"date\": \"2026-01-02T03:04:05+00:00\", ", ""),
        &[
            "Google Benchmark",
            "BM_a: 98 ns lower",
            "! Google Benchmark's library was built for debugging, which its times may show",
            "! frequency scaling was on, so the times may be noisy",
            "! 2 lines before the JSON are left out: 'Running ./bench'",
        ],
    );
    let mut around = TWIN_LINES.to_vec();
    around.push("! 1 line before the XML is left out: '$ cat composite.xml'");
    around.push("! 1 line after the XML is left out: '$'");
    assert_lines(format!("$ cat composite.xml\n{TWINS}\n$ \n"), &around);
}

#[test]
fn fio_and_memtier_271_a_figure_that_is_no_number_is_left_out_alone() {
    for word in ["nan", "NaN", "-Infinity", "1e999"] {
        let text = FIO.replace("1000.0", word);
        let rows = lines(text);
        assert_eq!(rows[..2], ["fio 3.36, 2026-01-01T00:00:00Z", "j read iops:  IOPS"]);
        assert_eq!(rows[2..6], FIO_LINES[2..]);
        assert!(rows[6].starts_with("! 'j read iops' has no value: it is "), "{}", rows[6]);
    }
}

#[test]
fn imports_17_a_bracket_does_not_make_json() {
    assert_lines(brought!("ub_bracket.txt"), &UNIXBENCH_LINES);
    assert_lines(brought!("ub_brace.txt"), &UNIXBENCH_LINES);
    assert_eq!(lines(format!("[ 2s ] thds: 4 eps: 1\n{SYSBENCH}")), lines(SYSBENCH));
    assert_lines(brought!("crit_color.txt"), &["criterion", "hash/sha: 1200 ns lower"]);
    for damaged in [
        "[{\"name\": \"a\", \"unit\": \"ns\", \"value\": 1},]",
        "{\"a_ns\": 1, 'b_ns': 2}",
        " [ { \"a\" 1}]\n",
    ] {
        let refused = lines(damaged);
        assert!(refused[0].contains("JSON that is damaged or truncated"), "{refused:?}");
    }
    assert_lines(
        FIO.replace("\"jobs\"", "oops \"jobs\""),
        &[
            "refused: it is JSON that is damaged or truncated: key must be a string at line 3 column \
           3; import the whole file",
        ],
    );
}

#[test]
fn imports_23_every_encoding_is_read() {
    for bytes in [
        include_bytes!("../../../tests/cases/imports/ub_utf16.txt").to_vec(),
        include_bytes!("../../../tests/cases/imports/ub_one.txt.gz").to_vec(),
        brought!("ub_crlf.txt").into(),
        utf16(UNIXBENCH, u16::to_le_bytes),
        utf16(UNIXBENCH, u16::to_be_bytes),
        gzip(&utf16(UNIXBENCH, u16::to_be_bytes)),
        format!("\u{feff}{UNIXBENCH}").into(),
        UNIXBENCH.replace("Pipe T", "\u{1b}[1;32mPipe\u{1b}[0m T").into(),
        format!("\u{1b}]0;a title\u{7}{UNIXBENCH}").into(),
        UNIXBENCH
            .lines()
            .map(|line| format!("2026-01-01T12:00:00.1234567Z {line}\n"))
            .collect::<String>()
            .into(),
        UNIXBENCH.replace("CPU of", "M\u{e4}h of").chars().map(|c| c as u8).collect(),
    ] {
        assert_lines(bytes, &UNIXBENCH_LINES);
    }
    assert_lines(
        b"\xfd7zXZ\0\0",
        &["refused: it is compressed (xz); import what `xz -dc FILE` prints, from a file"],
    );
}

/// A mail as it is sent: lines of more than 76 characters are divided.
#[test]
fn imports_23_a_quoted_printable_mail_is_read() {
    let head = "From: a@b\nContent-Transfer-Encoding: quoted-printable\n\n";
    let divided = UNIXBENCH.replace('=', "=3D").replace(" samples)", " sam=\nples)");
    for mail in [format!("{head}{divided}"), format!("{head}{divided}").replace('\n', "\r\n")] {
        assert_lines(mail, &UNIXBENCH_LINES);
    }

    let refused = lines("From: a@b\nContent-Transfer-Encoding: base64\n\nYWJj\n");
    assert!(refused[0].contains("a mail with an encoded text; import the text, as"), "{refused:?}");
}

#[test]
fn imports_23_decimal_commas_are_read() {
    let commas = |text: &str| {
        let places = text.char_indices().filter(|(at, c)| {
            let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
            *c == '.' && digit(at - 1) && digit(at + 1)
        });
        let mut bytes = text.as_bytes().to_vec();
        places.for_each(|(at, _)| bytes[at] = b',');
        String::from_utf8(bytes).unwrap()
    };
    let report = commas(UNIXBENCH).replace("5,1,3", "5.1.3");
    let mut expected = UNIXBENCH_LINES.to_vec();
    expected.push("! its numbers have decimal commas, as '5000,0': they are read so");
    assert_lines(report, &expected);

    let sysbench = commas(SYSBENCH).replace("1,0,20", "1.0.20");
    let mut expected = lines(SYSBENCH);
    expected.push("! its numbers have decimal commas, as '1000,00': they are read so".to_owned());
    assert_eq!(lines(sysbench), expected);

    // Here they group thousands.
    assert_lines(
        "test a ... bench:       1,510 ns/iter (+/- 20)\n",
        &["criterion", "a: 1510 ns lower"],
    );
}

#[test]
fn imports_31_quoted_reports_are_read() {
    assert_lines(brought!("ub_quoted.txt"), &UNIXBENCH_LINES);
    let quoted = |mark: &str| {
        let lines = UNIXBENCH.lines().map(|line| format!("{mark}{line}\n"));
        format!("Hello,\n\nyou wrote:\n{}\nBye\n", lines.collect::<String>())
    };
    for mark in [">", "> ", ">> ", "> > "] {
        assert_eq!(lines(quoted(mark))[..3], UNIXBENCH_LINES, "{mark}");
    }
}

#[test]
fn imports_15_a_cut_number_is_no_figure() {
    const REST: &str = "import the whole file, or add the newline if it is whole";
    let table = brought!("make_see.txt").split_once("make[1]: Leaving").unwrap().0.trim_end();
    for (cut, line, quoted) in [
        (
            brought!("cut_cyclictest.txt"),
            1,
            "T: 0 ( 2604) P:95 I:1000 C: 349868 Min:      4 Act:    6 Avg…",
        ),
        (brought!("cut_hackbench.txt"), 3, "Time: 1"),
        (brought!("cut_schbench.txt"), 18, "average rps: 15"),
        (HACKBENCH.trim_end().trim_end_matches('4'), 3, "Time: 1.23"),
        (
            table.trim_end_matches('0'),
            12,
            "box       Linux 6.1.0-1   1.50   1.60   1.70   2.10   2.20  …",
        ),
    ] {
        let said = format!(
            "refused: it ends at line {line} without a newline, perhaps within a figure: '{quoted}'; {REST}"
        );
        assert_lines(cut, &[&said]);
    }
    // As of a program that prints them, figures are named.
    assert_lines(
        brought!("cut_go.txt"),
        &["refused: it looks like the output of go test -bench or criterion, but has no result: \
           'BenchmarkOne' has no value: its line is cut off; import the whole output of a run that \
           succeeded"],
    );

    let mut cut = UNIXBENCH_LINES.to_vec();
    cut.push("! the report has no index of 1 copy: it may be truncated, and tests may be missing");
    cut.push(
        "! line 20 is left out, since it has no newline and its figures may be cut: \
         'System Benchmarks Index Score (Partial Only)                …'",
    );
    assert_lines(UNIXBENCH.trim_end().trim_end_matches('0'), &cut);
}

#[test]
fn imports_18_a_missing_last_newline_is_no_cut() {
    let table = brought!("make_see.txt").split_once("make[1]: Leaving").unwrap().0;
    for whole in [
        UNIXBENCH,
        brought!("full_schbench.txt"),
        brought!("schbench_old.txt"),
        brought!("go_8.txt"),
        brought!("crit_names.txt"),
        HACKBENCH,
        CYCLICTEST,
        SYSBENCH,
        FIO,
        TWINS,
        table,
        include_str!("../../../tests/vectors/imports/rtla-timerlat-hist.txt"),
        include_str!("../../../tests/vectors/imports/unixbench-6.0.0.csv"),
        include_str!("../../../tests/vectors/imports/unixbench-6.0.0.html"),
        include_str!("../../../tests/vectors/imports/cyclictest-histogram.txt"),
    ] {
        assert_eq!(lines(whole.trim_end()), lines(whole));
    }
}

#[test]
fn imports_4_cyclictests_unit_is_read() {
    assert_lines(
        brought!("cyc_ns.json").replace("\"return_code\": 0", "\"return_code\": 1"),
        &[
            "cyclictest 2.6, box, 2026-01-01T00:00:00Z",
            "cyclictest Min: 3 us lower",
            "cyclictest Avg: 4.5 us lower",
            "cyclictest Max: 90 us lower",
            "! cyclictest ended with status 1: what it measured until then counts",
        ],
    );
}

/// As LKML has them: columns that a figure fills, and -N in the command line.
#[test]
fn cyclictest_s_columns_may_be_full_and_its_unit_in_the_command_line() {
    let summary = "T: 0 (12346) P:98 I:200 C:10000000 Min:   1500 Act:12345678 Avg:    4200 \
                   Max:12345678\n";
    for (command, unit) in [("", "us"), ("# cyclictest -m -i 200 -l 9\n", "us")]
        .into_iter()
        .chain([("$ sudo cyclictest -Sp98 -mN -q\n", "ns"), ("cyclictest -m --nsecs\n", "ns")])
    {
        assert_lines(
            format!("{command}{summary}"),
            &[
                "cyclictest",
                &format!("cyclictest Min: 1500 {unit} lower"),
                &format!("cyclictest Avg: 4200 {unit} lower"),
                &format!("cyclictest Max: 12345678 {unit} lower"),
            ],
        );
    }
}

#[test]
fn imports_1_and_19_phoronixs_results_are_told_apart() {
    assert_lines(TWINS, &TWIN_LINES);
    let arguments =
        TWINS.replacen("<Arguments>-a<", "<Arguments>-b<", 1).replace("Seconds", "MB/s");
    assert_eq!(
        lines(arguments)[1..],
        ["Z, Level: 3 (-b): 99 101 MB/s", "Z, Level: 3 (-a): 6 8 MB/s lower"]
            .map(|line| line.to_owned())
    );

    assert_lines(
        brought!("pts_pass_fail.xml"),
        &[
            "Phoronix Test Suite 10.8.4, box, 2026-01-01T00:00:00Z",
            "F: 264 Seconds lower",
            "! 'F' (line 6) is no figure but PASS_FAIL: it is left out",
        ],
    );
    assert_lines(
        "<?xml version=\"1.0\"?>\n<PhoronixTestSuite>\n<Result></Result>\n</PhoronixTestSuite>\n",
        &[
            "refused: it is a part of a result of the Phoronix Test Suite, without its systems; import \
           composite.xml beside it",
        ],
    );
}

#[test]
fn imports_11_frames_are_those_of_the_log() {
    let interval = lines(INTERVAL);
    assert!(interval[1].starts_with("frames: 190 190 190"), "{}", interval[1]);
    assert_eq!(
        interval[2],
        "! one frame was logged every 100.0 ms, not each: there are no lows and no change between frames"
    );
    assert_eq!(interval.len(), 3);

    assert_lines(
        brought!("presentmon_dropped.csv"),
        &["PresentMon", "game.exe frames: 100 fps", "game.exe #2 frames: 100 fps"],
    );
}

#[test]
fn imports_18_lmbench_2_and_what_make_says_are_read() {
    assert_lines(
        brought!("lmbench2.txt"),
        &[
            "lmbench 2.0, box",
            "0K File Create: 60 us lower",
            "0K File Delete: 15 us lower",
            "10K File Create: 180 us lower",
            "10K File Delete: 30 us lower",
            "Mmap Latency: 400 us lower",
            "Prot Fault: 0.7 us lower",
            "Page Fault: 2 us lower",
            "L1 $: 3.75 ns lower",
            "L2 $: 8.75 ns lower",
            "Main mem: 150 ns lower",
        ],
    );
    let see = lines(brought!("make_see.txt"));
    assert_eq!(see[1], "2p/0K ctxsw: 1.5 us lower");
    assert_eq!(see.len(), 8);
}

#[test]
fn imports_20_fios_other_latencies_are_read() {
    assert_lines(
        brought!("fio_lat_percentiles.json"),
        &[
            "fio 3.36, 2026-01-01T00:00:00Z",
            "j write iops: 1000 IOPS",
            "j write bw: 4000 KiB/s",
            "j write clat mean: 20 us lower",
            "j write lat mean: 25 us lower",
            "j write lat p50: 24 us lower",
            "j write lat p99: 85 us lower",
            "j sync lat mean: 500 us lower",
            "j sync lat p50: 400 us lower",
            "j sync lat p99: 2000 us lower",
        ],
    );
}

/// axboe/fio#1198: one way in place of two.
#[test]
fn fio_1198_mixed_reads_and_writes_are_read() {
    let mixed = FIO.replace("\"read\"", "\"mixed\"");

    assert_lines(
        mixed,
        &FIO_LINES.map(|line| line.replace("read", "mixed")).each_ref().map(String::as_str),
    );
}

#[test]
fn sysbench_242_ignored_errors_are_named() {
    let errors = "    ignored errors:                      12     (0.60 per sec.)\n";
    let text = SYSBENCH.replace("General statistics:", &format!("{errors}General statistics:"));

    assert_has(&text, &["! sysbench ignored 12 errors"]);
}

#[test]
fn imports_21_sysbench_1_1_and_other_percentiles_are_read() {
    assert_lines(
        brought!("sb_11_threads.txt"),
        &[
            "sysbench 1.1.0-18a9f86",
            "sysbench events x4: 1234.5678 1/s",
            "sysbench events latency avg x4: 3.24 ms lower",
            "sysbench events latency max x4: 9 ms lower",
            "sysbench events latency 95th percentile x4: 4.1 ms lower",
        ],
    );
    const FILES: &str = "Throughput:\n         read:  IOPS=1857.00 29.02 MiB/s (30.43 MB/s)\n         \
                         write: IOPS=1238.00 19.34 MiB/s (20.28 MB/s)\n         fsync: IOPS=3968.59";
    let files = SYSBENCH.replace("CPU speed:\n    events per second:   1000.00", FILES);
    assert_lines(
        files.replace("95th", "99th"),
        &[
            "sysbench 1.0.20",
            "sysbench fileio reads: 1857 1/s",
            "sysbench fileio read: 29.02 MiB/s",
            "sysbench fileio writes: 1238 1/s",
            "sysbench fileio written: 19.34 MiB/s",
            "sysbench fileio fsyncs: 3968.59 1/s",
            "sysbench fileio latency avg: 1 ms lower",
            "sysbench fileio latency max: 2 ms lower",
            "sysbench fileio latency 99th percentile: 1.1 ms lower",
        ],
    );
}

/// What sysbench 0.4.12 prints around the lines of a test.
fn sysbench_0_4(test: &str) -> String {
    let latencies = "min:  1.01ms\n avg:  1.04ms\n max:  2.03ms\n approx.  95 percentile:  1.07ms";
    format!(
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\n\
         Running the test with following options:\nNumber of threads: 1\n\n{test}\n\n\
         Test execution summary:\n    total time:                          10.0000s\n    \
         total number of events:              9600\n    \
         total time taken by event execution: 10.3552\n    per-request statistics:\n {latencies}\n\n\
         Threads fairness:\n    events (avg/stddev):           10000.0000/0.00\n    \
         execution time (avg/stddev):   10.3552/0.00\n"
    )
}

#[test]
fn sysbench_0_4_and_0_5_are_read() {
    let primes = sysbench_0_4("Done.\n\nMaximum prime number checked in CPU test: 10000\n\n");
    assert_lines(
        &primes,
        &[
            "sysbench 0.4.12",
            "sysbench cpu events: 960 1/s",
            "sysbench cpu latency avg: 1.04 ms lower",
            "sysbench cpu latency max: 2.03 ms lower",
            "sysbench cpu latency 95th percentile: 1.07 ms lower",
        ],
    );

    const MEMORY: &str = "Operations performed: 102400 (1765417.86 ops/sec)\n\n\
                          102400.00 MB transferred (1724.04 MB/sec)";
    const FILES: &str = "Operations performed:  6000 Read, 4000 Write, 12801 Other = 22801 Total\n\
                         Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (3.3333Mb/sec)\n  \
                         213.33 Requests/sec executed";
    const DATABASE: &str = "OLTP test statistics:\n    queries performed:\n        \
                            total:                           210000\n    \
                            transactions:                        10000  (353.09 per sec.)\n    \
                            deadlocks:                           0      (0.00 per sec.)\n    \
                            read/write requests:                 190000 (6708.71 per sec.)\n    \
                            other operations:                    20000  (706.18 per sec.)";
    let rates = |test| lines(sysbench_0_4(test))[1..3].to_vec();
    let memory = ["sysbench memory operations: 1765417.86 1/s", "sysbench memory: 1724.04 MiB/s"];
    assert_eq!(rates(MEMORY), memory);
    let files =
        ["sysbench fileio transferred: 3.3333 MiB/s", "sysbench fileio requests: 213.33 1/s"];
    assert_eq!(rates(FILES), files);
    let database =
        ["sysbench transactions: 353.09 1/s", "sysbench read/write requests: 6708.71 1/s"];
    assert_eq!(rates(DATABASE), database);

    // Version 0.5 has another heading, and the older of 0.4 give seconds.
    let newer = primes.replace("0.4.12", "0.5").replace("per-request statistics", "response time");
    assert_eq!(lines(&newer)[1..], lines(&primes)[1..]);
    let older = primes.replace("1.04ms", "0.0010s");
    assert_eq!(lines(older)[2], "sysbench cpu latency avg: 0.001 s lower");
}

#[test]
fn fio_2_has_latencies_in_microseconds() {
    let file = r#"{
        "fio version": "fio-2.16",
        "jobs": [{
            "jobname": "seq", "error": 0,
            "read": {
                "io_bytes": 4096, "bw": 1024, "iops": 256.5, "runtime": 4000, "total_ios": 1026,
                "clat": {"min": 1, "max": 90, "mean": 3.5,
                         "percentile": {"50.000000": 3, "99.000000": 12}}
            },
            "write": {"io_bytes": 0, "bw": 0, "iops": 0, "total_ios": 0, "clat": {"mean": 0}}
        }]
    }"#;

    let expected = [
        "fio 2.16",
        "seq read iops: 256.5 IOPS",
        "seq read bw: 1024 KiB/s",
        "seq read clat mean: 3.5 us lower",
        "seq read clat p50: 3 us lower",
        "seq read clat p99: 12 us lower",
    ];
    assert_lines(file, &expected);
    assert_lines(file.replace(r#", "total_ios": 1026"#, ""), &expected);
}

#[test]
fn hyperfine_results_without_their_file_are_read() {
    let results =
        r#"[{"command": "./a", "mean": 0.2, "times": [0.1, 0.3]}, {"command": "./b", "mean": 1}]"#;
    let whole = format!("{{\"results\": {results}}}");

    assert_eq!(lines(results), lines(&whole));
    assert_has(results, &["./b: 1 s lower"]);
}

#[test]
fn imports_22_schbench_of_every_age_is_read() {
    assert_lines(
        brought!("schbench_old.txt"),
        &[
            "schbench",
            "schbench Latency p50: 12 us lower",
            "schbench Latency p75: 15 us lower",
            "schbench Latency p90: 20 us lower",
            "schbench Latency p95: 25 us lower",
            "schbench Latency p99: 80 us lower",
            "schbench Latency p99.5: 90 us lower",
            "schbench Latency p99.9: 500 us lower",
        ],
    );
    let table = |seconds: u32, p50: u32| {
        format!(
            "Latency percentiles (usec) runtime {seconds} (s)\n\t50.0000th: {p50} (8 samples)\n\tmin=4, max=99\n"
        )
    };
    // The first table is of the run that the second is of.
    assert_lines(
        [table(10, 80), table(20, 81), table(10, 90)].concat(),
        &["schbench", "schbench Latency p50: 81 90 us lower"],
    );
    assert_eq!(lines(brought!("full_schbench.txt"))[10], "schbench RPS p20: 15000 1/s");
}

#[test]
fn imports_25_interbench_is_read() {
    assert_lines(
        INTERBENCH,
        &[
            "Interbench, 2005-08-18T19:41:00Z",
            "Audio beside Burn latency: 0.199 ms lower",
            "Audio beside Burn max latency: 16 ms lower",
            "Audio beside Burn desired CPU: 100 %",
            "Audio beside Burn deadlines met: 99.8 %",
            "Gaming beside Burn latency: 400 ms lower",
            "Gaming beside Burn max latency: 1004 ms lower",
            "Gaming beside Burn desired CPU: 20.1 %",
        ],
    );
    assert_lines(
        "--- Benchmarking simulated cpu of Audio real time in the presence of simulated nice 5 ---\n\
         Load\tLatency +/- SD (us)  Max Latency   % Desired CPU  % Deadlines Met\n\
         Burn\t  109.0 +/- 128.1   \t  795.0 \t 100\t        100\n",
        &[
            "Interbench",
            "Audio real time, loads nice 5 beside Burn latency: 109 us lower",
            "Audio real time, loads nice 5 beside Burn max latency: 795 us lower",
            "Audio real time, loads nice 5 beside Burn desired CPU: 100 %",
            "Audio real time, loads nice 5 beside Burn deadlines met: 100 %",
        ],
    );
}

#[test]
fn imports_25_what_is_not_read_is_named() {
    for (text, expected) in [
        (
            brought!("lmbench_raw.txt"),
            "a raw result of lmbench; import the summary that `make see` prints",
        ),
        (
            "Geekbench 6.2.1 Tryout : https://www.geekbench.com/\n",
            "the console output or a page of Geekbench; import the JSON that \
             `--export-json FILE` of its command writes",
        ),
        (
            // LKML, 23 Jul 2022
            "> w/o\n> System Benchmarks Partial Index              BASELINE RESULT INDEX\n> Shell \
             Scripts (1 concurrent)                     42.4 5481.0 1292.7\n",
            "the index table of UnixBench, without the scores; import the whole report, in which \
             a line such as '… lps (10.0 s, 7 samples)' has each score",
        ),
        (
            "PASS: a_test.go:10: MySuite.BenchmarkLogic\t 50000\t 30000 ns/op\nPASS\nok  \tx\t2.5s\n",
            "the output of gocheck, which has no reader; its figures can be given as \
             {\"name\": number}",
        ),
        (
            "0.1% Min FPS,1% Min FPS,97% Percentile FPS\n1,2,3\n",
            "a summary of MangoHud; import the log that it was made of, without \
             _summary in its name",
        ),
        (
            "fio: failed opening blktrace file\n",
            "a message of fio without its results; import the JSON of a run that \
             ends well",
        ),
        (
            "{\"file_version\": 1, \"cmdline:\": \"ptsematest -t 4\", \"rt_test_version:\": \"2.80\", \
             \"thread\": {\"0\": {\"receiver\": {\"min\": 2}}}}",
            "the output of a program of rt-tests other than cyclictest, which has no reader; its \
             figures can be given as {\"name\": number}",
        ),
        (
            "\nreal\t0m1.002s\nuser\t0m0.001s\n",
            "what `time`, multitime or poop says of a command, which has no reader; `unixmark ab` measures \
             commands",
        ),
    ] {
        assert_lines(text, &[&format!("refused: it is {expected}")]);
    }
}

#[test]
fn imports_27_dates_of_other_languages_are_read() {
    assert_lines(brought!("ub_de_date.txt"), &UNIXBENCH_LINES);
    for (date, expected) in [
        ("木  1月 01 2026", "2026-01-01T12:00:00Z"),
        ("Do Mär 05 2026", "2026-03-05T12:00:00Z"),
        ("mar. déc. 01 2026", "2026-12-01T12:00:00Z"),
    ] {
        let text = UNIXBENCH.replace("Thu Jan 01 2026", date);
        assert_eq!(lines(text)[0], format!("UnixBench 5.1.3, alpha, {expected}"), "{date}");
    }

    let unknown = lines(UNIXBENCH.replace("Jan", "Xyz"));
    assert_eq!(unknown[3], "! its date is not understood: 'Thu Xyz 01 2026 12:00:00 - 12:10:00'");
    let geekbench = "{\"version\": \"Geekbench 6.2.1\", \"date\": 1767225600, \"sections\": \
                     [{\"name\": \"Single-Core\", \"score\": 5, \"workloads\": []}]}";
    assert_eq!(lines(geekbench)[0], "Geekbench 6.2.1, 2026-01-01T00:00:00Z");
}

/// Asserts that a file gives these lines, among others.
#[track_caller]
fn assert_has(content: &str, expected: &[&str]) {
    let found = lines(content);
    for line in expected {
        assert!(found.iter().any(|one| one == line), "no '{line}' in {found:#?}");
    }
}

/// A NaN, an infinity or null is left out by itself, with its name or its line, and nothing is
/// computed in its place.
#[test]
fn what_is_no_number_is_left_out_alone() {
    for (content, expected) in [
        (
            brought!("sb_inf.txt"),
            &[
                "sysbench cpu events x2:  1/s",
                "sysbench cpu latency avg x2: 0.26 ms lower",
                "! 'sysbench cpu events' has no value: it is infinite",
            ][..],
        ),
        (
            brought!("sb_nan.txt"),
            &[
                "sysbench cpu events x2: 7519.15 1/s",
                "! 'sysbench cpu latency avg' has no value: it is NaN",
            ],
        ),
        (
            brought!("schbench_nan.txt"),
            &[
                "schbench requests: 630.75 1/s",
                "schbench Wakeup Latencies p99.9: 1017 1770 us lower",
                "! one of 2 values of 'schbench requests' was left out: it is NaN",
            ],
        ),
        (
            brought!("hackbench_nan.txt"),
            &["! one of 6 values of 'hackbench: in process mode with 2 groups using 40 file \
               descr…' was left out: it is NaN"],
        ),
        (
            brought!("interbench_nan.txt"),
            &[
                "Audio beside Video latency: 0.012 ms lower",
                "Audio beside Burn max latency: 1.2 ms lower",
                "! 'Audio beside Burn latency' has no value: it is NaN",
            ],
        ),
        (
            brought!("mango_nan.csv"),
            &[
                "! line 13 is not understood and left out: '60,nan,10,166000000'",
                "! line 15 is not understood and left out: '60,-3,10,199200000'",
            ],
        ),
        (
            brought!("yabs_null.json"),
            &[
                "fio 4k write IOPS: 25001 IOPS",
                "! 'fio 4k read IOPS' has no value: it is null",
                "! 'iperf IPv4 X L send' has no value: it is 'busy'",
                "! 'iperf IPv4 Y M latency' has no value: it is '--'",
            ],
        ),
        (
            &CYCLICTEST.replace("Avg:    5", "Avg:  nan").replace("      31", "     inf"),
            &[
                "cyclictest Min x2: 3 us lower",
                "! 'cyclictest Avg' has no value: it is NaN",
                "! 'cyclictest Max' has no value: it is infinite",
            ],
        ),
        ("[{\"a\": 1, \"b\": null}]", &["a: 1 ", "! 'b' has no value: it is null"]),
        (brought!("hf_nan.json"), &["! one of 9 values of 'sleep 0.01' was left out: it is NaN"]),
        (
            r#"{"benchmarks": [{"fullname": "t", "stats": {"data": [1, "… omitted"]}}]}"#,
            &["t: 1 s lower", "! one of 2 values of 't' was left out: it is the text '… omitted'"],
        ),
        (
            r#"{"good": 1, "bad": null, "word": "12", "flag": true, "list": [1]}"#,
            &[
                "good: 1 ",
                "word: 12 ",
                "! 'bad' has no value: it is null",
                "! 'flag' has no value: it is true",
                "! 'list' has no value: it is a list",
            ],
        ),
    ] {
        assert_has(content, expected);
    }
}

/// Figures that come again are of another run where they do not go on with those before them.
#[test]
fn a_second_run_of_a_text_is_one_of_its_own() {
    for (content, expected) in [
        (brought!("rtla_two_runs.txt"), ["Max Single x2: 110 us", "Max Single x2: 999 us"]),
        (brought!("cyc_prompts.txt"), ["Max x2: 2303 us", "Max x2: 9999 us"]),
        (brought!("cyc_heads.txt"), ["Max x2: 2303 us", "Max x2: 9999 us"]),
        (brought!("cyc_two_runs.txt"), ["Max x2: 2303 us", "Max x2: 9999 us"]),
        (brought!("crit_two_runs.txt"), ["a: 1.1 ns", "a: 2100 ns"]),
    ] {
        let found = lines(content);
        let found: Vec<&String> =
            found.iter().filter(|line| expected.iter().any(|one| line.contains(one))).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains(expected[0]) && found[1].contains(expected[1]), "{found:?}");
    }

    // While a run goes on, its threads are printed again and again.
    let later = CYCLICTEST.replace("349868", "349870").replace("      30", "      45");
    let later = later.replace("# /dev/cpu_dma_latency set to 0us\n", "policy: fifo\n");
    assert_has(&format!("{CYCLICTEST}{later}"), &["cyclictest Max x2: 45 us lower"]);
}

#[test]
fn figures_of_one_name_that_are_no_repetitions_are_twins() {
    for (content, expected) in [
        (
            brought!("gb_labels.json"),
            &["BM_b/real_time (avx2): 3 ms lower", "BM_b/real_time (sse): 30 ms lower"],
        ),
        (brought!("json_twin_keys.json"), &["dup: 1 ", "dup #2: 2 "]),
        (
            brought!("go_14313.txt"),
            &[
                "encoding/base32.BenchmarkEncodeToString x8: 42033 ns/op lower",
                "encoding/base64.BenchmarkEncodeToString x8: 13010 ns/op lower",
            ],
        ),
    ] {
        assert_has(content, expected);
    }
}

/// What a bench of Rust or Go says is read in its unit, or named.
#[test]
fn no_figure_of_a_bench_is_dropped() {
    for (content, expected) in [
        (
            brought!("libtest_units.txt"),
            &[
                "tests::one_digit: 1000 ns lower",
                "tests::two_digit: 22000000 ns lower",
                "tests::three_digit: 333000000000 ns lower",
            ][..],
        ),
        (
            brought!("libtest_cycles.txt"),
            &["cmov: 2835 cycles/iter", "upload: 1911 MS/s", "download: 9001 MS/s"],
        ),
        (
            // TyKolt/kremis#76
            brought!("crit_split.txt"),
            &["node_insertion/100: 7845 ns lower", "node_insertion/1000: 80845 ns lower"],
        ),
        (
            "test a ... bench:  5 ns/iter (+/- 1)\ntest b ... hello\ntest c ... loud bench:  7 \
             ns/iter (+/- 1)\ntest d ... loud\nFAILED\n",
            &[
                "a: 5 ns lower",
                "c: 7 ns lower",
                "! 'b' has no value: it has no result",
                "! 'd' has no value: its bench failed",
            ],
        ),
        (brought!("crit_failed.txt"), &["! its benches failed: 'error: bench failed'"]),
        (
            "a time: [1 ns 2 ns 3 ns]\nBenchmarking b: Warming up for 3 s\nerror: bench failed\n",
            &["a: 2 ns lower", "! 'b' has no value: it has no result"],
        ),
        (
            brought!("go_build_failed.txt"),
            &[
                "a.BenchmarkX x8: 5 ns/op lower",
                "! 'b.BenchmarkY' has no value: y_test.go:3: boom",
                "! 'c' has no value: [build failed]",
            ],
        ),
        (brought!("go_sideways.txt"), &["BenchmarkA foo x8: 3 foo"]),
        (brought!("pts_negative.xml"), &["Y & Z, D: -5.5 -5.5 Frames Per Second"]),
    ] {
        assert_has(content, expected);
    }
}

/// The median is shown of values, so it is taken where a file has no values.
#[test]
fn a_summary_gives_what_its_values_would() {
    assert_has(brought!("py_without_data.json"), &["a.py::t: 0.001 s lower"]);
    assert_has(brought!("hf_without_times.json"), &["sleep 0.01: 0.0104279296 s lower"]);
}

#[test]
fn a_result_without_a_figure_is_named() {
    for (content, writer) in [
        (brought!("libtest_none.txt"), "cargo bench"),
        (brought!("py_disabled.json"), "pytest-benchmark"),
        (r#"{"results": []}"#, "hyperfine or nanobench"),
        (r#"{"context": {}, "benchmarks": []}"#, "Google Benchmark"),
        ("PASS\nok  \tx/y\t0.003s\n", "go test"),
    ] {
        let expected = format!(
            "refused: it is a result of {writer} without a figure; check which benchmarks were \
             selected"
        );
        assert_eq!(lines(content), [expected]);
    }
}

#[test]
fn documents_of_two_machines_are_two_runs() {
    let gbench = |host: &str, name: &str| {
        format!(
            r#"{{"context": {{"date": "2019/05/01-10:00:00", "host_name": "{host}", "num_cpus": 4}},
                "benchmarks": [{{"name": "{name}", "real_time": 5.0, "time_unit": "ms"}}]}}"#
        )
    };
    let runs = |files: [String; 2]| {
        let catalogue = Catalogue::load().unwrap();
        interop::import("x", files.join("\n").as_bytes(), &catalogue).unwrap().len()
    };
    assert_eq!(runs([gbench("alpha", "A"), gbench("alpha", "B")]), 1);
    assert_eq!(runs([gbench("alpha", "A"), gbench("beta", "B")]), 2);

    let go = |cpu: &str, name: &str| format!("cpu: {cpu}\nBenchmark{name}-4 10 50 ns/op\n");
    assert_eq!(runs([go("i7", "A"), go("i7", "B")]), 1);
    assert_eq!(runs([go("i7", "A"), go("Neoverse", "B")]), 2);
}

#[test]
fn hyperfine_results_of_one_command_are_figures_of_their_own() {
    let results = |first: &str, second: &str| {
        format!(
            r#"{{"results": [{{"command": "make", "mean": 1.0, {first}}},
                           {{"command": "make", "mean": 2.0, {second}}}]}}"#
        )
    };

    // Versions before 1.11 have one parameter, without its name.
    assert_lines(
        results(r#""parameter": "1""#, r#""parameter": "2""#),
        &["hyperfine", "make (parameter = 1): 1 s lower", "make (parameter = 2): 2 s lower"],
    );
    assert_lines(
        results(r#""parameter": null"#, r#""user": 0.1"#),
        &[
            "hyperfine",
            "make: 1 s lower",
            "make #2: 2 s lower",
            "! several results are called 'make': this one is 'make #2'",
        ],
    );
}

#[test]
fn sysbench_names_what_it_was_told_to_do() {
    let limit = SYSBENCH.replace("limit: 10000", "limit: 20000");
    assert_eq!(lines(&limit)[1], "sysbench cpu events (limit 20000): 1000 1/s");

    // With --report-checkpoints the whole report stands last.
    let (head, report) = SYSBENCH.split_once("CPU speed:").unwrap();
    let checkpoint = report.replace("1000.00", "900.00").replace("1.00", "9.00");
    assert_eq!(lines(format!("{head}CPU speed:{checkpoint}CPU speed:{report}")), lines(SYSBENCH));
}

#[test]
fn fio_jobs_that_failed_have_a_reason_and_percentiles_that_were_asked_for_are_kept() {
    let job = |name: &str, error: u32| {
        format!(
            r#"{{"jobname": "{name}", "error": {error}, "read": {{"total_ios": 9, "iops": 5.0, "bw": 7,
                "clat_ns": {{"mean": 1000.0, "percentile": {{"90.000000": 2000, "99.900000": 3000}}}}}}}}"#
        )
    };
    let file =
        format!(r#"{{"fio version": "fio-3.28", "jobs": [{}, {}]}}"#, job("a", 0), job("b", 28));
    assert_has(
        &file,
        &[
            "a read clat p90: 2 us lower",
            "a read clat p99.9: 3 us lower",
            "! 'b read iops' has no value: it failed with error 28",
        ],
    );
}

#[test]
fn a_list_of_figures_may_have_elements_without_a_name() {
    assert_lines(
        r#"[{"name": "a", "unit": "ms", "value": 1}, {"unit": "s", "value": 3}, {"name": "c", "unit": "ms", "value": "7"}]"#,
        &[
            "JSON",
            "a: 1 ms lower",
            "c: 7 ms lower",
            "! element 2 of its list has no name: it is left out",
        ],
    );
}

#[test]
fn google_benchmarks_statistics_of_ones_own_are_figures() {
    assert_lines(
        r#"{"context": {"num_cpus": 4}, "benchmarks": [{"name": "BM_max", "run_name": "BM", "run_type": "aggregate",
            "aggregate_name": "max", "real_time": 5.0, "time_unit": "ms"}]}"#,
        &["Google Benchmark", "BM max: 5 ms lower"],
    );
}

#[test]
fn a_cut_event_of_go_test_names_its_benchmark() {
    let event = |output: &str| format!(r#"{{"Action":"output","Package":"p","Output":"{output}"#);
    let whole = event(r"BenchmarkA-8 \t 100\t 938 ns/op\n") + "\"}\n";
    let cut = event(r"BenchmarkB-8 \t 100\t 938");

    let found = lines(whole + &cut);
    assert!(found.iter().any(|line| line.starts_with("! 'BenchmarkB'")), "{found:?}");
}
