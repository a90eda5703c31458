//! The lines of Go's benchmarks.
//!
//! Go prints a line for each execution of a benchmark, between lines of configuration and of
//! packages:
//!
//! ```text
//! goos: linux
//! pkg: example.com/hash
//! BenchmarkHash-8   1000   938.5 ns/op   0 B/op
//! --- FAIL: BenchmarkMap-8
//! ok    example.com/hash  3.593s
//! ```
//!
//! [`GoReader`] makes rows of them ([`GoText`]), of which [`read_gobench`] makes runs. A last line
//! without a newline was cut: the benchmark that it names has no figure, and a reason.

use std::collections::{BTreeMap, BTreeSet};

use super::{CUT, metric_of, whole_lines};
use crate::figure::{Heading, Reading, parse_number};
use catalogue::{Metric, unit};
use journal::NoValue;

/// The unit of Go's times.
const GO_TIME: &str = "ns/op";

/// Maximum different numbers at the end of Go's names that are taken for processors. Of more, some
/// are part of a name, since a benchmark on one processor has no number.
const MAX_PROCESSOR_COUNTS: usize = 64;

/// Maximum processors that a number in Go's names is taken for.
const MAX_PROCESSORS: u32 = 65_536;

/// Maximum lines of a configuration that become facts.
const MAX_CONFIGURATION_FACTS: usize = 20;

/// Maximum words of a heading that is marked as one.
const MAX_HEADING_WORDS: usize = 10;

/// Maximum words of one that is not.
const MAX_BARE_HEADING_WORDS: usize = 3;

/// First words of headings that are not marked.
const SIDES: [&str; 14] = [
    "before", "after", "old", "new", "base", "baseline", "head", "main", "master", "current",
    "patched", "original", "with", "without",
];

/// The keys of lines that name the machine.
const MACHINE_KEYS: [&str; 3] = ["goos", "goarch", "cpu"];

/// The key of a heading in a configuration: no line has it.
const HEADING: &str = "";

/// The reason where Go gives none.
const UNEXPLAINED: &str = "go test says so";

/// The name of a benchmark and its figures with their units, in a line of Go's.
fn parse_go_figures(line: &str) -> Option<(&str, Vec<(f64, &str)>)> {
    let mut words = line.split_whitespace();
    let name = words.next().filter(|name| name.starts_with("Benchmark"))?;
    // How often Go repeated it.
    words.next()?.parse::<u64>().ok()?;

    let words: Vec<&str> = words.collect();
    let pairs = words.chunks_exact(2).map(|pair| Some((parse_number(pair[0])?, pair[1])));
    let pairs: Vec<(f64, &str)> = pairs.collect::<Option<_>>()?;
    (!pairs.is_empty()).then_some((name, pairs))
}

/// The figures at the end of a line, `…done 1000 938.5 ns/op`, on which a benchmark has printed
/// words of its own.
fn parse_go_tail(line: &str) -> Option<Vec<(f64, &str)>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut before = &words[..];
    let mut pairs = Vec::new();
    while let [others @ .., number, unit] = before {
        let Some(value) = parse_number(number).filter(|_| parse_number(unit).is_none()) else {
            break;
        };
        pairs.push((value, *unit));
        before = others;
    }
    // How often Go repeated it.
    before.last()?.parse::<u64>().ok()?;

    pairs.reverse();
    pairs.iter().any(|(_, unit)| unit.ends_with("/op")).then_some(pairs)
}

pub(super) fn is_gobench(text: &str) -> bool {
    let has_row =
        text.lines().any(|line| parse_go_figures(line).is_some() || parse_go_end(line).is_some());
    let has_divided_row = || {
        text.lines().any(|line| line.starts_with("Benchmark"))
            && text.lines().any(|line| parse_go_tail(line).is_some())
    };
    has_row || has_divided_row()
}

/// The kind of a missing value, which takes the reason.
type GapWithReason = fn(String) -> NoValue;

/// The name of a benchmark that failed or was skipped, by its line, in which another benchmark's
/// name may be before it.
fn parse_go_end(line: &str) -> Option<(&str, GapWithReason)> {
    let heads: [(&str, GapWithReason); 2] =
        [("--- FAIL: ", NoValue::Failed), ("--- SKIP: ", NoValue::Skipped)];
    heads.into_iter().find_map(|(head, gap)| {
        let (before, name) = line.split_once(head)?;
        let name = name.split_whitespace().next()?;
        let is_own = before.trim().is_empty() || before.trim_start().starts_with("Benchmark");
        (name.starts_with("Benchmark") && is_own).then_some((name, gap))
    })
}

