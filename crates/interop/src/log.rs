//! Reads UnixBench's `.log`, which has every pass of every test, with the report of each copy:
//!
//! ```text
//! ########################################################
//! Pipe Throughput -- 2 copies
//! ==> "/root/UnixBench/pgms/pipe" 10
//!
//! #### Pass 1
//!
//! # COUNT0: 1000                  the count, or the rate if COUNT1 is 0
//! # COUNT1: 1                     the time base: seconds that the rate is per
//! # COUNT2: lps                   the unit
//! # elapsed: 10.000000
//! # pid: 7
//! # status: 0
//!   …                             the other copy, and the other passes
//! >>>> score: 152.479506819769
//! ```
//!
//! A rule and a title begin a *section*: one test at one number of copies. Its passes become the
//! trials of one cell, all of them; dropping the worst third is left to the analysis. UnixBench's
//! score is read only to check the result against it.
//!
//! A log has no header and no clock. Its date is that of the file's name, and a trial begins where
//! the one before it ended.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::lines::measured_number;
use super::parts::Starts;
use super::text::Text;
use analysis::Results;
use catalogue::Catalogue;
use journal::{Cell, Copy, Journal, Slice, Trial, Warning};

/// Maximum relative difference between UnixBench's score, printed with fifteen digits, and ours.
const MAX_SCORE_ERROR: f64 = 1e-9;

/// Maximum length of a pass that is believed: thirty years, which still fit in nanoseconds.
const MAX_PASS_SECONDS: f64 = 1e9;

/// Minimum number of `#` in a rule above a title.
const MIN_RULE_LENGTH: usize = 20;

/// The name of a score that a program computed itself, unless the catalogue has one.
const OWN_SCORE: &str = "score";

/// Fields of UnixBench's harness: every copy has them, however it ended.
const HARNESS_FIELDS: [&str; 3] = ["COUNT0", "elapsed", "status"];

/// The report of one copy by field: `COUNT0`, `elapsed` and so on. A field that the log repeats
/// begins the report of the next copy.
type Fields<'t> = BTreeMap<&'t str, &'t str>;

/// True if a line shows that its text is a log.
pub(super) fn is_log_line(line: &str) -> bool {
    pass_number(line).is_some() || parse_field(line).is_some_and(|(name, _)| name == "COUNT0")
}

pub(super) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_log_line)
}

/// Notes where logs begin: where a section comes again.
pub(super) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    // The number of the line above, if it is a rule.
    let mut rule = None;
    for (number, line) in text.lines() {
        let above = rule.take();
        if is_rule(line) {
            rule = Some(number);
        } else if let (Some(above), Some(Title { label, copies })) = (above, parse_title(line)) {
            starts.may_begin(above);
            starts.note_mark(number, format!("{copies} {label}"));
        }
    }
}

/// Reads a log. Never fails: a damaged one yields what can still be read.
pub(super) fn read_text(text: &Text<'_>, draft: Draft<'_>) -> anyhow::Result<Vec<Journal>> {
    Ok(vec![read(text.raw, draft)])
}

fn read(text: &str, mut draft: Draft<'_>) -> Journal {
    // Otherwise the draft itself warns that there is no date.
    if !draft.run.started.is_empty() {
        let date = "its date is that of the file's name, and the hour is unknown";
        draft.warn(format!("the log has no clock: {date}"));
    }
    draft.warn("the log does not describe the system; the report next to it does".to_owned());

    let mut reader = Reader { draft, section: None, expects_title: false, scores: Vec::new() };
    for (index, line) in text.lines().enumerate() {
        reader.read_line(index + 1, line);
    }
    reader.finish_section();

    let Reader { draft, scores, .. } = reader;
    let catalogue = draft.catalogue;
    let mut journal = draft.finish();
    warn_about_scores(&scores, &mut journal, catalogue);
    journal
}

