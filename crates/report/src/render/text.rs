//! Text for a terminal, as a rule of 80 columns.
//!
//! A table is laid out in three steps. A [`Grid`] turns its fields into words and measures the
//! columns. If not all columns fit, [`Grid::split_columns`] shares them among several tables, each
//! of which has the names of the rows again. Each of these is then written line by line
//! ([`Page::write_part`]); a name that is too long has a line of its own.
//!
//! Footnotes are numbers behind their rows if all columns of the table are in one part and there is
//! room; then their texts end the document. Otherwise, the rows that have each are listed below the
//! table, with its text the first time.

use std::collections::BTreeSet;

use words::{Grouped, WIDTH, Wrapped, width};

use super::Notes;
use crate::document::{Block, Column, Document, Field, List, Pairs, Reader, Role, RowKind, Table};

/// Names of rows have at least this room; longer ones have a line of their own.
const MIN_NAME_WIDTH: usize = 12;

/// Names up to this width always have their room.
const MAX_SHORT_NAME: usize = 20;

/// The width of a pair's label and its colon.
const LABEL_WIDTH: usize = 14;

/// The width of the longest bar.
const MAX_BAR_WIDTH: usize = 30;

/// The line above a total.
const TOTAL_LINE: &str = "========";

/// How texts are written: as they are, or in ASCII.
pub(super) type Letters = fn(&str) -> String;

/// The document in at most `room` columns.
pub(super) fn render(document: &Document, room: usize, letters: Letters) -> String {
    let mut page = Page {
        text: Wrapped::new(room),
        letters,
        notes: Notes::default(),
        listed_notes: BTreeSet::new(),
        after_notes: Wrapped::new(room),
        pending_section: None,
        is_bare: document.title.is_empty(),
    };
    if !page.is_bare {
        page.wrap("", &format!("{} — {}", document.title, document.kind));
        page.text.line("");
    }
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Terminal)) {
        page.write_block(block);
    }
    page.write_notes();
    page.text.text + &page.after_notes.text
}

/// A document while it is written.
struct Page {
    text: Wrapped,
    letters: Letters,
    notes: Notes,
    /// The indices of the footnotes whose texts are below a table already.
    listed_notes: BTreeSet<usize>,
    /// The lines below the footnotes.
    after_notes: Wrapped,
    /// The heading of a section that has shown nothing yet.
    pending_section: Option<String>,
    /// True of a document without a title, which is a few lines.
    is_bare: bool,
}

/// A row whose footnotes have no room behind it.
struct Marked<'a> {
    /// The numbers in brackets: `[1,3]`.
    mark: &'a str,
    label: &'a str,
}

impl Page {
    fn wrap(&mut self, lead: &str, content: &str) {
        self.text.wrap(&(self.letters)(lead), &(self.letters)(content));
    }

    /// Writes an empty line, unless there is one.
    fn add_gap(&mut self) {
        if !self.text.text.is_empty() && !self.text.text.ends_with("\n\n") {
            self.text.line("");
        }
    }

    /// Writes the heading of the section before the first thing in it, with a remark on that.
    fn begin_content(&mut self, remark: &str) {
        if let Some(title) = self.pending_section.take() {
            self.write_heading(&title, remark);
        } else if !remark.is_empty() {
            self.add_gap();
            self.wrap("", remark);
        }
    }

    fn write_heading(&mut self, title: &str, remark: &str) {
        self.add_gap();
        self.text.line(&"-".repeat(self.text.room));
        let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
        self.wrap("", &format!("{title}{remark}"));
    }

    fn write_block(&mut self, block: &Block) {
        match block {
            Block::Section(title) | Block::Fold(title) => {
                self.pending_section = Some(title.clone());
            }
            Block::Lead(sentences) => self.write_lead(sentences),
            Block::Text(_, lead, content) => {
                self.begin_content("");
                self.add_gap();
                self.wrap(lead, content);
            }
            Block::Pairs(pairs) => self.write_pairs(pairs),
            Block::Table(table) => self.write_table(table),
            Block::List(list) => self.write_list(list),
            Block::Headlines(..) | Block::Chart(_) | Block::Data(..) => {}
        }
    }

