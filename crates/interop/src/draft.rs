//! A journal while it is put together from a report.
//!
//! A reader gives a draft what it finds: facts of the system, and cells with their trials. Cells
//! are of two kinds. UnixBench's and BYTE's results are those of tests of the catalogue, found by
//! their labels ([`Draft::cell_for`]), so that they get scores and an index. Figures of other
//! suites keep their own names, whatever the catalogue has under these
//! ([`Draft::foreign_cell_for`]), and each value becomes a trial ([`Draft::add_outcomes`]).
//!
//! What cannot be read becomes a warning: a line ([`Draft::skip_line`]), a value with its reason, a
//! date. [`Draft::finish`] writes those about values and dates, when all of them are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::date;
use super::figure::{Heading, Outcome, Reading, check_measurable, describe_gap, shorten_name};
use super::lines::collapse_blanks;
use super::plain::excerpt;
use catalogue::{Catalogue, Condition, Test};
use journal::{
    Cell, End, Ended, FORMAT, Fact, Facts, Journal, Key, NoValue, Procedure, Run, Score, Trial,
    Warning,
};
use words::Grouped;

/// Maximum warnings about lines that cannot be read; a damaged file would have one for each.
const MAX_UNREAD_WARNINGS: usize = 20;

/// A journal in the making.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    pub catalogue: &'a Catalogue,
    /// The journal's first line, as far as it is known.
    pub run: Run,
    /// Seconds that the run took, if the text says.
    pub seconds: f64,
    facts: Facts,
    cells: Vec<Cell>,
    /// The trials of each cell.
    trials: Vec<Vec<Trial>>,
    /// The cell and the reason of each repetition without a value.
    gaps: Vec<(usize, NoValue)>,
    /// The number of each cell, by its test and copies.
    numbers: BTreeMap<(String, u32), usize>,
    warnings: Vec<Warning>,
    skipped_lines: usize,
    /// The date in the text's own words, if they are not understood.
    unknown_date: Option<String>,
}

