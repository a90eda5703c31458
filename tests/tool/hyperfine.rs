//! hyperfine's command lines, by `ab` and in hyperfine's place: what they measure, how often, under
//! which names, and what is printed. Expected commands, orders and forms are those of hyperfine
//! 1.20.0; tests are named after its issues.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use testing::{Place, stderr, stdout};

/// A place whose commands work in a directory of their own.
struct Bench {
    place: Place,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench { place: Place::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn ab(&self, words: &[&str]) -> Output {
        self.output("ab -q", words)
    }

    fn hyperfine(&self, words: &[&str]) -> Output {
        self.output("hyperfine", words)
    }

    fn output(&self, verb: &str, words: &[&str]) -> Output {
        let folder = self.folder.path();
        self.place.unixmark(verb).args(words).current_dir(folder).output().unwrap()
    }

    /// The results that a command line exports as JSON.
    fn results(&self, words: &[&str]) -> Vec<Value> {
        let output = self.ab(&[words, &["--export-json", "times.json"]].concat());
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        let json: Value = serde_json::from_str(&self.file("times.json")).unwrap();
        json["results"].as_array().unwrap().clone()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// The lines of a file without repetitions, in order.
    fn lines(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> = self.file(name).lines().map(str::to_owned).collect();
        lines.sort();
        lines.dedup();
        lines
    }
}

fn texts<'a>(results: &'a [Value], field: &str) -> Vec<&'a str> {
    results.iter().map(|result| result[field].as_str().unwrap()).collect()
}

