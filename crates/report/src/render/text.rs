//! Text for a terminal, as a rule of 80 columns.

use std::collections::BTreeSet;

use words::{Grouped, WIDTH, Wrapped, width};

use super::Notes;
use crate::document::{Block, Column, Document, Field, List, Pairs, Reader, RowKind, Table};

/// The least room for the names of rows; longer ones have a line of their own.
const NAME: usize = 12;

/// Names up to this width always have their room.
const SHORT: usize = 20;

/// The width of a pair's label, and of the space before it.
const LABEL: usize = 14;

/// Columns of the longest bar.
const BAR: usize = 30;

/// How texts are written: as they are, or in ASCII.
pub(super) type Letters = fn(&str) -> String;

/// Returns the document in at most `room` columns.
pub(super) fn render(document: &Document, room: usize, letters: Letters) -> String {
    let [text, after] = [Wrapped::new(room), Wrapped::new(room)];
    let mut page = Page { text, letters, notes: Notes::default(), told: BTreeSet::new(), after, pending: None };
    page.wrap("", &format!("{} — {}", document.title, document.kind));
    page.text.line("");
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Terminal)) {
        page.block(block);
    }
    if page.notes.texts.len() > page.told.len() || !page.after.text.is_empty() {
        page.gap();
    }
    for (number, note) in page.notes.texts.iter().enumerate().filter(|(place, _)| !page.told.contains(place)) {
        page.text.wrap(&format!("[{}] ", number + 1), &letters(note));
    }
    page.text.text + &page.after.text
}

struct Page {
    text: Wrapped,
    letters: Letters,
    notes: Notes,
    /// The places of footnotes that stand below a table already.
    told: BTreeSet<usize>,
    /// The lines below the footnotes.
    after: Wrapped,
    /// The heading of a section that has shown nothing yet.
    pending: Option<String>,
}

impl Page {
    fn wrap(&mut self, lead: &str, content: &str) {
        self.text.wrap(&(self.letters)(lead), &(self.letters)(content));
    }

    /// An empty line, unless there is one.
    fn gap(&mut self) {
        if !self.text.text.is_empty() && !self.text.text.ends_with("\n\n") {
            self.text.line("");
        }
    }

    /// The heading of the section, before the first thing in it, with a remark of that.
    fn begin(&mut self, remark: &str) {
        match (self.pending.take(), remark.is_empty()) {
            (Some(title), _) => self.heading(&title, remark),
            (None, false) => {
                self.gap();
                self.wrap("", remark);
            }
            (None, true) => {}
        }
    }

    fn heading(&mut self, title: &str, remark: &str) {
        self.rule();
        let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
        self.wrap("", &format!("{title}{remark}"));
    }

