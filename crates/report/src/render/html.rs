//! HTML: one self-contained page, light and dark, that loads nothing and runs nothing.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Notes;
use crate::document::{
    Block, Chart, Column, Document, Field, Headline, List, Pair, Pairs, Reader, Role, Row, RowKind,
    Table, Tone,
};

/// The style sheet of every page.
pub const STYLE: &str = concat!(include_str!("charts.css"), include_str!("report.css"));

/// The rights of a page: show its own styles. Nothing is fetched, and nothing runs.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Tables of at most so many columns are narrower than the page.
const MAX_SMALL_COLUMNS: usize = 7;

/// Longer words with an option in them may be broken: they would not fit a narrow window.
const MAX_OPTION: usize = 30;

/// The worst and the best tone that the style sheet has.
const MAX_WORSE_TONE: u8 = 5;
const MAX_BETTER_TONE: i8 = 3;

/// A page has a line end after each of these.
const LINE_ENDS: [&str; 7] =
    ["</style>", "</p>", "</li>", "</tr>", "</figure>", "</section>", "</html>"];

/// The page of a document.
pub(super) fn render(document: &Document) -> String {
    let mut state = Page::default();
    let mut sections: Vec<Section<'_>> = vec![Section::default()];
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Page)) {
        match (block, sections.last_mut()) {
            (Block::Section(title) | Block::Fold(title), _) => {
                state.section = title;
                let is_folded = matches!(block, Block::Fold(_));
                sections.push(Section { title: Some(title), is_folded, parts: Vec::new() });
            }
            (_, Some(section)) => section.parts.push(render_block(block, &mut state)),
            // There is always a section, from the first on.
            (_, None) => {}
        }
    }
    sections.retain(|section| !section.parts.is_empty());

    let title = document.heading();
    let Document { kind, about, .. } = document;
    let head = html! {
        meta name="color-scheme" content="light dark";
        title { (title) " — unixmark" }
        style { (PreEscaped(STYLE)) }
    };
    let body = html! {
        header {
            p.tool { bdi { (kind) } }
            h1 { bdi { (title) } }
            @if !about.is_empty() { p.about { bdi { (about) } } }
        }
        main {
            @for section in &sections { (section.render()) }
            @if !state.notes.texts.is_empty() { (render_notes(&state.notes)) }
        }
        footer { (kind) "; a self-contained page." }
    };

    let mut page = page(POLICY, &head, &body);
    for end in LINE_ENDS {
        page = page.replace(end, &format!("{end}\n"));
    }
    page
}

/// A whole page; `policy` says what it may load.
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

/// What the blocks of a page have in common, while they are rendered.
#[derive(Default)]
struct Page<'a> {
    notes: Notes,
    /// The heading of the section; empty before the first.
    section: &'a str,
    /// The names of the tables so far.
    names: Vec<String>,
}

impl Page<'_> {
    /// A name for a table that no other has, for readers who go from table to table by their names:
    /// its own, or else with its section's, or else with a number.
    fn choose_name(&mut self, name: &str) -> String {
        let longer = [name.to_owned(), format!("{}, {name}", self.section)];
        let is_new = |name: &String| !self.names.contains(name) && !name.starts_with(", ");
        let chosen = words::free_name(longer, |number| format!("{name}, {number}"), is_new);
        self.names.push(chosen.clone());
        chosen
    }

    /// A heading below that of the section; before the first section it is one itself.
    fn heading(&self, title: &str, class: Option<&str>) -> Markup {
        match (self.section, class) {
            ("", None) => html! { h2.part { (title) } },
            ("", Some(class)) => html! { h2.part.(class) { (title) } },
            _ => html! { h3 class=[class] { (title) } },
        }
    }
}

/// A part of a page under a heading; what precedes all headings is the result.
#[derive(Default)]
struct Section<'a> {
    title: Option<&'a str>,
    is_folded: bool,
    parts: Vec<Markup>,
}

impl Section<'_> {
    fn render(&self) -> Markup {
        let parts = html! { @for part in &self.parts { (part) } };
        match self.title {
            None => html! { section.result aria-label="Result" { (parts) } },
            Some(title) if self.is_folded => html! {
                section { details.fold { summary { h2 { (title) } } (parts) } }
            },
            Some(title) => html! { section { h2 { (title) } (parts) } },
        }
    }
}

