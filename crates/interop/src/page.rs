//! UnixBench's HTML report, read as the text report that it is a copy of.
//!
//! [`Page`] goes from tag to tag and writes the lines of a text report: a paragraph becomes the
//! version, the level or the dates, and a row of a table a score or a line of the system. Rows of
//! scores also have the index, whose lines follow when their table ends. The text reader then reads
//! all of them ([`report::read`]).

use anyhow::Result;

use super::draft::Draft;
use super::lines::collapse_blanks;
use super::parts::Starts;
use super::report;
use super::text::Text;
use journal::Journal;

/// Columns of the tables of scores. The last two, baseline and index, are empty for a test without
/// a baseline.
const SCORE_COLUMNS: usize = 7;

const RUN_START: &str = "Benchmark Run:";

pub(super) fn recognises(text: &Text<'_>) -> bool {
    let start: String =
        text.raw.trim_start().chars().take(9).flat_map(char::to_lowercase).collect();
    start == "<!doctype" || start.starts_with("<html")
}

/// Notes where pages begin.
pub(super) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        let line = line.trim_start().to_ascii_lowercase();
        if line.starts_with("<!doctype") {
            starts.may_begin(number);
        }
        if line.starts_with("<html") {
            starts.note_mark_or_begin(number, "page".to_owned());
        }
    }
}

/// Reads a page.
///
/// # Errors
/// It is not a page of UnixBench, or was cut: that of a run that failed has no end.
pub(super) fn read(source: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    if !source.raw.contains("BYTE UNIX Benchmarks") {
        anyhow::bail!(
            "it is an HTML page, but no report of UnixBench; import the figures that it was made of"
        );
    }
    if !source.raw.to_ascii_lowercase().contains("</html>") {
        return Err(
            source.truncated_error("</html>, as after a test that failed; the .log file next to it has all that was measured")
        );
    }
    let lines = Page::default().into_lines(source.raw);
    report::read(lines.iter().map(|(number, line)| (*number, line.as_str())), draft)
}

/// A page while it is turned into lines.
#[derive(Default)]
struct Page {
    /// The lines of a text report, each with the number of the page's line at which it ends.
    lines: Vec<(usize, String)>,
    /// The cells of the row that is being read.
    row: Vec<String>,
    /// The text since the last tag that ends a cell or a paragraph.
    text: String,
    /// The day, which only the title has.
    day: String,
    /// The lines of the index of the table that is being read.
    index: Vec<(usize, String)>,
    /// The name of that index, from the heading above the table.
    category: String,
    /// The number of the page's line that is being read, from the page's first, which is 1.
    line_number: usize,
}

impl Page {
    fn into_lines(mut self, raw: &str) -> Vec<(usize, String)> {
        self.line_number = 1;
        for part in raw.split_inclusive('>') {
            let (text, tag) = part.split_once('<').unwrap_or((part, ""));
            self.text.push_str(text);
            self.line_number += part.matches('\n').count();

            let tag = tag.trim_end_matches('>').split_whitespace().next().unwrap_or_default();
            self.read_tag(&tag.to_ascii_lowercase());
        }
        self.lines
    }

    fn read_tag(&mut self, tag: &str) {
        match tag {
            "/title" => {
                let title = self.take_text();
                let day = title.rsplit_once(" on ").map_or("", |(_, day)| day);
                self.day = day.to_owned();
            }
            "/style" => self.text.clear(),
            "br" | "br/" => self.text.push('\n'),
            "/td" | "/th" => self.row.push(std::mem::take(&mut self.text)),
            "/tr" => self.end_row(),
            "/table" => self.lines.append(&mut self.index),
            "/p" | "/h1" | "/h2" | "/h3" | "/h4" => self.end_paragraph(),
            _ => {}
        }
    }

    fn take_text(&mut self) -> String {
        collapse_blanks(&decode_entities(&std::mem::take(&mut self.text)))
    }

    fn add_line(&mut self, line: String) {
        self.lines.push((self.line_number, line));
    }

    fn add_index_line(&mut self, line: String) {
        self.index.push((self.line_number, line));
    }

    /// Reads a heading, the version, a level or the dates.
    fn end_paragraph(&mut self) {
        let text = self.take_text();
        if let Some(level) = text.strip_prefix(RUN_START) {
            // `2 CPUs; 1 parallel process`; this tool's own page has the words of the text report.
            let level = level
                .trim()
                .replace("; running", ";")
                .replace(" in system;", ";")
                .replace("CPUs;", "CPUs in system; running")
                .replace("CPU;", "CPU in system; running");
            self.add_line(level);
        } else if let Some(times) = text.strip_prefix("Time:") {
            let times = times.split(';').next().unwrap_or_default();
            self.add_line(format!("{RUN_START} {} {times}", self.day));
        } else if text.contains("Benchmarks") && !text.contains("Version") {
            self.category = text.split(['—', '(']).next().unwrap_or_default().trim().to_owned();
        } else if text.contains("(Version") {
            self.add_line(text);
        }
    }

    /// Reads a row of the system or of a table of scores.
    fn end_row(&mut self) {
        let cells: Vec<String> = std::mem::take(&mut self.row)
            .iter()
            .map(|cell| collapse_blanks(&decode_entities(cell)))
            .collect();
        self.text.clear();
        match &cells[..] {
            [label, score, unit, seconds, samples, baseline, index]
                if cells.len() == SCORE_COLUMNS && label != "Test" =>
            {
                self.add_line(format!("{label} {score} {unit} ({seconds}, {samples} samples)"));
                if self.index.is_empty() {
                    self.add_index_line(format!("{} Index BASELINE RESULT INDEX", self.category));
                }
                let [baseline, index] = [baseline, index].map(|cell| or_dashes(cell));
                self.add_index_line(format!("{label} {baseline} {score} {index}"));
            }
            [total, score] if total.contains("Index Score") => {
                self.add_index_line(format!("{} {score}", total.trim_end_matches(':')));
            }
            // The first processor's row begins with their heading.
            [heading, number, model] if heading.starts_with("CPU") => {
                self.add_processor(number, model)
            }
            [number, model] if number.trim_end_matches(':').parse::<u32>().is_ok() => {
                self.add_processor(number, model)
            }
            [key, value] if key == "Uptime:" => self.add_line(value.clone()),
            [key, value] if key.ends_with(':') => self.add_line(format!("{key} {value}")),
            _ => {}
        }
    }

    fn add_processor(&mut self, number: &str, model: &str) {
        // `Fast One (5000.0 bogomips) x86-64, MMX`
        let (model, features) = model.split_once(") ").unwrap_or((model, ""));
        let end = if features.is_empty() { "" } else { ")" };
        self.add_line(format!("CPU {} {model}{end}", number));
        self.add_line(features.to_owned());
    }
}

/// A cell, or what a text report prints in the place of an empty one.
fn or_dashes(cell: &str) -> &str {
    if cell.is_empty() { "---" } else { cell }
}

/// A text with characters for the entities that UnixBench's page and this tool's have.
fn decode_entities(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", " "),
        ("&mdash;", "—"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}
