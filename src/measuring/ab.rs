//! `unixmark ab`: commands that are executed in turn, and which is faster.
//!
//! The commands are the arms of a comparison, the reference first ([`find_arms`]): quoted words,
//! one command in two directories (--base, --head), builds of each side, or one client of several
//! servers. [`to_ask`] makes one test of them, whose conditions are the commands, and adds what is
//! counted, sampled and judged. A single command is timed as `unixmark run` does it
//! ([`to_single_ask`]).
//!
//! Commands take turns, unless --sequential or a set-up of their own puts each in blocks
//! ([`count_blocks`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::limits::{Limit, Limits, TailLimit};
use crate::measuring::builds::{BuildOptions, Builds, file_builds, find_sides, folder_builds};
use crate::measuring::hints;
use crate::measuring::job::measure_and_report;
use crate::measuring::options::{
    Commands, Given, Manner, MatrixOptions, Parameters, PrintedFigures, caption, counted,
    refuse_blank, refuse_blanks, utf8, with_default,
};
use crate::measuring::seeds::has_relative_path;
use crate::measuring::servers::ServerOptions;
use crate::status::{Status, usage};
use crate::terminal::say;
use ::report::Format;
use analysis::{CountLimit, Measure};
use catalogue::{Catalogue, Command, Condition, Instructions, SamplingUnit, Test};
use interop::harness::Tail;
use journal::{Sort, View};
use machine::Machine;
use measure::{Ask, Measured};
use plan::{Arms, Effort, Matrix, Procedure, Purpose};

/// The time that an answer may take, unless the user gives it another.
const USUAL_BUDGET: Duration = Duration::from_secs(60);

/// The help of --quantile in `ab`, which compares times, too.
const QUANTILE_HELP: &str = "\
    Also compare this quantile of the times, of which 0.99 needs 1000 executions of each command; \
    with --harness, that of each list of numbers and each HDR histogram that a command prints, as \
    the latencies of its requests ({\"name\": [number, …]})";

/// hyperfine's orders of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    Auto,
    Command,
    MeanTime,
}

impl Order {
    fn to_sort(self) -> Option<Sort> {
        match self {
            Order::Auto => None,
            Order::Command => Some(Sort::Command),
            Order::MeanTime => Some(Sort::MeanTime),
        }
    }
}

