//! A journal while it is put together from a report.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lines::{ABSURD, collapsed};
use super::{date, printable};
use catalogue::{Catalogue, Condition, Metric, Test};
use journal::{Cell, End, Ended, FORMAT, Fact, Facts, Journal, Key, Procedure, Run, Score, Trial, Warning};

/// Warnings about unreadable lines that are kept; a damaged file has one per line.
const MOST_UNREAD: usize = 20;

/// Characters of a line that a warning quotes.
const QUOTED: usize = 60;

/// A journal in the making.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    /// The catalogue, where labels are looked up.
    pub catalogue: &'a Catalogue,
    /// The first line to be.
    pub run: Run,
    /// Seconds that the run took, if the text says.
    pub seconds: f64,
    facts: Facts,
    cells: Vec<Cell>,
    /// The trials of each cell.
    trials: Vec<Vec<Trial>>,
    /// Test and copies → the cell.
    numbers: BTreeMap<(String, u32), usize>,
    warnings: Vec<Warning>,
    unread: usize,
}

/// The heading that another suite prints a number under.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Heading<'u> {
    /// The suite's own name for it.
    pub label: String,
    /// The number of copies or threads behind it.
    pub copies: u32,
    pub unit: &'u str,
    pub metric: Metric,
}

impl<'u> Heading<'u> {
    /// A higher-is-better figure at one copy.
    pub fn rate(label: impl Into<String>, unit: &'u str) -> Heading<'u> {
        Heading { label: label.into(), copies: 1, unit, metric: Metric::Rate }
    }

    /// A lower-is-better figure at one copy.
    pub fn time(label: impl Into<String>, unit: &'u str) -> Heading<'u> {
        Heading { metric: Metric::Time, ..Heading::rate(label, unit) }
    }

    /// Returns it as one of several copies.
    pub fn at(self, copies: u32) -> Heading<'u> {
        Heading { copies: copies.max(1), ..self }
    }
}

impl<'a> Draft<'a> {
    /// Returns a draft that knows what the file's name tells: `HOST-YYYY-MM-DD-NN`, as UnixBench names its files.
    pub fn new(file_name: &str, catalogue: &'a Catalogue) -> Draft<'a> {
        let file_name: String = file_name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
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
            numbers: BTreeMap::new(),
            warnings: Vec::new(),
            unread: 0,
        };
        draft.fact("imported.file", "File", "Imported", &file_name);
        draft
    }

