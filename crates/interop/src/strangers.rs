//! Formats that are known and not read: the file is named, with what would work instead.

use crate::lines::collapse_blanks;

/// A format that has no reader.
struct Stranger {
    /// Pieces of lines, with one blank where any are, of which one is in the text. `^` stands for
    /// the start of a line.
    signs: &'static [&'static str],
    name: &'static str,
    advice: Advice,
}

/// What works in the place of a file that cannot be read.
enum Advice {
    /// To import another file.
    Import(&'static str),
    /// To have unixmark measure it.
    Measure(&'static str),
    /// To give its figures as a plain object.
    Figures,
}

/// Bytes at the beginning and at the end of a text that are searched for signs.
const PROBED_BYTES: usize = 128 << 10;

const fn stranger(
    signs: &'static [&'static str],
    name: &'static str,
    instead: &'static str,
) -> Stranger {
    Stranger { signs, name, advice: Advice::Import(instead) }
}

const fn measured(
    signs: &'static [&'static str],
    name: &'static str,
    how: &'static str,
) -> Stranger {
    Stranger { signs, name, advice: Advice::Measure(how) }
}

const fn unread(signs: &'static [&'static str], name: &'static str) -> Stranger {
    Stranger { signs, name, advice: Advice::Figures }
}

/// The formats; the first one that has a sign in the text is named.
const STRANGERS: [Stranger; 105] = [
    stranger(
        &["\"identifier\": \"pts/", "\"identifier\":\"pts/", ",HIB,", ",LIB,"],
        "JSON or CSV of the Phoronix Test Suite",
        "composite.xml of the result",
    ),
    stranger(
        &["^Content-Transfer-Encoding: base64"],
        "a mail with an encoded text",
        "the text, as a mail program shows or saves it",
    ),
    stranger(
        &["^System Benchmarks Partial Index", "^System Benchmarks Index Values"],
        "the index table of UnixBench, without the scores",
        "the whole report, in which a line such as '… lps (10.0 s, 7 samples)' has each score",
    ),
    stranger(
        &["<SuiteInformation>", "<TestInformation>", "<TestProfile>"],
        "a test profile or suite of the Phoronix Test Suite, which has no results",
        "composite.xml of a result",
    ),
    stranger(
        &["Yet-Another-Bench-Script", "https://yabs.sh"],
        "the console output of YABS",
        "the JSON that `yabs.sh -w FILE` writes",
    ),
    stranger(
        &[
            "^Geekbench 2",
            "^Geekbench 3",
            "^Geekbench 4",
            "^Geekbench 5",
            "^Geekbench 6",
            "browser.geekbench.com",
        ],
        "the console output or a page of Geekbench",
        "the JSON that `--export-json FILE` of its command writes",
    ),
    stranger(
        &["1% Min FPS,", "97% Percentile FPS"],
        "a summary of MangoHud",
        "the log that it was made of, without _summary in its name",
    ),
    stranger(
        &["Hardware monitoring log v", "frames rendered in", "MSI Afterburner"],
        "a log of MSI Afterburner",
        "a log of PresentMon or MangoHud",
    ),
    stranger(&["^Frame, Time (ms)"], "a log of FRAPS", "a log of PresentMon"),
    stranger(&["\"CaptureData\""], "a record of CapFrameX", "the CSV of PresentMon"),
    stranger(
        &["^[lmbench", "[lmbench2", "[lmbench3"],
        "a raw result of lmbench",
        "the summary that `make see` prints",
    ),
    stranger(
        &["^[rt-app]", "rt-app> <", "<info> ", "[json] <"],
        "the console output of rt-app",
        "the logs that it writes, one a thread (\"logdir\" in its file)",
    ),
    stranger(
        &["Run status group 0", "^fio-3.", "^fio-2.", "fio-3.", "rw=rand", "(g=0): rw="],
        "the text of fio",
        "what `fio --output-format=json` prints",
    ),
    stranger(
        &["^fio: "],
        "a message of fio without its results",
        "the JSON of a run that ends well",
    ),
    stranger(
        &["^Benchmark 1: ", "^Benchmark #1: "],
        "the console output of hyperfine",
        "what `hyperfine --export-json FILE` writes",
    ),
    stranger(
        &["^command,mean,stddev,median", "| Command | Mean [", "| Command | Min [", "[cols="],
        "a table of hyperfine",
        "what `hyperfine --export-json FILE` writes",
    ),
    stranger(
        &["^name,iterations,real_time", "^Benchmark Time CPU Iterations"],
        "a table of Google Benchmark",
        "what `--benchmark_out=FILE --benchmark_out_format=json` writes",
    ),
    stranger(
        &["window.BENCHMARK_DATA", "\"lastUpdate\""],
        "the data of github-action-benchmark's page",
        "the output of the benchmark program",
    ),
    stranger(
        &["^name old ", "│ sec/op", "vs base │"],
        "a table of benchstat",
        "the outputs of `go test -bench` that it compared",
    ),
    stranger(
        &["s ] thds: ", "s] thds: ", "s] threads: "],
        "the lines that sysbench prints while it works",
        "the whole output, which ends in statistics",
    ),
    stranger(
        &["-- benchmark: ", "-- benchmark '", "Outliers: 1 Standard Deviation"],
        "the console output of pytest-benchmark",
        "what `pytest --benchmark-json=FILE` writes",
    ),
    stranger(
        &["^# JMH version", "^Benchmark Mode Cnt", "\"Benchmark\",\"Mode\",\"Threads\""],
        "the console output or the table of JMH",
        "what `-rf json -rff FILE` writes",
    ),
    stranger(
        &["| err% |", "\"error %\";"],
        "the console output of nanobench",
        "what `ankerl::nanobench::render(templates::json(), …)` writes",
    ),
    stranger(
        &["? ?/sec", "\"point_estimate\"", "\"benchmark-complete\""],
        "a table or a record of criterion",
        "what `cargo bench` prints",
    ),
    stranger(
        &["^# Running 'sched/", "^# Running '", "^# Running sched/"],
        "the output of perf bench",
        "the output of hackbench or schbench",
    ),
    stranger(&["^1..", "^TAP version"], "a report of tests (TAP)", "figures of its benchmarks"),
    stranger(
        &["<!DOCTYPE html", "<!doctype html", "<html"],
        "a web page",
        "the figures that it was made of",
    ),
    measured(
        &["^tasks,processes,processes_idle"],
        "a table of will-it-scale",
        "`unixmark scale will-it-scale --as both` measures the same",
    ),
    measured(
        &[
            "Performance counter stats for",
            "\"counter-value\"",
            ",msec,task-clock",
            ",msec,cpu-clock",
            ";msec;task-clock",
            ";msec;cpu-clock",
        ],
        "the output of perf stat",
        "`unixmark ab --counts` counts what commands do",
    ),
    measured(
        &[
            "Elapsed (wall clock) time",
            "^real ",
            "s system ",
            "CPU (0avgtext+",
            "measurement mean ± σ",
            "===> multitime results",
        ],
        "what `time`, multitime or poop says of a command",
        "`unixmark ab` measures commands",
    ),
    unread(&["BenchmarkDotNet", ",AnalyzeLaunchVariance", "| Method | Mean "], "BenchmarkDotNet"),
    unread(&["^OverheadJitting", "^WorkloadActual"], "BenchmarkDotNet"),
    unread(&["Suite.Benchmark"], "gocheck"),
    unread(&["│ fastest", "fastest │"], "divan"),
    unread(&["Estimated Cycles:"], "iai"),
    unread(&["benchmark name samples", "<BenchmarkResults"], "Catch2"),
    unread(&["Problem Space,Samples,"], "Celero"),
    unread(&["\"nv/cold/", "\"nv/json/"], "nvbench"),
    unread(&[" ops/sec ±", "\"rme\""], "benchmark.js, tinybench or vitest"),
    unread(&["│ Task Name │", "│ Task name │"], "tinybench"),
    unread(
        &["time (avg)", "avg (min … max)", "time/iter (avg)", "\"Deno/"],
        "mitata or deno bench",
    ),
    unread(&["\"perf_version\"", "\"pyperf_version\"", ": Mean +- std dev: "], "pyperf"),
    unread(
        &[" loops, best of ", " loop, best of ", " per loop (mean ± std. dev."],
        "Python's timeit",
    ),
    unread(&["\"result_columns\""], "asv"),
    unread(&["BenchmarkTools", " allocations: ", " allocation: "], "Julia's BenchmarkTools"),
    unread(&["expr min lq mean median uq max neval"], "R's microbenchmark"),
    unread(&[" i/100ms", " i/s - "], "Ruby's benchmark-ips"),
    unread(&["^user system total real"], "Ruby's Benchmark"),
    unread(&["^Name ips average deviation median"], "Benchee"),
    unread(&["variance introduced by outliers", "Name,Mean (ps)", " R² ("], "Haskell's criterion"),
    unread(&["(RunTime): "], "Dart's benchmark_harness"),
    unread(&["^PHPBench ("], "PHPBench"),
    unread(&["===== DaCapo "], "DaCapo"),
    unread(&["\"renaissance\""], "Renaissance"),
    unread(&["\"sampledMetrics\"", "\"totalRunTimeNs\""], "Android's benchmarks"),
    unread(&["\"lower_value\"", "\"upper_value\""], "Bencher"),
    unread(&["rebar_version"], "rebar"),
    unread(&["\"avg_ts\"", "| t/s |"], "llama-bench"),
    unread(&["\"request_throughput\""], "vLLM's benchmarks"),
    unread(
        &["\"rt_test_version:\"", " -> #0, Min "],
        "a program of rt-tests other than cyclictest",
    ),
    unread(&["^oslat V "], "oslat"),
    unread(&["^threshold(ns): "], "sysjitter"),
    unread(&["stress-ng: ", "stress-ng-version:"], "stress-ng"),
    unread(&["\"test_start\"", "[ ID] Interval", "Interval Transfer"], "iperf"),
    unread(&["^MIGRATED TCP", "^MIGRATED UDP", "10^6bits/sec"], "netperf"),
    unread(&["^sockperf: "], "sockperf"),
    unread(&["^tcp_bw:", "^tcp_lat:", "^udp_lat:", "^rc_bw:", "^rc_lat:"], "qperf"),
    unread(&["# OSU MPI", "# OSU "], "OSU's benchmarks"),
    unread(&["# nThread "], "NCCL's tests"),
    unread(&["tps = ", "^pgbench ("], "pgbench"),
    unread(&[" requests per second", "\"test\",\"rps\"", "^====== "], "redis-benchmark"),
    unread(&["^ALL STATS", "\"ALL STATS\""], "memtier_benchmark"),
    unread(&["^[OVERALL], "], "YCSB"),
    unread(
        &[
            "http_req_duration",
            "\"root_group\"",
            "\"metric\":\"http_reqs\"",
            "^iteration_duration..",
            "^http_reqs..",
        ],
        "k6",
    ),
    unread(&["^Latencies [min", "\"bytes_in\""], "vegeta"),
    unread(&["Request Count,Failure Count"], "Locust"),
    unread(&["> mean requests/sec"], "Gatling"),
    unread(&["\"numberOfConnections\""], "bombardier"),
    unread(&["TEST RESULT : System achieved"], "HammerDB"),
    unread(&[" TpmC"], "tpcc-mysql"),
    unread(&["^timeStamp,elapsed,label"], "JMeter"),
    unread(
        &[
            "Requests/sec:",
            "^Requests per second:",
            "\"non2xx\"",
            "\"requestsPerSec\"",
            "Transaction rate:",
        ],
        "a web load generator (wrk, ab, hey, oha, siege, autocannon)",
    ),
    unread(&["A Bench.sh Script", "nench.sh v"], "bench.sh or nench"),
    unread(&["^7-Zip", "^Tot: "], "7-Zip's benchmark"),
    unread(&["The 'numbers' are in 1000s of bytes"], "openssl speed"),
    unread(&["^# Tests are approximate using memory only"], "cryptsetup benchmark"),
    unread(&["STREAM version $Revision", "^Function Best Rate MB/s"], "STREAM"),
    unread(&["^tinymembench ", " Method: MEMCPY"], "tinymembench or mbw"),
    unread(&["Measuring idle latencies"], "Intel's Memory Latency Checker"),
    unread(&["CoreMark 1.0 :", "CoreMark Size"], "CoreMark"),
    unread(&["^NUMERIC SORT :", "^BYTEmark*"], "nbench"),
    unread(&["T/V N NB", "HPLinpack"], "HPL"),
    unread(&["NAS Parallel Benchmarks"], "the NAS Parallel Benchmarks"),
    unread(&["RUN RESULT: hbIR"], "SPECjbb"),
    unread(&["CPU_INTEGER_MATH"], "PassMark's PerformanceTest"),
    unread(&["SPEC CPU", "SPECrate", "SPECspeed"], "SPEC CPU"),
    unread(&["^-------Sequential Output", "onnie++", "^1.97,1.97,", "^1.98,1.98,"], "bonnie++"),
    unread(&["IOzone", "Iozone: Performance"], "IOzone"),
    unread(&["^[Result] dbench", "Operation Count AvgLat"], "dbench"),
    unread(&["Timing cached reads:", "Timing buffered disk reads:"], "hdparm"),
    unread(&[" ioping statistics ---"], "ioping"),
    unread(&[" records out"], "dd"),
    unread(&["IO Summary: "], "filebench"),
    unread(&["glmark2 Score:", "^glmark2 ", "FrameTime: "], "glmark2"),
    unread(&[" frames in 5.0 seconds = "], "glxgears"),
];