/// The key and value of a line of configuration, `goos: linux`. A key begins with a small letter
/// and has neither capitals nor blanks.
fn parse_go_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_lowercase())
        && !key.contains(|c: char| c.is_uppercase() || c.is_whitespace());
    let value = value.strip_prefix([' ', '\t']).unwrap_or(value);
    // An address such as `http://…` is no configuration.
    (is_key && !value.starts_with("//")).then_some((key, value.trim()))
}

/// The words of a line that people put above results, `Before:`, `## Before`, `**Before**` or
/// `Before`, which distinguish them from those above.
fn parse_heading(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let marked = line
        .strip_suffix(':')
        .or_else(|| line.strip_prefix("**")?.strip_suffix("**"))
        .or_else(|| line.strip_prefix('#'));
    let words = marked.unwrap_or(line).trim_matches(['#', '*', ':', ' ']);
    let count = words.split_whitespace().count();
    let first = words.split_whitespace().next().unwrap_or_default().to_lowercase();
    // The name of a benchmark, and what it has printed after it.
    if first.starts_with("benchmark") && !matches!(first.as_str(), "benchmark" | "benchmarks") {
        return None;
    }
    let is_heading = match marked {
        Some(_) => (1..=MAX_HEADING_WORDS).contains(&count),
        None => count <= MAX_BARE_HEADING_WORDS && SIDES.contains(&first.as_str()),
    };
    (is_heading && !line.starts_with(' ')).then_some(words)
}

/// The unit of a line such as `Unit B/op better=lower`, and whether higher is better.
fn parse_go_unit(line: &str) -> Option<(&str, Option<bool>)> {
    let (unit, settings) = line.strip_prefix("Unit ")?.split_once(' ')?;
    let is_higher_better = settings.split_whitespace().find_map(|setting| match setting {
        "better=higher" => Some(true),
        "better=lower" => Some(false),
        _ => None,
    });
    Some((unit, is_higher_better))
}

/// The line that ends the output of a package: `ok  \tencoding/base32\t3.593s`,
/// `FAIL\tc [build failed]`.
struct GoPackage<'t> {
    name: &'t str,
    has_failed: bool,
    /// The time of the package, or a remark in brackets.
    remark: &'t str,
}

impl<'t> GoPackage<'t> {
    fn parse(line: &'t str) -> Option<GoPackage<'t>> {
        let (word, after) = line.split_once([' ', '\t'])?;
        let (name, remark) = after.trim_start().split_once([' ', '\t'])?;
        let (is_ok, remark) = (word == "ok", remark.trim());
        let is_time = remark.starts_with(|c: char| c.is_ascii_digit());
        let is_end = (is_ok || word == "FAIL") && (is_time || remark.starts_with(['[', '(']));
        is_end.then_some(GoPackage { name, has_failed: !is_ok, remark })
    }
}

/// A line with the outcome of a benchmark, or of a package as a whole.
struct GoRow<'t> {
    /// The number of its configuration.
    configuration: usize,
    package: &'t str,
    /// Empty of a package as a whole.
    name: &'t str,
    outcome: GoOutcome<'t>,
}

/// A line that has the name of a benchmark and no figures.
struct GoHeading<'t> {
    configuration: usize,
    package: &'t str,
    name: &'t str,
    /// What the line has after the name.
    remark: String,
    /// True if Go began the line of a result, to which the benchmark added words of its own.
    is_begun: bool,
}

/// Where the output of a package begins, among the rows and the headings.
#[derive(Clone, Copy)]
struct OutputStart {
    row: usize,
    heading: usize,
}

