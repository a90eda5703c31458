//! UnixBench's `.log`: every pass of every test, with what each copy reported.
//!
//! A log has no header and no clock. Its passes become trials as they were measured; dropping the
//! worst third is left to the analysis, and UnixBench's own score is only compared with the result.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::lines::number;
use super::text::Text;
use analysis::Results;
use anyhow::Result;
use journal::{Cell, Copy, Journal, Slice, Trial, Warning};

/// The most by which UnixBench's score, printed with fifteen digits, may differ from ours.
const SAME: f64 = 1e-9;

/// Longest pass that is believed, in seconds: thirty years, which still fit in nanoseconds.
const LONGEST: f64 = 1e9;

/// The name that a score gets which a program computed itself.
const OWN_SCORE: &str = "score";

/// Fields that every copy has once, however it ended.
const OWN: [&str; 3] = ["COUNT0", "elapsed", "status"];

/// The report of one copy: `COUNT0`, `elapsed` and so on; of a field that is there twice, the last.
type Fields<'t> = BTreeMap<&'t str, &'t str>;

/// Returns true if a line shows that its text is a log.
pub(super) fn is_log_line(line: &str) -> bool {
    pass_number(line).is_some() || field(line).is_some_and(|(name, _)| name == "COUNT0")
}

/// Returns true if a text is a log.
pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_log_line)
}

/// Returns what a log holds.
///
/// # Errors
/// None: what it still has is read.
pub(super) fn read_text(text: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    Ok(vec![read(text.raw, draft)])
}

fn read(text: &str, mut draft: Draft<'_>) -> Journal {
    if !draft.run.started.is_empty() {
        draft.warn("the log has no clock: its date is that of the file's name, and the hour is unknown".to_owned());
    }
    draft.warn("the log does not describe the system; the report next to it does".to_owned());
    let mut reader = Reader { draft, block: None, titled: false, printed: Vec::new() };
    for (number, line) in text.lines().enumerate() {
        reader.line(number + 1, line);
    }
    reader.close();
    let catalogue = reader.draft.catalogue;
    let mut journal = reader.draft.finish();
    let results = Results::new(&journal, catalogue, None);
    for (cell, printed) in reader.printed {
        let row = results.figures.iter().find(|row| row.cell.id == cell);
        if let Some(row) = row.filter(|row| (row.score.value - printed).abs() > SAME * printed.max(1.0)) {
            let text = format!("the log has {printed:.1} as its score, and its passes give {:.1}", row.score.value);
            journal.warnings.push(Warning { cell: Some(cell), text });
        }
    }
    journal
}

/// One test at one level of copies.
#[derive(Default)]
struct Block<'t> {
    label: &'t str,
    copies: u32,
    passes: Vec<Vec<Fields<'t>>>,
    /// True if the next field is of the copy before.
    open: bool,
    score: Option<f64>,
}

struct Reader<'a, 't> {
    draft: Draft<'a>,
    block: Option<Block<'t>>,
    /// True if a title may follow: the line before was a rule.
    titled: bool,
    /// UnixBench's score of each cell.
    printed: Vec<(usize, f64)>,
}

impl<'t> Reader<'_, 't> {
    fn line(&mut self, number: usize, line: &'t str) {
        let titled = std::mem::take(&mut self.titled);
        if line.trim().len() >= 20 && line.trim().chars().all(|c| c == '#') {
            self.close();
            self.titled = true;
        } else if titled {
            match title(line) {
                Some((label, copies)) => self.block = Some(Block { label, copies, ..Block::default() }),
                None => self.draft.unread(number, line),
            }
        } else if let Some(block) = &mut self.block {
            block.line(line);
        } else if pass_number(line).is_some() {
            self.draft.unread(number, line);
        }
    }

    /// Makes trials of the block that ends here.
    fn close(&mut self) {
        let Some(block) = self.block.take() else { return };
        let first = block.passes.iter().flatten().find(|fields| fields.contains_key("COUNT1"));
        let unit = first.and_then(|fields| fields.get("COUNT2")).copied().unwrap_or("");
        let number = self.draft.cell(block.label, block.copies, unit);
        // A program without a time base has computed its score itself, as Whetstone does.
        let timebase = first.and_then(|fields| number_of(fields, "COUNT1")).unwrap_or(1.0);
        let Some(cell) = self.draft.cell_mut(number) else { return };
        cell.timebase = timebase;
        cell.scale = 1.0;
        cell.value = (timebase == 0.0).then(|| cell.value.take().unwrap_or_else(|| OWN_SCORE.to_owned()));
        let cell = cell.clone();
        let mut at = self.draft.seconds;
        let mut trials = Vec::new();
        for (pass, fields) in (0..).zip(&block.passes) {
            let copies = block.copies_of(&cell, fields);
            let seconds = fields.iter().filter_map(|fields| seconds_of(fields, "elapsed")).fold(0.0, f64::max);
            let (copies, error) = copies.map_or_else(|error| (Vec::new(), Some(error)), |copies| (copies, None));
            trials.push(Trial { cell: number, block: pass, at, copies, error, ..Trial::default() });
            // To the microsecond, as the log has it: a sum of fractions would have more digits.
            at = ((at + seconds) * 1e6).round() / 1e6;
        }
        self.draft.seconds = at;
        self.draft.put(number, trials);
        self.printed.retain(|(cell, _)| *cell != number);
        match block.score {
            Some(score) => self.printed.push((number, score)),
            None => self.draft.warn(format!(
                "the log ends before '{}' of {} was scored: the passes it has are imported",
                block.label,
                words::copies(block.copies)
            )),
        }
    }
}

