//! Markdown: tables to paste into an issue or a page.

use std::fmt::Write;

use super::Notes;
use crate::document::{
    Block, Column, Document, Field, Headline, List, Pair, Pairs, Reader, Row, RowKind, Table,
};

/// Characters that Markdown would take for more than text.
const SPECIAL: [char; 8] = ['\\', '|', '*', '_', '`', '[', ']', '#'];

pub(super) fn render(document: &Document) -> String {
    let mut page = Page::default();
    page.write_line(&format!("# {}\n", escape(document.heading())));
    page.write_line(&format!("{}\n", escape(&document.kind)));
    if !document.about.is_empty() {
        page.write_line(&format!("{}\n", escape(&document.about)));
    }
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Page)) {
        page.write_block(block);
    }
    for (number, note) in (1..).zip(&page.notes.texts) {
        // Writing to a String cannot fail.
        let _ = writeln!(page.text, "{number}. {}", escape(note));
    }
    page.text
}

/// A document while it is written.
#[derive(Default)]
struct Page {
    text: String,
    notes: Notes,
    /// The heading of a section that has shown nothing yet; a section of charts alone has none.
    pending_section: Option<String>,
}

impl Page {
    fn write_line(&mut self, line: &str) {
        if let Some(title) = self.pending_section.take() {
            self.write_line(&format!("## {title}\n"));
        }
        let _ = writeln!(self.text, "{line}");
    }

    fn write_subheading(&mut self, title: &str) {
        if !title.is_empty() {
            self.write_line(&format!("### {}\n", escape(title)));
        }
    }

    fn write_block(&mut self, block: &Block) {
        match block {
            Block::Section(title) | Block::Fold(title) => {
                self.pending_section = Some(escape(title));
            }
            Block::Lead(sentences) => {
                for sentence in sentences {
                    self.write_line(&format!("**{}**\n", escape(sentence)));
                }
            }
            Block::Text(_, lead, content) => {
                self.write_line(&format!("{}{}\n", escape(lead), escape(content)));
            }
            Block::Headlines(name, headlines) => self.write_headlines(name, headlines),
            Block::Pairs(pairs) => self.write_pairs(pairs),
            Block::Table(table) => self.write_table(table),
            Block::List(list) => self.write_list(list),
            Block::Chart(_) | Block::Data(..) => {}
        }
    }

    fn write_headlines(&mut self, name: &str, headlines: &[Headline]) {
        for Headline { label, value, unit, spread, .. } in headlines {
            let labels: Vec<&str> =
                [name, label].into_iter().filter(|label| !label.is_empty()).collect();
            let label = escape(&labels.join(", "));
            let value = escape(format!("{value} {unit}").trim());
            let spread = if spread.is_empty() { String::new() } else { format!(" ({spread})") };
            self.write_line(&format!("**{label}: {value}**{}\n", escape(&spread)));
        }
    }

    fn write_pairs(&mut self, pairs: &Pairs) {
        let shown: Vec<&Pair> = pairs.items.iter().filter(|pair| !pair.label.is_empty()).collect();
        if shown.is_empty() {
            return;
        }

        self.write_subheading(&pairs.title);
        // A table of Markdown needs a heading, which pairs have not.
        self.write_line("| | |\n|---|---|");
        for pair in shown {
            self.write_line(&format!("| {} | {} |", escape(&pair.label), escape(&pair.value)));
        }
        self.write_line("");
    }

    fn write_list(&mut self, list: &List) {
        self.write_subheading(&list.title);
        for item in &list.items {
            self.write_line(&format!("- {}", escape(item)));
        }
        self.write_line("");
    }

    fn write_table(&mut self, table: &Table) {
        self.write_subheading(&table.title);
        if !table.remark.is_empty() {
            self.write_line(&format!("{}\n", escape(&table.remark)));
        }

        let mut columns = table.columns_for(Reader::Page);
        columns.retain(|(number, _)| !is_column_of_bars(table, *number));
        let heads: Vec<String> = columns.iter().map(|(_, column)| escape(&column.head)).collect();
        let alignment: String = columns
            .iter()
            .map(|(_, column)| if column.is_words() { "---|" } else { "---:|" })
            .collect();
        self.write_line(&format!("| {} |\n|{alignment}", heads.join(" | ")));
        for row in &table.rows {
            let fields = self.format_row(row, &columns);
            self.write_line(&format!("| {} |", fields.join(" | ")));
        }
        self.write_line("");
    }

    fn format_row(&mut self, row: &Row, columns: &[(usize, &Column)]) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for (number, _) in columns {
            fields.push(match &row.fields[*number] {
                Field::Marks(texts) => self.notes.mark(texts),
                field => escape(field.words().trim_end()),
            });
        }

        match &row.kind {
            RowKind::Plain => {}
            RowKind::Gap(reason) => {
                // The widest place for it is the last column, which holds words as a rule.
                if let Some(last) = fields.last_mut() {
                    *last = escape(reason);
                }
            }
            RowKind::Total | RowKind::Strong => {
                for field in fields.iter_mut().filter(|field| !field.is_empty()) {
                    *field = format!("**{field}**");
                }
            }
        }
        fields
    }
}

fn is_column_of_bars(table: &Table, column: usize) -> bool {
    table.rows.iter().all(|row| matches!(row.fields[column], Field::Bar(_)))
}

/// Text that Markdown and HTML take literally.
fn escape(value: &str) -> String {
    let mut text =
        words::clean(value).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for c in SPECIAL {
        text = text.replace(c, &format!("\\{c}"));
    }
    text
}