/// hyperfine's styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Style {
    Auto,
    Basic,
    Full,
    Nocolor,
    Color,
    None,
}

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("budget", |arg| with_default(arg, "1m")),
    mut_arg("copies", |arg| arg.hide(true)),
    mut_arg("build", |arg| arg.long("programs")),
    mut_arg("harness", |arg| arg.conflicts_with("same_output")),
    mut_arg("quantile", |arg| arg.help(QUANTILE_HELP)),
    // The letters are hyperfine's.
    mut_arg("iterations", |arg| arg.short(None)),
    mut_arg("comment", |arg| arg.short(None)),
    mut_arg("copies", |arg| arg.short(None)),
    mut_arg("ignore_failure", |arg| arg.short('i')),
    mut_arg("cleanup", |arg| arg.short('c')),
    mut_arg("min_runs", |arg| arg.short('m')),
    mut_arg("max_runs", |arg| arg.short('M')),
    group(clap::ArgGroup::new("sides").args(["base", "serve", "builds"]).multiple(true))
)]
pub(crate) struct Arguments {
    /// Commands, each quoted as one word and executed by a shell; all are compared with the first
    #[arg(value_name = "COMMAND", required_unless_present_any = ["base", "serve", "builds"])]
    quoted: Vec<String>,
    /// Execute one command in two directories, this one and that of --head
    #[arg(
        long,
        value_name = "DIR",
        requires_all = ["head", "words"],
        conflicts_with_all = ["quoted", "reference", "parameter_list", "parameter_scan"]
    )]
    base: Option<PathBuf>,
    /// The directory that is compared with --base
    #[arg(long, value_name = "DIR", requires = "base")]
    head: Option<PathBuf>,
    /// The command for --base and --head, the client of --serve, or the arguments of --builds
    #[arg(last = true, value_name = "COMMAND", requires = "sides")]
    words: Vec<OsString>,
    /// Compare all commands with this one, in place of the first
    #[arg(long, value_name = "COMMAND")]
    reference: Option<String>,
    /// Name of the reference in reports
    #[arg(long, value_name = "NAME", value_parser = caption, requires = "reference")]
    reference_name: Option<String>,
    /// Order of the commands in hyperfine's tables and its summary: by time in the summary and as
    /// given in tables (auto), as given, or by mean time
    #[arg(long, value_enum, default_value_t = Order::Auto, hide_default_value = true)]
    sort: Order,
    /// Measure one command after the other, each with --setup and --cleanup of its own, in place of
    /// taking turns: what changes on the machine meanwhile looks like a difference of commands
    #[arg(long, conflicts_with_all = ["harness", "budget", "precision", "fail_on"])]
    sequential: bool,
    /// hyperfine's styles, of which `none` prints nothing; colors go by the terminal
    #[arg(long, value_enum, value_name = "TYPE")]
    style: Option<Style>,
    /// Exit with status 1 if a command is significantly slower than the first by at least this much
    /// (2%), by a quantile of its times (p99:10%), or exceeds it in a count by more than a limit
    /// (syscalls:0,rss:5%). Counts are
    /// syscalls, processes, threads, bytes_read, bytes_written, rss, faults, switches,
    /// instructions, cycles, allocations, allocated and any system call (openat:1)
    #[arg(long, value_name = "PERCENT|p99:PERCENT|COUNT:LIMIT,…", value_delimiter = ',')]
    fail_on: Vec<Limit>,
    /// Exit with status 4 if a loss of the --fail-on size is neither shown nor ruled out: too few
    /// executions, or too much noise
    #[arg(long, requires = "fail_on", conflicts_with = "bisect")]
    strict_gate: bool,
    /// Also count what each command does: system calls by name, processes, memory, instructions,
    /// allocations; in extra executions that are not timed
    #[arg(long)]
    counts: bool,
    /// Also say where the time goes: which functions take more or less of it, from samples of extra
    /// executions that are not timed. They get at least half of the budget
    #[arg(long = "where")]
    functions: bool,
    /// For `git bisect run`: status 0 if no command is slower than the first by more than
    /// --fail-on, 1 if one is, 125 if undecided
    #[arg(long, requires = "fail_on", conflicts_with_all = ["counts", "functions", "harness"])]
    bisect: bool,
    /// Check first that all commands print the same
    #[arg(long)]
    same_output: bool,
    #[command(flatten)]
    figures: PrintedFigures,
    #[command(flatten)]
    builds: BuildOptions,
    #[command(flatten)]
    servers: ServerOptions,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

impl Arguments {
    /// The quoted commands. Of a command line of hyperfine's, those after `--` are quoted, too.
    ///
    /// # Errors
    /// One of those is not UTF-8.
    fn all_quoted(&self) -> Result<Vec<String>> {
        let mut quoted = self.quoted.clone();
        for word in &self.words {
            quoted.push(utf8(word)?);
        }
        Ok(quoted)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let bisect_limit = arguments.fail_on.iter().find_map(Limit::time).filter(|_| arguments.bisect);
    run_with(arguments, |measured, status| match bisect_limit {
        Some(percent) => bisect_status(measured, status, percent),
        None => status,
    })
}

/// Compares commands; `to_status` turns the usual exit status, and what was measured, into the
/// verb's.
///
/// # Errors
/// As [`measure_and_report`].
pub(super) fn run_with(
    arguments: &Arguments,
    to_status: impl FnOnce(&Measured, Status) -> Status,
) -> Result<Status> {
    let is_silent = arguments.style == Some(Style::None);
    let layout = arguments.options.measuring.shown().filter(|_| !is_silent);
    let exports = match arguments.figures.harness {
        Some(_) => arguments.commands.report_exports(),
        None => arguments.commands.exports([Format::HyperfineMarkdown, Format::HyperfineCsv]),
    };

    let machine = Machine::here();
    let builds = match make_builds(arguments, &machine)? {
        Ok(builds) => builds,
        Err(status) => return Ok(status),
    };

    measure_and_report(
        &arguments.options,
        &exports,
        layout,
        |catalogue, _| {
            let ask = to_ask(arguments, builds.as_ref(), catalogue).map_err(usage)?;
            warn_of_harness(arguments);
            say_quantile_need(&ask);
            Ok(ask)
        },
        to_status,
    )
}

/// The exit status for `git bisect run`, where a revision is bad if a command is slower by more
/// than this percentage.
fn bisect_status(measured: &Measured, status: Status, percent: f64) -> Status {
    if matches!(status, Status::Signal(_)) {
        return status;
    }
    match (status, measured.results.cost().and_then(|cost| cost.is_slower(percent))) {
        (_, Some(true)) => Status::Failed,
        (Status::Fine, Some(false)) => Status::Fine,
        _ => Status::Undecided,
    }
}

/// Builds both sides with the command of --build. `None` if there is none, or with --dry-run.
/// Returns the exit status instead if a signal came.
fn make_builds<'m>(
    arguments: &Arguments,
    machine: &'m Machine,
) -> Result<Result<Option<Builds<'m>>, Status>> {
    let Arguments { base, head, words, builds: build_options, options, .. } = arguments;
    build_options.check().map_err(usage)?;
    let (Some(command), Some(base), Some(head)) = (&build_options.build_command, base, head) else {
        return Ok(Ok(None));
    };

    // Wrong usage is said before minutes are spent on builds.
    to_ask(arguments, None, &Catalogue::load()?).map_err(usage)?;
    if options.measuring.dry_run {
        say(&build_options.describe()?);
        return Ok(Ok(None));
    }

    let program = words.first().map(Path::new).unwrap_or(Path::new(""));
    if !has_relative_path(program) {
        say(&format!(
            "note: '{}' is the same file for all builds, as it is not in their directories; to measure a program that \
             they built, give its path there, such as ./tool",
            program.display()
        ));
    }
    let setup = options.measuring.setup(machine)?;
    let builds = build_options.build_sides(
        command,
        [base, head],
        program,
        (&setup, options.measuring.loudness()),
        machine,
    )?;
    Ok(builds.map(Some))
}