    fn rule(&mut self) {
        self.gap();
        self.text.line(&"-".repeat(self.text.room));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Section(title) => self.pending = Some(title.clone()),
            Block::Lead(sentences) => {
                if self.pending.is_some() {
                    self.begin("");
                    self.gap();
                }
                for sentence in sentences {
                    self.wrap("", sentence);
                    self.text.line("");
                }
            }
            Block::Text(_, lead, content) => {
                self.begin("");
                self.gap();
                self.wrap(lead, content);
            }
            Block::Pairs(pairs) => self.pairs(pairs),
            Block::Table(table) => self.table(table),
            Block::List(list) => self.list(list),
            Block::Headlines(..) | Block::Chart(_) | Block::Data(..) => {}
        }
    }

    fn pairs(&mut self, pairs: &Pairs) {
        for pair in pairs.items.iter().filter(|pair| !pair.narrow.is_empty()) {
            self.wrap(&format!("  {:<LABEL$} ", format!("{}:", pair.narrow)), &pair.value);
        }
    }

    fn list(&mut self, list: &List) {
        if list.title.is_empty() && !list.lead.is_empty() {
            // Remarks on the whole stand below those on single rows.
            self.pending = None;
            return list.items.iter().for_each(|item| self.after.wrap(list.lead, &(self.letters)(item)));
        }
        self.begin("");
        self.gap();
        if !list.title.is_empty() {
            self.wrap("", &list.title);
        }
        let lead = if list.lead.is_empty() { "  - " } else { list.lead };
        list.items.iter().for_each(|item| self.wrap(lead, item));
    }

    fn table(&mut self, table: &Table) {
        if table.title.is_empty() {
            self.begin(&table.remark);
        } else {
            self.begin("");
            self.heading(&table.title, &table.remark);
        }
        let grid = Grid::new(table, &mut self.notes, self.text.room, self.letters);
        let mut marked = Vec::new();
        for part in grid.parts() {
            self.gap();
            marked = self.part(table, &grid, &part);
        }
        self.marks(&marked, grid.rows.len());
    }

    /// As many columns as fit, after the first. Returns the rows whose footnotes' marks have no room, with these.
    fn part<'g>(&mut self, table: &Table, grid: &'g Grid<'_>, part: &[usize]) -> Vec<(&'g str, &'g str)> {
        let taken: usize = part.iter().map(|column| grid.widths[*column]).sum();
        let all = part.len() + 1 == grid.columns.len();
        let name = grid.widths[0].min(grid.room.saturating_sub(taken).max(NAME));
        let name = if all { grid.beside_marks(name, taken) } else { name };
        let line = |fields: &[String]| -> String {
            part.iter().map(|column| grid.placed(*column, &fields[*column])).collect()
        };
        if table.headed {
            let heads: Vec<String> = grid.columns.iter().map(|column| (self.letters)(narrow(column))).collect();
            self.row(&heads[0], name, &line(&heads));
        }
        let mut marked = Vec::new();
        for row in &grid.rows {
            let label = row.fields[0].as_str();
            match row.kind {
                RowKind::Gap(reason) => {
                    let lead = if width(label) < name { format!("{label:<name$}") } else { format!("{label}  ") };
                    self.wrap(&lead, reason);
                    continue;
                }
                RowKind::Total => self.total(grid, name),
                RowKind::Plain | RowKind::Strong => {}
            }
            let rest = line(&row.fields);
            // A total's name may reach into empty columns.
            let free = name + rest.len() - rest.trim_start().len();
            let fits = width(label) <= if row.kind == &RowKind::Total { free } else { name };
            let reach = if fits { width(label).max(name) } else { name };
            let mut rest: String = rest.chars().skip(reach - name).collect();
            rest.truncate(rest.trim_end().len());
            if !row.marks.is_empty() && all && reach + width(&rest) + 1 + row.marks.len() <= grid.room {
                rest = format!("{rest} {}", row.marks);
            } else if !row.marks.is_empty() {
                marked.push((row.marks.as_str(), label));
            }
            self.row(label, reach, &rest);
        }
        marked
    }

    /// A row: its name in `name` columns, or in a line of its own where it is longer.
    fn row(&mut self, label: &str, name: usize, rest: &str) {
        let fits = width(label) <= name;
        if !fits {
            self.wrap("", label);
        }
        let label = if fits { label } else { "" };
        self.text.line(&format!("{label:<name$}{rest}"));
    }

    /// Writes below a table the rows that have each footnote, and its text the first time.
    fn marks(&mut self, marked: &[(&str, &str)], rows: usize) {
        for (marks, same) in marked.iter().copied().grouped() {
            let all = same.len() == rows && rows > 1;
            let names = if all { "all of these".to_owned() } else { same.join(", ") };
            let place = marks.trim_matches(['[', ']']).parse::<usize>().ok().map(|number| number - 1);
            let note =
                place.filter(|place| self.told.insert(*place)).and_then(|place| self.notes.texts.get_index(place));
            let note = note.map_or(String::new(), |note| format!(": {note}"));
            self.wrap(&format!("{marks} "), &format!("{names}{note}"));
        }
    }

    /// The line above a total.
    fn total(&mut self, grid: &Grid<'_>, name: usize) {
        let main =
            grid.columns.iter().rposition(|column| !column.is_words() && column.role == crate::document::Role::Main);
        let end = grid.room.min(name + grid.widths[1..=main.unwrap_or(0)].iter().sum::<usize>());
        self.text.line(&format!("{:>end$}", "========"));
    }
}

/// The heading of a column in 80 columns.
fn narrow(column: &Column) -> &str {
    if column.narrow.is_empty() { &column.head } else { &column.narrow }
}