impl<'t> Block<'t> {
    fn line(&mut self, line: &'t str) {
        if pass_number(line).is_some() {
            self.passes.push(Vec::new());
            self.open = false;
        } else if let Some((name, value)) = field(line) {
            let Some(pass) = self.passes.last_mut() else { return };
            match pass.last_mut() {
                Some(fields) if self.open && !fields.contains_key(name) => {
                    fields.insert(name, value);
                }
                _ => pass.push(Fields::from([(name, value)])),
            }
            self.open = true;
        } else {
            self.open = false;
            if let Some(score) = line.trim().strip_prefix(">>>> score:") {
                self.score = number(score.trim());
            }
        }
    }

    /// Returns the copies of one pass, or why it has no result.
    fn copies_of(&self, cell: &Cell, fields: &[Fields<'_>]) -> std::result::Result<Vec<Copy>, String> {
        // What a program prints may look like a field; the harness's own tell a copy.
        let fields: Vec<&Fields<'_>> =
            fields.iter().filter(|fields| OWN.iter().any(|own| fields.contains_key(own))).collect();
        if fields.len() != self.copies as usize {
            return Err(format!("the log has {} of the pass, which ran {}", fields.len(), words::copies(self.copies)));
        }
        fields.into_iter().map(|fields| copy(cell, fields)).collect()
    }
}

/// Returns what one copy measured, or why it has no result.
fn copy(cell: &Cell, fields: &Fields<'_>) -> Result<Copy, String> {
    if let Some(error) = ["ERROR", "ERROR0"].iter().find_map(|name| fields.get(name)) {
        return Err(format!("the program said: {error}"));
    }
    match fields.get("status") {
        Some(&"0") => {}
        None | Some(&"") => return Err("the log is cut within the pass".to_owned()),
        Some(status) => return Err(format!("the program ended with status {status}")),
    }
    let unreadable = |name: &str| format!("{name} cannot be read: '{}'", fields.get(name).unwrap_or(&""));
    let count = number_of(fields, "COUNT0").ok_or_else(|| unreadable("COUNT0"))?;
    if number_of(fields, "COUNT1") != Some(cell.timebase) {
        return Err(unreadable("COUNT1"));
    }
    // A program's own time goes before the harness's, unless it is none.
    let own = ["TIME", "TIME0"].iter().find_map(|name| seconds_of(fields, name));
    let seconds = own.or_else(|| seconds_of(fields, "elapsed")).ok_or_else(|| unreadable("elapsed"))?;
    let end = (seconds * 1e9).round() as u64;
    let mut copy = Copy::default();
    match &cell.value {
        Some(name) => {
            copy.slices.push(Slice { start: 0, end, count: 0 });
            copy.values.insert(name.clone(), (count, cell.unit.clone()));
        }
        None if count.fract() == 0.0 => copy.slices.push(Slice { start: 0, end, count: count as u64 }),
        None => return Err(unreadable("COUNT0")),
    }
    Ok(copy)
}

fn number_of(fields: &Fields<'_>, name: &str) -> Option<f64> {
    number(fields.get(name)?)
}

/// Returns a length of time that can be divided by.
fn seconds_of(fields: &Fields<'_>, name: &str) -> Option<f64> {
    number_of(fields, name).filter(|seconds| (1e-9..LONGEST).contains(seconds))
}

/// Returns N of `#### Pass N`.
fn pass_number(line: &str) -> Option<&str> {
    let number = line.trim().strip_prefix("#### Pass ")?.trim();
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// Returns name and value of `# NAME: VALUE`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().strip_prefix("# ")?.split_once(':')?;
    Some((name.trim(), value.trim()))
}

/// Returns label and copies of `System Call Overhead -- 2 copies`.
fn title(line: &str) -> Option<(&str, u32)> {
    let (label, copies) = line.trim().rsplit_once("--")?;
    let count = copies.split_whitespace().next()?.parse().ok().filter(|count| *count > 0)?;
    let label = label.trim();
    (!label.is_empty()).then_some((label, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Catalogue;

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

    fn slices(trial: &Trial) -> Vec<[u64; 3]> {
        trial.copies.iter().flat_map(|copy| &copy.slices).map(|slice| <[u64; 3]>::from(*slice)).collect()
    }

    #[test]
    fn passes_become_trials() {
        let journal = journal(LOG);
        assert_eq!((journal.run.host.as_str(), journal.run.started.as_str()), ("box", "2026-01-02T00:00:00Z"));
        let cell = &journal.cells[0];
        assert_eq!(
            (cell.key.test.as_str(), cell.key.copies, cell.timebase, cell.value.as_ref()),
            ("pipe", 2, 1.0, None)
        );
        assert_eq!(slices(&journal.trials[0]), [[0, 10_000_000_000, 1000], [0, 30_000_000_000, 2000]]);
        assert_eq!(slices(&journal.trials[1]), [[0, 20_000_000_000, 1100], [0, 20_000_000_000, 2000]]);
        assert_eq!((journal.trials[1].block, journal.trials[1].at), (1, 30.0));
        let row = &Results::new(&journal, &Catalogue::load().unwrap(), None).figures[0];
        assert!((row.score.value - (150.0_f64 * 155.0).sqrt()).abs() < 1e-9);
        assert_eq!((row.n, row.seconds), (2, 20.0));
        // A log always has these two.
        assert_eq!(journal.warnings.len(), 2, "{}", warnings(&journal));
    }

    #[test]
    fn collapsed_logs_are_read_alike() {
        let collapsed: String =
            LOG.lines().filter(|line| !line.is_empty()).map(|line| format!("  {line}\r\n")).collect();
        assert_eq!(journal(&collapsed).trials, journal(LOG).trials);
    }

    #[test]
    fn a_programs_own_time_goes_first_unless_it_is_none() {
        for (time, end) in [("5.5", 5_500_000_000), ("0", 20_000_000_000), ("0.0", 20_000_000_000)] {
            let text = LOG.replace("# COUNT0: 1100\n", &format!("# COUNT0: 1100\n# TIME: {time}\n"));
            assert_eq!(slices(&journal(&text).trials[1])[0], [0, end, 1100], "{time}");
        }
    }

    #[test]
    fn what_rates_itself_is_added_up() {
        let text =
            LOG.replace("# COUNT1: 1", "# COUNT1: 0").replace(": 1100", ": 1100.25").replace("152.4795", "3049.714");
        let journal = journal(&text);
        let value = |copy: &Copy| copy.values.values().map(|value| value.0).sum::<f64>();
        assert_eq!(journal.trials[1].copies.iter().map(value).collect::<Vec<_>>(), [1100.25, 2000.0]);
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
            ("# COUNT0: 1100\n# COUNT1: 1\n", "# COUNT0: 1100\n# COUNT1: 60\n", "COUNT1 cannot be read: '60'"),
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
            assert!(journal.trials[1].error.as_ref().unwrap().contains(reason), "{:?}", journal.trials[1].error);
        }
    }

    #[test]
    fn scores_are_checked() {
        assert!(warnings(&journal(&LOG.replace("152.479506819769", "152.479507"))).contains("its passes give 152.5"));
        let cut = LOG.split_once(">>>>").unwrap().0;
        assert!(warnings(&journal(cut)).contains("ends before 'Pipe Throughput' of 2 copies was scored"));
        assert_eq!(journal(cut).trials, journal(LOG).trials);
    }

    #[test]
    fn passes_without_a_test_are_told() {
        let journal = journal(&LOG.replace(" -- 2 copies", ""));
        assert!(warnings(&journal).contains("line 2 is not understood") && journal.cells.is_empty());
    }

    #[test]
    fn the_last_run_in_the_file_counts() {
        let journal = journal(&(LOG.to_owned() + &LOG.replace("1000", "1001")));
        assert_eq!((journal.cells.len(), journal.trials.len()), (1, 2));
        assert_eq!(journal.trials[0].copies[0].slices[0].count, 1001);
        assert!(warnings(&journal).contains("more than once"));
    }
}
