//! Tables with typed columns.
//!
//! [`Columns`] is where a view says what a table has: each column together with the function that
//! reads its field from an item. From one such list come the table for people, the rows for
//! programs, and a table without rows.

use journal::Key;
use serde_json::{Map, Value, json};

use super::{Block, Field, Reader, Readers};

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

#[derive(Debug, Clone, Default)]
pub struct Row {
    /// One per column.
    pub fields: Vec<Field>,
    pub kind: RowKind,
}

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
    /// Its name in CSV and JSON; a dot nests in JSON (`percentiles.p50`). `None` where programs do
    /// not have it by a name.
    pub key: Option<String>,
    /// Its heading on pages.
    pub head: String,
    /// Its heading in 80 columns; that of pages where it is empty.
    pub narrow: String,
    pub role: Role,
    pub readers: Readers,
    /// Its minimum width in text, the gap before it included.
    pub width: usize,
}

impl Column {
    /// A column of numbers for people.
    pub fn number(head: &str) -> Column {
        Column { head: head.to_owned(), readers: Readers::PEOPLE, ..Column::default() }
    }

    /// A column of words for people.
    pub fn words(head: &str) -> Column {
        Column { role: Role::Words, ..Column::number(head) }
    }

    /// A column for programs.
    pub fn data(key: &str) -> Column {
        Column::words(key).keyed(key).shown(Readers::PROGRAM)
    }

    /// Names the column for programs, who then get it, too.
    pub fn keyed(self, key: &str) -> Column {
        Column {
            key: Some(key.to_owned()),
            readers: Readers { program: true, ..self.readers },
            ..self
        }
    }

    /// Gives the column another heading in 80 columns.
    pub fn narrow(self, narrow: &str) -> Column {
        Column { narrow: narrow.to_owned(), ..self }
    }

    /// Marks the column as what the table is about.
    pub fn main(self) -> Column {
        let role = if self.is_words() { Role::MainWords } else { Role::Main };
        Column { role, ..self }
    }

    /// Limits the people who see the column; programs get what has a key.
    pub fn shown(self, people: Readers) -> Column {
        Column { readers: Readers { program: self.readers.program, ..people }, ..self }
    }

    /// Sets the minimum width in text, the gap before the column included.
    pub fn wide(self, width: usize) -> Column {
        Column { width, ..self }
    }

    pub fn is_words(&self) -> bool {
        matches!(self.role, Role::Words | Role::MainWords)
    }

    /// True if pages have room for it and 80 columns have not.
    fn is_extra_of_pages(&self) -> bool {
        self.readers.page && !self.readers.terminal
    }
}

/// A list of columns, and what an item of type `T` has in each: the only place that knows a column
/// of a table.
pub struct Columns<'a, T: ?Sized>(Vec<(Column, ReadField<'a, T>)>);

type ReadField<'a, T> = Box<dyn Fn(&T) -> Field + 'a>;

