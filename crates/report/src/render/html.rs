//! HTML: one self-contained page, light and dark, that loads nothing and runs nothing.

use super::Notes;
use crate::document::{
    Block, Chart, Column, Document, Field, Headline, Pair, Pairs, Reader, Role, Row, RowKind, Table, Tone,
};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style sheet of every page.
pub const STYLE: &str = include_str!("report.css");

/// The rights of a page: show its own styles. Nothing is fetched, and nothing runs.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Tables of up to this many columns are narrower than the page.
const FEW: usize = 7;

/// Up to this many facts are not folded.
const OPEN: usize = 11;

/// Where a page has line ends.
const LINES: [&str; 7] = ["</style>", "</p>", "</li>", "</tr>", "</figure>", "</section>", "</html>"];

/// The state of a page while its parts are made.
#[derive(Default)]
struct Page<'a> {
    notes: Notes,
    /// The heading of the section; empty before the first.
    section: &'a str,
    /// The names of the tables so far: who goes by them needs each once.
    names: Vec<String>,
}

impl Page<'_> {
    /// Returns a table's name, with its section's where another table has the same, and a number where that is not
    /// enough.
    fn name(&mut self, name: &str) -> String {
        let longer = [name.to_owned(), format!("{}, {name}", self.section)];
        let is_new = |name: &String| !self.names.contains(name) && !name.starts_with(", ");
        let found = words::free_name(longer, |number| format!("{name}, {number}"), is_new);
        self.names.push(found.clone());
        found
    }

    /// Returns a heading: `h3` within a section, `h2` before the first.
    fn heading(&self, title: &str, class: Option<&str>) -> Markup {
        match (self.section, class) {
            ("", None) => html! { h2.part { (title) } },
            ("", Some(class)) => html! { h2.part.(class) { (title) } },
            _ => html! { h3 class=[class] { (title) } },
        }
    }
}

/// Returns the page.
pub(super) fn render(document: &Document) -> String {
    let mut known = Page::default();
    let mut sections: Vec<(Option<&String>, Vec<Markup>)> = vec![(None, Vec::new())];
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Page)) {
        match (block, sections.last_mut()) {
            (Block::Section(title), _) => {
                known.section = title;
                sections.push((Some(title), Vec::new()));
            }
            (_, Some((_, parts))) => parts.push(part(block, &mut known)),
            _ => {}
        }
    }
    sections.retain(|(_, parts)| !parts.is_empty());
    let Document { title, kind, about, .. } = document;
    let head = html! {
        meta name="color-scheme" content="light dark";
        title { (title) " — unixmark" }
        style { (PreEscaped(STYLE)) }
    };
    let body = html! {
        header { p.tool { bdi { (kind) } } h1 { bdi { (title) } } @if !about.is_empty() { p.about { bdi { (about) } } } }
        main {
            @for (title, parts) in &sections {
                @match title {
                    Some(title) => section { h2 { (title) } @for part in parts { (part) } },
                    None => section.result aria-label="Result" { @for part in parts { (part) } },
                }
            }
            @if !known.notes.texts.is_empty() {
                section {
                    h2 { "Notes" }
                    ol { @for (place, note) in (1..).zip(&known.notes.texts) { li id={ "note-" (place) } { (prose(note)) } } }
                }
            }
        }
        footer { (kind) "; a self-contained page." }
    };
    LINES.iter().fold(page(POLICY, &head, &body), |page, end| page.replace(end, &format!("{end}\n")))
}

/// Returns a whole page; `policy` says what it may load.
pub fn page(policy: &str, head: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                (head)
            }
            body { (body) }
        }
    };
    words::clean(&page.0)
}

fn part(block: &Block, page: &mut Page<'_>) -> Markup {
    match block {
        Block::Lead(sentences) => html! { @for text in sentences { p.sentence { (prose(text)) } } },
        Block::Text(_, lead, text) => html! { p.text { @if !lead.is_empty() { b { (lead) } } (prose(text)) } },
        Block::Headlines(name, figures) => html! {
            @if !name.is_empty() { (page.heading(name, Some("name"))) }
            ul.figures { @for figure in figures { (self::figure(figure)) } }
        },
        Block::Pairs(pairs) => named(pairs),
        Block::Table(table) => grid(table, page),
        Block::Chart(drawing) => chart(drawing, page),
        Block::List(list) => html! {
            @if !list.title.is_empty() { (page.heading(&list.title, None)) }
            ul.warnings { @for item in &list.items { li { (prose(item)) } } }
        },
        Block::Section(_) | Block::Data(..) => Markup::default(),
    }
}

/// Text in which what stands between back-ticks is code.
fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! { @for (place, part) in parts.iter().enumerate() { @if place % 2 == 1 { code { (part) } } @else { (part) } } }
}

fn figure(figure: &Headline) -> Markup {
    html! {
        li {
            span.copies { (figure.mark) " " (figure.label) }
            span.figure { (figure.value) " " @if !figure.unit.is_empty() { small { (figure.unit) } } }
            span.interval { b { (figure.spread) } @for more in figure.more.iter().take(1) { " " (more) } }
            @for more in figure.more.iter().skip(1) { span.interval { (more) } }
        }
    }
}