    /// Notes something that touches the whole run, once.
    pub fn warn(&mut self, text: String) {
        let warning = Warning { cell: None, text };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Notes something that touches one cell.
    pub fn warn_of(&mut self, cell: usize, text: String) {
        self.warnings.push(Warning { cell: Some(cell), text });
    }

    /// Notes that a line, counted from 1, is left out.
    pub fn unread(&mut self, number: usize, line: &str) {
        self.unread += 1;
        if self.unread <= MOST_UNREAD {
            self.warn(format!("line {number} is not understood and left out: '{}'", quoted(line)));
        }
    }

    /// Notes a fact of the system unless it is empty; the last one wins.
    pub fn fact(&mut self, name: &str, label: &str, group: &str, value: &str) {
        let value = collapsed(value);
        if !value.is_empty() {
            self.facts.remove(name);
            let (name, label, group) = (name.to_owned(), label.to_owned(), group.to_owned());
            self.facts.push(Fact::from_text(name, label, group, value));
        }
    }

    /// Notes the host that a text names; without one it stays as the file's name has it.
    pub fn host(&mut self, host: &str) {
        if !host.is_empty() {
            host.clone_into(&mut self.run.host);
        }
    }

    /// Notes the start that a text names; without one it stays as the file's name has it.
    pub fn started(&mut self, started: Option<String>) {
        if let Some(started) = started {
            self.run.started = started;
        }
    }

    /// Returns true if no cell has been made yet.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the test that reports call `label`; BYTE's end in "Test" where UnixBench's do not.
    pub fn test(&self, label: &str) -> Option<Arc<Test>> {
        let bare = label.len().checked_sub(5).filter(|at| label.is_char_boundary(*at)).map(|at| label.split_at(at));
        let bare = bare.filter(|(_, end)| end.eq_ignore_ascii_case(" test")).map(|(bare, _)| bare);
        let known = |label: &str| self.catalogue.by_label(label).map(Arc::clone);
        known(label).or_else(|| known(bare?)).or_else(|| known(&format!("{label} Test")))
    }

    /// Returns the number of the cell of `label` at `copies`, which is made if need be. A label that
    /// no test has gets a cell of its own.
    pub fn cell(&mut self, label: &str, copies: u32, unit: &str) -> usize {
        let test = self.test(label);
        let name = test.as_ref().map_or_else(|| self.invented(label), |test| test.id.clone());
        if let Some(number) = self.numbers.get(&(name.clone(), copies)) {
            return *number;
        }
        let number = self.cells.len();
        self.numbers.insert((name.clone(), copies), number);
        self.trials.push(Vec::new());
        match test {
            Some(test) => {
                let mut cell = Cell::new(number, &test, copies, None, &Condition::none());
                if !unit.is_empty() && !unit.eq_ignore_ascii_case(&cell.unit) {
                    self.warn_of(number, format!("it is reported in {unit}, while the baseline is in {}", cell.unit));
                    unit.clone_into(&mut cell.unit);
                }
                self.cells.push(cell);
            }
            None => {
                let called = quoted(label);
                self.warn(format!("no test of the catalogue is called '{called}': it is shown outside the indexes"));
                self.cells.push(stranger(number, &name, label, copies, unit));
            }
        }
        number
    }

    /// Returns the number of the cell of a `label` that is another suite's, whatever the catalogue has under that name.
    pub fn foreign(&mut self, label: &str, copies: u32, unit: &str, metric: Metric) -> usize {
        let bare = self.invented(label);
        // Names lose the signs in which `a+b` and `a*b` differ.
        let is_own = |name: &String| {
            let number = self.numbers.get(&(name.clone(), copies));
            number.is_none_or(|number| self.cells[*number].label == label)
        };
        let name = words::free_name([bare.clone()], |twin| format!("{bare}-{twin}"), is_own);
        let next = self.cells.len();
        let number = *self.numbers.entry((name.clone(), copies)).or_insert(next);
        if number == next {
            self.trials.push(Vec::new());
            self.cells.push(Cell { metric, ..stranger(number, &name, label, copies, unit) });
        }
        number
    }

    /// Makes the cell of another suite's figure with a trial for each of its values. A value that is 0 or was printed
    /// as 0 says nothing, and is left out.
    pub fn figure(&mut self, figure: &Heading<'_>, values: impl IntoIterator<Item = f64>) {
        let usable = |value: &f64| *value > 0.0 && *value <= ABSURD;
        let (values, others): (Vec<f64>, Vec<f64>) = values.into_iter().partition(usable);
        if !others.is_empty() {
            self.warn(format!(
                "'{}' has a figure that is 0 as printed, or that cannot have been measured: it is left out",
                quoted(&figure.label)
            ));
        }
        if values.is_empty() {
            return;
        }
        let cell = self.foreign(&figure.label, figure.copies, figure.unit, figure.metric);
        let trial = |(block, value)| {
            let score = Some(Score { value, samples: 1, ..Score::default() });
            Trial { cell, block, score, ..Trial::default() }
        };
        self.put(cell, (0..).zip(values).map(trial).collect());
    }

    /// Returns a cell that was made.
    pub fn cell_mut(&mut self, number: usize) -> Option<&mut Cell> {
        self.cells.get_mut(number)
    }

    /// Gives a cell its score, in place of what it had.
    pub fn put_score(&mut self, cell: usize, value: f64, seconds: f64, samples: u32) {
        let score = Some(Score { value, seconds, samples, ..Score::default() });
        self.put(cell, vec![Trial { cell, score, ..Trial::default() }]);
    }

    /// Gives a cell its trials, in place of those it had.
    pub fn put(&mut self, number: usize, trials: Vec<Trial>) {
        let Some(place) = self.trials.get_mut(number) else { return };
        if !place.is_empty() {
            let text = "the file has it more than once: the last one counts";
            self.warnings.push(Warning { cell: Some(number), text: text.to_owned() });
        }
        *place = trials;
    }

    /// Returns the journal.
    pub fn finish(mut self) -> Journal {
        if self.unread > MOST_UNREAD {
            let more = self.unread - MOST_UNREAD;
            self.warn(format!("{more} more lines are not understood and left out: the file may be damaged"));
        }
        if self.run.started.is_empty() {
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

    /// Returns a name for a label that is not in the catalogue, which no test of the catalogue has.
    pub fn invented(&self, label: &str) -> String {
        let words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let name = if words.is_empty() { "unnamed".to_owned() } else { words.join("-") };
        if self.catalogue.test(&name).is_some() { format!("{name}-imported") } else { name }
    }
}

fn stranger(id: usize, test: &str, label: &str, copies: u32, unit: &str) -> Cell {
    Cell {
        id,
        key: Key::plain(test, copies),
        label: label.to_owned(),
        unit: unit.to_owned(),
        timebase: 1.0,
        scale: 1.0,
        category: "misc".to_owned(),
        ..Cell::default()
    }
}

/// A text out of JSON, which may escape what a terminal must not get.
pub(super) fn cleaned(text: &str) -> String {
    collapsed(&text.chars().map(printable).collect::<String>())
}

/// The start of a text, as a warning quotes it.
pub(super) fn quoted(text: &str) -> String {
    words::beginning(text.trim(), QUOTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_differ_in_dashes_capitals_and_a_final_test() {
        let catalogue = Catalogue::load().unwrap();
        let draft = Draft::new("", &catalogue);
        let id = |label: &str| draft.test(label).map(|test| test.id.clone());
        for label in
            ["System Call Overhead", "system call overhead", "System-Call  Overhead Test", "SYSTEM CALL OVERHEAD TEST"]
        {
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
        let number = draft.cell("Frobnicate -- Fast (2 ways)", 1, "fps");
        assert_eq!(draft.cell("Frobnicate -- Fast (2 ways)", 1, "fps"), number);
        assert_ne!(draft.cell("Frobnicate -- Fast (2 ways)", 2, "fps"), number);
        draft.cell("syscall", 1, "lps");
        draft.cell("…", 1, "lps");
        let journal = draft.finish();
        let names: Vec<&str> = journal.cells.iter().map(|cell| cell.key.test.as_str()).collect();
        assert_eq!(names, ["frobnicate-fast-2-ways", "frobnicate-fast-2-ways", "syscall-imported", "unnamed"]);
        assert_eq!((journal.cells[0].unit.as_str(), journal.cells[0].category.as_str()), ("fps", "misc"));
        let told = journal.warnings.iter().filter(|warning| warning.text.contains("'Frobnicate")).count();
        assert_eq!(told, 1);
    }

    #[test]
    fn the_last_of_two_counts() {
        let catalogue = Catalogue::load().unwrap();
        let mut draft = Draft::new("", &catalogue);
        let number = draft.cell("System Call Overhead", 1, "lps");
        draft.put(number, vec![Trial { at: 1.0, ..Trial::default() }]);
        draft.put(number, vec![Trial { at: 2.0, ..Trial::default() }]);
        let journal = draft.finish();
        assert_eq!(journal.trials.iter().map(|trial| trial.at).collect::<Vec<_>>(), [2.0]);
        assert!(
            journal.warnings.iter().any(|warning| warning.cell == Some(0) && warning.text.contains("more than once"))
        );
    }
}