enum GoOutcome<'t> {
    /// Numbers with their units.
    Figures(Vec<(f64, &'t str)>),
    Nothing(NoValue),
}

impl<'t> GoOutcome<'t> {
    fn failed(reason: &str) -> Self {
        GoOutcome::Nothing(NoValue::Failed(reason.to_owned()))
    }

    fn of_line(pairs: Vec<(f64, &'t str)>, is_cut: bool) -> Self {
        if is_cut { GoOutcome::failed(CUT) } else { GoOutcome::Figures(pairs) }
    }
}

/// The keys and values of lines of configuration, without the package.
type GoConfiguration<'t> = BTreeMap<&'t str, &'t str>;

/// A text of Go's, line by line.
#[derive(Default)]
struct GoText<'t> {
    /// Each once.
    configurations: Vec<GoConfiguration<'t>>,
    rows: Vec<GoRow<'t>>,
    /// Whether higher is better, for the units that lines say it of.
    is_higher_better: BTreeMap<&'t str, bool>,
    headings: Vec<GoHeading<'t>>,
    /// Packages that failed, each with the number of its configuration.
    failed_packages: Vec<(usize, GoPackage<'t>)>,
}

/// Reads the figures of Go's benchmarks. Those of `-count` are repetitions of one; where there are
/// several packages, a name has its package.
///
/// Lines of configuration that change make a run of their own if a benchmark comes under both, or
/// if they name another machine: a program may also print such lines by itself.
pub(super) fn read_gobench(text: &str) -> Vec<Reading> {
    let go = GoText::read(text);
    let has_several_packages = go.has_several_packages();
    let have_processors = go.have_names_processors();
    let is_split = go.has_several_runs() || go.has_several_machines();

    let mut runs: Vec<Reading> = Vec::new();
    let mut run_numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for row in &go.rows {
        let configuration = if is_split { row.configuration } else { 0 };
        let run = *run_numbers.entry(configuration).or_insert_with(|| {
            runs.push(go.begin_run(row.configuration, is_split));
            runs.len() - 1
        });

        let (benchmark, copies) =
            split_processors(row.name).filter(|_| have_processors).unwrap_or((row.name, 1));
        let name = match (row.package, benchmark) {
            (package, "") => package.to_owned(),
            ("", benchmark) => benchmark.to_owned(),
            (package, benchmark) if has_several_packages => format!("{package}.{benchmark}"),
            (_, benchmark) => benchmark.to_owned(),
        };
        go.add_figures(row, name, copies, &mut runs[run]);
    }
    runs
}

/// The name of a benchmark, and the number of processors that Go appends to it unless it is 1.
fn split_processors(name: &str) -> Option<(&str, u32)> {
    let (name, digits) = name.rsplit_once('-')?;
    let is_number = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count = digits.parse().ok().filter(|count| is_number && *count <= MAX_PROCESSORS)?;
    Some((name, count))
}

/// The name of a benchmark without processors.
fn bare_name(name: &str) -> &str {
    split_processors(name).map_or(name, |(bare, _)| bare)
}

/// Reads a text of Go's, line by line.
#[derive(Default)]
struct GoReader<'t> {
    go: GoText<'t>,
    configuration: GoConfiguration<'t>,
    /// The number of the configuration above the line.
    number: usize,
    /// The package that the last line `pkg: NAME` named.
    package: &'t str,
    /// The output of a package that no line has named yet: its last line will.
    unnamed_from: Option<OutputStart>,
    /// True after a heading, until a line that ends its benchmark: its figures may follow.
    is_open: bool,
}

impl<'t> GoReader<'t> {
    /// Reads a line by its kind. `next` is the line after it, `is_cut` is true of a last line
    /// without a newline.
    fn read_line(&mut self, line: &'t str, next: Option<&'t str>, is_cut: bool) {
        self.number = self.go.number_of(&self.configuration);

        if let Some((unit, is_higher_better)) = parse_go_unit(line) {
            let direction = is_higher_better.map(|is_higher| (unit, is_higher));
            self.go.is_higher_better.extend(direction);
        } else if let Some((name, gap)) = parse_go_end(line) {
            // The line with the reason is read as any other, too: a program may print anything.
            let reason = next.filter(|next| next.starts_with([' ', '\t']));
            let reason = reason.map_or(UNEXPLAINED, str::trim);
            self.add_row(name, GoOutcome::Nothing(gap(reason.to_owned())));
        } else if let Some((name, pairs)) = parse_go_figures(line) {
            self.add_row(name, GoOutcome::of_line(pairs, is_cut));
        } else if let Some(words) = parse_heading(line) {
            self.configuration.insert(HEADING, words);
        } else if line.starts_with("Benchmark") {
            self.read_benchmark(line, is_cut);
        } else if let Some(pairs) = parse_go_tail(line).filter(|_| self.is_open) {
            let name = self.go.headings.pop().map_or("", |heading| heading.name);
            self.add_row(name, GoOutcome::of_line(pairs, is_cut));
        } else if let Some(package) = GoPackage::parse(line) {
            self.end_package(package);
        } else if let Some((key, value)) = parse_go_key(line) {
            if key == "pkg" {
                (self.package, self.unnamed_from) = (value, None);
            } else {
                self.configuration.insert(key, value);
            }
        }
    }

    /// Reads a line that begins with a benchmark's name, and has figures behind words of its own or
    /// none.
    fn read_benchmark(&mut self, line: &'t str, is_cut: bool) {
        let (name, after) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(pairs) = parse_go_tail(line) {
            self.add_row(name, GoOutcome::of_line(pairs, is_cut));
            return;
        }

        self.go.headings.push(GoHeading {
            configuration: self.number,
            package: self.package,
            name,
            remark: if is_cut { CUT } else { after.trim() }.to_owned(),
            is_begun: split_processors(name).is_some() && !after.trim().is_empty(),
        });
        self.is_open = true;
    }

    /// Adds the outcome of a benchmark, which ends it.
    fn add_row(&mut self, name: &'t str, outcome: GoOutcome<'t>) {
        let (configuration, package) = (self.number, self.package);
        self.go.rows.push(GoRow { configuration, package, name, outcome });
        self.is_open = false;
    }

    /// Ends the output of a package, which gets its name if no line above had it.
    fn end_package(&mut self, package: GoPackage<'t>) {
        if let Some(start) = self.unnamed_from {
            self.go.name_package(package.name, start);
        }
        self.unnamed_from = Some(self.go.end());
        self.is_open = false;
        if package.has_failed {
            self.go.failed_packages.push((self.number, package));
        }
    }
}

/// The benchmarks that have an outcome.
#[derive(Default)]
struct KnownBenchmarks<'t> {
    /// Packages and names.
    names: BTreeSet<(&'t str, &'t str)>,
    /// What has parts: `BenchmarkSort` of `BenchmarkSort/large`.
    wholes: BTreeSet<&'t str>,
}

