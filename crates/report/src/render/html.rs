//! HTML: one self-contained page, light and dark, that loads nothing and runs nothing.

use super::Notes;
use crate::document::{
    Block, Chart, Column, Document, Field, Figure, Pair, Pairs, Reader, Role, Row, RowKind, Table, Tone,
};
use crate::markup::{Markup, element};

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
"#;

const STYLE: &str = include_str!("report.css");

/// So many columns are less than the page's width.
const FEW: usize = 7;

/// So many facts are not folded.
const OPEN: usize = 11;

/// Returns the page.
pub(super) fn render(document: &Document) -> String {
    let mut notes = Notes::default();
    let mut sections = vec![(None, Markup::default())];
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Page)) {
        match (block, sections.last_mut()) {
            (Block::Section(title), _) => sections.push((Some(title), Markup::default())),
            (_, Some((_, inside))) => inside.push(part(block, &mut notes)),
            _ => {}
        }
    }
    let section = |(title, inside): (Option<&String>, Markup)| match title {
        _ if inside.is_empty() => inside,
        None => element("section", &[("class", "result"), ("aria-label", "Result")], inside),
        Some(title) => element("section", &[], [element("h2", &[], title), inside]),
    };
    let note = |(place, note): (usize, &String)| element("li", &[("id", &format!("note-{}", place + 1))], note);
    let list: Markup = notes.texts.iter().enumerate().map(note).collect();
    let list = element("section", &[], [element("h2", &[], "Notes"), element("ol", &[], list)]);
    let main: Markup = sections.into_iter().map(section).chain([list.only_if(!notes.texts.is_empty())]).collect();
    let Document { title, kind, .. } = document;
    let heading = element("p", &[("class", "tool")], element("bdi", &[], kind));
    let footer = format!("{kind}; made from the run’s journal, without anything from elsewhere.");
    let page: Markup = [
        Markup::fixed(HEAD),
        element("title", &[], &format!("{title} — unixmark")),
        element("style", &[], Markup::fixed(STYLE)),
        Markup::fixed("</head>\n<body>\n"),
        element("header", &[], [heading, element("h1", &[], element("bdi", &[], title))]),
        element("main", &[], main),
        element("footer", &[], &footer),
        Markup::fixed("\n</body>\n</html>\n"),
    ]
    .into();
    page.into_string()
}

fn part(block: &Block, notes: &mut Notes) -> Markup {
    match block {
        Block::Lead(sentences) => sentences.iter().map(|text| element("p", &[("class", "sentence")], text)).collect(),
        Block::Text(_, lead, text) => element("p", &[("class", "text")], [some("b", &[], lead), text.into()]),
        Block::Figures(name, figures) => {
            let figures: Markup = figures.iter().map(figure).collect();
            [some("h3", &[("class", "name")], name), element("ul", &[("class", "figures")], figures)].into()
        }
        Block::Pairs(pairs) => named(pairs),
        Block::Table(table) => grid(table, notes),
        Block::Chart(drawing) => chart(drawing),
        Block::List(list) => {
            let items: Markup = list.items.iter().map(|item| element("li", &[], item)).collect();
            [some("h3", &[], &list.title), element("ul", &[("class", "warnings")], items)].into()
        }
        Block::Section(_) | Block::Data(..) => Markup::default(),
    }
}

/// An element with text in it; nothing without text.
fn some(tag: &'static str, attributes: &[(&'static str, &str)], text: &str) -> Markup {
    element(tag, attributes, text).only_if(!text.is_empty())
}

fn figure(figure: &Figure) -> Markup {
    let Figure { label, mark, value, unit, spread, more } = figure;
    let more = more.iter().map(|more| format!(" {more}")).collect::<String>();
    let parts = [
        element("span", &[("class", "copies")], [mark.clone(), (&format!(" {label}")).into()]),
        element("span", &[("class", "figure")], [(&format!("{value} ")).into(), some("small", &[], unit)]),
        element("span", &[("class", "interval")], [element("b", &[], spread), (&more).into()]),
    ];
    element("li", &[], parts)
}

/// How a run was made is a line of pairs; facts are a table that can be folded.
fn named(pairs: &Pairs) -> Markup {
    let shown: Vec<&Pair> = pairs.items.iter().filter(|pair| !pair.label.is_empty()).collect();
    if pairs.title.is_empty() {
        let pair = |pair: &&Pair| {
            let parts = [element("dt", &[], &pair.label), element("dd", &[], &pair.value)];
            element("div", &[("title", &pair.source)], parts)
        };
        return element("dl", &[("class", "manner")], shown.iter().map(pair).collect::<Markup>());
    }
    let row = |pair: &&Pair| {
        let parts = [element("th", &[("scope", "row")], &pair.label), element("td", &[], &pair.value)];
        element("tr", &[("title", &pair.source)], parts)
    };
    let rows = element("table", &[("class", "facts")], shown.iter().map(row).collect::<Markup>());
    let open = if shown.len() <= OPEN { "open" } else { "" };
    element("details", &[("open", open)], [element("summary", &[], &pairs.title), rows])
}