/// Warns of printed scores that differ from those of their passes. Each has the number of its cell.
fn warn_about_scores(scores: &[(usize, f64)], journal: &mut Journal, catalogue: &Catalogue) {
    let results = Results::new(journal, catalogue, None);
    for (cell, printed) in scores.iter().copied() {
        let Some(figure) = results.figures.iter().find(|figure| figure.cell.id == cell) else {
            continue;
        };
        let ours = figure.score.value;
        if (ours - printed).abs() > MAX_SCORE_ERROR * printed.max(1.0) {
            let text =
                format!("the log has {printed:.1} as its score, and its passes give {ours:.1}");
            journal.warnings.push(Warning { cell: Some(cell), text });
        }
    }
}

/// A log on the way to a journal.
struct Reader<'a, 't> {
    draft: Draft<'a>,
    /// The section that is being read.
    section: Option<Section<'t>>,
    /// True if the line before was a rule, which a title follows.
    expects_title: bool,
    /// UnixBench's score of each cell that has one.
    scores: Vec<(usize, f64)>,
}

impl<'t> Reader<'_, 't> {
    /// Reads a line, with its number from 1.
    fn read_line(&mut self, number: usize, line: &'t str) {
        let expects_title = std::mem::take(&mut self.expects_title);

        if is_rule(line) {
            self.finish_section();
            self.expects_title = true;
        } else if expects_title {
            match parse_title(line) {
                Some(Title { label, copies }) => {
                    self.section = Some(Section { label, copies, ..Section::default() });
                }
                None => self.draft.skip_line(number, line),
            }
        } else if let Some(section) = &mut self.section {
            section.read_line(line);
        } else if pass_number(line).is_some() {
            // A pass without a title is of no known test. It has one warning, not one per field.
            self.draft.skip_line(number, line);
        }
    }

    /// Adds the section that ends here to the draft. Of a test that the log has twice, the last
    /// section counts.
    fn finish_section(&mut self) {
        let Some(section) = self.section.take() else {
            return;
        };
        let Some(cell) = self.add_cell(&section) else {
            return;
        };
        let trials = self.make_trials(&section, &cell);
        self.draft.set_trials(cell.id, trials);

        self.scores.retain(|(other, _)| *other != cell.id);
        if let Some(score) = section.score {
            self.scores.push((cell.id, score));
        } else {
            let label = section.label;
            let copies = words::copies(section.copies);
            self.draft.warn(format!(
                "the log ends before '{label}' of {copies} was scored: the passes it has are imported"
            ));
        }
    }

    /// Adds the cell of a section, with the unit and the time base of the first copy that printed
    /// these.
    fn add_cell(&mut self, section: &Section<'_>) -> Option<Cell> {
        let mut copies = section.passes.iter().flatten();
        let first = copies.find(|fields| fields.contains_key("COUNT1"));
        let unit = first.and_then(|fields| fields.get("COUNT2")).copied().unwrap_or("");
        let timebase = first.and_then(|fields| number_in(fields, "COUNT1")).unwrap_or(1.0);

        let id = self.draft.cell_for(section.label, section.copies, unit);
        let cell = self.draft.cell_mut(id)?;
        cell.timebase = timebase;
        cell.scale = 1.0;
        // A program without a time base has computed its score itself, as Whetstone does.
        let computes_score = timebase == 0.0;
        let own_score = cell.value.take().unwrap_or_else(|| OWN_SCORE.to_owned());
        cell.value = computes_score.then_some(own_score);
        Some(cell.clone())
    }

    /// Makes a trial of each pass of a section. A pass that failed is a trial without copies.
    fn make_trials(&mut self, section: &Section<'_>, cell: &Cell) -> Vec<Trial> {
        let mut trials = Vec::new();
        for (block, pass) in (0..).zip(&section.passes) {
            let at = self.draft.seconds;
            let mut trial = Trial { cell: cell.id, block, at, ..Trial::default() };
            match section.read_copies(cell, pass) {
                Ok(copies) => trial.copies = copies,
                Err(reason) => trial.error = Some(reason),
            }
            trials.push(trial);

            let elapsed = pass.iter().filter_map(|fields| seconds_in(fields, "elapsed"));
            let seconds = elapsed.fold(0.0, f64::max);
            // The log has microseconds; a plain sum would have more digits.
            self.draft.seconds = ((at + seconds) * 1e6).round() / 1e6;
        }
        trials
    }
}

