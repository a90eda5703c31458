//! HTML: one self-contained page, light and dark, that loads nothing and runs nothing.

use anyhow::Result;
use askama::Template;

use words::clean;

use super::Notes;
use crate::document::{Block, Chart, Column, Document, Field, Figure, Pairs, Reader, Role, Row, RowKind, Table, Tone};

/// So many columns are less than the page's width.
const FEW: usize = 7;

/// Returns the page.
///
/// # Errors
/// The template cannot be rendered: a defect.
pub(super) fn render(document: &Document) -> Result<String> {
    let mut notes = Notes::default();
    let mut sections = vec![Section::default()];
    for block in &document.blocks {
        if let Block::Section(title) = block {
            sections.push(Section { title: clean(title), parts: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.parts.extend(parts(block, &mut notes));
        }
    }
    sections.retain(|section| !section.parts.is_empty());
    let notes = notes.texts.iter().map(|note| clean(note)).collect();
    let page = Page { title: clean(&document.title), kind: clean(&document.kind), sections, notes };
    // Nothing that disturbs text is left in any part of the page, drawings included.
    Ok(page.render()?.lines().map(|line| clean(line) + "\n").collect())
}

#[derive(Template)]
#[template(path = "document.html")]
struct Page<'a> {
    title: String,
    kind: String,
    sections: Vec<Section<'a>>,
    notes: Vec<String>,
}

#[derive(Default)]
struct Section<'a> {
    title: String,
    parts: Vec<Part<'a>>,
}

/// Names with values, and where these come from.
type Named = Vec<(String, String, String)>;

enum Part<'a> {
    Sentence(String),
    Text(String, String),
    Figures(String, &'a [Figure]),
    /// How a run was made: a line of pairs.
    Manner(Named),
    /// Facts: a table that can be folded.
    Facts(String, Named),
    Table(Grid),
    Chart(&'a Chart),
    List(String, Vec<String>),
}

struct Grid {
    name: String,
    title: String,
    remark: String,
    /// Whether it is narrower than the page.
    small: bool,
    /// Whether fields have colours.
    toned: bool,
    head: Vec<(String, String)>,
    rows: Vec<Line>,
}

struct Line {
    name: String,
    notes: Vec<usize>,
    class: &'static str,
    /// Why there is no result; empty where there is one.
    reason: String,
    cells: Vec<Cell>,
}

struct Cell {
    text: String,
    class: String,
    /// What hovering shows.
    more: String,
    /// The length of a bar in per cent; empty without one.
    bar: String,
}

fn parts<'a>(block: &'a Block, notes: &mut Notes) -> Vec<Part<'a>> {
    match block {
        Block::Lead(sentences) => sentences.iter().map(|sentence| Part::Sentence(clean(sentence))).collect(),
        Block::Text(show, lead, text) if show.is_for(Reader::Page) => vec![Part::Text(clean(lead), clean(text))],
        Block::Figures(name, figures) if !figures.is_empty() => vec![Part::Figures(clean(name), figures)],
        Block::Pairs(pairs) if !pairs.items.is_empty() => vec![named(pairs)],
        Block::Table(table) if table.show.is_for(Reader::Page) => vec![Part::Table(grid(table, notes))],
        Block::Chart(chart) if !chart.panels.is_empty() => vec![Part::Chart(chart)],
        Block::List(list) if list.show.is_for(Reader::Page) => {
            vec![Part::List(clean(&list.title), list.items.iter().map(|item| clean(item)).collect())]
        }
        _ => Vec::new(),
    }
}

fn named(pairs: &Pairs) -> Part<'_> {
    let shown = pairs.items.iter().filter(|pair| !pair.label.is_empty());
    let items = shown.map(|pair| (clean(&pair.label), clean(&pair.value), clean(&pair.source))).collect();
    if pairs.title.is_empty() { Part::Manner(items) } else { Part::Facts(clean(&pairs.title), items) }
}

fn grid(table: &Table, notes: &mut Notes) -> Grid {
    let is_marks = |place: usize| table.rows.iter().any(|row| matches!(row.fields[place], Field::Marks(_)));
    let shown: Vec<usize> = (0..table.columns.len())
        .filter(|place| table.columns[*place].show.is_for(Reader::Page) && !is_marks(*place))
        .collect();
    let head: Vec<(String, String)> =
        shown.iter().map(|place| &table.columns[*place]).map(|column| (clean(&column.head), class(column))).collect();
    let is_toned = |row: &Row| row.fields.iter().any(|field| matches!(field, Field::Toned(..)));
    Grid {
        name: if table.title.is_empty() {
            head.first().map_or(String::new(), |head| head.0.clone())
        } else {
            clean(&table.title)
        },
        title: table.title.clone(),
        remark: clean(&table.remark),
        small: shown.len() <= FEW,
        toned: table.rows.iter().any(is_toned),
        rows: table.rows.iter().map(|row| line(table, row, &shown, notes)).collect(),
        head,
    }
}

fn line(table: &Table, row: &Row, shown: &[usize], notes: &mut Notes) -> Line {
    let marks = row.fields.iter().filter_map(|field| if let Field::Marks(texts) = field { Some(texts) } else { None });
    let notes = marks.flatten().map(|text| notes.number(text)).collect();
    let mut cells = shown.iter().map(|place| cell(&table.columns[*place], &row.fields[*place]));
    Line {
        name: cells.next().map_or(String::new(), |cell| cell.text),
        notes,
        class: match row.kind {
            RowKind::Plain => "",
            RowKind::Strong | RowKind::Total => "strong",
            RowKind::Gap(_) => "missing",
        },
        reason: if let RowKind::Gap(reason) = &row.kind { clean(reason) } else { String::new() },
        cells: cells.collect(),
    }
}

fn class(column: &Column) -> String {
    match column.role {
        Role::Number => "n",
        Role::Words => "",
        Role::Main => "n main",
        Role::MainWords => "main",
    }
    .to_owned()
}

fn cell(column: &Column, field: &Field) -> Cell {
    let plain = Cell { text: clean(&field.words()), class: class(column), more: String::new(), bar: String::new() };
    match field {
        Field::Bar(share) if share.is_finite() => Cell { bar: format!("{:.1}", 100.0 * share.abs().min(1.0)), ..plain },
        Field::Toned(_, tone, more) => {
            let tone = match tone.0 {
                _ if *tone == Tone::GAP => "gone".to_owned(),
                0 => "t0".to_owned(),
                worse @ ..0 => format!("t{}", worse.unsigned_abs().min(5)),
                better => format!("b{}", better.min(3)),
            };
            Cell { class: format!("{} {tone}", plain.class).trim_start().to_owned(), more: clean(more), ..plain }
        }
        _ => plain,
    }
}