/// Warns of a benchmark program that is timed as a whole.
fn warn_of_harness(arguments: &Arguments) {
    if arguments.figures.harness.is_some() {
        return;
    }
    let words: Vec<String> =
        arguments.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let unquoted = words::shell(&words);

    let quoted = arguments.reference.iter().chain(&arguments.quoted);
    let hint = std::iter::once(&unquoted)
        .chain(&words)
        .chain(quoted)
        .find_map(|command| hints::suggest_harness(command));
    if let Some(hint) = hint {
        say(&format!("warning: {hint}"));
    }
}

/// Says how many values the quantile needs that is compared, if there is one.
fn say_quantile_need(ask: &Ask) {
    let Some(quantile) = ask.tail else { return };
    let (name, min_values) = (quantile.name(), quantile.min_values());
    say(&match ask.harness {
        Some(_) => format!("the {name} needs lists of at least {min_values} values"),
        None => format!("the {name} needs {min_values} executions of each command"),
    });
}

/// The request that the arguments make. Until there are `builds`, each side is its directory.
fn to_ask(
    arguments: &Arguments,
    builds: Option<&Builds<'_>>,
    catalogue: &Catalogue,
) -> Result<Ask> {
    let Arguments { commands, options, figures, .. } = arguments;
    let limits = Limit::split(&arguments.fail_on)?;
    check_bisect(arguments, &limits)?;
    if options.copies(2, || vec![1])? != [1] {
        bail!(
            "commands that are compared are executed one at a time; leave --copies out, or try `unixmark scale`"
        );
    }
    let arms = find_arms(arguments, builds)?;
    if let [_] = &arms[..] {
        return to_single_ask(arguments, catalogue, arms);
    }

    let blocks = count_blocks(arguments, &arms)?;
    let restarts = arguments.servers.restarts();
    let manner = Manner {
        is_same: arguments.same_output,
        is_read: figures.harness.is_some(),
        blocks,
        servers: arguments.servers.manner(options.measuring.patience),
        windows: restarts,
    };
    let (test, names) = commands.alternating(catalogue, arms, manner)?;
    let test = add_extras(arguments, catalogue, test, &limits)?;
    let test = add_growth(test, builds);
    let quantile = choose_quantile(figures.quantile, limits.tail)?;
    let test = match quantile {
        Some(quantile) if !manner.is_read => with_quantile(&test, quantile, commands)?,
        _ => test,
    };

    let mut ask = comparison_ask(catalogue, (test, &names), (commands, options))?;
    if blocks.is_some() {
        // All executions are in one window.
        let effort = Effort { blocks: Some(1), ..Effort::default() };
        ask.matrix.procedure = Procedure::new(Purpose::Ab, effort);
    }
    if restarts.is_some() {
        // Each block starts the servers anew.
        let Effort { kind, .. } = options.effort_in_blocks()?;
        let effort = Effort { kind, blocks: restarts, ..Effort::default() };
        ask.matrix.procedure = Procedure::new(Purpose::Ab, effort);
    }

    let ask = figures.add_to(Ask {
        gate: limits.time,
        tail_gate: limits.tail.map(|limit| limit.percent),
        is_gate_strict: arguments.strict_gate,
        limits: limits.counts,
        sort: arguments.sort.to_sort(),
        has_reference: arguments.reference.is_some(),
        ..ask
    })?;
    // Set last: it may come from --fail-on alone.
    Ok(Ask { tail: quantile, ..ask })
}

