//! Text for a terminal of 80 columns.

use words::{WIDTH, Wrapped, width, wrap};

use super::Notes;
use crate::document::{Block, Column, Document, Field, List, Pairs, Reader, RowKind, Table};

/// The least room for the names of rows; longer ones have a line of their own.
const NAME: usize = 12;

/// Names up to this width always have their room.
const SHORT: usize = 20;

/// What stands before the label of a pair, and how wide that is.
const LABEL: usize = 14;

/// Columns of the longest bar.
const BAR: usize = 30;

/// Returns the document.
pub(super) fn render(document: &Document) -> String {
    let mut page = Page::default();
    page.text.line(&format!("{} — {}", document.title, document.kind));
    page.text.line("");
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Terminal)) {
        page.block(block);
    }
    if !page.notes.texts.is_empty() || !page.after.0.is_empty() {
        page.gap();
    }
    for (number, note) in page.notes.texts.iter().enumerate() {
        page.text.wrap(&format!("[{}] ", number + 1), note);
    }
    page.text.0 += &page.after.0;
    page.text.0
}

#[derive(Default)]
struct Page {
    text: Wrapped,
    notes: Notes,
    /// What stands below the footnotes.
    after: Wrapped,
    /// The heading of a section that has shown nothing yet.
    pending: Option<String>,
}

impl Page {
    /// An empty line, unless there is one.
    fn gap(&mut self) {
        if !self.text.0.is_empty() && !self.text.0.ends_with("\n\n") {
            self.text.line("");
        }
    }

    /// The heading of the section, before the first thing in it, with a remark of that.
    fn begin(&mut self, remark: &str) {
        match (self.pending.take(), remark.is_empty()) {
            (Some(title), _) => self.heading(&title, remark),
            (None, false) => {
                self.gap();
                self.text.wrap("", remark);
            }
            (None, true) => {}
        }
    }

    fn heading(&mut self, title: &str, remark: &str) {
        self.rule();
        let remark = if remark.is_empty() { String::new() } else { format!(" ({remark})") };
        self.text.wrap("", &format!("{title}{remark}"));
    }

    fn rule(&mut self) {
        self.gap();
        self.text.line(&"-".repeat(WIDTH));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Section(title) => self.pending = Some(title.clone()),
            Block::Lead(sentences) => {
                for sentence in sentences {
                    self.text.wrap("", sentence);
                    self.text.line("");
                }
            }
            Block::Text(_, lead, content) => {
                self.begin("");
                self.gap();
                self.text.wrap(lead, content);
            }
            Block::Pairs(pairs) => self.pairs(pairs),
            Block::Table(table) => self.table(table),
            Block::List(list) => self.list(list),
            Block::Figures(..) | Block::Chart(_) | Block::Data(..) => {}
        }
    }

    fn pairs(&mut self, pairs: &Pairs) {
        for pair in pairs.items.iter().filter(|pair| !pair.narrow.is_empty()) {
            self.text.wrap(&format!("  {:<LABEL$} ", format!("{}:", pair.narrow)), &pair.value);
        }
    }

    fn list(&mut self, list: &List) {
        if list.title.is_empty() && !list.lead.is_empty() {
            // Remarks on the whole stand below those on single rows.
            self.pending = None;
            return list.items.iter().for_each(|item| self.after.wrap(list.lead, item));
        }
        self.begin("");
        self.gap();
        if !list.title.is_empty() {
            self.text.wrap("", &list.title);
        }
        let lead = if list.lead.is_empty() { "  - " } else { list.lead };
        list.items.iter().for_each(|item| self.text.wrap(lead, item));
    }

    fn table(&mut self, table: &Table) {
        if table.title.is_empty() {
            self.begin(&table.remark);
        } else {
            self.begin("");
            self.heading(&table.title, &table.remark);
        }
        let grid = Grid::new(table, &mut self.notes);
        for part in grid.parts() {
            self.gap();
            self.part(table, &grid, &part);
        }
    }

    /// As many columns as fit, after the first.
    fn part(&mut self, table: &Table, grid: &Grid<'_>, part: &[usize]) {
        let taken: usize = part.iter().map(|column| grid.widths[*column]).sum();
        let all = part.len() + 1 == grid.columns.len();
        let name = grid.widths[0].min(WIDTH.saturating_sub(taken).max(NAME));
        let name = if all { grid.beside_marks(name, taken) } else { name };
        let line = |grid: &Grid<'_>, fields: &[String]| -> String {
            part.iter().map(|column| grid.placed(*column, &fields[*column])).collect()
        };
        if table.headed {
            let heads: Vec<String> = grid.columns.iter().map(|column| narrow(column)).collect();
            let first: String = heads[0].chars().take(name).collect();
            self.text.line(&format!("{first:<name$}{}", line(grid, &heads)));
        }
        for row in &grid.rows {
            let mut label = row.fields[0].as_str();
            match row.kind {
                RowKind::Gap(reason) => {
                    let lead = if width(label) < name { format!("{label:<name$}") } else { format!("{label}  ") };
                    self.text.wrap(&lead, reason);
                    continue;
                }
                RowKind::Total => self.total(grid, name),
                RowKind::Plain | RowKind::Strong => {}
            }
            let rest = line(grid, &row.fields);
            // A total's name may reach into empty columns.
            let free = name + rest.len() - rest.trim_start().len();
            if width(label) > if row.kind == &RowKind::Total { free } else { name } {
                self.text.wrap("", label);
                label = "";
            }
            let reach = width(label).max(name);
            let rest: String = rest.chars().skip(reach - name).collect();
            self.line_with_marks(&format!("{label:<name$}{rest}"), if all { &row.marks } else { "" });
        }
    }

    /// The line above a total.
    fn total(&mut self, grid: &Grid<'_>, name: usize) {
        let main =
            grid.columns.iter().rposition(|column| !column.is_words() && column.role == crate::document::Role::Main);
        let end = name + grid.widths[1..=main.unwrap_or(0)].iter().sum::<usize>();
        self.text.line(&format!("{:>end$}", "========"));
    }

    /// A line, and its footnotes' marks behind it or below it.
    fn line_with_marks(&mut self, line: &str, marks: &str) {
        let line = line.trim_end();
        if marks.is_empty() || width(line) + 1 + marks.len() <= WIDTH {
            return self.text.line(&format!("{line} {marks}"));
        }
        self.text.line(line);
        wrap("", &marks.replace(',', ", "), WIDTH).iter().for_each(|part| {
            let part = part.replace(", ", ",");
            self.text.line(&format!("{part:>WIDTH$}"));
        });
    }
}

