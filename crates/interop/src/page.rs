//! UnixBench's HTML report, read as the text report that it is a copy of.

use anyhow::Result;

use super::draft::Draft;
use super::lines::collapsed;
use super::report;
use super::text::Text;
use journal::Journal;

/// The columns of its tables of scores; of what has no baseline the last two are empty.
const COLUMNS: usize = 7;

const RUN: &str = "Benchmark Run:";

pub(super) fn is_it(text: &Text<'_>) -> bool {
    let start: String = text.raw.trim_start().chars().take(9).flat_map(char::to_lowercase).collect();
    start == "<!doctype" || start.starts_with("<html")
}

/// Returns what the page holds.
///
/// # Errors
/// It is not a page of UnixBench, or was cut, as that of a failed run is.
pub(super) fn read(source: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    if !source.raw.contains("BYTE UNIX Benchmarks") {
        anyhow::bail!("it is an HTML page, but no report of UnixBench; import the figures that it was made of");
    }
    if !source.raw.to_ascii_lowercase().contains("</html>") {
        return Err(
            source.cut("</html>, as after a test that failed; the .log file next to it has all that was measured")
        );
    }
    let lines = Page::default().lines(source.raw);
    report::read(lines.iter().map(|(number, line)| (*number, line.as_str())), draft)
}

/// The page while it is turned into lines, each with the line of the page that it ends at.
#[derive(Default)]
struct Page {
    lines: Vec<(usize, String)>,
    /// The cells of a row that is not yet at its end.
    row: Vec<String>,
    /// Text since the last tag that ends something.
    text: String,
    /// The day, which the title has.
    day: String,
    /// The rows of the index of the open table.
    index: Vec<(usize, String)>,
    /// Its title, from the heading above it.
    category: String,
    at: usize,
}

impl Page {
    fn lines(mut self, raw: &str) -> Vec<(usize, String)> {
        self.at = 1;
        for part in raw.split_inclusive('>') {
            let (text, tag) = part.split_once('<').map_or((part, ""), |(text, tag)| (text, tag.trim_end_matches('>')));
            self.text.push_str(text);
            self.at += part.matches('\n').count();
            self.tag(tag.split_whitespace().next().unwrap_or_default().to_ascii_lowercase().as_str());
        }
        self.lines
    }

    fn tag(&mut self, tag: &str) {
        match tag {
            "/title" => {
                let title = self.taken();
                self.day = title.rsplit_once(" on ").map_or(String::new(), |(_, day)| day.to_owned());
            }
            "/style" => self.text.clear(),
            "br" | "br/" => self.text.push('\n'),
            "/td" | "/th" => {
                let cell = std::mem::take(&mut self.text);
                self.row.push(cell);
            }
            "/tr" => self.row(),
            "/table" => self.lines.append(&mut self.index),
            "/p" | "/h1" | "/h2" | "/h3" | "/h4" => self.paragraph(),
            _ => {}
        }
    }

    fn taken(&mut self) -> String {
        collapsed(&entities(&std::mem::take(&mut self.text)))
    }

    fn put(&mut self, line: String) {
        self.lines.push((self.at, line));
    }

    /// Headings, the version and the times.
    fn paragraph(&mut self) {
        let text = self.taken();
        if let Some(rest) = text.strip_prefix(RUN) {
            // `2 CPUs; 1 parallel process`; this tool's own page has the words of the text report.
            let words = rest.trim().replace("; running", ";");
            let words = words
                .replace(" in system;", ";")
                .replace("CPUs;", "CPUs in system; running")
                .replace("CPU;", "CPU in system; running");
            self.put(words);
        } else if let Some(times) = text.strip_prefix("Time:") {
            let times = times.split(';').next().unwrap_or_default();
            self.put(format!("{RUN} {} {times}", self.day));
        } else if text.contains("Benchmarks") && !text.contains("Version") {
            self.category = text.split(['—', '(']).next().unwrap_or_default().trim().to_owned();
        } else if text.contains("(Version") {
            self.put(text);
        }
    }

    /// A row of the system or of a table of scores.
    fn row(&mut self) {
        let cells: Vec<String> = std::mem::take(&mut self.row).iter().map(|cell| collapsed(&entities(cell))).collect();
        self.text.clear();
        match &cells[..] {
            [label, score, unit, seconds, samples, baseline, index] if cells.len() == COLUMNS && label != "Test" => {
                self.put(format!("{label} {score} {unit} ({seconds}, {samples} samples)"));
                let [baseline, index] = [baseline, index].map(|one| if one.is_empty() { "---" } else { one.as_str() });
                if self.index.is_empty() {
                    self.index.push((self.at, format!("{} Index BASELINE RESULT INDEX", self.category)));
                }
                self.index.push((self.at, format!("{label} {baseline} {score} {index}")));
            }
            [total, score] if total.contains("Index Score") => {
                self.index.push((self.at, format!("{} {score}", total.trim_end_matches(':'))));
            }
            // The first processor's row begins with their heading.
            [heading, number, model] if heading.starts_with("CPU") => self.processor(number, model),
            [number, model] if number.trim_end_matches(':').parse::<u32>().is_ok() => self.processor(number, model),
            [key, value] if key == "Uptime:" => self.put(value.clone()),
            [key, value] if key.ends_with(':') => self.put(format!("{key} {value}")),
            _ => {}
        }
    }

    fn processor(&mut self, number: &str, model: &str) {
        let (model, features) = model.split_once(") ").map_or((model, ""), |(model, features)| (model, features));
        let end = if features.is_empty() { "" } else { ")" };
        self.put(format!("CPU {} {model}{end}", number));
        self.put(features.to_owned());
    }
}

/// Returns a text with the entities that UnixBench's page and this tool's have.
fn entities(text: &str) -> String {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " "), ("&mdash;", "—"), ("&amp;", "&")];
    known.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}
