//! A report as blocks that know no format: sentences, tables with typed columns and fields, charts, facts, lists.
//!
//! A view (`views/`) turns results into a [`Document`]; a renderer (`render/`) turns any document into one format. What
//! a column is called on a page, in 80 columns, in CSV and in JSON is said once, in its [`Column`].

mod field;

use journal::Key;
use serde_json::{Map, Value, json};

pub use field::{Field, Style, Tone, interval, known};
use maud::Markup;

/// The readers of a rendered document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person at a terminal of 80 columns.
    Terminal,
    /// A person with a page before them: HTML and Markdown.
    Page,
    /// A program: CSV and JSON.
    Program,
}

/// The readers of a block or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readers {
    pub terminal: bool,
    pub page: bool,
    pub program: bool,
}

impl Readers {
    pub const ALL: Readers = Readers { terminal: true, page: true, program: true };
    pub const PEOPLE: Readers = Readers { program: false, ..Readers::ALL };
    pub const TERMINAL: Readers = Readers { page: false, ..Readers::PEOPLE };
    pub const PAGE: Readers = Readers { terminal: false, ..Readers::PEOPLE };
    pub const PROGRAM: Readers = Readers { terminal: false, page: false, program: true };

    pub fn has(self, reader: Reader) -> bool {
        match reader {
            Reader::Terminal => self.terminal,
            Reader::Page => self.page,
            Reader::Program => self.program,
        }
    }
}

impl Default for Readers {
    fn default() -> Self {
        Readers::ALL
    }
}

/// A whole report.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The version of its JSON keys: `unixmark-report/3`.
    pub format: &'static str,
    /// The kind of report, and the tool: `unixmark 0.1.0 report`.
    pub kind: String,
    /// The subject: the run, the fleet run.
    pub title: String,
    /// The machine that it was measured on, for pages.
    pub about: String,
    pub blocks: Vec<Block>,
    /// The name of the run, with which every line of CSV begins; empty if rows name their own.
    pub run: String,
    /// The keys of the tables whose rows are the lines of CSV.
    pub lines: &'static [&'static str],
}

/// One part of a report.
#[derive(Debug, Clone)]
pub enum Block {
    /// A heading; what follows belongs to it until the next.
    Section(String),
    /// The result in sentences, to be read first.
    Lead(Vec<String>),
    /// A paragraph, after a few words that say what it is.
    Text(Readers, String, String),
    /// The result in large numbers, for pages.
    Headlines(String, Vec<Headline>),
    /// Names and values.
    Pairs(Pairs),
    /// A table.
    Table(Table),
    /// Drawings, for pages; tables have their figures.
    Chart(Chart),
    List(List),
    /// Something only programs want, under a key.
    Data(&'static str, Value),
}

/// A number to be read first.
#[derive(Debug, Clone, Default)]
pub struct Headline {
    /// Its qualification: `2 copies`.
    pub label: String,
    /// The mark that stands for it in charts; may be empty.
    pub mark: Markup,
    pub value: String,
    pub unit: String,
    /// Its interval: `±1.2%`.
    pub spread: String,
    /// More about it: the ends of the interval, what it is compared with.
    pub more: Vec<String>,
}

/// Names with values: facts, how a run was made.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// The object's name in JSON; empty where programs have it elsewhere.
    pub key: &'static str,
    /// The heading on pages; at a terminal pairs have none.
    pub title: String,
    pub items: Vec<Pair>,
}

/// A name with its value.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// Its name for programs.
    pub key: String,
    pub label: String,
    /// Its name at a terminal; where empty, it is not shown there.
    pub narrow: String,
    pub value: String,
    /// The source of the value; may be empty.
    pub source: String,
}

#[derive(Debug, Clone, Default)]
pub struct List {
    /// The array's name in JSON; empty where programs have it elsewhere.
    pub key: &'static str,
    /// The heading; may be empty.
    pub title: String,
    /// The lead before each item at a terminal: `Note: `.
    pub lead: &'static str,
    pub items: Vec<String>,
    pub readers: Readers,
}

/// Drawings with one legend.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// The heading; may be empty.
    pub title: String,
    pub caption: String,
    /// Marks, and what they stand for.
    pub legend: Vec<(Markup, String)>,
    /// Drawings with their labels; that of a single drawing may be empty.
    pub panels: Vec<(String, Markup)>,
}

/// A table. Rows of the same key form one array in JSON, also where people see several tables.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The array's name in JSON; empty where programs have the rows elsewhere.
    pub key: &'static str,
    /// The heading; may be empty.
    pub title: String,
    /// The remark for its reader; may be empty.
    pub remark: String,
    pub columns: Vec<Column>,
    /// The rows, each with as many fields as there are columns.
    pub rows: Vec<Row>,
    pub readers: Readers,
    /// True if people see the columns' headings.
    pub headed: bool,
}

/// A row of a table.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// One per column.
    pub fields: Vec<Field>,
    pub kind: RowKind,
}

