//! The few SVG elements that charts are made of. Their coordinates are always finite.

use std::fmt::Write;

use maud::{Markup, html};

/// Width in px of what an image shows, and of the gap between panels that are next to each other.
pub(crate) const IMAGE_PX: f64 = 768.0;
pub(crate) const PANEL_GAP_PX: f64 = 16.0;

/// Hues that the style sheet has.
const HUES: usize = 6;

/// The shapes that [`outline`] draws, by their numbers.
pub(crate) const CIRCLE: usize = 0;
pub(crate) const SQUARE: usize = 1;
pub(crate) const DIAMOND: usize = 2;
pub(crate) const TRIANGLE_UP: usize = 3;
pub(crate) const TRIANGLE_DOWN: usize = 4;
const SHAPES: usize = 5;

/// Width of bold text as a multiple of plain text's.
pub(crate) const BOLD: f64 = 1.12;

/// Widths of a character in px at the charts' text size: of alphabets, and of Chinese, Japanese and
/// Korean scripts.
const CHARACTER_PX: f64 = 7.0;
const WIDE_CHARACTER_PX: f64 = 13.0;

/// The first character that is treated as wide: Hangul Jamo begins here.
const FIRST_WIDE: u32 = 0x1100;

/// The largest coordinate that is written.
const MAX_COORDINATE: f64 = 1e5;

/// Widths in px of a page's drawings for wide windows and for narrow ones, and of an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    pub(crate) wide: f64,
    pub(crate) narrow: f64,
    pub(crate) image: f64,
}

/// The medium that a drawing is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    /// A page in a wide window.
    WidePage,
    /// A page in a narrow window.
    NarrowPage,
    /// An image that stands alone.
    Image,
    /// A page of any width, and an image, as one of several panels.
    Panel,
}

/// A drawing for a medium.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    medium: Medium,
    width: f64,
    height: f64,
    /// Further classes of its element on a page.
    class: &'static str,
    /// The words for readers who do not see it.
    label: String,
    body: Vec<Markup>,
}

/// A chart in as many drawings as there are media.
#[derive(Debug, Clone, Default)]
pub struct Drawings(Vec<Drawing>);

/// A chart while it is written.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    /// The elements of the group that is open, or of the chart.
    body: Vec<Markup>,
    /// For each open group, the elements before it.
    before_groups: Vec<Vec<Markup>>,
}

/// The part of a text that is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
        self.path(class, &format!("M{x1} {y1}L{x2} {y2}"), "");
    }

    pub(crate) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(coordinate);
        self.body.push(html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) {} });
    }

    /// Writes text, if there is any.
    pub(crate) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        if text.is_empty() {
            return;
        }

        let [x, y] = [at.0, at.1].map(coordinate);
        let anchor = match anchor {
            Anchor::Start => None,
            Anchor::Middle => Some("middle"),
            Anchor::End => Some("end"),
        };
        self.body.push(html! { text class=(class) x=(x) y=(y) text-anchor=[anchor] { (text) } });
    }

    /// Writes text from its start, cut to `width` px; a text that is cut is whole on hover.
    pub(crate) fn fitted_text(&mut self, class: &str, at: (f64, f64), text: &str, width: f64) {
        let is_bold = class.contains("strong");
        let shown = cut_to_width(text, if is_bold { width / BOLD } else { width });

        self.open_group(if shown == text { "" } else { text });
        self.text(class, at, Anchor::Start, &shown);
        self.close_group();
    }

    /// Draws a path, with a hover text if there is any.
    pub(crate) fn path(&mut self, class: &str, d: &str, title: &str) {
        self.body.push(html! { path class=(class) d=(d) { (hover_text(title)) } });
    }

    /// Opens a group whose elements share a hover text, if there is any.
    pub(crate) fn open_group(&mut self, title: &str) {
        self.before_groups.push(std::mem::replace(&mut self.body, vec![hover_text(title)]));
    }

    pub(crate) fn close_group(&mut self) {
        let group = html! { g { @for part in &self.body { (part) } } };
        self.body = self.before_groups.pop().unwrap_or_default();
        self.body.push(group);
    }

    /// The whole chart for a medium; `label` stands for it where it is not seen.
    pub(crate) fn finish(
        self,
        medium: Medium,
        (width, height): (f64, f64),
        label: &str,
    ) -> Drawing {
        Drawing { medium, width, height, class: "", label: label.to_owned(), body: self.body }
    }
}

impl Medium {
    /// The classes by which the style sheet of pages knows a drawing for it.
    fn class(self) -> &'static str {
        match self {
            Medium::WidePage => "chart wide",
            Medium::NarrowPage => "chart narrow",
            Medium::Image => "chart",
            Medium::Panel => "panel",
        }
    }
}

impl Widths {
    /// The chart that `draw` draws for each medium in its width.
    pub(crate) fn draw(self, draw: impl Fn(Medium, f64) -> Drawing) -> Drawings {
        Drawings(vec![
            draw(Medium::WidePage, self.wide),
            draw(Medium::NarrowPage, self.narrow),
            draw(Medium::Image, self.image),
        ])
    }
}

impl Drawing {
    /// The drawing with further classes.
    pub(crate) fn with_class(self, class: &'static str) -> Drawing {
        Drawing { class, ..self }
    }

    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    fn view_box(&self) -> String {
        format!("0 0 {} {}", coordinate(self.width), coordinate(self.height))
    }

    fn render(&self) -> Markup {
        let class = format!("{} {}", self.medium.class(), self.class);
        html! {
            svg class=(class.trim_end()) role="img" aria-label=(self.label) viewBox=(self.view_box()) {
                @for part in &self.body { (part) }
            }
        }
    }