impl<'a> Draft<'a> {
    /// A draft with the host and date of the file's name, if it is `HOST-YYYY-MM-DD-NN` as
    /// UnixBench names its files.
    pub fn new(file_name: &str, catalogue: &'a Catalogue) -> Draft<'a> {
        let file_name: String =
            file_name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (host, started) = date::from_file_name(&file_name).unwrap_or_default();
        let run = Run {
            format: FORMAT.to_owned(),
            host,
            started,
            tool: "UnixBench".to_owned(),
            procedure: Procedure::Imported,
            arguments: vec!["import".to_owned(), file_name.clone()],
            ..Run::default()
        };
        let mut draft = Draft {
            catalogue,
            run,
            seconds: 0.0,
            facts: Facts::default(),
            cells: Vec::new(),
            trials: Vec::new(),
            gaps: Vec::new(),
            numbers: BTreeMap::new(),
            warnings: Vec::new(),
            skipped_lines: 0,
            unknown_date: None,
        };
        draft.add_fact("imported.file", "File", "Imported", &file_name);
        draft
    }

    /// Adds a warning about the whole run, unless it has the same already.
    pub fn warn(&mut self, text: String) {
        let warning = Warning { cell: None, text };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub fn warn_about_cell(&mut self, cell: usize, text: String) {
        self.warnings.push(Warning { cell: Some(cell), text });
    }

    /// Warns that a line is left out, by its number in the file.
    pub fn skip_line(&mut self, number: usize, line: &str) {
        self.skipped_lines += 1;
        if self.skipped_lines <= MAX_UNREAD_WARNINGS {
            self.warn(format!("line {number} is not understood and left out: '{}'", excerpt(line)));
        }
    }

    /// Adds a fact of the system unless it is empty; a later one of the same name replaces it.
    pub fn add_fact(&mut self, name: &str, label: &str, group: &str, value: &str) {
        let value = collapse_blanks(value);
        if !value.is_empty() {
            self.facts.remove(name);
            let (name, label, group) = (name.to_owned(), label.to_owned(), group.to_owned());
            self.facts.push(Fact::from_text(name, label, group, value));
        }
    }

    /// Sets the host unless it is empty: then that of the file's name stays.
    pub fn set_host(&mut self, host: &str) {
        if !host.is_empty() {
            host.clone_into(&mut self.run.host);
        }
    }

    /// Sets the start of the run, in RFC 3339, if there is one: otherwise that of the file's name
    /// stays.
    pub fn set_start(&mut self, started: Option<String>) {
        if let Some(started) = started {
            self.run.started = started;
        }
    }

    /// As [`Draft::set_start`]. Where `started` is `None`, a warning will quote the words that are
    /// no date.
    pub fn set_start_or_quote(&mut self, words: &str, started: Option<String>) {
        if started.is_none() && !words.trim().is_empty() {
            self.unknown_date.get_or_insert_with(|| excerpt(words));
        }
        self.set_start(started);
    }

    pub fn has_no_cells(&self) -> bool {
        self.cells.is_empty()
    }

    /// The test that reports call `label`. BYTE's labels end in "Test" where UnixBench's do not, so
    /// it is looked up with and without that word.
    pub fn find_test(&self, label: &str) -> Option<Arc<Test>> {
        let by_label = |label: &str| self.catalogue.by_label(label).map(Arc::clone);
        by_label(label)
            .or_else(|| by_label(without_final_test(label)?))
            .or_else(|| by_label(&format!("{label} Test")))
    }

    /// The number of the cell of `label` at `copies`, which is added if need be. A label that no
    /// test has gets a cell outside the indexes, and a warning.
    pub fn cell_for(&mut self, label: &str, copies: u32, unit: &str) -> usize {
        let test = self.find_test(label);
        let name = test.as_ref().map_or_else(|| self.invent_name(label), |test| test.id.clone());
        if let Some(number) = self.numbers.get(&(name.clone(), copies)) {
            return *number;
        }

        let number = self.cells.len();
        let cell = match test {
            Some(test) => {
                let mut cell = Cell::new(number, &test, copies, None, &Condition::none());
                if !unit.is_empty() && !unit.eq_ignore_ascii_case(&cell.unit) {
                    let baseline = &cell.unit;
                    let text =
                        format!("it is reported in {unit}, while the baseline is in {baseline}");
                    self.warn_about_cell(number, text);
                    unit.clone_into(&mut cell.unit);
                }
                cell
            }
            None => {
                let label_start = excerpt(label);
                self.warn(format!(
                    "no test of the catalogue is called '{label_start}': it is shown outside the indexes"
                ));
                stranger(number, &name, label, copies, unit)
            }
        };
        self.push_cell(name, cell)
    }

    /// The number of the cell of another suite's figure, which is added if need be, whatever the
    /// catalogue has under that name.
    ///
    /// Its key is the label as printed: a slug would lose the signs in which `a+b` and `a*b`
    /// differ. A second figure of that label, in another unit or direction, has its unit in the
    /// key; a third one a number.
    pub fn foreign_cell_for(&mut self, figure: &Heading<'_>) -> usize {
        let label = shorten_name(&figure.label);
        let name = if self.catalogue.test(&label).is_some() {
            format!("{label}-imported")
        } else {
            label.clone()
        };

        for name in [name.clone(), format!("{name} {}", figure.unit)] {
            let Some(number) = self.numbers.get(&(name.clone(), figure.copies)).copied() else {
                return self.add_foreign(name, label, figure);
            };
            let cell = &self.cells[number];
            if (cell.unit.as_str(), cell.metric) == (figure.unit, figure.metric) {
                return number;
            }
        }

        let is_free = |name: &String| !self.numbers.contains_key(&(name.clone(), figure.copies));
        let free = words::free_name([name.clone()], |twin| format!("{name} #{twin}"), is_free);
        self.add_foreign(free, label, figure)
    }

    fn add_foreign(&mut self, name: String, label: String, figure: &Heading<'_>) -> usize {
        let Heading { copies, unit, metric, .. } = *figure;
        let cell = stranger(self.cells.len(), &name, &label, copies, unit).printed();
        self.push_cell(name, Cell { metric, ..cell })
    }

    /// Adds a cell under the name of its test, and returns its number.
    fn push_cell(&mut self, name: String, cell: Cell) -> usize {
        let number = cell.id;
        self.numbers.insert((name, cell.key.copies), number);
        self.trials.push(Vec::new());
        self.cells.push(cell);
        number
    }

    /// Adds a trial for each value to the cell of another suite's figure. A number that cannot have
    /// been measured becomes a warning.
    pub fn add_values(&mut self, figure: &Heading<'_>, values: impl IntoIterator<Item = f64>) {
        self.add_outcomes(figure, values.into_iter().map(Ok));
    }

    /// Adds a trial for each repetition to the cell of another suite's figure; without repetitions
    /// there is no cell. One that has no value becomes a warning when the journal is finished.
    pub fn add_outcomes(
        &mut self,
        figure: &Heading<'_>,
        outcomes: impl IntoIterator<Item = Outcome>,
    ) {
        let mut outcomes = outcomes.into_iter().peekable();
        if outcomes.peek().is_none() {
            return;
        }

        let cell = self.foreign_cell_for(figure);
        for outcome in outcomes {
            let trial = match check_measurable(outcome) {
                Ok(value) => {
                    let score = Some(Score { value, samples: 1, ..Score::default() });
                    Trial { score, ..Trial::default() }
                }
                Err(gap) => {
                    let trial = gap.to_trial(cell, 0);
                    self.gaps.push((cell, gap));
                    trial
                }
            };
            let block = self.trials[cell].len() as u32;
            self.trials[cell].push(Trial { cell, block, ..trial });
        }
    }

    /// Warns of the figures that lack values: once for each reason.
    fn warn_about_gaps(&mut self) {
        let gaps = std::mem::take(&mut self.gaps).into_iter().map(|gap| (gap, ()));
        for ((cell, gap), missing) in gaps.grouped() {
            let repetitions = self.trials[cell].len();
            self.warn(describe_gap(&self.cells[cell].label, &gap, missing.len(), repetitions));
        }
    }

    /// Adds a reading of a text, with the host, date and facts that it has.
    pub fn add_reading(&mut self, reading: Reading) {
        self.set_host(&reading.host);
        self.set_start_or_quote(&reading.date, date::from_any_form(&reading.date));
        if reading.cpus > 0 {
            self.run.cpus = reading.cpus;
        }
        for [name, label, group, value] in &reading.facts {
            self.add_fact(name, label, group, value);
        }
        for note in &reading.notes {
            self.warn(note.clone());
        }
        for figure in reading.into_figures() {
            let heading = figure.heading();
            self.add_values(&heading, figure.values.iter().copied());
            self.add_outcomes(&heading, figure.gaps.iter().cloned().map(Err));
        }
    }

    pub fn cell_mut(&mut self, number: usize) -> Option<&mut Cell> {
        self.cells.get_mut(number)
    }

    /// Replaces a cell's trials by one with a score. `seconds` is the mean length of its `samples`.
    pub fn set_score(&mut self, cell: usize, value: f64, seconds: f64, samples: u32) {
        let score = Some(Score { value, seconds, samples, ..Score::default() });
        self.set_trials(cell, vec![Trial { cell, score, ..Trial::default() }]);
    }

    /// Replaces a cell's trials, with a warning if it had any. Ignores a number that no cell has.
    pub fn set_trials(&mut self, number: usize, trials: Vec<Trial>) {
        let Some(place) = self.trials.get_mut(number) else {
            return;
        };

        if !place.is_empty() {
            let text = "the file has it more than once: the last one counts";
            self.warnings.push(Warning { cell: Some(number), text: text.to_owned() });
        }
        *place = trials;
    }

    /// The journal, with warnings about values, lines and a date that could not be read.
    pub fn finish(mut self) -> Journal {
        self.warn_about_gaps();
        if self.skipped_lines > MAX_UNREAD_WARNINGS {
            let more = self.skipped_lines - MAX_UNREAD_WARNINGS;
            self.warn(format!(
                "{more} more lines are not understood and left out: the file may be damaged"
            ));
        }
        if let Some(words) = self.unknown_date.take().filter(|_| self.run.started.is_empty()) {
            self.warn(format!("its date is not understood: '{words}'"));
        } else if self.run.started.is_empty() {
            self.warn("the file has no time stamp, so the date of the run is unknown".to_owned());
        }

        Journal {
            run: self.run,
            facts: self.facts,
            cells: self.cells,
            trials: self.trials.into_iter().flatten().collect(),
            warnings: self.warnings,
            end: Some(End { reason: Ended::Complete, seconds: self.seconds }),
            ..Journal::default()
        }
    }

    /// A name made of a label's words, which no test of the catalogue has.
    pub fn invent_name(&self, label: &str) -> String {
        let words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let name = if words.is_empty() { "unnamed".to_owned() } else { words.join("-") };
        if self.catalogue.test(&name).is_some() { format!("{name}-imported") } else { name }
    }
}

/// A label without its last word, if that is "Test".
fn without_final_test(label: &str) -> Option<&str> {
    const WORD: &str = " test";
    let at = label.len().checked_sub(WORD.len()).filter(|at| label.is_char_boundary(*at))?;
    let (bare, end) = label.split_at(at);
    end.eq_ignore_ascii_case(WORD).then_some(bare)
}

/// A cell of no test in the catalogue: outside the indexes, its values as they are printed.
fn stranger(id: usize, test: &str, label: &str, copies: u32, unit: &str) -> Cell {
    Cell {
        id,
        key: Key::plain(test, copies),
        label: label.to_owned(),
        unit: unit.to_owned(),
        timebase: 1.0,
        scale: 1.0,
        // UnixBench's file programs print whole KB per second.
        truncate: unit == "KBps",
        category: "misc".to_owned(),
        ..Cell::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_differ_in_dashes_capitals_and_a_final_test() {
        let catalogue = Catalogue::load().unwrap();
        let draft = Draft::new("", &catalogue);
        let id = |label: &str| draft.find_test(label).map(|test| test.id.clone());
        for label in [
            "System Call Overhead",
            "system call overhead",
            "System-Call  Overhead Test",
            "SYSTEM CALL OVERHEAD TEST",
        ] {
            assert_eq!(id(label).as_deref(), Some("syscall"), "{label}");
        }
        assert_eq!(id("System Call"), None);
        assert_eq!(id("Test"), None);
        assert_eq!(id(""), None);
        assert_eq!(id("überéé"), None);
    }

    #[test]
    fn strange_labels_get_names_of_their_own() {
        let catalogue = Catalogue::load().unwrap();
        let mut draft = Draft::new("", &catalogue);
        let number = draft.cell_for("Frobnicate -- Fast (2 ways)", 1, "fps");
        assert_eq!(draft.cell_for("Frobnicate -- Fast (2 ways)", 1, "fps"), number);
        assert_ne!(draft.cell_for("Frobnicate -- Fast (2 ways)", 2, "fps"), number);
        draft.cell_for("syscall", 1, "lps");
        draft.cell_for("…", 1, "lps");
        let journal = draft.finish();
        let names: Vec<&str> = journal.cells.iter().map(|cell| cell.key.test.as_str()).collect();
        assert_eq!(
            names,
            ["frobnicate-fast-2-ways", "frobnicate-fast-2-ways", "syscall-imported", "unnamed"]
        );
        assert_eq!(
            (journal.cells[0].unit.as_str(), journal.cells[0].category.as_str()),
            ("fps", "misc")
        );
        let told =
            journal.warnings.iter().filter(|warning| warning.text.contains("'Frobnicate")).count();
        assert_eq!(told, 1);
    }

    #[test]
    fn the_last_of_two_counts() {
        let catalogue = Catalogue::load().unwrap();
        let mut draft = Draft::new("", &catalogue);
        let number = draft.cell_for("System Call Overhead", 1, "lps");
        draft.set_trials(number, vec![Trial { at: 1.0, ..Trial::default() }]);
        draft.set_trials(number, vec![Trial { at: 2.0, ..Trial::default() }]);
        let journal = draft.finish();
        assert_eq!(journal.trials.iter().map(|trial| trial.at).collect::<Vec<_>>(), [2.0]);
        assert!(
            journal
                .warnings
                .iter()
                .any(|warning| warning.cell == Some(0) && warning.text.contains("more than once"))
        );
    }
}
