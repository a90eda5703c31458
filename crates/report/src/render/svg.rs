//! SVG: one image to paste, which stands alone: the question, the answer, and the charts of the
//! comparison, or else of the first section that has any.
//!
//! It is laid out from top to bottom, `WIDTH_PX` wide, so that its text keeps its size where issues
//! and chats show images. The ground is light, whatever surrounds it: an image cannot know the
//! colours of the page that it is pasted on. Not all programs that draw SVG know variables of style
//! sheets, so the sheet of pages is taken with the colours in their place ([`style_sheet`]).

use anyhow::{Result, bail};
use maud::{Markup, PreEscaped, html};

use words::Unique;

use crate::charts::Drawings;
use crate::charts::svg::{
    Drawing, IMAGE_PX, PANEL_GAP_PX, coordinate, cut_to_width, key_within, text_width,
};
use crate::document::{Block, Chart, Document, Reader};

/// The part of the style sheet that charts have; it begins with the colours of light pages.
const CHART_STYLE: &str = include_str!("charts.css");

const MARGIN_PX: f64 = 16.0;
const WIDTH_PX: f64 = IMAGE_PX + 2.0 * MARGIN_PX;

/// Panels are in so many columns, if their drawings are small enough.
const PANEL_COLUMNS: usize = 2;
const PANEL_PX: f64 = (IMAGE_PX - PANEL_GAP_PX) / PANEL_COLUMNS as f64;

/// Room in px between parts, and between paragraphs.
const PART_GAP_PX: f64 = 10.0;
const PARAGRAPH_GAP_PX: f64 = 5.0;

/// The side of a legend's mark in px, and the room after it and after its words.
const KEY_PX: f64 = 12.0;
const KEY_GAP_PX: f64 = 5.0;
const LEGEND_GAP_PX: f64 = 22.0;

/// From the top of a line to the baseline of its text, as a share of the line.
const BASELINE_SHARE: f64 = 0.75;

/// Lines that a text has at most: a command may be as long as it likes.
const MAX_LINES: usize = 8;

/// The rules that only images have.
const RULES: &str = "\
.image { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif; }
.paper { fill: var(--paper); stroke: var(--rule); }
svg .title { font-size: 18px; font-weight: 600; }
svg .sentence { font-size: 15px; }
svg .remark { font-size: 12px; fill: var(--soft); }
";

/// How a text is set.
struct TextStyle {
    class: &'static str,
    line_px: f64,
    letter_px: f64,
}

/// Widths of letters are those of a wide font, DejaVu Sans: whoever opens the image may have no
/// other.
const TITLE: TextStyle = TextStyle { class: "title", line_px: 24.0, letter_px: 11.0 };
const SENTENCE: TextStyle = TextStyle { class: "sentence", line_px: 21.0, letter_px: 8.0 };
const HEADING: TextStyle = TextStyle { class: "strong", line_px: 20.0, letter_px: 7.8 };
const LABEL: TextStyle = TextStyle { class: "label", line_px: 19.0, letter_px: 6.9 };
const REMARK: TextStyle = TextStyle { class: "remark", line_px: 17.0, letter_px: 6.4 };

impl TextStyle {
    /// The lines of a text in `width` px; none of an empty one.
    fn wrap(&self, text: &str, width: f64) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }

        let mut lines = words::wrap("", text, (width / self.letter_px) as usize);
        if lines.len() > MAX_LINES {
            lines.truncate(MAX_LINES);
            lines[MAX_LINES - 1].push('…');
        }
        lines
    }
}

/// A chart and the heading of its section.
struct Titled<'a> {
    section: &'a str,
    chart: &'a Chart,
}

/// The image of a document.
///
/// # Errors
/// It has no chart.
pub(super) fn render(document: &Document) -> Result<String> {
    let charts = charts_of_answer(document);
    if charts.is_empty() {
        bail!("this report has no chart; try --format html or --format markdown");
    }

    let mut image = Image { parts: Vec::new(), y: MARGIN_PX };
    image.write(&TITLE, document.heading());
    for block in &document.blocks {
        if let Block::Lead(sentences) = block {
            image.write_paragraphs(&SENTENCE, sentences);
        }
    }

    // What several charts have in common is said once: their legend first, their caption last.
    let has_sections = charts.iter().any(|titled| titled.section != charts[0].section);
    let mut last_section = "";
    let mut last_legend = Vec::new();
    for Titled { section, chart } in &charts {
        image.y += PART_GAP_PX;
        if has_sections && *section != last_section {
            image.write(&HEADING, section);
            last_section = section;
        }
        if !chart.title.is_empty() {
            image.write(&HEADING, &chart.title);
        }
        let legend: Vec<&str> = chart.legend.iter().map(|(_, text)| text.as_str()).collect();
        if legend.len() > 1 && legend != last_legend {
            image.draw_legend(&chart.legend);
            last_legend = legend;
        }
        image.draw_panels(&chart.panels);
    }
    let captions = charts.iter().map(|titled| &titled.chart.caption).unique();
    let remarks: Vec<&String> =
        captions.into_iter().chain([&document.about]).filter(|text| !text.is_empty()).collect();
    image.write_paragraphs(&REMARK, &remarks);

    Ok(image.finish(document.heading()))
}