/// Checks that --bisect has a limit of the time, and no other.
fn check_bisect(arguments: &Arguments, limits: &Limits) -> Result<()> {
    let has_time_alone = limits.time.is_some() && limits.tail.is_none() && limits.counts.is_empty();
    ensure!(
        !arguments.bisect || has_time_alone,
        "--bisect goes by the time alone; try --fail-on 2%"
    );
    Ok(())
}

/// The blocks in which each command is executed on its own; `None` if commands take turns.
///
/// # Errors
/// Commands need set-ups of their own, which goes neither with --harness nor with options that end
/// a run by time or width.
fn count_blocks(arguments: &Arguments, arms: &[Given]) -> Result<Option<u32>> {
    let setup_blocks = arguments.commands.own_blocks(arms);
    if setup_blocks.is_some() {
        ensure!(
            arguments.figures.harness.is_none(),
            "--setup or --cleanup depends on a parameter, so the commands cannot take turns, as --harness needs; try --prepare \
             or --conclude"
        );
    }
    let Effort { budget, over, precision, .. } = arguments.options.effort_in_blocks()?;
    if setup_blocks.is_some() {
        ensure!(
            budget.is_none() && over.is_none() && precision.is_none(),
            "--setup or --cleanup depends on a parameter, so the commands are executed in blocks whose number is fixed; try \
             --runs in place of --budget, --over or --precision"
        );
    }
    Ok(if arguments.sequential { Some(1) } else { setup_blocks })
}

/// The test, whose commands are also counted for --counts and limits of counts, and sampled for
/// --where.
fn add_extras(
    arguments: &Arguments,
    catalogue: &Catalogue,
    mut test: Arc<Test>,
    limits: &Limits,
) -> Result<Arc<Test>> {
    if arguments.counts || !limits.counts.is_empty() {
        let instructions = choose_instructions(arguments.counts, &limits.counts);
        test = counted(catalogue, test, instructions)?;
    }
    if arguments.functions {
        test = arguments.commands.sampled(catalogue, test)?;
    }
    Ok(test)
}

/// The test, for which more builds may be made while it is measured.
fn add_growth(test: Arc<Test>, builds: Option<&Builds<'_>>) -> Arc<Test> {
    let Some(builds) = builds else { return test };
    let growth = Some(Arc::clone(&builds.growth));
    Arc::new(Test { growth, ..Arc::unwrap_or_clone(test) })
}

/// The quantile that is compared: that of --quantile, or of --fail-on.
///
/// # Errors
/// They name different ones.
fn choose_quantile(named: Option<Tail>, limit: Option<TailLimit>) -> Result<Option<Tail>> {
    let limited = limit.map(|limit| limit.tail);
    if let (Some(named), Some(limited)) = (named, limited)
        && named != limited
    {
        bail!(
            "--quantile and --fail-on name different quantiles, {} and {}, and a run compares one; give both the same",
            named.name(),
            limited.name()
        );
    }
    Ok(named.or(limited))
}

/// The test with a quantile of its commands' times.
///
/// # Errors
/// The quantile cannot be compared, single executions are not its values, or --runs or --max-runs
/// allows too few.
fn with_quantile(test: &Test, quantile: Tail, commands: &Commands) -> Result<Arc<Test>> {
    let (name, min_values) = (quantile.name(), quantile.min_values());
    ensure!(
        Measure::of_quantile(quantile.share()).is_some(),
        "only the p50, p90, p95, p99 and p99.9 of executions can be compared, not the {name}; name one of these"
    );
    ensure!(
        test.sampled == SamplingUnit::Execution,
        "the {name} is taken over single executions, but here a build, block or server process is one sample, with one median; leave out --quantile and its limit, or have the program print a list of numbers and use --harness json"
    );
    if let Some(runs) = commands.max_executions().filter(|runs| (*runs as usize) < min_values) {
        bail!(
            "the {name} needs {min_values} executions of each command, so that ten are beyond it, and at most {runs} are allowed; raise --runs or --max-runs, or choose a smaller quantile"
        );
    }
    Ok(Arc::new(Test { tails: vec![quantile.share()], ..test.clone() }))
}