    fn write_lead(&mut self, sentences: &[String]) {
        if self.pending_section.is_some() {
            self.begin_content("");
            self.add_gap();
        }
        for sentence in sentences {
            self.wrap("", sentence);
            self.text.line("");
        }
    }

    fn write_pairs(&mut self, pairs: &Pairs) {
        for pair in pairs.items.iter().filter(|pair| !pair.narrow.is_empty()) {
            let label = format!("{}:", pair.narrow);
            self.wrap(&format!("  {label:<LABEL_WIDTH$} "), &pair.value);
        }
    }

    fn write_list(&mut self, list: &List) {
        let is_about_whole = list.title.is_empty() && !list.lead.is_empty();
        if is_about_whole {
            // Remarks on the whole are below those on single rows.
            self.pending_section = None;
            for item in &list.items {
                self.after_notes.wrap(list.lead, &(self.letters)(item));
            }
            return;
        }

        self.begin_content("");
        self.add_gap();
        if !list.title.is_empty() {
            self.wrap("", &list.title);
        }
        let lead = if list.lead.is_empty() { "  - " } else { list.lead };
        for item in &list.items {
            self.wrap(lead, item);
        }
    }

    fn write_table(&mut self, table: &Table) {
        if table.title.is_empty() {
            self.begin_content(&table.remark);
        } else {
            self.begin_content("");
            self.write_heading(&table.title, &table.remark);
        }

        let grid = Grid::new(table, &mut self.notes, self.text.room, self.letters);
        // In a document without a title, a remark is directly above its table.
        let mut needs_gap = table.remark.is_empty() || !self.is_bare;
        let mut marked = Vec::new();
        for part in grid.split_columns() {
            if needs_gap {
                self.add_gap();
            }
            needs_gap = true;
            // Every part has the same rows, so the marks of one are those of all.
            marked = self.write_part(table, &grid, &part);
        }
        self.write_marked(&marked, grid.rows.len());
    }

    /// Writes the names of the rows and the columns of one part; returns the rows whose footnotes
    /// have no room there.
    fn write_part<'g>(
        &mut self,
        table: &Table,
        grid: &'g Grid<'_>,
        part: &[usize],
    ) -> Vec<Marked<'g>> {
        let name_width = grid.name_width(part);
        if table.headed {
            let heads: Vec<String> =
                grid.columns.iter().map(|column| (self.letters)(narrow_head(column))).collect();
            self.write_row(&heads[0], name_width, &grid.place_fields(part, &heads));
        }

        let mut marked = Vec::new();
        for row in &grid.rows {
            let label = row.fields[0].as_str();
            match row.kind {
                RowKind::Gap(reason) => {
                    self.write_gap_row(label, name_width, reason);
                    continue;
                }
                RowKind::Total => self.write_total_line(grid, name_width),
                RowKind::Plain | RowKind::Strong => {}
            }

            let mut fields = grid.place_fields(part, &row.fields);
            let reach = reach_of_label(row, name_width, &fields);
            // What a name takes of the columns behind it is blank there.
            fields = fields.chars().skip(reach - name_width).collect();
            fields.truncate(fields.trim_end().len());

            if !row.mark.is_empty() {
                let with_mark = reach + width(&fields) + 1 + row.mark.len();
                if grid.has_all_columns(part) && with_mark <= grid.room {
                    fields = format!("{fields} {}", row.mark);
                } else {
                    marked.push(Marked { mark: &row.mark, label });
                }
            }
            self.write_row(label, reach, &fields);
        }
        marked
    }

    /// Writes a row with its name in `name_width` columns, or in a line of its own where it is
    /// longer.
    fn write_row(&mut self, label: &str, name_width: usize, fields: &str) {
        let fits = width(label) <= name_width;
        if !fits {
            self.wrap("", label);
        }
        let label = if fits { label } else { "" };
        self.text.line(&format!("{label:<name_width$}{fields}"));
    }

    fn write_gap_row(&mut self, label: &str, name_width: usize, reason: &str) {
        let fits = width(label) < name_width;
        let lead = if fits { format!("{label:<name_width$}") } else { format!("{label}  ") };
        self.wrap(&lead, reason);
    }

    /// Writes the line above a total, below the last column of numbers that the table is about.
    fn write_total_line(&mut self, grid: &Grid<'_>, name_width: usize) {
        let main = grid.columns.iter().rposition(|column| column.role == Role::Main);
        // Without such a column, it is below the names.
        let columns = &grid.widths[1..=main.unwrap_or(0)];
        let end = grid.room.min(name_width + columns.iter().sum::<usize>());
        self.text.line(&format!("{TOTAL_LINE:>end$}"));
    }

    /// Writes below a table the rows that have each footnote, and its text the first time.
    fn write_marked(&mut self, marked: &[Marked<'_>], rows: usize) {
        let by_mark = marked.iter().map(|row| (row.mark, row.label)).grouped();
        for (mark, labels) in by_mark {
            let has_all = labels.len() == rows && rows > 1;
            let names = if has_all { "all of these".to_owned() } else { labels.join(", ") };

            // A mark of several footnotes is no number; their texts end the document.
            let number = mark.trim_matches(['[', ']']).parse::<usize>().ok();
            let not_listed = number
                .map(|number| number - 1)
                .filter(|index| self.listed_notes.insert(*index))
                .and_then(|index| self.notes.texts.get_index(index));
            let note = not_listed.map_or(String::new(), |note| format!(": {note}"));
            self.wrap(&format!("{mark} "), &format!("{names}{note}"));
        }
    }

    /// Writes the footnotes that are not below a table.
    fn write_notes(&mut self) {
        let has_notes = self.notes.texts.len() > self.listed_notes.len();
        if has_notes || !self.after_notes.text.is_empty() {
            self.add_gap();
        }
        for (index, note) in self.notes.texts.iter().enumerate() {
            if !self.listed_notes.contains(&index) {
                self.text.wrap(&format!("[{}] ", index + 1), &(self.letters)(note));
            }
        }
    }
}