/// How a run was made is a line of pairs; facts are a table that can be folded.
fn named(pairs: &Pairs) -> Markup {
    let shown: Vec<&Pair> = pairs.items.iter().filter(|pair| !pair.label.is_empty()).collect();
    let source = |pair: &Pair| Some(pair.source.clone()).filter(|source| !source.is_empty());
    if pairs.title.is_empty() {
        return html! {
            dl.manner { @for pair in shown { div title=[source(pair)] { dt { (pair.label) } dd { (pair.value) } } } }
        };
    }
    html! {
        details open[shown.len() <= OPEN] {
            summary { (pairs.title) }
            table.facts {
                @for pair in shown { tr title=[source(pair)] { th scope="row" { (pair.label) } td { (pair.value) } } }
            }
        }
    }
}

fn grid(table: &Table, page: &mut Page<'_>) -> Markup {
    let is_marks = |place: usize| table.rows.iter().any(|row| matches!(row.fields[place], Field::Marks(_)));
    let mut shown = table.columns_for(Reader::Page);
    shown.retain(|(place, _)| !is_marks(*place));
    let is_toned = table.rows.iter().flat_map(|row| &row.fields).any(|field| matches!(field, Field::Toned(..)));
    let first = shown.first().map_or("", |(_, column)| &column.head);
    let name = if table.title.is_empty() { first } else { &table.title };
    let region = page.name(name);
    let is_bare = table.title.is_empty() && table.remark.is_empty();
    html! {
        // As the table's own caption it would be as wide as the table, and be cut where that is.
        @if !is_bare { p.caption { b { (table.title) } @if !table.remark.is_empty() { " " small { (prose(&table.remark)) } } } }
        div.scroll tabindex="0" role="region" aria-label=(region) {
            table.costs.small[shown.len() <= FEW].heat[is_toned] {
                caption.unseen { (name) }
                thead {
                    tr { @for (_, column) in &shown { th.(class_of(column)) scope="col" { (column.head) } } }
                }
                tbody { @for row in &table.rows { (line(row, &shown, &mut page.notes)) } }
            }
        }
    }
}

fn line(row: &Row, shown: &[(usize, &Column)], notes: &mut Notes) -> Markup {
    let marks = row.fields.iter().filter_map(|field| if let Field::Marks(texts) = field { Some(texts) } else { None });
    let mut marks: Vec<usize> = marks.flatten().map(|text| notes.number(text)).collect();
    marks.sort_unstable();
    let [(first, _), others @ ..] = shown else { return Markup::default() };
    let class = match row.kind {
        RowKind::Plain => None,
        RowKind::Strong | RowKind::Total => Some("strong"),
        RowKind::Gap(_) => Some("missing"),
    };
    html! {
        tr class=[class] {
            th scope="row" { (row.fields[*first].words()) @for place in marks { sup { a href={ "#note-" (place) } aria-label={ "note " (place) } { (place) } } } }
            @match &row.kind {
                RowKind::Gap(reason) => td colspan=(others.len()) { div.reason { (prose(reason)) } },
                _ => @for (place, column) in others { (cell(column, &row.fields[*place])) },
            }
        }
    }
}

fn cell(column: &Column, field: &Field) -> Markup {
    let (tone, more) = match field {
        Field::Toned(_, tone, more) if *tone == Tone::GAP => (" gone".to_owned(), more.as_str()),
        Field::Toned(_, Tone(better @ 1..), more) => (format!(" b{}", better.min(&3)), more.as_str()),
        Field::Toned(_, Tone(worse), more) => (format!(" t{}", worse.unsigned_abs().min(5)), more.as_str()),
        _ => (String::new(), ""),
    };
    let class = format!("{}{tone}", class_of(column));
    let some = |text: &str| Some(text.trim_start().to_owned()).filter(|text| !text.is_empty());
    let inside = match field {
        Field::Bar(share) if share.is_finite() => html! {
            svg.bar aria-hidden="true" viewBox="0 0 100 8" {
                rect.h0 x="0" y="0" width=(format!("{:.1}", 100.0 * share.abs().min(1.0))) height="8" {}
            }
        },
        field => html! { (field.words()) },
    };
    html! { td class=[some(&class)] title=[some(more)] { (inside) } }
}

fn class_of(column: &Column) -> &'static str {
    match column.role {
        Role::Number => "n",
        Role::Words => "",
        Role::Main => "n main",
        Role::MainWords => "main",
    }
}

fn chart(chart: &Chart, page: &Page<'_>) -> Markup {
    let Chart { title, caption, legend, panels } = chart;
    html! {
        @if !title.is_empty() { (page.heading(title, None)) }
        @if legend.len() > 1 {
            ul.legend { @for (mark, text) in legend { li { (mark) " " (text) } } }
        }
        @match &panels[..] {
            [(label, svg)] if label.is_empty() => figure {
                (svg)
                @if !caption.is_empty() { figcaption { (caption) } }
            },
            panels => {
                @if !caption.is_empty() { p.text { (caption) } }
                div.panels { @for (label, svg) in panels { figure { figcaption { b { (label) } } (svg) } } }
            }
        }
    }
}
