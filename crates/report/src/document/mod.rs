//! A report between its subject and its formats: blocks that know neither.
//!
//! 1. A view (`views/`) turns results into a [`Document`], an ordered list of [`Block`]s. It
//!    decides what is said, in which words, and to whom.
//! 2. A renderer (`render/`) turns any document into one format. It decides where things are
//!    placed, and escapes what strangers wrote. It knows no results.
//!
//! So a new view appears in every format, and a new format has every view. (Feeds of other tools
//! are no documents; see `render`.)
//!
//! Not every reader gets every block. There are three ([`Reader`]): a person at a terminal of 80
//! columns, a person with a page, and a program. [`Block::is_for`] says who gets a block, and the
//! [`Readers`] of a [`Column`] who gets a column. People get words, with as many digits as an
//! interval leaves; programs get values with all digits under a key. One [`Field`] holds both, and
//! one [`Column`] has the name on pages, the name in 80 columns and the key, so that the formats
//! cannot contradict each other.
//!
//! Tables, lists and pairs with a key are arrays and objects of JSON. Where people and programs
//! want different rows, a view makes two tables: one for [`Readers::PEOPLE`] and one for
//! [`Readers::PROGRAM`].

mod field;
mod table;

use maud::Markup;
use serde_json::Value;

use crate::charts::Drawings;

pub use field::{Field, Style, Tone, ends_after, interval, known, score, score_range};
pub(crate) use table::object;
pub use table::{Column, Columns, Role, Row, RowKind, Table};

/// The reader of a rendered document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person at a terminal of 80 columns.
    Terminal,
    /// A person with a page before them: HTML and Markdown.
    Page,
    /// A program: CSV and JSON.
    Program,
}

/// The readers who get a block or a column.
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

/// How much of a run its report shows, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The answer alone.
    Answer,
    /// The answer, one table, and what it rests on, where the run is about such a question.
    Short,
    /// As `Short`, of a run that is not kept, so that there is no more to look at.
    ShortAndUnkept,
    /// Everything.
    Whole,
}

/// A whole report.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The version of its JSON keys: `unixmark-report/4`.
    pub format: &'static str,
    /// The kind of report, and the tool: `unixmark 0.1.0 report`.
    pub kind: String,
    /// The subject: the run, the fleet run.
    pub title: String,
    /// The question that it answers, for pages; empty where the subject says it.
    pub question: String,
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
    /// A heading whose section a page shows folded up.
    Fold(String),
    /// The result in sentences, to be read first.
    Lead(Vec<String>),
    /// A paragraph, after a few words that say what it is.
    Text(Readers, String, String),
    /// The result in large numbers under a title, for pages.
    Headlines(String, Vec<Headline>),
    Pairs(Pairs),
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
    /// The mark that it has in charts; may be empty.
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
    /// The name for programs.
    pub key: String,
    /// The name on pages.
    pub label: String,
    /// The name at a terminal; the pair is not shown there if this is empty.
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
    /// Drawings with their labels; the label of a single drawing may be empty.
    pub panels: Vec<(String, Drawings)>,
    /// True if it shows the changes that the report is about, of which an image consists.
    pub is_comparison: bool,
}

impl Block {
    /// The heading of a section.
    pub fn section(title: impl Into<String>) -> Block {
        Block::Section(title.into())
    }

    /// The heading of a section that a page shows folded up.
    pub fn fold(title: impl Into<String>) -> Block {
        Block::Fold(title.into())
    }

    /// A paragraph for people.
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text(Readers::PEOPLE, String::new(), text.into())
    }

    /// A list for people.
    pub fn items(items: Vec<String>) -> Block {
        Block::List(List { items, readers: Readers::PEOPLE, ..List::default() })
    }

    /// Remarks on how to read a report, below it.
    pub fn notes(items: Vec<String>) -> Block {
        Block::List(List { lead: "Note: ", items, readers: Readers::PEOPLE, ..List::default() })
    }

    /// True if there is anything in it for the reader.
    pub fn is_for(&self, reader: Reader) -> bool {
        match self {
            Block::Text(readers, ..) => readers.has(reader),
            Block::Table(table) => {
                // To programs an empty table says something too: that there is no such row.
                let has_content = reader == Reader::Program || !table.rows.is_empty();
                table.readers.has(reader) && has_content
            }
            Block::List(list) => list.readers.has(reader) && !list.items.is_empty(),
            Block::Pairs(pairs) => !pairs.items.is_empty(),
            Block::Headlines(_, headlines) => reader == Reader::Page && !headlines.is_empty(),
            Block::Chart(chart) => reader == Reader::Page && !chart.panels.is_empty(),
            Block::Data(..) => reader == Reader::Program,
            Block::Section(_) | Block::Fold(_) | Block::Lead(_) => true,
        }
    }
}

impl Chart {
    /// The chart of a single drawing, if there is one.
    pub fn new(
        drawing: Option<Drawings>,
        caption: impl Into<String>,
        legend: Vec<(Markup, String)>,
    ) -> Chart {
        let panels = drawing.into_iter().map(|drawing| (String::new(), drawing)).collect();
        Chart { caption: caption.into(), legend, panels, ..Chart::default() }
    }
}

impl List {
    pub fn unless_empty(self) -> Option<Block> {
        (!self.items.is_empty()).then_some(Block::List(self))
    }
}

impl Document {
    /// A document without blocks.
    pub fn new(
        format: &'static str,
        kind: &str,
        title: &str,
        lines: &'static [&'static str],
    ) -> Document {
        Document {
            format,
            kind: kind.to_owned(),
            title: title.to_owned(),
            lines,
            ..Document::default()
        }
    }

    /// The heading of a page: the question, or else the subject.
    pub fn heading(&self) -> &str {
        if self.question.is_empty() { &self.title } else { &self.question }
    }

    pub fn extend(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks);
    }

    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }
}