/// A sentence that names the format of a text, if it is one of these, and what would work.
pub(super) fn describe(text: &str) -> Option<String> {
    let probed = [beginning(text), ending(text)].map(|part| part.lines());
    let lines: Vec<String> = probed.into_iter().flatten().map(collapse_blanks).collect();
    let is_in_text = |sign: &&str| match sign.strip_prefix('^') {
        Some(start) => lines.iter().any(|line| line.starts_with(start)),
        None => lines.iter().any(|line| line.contains(*sign)),
    };
    let Stranger { name, advice, .. } =
        STRANGERS.iter().find(|stranger| stranger.signs.iter().any(is_in_text))?;

    Some(match advice {
        Advice::Import(instead) => format!("it is {name}; import {instead}"),
        Advice::Measure(how) => format!("it is {name}, which has no reader; {how}"),
        Advice::Figures => format!(
            "it is the output of {name}, which has no reader; its figures can be given as \
             {{\"name\": number}}"
        ),
    })
}

fn beginning(text: &str) -> &str {
    &text[..char_boundary(text, PROBED_BYTES.min(text.len()))]
}

/// The end of a text, without what [`beginning`] has.
fn ending(text: &str) -> &str {
    let last = char_boundary(text, text.len().saturating_sub(PROBED_BYTES));
    &text[last.max(beginning(text).len())..]
}