fn render_notes(notes: &Notes) -> Markup {
    html! {
        section {
            h2 { "Notes" }
            ol {
                @for (number, note) in (1..).zip(&notes.texts) {
                    li id={ "note-" (number) } { (render_prose(note)) }
                }
            }
        }
    }
}

fn render_block(block: &Block, page: &mut Page<'_>) -> Markup {
    match block {
        Block::Lead(sentences) => html! {
            @for text in sentences { p.sentence { (render_prose(text)) } }
        },
        Block::Text(_, lead, text) => html! {
            p.text { @if !lead.is_empty() { b { (lead) } } (render_prose(text)) }
        },
        Block::Headlines(name, headlines) => html! {
            @if !name.is_empty() { (page.heading(name, Some("name"))) }
            ul.figures { @for headline in headlines { (render_headline(headline)) } }
        },
        Block::Pairs(pairs) => render_pairs(pairs),
        Block::Table(table) => render_table(table, page),
        Block::Chart(chart) => render_chart(chart, page),
        Block::List(list) => render_list(list, page),
        Block::Section(_) | Block::Fold(_) | Block::Data(..) => Markup::default(),
    }
}

/// Text in which what is between back-ticks is code.
pub fn render_prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    let has_odd_backtick = parts.len().is_multiple_of(2);
    if has_odd_backtick {
        return render_words(text);
    }
    html! {
        @for (number, part) in parts.iter().enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (render_words(part)) }
        }
    }
}

/// Text whose lines end neither before a `%` nor within an option.
fn render_words(text: &str) -> Markup {
    let text = text.replace(" %", "\u{a0}%");
    html! {
        @for (number, word) in text.split(' ').enumerate() {
            @if number > 0 { " " }
            @if word.contains("--") && word.len() <= MAX_OPTION { span.whole { (word) } } @else { (word) }
        }
    }
}

fn render_headline(headline: &Headline) -> Markup {
    let Headline { label, mark, value, unit, spread, more } = headline;
    html! {
        li {
            span.copies { (mark) " " (label) }
            span.figure { (value) " " @if !unit.is_empty() { small { (unit) } } }
            span.interval { b { (spread) } @for more in more.iter().take(1) { " " (more) } }
            @for more in more.iter().skip(1) { span.interval { (more) } }
        }
    }
}

/// A line of pairs; under a title a table that can be folded.
fn render_pairs(pairs: &Pairs) -> Markup {
    let shown: Vec<&Pair> = pairs.items.iter().filter(|pair| !pair.label.is_empty()).collect();
    if pairs.title.is_empty() {
        return html! {
            dl.manner {
                @for pair in shown {
                    div title=[unless_empty(&pair.source)] {
                        dt { (pair.label) }
                        dd { (pair.value) }
                    }
                }
            }
        };
    }
    html! {
        details {
            summary { (pairs.title) }
            table.facts {
                @for pair in shown {
                    tr title=[unless_empty(&pair.source)] {
                        th scope="row" { (pair.label) }
                        td { (pair.value) }
                    }
                }
            }
        }
    }
}

fn unless_empty(text: &str) -> Option<&str> {
    if text.is_empty() { None } else { Some(text) }
}

fn render_list(list: &List, page: &Page<'_>) -> Markup {
    html! {
        @if !list.title.is_empty() { (page.heading(&list.title, None)) }
        ul.warnings { @for item in &list.items { li { (render_prose(item)) } } }
    }
}