    /// The height in px that it has in an image where it is `width` px wide.
    pub(crate) fn height_at(&self, width: f64) -> f64 {
        self.height * width / self.width
    }

    /// The drawing as a part of an image, `width` px wide.
    pub(crate) fn render_within(&self, at: (f64, f64), width: f64) -> Markup {
        let [x, y, width, height] = [at.0, at.1, width, self.height_at(width)].map(coordinate);
        html! {
            svg class=[unless_empty(self.class)] x=(x) y=(y) width=(width) height=(height)
                overflow="visible" viewBox=(self.view_box()) {
                @for part in &self.body { (part) }
            }
        }
    }
}

impl Drawings {
    /// The drawings that a page has; its style sheet shows the one that suits the window.
    pub(crate) fn render_for_page(&self) -> Markup {
        let drawings = self.0.iter().filter(|drawing| drawing.medium != Medium::Image);
        html! { @for drawing in drawings { (drawing.render()) } }
    }

    /// The drawing for an image.
    pub(crate) fn for_image(&self) -> Option<&Drawing> {
        self.0.iter().find(|drawing| matches!(drawing.medium, Medium::Image | Medium::Panel))
    }
}

impl From<Drawing> for Drawings {
    fn from(drawing: Drawing) -> Drawings {
        Drawings(vec![drawing])
    }
}

fn unless_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn hover_text(title: &str) -> Markup {
    html! { @if !title.is_empty() { title { (title) } } }
}

/// A coordinate as text: short, and always a number.
pub(crate) fn coordinate(value: f64) -> String {
    let finite = if value.is_finite() { value.clamp(-MAX_COORDINATE, MAX_COORDINATE) } else { 0.0 };
    let mut text = format!("{finite:.1}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// The class that gives a series its hue.
pub(crate) fn hue_class(series: usize) -> String {
    format!("h{}", series % HUES)
}

/// The outline of a mark at a point. `shape` is a shape's number or, since hues and shapes have
/// different periods, that of a series: thirty series differ in one or the other.
pub(crate) fn outline(shape: usize, at: (f64, f64), radius: f64) -> String {
    let (x, y) = at;

    // Shapes of one radius look unequal; these factors give them one area.
    let (side, tip) = (radius * 0.88, radius * 1.3);
    match shape % SHAPES {
        CIRCLE => circle(x, y, radius),
        SQUARE => polygon(x, y, &[(-side, -side), (side, -side), (side, side), (-side, side)]),
        DIAMOND => polygon(x, y, &[(0.0, -tip), (tip, 0.0), (0.0, tip), (-tip, 0.0)]),
        TRIANGLE_UP => polygon(x, y, &[(0.0, -tip), (tip, side), (-tip, side)]),
        _ => polygon(x, y, &[(0.0, tip), (tip, -side), (-tip, -side)]),
    }
}

/// The mark of a series as a picture of its own, for legends.
pub(crate) fn key(series: usize) -> Markup {
    key_of(&hue_class(series), series)
}

/// The mark of the given classes and shape as a picture of its own, for legends.
pub(crate) fn key_of(class: &str, shape: usize) -> Markup {
    let mut svg = Svg::default();
    svg.path(&format!("mark {class}"), &outline(shape, (7.0, 7.0), 4.6), "");

    // It is hidden from screen readers, since words are always next to it.
    html! {
        svg.key aria-hidden="true" viewBox="0 0 14 14" { @for part in &svg.body { (part) } }
    }
}

/// A key as a part of an image, `side` px wide and high.
pub(crate) fn key_within(key: &Markup, at: (f64, f64), side: f64) -> Markup {
    let [x, y, side] = [at.0, at.1, side].map(coordinate);
    html! { svg x=(x) y=(y) width=(side) height=(side) { (key) } }
}

fn circle(x: f64, y: f64, radius: f64) -> String {
    let [left, y, r, across] = [x - radius, y, radius, 2.0 * radius].map(coordinate);
    format!("M{left} {y}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z")
}

/// A polygon whose corners are relative to a point.
fn polygon(x: f64, y: f64, corners: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (number, corner) in corners.iter().enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        let [x, y] = [x + corner.0, y + corner.1].map(coordinate);
        // Writing to a String cannot fail.
        let _ = write!(d, "{command}{x} {y}");
    }
    d + "z"
}

/// The width of text in px at the charts' text size.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().map(character_width).sum()
}

fn character_width(c: char) -> f64 {
    if (c as u32) < FIRST_WIDE { CHARACTER_PX } else { WIDE_CHARACTER_PX }
}

/// `text`, cut with an ellipsis if it is wider than `width` px.
pub(crate) fn cut_to_width(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }

    let mut room = width - character_width('…');
    let mut cut = String::new();
    for c in text.chars() {
        room -= character_width(c);
        if room < 0.0 {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_finite() {
        for (value, text) in
            [(1.25, "1.2"), (3.0, "3"), (-0.01, "0"), (f64::NAN, "0"), (f64::INFINITY, "0")]
        {
            assert_eq!(coordinate(value), text);
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(cut_to_width("short", 100.0), "short");

        let cut = cut_to_width(&"x".repeat(100), 100.0);

        assert!(cut.ends_with('…'), "{cut}");
        assert!(cut.chars().count() < 20, "{cut}");
    }

    #[test]
    fn thirty_series_differ() {
        let mut looks: Vec<String> =
            (0..30).map(|series| hue_class(series) + &outline(series, (9.0, 9.0), 3.0)).collect();

        looks.sort();
        looks.dedup();

        assert_eq!(looks.len(), 30);
    }
}