fn names(place: &Place) -> Vec<String> {
    let report = place.json("latest");
    let executions = report["executions"].as_array().unwrap();
    executions.iter().map(|row| row["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn parameters_make_commands_in_hyperfine_s_order() {
    let bench = Bench::new();
    for (words, expected) in [
        (
            "-r 2 -L a 1,2 -L b x,y|echo {a}{b}|: {a}{b}",
            "echo 1x,: 1x,echo 2x,: 2x,echo 1y,: 1y,echo 2y,: 2y",
        ),
        ("-r 2 -L x {y},b -L y q|: {x}{y}", ": {y}q,: bq"),
        ("-r 2 -L f --some,--flags|: {f}", ": --some,: --flags"),
        ("-r 2 -P n -2 -1|: {n}", ": -2,: -1"),
        ("-r 2 -P n 1 2 -D 0.50|: {n}", ": 1,: 1.50,: 2.00"),
        ("-r 2 -L x=1,2|: {x}", ": 1,: 2"),
        ("-r 2 -iNL x 1,2|true {x}", "true 1,true 2"),
        ("-r 2 -L b m,f|true", "true,true"),
        ("-r 2 -L foo 1,2 -n {foo}n|: {foo}", "1n,2n"),
        ("-r 2 --reference : -L x 1,2|: {x}", ":,: 1,: 2"),
    ] {
        let (options, commands) = words.split_once('|').unwrap();
        let words: Vec<&str> = options.split(' ').chain(commands.split('|')).collect();

        let results = bench.results(&words);

        assert_eq!(texts(&results, "command").join(","), expected, "{words:?}");
    }
}

#[test]
fn hyperfine_793_names_are_those_of_the_commands_in_order() {
    let bench = Bench::new();
    let names = ["-n", "t1", "-n", "s1", "-n", "t2", "-n", "s2"];

    let results = bench.results(
        &[&["-r", "2", "true {foo}", "sleep 0.01{foo}", "-L", "foo", "1,2"], &names[..]].concat(),
    );

    let least = |result: &Value| result["min"].as_f64().unwrap();
    assert_eq!(texts(&results, "command"), ["t1", "s1", "t2", "s2"]);
    assert!(least(&results[1]) >= 0.011, "{}", results[1]);
    assert!(least(&results[3]) >= 0.012, "{}", results[3]);
    assert_eq!(results[2]["parameters"]["foo"], "2");
}

#[test]
fn hyperfine_67_parameters_in_prepare() {
    let bench = Bench::new();
    let words = ["-r", "3", "-L", "b", "master,feature", "-p", "echo {b} >>before"];

    let results = bench.results(&[&words[..], &["-C", "echo {b} >>after", "true"]].concat());

    assert_eq!(results.len(), 2);
    assert_eq!(bench.lines("before"), ["feature", "master"]);
    assert_eq!(bench.lines("after"), ["feature", "master"]);
    assert_eq!(names(&bench.place), ["true (b = master)", "true (b = feature)"]);
}

#[test]
fn hyperfine_227_an_escaped_comma_is_part_of_a_value() {
    let bench = Bench::new();

    let results = bench.results(&["-r", "2", "-L", "x", "a\\,b,c", ": {x}"]);

    assert_eq!(texts(&results, "command"), [": a,b", ": c"]);
}

#[test]
fn parameters_are_replaced_in_inputs_and_outputs() {
    let bench = Bench::new();
    for number in ["1", "2"] {
        std::fs::write(bench.folder.path().join(format!("in{number}")), number).unwrap();
    }

    bench
        .results(&["-r", "2", "-L", "x", "1,2", "--input", "in{x}", "--output", "./out{x}", "cat"]);

    assert_eq!([bench.file("out1"), bench.file("out2")], ["1", "2"]);
}

#[test]
fn a_parameter_that_is_nowhere_is_named() {
    let bench = Bench::new();

    let output = bench.ab(&["-r", "2", "-L", "fo", "1,2", "true {foo}"]);

    let warning = "{fo} is nowhere in the command line, but {foo} is";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    assert_eq!(names(&bench.place), ["true {foo} (fo = 1)", "true {foo} (fo = 2)"]);
}

#[test]
fn equal_commands_are_arms_of_their_own() {
    let bench = Bench::new();

    let results = bench.results(&["-r", "3", "true", "true"]);

    assert_eq!(texts(&results, "command"), ["true", "true"]);
    assert_eq!(names(&bench.place), ["true", "true (2)"]);
}

#[test]
fn long_commands_are_told_apart_and_exported_whole() {
    let bench = Bench::new();
    let command = format!("true {} {{mode}} {}", "a".repeat(40), "b".repeat(40));

    let results = bench.results(&["-r", "2", "-L", "mode", "fast,slow", &command]);

    assert_eq!(
        texts(&results, "command"),
        [command.replace("{mode}", "fast"), command.replace("{mode}", "slow")]
    );
    let names = names(&bench.place);
    assert!(names[0].contains("fast"), "{names:?}");
    assert!(names[1].contains("slow"), "{names:?}");
    assert!(names.iter().all(|name| name.chars().count() <= 60), "{names:?}");
}

#[test]
fn each_number_of_executions_is_kept() {
    let bench = Bench::new();
    for (words, least, most) in [
        (&["-r", "3", "true", "true x"][..], 3, 3),
        (&["-r", "10001", "true"], 10_001, 10_001),
        (&["-M", "4", "true", "true x"], 2, 4),
        (&["-m", "30", "-M", "40", "true", "true x"], 30, 40),
        (&["-m", "9", "--budget", "1", "sleep 0.2", "true"], 9, u64::MAX),
    ] {
        let results = bench.results(&[&["-N"], words].concat());

        for result in &results {
            let count = result["times"].as_array().unwrap().len() as u64;
            assert!((least..=most).contains(&count), "{words:?}: {count}");
        }
    }
}

#[test]
fn hyperfine_836_statuses_that_are_ignored() {
    let bench = Bench::new();
    for (option, status, code) in [
        ("-i", "5", 0),
        ("-i=1,2", "2", 0),
        ("-i=1,2", "3", 3),
        ("--ignore-failure=all-non-zero", "3", 0),
        ("--ignore-failure=1", "2", 3),
    ] {
        let output = bench.ab(&["-r", "2", option, &format!("exit {status}")]);

        assert_eq!(output.status.code(), Some(code), "{option} {status}: {}", stderr(&output));
    }
}

#[test]
fn hyperfine_377_outputs() {
    let bench = Bench::new();
    let kind =
        "[ -p /proc/self/fd/1 ] && echo >>pipe; [ -c /proc/self/fd/1 ] && echo >>device; echo hi";
    for (words, seen) in [
        (&["--output", "null"][..], "device"),
        (&["--output", "/dev/null"], "device"),
        (&["--output", "pipe"], "pipe"),
        // The test reads what unixmark prints through a pipe.
        (&["--output", "inherit"], "pipe"),
        (&["--show-output"], "pipe"),
        (&["--output", "/dev/stdout"], "pipe"),
    ] {
        let _ = std::fs::remove_file(bench.folder.path().join(seen));
        let output = bench.ab(&[&["-r", "2"], words, &[kind]].concat());

        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        assert!(bench.folder.path().join(seen).exists(), "{words:?} is no {seen}");
        let is_shown = !matches!(words.last(), Some(&("null" | "/dev/null" | "pipe")));
        assert_eq!(stdout(&output).lines().any(|line| line == "hi"), is_shown, "{words:?}");
    }
    assert!(!bench.folder.path().join("inherit").exists());
}

#[test]
fn outputs_may_be_one_for_each_command() {
    let bench = Bench::new();
    let outputs = ["--output", "./a", "--output", "pipe"];

    bench.results(&[&["-r", "2"], &outputs[..], &["echo a; seq 100000", "seq 100000"]].concat());

    assert_eq!(bench.file("a").lines().next(), Some("a"));
}

#[test]
fn hyperfine_410_a_shell_may_have_arguments() {
    let bench = Bench::new();
    for shell in ["bash --posix", "bash", "default", "'bash' -e"] {
        let output = bench.ab(&["-r", "2", "-S", shell, "[ 1 = 1 ]"]);

        assert!(output.status.success(), "{shell}: {}", stderr(&output));
    }
}

#[test]
fn exports_have_hyperfine_s_columns() {
    let bench = Bench::new();
    let files: Vec<(&str, &str)> = vec![
        ("markdown", "| Command | Mean [s] | Min [s] | Max [s] | Relative |"),
        ("csv", "command,mean,stddev,median,user,system,min,max,parameter_x"),
        ("asciidoc", "[cols=\"<,>,>,>,>\"]"),
        ("orgmode", "| Command  |  Mean [s] |  Min [s] |  Max [s] |  Relative |"),
    ];
    let mut words = vec!["-r", "2", "-u", "second", "-L", "x", "-1,2", "true|true"];
    let options: Vec<String> = files
        .iter()
        .flat_map(|(kind, _)| [format!("--export-{kind}"), (*kind).to_owned()])
        .collect();
    words.extend(options.iter().map(String::as_str));

    assert!(bench.ab(&words).status.success());

    for (file, head) in files {
        assert_eq!(bench.file(file).lines().next(), Some(head), "{file}");
    }
    assert!(bench.file("markdown").contains("| `true\\|true (x = -1)` | 0.0"));
    assert!(bench.file("csv").lines().nth(1).unwrap().ends_with(",-1"));
    assert!(Path::new(bench.folder.path()).join("orgmode").exists());
}

/// The options of hyperfine 1.20.0's help.
const OPTIONS: &str = "\
    -w,--warmup -m,--min-runs -M,--max-runs -r,--runs -s,--setup --reference --reference-name -p,--prepare \
    -C,--conclude -c,--cleanup -P,--parameter-scan -D,--parameter-step-size -L,--parameter-list -S,--shell -N \
    -i,--ignore-failure --style --sort -u,--time-unit --export-asciidoc --export-csv --export-json \
    --export-markdown --export-orgmode --show-output --output --input -n,--command-name -h,--help -V,--version";

#[test]
fn the_help_has_hyperfine_s_options() {
    let help = stdout(&Bench::new().hyperfine(&["--help"]));
    let option = |line: &str| -> String {
        let words = line.split([' ', '<', '[']).filter(|word| word.starts_with('-'));
        words.map(|word| word.trim_end_matches(',')).collect::<Vec<&str>>().join(",")
    };
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let mut found: Vec<String> = lines.map(option).collect();
    let expected = OPTIONS.split_whitespace().chain(["--sequential"]);
    let mut expected: Vec<String> = expected.map(str::to_owned).collect();
    found.sort();
    expected.sort();

    assert_eq!(found, expected);
}

/// A row for each option of the help: a command line, and what is printed or written to `f`.
const USES: [(&str, &str); 34] = [
    ("-r 2 -w 1|true", "Benchmark 1: true\n  Time (mean ± σ):"),
    ("-r 1|true", "  Time (abs ≡):  "),
    ("--runs 3 --warmup 2|echo >>f", "\n\n\n\n\n"),
    ("-m 3 -M 3|true", "    3 runs\n"),
    ("--min-runs 2 --max-runs 2|true", "    2 runs\n"),
    ("-r 2 -s 'echo s >>f' -c 'echo c >>f'|echo x >>f", "s\nx\nx\nc\n"),
    ("-r 2 --setup 'echo s >>f' --cleanup 'echo c >>f'|echo x >>f", "s\nx\nx\nc\n"),
    ("-r 2 -p 'echo p >>f' -C 'echo c >>f'|echo x >>f", "p\nx\nc\np\nx\nc\n"),
    ("-r 2 --prepare 'echo p >>f' --conclude 'echo c >>f'|echo x >>f", "p\nx\nc\np\nx\nc\n"),
    ("-r 2 --reference 'true 0'|true 1", "Benchmark 1: true 0\n"),
    ("-r 2 --reference 'true 0' --reference-name old|true 1", "Benchmark 1: old\n"),
    ("-r 2 -P n 1 2|true {n}", "Benchmark 2: true 2\n"),
    ("-r 2 --parameter-scan n 1 2|true {n}", "Benchmark 2: true 2\n"),
    ("-r 2 -P n 1 2 -D 0.5|true {n}", "Benchmark 2: true 1.5\n"),
    ("-r 2 -P n 1 2 --parameter-step-size 0.5|true {n}", "Benchmark 3: true 2.0\n"),
    ("-r 2 -L n a,b|true", "Benchmark 2: true (n = b)\n"),
    ("-r 2 --parameter-list n a,b|true {n}", "Benchmark 2: true b\n"),
    ("-r 2 -S 'bash --norc'|[[ 1 ]]", "Benchmark 1: [[ 1 ]]\n"),
    ("-r 2 --shell none|echo $HOME >f", "Benchmark 1: echo $HOME >f\n"),
    ("-r 2 -N|echo $HOME >f", "Benchmark 1: echo $HOME >f\n"),
    ("-r 2 -i|false", "Warning: Ignoring non-zero exit code: 2 executions failed."),
    ("-r 2 --ignore-failure=1|false", "Warning: Ignoring non-zero exit code: 2 executions failed."),
    ("-r 2 --style basic|true", "Benchmark 1: true\n"),
    ("-r 2 --sort command|true a|true b", "Relative speed comparison\n"),
    ("-r 2 -u second|true", "  Time (mean ± σ):      0.0"),
    ("-r 2 --time-unit microsecond|true", " µs    2 runs\n"),
    ("-r 2 --export-asciidoc f|true", "[cols=\"<,>,>,>,>\"]\n|===\n| Command \n| Mean ["),
    ("-r 2 --export-csv f|true", "command,mean,stddev,median,user,system,min,max\ntrue,0.0"),
    (
        "-r 2 --export-json f|true",
        "{\n  \"results\": [\n    {\n      \"command\": \"true\",\n      \"mean\": 0.0",
    ),
    ("-r 2 --export-markdown f|true", "] | Relative |\n|:---|---:|---:|---:|---:|\n| `true` | "),
    ("-r 2 --export-orgmode f|true", "] |  Relative |\n|--+--+--+--+--|\n| =true=  |  "),
    ("-r 1 --show-output|echo hi", "hi\nBenchmark 1: echo hi\n"),
    ("-r 2 --input in --output ./f|cat", "what is read"),
    ("-r 2 -i -n name --command-name other|true|false", "Benchmark 2: other\n"),
];

#[test]
fn every_option_of_the_help_does_what_it_does_there() {
    let is_used = |option: &&str| {
        USES.iter().any(|(words, _)| words.split([' ', '=', '|']).any(|word| word == *option))
    };
    let options = OPTIONS.split([',', ' ']).filter(|option| !option.is_empty());
    let unused: Vec<&str> = options.filter(|option| !is_used(option)).collect();
    assert_eq!(unused, ["-h", "--help", "-V", "--version"]);
    for (line, expected) in USES {
        let bench = Bench::new();
        std::fs::write(bench.folder.path().join("in"), "what is read").unwrap();
        let (options, commands) = line.split_once('|').unwrap();
        let mut words = shlex::split(options).unwrap();
        words.extend(commands.split('|').map(str::to_owned));

        let output = bench.hyperfine(&words.iter().map(String::as_str).collect::<Vec<&str>>());

        let file = std::fs::read_to_string(bench.folder.path().join("f")).unwrap_or_default();
        let seen = [stdout(&output), file].join("\0");
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        assert!(seen.contains(expected), "{line}: {seen}");
    }
}

#[test]
fn a_link_called_hyperfine_needs_no_verb() {
    let bench = Bench::new();
    let link = bench.folder.path().join("hyperfine");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_unixmark"), &link).unwrap();
    let mut command = std::process::Command::new(&link);
    command.env("UNIXMARK_RESULTS", bench.place.results());

    let output = command.args(["-r", "3", "sleep 0.01", "sleep 0.03"]).output().unwrap();

    let text = stdout(&output);
    assert!(text.starts_with("Benchmark 1: sleep 0.01\n  Time (mean ± σ):  "), "{text}");
    assert!(text.contains("\nSummary\n  sleep 0.01 ran\n"), "{text}");
    assert!(text.contains("sleep 0.03"), "{text}");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn commands_are_ranked_once_they_can_be_told_apart() {
    let bench = Bench::new();

    let few = stdout(&bench.hyperfine(&["-r", "2", "true", "true"]));
    let many = stdout(&bench.hyperfine(&["-r", "30", "sleep 0.05", "sleep 0.01"]));

    assert!(few.contains(" ran\n    cannot be told from true\n"), "{few}");
    let (_, summary) = many.split_once("Summary\n  sleep 0.01 ran\n").unwrap();
    assert!(summary.contains(" times faster than sleep 0.05\n"), "{many}");
    assert!(summary.contains("\nsleep 0.01 is "), "{many}");
    assert!(summary.contains(" as fast as sleep 0.05, "), "{many}");
}

/// As hyperfine 1.20, whose own tests expect these lines.
#[test]
fn hyperfine_847_a_summary_is_relative_to_the_reference() {
    let bench = Bench::new();
    let words = ["--debug-mode", "--reference", "sleep 0.1", "sleep 0.02", "sleep 0.3"];

    let summary = stdout(&bench.hyperfine(&words));
    let in_order = stdout(&bench.hyperfine(&[&words[..], &["--sort", "command"]].concat()));

    let (_, lines) = summary.split_once("Summary\n  sleep 0.1 ran\n").unwrap();
    let lines: Vec<&str> = lines.lines().take(2).collect();
    assert!(lines[0].ends_with(" times slower than sleep 0.02"), "{summary}");
    assert!(lines[1].ends_with(" times faster than sleep 0.3"), "{summary}");
    assert!(in_order.contains("  1.00          sleep 0.1\n"), "{in_order}");
}

/// hyperfine's takes the number after `sleep` for the time and executes nothing.
#[test]
fn the_debug_mode_of_hyperfine_s_tests_executes_ten_times() {
    let bench = Bench::new();

    let output = stdout(&bench.hyperfine(&["--debug-mode", "echo x >>f; sleep 0.01"]));

    assert!(output.contains("    10 runs\n"), "{output}");
    assert_eq!(bench.file("f").lines().count(), 10);
}

#[test]
fn what_is_wrong_has_hyperfine_s_words_and_exit_codes() {
    let bench = Bench::new();
    for (words, code, why) in [
        ("-L x 1 -L x 2|true", 1, "Duplicate parameter names: x"),
        ("-n a -n b|true", 1, "Too many --command-name options: Expected 1 at most"),
        (
            "-L x 1,2 -n a -n b|true|echo",
            1,
            "'--command-name' has been specified 2 times. It has to appear exactly once, or exactly 4 times",
        ),
        ("-N|echo 'a", 1, "'echo 'a' cannot be executed without a shell: a quote is open"),
        ("-p x -p y|a|b|c", 1, "The '--prepare' option has to be provided"),
        ("-C x -C y|a|b|c", 1, "The '--conclude' option has to be provided"),
        ("--input missing|true", 1, "The file 'missing' specified as '--input' does not exist"),
        ("--output foo|true", 1, "./foo"),
        ("-r 2|exit 7", 1, "Command terminated with non-zero exit code 7"),
        ("-r 2 -N|nonexistent-program", 1, "Failed to run command 'nonexistent-program'"),
        ("-r 1 -s false|true", 1, "The setup command terminated with a non-zero exit code."),
        ("-r 1 -p false|true", 1, "The preparation command terminated with a non-zero exit code."),
        ("-r 1 -C false|true", 1, "The conclusion command terminated with a non-zero exit code."),
        ("-r 1 -c false|true", 1, "The cleanup command terminated with a non-zero exit code."),
        ("-r 2|kill -9 $$", 1, "The process has been terminated by a signal"),
        ("-r 2 -p|kill -9 $$|true", 1, "The preparation command terminated with a non-zero exit"),
        ("-r 2 -s|kill -9 $$|true", 1, "The setup command terminated with a non-zero exit code."),
        ("-r 2 -C|kill -9 $$|true", 1, "The conclusion command terminated with a non-zero exit"),
        ("-r 2 -c|kill -9 $$|true", 1, "The cleanup command terminated with a non-zero exit code."),
        ("--bogus|true", 2, "unexpected argument '--bogus'"),
        ("-r x|true", 2, "'x' is not a number of executions"),
    ] {
        let (options, commands) = words.split_once('|').unwrap();
        let words: Vec<&str> = options.split(' ').chain(commands.split('|')).collect();

        let output = bench.hyperfine(&words);

        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn all_that_comes_after_the_end_of_options_are_commands() {
    let bench = Bench::new();
    for (words, commands) in [
        ("-r 1 -i -- true|-r|3", "true,-r,3"),
        ("-r 1 -i : -- true|-n b", ":,true,-n b"),
        ("-r 1 -i -- -foo", "-foo"),
    ] {
        let words: Vec<&str> = words
            .split('|')
            .enumerate()
            .flat_map(|(number, word)| match number {
                0 => word.split(' ').collect(),
                _ => vec![word],
            })
            .collect();

        let output = bench.hyperfine(&[&["--export-json", "times.json"], &words[..]].concat());

        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", stderr(&output));
        let json: Value = serde_json::from_str(&bench.file("times.json")).unwrap();
        let results = json["results"].as_array().unwrap();
        assert_eq!(texts(results, "command").join(","), commands);
    }
}

#[test]
fn the_text_ends_in_the_notes_of_ab() {
    let bench = Bench::new();
    let slow_first = "test -e fe || { touch fe; sleep 0.3; }";

    let one = stdout(&bench.hyperfine(&["-r", "2", "sleep 83 & true"]));
    let two = stdout(&bench.hyperfine(&["-r", "12", slow_first, "true"]));

    assert!(one.contains("\n- processes outlived the command and were killed\n"), "{one}");
    assert!(two.contains("\n- the first execution took "), "{two}");
}

#[test]
fn the_plan_is_shown_in_hyperfine_s_place_too() {
    let output = Bench::new().hyperfine(&["--dry-run", "true"]);

    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("\ntrue "), "{}", stdout(&output));
}

#[test]
fn style_none_prints_nothing_but_exports() {
    let bench = Bench::new();

    let output = bench.hyperfine(&["-r", "2", "--style", "none", "--export-markdown", "-", "true"]);

    assert!(stdout(&output).starts_with("| Command | Mean ["), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
    assert!(stdout(&bench.hyperfine(&["--version"])).starts_with("hyperfine 1.20.0 "));
}

#[test]
fn sequential_has_hyperfine_s_order() {
    let bench = Bench::new();
    let around =
        ["-s", "echo s{n} >>f", "-c", "echo c{n} >>f", "-p", "echo p >>f", "-C", "echo q >>f"];
    let words = ["--sequential", "-r", "2", "-w", "1", "-L", "n", "1,2", "echo {n} >>f"];

    let output = bench.hyperfine(&[&words[..], &around].concat());

    let all = |number: &str| {
        format!("s{number} {} c{number}", vec![format!("p {number} q"); 3].join(" "))
    };
    let lines: Vec<String> = bench.file("f").lines().map(str::to_owned).collect();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(lines.join(" "), [all("1"), all("2")].join(" "));
}

#[test]
fn set_ups_that_differ_belong_to_blocks() {
    let bench = Bench::new();
    let around = ["-s", "echo s{n} >>f; echo {n} >tool", "-c", "echo c{n} >>f"];
    let words = ["-r", "10", "-w", "1", "-L", "n", "1,2", "echo x >>f; cat tool >>tools"];

    let results = bench.results(&[&words[..], &around].concat());

    let text = bench.file("f").replace('\n', " ");
    let blocks = |number: &str, executions: &str| {
        text.matches(&format!("s{number} {executions}c{number} ")).count()
    };
    // Ten executions in eight blocks, each with one more for the warm-up.
    for number in ["1", "2"] {
        assert_eq!(blocks(number, "x x "), 6, "{text}");
        assert_eq!(blocks(number, "x x x "), 2, "{text}");
    }
    assert_eq!(bench.file("tools").lines().filter(|line| *line == "1").count(), 18);
    assert!(results.iter().all(|result| result["times"].as_array().unwrap().len() == 10));
}

#[test]
fn a_block_is_one_value() {
    let bench = Bench::new();
    let tool = ["-r", "16", "-L", "ms", "10,30", "-s", "echo sleep 0.0{ms} >tool", "sh ./tool"];

    let output = bench.output("ab -q --format text", &tool);

    let text = stdout(&output);
    let sentence = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(sentence.contains("sh ./tool (ms = 30) "), "{text}");
    assert!(sentence.contains(", 8 blocks of each in "), "{text}");
    assert!(sentence.contains("executed in 8 blocks, each after a set-up of its own"), "{text}");
}

#[test]
fn what_was_executed_before_a_failure_is_exported() {
    let bench = Bench::new();
    for (words, others) in [
        ("-r 1|true|false", "true"),
        ("-r 3|true|exit 3|true x", "true"),
        ("-r 1 -N|true|nonexistent", "true"),
        ("-r 2 --sequential|true 1|true 2|false|true 3", "true 1,true 2"),
        ("-r 2 -p : -p false|true 1|true 2", "true 1"),
        ("-r 2 --timeout 1s --sequential|true 1|sleep 9", "true 1"),
    ] {
        let (options, commands) = words.split_once('|').unwrap();
        let words: Vec<&str> = options.split(' ').chain(commands.split('|')).collect();

        let output = bench.hyperfine(&[&words[..], &["--export-json", "times.json"]].concat());

        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", stderr(&output));
        let json: Value = serde_json::from_str(&bench.file("times.json")).unwrap();
        let results = json["results"].as_array().unwrap();
        assert!(texts(results, "command").join(",").starts_with(others), "{words:?}: {json}");
        let failed = commands.split('|').find(|word| !others.contains(word)).unwrap();
        assert!(!texts(results, "command").contains(&failed), "{words:?}: {json}");
    }
}

/// What public command lines call, as far as it is not on every machine: each ends well at once.
const CALLED: [&str; 17] = [
    "fd", "git", "make", "cargo", "gcc", "clang", "uv", "poetry", "ruff", "flake8", "rg", "node",
    "deno", "vim", "jq", "wc", "main",
];

/// A directory with a link called `hyperfine`, what [`CALLED`] names, and a file.
fn folder_for_public_lines(bench: &Bench) {
    let folder = bench.folder.path();
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_unixmark"), bin.join("hyperfine")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/env", bin.join("sudo")).unwrap();
    for name in CALLED {
        std::os::unix::fs::symlink("/bin/true", bin.join(name)).unwrap();
    }
    std::os::unix::fs::symlink("/bin/true", folder.join("main")).unwrap();
    std::fs::write(folder.join("main.c"), "TODO\n").unwrap();
}

#[test]
fn public_command_lines_do_what_they_do_with_hyperfine() {
    let cases = std::fs::read_to_string(testing::file("tests/cases/hyperfine/lines.txt")).unwrap();
    let cases = cases.split("\n# ").skip(1);
    let mut failures: Vec<String> = Vec::new();
    for case in cases {
        let [source, line, expected] = case.splitn(3, '\n').collect::<Vec<&str>>()[..] else {
            panic!("a case has three lines: {case}");
        };
        let expected = expected.trim_end().strip_prefix("=> ").unwrap();
        let (status, expected) = expected.split_once(' ').unwrap();
        let (place, words) = expected.split_once(": ").unwrap();
        // The number of executions is the line's, or small.
        let is_counted = [" -r", "runs"].iter().any(|option| line.contains(option));
        let line = if is_counted {
            line.to_owned()
        } else {
            line.replace("hyperfine ", "hyperfine -r 3 ")
        };
        let bench = Bench::new();
        folder_for_public_lines(&bench);
        let path = format!("{}/bin:/usr/bin:/bin", bench.folder.path().display());

        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &line]).current_dir(bench.folder.path()).env("PATH", path);
        let output = shell.env("UNIXMARK_RESULTS", bench.place.results()).output().unwrap();

        let seen = match place {
            "stdout" => stdout(&output),
            "stderr" => stderr(&output),
            file => std::fs::read_to_string(bench.folder.path().join(file)).unwrap_or_default(),
        };
        if output.status.code() != status.parse().ok() || !seen.contains(words) {
            failures.push(format!(
                "{source}: {line}: {:?}: {seen}{}",
                output.status,
                stderr(&output)
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