impl<'a, T: ?Sized> Columns<'a, T> {
    pub fn new() -> Columns<'a, T> {
        Columns(Vec::new())
    }

    /// Adds a column.
    pub fn with(mut self, column: Column, field: impl Fn(&T) -> Field + 'a) -> Columns<'a, T> {
        self.0.push((column, Box::new(field)));
        self
    }

    /// Adds what only programs get: an object whose keys become the row's, or null.
    pub fn data(self, object: impl Fn(&T) -> Value + 'a) -> Columns<'a, T> {
        let column = Column { readers: Readers::PROGRAM, ..Column::default() };
        self.with(column, move |item| Field::Data(object(item)))
    }

    /// Adds the columns of another list.
    pub fn and(mut self, other: Columns<'a, T>) -> Columns<'a, T> {
        self.0.extend(other.0);
        self
    }

    /// Adds a cell's key for programs: people see its name.
    pub fn keyed(self, key: impl Fn(&T) -> &Key + Copy + 'a) -> Columns<'a, T> {
        self.data(move |item| json!(key(item)))
    }

    pub fn row(&self, item: &T) -> Row {
        let fields = self.0.iter().map(|(_, read_field)| read_field(item)).collect();
        Row { fields, kind: RowKind::Plain }
    }

    /// The row of an item as programs get it.
    pub fn object(&self, item: &T) -> Map<String, Value> {
        object(self.0.iter().map(|(column, _)| column), &self.row(item))
    }

    pub fn empty_table(&self) -> Table {
        Table {
            columns: self.0.iter().map(|(column, _)| column.clone()).collect(),
            headed: true,
            ..Table::default()
        }
    }

    pub fn table<'t>(&self, items: impl IntoIterator<Item = &'t T>) -> Table
    where
        T: 't,
    {
        Table { rows: items.into_iter().map(|item| self.row(item)).collect(), ..self.empty_table() }
    }
}

/// A row as programs get it. The ends of its first estimate are called `low` and `high`.
pub(crate) fn object<'c>(
    columns: impl Iterator<Item = &'c Column>,
    row: &Row,
) -> Map<String, Value> {
    let mut object = Map::new();
    let mut is_first = true;
    for (column, field) in columns.zip(&row.fields).filter(|(column, _)| column.readers.program) {
        match (&column.key, field) {
            (Some(key), field) => field.insert(&mut object, key, is_first),
            (None, Field::Data(Value::Object(members))) => object.extend(members.clone()),
            (None, _) => {}
        }
        is_first &= !matches!(field, Field::Estimate(..));
    }
    object
}

impl Table {
    /// The columns that the reader sees, each with its number in the table.
    pub fn columns_for(&self, reader: Reader) -> Vec<(usize, &Column)> {
        let mut columns: Vec<(usize, &Column)> = self.columns.iter().enumerate().collect();
        columns.retain(|(_, column)| column.readers.has(reader));
        if reader == Reader::Page {
            columns.retain(|(number, column)| {
                !(column.is_extra_of_pages() && self.is_empty_column(*number))
            });
        }
        columns
    }

    /// True if there are rows, and none has anything in the column.
    fn is_empty_column(&self, number: usize) -> bool {
        let mut fields = self.rows.iter().filter_map(|row| row.fields.get(number)).peekable();
        fields.peek().is_some()
            && fields.all(|field| matches!(field, Field::Missing | Field::Nothing))
    }

    /// Puts the table under a heading, with a remark for its reader.
    pub fn titled(self, title: impl Into<String>, remark: impl Into<String>) -> Table {
        Table { title: title.into(), remark: remark.into(), ..self }
    }

    /// Makes the table the array `key` of JSON.
    pub fn keyed(self, key: &'static str) -> Table {
        Table { key, ..self }
    }

    pub fn shown(self, readers: Readers) -> Table {
        Table { readers, ..self }
    }

    /// Adds a row that has no result: `name` in the first column that people see, and the reason
    /// across the others.
    pub fn add_gap(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        let mut fields = vec![Field::Nothing; self.columns.len()];
        if let Some(first) = self.columns.iter().position(|column| column.readers.page) {
            fields[first] = Field::Text(name.into());
        }
        self.rows.push(Row { fields, kind: RowKind::Gap(reason.into()) });
    }

    /// Keeps the first `max_rows` rows, with a remark on how many there are.
    pub fn at_most(mut self, max_rows: usize) -> Table {
        let all = self.rows.len();
        if all > max_rows {
            self.rows.truncate(max_rows);
            self.add_remark(format!("the first {max_rows} of {all}; JSON has all"));
        }
        self
    }

    /// Keeps the first and the last `end_rows` rows, with a remark on how many there are.
    pub fn ends(mut self, end_rows: usize) -> Table {
        let all = self.rows.len();
        if all > 2 * end_rows {
            self.rows.drain(end_rows..all - end_rows);
            self.add_remark(format!("the first and the last {end_rows} of {all}; JSON has all"));
        }
        self
    }

    fn add_remark(&mut self, remark: String) {
        if self.remark.is_empty() {
            self.remark = remark;
        } else {
            self.remark = format!("{}; {remark}", self.remark);
        }
    }

    pub fn unless_empty(self) -> Option<Block> {
        (!self.rows.is_empty()).then_some(Block::Table(self))
    }
}