/// One test at one number of copies.
#[derive(Default)]
struct Section<'t> {
    label: &'t str,
    copies: u32,
    /// The reports of each pass, in the order of the log.
    passes: Vec<Vec<Fields<'t>>>,
    /// True if the next field may belong to the report before it: nothing came in between.
    is_in_report: bool,
    /// UnixBench's score.
    score: Option<f64>,
}

impl<'t> Section<'t> {
    fn read_line(&mut self, line: &'t str) {
        if pass_number(line).is_some() {
            self.passes.push(Vec::new());
            self.is_in_report = false;
            return;
        }
        if let Some((name, value)) = parse_field(line) {
            let Some(reports) = self.passes.last_mut() else {
                return;
            };
            match reports.last_mut() {
                Some(fields) if self.is_in_report && !fields.contains_key(name) => {
                    fields.insert(name, value);
                }
                _ => reports.push(Fields::from([(name, value)])),
            }
            self.is_in_report = true;
            return;
        }
        self.is_in_report = false;
        if let Some(score) = line.trim().strip_prefix(">>>> score:") {
            self.score = measured_number(score.trim());
        }
    }

    /// The copies of one pass, or the reason why it has no result.
    fn read_copies(&self, cell: &Cell, reports: &[Fields<'_>]) -> Result<Vec<Copy>, String> {
        // A program's own output may look like a field. Only the harness's fields make a copy.
        let copies: Vec<&Fields<'_>> = reports
            .iter()
            .filter(|fields| HARNESS_FIELDS.iter().any(|name| fields.contains_key(name)))
            .collect();

        let count = copies.len();
        if count != self.copies as usize {
            let ran = words::copies(self.copies);
            return Err(format!("the log has {count} of the pass, which ran {ran}"));
        }
        copies.into_iter().map(|fields| read_copy(cell, fields)).collect()
    }
}

/// The copy that a report describes, or the reason why it has no result.
fn read_copy(cell: &Cell, fields: &Fields<'_>) -> Result<Copy, String> {
    if let Some(error) = fields.get("ERROR").or(fields.get("ERROR0")) {
        return Err(format!("the program said: {error}"));
    }
    match fields.get("status") {
        Some(&"0") => {}
        None | Some(&"") => return Err("the log is cut within the pass".to_owned()),
        Some(status) => return Err(format!("the program ended with status {status}")),
    }

    let count = number_in(fields, "COUNT0").ok_or_else(|| describe_unreadable(fields, "COUNT0"))?;
    if number_in(fields, "COUNT1") != Some(cell.timebase) {
        return Err(describe_unreadable(fields, "COUNT1"));
    }
    // A program's own time goes before the harness's; a time of 0 is none.
    let seconds = seconds_in(fields, "TIME")
        .or_else(|| seconds_in(fields, "TIME0"))
        .or_else(|| seconds_in(fields, "elapsed"))
        .ok_or_else(|| describe_unreadable(fields, "elapsed"))?;
    let end = (seconds * 1e9).round() as u64;

    let mut copy = Copy::default();
    if let Some(name) = &cell.value {
        copy.slices.push(Slice { start: 0, end, count: 0 });
        copy.values.insert(name.clone(), (count, cell.unit.clone()));
    } else if count.fract() == 0.0 {
        copy.slices.push(Slice { start: 0, end, count: count as u64 });
    } else {
        return Err(describe_unreadable(fields, "COUNT0"));
    }
    Ok(copy)
}

/// The reason of a copy whose field is no number that it can have.
fn describe_unreadable(fields: &Fields<'_>, name: &str) -> String {
    format!("{name} cannot be read: '{}'", fields.get(name).unwrap_or(&""))
}

fn number_in(fields: &Fields<'_>, name: &str) -> Option<f64> {
    measured_number(fields.get(name)?)
}

/// The seconds in a field, if they are a time that a pass can take.
fn seconds_in(fields: &Fields<'_>, name: &str) -> Option<f64> {
    number_in(fields, name).filter(|seconds| (1e-9..MAX_PASS_SECONDS).contains(seconds))
}

/// True if a line is a rule of `#`, as there is above every title.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= MIN_RULE_LENGTH && line.chars().all(|c| c == '#')
}