/// The kind of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RowKind {
    /// One of many.
    #[default]
    Plain,
    /// A row that readers look for.
    Strong,
    /// The sum of the rows above it.
    Total,
    /// There is no result: the first field, and a reason across the others.
    Gap(String),
}

/// The role of a column, which says how it is placed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// Numbers, at the right edge.
    #[default]
    Number,
    /// Words, at the left edge.
    Words,
    /// Numbers that the table is about.
    Main,
    /// Words that the table is about.
    MainWords,
}

/// A column, for all formats.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Its name in CSV and JSON; a dot nests in JSON (`percentiles.p50`). `None` where programs do not have it by a
    /// name.
    pub key: Option<String>,
    /// Its heading on pages.
    pub head: String,
    /// Its heading in 80 columns; that of pages where it is empty.
    pub narrow: String,
    pub role: Role,
    pub readers: Readers,
    /// The columns it takes at least in text, the gap before it included.
    pub width: usize,
}

impl Column {
    /// Returns a column of numbers for people.
    pub fn number(head: &str) -> Column {
        Column { head: head.to_owned(), readers: Readers::PEOPLE, ..Column::default() }
    }

    /// Returns a column of words for people.
    pub fn words(head: &str) -> Column {
        Column { role: Role::Words, ..Column::number(head) }
    }

    /// Returns a column for programs.
    pub fn data(key: &str) -> Column {
        Column::words(key).keyed(key).shown(Readers::PROGRAM)
    }

    /// Returns it with a name for programs, who then have it, too.
    pub fn keyed(self, key: &str) -> Column {
        Column { key: Some(key.to_owned()), readers: Readers { program: true, ..self.readers }, ..self }
    }

    /// Returns it with another heading in 80 columns.
    pub fn narrow(self, narrow: &str) -> Column {
        Column { narrow: narrow.to_owned(), ..self }
    }

    /// Returns it as what the table is about.
    pub fn main(self) -> Column {
        let role = if self.is_words() { Role::MainWords } else { Role::Main };
        Column { role, ..self }
    }

    /// Returns it for some people; programs have what has a key.
    pub fn shown(self, people: Readers) -> Column {
        Column { readers: Readers { program: self.readers.program, ..people }, ..self }
    }

    /// Returns it with a least width in text, the gap before it included.
    pub fn wide(self, width: usize) -> Column {
        Column { width, ..self }
    }

    pub fn is_words(&self) -> bool {
        matches!(self.role, Role::Words | Role::MainWords)
    }
}

/// A list of columns, and what a row of type `T` has in each: the only place that knows a column of a table.
pub struct Columns<'a, T: ?Sized>(Vec<(Column, Reading<'a, T>)>);

/// The reading of a row in a column.
type Reading<'a, T> = Box<dyn Fn(&T) -> Field + 'a>;