/// The width that a row's label takes: that of all names, or more for the name of a total, which
/// may reach into the empty columns behind it.
fn reach_of_label(row: &GridRow<'_>, name_width: usize, fields: &str) -> usize {
    let label_width = width(&row.fields[0]);
    let empty = fields.len() - fields.trim_start().len();
    let is_total = row.kind == &RowKind::Total;
    let free = if is_total { name_width + empty } else { name_width };
    if label_width <= free { label_width.max(name_width) } else { name_width }
}

/// The heading of a column in 80 columns.
fn narrow_head(column: &Column) -> &str {
    if column.narrow.is_empty() { &column.head } else { &column.narrow }
}

/// A table whose fields are words, and how wide its columns are.
struct Grid<'a> {
    columns: Vec<&'a Column>,
    /// Gaps included; the first column has none.
    widths: Vec<usize>,
    rows: Vec<GridRow<'a>>,
    /// The columns of the page.
    room: usize,
}

struct GridRow<'a> {
    fields: Vec<String>,
    /// The numbers of its footnotes in brackets; empty without any.
    mark: String,
    kind: &'a RowKind,
}

impl GridRow<'_> {
    /// True of a row that is neither a gap nor a total.
    fn is_ordinary(&self) -> bool {
        matches!(self.kind, RowKind::Plain | RowKind::Strong)
    }
}