/// The place of the last character that begins at `place` or before it.
fn char_boundary(text: &str, place: usize) -> usize {
    (0..=place).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_and_not_read_is_named() {
        for (text, expected) in [
            ("Geekbench 6.2.1 Tryout : https://www.geekbench.com/\n", "Geekbench"),
            ("0.1% Min FPS,1% Min FPS,97% Percentile FPS\n1,2,3\n", "a summary of MangoHud"),
            ("00, 01-01-2026 12:00:00, Hardware monitoring log v1.6\n", "MSI Afterburner"),
            ("[lmbench3.0 results for Linux box]\n", "a raw result of lmbench"),
            ("fio: io_u error on file /x: No space left\n", "a message of fio"),
            ("j: (groupid=0, jobs=1): err= 0\nRun status group 0 (all jobs):\n", "the text of fio"),
            ("[rt-app] <notice> thread 0\n", "the console output of rt-app"),
            ("Benchmark 1: sleep 1\n  Time (mean ± σ): 1 s\n", "the console output of hyperfine"),
            ("Benchmark      Time    CPU   Iterations\n", "a table of Google Benchmark"),
            ("#   Yet-Another-Bench-Script   #\nGeekbench 5 Test:\n", "the console output of YABS"),
            ("name  old time/op  new time/op  delta\n", "a table of benchstat"),
            ("      │  old.txt  │\n     │  sec/op   │\n", "a table of benchstat"),
            ("[ 93s ] thds: 56 tps: 43.01 qps: 1397.23\n", "that sysbench prints while it works"),
            ("[  11s] threads: 16, tps: 1.5\n", "that sysbench prints while it works"),
            ("window.BENCHMARK_DATA = {\"lastUpdate\":1}\n", "the data of github-action-benchmark"),
            ("stress-ng: info: [1] dispatching hogs\n", "the output of stress-ng"),
            ("      stress-ng-version: 0.13.12\n", "the output of stress-ng"),
            ("| ms/op | op/s |  err% | total | benchmark\n", "nanobench"),
            ("x x 4,161 ops/sec ±0.99% (59 runs sampled)\n", "benchmark.js"),
            ("json: Mean +- std dev: 12.3 ms +- 0.2 ms\n", "pyperf"),
            ("5000000 loops, best of 5: 47.1 nsec per loop\n", "timeit"),
            ("  1.234 ns (0 allocations: 0 bytes)\n", "Julia"),
            ("http_req_duration....: avg=13.15ms\n", "k6"),
            ("iperf Done.\n[ ID] Interval  Transfer  Bitrate\n", "iperf"),
            ("0.70,msec,task-clock,700000,100.00\n", "perf stat"),
            ("1024+0 records out\n", "dd"),
            ("SET: 114293.13 requests per second\n", "redis-benchmark"),
            ("real 1.02\nuser 0.50\nsys 0.10\n", "`time`"),
            ("sleep 1  0.00s user 0.00s system 0% cpu 1.003 total\n", "`time`"),
            ("3204.03;msec;cpu-clock:u;3204;100.00\n", "perf stat"),
            ("97.6 ns ± 0.5 ns per loop (mean ± std. dev. of 7 runs)\n", "timeit"),
            ("   http_reqs......................: 100    10.0/s\n", "k6"),
            ("tasks,processes,processes_idle,threads\n", "unixmark scale will-it-scale"),
        ] {
            let name = describe(text).unwrap_or_default();
            assert!(name.contains(expected), "{text}: {name}");
        }
        assert_eq!(describe("hello\n"), None);
        // The signs of a long text are at its ends.
        let long = "ä\n".repeat(PROBED_BYTES);
        assert!(describe(&format!("{long}k6 http_req_duration\n")).is_some());
    }
}