fn render_table(table: &Table, page: &mut Page<'_>) -> Markup {
    // Footnotes are behind the names of their rows.
    let mut columns = table.columns_for(Reader::Page);
    columns.retain(|(number, _)| !has_marks(table, *number));
    let is_small = columns.len() <= MAX_SMALL_COLUMNS;
    let mut fields = table.rows.iter().flat_map(|row| &row.fields);
    let has_tones = fields.any(|field| matches!(field, Field::Toned(..)));

    let first_head = columns.first().map_or("", |(_, column)| &column.head);
    let name = if table.title.is_empty() { first_head } else { &table.title };
    let region = page.choose_name(name);
    html! {
        (render_caption(table))
        div.scroll tabindex="0" role="region" aria-label=(region) {
            table.costs.small[is_small].heat[has_tones] {
                caption.unseen { (name) }
                thead {
                    tr {
                        @for (_, column) in &columns {
                            th.(class_of(column)) scope="col" { (column.head) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows { (render_row(row, &columns, &mut page.notes)) }
                }
            }
        }
    }
}

/// The title and the remark above a table. As the table's own caption they would be as wide as the
/// table, and be cut where that is.
fn render_caption(table: &Table) -> Markup {
    let Table { title, remark, .. } = table;
    if title.is_empty() && remark.is_empty() {
        return Markup::default();
    }
    html! {
        p.caption { b { (title) } @if !remark.is_empty() { " " small { (render_prose(remark)) } } }
    }
}

fn has_marks(table: &Table, column: usize) -> bool {
    table.rows.iter().any(|row| matches!(row.fields[column], Field::Marks(_)))
}

fn render_row(row: &Row, columns: &[(usize, &Column)], notes: &mut Notes) -> Markup {
    let [(first, _), others @ ..] = columns else {
        return Markup::default();
    };

    let mut numbers = Vec::new();
    for field in &row.fields {
        if let Field::Marks(texts) = field {
            numbers.extend(texts.iter().map(|text| notes.number(text)));
        }
    }
    numbers.sort_unstable();

    let class = match row.kind {
        RowKind::Plain => None,
        RowKind::Strong | RowKind::Total => Some("strong"),
        RowKind::Gap(_) => Some("missing"),
    };
    html! {
        tr class=[class] {
            th scope="row" {
                (row.fields[*first].words())
                @for number in numbers {
                    sup {
                        a href={ "#note-" (number) } aria-label={ "note " (number) } { (number) }
                    }
                }
            }
            @match &row.kind {
                RowKind::Gap(reason) => td colspan=(others.len()) {
                    div.reason { (render_prose(reason)) }
                },
                _ => @for (number, column) in others {
                    (render_cell(column, &row.fields[*number]))
                },
            }
        }
    }
}

fn render_cell(column: &Column, field: &Field) -> Markup {
    let (tone, more) = match field {
        Field::Toned(_, tone, more) => (tone_class(*tone), more.as_str()),
        _ => (String::new(), ""),
    };
    let classes = format!("{} {tone}", class_of(column));
    let content = match field {
        Field::Bar(share) if share.is_finite() => render_bar(*share),
        field => render_words(&field.words()),
    };
    html! { td class=[unless_empty(classes.trim())] title=[unless_empty(more)] { (content) } }
}

fn render_bar(share: f64) -> Markup {
    let width = format!("{:.1}", 100.0 * share.abs().min(1.0));
    html! {
        svg.bar aria-hidden="true" viewBox="0 0 100 8" {
            rect.h0 x="0" y="0" width=(width) height="8" {}
        }
    }
}

/// `b3` is the best tone, `t5` the worst, `t0` an ordinary one.
fn tone_class(tone: Tone) -> String {
    match tone {
        Tone::GAP => "gone".to_owned(),
        Tone(better @ 1..) => format!("b{}", better.min(MAX_BETTER_TONE)),
        Tone(worse) => format!("t{}", worse.unsigned_abs().min(MAX_WORSE_TONE)),
    }
}

fn class_of(column: &Column) -> &'static str {
    match column.role {
        Role::Number => "n",
        Role::Words => "",
        Role::Main => "n main",
        Role::MainWords => "main",
    }
}

fn render_chart(chart: &Chart, page: &Page<'_>) -> Markup {
    let Chart { title, caption, legend, panels, .. } = chart;
    html! {
        @if !title.is_empty() { (page.heading(title, None)) }
        @if legend.len() > 1 {
            ul.legend { @for (mark, text) in legend { li { (mark) " " (text) } } }
        }
        @match &panels[..] {
            [(label, drawings)] if label.is_empty() => figure {
                (drawings.render_for_page())
                @if !caption.is_empty() { figcaption { (caption) } }
            },
            panels => {
                @if !caption.is_empty() { p.text { (caption) } }
                div.panels {
                    @for (label, drawings) in panels {
                        figure { figcaption { b { (label) } } (drawings.render_for_page()) }
                    }
                }
            }
        }
    }
}