impl<'t> KnownBenchmarks<'t> {
    fn add(&mut self, package: &'t str, name: &'t str) {
        self.names.insert((package, bare_name(name)));
        self.wholes.extend(name.match_indices('/').map(|(end, _)| &name[..end]));
    }
}

impl<'t> GoText<'t> {
    fn read(text: &'t str) -> GoText<'t> {
        let start = OutputStart { row: 0, heading: 0 };
        let mut reader = GoReader { unnamed_from: Some(start), ..GoReader::default() };
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let next = lines.peek().copied();
            let is_cut = next.is_none() && !text.ends_with('\n');
            reader.read_line(line, next, is_cut);
        }

        let mut go = reader.go;
        let has_failed = whole_lines(text).any(|line| {
            line.starts_with("FAIL") || line.starts_with("panic:") || line.contains("\tpanic:")
        });
        go.add_broken_off(has_failed);
        go.add_failed_packages();
        go
    }

    /// Where the output of the next package begins.
    fn end(&self) -> OutputStart {
        OutputStart { row: self.rows.len(), heading: self.headings.len() }
    }

    /// Gives a package's name to the rows and headings from `start` on.
    fn name_package(&mut self, name: &'t str, start: OutputStart) {
        for row in &mut self.rows[start.row..] {
            row.package = name;
        }
        for heading in &mut self.headings[start.heading..] {
            heading.package = name;
        }
    }

    /// Adds a row for each heading whose benchmark broke off: it was cut, its line was begun, or
    /// the run failed, and nothing else is known of the benchmark. Other headings are those of
    /// benchmarks with parts, or of `-v`.
    fn add_broken_off(&mut self, has_failed: bool) {
        let mut known = KnownBenchmarks::default();
        for row in &self.rows {
            known.add(row.package, row.name);
        }

        for heading in std::mem::take(&mut self.headings) {
            let GoHeading { configuration, package, name, remark, is_begun } = heading;
            let bare = bare_name(name);
            let is_known = known.names.contains(&(package, bare)) || known.wholes.contains(bare);
            if (has_failed || is_begun || remark == CUT) && !is_known {
                let reason = if remark.is_empty() { "it has no result" } else { &remark };
                let outcome = GoOutcome::failed(reason);
                known.add(package, name);
                self.rows.push(GoRow { configuration, package, name, outcome });
            }
        }
    }

    /// Adds a row for each package that failed, unless a benchmark of it has the reason.
    fn add_failed_packages(&mut self) {
        for (configuration, package) in std::mem::take(&mut self.failed_packages) {
            let is_known = self.rows.iter().any(|row| {
                row.package == package.name && matches!(row.outcome, GoOutcome::Nothing(_))
            });
            if !is_known {
                let has_reason = package.remark.starts_with('[');
                let reason = if has_reason { package.remark } else { UNEXPLAINED };
                let outcome = GoOutcome::failed(reason);
                self.rows.push(GoRow { configuration, package: package.name, name: "", outcome });
            }
        }
    }