fn grid(table: &Table, notes: &mut Notes) -> Markup {
    let is_marks = |place: usize| table.rows.iter().any(|row| matches!(row.fields[place], Field::Marks(_)));
    let mut shown = table.columns_for(Reader::Page);
    shown.retain(|(place, _)| !is_marks(*place));
    let is_toned = table.rows.iter().flat_map(|row| &row.fields).any(|field| matches!(field, Field::Toned(..)));
    let class = [("costs", true), (" small", shown.len() <= FEW), (" heat", is_toned)];
    let class: String = class.into_iter().filter(|(_, has)| *has).map(|(class, _)| class).collect();
    let first = shown.first().map_or("", |(_, column)| &column.head);
    let name = if table.title.is_empty() { first } else { &table.title };
    let is_bare = table.title.is_empty() && table.remark.is_empty();
    let caption =
        [(&format!("{} ", if is_bare { name } else { &table.title })).into(), some("small", &[], &table.remark)];
    let head =
        |(_, column): &(usize, &Column)| element("th", &[("scope", "col"), ("class", class_of(column))], &column.head);
    let heads = element("tr", &[], shown.iter().map(head).collect::<Markup>());
    let rows: Markup = table.rows.iter().map(|row| line(row, &shown, notes)).collect();
    let parts = [
        element("caption", &[("class", if is_bare { "unseen" } else { "" })], caption),
        element("thead", &[], heads),
        element("tbody", &[], rows),
    ];
    let region = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", name)];
    element("div", &region, element("table", &[("class", &class)], parts))
}

fn line(row: &Row, shown: &[(usize, &Column)], notes: &mut Notes) -> Markup {
    let marks = row.fields.iter().filter_map(|field| if let Field::Marks(texts) = field { Some(texts) } else { None });
    let marks: Markup = marks.flatten().map(|text| mark(notes.number(text))).collect();
    let [(first, _), others @ ..] = shown else { return Markup::default() };
    let name = element("th", &[("scope", "row")], [(&row.fields[*first].words()).into(), marks]);
    let (class, cells) = match &row.kind {
        RowKind::Gap(reason) => {
            let reason = element("div", &[("class", "reason")], reason);
            ("missing", element("td", &[("colspan", &others.len().to_string())], reason))
        }
        kind => {
            let class = if *kind == RowKind::Plain { "" } else { "strong" };
            (class, others.iter().map(|(place, column)| cell(column, &row.fields[*place])).collect())
        }
    };
    element("tr", &[("class", class)], [name, cells])
}

/// The number of a footnote, as a link to it.
fn mark(number: usize) -> Markup {
    let (place, label) = (format!("#note-{number}"), format!("note {number}"));
    element("sup", &[], element("a", &[("href", &place), ("aria-label", &label)], &number.to_string()))
}

fn cell(column: &Column, field: &Field) -> Markup {
    let (tone, more) = match field {
        Field::Toned(_, tone, more) if *tone == Tone::GAP => (" gone".to_owned(), more.as_str()),
        Field::Toned(_, Tone(better @ 1..), more) => (format!(" b{}", better.min(&3)), more.as_str()),
        Field::Toned(_, Tone(worse), more) => (format!(" t{}", worse.unsigned_abs().min(5)), more.as_str()),
        _ => (String::new(), ""),
    };
    let inside = match field {
        Field::Bar(share) if share.is_finite() => {
            let width = format!("{:.1}", 100.0 * share.abs().min(1.0));
            let bar =
                element("rect", &[("class", "h0"), ("x", "0"), ("y", "0"), ("width", &width), ("height", "8")], "");
            element("svg", &[("class", "bar"), ("aria-hidden", "true"), ("viewBox", "0 0 100 8")], bar)
        }
        field => (&field.words()).into(),
    };
    element("td", &[("class", format!("{}{tone}", class_of(column)).trim_start()), ("title", more)], inside)
}

fn class_of(column: &Column) -> &'static str {
    match column.role {
        Role::Number => "n",
        Role::Words => "",
        Role::Main => "n main",
        Role::MainWords => "main",
    }
}

fn chart(chart: &Chart) -> Markup {
    let Chart { title, caption, legend, panels } = chart;
    let key = |(mark, text): &(Markup, String)| element("li", &[], [mark.clone(), (&format!(" {text}")).into()]);
    let keys = element("ul", &[("class", "legend")], legend.iter().map(key).collect::<Markup>());
    let figure = |(label, svg): &(String, Markup)| {
        element("figure", &[], [element("figcaption", &[], element("b", &[], label)), svg.clone()])
    };
    let drawings = match &panels[..] {
        [(label, svg)] if label.is_empty() => element("figure", &[], [svg.clone(), some("figcaption", &[], caption)]),
        panels => {
            let panels = element("div", &[("class", "panels")], panels.iter().map(figure).collect::<Markup>());
            [some("p", &[("class", "text")], caption), panels].into()
        }
    };
    [some("h3", &[], title), keys.only_if(legend.len() > 1), drawings].into()
}