/// N of `#### Pass N`.
fn pass_number(line: &str) -> Option<&str> {
    let number = line.trim().strip_prefix("#### Pass ")?.trim();
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// Name and value of `# NAME: VALUE`.
fn parse_field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().strip_prefix("# ")?.split_once(':')?;
    Some((name.trim(), value.trim()))
}

/// What `System Call Overhead -- 2 copies` says of a section.
struct Title<'t> {
    label: &'t str,
    copies: u32,
}

fn parse_title(line: &str) -> Option<Title<'_>> {
    let (label, copies) = line.trim().rsplit_once("--")?;
    let label = label.trim();
    let copies = copies.split_whitespace().next()?.parse().ok().filter(|copies| *copies > 0)?;
    (!label.is_empty()).then_some(Title { label, copies })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two passes of two copies; the second pass is a hundred counts better.
    const LOG: &str = "\
        ########################################################\nPipe Throughput -- 2 copies\n==> pipe 10\n\n\
        #### Pass 1\n\n\n\
        # COUNT0: 1000\n# COUNT1: 1\n# COUNT2: lps\n# elapsed: 10.000000\n# pid: 7\n# status: 0\n\n\
        # COUNT0: 2000\n# COUNT1: 1\n# COUNT2: lps\n# elapsed: 30.000000\n# pid: 8\n# status: 0\n\n\
        #### Pass 2\n\nnoise: none\n\n\
        # COUNT0: 1100\n# COUNT1: 1\n# COUNT2: lps\n# elapsed: 20.000000\n# pid: 9\n# status: 0\n\n\
        # COUNT0: 2000\n# COUNT1: 1\n# COUNT2: lps\n# elapsed: 20.000000\n# pid: 10\n# status: 0\n\n\
        Count score: 3000.0\nCount score: 3100.0\n\n\
        >>>> Sum of 2 copies\n>>>> score: 152.479506819769\n>>>> time: 20\n>>>> iterations: 2\n";

    fn journal(text: &str) -> Journal {
        read(text, Draft::new("box-2026-01-02-03.log", &Catalogue::load().unwrap()))
    }

    fn warnings(journal: &Journal) -> String {
        journal.warnings.iter().map(|warning| format!("{}\n", warning.text)).collect()
    }

    fn assert_warns(journal: &Journal, text: &str) {
        let found = warnings(journal);
        assert!(found.contains(text), "no warning has '{text}':\n{found}");
    }

    fn slices(trial: &Trial) -> Vec<[u64; 3]> {
        trial
            .copies
            .iter()
            .flat_map(|copy| &copy.slices)
            .map(|slice| <[u64; 3]>::from(*slice))
            .collect()
    }

    #[test]
    fn passes_become_trials() {
        let journal = journal(LOG);
        assert_eq!(
            (journal.run.host.as_str(), journal.run.started.as_str()),
            ("box", "2026-01-02T00:00:00Z")
        );
        let cell = &journal.cells[0];
        assert_eq!(
            (cell.key.test.as_str(), cell.key.copies, cell.timebase, cell.value.as_ref()),
            ("pipe", 2, 1.0, None)
        );
        assert_eq!(
            slices(&journal.trials[0]),
            [[0, 10_000_000_000, 1000], [0, 30_000_000_000, 2000]]
        );
        assert_eq!(
            slices(&journal.trials[1]),
            [[0, 20_000_000_000, 1100], [0, 20_000_000_000, 2000]]
        );
        assert_eq!((journal.trials[1].block, journal.trials[1].at), (1, 30.0));
        let row = &Results::new(&journal, &Catalogue::load().unwrap(), None).figures[0];
        assert!((row.score.value - (150.0_f64 * 155.0).sqrt()).abs() < 1e-9);
        assert_eq!((row.n, row.seconds), (2, 20.0));
        // A log always has these two.
        assert_eq!(journal.warnings.len(), 2, "{}", warnings(&journal));
    }

    #[test]
    fn collapsed_logs_are_read_alike() {
        let collapsed: String = LOG
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| format!("  {line}\r\n"))
            .collect();
        assert_eq!(journal(&collapsed).trials, journal(LOG).trials);
    }

    #[test]
    fn a_programs_own_time_goes_first_unless_it_is_none() {
        for (time, end) in [("5.5", 5_500_000_000), ("0", 20_000_000_000), ("0.0", 20_000_000_000)]
        {
            let text =
                LOG.replace("# COUNT0: 1100\n", &format!("# COUNT0: 1100\n# TIME: {time}\n"));
            assert_eq!(slices(&journal(&text).trials[1])[0], [0, end, 1100], "{time}");
        }
    }

    #[test]
    fn what_rates_itself_is_added_up() {
        let text = LOG
            .replace("# COUNT1: 1", "# COUNT1: 0")
            .replace(": 1100", ": 1100.25")
            .replace("152.4795", "3049.714");
        let journal = journal(&text);
        let value = |copy: &Copy| copy.values.values().map(|value| value.0).sum::<f64>();
        assert_eq!(
            journal.trials[1].copies.iter().map(value).collect::<Vec<_>>(),
            [1100.25, 2000.0]
        );
        let row = &Results::new(&journal, &Catalogue::load().unwrap(), None).figures[0];
        assert!((row.score.value - (3000.0_f64 * 3100.25).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_pass_that_failed_is_a_trial_with_its_reason() {
        for (from, to, reason) in [
            ("# pid: 10\n# status: 0", "# pid: 10\n# status: 256", "ended with status 256"),
            ("# pid: 10\n# status: 0", "# pid: 10", "cut within the pass"),
            ("# COUNT0: 1100", "# ERROR: no room", "the program said: no room"),
            ("# COUNT0: 1100", "# COUNT0: -1", "COUNT0 cannot be read: '-1'"),
            ("# COUNT0: 1100", "# COUNT0: nan", "COUNT0 cannot be read: 'nan'"),
            ("# COUNT0: 1100", "# COUNT0: 1e999", "COUNT0 cannot be read: '1e999'"),
            ("# COUNT0: 1100", "# COUNT0: 1.5", "COUNT0 cannot be read: '1.5'"),
            (
                "# COUNT0: 1100\n# COUNT1: 1\n",
                "# COUNT0: 1100\n# COUNT1: 60\n",
                "COUNT1 cannot be read: '60'",
            ),
            ("20.000000\n# pid: 9", "0.0\n# pid: 9", "elapsed cannot be read: '0.0'"),
            ("20.000000\n# pid: 9", "1e12\n# pid: 9", "elapsed cannot be read: '1e12'"),
            (
                "# COUNT0: 1100\n# COUNT1: 1\n# COUNT2: lps\n# elapsed: 20.000000\n# pid: 9\n# status: 0\n",
                "",
                "has 1 of",
            ),
        ] {
            assert!(LOG.contains(from), "{from}");
            let journal = journal(&LOG.replacen(from, to, 1));
            assert_eq!(journal.trials[0].error, None);
            assert!(journal.trials[1].copies.is_empty());
            assert!(
                journal.trials[1].error.as_ref().unwrap().contains(reason),
                "{:?}",
                journal.trials[1].error
            );
        }
    }

    #[test]
    fn a_score_unlike_its_passes_is_reported() {
        let log = LOG.replace("152.479506819769", "152.479507");

        let journal = journal(&log);

        assert_warns(&journal, "the log has 152.5 as its score, and its passes give 152.5");
    }

    #[test]
    fn passes_without_a_score_are_imported() {
        let (cut, _) = LOG.split_once(">>>>").unwrap();

        let journal = journal(cut);

        assert_eq!(journal.trials, self::journal(LOG).trials);
        assert_warns(&journal, "the log ends before 'Pipe Throughput' of 2 copies was scored");
    }

    #[test]
    fn a_section_without_a_title_is_left_out() {
        let log = LOG.replace(" -- 2 copies", "");

        let journal = journal(&log);

        assert!(journal.cells.is_empty());
        assert_warns(&journal, "line 2 is not understood");
    }

    #[test]
    fn of_two_runs_in_a_file_the_last_counts() {
        let log = LOG.to_owned() + &LOG.replace("1000", "1001");

        let journal = journal(&log);

        assert_eq!(slices(&journal.trials[0])[0], [0, 10_000_000_000, 1001]);
        assert_eq!((journal.cells.len(), journal.trials.len()), (1, 2));
        assert_warns(&journal, "the file has it more than once: the last one counts");
    }
}