/// The heading of a column in 80 columns.
fn narrow(column: &Column) -> String {
    if column.narrow.is_empty() { column.head.clone() } else { column.narrow.clone() }
}

/// A table whose fields are words, and how wide its columns are.
struct Grid<'a> {
    columns: Vec<&'a Column>,
    /// Gaps included; the first column has none.
    widths: Vec<usize>,
    rows: Vec<Line<'a>>,
}

/// A row.
struct Line<'a> {
    fields: Vec<String>,
    marks: String,
    kind: &'a RowKind,
}

impl<'a> Grid<'a> {
    fn new(table: &'a Table, notes: &mut Notes) -> Grid<'a> {
        let mut marked = vec![false; table.columns.len()];
        for row in &table.rows {
            row.fields.iter().zip(&mut marked).for_each(|(field, marked)| *marked |= matches!(field, Field::Marks(_)));
        }
        let here = |place: &usize| table.columns[*place].show.is_for(Reader::Terminal);
        let (notes_of, shown): (Vec<usize>, Vec<usize>) =
            (0..table.columns.len()).filter(here).partition(|place| marked[*place]);
        let rows: Vec<Line<'_>> = table
            .rows
            .iter()
            .map(|row| Line {
                fields: shown.iter().map(|place| field(&row.fields[*place])).collect(),
                marks: notes_of.iter().map(|place| marks(&row.fields[*place], notes)).collect(),
                kind: &row.kind,
            })
            .collect();
        let columns: Vec<&Column> = shown.iter().map(|place| &table.columns[*place]).collect();
        let wide = |place: usize| {
            let plain = rows.iter().filter(|row| matches!(row.kind, RowKind::Plain | RowKind::Strong) || place > 0);
            let fields = plain.map(|row| width(&row.fields[place]));
            let head = if table.headed { width(&narrow(columns[place])) } else { 0 };
            let gap = usize::from(place > 0);
            columns[place].width.max(fields.chain([head]).max().unwrap_or(0) + gap)
        };
        Grid { widths: (0..columns.len()).map(wide).collect(), columns, rows }
    }

    /// How wide names are when the marks that can stand behind their rows do.
    fn beside_marks(&self, name: usize, taken: usize) -> usize {
        let plain = self.rows.iter().filter(|row| matches!(row.kind, RowKind::Plain | RowKind::Strong));
        let longest = plain.map(|row| width(&row.fields[0])).max().unwrap_or(0);
        let marks = self.rows.iter().map(|row| row.marks.len()).filter(|length| *length > 0);
        let left = marks.map(|length| WIDTH.saturating_sub(taken + 1 + length)).filter(|left| *left >= longest);
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
        let mut left = WIDTH - name;
        for (column, width) in self.widths.iter().enumerate().skip(1) {
            let last = parts.len() - 1;
            if *width > left && !parts[last].is_empty() {
                parts.push(vec![column]);
                left = WIDTH - name;
            } else {
                parts[last].push(column);
            }
            left = left.saturating_sub(*width);
        }
        parts
    }
}

fn field(field: &Field) -> String {
    match field {
        Field::Bar(share) if share.is_finite() => {
            // Between one and all columns of a bar.
            let length = ((share.abs() * BAR as f64).round() as usize).clamp(1, BAR);
            if *share < 0.0 { "+" } else { "#" }.repeat(length)
        }
        field => field.words(),
    }
}

fn marks(field: &Field, notes: &mut Notes) -> String {
    if let Field::Marks(texts) = field { notes.marks(texts) } else { String::new() }
}