/// The charts of comparisons, or else those of the section that has the first chart.
fn charts_of_answer(document: &Document) -> Vec<Titled<'_>> {
    let mut section = "";
    let mut charts = Vec::new();
    for block in document.blocks.iter().filter(|block| block.is_for(Reader::Page)) {
        match block {
            Block::Section(title) | Block::Fold(title) => section = title,
            Block::Chart(chart) => charts.push(Titled { section, chart }),
            _ => {}
        }
    }

    if charts.iter().any(|titled| titled.chart.is_comparison) {
        charts.retain(|titled| titled.chart.is_comparison);
    } else if let Some(first) = charts.first().map(|titled| titled.section) {
        charts.retain(|titled| titled.section == first);
    }
    charts
}

/// A drawing and what it is of.
struct Panel<'a> {
    label: &'a str,
    drawing: &'a Drawing,
}

/// An image while it is laid out.
struct Image {
    parts: Vec<Markup>,
    /// The end in px of what is laid out so far.
    y: f64,
}

impl Image {
    /// Writes a text in as many lines as it takes.
    fn write(&mut self, style: &TextStyle, text: &str) {
        let lines = style.wrap(text, IMAGE_PX);
        self.write_lines(style, (MARGIN_PX, self.y), &lines);
        self.y += style.line_px * lines.len() as f64;
    }

    /// Writes lines whose top left corner is at a point.
    fn write_lines(&mut self, style: &TextStyle, (x, top): (f64, f64), lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            let y = top + style.line_px * (number as f64 + BASELINE_SHARE);
            self.parts.push(
                html! { text class=(style.class) x=(coordinate(x)) y=(coordinate(y)) { (line) } },
            );
        }
    }

    fn write_paragraphs(&mut self, style: &TextStyle, texts: &[impl AsRef<str>]) {
        for text in texts {
            self.y += PARAGRAPH_GAP_PX;
            self.write(style, text.as_ref());
        }
    }

    fn draw_legend(&mut self, legend: &[(Markup, String)]) {
        let mut x = MARGIN_PX;
        for (mark, text) in legend {
            let text = cut_to_width(text, IMAGE_PX - KEY_PX - KEY_GAP_PX);
            let width = KEY_PX + KEY_GAP_PX + text_width(&text);
            if x > MARGIN_PX && x + width > MARGIN_PX + IMAGE_PX {
                x = MARGIN_PX;
                self.y += LABEL.line_px;
            }

            self.parts.push(key_within(mark, (x, self.y + 3.5), KEY_PX));
            self.write_lines(&LABEL, (x + KEY_PX + KEY_GAP_PX, self.y), &[text]);
            x += width + LEGEND_GAP_PX;
        }
        self.y += LABEL.line_px + PART_GAP_PX / 2.0;
    }

    /// Draws panels in columns, row by row; those that are too wide for a column below each other.
    fn draw_panels(&mut self, panels: &[(String, Drawings)]) {
        let mut drawn = Vec::new();
        for (label, drawings) in panels {
            if let Some(drawing) = drawings.for_image() {
                drawn.push(Panel { label, drawing });
            }
        }

        let is_small = drawn.iter().all(|panel| panel.drawing.width() <= PANEL_PX);
        let (columns, width) = if is_small { (PANEL_COLUMNS, PANEL_PX) } else { (1, IMAGE_PX) };
        for row in drawn.chunks(columns) {
            self.draw_row_of_panels(row, width);
        }
    }

    /// Draws panels of some width next to each other, each below its label.
    fn draw_row_of_panels(&mut self, row: &[Panel<'_>], width: f64) {
        let labels: Vec<Vec<String>> =
            row.iter().map(|panel| HEADING.wrap(panel.label, width)).collect();
        let lines = labels.iter().map(Vec::len).max().unwrap_or(0);
        let top = self.y + HEADING.line_px * lines as f64;

        let mut x = MARGIN_PX;
        for (panel, label) in row.iter().zip(&labels) {
            self.write_lines(&HEADING, (x, self.y), label);
            self.parts.push(panel.drawing.render_within((x, top), width));
            x += width + PANEL_GAP_PX;
        }
        let heights = row.iter().map(|panel| panel.drawing.height_at(width));
        self.y = top + heights.fold(0.0, f64::max) + PART_GAP_PX;
    }

    /// The whole file; `label` stands for the image where it is not seen.
    fn finish(self, label: &str) -> String {
        let (width, height) = (WIDTH_PX, (self.y + MARGIN_PX).ceil());
        let image = html! {
            svg xmlns="http://www.w3.org/2000/svg" class="image" role="img" aria-label=(label)
                width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                style { (PreEscaped(style_sheet())) }
                rect class="paper" width=(width) height=(height) {}
                @for part in &self.parts { (part) }
            }
        };
        words::clean(&image.0) + "\n"
    }
}

/// The rules of charts with the colours of light pages.
fn style_sheet() -> String {
    // The sheet begins with the palette of light pages, as a test below sees.
    let (palette, rules) = CHART_STYLE.split_once('}').unwrap_or(("", CHART_STYLE));

    let mut sheet = format!("{rules}{RULES}");
    for declaration in palette.split([';', '{']) {
        if let Some((name, colour)) = declaration.split_once(": ") {
            sheet = sheet.replace(&format!("var({})", name.trim()), colour);
        }
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_colour_is_a_variable() {
        let sheet = style_sheet();

        assert!(!sheet.contains("var("), "{sheet}");
        assert!(sheet.contains(".h0 { color: #1d62ad; }"), "{sheet}");
    }
}