impl<'a, T: ?Sized> Columns<'a, T> {
    pub fn new() -> Columns<'a, T> {
        Columns(Vec::new())
    }

    /// Returns the list with one more column.
    pub fn with(mut self, column: Column, field: impl Fn(&T) -> Field + 'a) -> Columns<'a, T> {
        self.0.push((column, Box::new(field)));
        self
    }

    /// Returns the list with what programs alone have: an object whose keys become the row's, or null.
    pub fn data(self, object: impl Fn(&T) -> Value + 'a) -> Columns<'a, T> {
        self.with(Column { readers: Readers::PROGRAM, ..Column::default() }, move |row| Field::Data(object(row)))
    }

    /// Returns the list with the columns of another after its own.
    pub fn and(mut self, other: Columns<'a, T>) -> Columns<'a, T> {
        self.0.extend(other.0);
        self
    }

    /// Returns the list with the columns of a cell's key, for programs: people see its name.
    pub fn keyed(self, key: impl Fn(&T) -> &Key + Copy + 'a) -> Columns<'a, T> {
        self.data(move |row| json!(key(row)))
    }

    pub fn row(&self, item: &T) -> Row {
        Row { fields: self.0.iter().map(|(_, field)| field(item)).collect(), kind: RowKind::Plain }
    }

    /// Returns what programs have of a row.
    pub fn object(&self, item: &T) -> Map<String, Value> {
        object(self.0.iter().map(|(column, _)| column), &self.row(item))
    }

    pub fn empty_table(&self) -> Table {
        Table { columns: self.0.iter().map(|(column, _)| column.clone()).collect(), headed: true, ..Table::default() }
    }

    pub fn table<'t>(&self, items: impl IntoIterator<Item = &'t T>) -> Table
    where
        T: 't,
    {
        Table { rows: items.into_iter().map(|item| self.row(item)).collect(), ..self.empty_table() }
    }
}

/// Returns what programs have of a row; the ends of its first estimate are `low` and `high`.
pub(crate) fn object<'c>(columns: impl Iterator<Item = &'c Column>, row: &Row) -> Map<String, Value> {
    let mut object = Map::new();
    let mut first = true;
    for (column, field) in columns.zip(&row.fields).filter(|(column, _)| column.readers.program) {
        match (&column.key, field) {
            (Some(key), field) => field.insert(&mut object, key, first),
            (None, Field::Data(Value::Object(own))) => object.extend(own.clone()),
            (None, _) => {}
        }
        first &= !matches!(field, Field::Estimate(..));
    }
    object
}

impl Table {
    /// Returns the columns that the reader sees, with their places.
    pub fn columns_for(&self, reader: Reader) -> Vec<(usize, &Column)> {
        // What a page has room for is left out where no row has any of it.
        let is_empty = |place: usize| {
            let fields = self.rows.iter().filter_map(|row| row.fields.get(place));
            fields.clone().next().is_some()
                && fields.into_iter().all(|field| matches!(field, Field::Missing | Field::Nothing))
        };
        let spare = |column: &Column| column.readers.page && !column.readers.terminal;
        let all = self.columns.iter().enumerate().filter(|(_, column)| column.readers.has(reader));
        all.filter(|(place, column)| !(reader == Reader::Page && spare(column) && is_empty(*place))).collect()
    }

    /// Returns it under a heading, with what a reader must know of it.
    pub fn titled(self, title: impl Into<String>, remark: impl Into<String>) -> Table {
        Table { title: title.into(), remark: remark.into(), ..self }
    }

    /// Returns it as the array `key` of JSON.
    pub fn keyed(self, key: &'static str) -> Table {
        Table { key, ..self }
    }

    pub fn shown(self, readers: Readers) -> Table {
        Table { readers, ..self }
    }

    /// Adds a row that has no result: `name` in the first column people see, and the reason across the others.
    pub fn add_gap(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        let mut fields = vec![Field::Nothing; self.columns.len()];
        if let Some(first) = self.columns.iter().position(|column| column.readers.page) {
            fields[first] = Field::Text(name.into());
        }
        self.rows.push(Row { fields, kind: RowKind::Gap(reason.into()) });
    }

    /// Returns it with its first `most` rows, and a remark on how many there are.
    pub fn at_most(mut self, most: usize) -> Table {
        let all = self.rows.len();
        if all > most {
            self.rows.truncate(most);
            self.remark_on(format!("the first {most} of {all}; JSON has all"));
        }
        self
    }

    /// Returns it with its first and last `ends` rows, and a remark on how many there are.
    pub fn ends(mut self, ends: usize) -> Table {
        let all = self.rows.len();
        if all > 2 * ends {
            self.rows.drain(ends..all - ends);
            self.remark_on(format!("the first and the last {ends} of {all}; JSON has all"));
        }
        self
    }

    fn remark_on(&mut self, remark: String) {
        self.remark = if self.remark.is_empty() { remark } else { format!("{}; {remark}", self.remark) };
    }

    pub fn unless_empty(self) -> Option<Block> {
        (!self.rows.is_empty()).then_some(Block::Table(self))
    }
}

impl Block {
    /// Returns the heading of a section.
    pub fn section(title: impl Into<String>) -> Block {
        Block::Section(title.into())
    }

    /// Returns a paragraph for people.
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text(Readers::PEOPLE, String::new(), text.into())
    }

    /// Returns a list for people.
    pub fn items(items: Vec<String>) -> Block {
        Block::List(List { items, readers: Readers::PEOPLE, ..List::default() })
    }

    /// Returns true if there is anything in it for the reader; to programs an empty table says something too.
    pub fn is_for(&self, reader: Reader) -> bool {
        match self {
            Block::Text(readers, ..) => readers.has(reader),
            Block::Table(table) => table.readers.has(reader) && (reader == Reader::Program || !table.rows.is_empty()),
            Block::List(list) => list.readers.has(reader) && !list.items.is_empty(),
            Block::Pairs(pairs) => !pairs.items.is_empty(),
            Block::Headlines(_, figures) => reader == Reader::Page && !figures.is_empty(),
            Block::Chart(chart) => reader == Reader::Page && !chart.panels.is_empty(),
            Block::Data(..) => reader == Reader::Program,
            Block::Section(_) | Block::Lead(_) => true,
        }
    }

    /// Returns how to read a report, below it.
    pub fn notes(items: Vec<String>) -> Block {
        Block::List(List { lead: "Note: ", items, readers: Readers::PEOPLE, ..List::default() })
    }
}

impl Chart {
    /// Returns the chart of a single drawing, if there is one.
    pub fn new(drawing: Option<Markup>, caption: impl Into<String>, legend: Vec<(Markup, String)>) -> Chart {
        let panels = drawing.into_iter().map(|drawing| (String::new(), drawing)).collect();
        Chart { title: String::new(), caption: caption.into(), legend, panels }
    }
}

impl List {
    pub fn unless_empty(self) -> Option<Block> {
        (!self.items.is_empty()).then_some(Block::List(self))
    }
}

impl Document {
    /// Returns a document without blocks.
    pub fn new(format: &'static str, kind: &str, title: &str, lines: &'static [&'static str]) -> Document {
        let (kind, title) = (kind.to_owned(), title.to_owned());
        Document { format, kind, title, lines, ..Document::default() }
    }

    pub fn extend(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks);
    }

    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }
}
