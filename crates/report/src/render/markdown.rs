//! Markdown: tables to paste into an issue or a page.

use std::fmt::Write;

use super::Notes;
use crate::document::{Block, Column, Document, Field, Headline, Pair, Pairs, Reader, Row, RowKind, Table};

/// Returns the document.
pub(super) fn render(document: &Document) -> String {
    let mut page = Page::default();
    page.line(&format!("# {}\n", escaped(&document.title)));
    page.line(&format!("{}\n", escaped(&document.kind)));
    if !document.about.is_empty() {
        page.line(&format!("{}\n", escaped(&document.about)));
    }
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Page)) {
        page.block(block);
    }
    for (number, note) in page.notes.texts.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(page.text, "{}. {}", number + 1, escaped(note));
    }
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    notes: Notes,
    /// The heading of a section that has shown nothing yet: of charts there is nothing here.
    pending: Option<String>,
}

impl Page {
    fn line(&mut self, line: &str) {
        if let Some(title) = self.pending.take() {
            self.line(&format!("## {title}\n"));
        }
        let _ = writeln!(self.text, "{line}");
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Section(title) => self.pending = Some(escaped(title)),
            Block::Lead(sentences) => {
                sentences.iter().for_each(|sentence| self.line(&format!("**{}**\n", escaped(sentence))));
            }
            Block::Text(_, lead, content) => {
                self.line(&format!("{}{}\n", escaped(lead), escaped(content)));
            }
            Block::Headlines(name, figures) => self.figures(name, figures),
            Block::Pairs(pairs) => self.pairs(pairs),
            Block::Table(table) => self.table(table),
            Block::List(list) => {
                if !list.title.is_empty() {
                    self.line(&format!("### {}\n", escaped(&list.title)));
                }
                list.items.iter().for_each(|item| self.line(&format!("- {}", escaped(item))));
                self.line("");
            }
            Block::Chart(_) | Block::Data(..) => {}
        }
    }

    fn figures(&mut self, name: &str, figures: &[Headline]) {
        for figure in figures {
            let label =
                [name, &figure.label].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            let value = format!("{} {}", figure.value, figure.unit);
            let spread = if figure.spread.is_empty() { String::new() } else { format!(" ({})", figure.spread) };
            self.line(&format!("**{}: {}**{}\n", escaped(&label), escaped(value.trim()), escaped(&spread)));
        }
    }

    fn pairs(&mut self, pairs: &Pairs) {
        let shown: Vec<&Pair> = pairs.items.iter().filter(|pair| !pair.label.is_empty()).collect();
        if shown.is_empty() {
            return;
        }
        let title = if pairs.title.is_empty() { String::new() } else { format!("### {}\n\n", escaped(&pairs.title)) };
        self.line(&format!("{title}| | |\n|---|---|"));
        for pair in shown {
            self.line(&format!("| {} | {} |", escaped(&pair.label), escaped(&pair.value)));
        }
        self.line("");
    }

    fn table(&mut self, table: &Table) {
        if !table.title.is_empty() {
            self.line(&format!("### {}\n", escaped(&table.title)));
        }
        if !table.remark.is_empty() {
            self.line(&format!("{}\n", escaped(&table.remark)));
        }
        let is_picture = |place: usize| table.rows.iter().all(|row| matches!(row.fields[place], Field::Bar(_)));
        let mut shown = table.columns_for(Reader::Page);
        shown.retain(|(place, _)| !is_picture(*place));
        let heads: Vec<String> = shown.iter().map(|(_, column)| escaped(&column.head)).collect();
        let edges: String = shown.iter().map(|(_, column)| if column.is_words() { "---|" } else { "---:|" }).collect();
        self.line(&format!("| {} |\n|{edges}", heads.join(" | ")));
        for row in &table.rows {
            let fields = self.fields(row, &shown);
            self.line(&format!("| {} |", fields.join(" | ")));
        }
        self.line("");
    }

    fn fields(&mut self, row: &Row, shown: &[(usize, &Column)]) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for (place, _) in shown {
            fields.push(match &row.fields[*place] {
                Field::Marks(texts) => self.notes.marks(texts),
                field => escaped(field.words().trim_end()),
            });
        }
        match &row.kind {
            RowKind::Gap(reason) => {
                // The widest place for it is the last column, which holds words as a rule.
                if let Some(last) = fields.last_mut() {
                    *last = escaped(reason);
                }
            }
            RowKind::Total | RowKind::Strong => {
                fields.iter_mut().filter(|field| !field.is_empty()).for_each(|field| *field = format!("**{field}**"));
            }
            RowKind::Plain => {}
        }
        fields
    }
}

/// Returns text that Markdown and HTML take literally.
fn escaped(value: &str) -> String {
    let text = words::clean(value).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    ['\\', '|', '*', '_', '`', '[', ']', '#'].iter().fold(text, |text, c| text.replace(*c, &format!("\\{c}")))
}
