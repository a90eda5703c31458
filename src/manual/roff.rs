//! Text for man(7).

use std::fmt::Write;

use words::wrap;

/// Columns of a source line.
const WIDTH: usize = 78;

/// A page that grows.
pub(super) struct Page(String);

impl Page {
    /// Begins a page: its name, section, date and what it is about.
    pub fn new(name: &str, section: u8, about: &str) -> Page {
        let mut page = Page(String::new());
        let title = name.to_uppercase();
        let version = env!("CARGO_PKG_VERSION");
        page.line(&format!(
            ".TH {} {section} {} \"unixmark {version}\" unixmark",
            plain(&title),
            date()
        ));
        page.section("NAME");
        page.source(&format!("{} \\- {}", plain(name), marked(about)));
        page
    }

    /// Returns the source.
    pub fn finish(self) -> String {
        self.0
    }

    /// Appends a line of source as it is.
    pub fn line(&mut self, source: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{source}");
    }

    /// Begins a section.
    pub fn section(&mut self, heading: &str) {
        self.line(&format!(".SH {}", plain(heading)));
    }

    /// Begins a subsection.
    pub fn subsection(&mut self, heading: &str) {
        self.line(&format!(".SS {}", plain(heading)));
    }

    /// Appends a text; what stands in backquotes is bold.
    pub fn text(&mut self, text: &str) {
        self.source(&marked(text));
    }

    /// Appends source in lines that are not too long.
    fn source(&mut self, source: &str) {
        for line in wrap("", source, WIDTH) {
            let escape = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            self.line(&format!("{escape}{line}"));
        }
    }

    /// Appends a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        // A heading begins one by itself.
        if !self.0.lines().last().is_some_and(|line| line.starts_with(".SH")) {
            self.line(".PP");
        }
        self.text(text);
    }

    /// Appends a paragraph under a tag, which is source.
    pub fn tagged(&mut self, tag: &str, text: &str) {
        self.line(".TP");
        self.line(tag);
        self.text(text);
    }

    /// Appends lines as they are.
    pub fn verbatim(&mut self, lines: &str) {
        self.line(".PP");
        self.line(".EX");
        for line in lines.lines() {
            self.line(&format!("    {}", plain(line)));
        }
        self.line(".EE");
    }
}

/// Text as it begins a sentence.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Words in bold.
pub(super) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", plain(text))
}

/// Words in italics.
pub(super) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", plain(text))
}

/// Characters that stand for themselves.
pub(super) fn plain(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped += "\\e",
            '-' => escaped += "\\-",
            '\'' => escaped += "\\(aq",
            '`' => escaped += "\\(ga",
            '^' => escaped += "\\(ha",
            '~' => escaped += "\\(ti",
            '"' => escaped += "\\(dq",
            c if c.is_ascii() => escaped.push(c),
            // Writing to a String cannot fail.
            c => _ = write!(escaped, "\\[u{:04X}]", u32::from(c)),
        }
    }
    escaped
}

/// A text with what stands in backquotes in bold.
fn marked(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return plain(text);
    }
    parts
        .iter()
        .enumerate()
        .map(|(place, part)| if place % 2 == 1 { bold(part) } else { plain(part) })
        .collect()
}

/// The day of the release, which its builder sets by SOURCE_DATE_EPOCH, or today.
fn date() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let moment = set.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    moment.unwrap_or_else(jiff::Timestamp::now).strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_for_a_request() {
        assert_eq!(plain("a\\b 'c' --d \u{b1}5"), "a\\eb \\(aqc\\(aq \\-\\-d \\[u00B1]5");
        assert_eq!(marked("see `run -c`; a ` alone"), plain("see `run -c`; a ` alone"));
        assert_eq!(marked("see `run -c` first"), "see \\fBrun \\-c\\fR first");
        let mut page = Page::new("x", 1, "y");
        page.text(".hidden");
        assert!(page.finish().ends_with("\n\\&.hidden\n"));
    }
}