impl<'a> Grid<'a> {
    fn new(table: &'a Table, notes: &mut Notes, room: usize, letters: Letters) -> Grid<'a> {
        let (of_marks, of_fields): (Vec<usize>, Vec<usize>) = (0..table.columns.len())
            .filter(|column| table.columns[*column].readers.terminal)
            .partition(|column| has_marks(table, *column));
        let bar_width = MAX_BAR_WIDTH.min(room - MIN_NAME_WIDTH - 1);

        let mut rows = Vec::new();
        for row in &table.rows {
            let fields =
                of_fields.iter().map(|column| field_words(&row.fields[*column], bar_width));
            rows.push(GridRow {
                fields: fields.map(|words| letters(&words)).collect(),
                mark: of_marks
                    .iter()
                    .map(|column| field_mark(&row.fields[*column], notes))
                    .collect(),
                kind: &row.kind,
            });
        }

        let columns: Vec<&Column> =
            of_fields.iter().map(|column| &table.columns[*column]).collect();
        let mut widths = Vec::new();
        for (number, column) in columns.iter().enumerate() {
            let head_width = if table.headed { width(&letters(narrow_head(column))) } else { 0 };
            // The names of gaps and totals may reach into the columns behind them.
            let field_widths = rows
                .iter()
                .filter(|row| row.is_ordinary() || number > 0)
                .map(|row| width(&row.fields[number]));
            let gap = usize::from(number > 0);
            // A narrow page has no room for the usual layout.
            let min_width = if room < WIDTH { 0 } else { column.width };
            widths.push(min_width.max(field_widths.fold(head_width, usize::max) + gap));
        }
        Grid { columns, widths, rows, room }
    }

    /// True if the part has all columns after the first.
    fn has_all_columns(&self, part: &[usize]) -> bool {
        part.len() + 1 == self.columns.len()
    }

    /// The width of names next to the columns of a part.
    fn name_width(&self, part: &[usize]) -> usize {
        let taken: usize = part.iter().map(|column| self.widths[*column]).sum();
        let room = self.room.saturating_sub(taken).max(MIN_NAME_WIDTH);
        let name_width = self.widths[0].min(room);
        if !self.has_all_columns(part) {
            return name_width;
        }
        self.leave_room_for_marks(name_width, taken)
    }

    /// The width of names, made narrower so that footnotes have room behind their rows, as long as
    /// every name still fits. `taken` is the width of the columns.
    fn leave_room_for_marks(&self, name_width: usize, taken: usize) -> usize {
        let ordinary = self.rows.iter().filter(|row| row.is_ordinary());
        let longest_name = ordinary.map(|row| width(&row.fields[0])).max().unwrap_or(0);

        let marks = self.rows.iter().map(|row| row.mark.len()).filter(|length| *length > 0);
        let left = marks
            .map(|length| self.room.saturating_sub(taken + 1 + length))
            .filter(|left| *left >= longest_name)
            .min();
        left.map_or(name_width, |left| name_width.min(left))
    }

    /// The fields of one part of the columns, each in its place.
    fn place_fields(&self, part: &[usize], fields: &[String]) -> String {
        part.iter().map(|column| self.place_field(*column, &fields[*column])).collect()
    }

    fn place_field(&self, column: usize, field: &str) -> String {
        // A name of more than 65,535 characters is wider than formatting can fill up.
        let blanks = self.widths[column].saturating_sub(field.chars().count());
        if self.columns[column].is_words() {
            format!(" {field}{}", " ".repeat(blanks.saturating_sub(1)))
        } else {
            format!("{}{field}", " ".repeat(blanks))
        }
    }

    /// Shares the columns after the first among as many tables as it takes.
    fn split_columns(&self) -> Vec<Vec<usize>> {
        let has_short_names = self.widths[0] <= MAX_SHORT_NAME;
        let name_width =
            if has_short_names { self.widths[0].max(MIN_NAME_WIDTH) } else { MIN_NAME_WIDTH };
        let room = self.room.saturating_sub(name_width);

        let mut parts = Vec::new();
        let mut part = Vec::new();
        let mut left = room;
        for (column, width) in self.widths.iter().enumerate().skip(1) {
            if *width > left && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
                left = room;
            }
            part.push(column);
            left = left.saturating_sub(*width);
        }
        parts.push(part);
        parts
    }
}

fn has_marks(table: &Table, column: usize) -> bool {
    let mut fields = table.rows.iter().filter_map(|row| row.fields.get(column));
    fields.any(|field| matches!(field, Field::Marks(_)))
}

/// The words of a field in 80 columns, with a bar of at most `bar_width`.
fn field_words(field: &Field, bar_width: usize) -> String {
    match field {
        Field::Bar(share) if share.is_finite() => {
            // Even the shortest bar is seen.
            let length = ((share.abs() * bar_width as f64).round() as usize).clamp(1, bar_width);
            if *share < 0.0 { "+" } else { "#" }.repeat(length)
        }
        Field::Narrow(words, _) => words.clone(),
        Field::Toned(field, ..) => field_words(field, bar_width),
        field => field.words(),
    }
}

fn field_mark(field: &Field, notes: &mut Notes) -> String {
    match field {
        Field::Marks(texts) => notes.mark(texts),
        _ => String::new(),
    }
}
