//! The runs that a text holds one after another: where each begins.
//!
//! A reader goes through the lines and notes what it sees: a line that only the head of a run has
//! ([`Starts::begin`]), a line at which a run may begin ([`Starts::may_begin`]), and a mark that a
//! run has once, such as the name of a table ([`Starts::note_mark`]). A mark that comes again is of
//! another run, which began at the last line at which it may have.

use std::collections::BTreeMap;

use crate::text::Text;

/// The lines at which runs begin, by their numbers in the file.
#[derive(Debug, Default)]
pub(super) struct Starts {
    lines: Vec<usize>,
    /// The last line at which a run may have begun.
    possible: Option<usize>,
    /// The marks of the run so far, with the line of each.
    marks: BTreeMap<String, usize>,
}

impl Starts {
    /// Notes that a run begins at a line.
    pub fn begin(&mut self, line: usize) {
        self.marks.clear();
        self.possible = None;
        self.lines.push(line);
    }

    /// Notes that a run may begin at a line: it does if what follows is of another run.
    pub fn may_begin(&mut self, line: usize) {
        self.possible = Some(line);
    }

    /// Notes a mark that a run has once. If the run had it before the last line at which another
    /// may begin, that one began there.
    pub fn note_mark(&mut self, line: usize, mark: String) {
        let earlier = self.marks.get(&mark).copied();
        let start = self.possible.filter(|start| earlier.is_some_and(|line| line < *start));
        if let Some(start) = start {
            self.begin_another_at(start);
        }
        self.marks.entry(mark).or_insert(line);
    }

    /// As [`Starts::note_mark`], where the line itself begins a run if no other line did.
    pub fn note_mark_or_begin(&mut self, line: usize, mark: String) {
        let earlier = self.marks.get(&mark).copied();
        if self.possible.is_none_or(|start| earlier.is_some_and(|line| start <= line)) {
            self.possible = Some(line);
        }
        self.note_mark(line, mark);
    }

    /// Notes that the run goes on, so that no other began at the line at which one may have.
    pub fn go_on(&mut self) {
        self.possible = None;
    }

    /// Notes that a line is of another run than those before it, which began where it may have, or
    /// here.
    pub fn begin_another(&mut self, line: usize) {
        let start = self.possible.unwrap_or(line);
        self.begin_another_at(start);
    }

    fn begin_another_at(&mut self, start: usize) {
        // Without a head the first run began with the text.
        if self.lines.is_empty() {
            self.lines.push(1);
        }
        self.begin(start);
    }

    /// The lines at which runs begin; none of a text of one run without a head.
    pub fn into_lines(self) -> Vec<usize> {
        self.lines
    }
}

/// Notes where runs begin in the output of a benchmark that was repeated, where each repetition
/// begins with a head. Lines of others above a head are its caption:
///
/// ```text
/// master:
/// $ hackbench 10
/// Running in process mode …        a head, of the first run
/// Time: 1.234
/// $ hackbench 10                   the caption above ends in this, so the run goes on
/// Running in process mode …
/// Time: 1.256
/// patched:                         another caption: the second run begins here
/// $ hackbench 10
/// Running in process mode …
/// ```
///
/// `is_own` is true of the benchmark's lines that are no heads. A head without a caption goes on
/// with the run.
pub(super) fn note_starts_at_captions(
    text: &Text<'_>,
    starts: &mut Starts,
    is_head: fn(&str) -> bool,
    is_own: fn(&str) -> bool,
) {
    let mut caption: Vec<&str> = Vec::new();
    let mut last_caption: Option<Vec<&str>> = None;
    for (number, line) in text.lines() {
        let line = line.trim();
        if !is_head(line) {
            if !is_own(line) && !line.is_empty() {
                if caption.is_empty() {
                    starts.may_begin(number);
                }
                caption.push(line);
            }
            continue;
        }

        // Every caption ends with an empty one.
        if last_caption.as_ref().is_some_and(|last| !last.ends_with(&caption)) {
            starts.begin_another(number);
        }
        if last_caption.is_none() || !caption.is_empty() {
            last_caption = Some(std::mem::take(&mut caption));
        }
        starts.go_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `head`, `? ` for a line at which a run may begin, and what a run has once.
    fn starts(lines: &[&str]) -> Vec<usize> {
        let mut starts = Starts::default();
        for (number, line) in (1..).zip(lines) {
            match *line {
                "head" => starts.begin(number),
                "?" => starts.may_begin(number),
                mark => starts.note_mark(number, mark.to_owned()),
            }
        }
        starts.into_lines()
    }

    #[test]
    fn a_run_begins_at_its_head_or_where_it_repeats_itself() {
        for (lines, expected) in [
            (&["a", "b"][..], &[][..]),
            (&["head", "a", "head", "a"], &[1, 3]),
            (&["?", "a", "?", "b", "?", "a"], &[1, 5]),
            (&["head", "?", "a", "?", "a", "?", "a"], &[1, 4, 6]),
            (&["?", "a", "a"], &[]),
        ] {
            assert_eq!(starts(lines), expected, "{lines:?}");
        }
    }
}