/// Whether instructions are counted: a limit of them needs them, --counts takes them if that is
/// short.
fn choose_instructions(counts: bool, limits: &[CountLimit]) -> Instructions {
    if limits.iter().any(|limit| limit.name == "instructions") {
        Instructions::Needed
    } else if counts {
        Instructions::IfShort
    } else {
        Instructions::Unwanted
    }
}

/// The request to compare the commands of `test`, which are called `names`, with the first of them.
pub(super) fn comparison_ask(
    catalogue: &Catalogue,
    (test, names): (Arc<Test>, &[String]),
    (commands, options): (&Commands, &MatrixOptions),
) -> Result<Ask> {
    let (reference, others) = names.split_first().context("there is no command; name two")?;
    let arms = Arms::compared(
        name_condition(reference),
        others.iter().map(|name| name_condition(name)).collect(),
    );
    // The controls are the commands that the program executes twice in some rounds.
    let controls = test.controls() as usize;

    // Where the number of blocks is given, only the user limits the time.
    let mut effort = commands.effort(options.effort_in_blocks()?);
    if effort.blocks.is_none() {
        effort.budget = effort.budget.or(Some(USUAL_BUDGET));
    }

    let matrix = Matrix {
        tests: vec![test],
        copies: vec![1],
        loads: options.loads(catalogue)?,
        arms: Arms { controls, ..arms },
        procedure: Procedure::new(Purpose::Ab, effort),
        ..Matrix::default()
    };
    Ok(Ask { view: View::Ab, time_unit: commands.time_unit, ..options.ask(matrix) })
}

/// A condition that stands for a command: it has its name, and switches nothing.
fn name_condition(command: &str) -> Arc<Condition> {
    Arc::new(Condition { name: command.to_owned(), parts: Vec::new() })
}

/// The request for the time of a single command, as `unixmark run` makes it.
///
/// # Errors
/// An option needs two commands.
fn to_single_ask(arguments: &Arguments, catalogue: &Catalogue, only: Vec<Given>) -> Result<Ask> {
    let Arguments { commands, options, fail_on, same_output, counts, functions, figures, .. } =
        arguments;
    let compares_figures = figures.harness.is_some() || figures.quantile.is_some();
    if !fail_on.is_empty() || *same_output || compares_figures {
        bail!(
            "--fail-on, --same-output, --quantile and --harness compare commands, and there is only one; name another"
        );
    }

    let mut tests = Vec::new();
    for mut test in commands.alone(catalogue, only, Manner::default())? {
        if *counts {
            test = counted(catalogue, test, Instructions::IfShort)?;
        }
        if *functions {
            test = commands.sampled(catalogue, test)?;
        }
        tests.push(test);
    }

    let matrix = Matrix {
        tests,
        copies: vec![1],
        loads: options.loads(catalogue)?,
        procedure: Procedure::new(Purpose::Scores, commands.effort(options.effort()?)),
        ..Matrix::default()
    };
    Ok(Ask { time_unit: commands.time_unit, ..options.ask(matrix) })
}

/// The commands to compare, the reference first.
fn find_arms(arguments: &Arguments, builds: Option<&Builds<'_>>) -> Result<Vec<Given>> {
    let Arguments { base, head, words, commands, servers, .. } = arguments;
    if let Some(builds) = builds {
        let command = Commands::from_words(words)?;
        return Ok(vec![
            built_arm("base", &builds.base, &command),
            built_arm("head", &builds.head, &command),
        ]);
    }
    if let Some(patterns) = arguments.builds.patterns() {
        return find_ready_builds(arguments, patterns);
    }
    if let (Some(base), Some(head)) = (base, head) {
        let command = Commands::from_words(words)?;
        return Ok(vec![
            directory_arm(arguments, "base", base, &command)?,
            directory_arm(arguments, "head", head, &command)?,
        ]);
    }
    if servers.restarts().is_some() {
        return servers.find_arms(commands, words, &arguments.quoted);
    }
    find_quoted_arms(arguments)
}