/// A table whose fields are words, and how wide its columns are.
struct Grid<'a> {
    columns: Vec<&'a Column>,
    /// Gaps included; the first column has none.
    widths: Vec<usize>,
    rows: Vec<Line<'a>>,
    /// The columns of the page.
    room: usize,
}

/// A row.
struct Line<'a> {
    fields: Vec<String>,
    marks: String,
    kind: &'a RowKind,
}

impl<'a> Grid<'a> {
    fn new(table: &'a Table, notes: &mut Notes, room: usize, letters: Letters) -> Grid<'a> {
        let mut marked = vec![false; table.columns.len()];
        for row in &table.rows {
            row.fields.iter().zip(&mut marked).for_each(|(field, marked)| *marked |= matches!(field, Field::Marks(_)));
        }
        let here = |place: &usize| table.columns[*place].readers.terminal;
        let (notes_of, shown): (Vec<usize>, Vec<usize>) =
            (0..table.columns.len()).filter(here).partition(|place| marked[*place]);
        let bar = BAR.min(room - NAME - 1);
        let rows = table.rows.iter().map(|row| Line {
            fields: shown.iter().map(|place| letters(&field(&row.fields[*place], bar))).collect(),
            marks: notes_of.iter().map(|place| marks(&row.fields[*place], notes)).collect(),
            kind: &row.kind,
        });
        let rows: Vec<Line<'_>> = rows.collect();
        let columns: Vec<&Column> = shown.iter().map(|place| &table.columns[*place]).collect();
        let wide = |place: usize| {
            let plain = rows.iter().filter(|row| matches!(row.kind, RowKind::Plain | RowKind::Strong) || place > 0);
            let fields = plain.map(|row| width(&row.fields[place]));
            let head = if table.headed { width(&letters(narrow(columns[place]))) } else { 0 };
            let gap = usize::from(place > 0);
            // A narrow page has no room for the usual layout.
            let least = if room < WIDTH { 0 } else { columns[place].width };
            least.max(fields.chain([head]).max().unwrap_or(0) + gap)
        };
        Grid { widths: (0..columns.len()).map(wide).collect(), columns, rows, room }
    }

    /// Returns the width of names that leaves room for the marks behind their rows.
    fn beside_marks(&self, name: usize, taken: usize) -> usize {
        let plain = self.rows.iter().filter(|row| matches!(row.kind, RowKind::Plain | RowKind::Strong));
        let longest = plain.map(|row| width(&row.fields[0])).max().unwrap_or(0);
        let marks = self.rows.iter().map(|row| row.marks.len()).filter(|length| *length > 0);
        let left = marks.map(|length| self.room.saturating_sub(taken + 1 + length)).filter(|left| *left >= longest);
        left.min().map_or(name, |left| name.min(left))
    }

    fn placed(&self, column: usize, field: &str) -> String {
        let width = self.widths[column];
        if self.columns[column].is_words() {
            format!(" {field:<w$}", w = width - 1)
        } else {
            format!("{field:>width$}")
        }
    }

    /// Shares the columns after the first among as many tables as it takes.
    fn parts(&self) -> Vec<Vec<usize>> {
        let name = if self.widths[0] <= SHORT { self.widths[0].max(NAME) } else { NAME };
        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        let mut left = self.room.saturating_sub(name);
        for (column, width) in self.widths.iter().enumerate().skip(1) {
            let last = parts.len() - 1;
            if *width > left && !parts[last].is_empty() {
                parts.push(vec![column]);
                left = self.room.saturating_sub(name);
            } else {
                parts[last].push(column);
            }
            left = left.saturating_sub(*width);
        }
        parts
    }
}

fn field(field: &Field, bar: usize) -> String {
    match field {
        Field::Bar(share) if share.is_finite() => {
            // Between one and all columns of the longest.
            let length = ((share.abs() * bar as f64).round() as usize).clamp(1, bar);
            if *share < 0.0 { "+" } else { "#" }.repeat(length)
        }
        Field::Narrow(words, _) => words.clone(),
        Field::Toned(inside, ..) => self::field(inside, bar),
        field => field.words(),
    }
}

fn marks(field: &Field, notes: &mut Notes) -> String {
    if let Field::Marks(texts) = field { notes.marks(texts) } else { String::new() }
}