    /// The number of a configuration, which is added if need be.
    fn number_of(&mut self, configuration: &GoConfiguration<'t>) -> usize {
        let known = self.configurations.iter().rposition(|known| known == configuration);
        known.unwrap_or_else(|| {
            self.configurations.push(configuration.clone());
            self.configurations.len() - 1
        })
    }

    fn has_several_packages(&self) -> bool {
        let named = self.rows.iter().filter(|row| !row.name.is_empty());
        named.map(|row| row.package).collect::<BTreeSet<&str>>().len() > 1
    }

    /// True if the numbers at the end of names may be numbers of processors: they are few.
    fn have_names_processors(&self) -> bool {
        let counts = self.rows.iter().filter_map(|row| Some(split_processors(row.name)?.1));
        counts.collect::<BTreeSet<u32>>().len() <= MAX_PROCESSOR_COUNTS
    }

    /// True if a benchmark has rows under two configurations.
    fn has_several_runs(&self) -> bool {
        let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        self.rows.iter().any(|row| {
            *first.entry((row.package, row.name)).or_insert(row.configuration) != row.configuration
        })
    }

    /// True if rows come under different machines.
    fn has_several_machines(&self) -> bool {
        MACHINE_KEYS.iter().any(|key| {
            let configurations =
                self.rows.iter().map(|row| &self.configurations[row.configuration]);
            let values: BTreeSet<&str> =
                configurations.filter_map(|lines| lines.get(key).copied()).collect();
            values.len() > 1
        })
    }

    /// A run with the facts of its configuration. One of several is labelled by the lines in which
    /// the configurations of all runs differ.
    fn begin_run(&self, number: usize, is_split: bool) -> Reading {
        let configuration = &self.configurations[number];
        let mut reading = Reading::default();
        for (key, value) in configuration.iter().take(MAX_CONFIGURATION_FACTS) {
            match *key {
                "goos" => reading.add_fact("system.os", "Operating system", "System", value),
                "goarch" => {
                    reading.add_fact("system.architecture", "Architecture", "System", value);
                }
                "cpu" => reading.add_fact("cpu.model", "Model", "Processor", value),
                HEADING => reading.add_fact("imported.go.heading", "Heading", "Imported", value),
                key => reading.add_fact(&format!("imported.go.{key}"), key, "Imported", value),
            }
        }

        if is_split {
            let used: BTreeSet<usize> = self.rows.iter().map(|row| row.configuration).collect();
            let label: Vec<String> = configuration
                .iter()
                .filter(|(key, value)| {
                    used.iter().any(|other| self.configurations[*other].get(*key) != Some(*value))
                })
                .map(|(key, value)| match *key {
                    HEADING => (*value).to_owned(),
                    key => format!("{key}: {value}"),
                })
                .collect();
            reading.label = label.join(", ");
        }
        reading
    }

    /// Adds the figures of a row to a run: the time under the benchmark's name, each other figure
    /// with its unit in the name.
    fn add_figures(&self, row: &GoRow<'_>, name: String, copies: u32, run: &mut Reading) {
        let pairs = match &row.outcome {
            GoOutcome::Figures(pairs) => pairs,
            GoOutcome::Nothing(gap) => {
                let time = Heading::time(name, GO_TIME).with_copies(copies);
                run.add_outcome(&time, Err(gap.clone()));
                return;
            }
        };

        for (value, unit) in pairs {
            let metric = match (self.is_higher_better.get(unit), metric_of(unit)) {
                (Some(true), Metric::Rate) => Metric::Rate,
                (Some(true), _) => Metric::Yield,
                (Some(false), Metric::Time) => Metric::Time,
                (Some(false), _) => Metric::Amount,
                (None, metric) => metric,
            };
            let is_time = unit::are_alike(unit, GO_TIME);
            let label = if is_time { name.clone() } else { format!("{name} {unit}") };
            run.add_outcome(&Heading { label, copies, unit, metric }, Ok(*value));
        }
    }
}

/// True for the end of a package, for one without tests, and for the first line of configuration.
pub(super) fn is_of_go(line: &str) -> bool {
    GoPackage::parse(line).is_some() || line.starts_with("?   \t") || line.starts_with("goos: ")
}