/// A side of --base and --head that was built several times, in these directories.
fn built_arm(side: &str, folders: &[PathBuf], command: &Command) -> Given {
    let builds = folder_builds(folders, &command.words);
    Given::from(Command { label: side.to_owned(), builds, ..command.clone() })
}

/// The command of --base and --head in the directory of a side.
///
/// # Errors
/// There is no such directory, or the command's executable is missing there and nothing makes it.
fn directory_arm(
    arguments: &Arguments,
    side: &str,
    folder: &Path,
    command: &Command,
) -> Result<Given> {
    let Arguments { commands, servers, builds, .. } = arguments;
    let folder = folder.canonicalize().with_context(|| {
        format!("the directory {} cannot be used; try another --base or --head", folder.display())
    })?;
    utf8(folder.as_os_str())?;

    let makes_program = commands.are_prepared() || builds.build_command.is_some();
    let executable = command.words.first().filter(|word| word.contains('/') && !makes_program);
    if let Some(missing) = executable.filter(|word| !folder.join(word).exists()) {
        bail!("{missing} does not exist in {} (--{side}); was it built?", folder.display());
    }

    let command = Command { label: side.to_owned(), folder: Some(folder), ..command.clone() };
    Ok(Given::from(servers.with_server(commands, command)?))
}

/// The sides of --builds OLD NEW, each the files of a pattern.
fn find_ready_builds(arguments: &Arguments, patterns: [&str; 2]) -> Result<Vec<Given>> {
    ensure!(
        arguments.quoted.is_empty(),
        "--builds takes two patterns of files, and there are more words; quote the patterns, so that the shell leaves \
         them alone, and put the builds' arguments after --: --builds 'old-*' 'new-*' -- input"
    );
    let words = match &arguments.words[..] {
        [] => Vec::new(),
        words => Commands::from_words(words)?.words,
    };

    let mut arms = Vec::new();
    for (name, files) in without_common_directory(patterns).into_iter().zip(find_sides(patterns)?) {
        let builds = file_builds(&files, &words)?;
        let first_words = builds.first().map(|build| build.words.clone()).unwrap_or_default();
        arms.push(Given::from(Command {
            label: name.to_owned(),
            words: first_words,
            builds,
            ..Command::default()
        }));
    }
    Ok(arms)
}

/// Two paths without the directories that both begin with: `base-*` of `/tmp/kept/base-*`.
fn without_common_directory([old, new]: [&str; 2]) -> [&str; 2] {
    let common_bytes = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    // A slash is one byte, so both are cut between characters.
    let last_slash = old.as_bytes()[..common_bytes].iter().rposition(|byte| *byte == b'/');
    // Below the root, the slash is all that they share.
    let name_start = last_slash.filter(|slash| *slash > 0).map_or(0, |slash| slash + 1);
    [&old[name_start..], &new[name_start..]]
}

/// The quoted commands: the reference, then all of them for each combination of parameters.
fn find_quoted_arms(arguments: &Arguments) -> Result<Vec<Given>> {
    let Arguments { reference, reference_name, commands, parameters, .. } = arguments;
    let quoted = arguments.all_quoted()?;
    refuse_blanks(&quoted)?;
    if let Some(reference) = reference {
        refuse_blank("--reference", reference)?;
    }
    if let Some(hint) = hints::suggest_quotes(&quoted) {
        bail!("{hint}");
    }

    let combinations = parameters.combinations()?;
    let texts: Vec<&str> = quoted.iter().map(String::as_str).chain(commands.texts()).collect();
    for unused in parameters.describe_unused(&texts) {
        say(&format!("warning: {unused}"));
    }

    let mut arms = Vec::new();
    if let Some(reference) = reference {
        let command = commands.quoted(reference)?;
        let label = reference_name.clone().unwrap_or(command.label);
        arms.push(Given { is_named: true, ..Given::from(Command { label, ..command }) });
    }
    for values in &combinations {
        for template in &quoted {
            arms.push(Given {
                command: commands.quoted(&values.replace(template))?,
                template: template.clone(),
                values: values.clone(),
                is_named: false,
            });
        }
    }
    Ok(arms)
}
