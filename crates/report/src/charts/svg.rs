//! The few SVG elements the charts are made of. Coordinates are always finite.

use std::fmt::Write;

use maud::{Markup, html};

/// Hues that the style sheet has, and shapes that [`outline`] draws.
const HUES: usize = 6;
const SHAPES: usize = 5;

/// The width of bold text as a multiple of plain text's.
pub(crate) const BOLD: f64 = 1.12;

/// The part of a chart that is written so far.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    body: Vec<Markup>,
    /// The markup before each group that is open.
    before: Vec<Vec<Markup>>,
}

/// Where a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Draws a line from one point to another.
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.path(class, &format!("M{} {}L{} {}", n(from.0), n(from.1), n(to.0), n(to.1)), "");
    }

    pub(crate) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(n);
        self.body.push(html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) {} });
    }

    /// Writes text, if there is any.
    pub(crate) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => None,
            Anchor::Middle => Some("middle"),
            Anchor::End => Some("end"),
        };
        if !text.is_empty() {
            self.body.push(html! { text class=(class) x=(n(at.0)) y=(n(at.1)) text-anchor=[anchor] { (text) } });
        }
    }

    /// Writes text cut to `width`, whole on hover.
    pub(crate) fn fitted(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str, width: f64) {
        let short = fit(text, if class.contains("strong") { width / BOLD } else { width });
        self.open(if short == text { "" } else { text });
        self.text(class, at, anchor, &short);
        self.close();
    }

    /// Draws an outline, with a hover text if there is any.
    pub(crate) fn path(&mut self, class: &str, d: &str, title: &str) {
        self.body.push(html! { path class=(class) d=(d) { (hover(title)) } });
    }

    /// Opens a group whose parts share a hover text, if there is any.
    pub(crate) fn open(&mut self, title: &str) {
        self.before.push(std::mem::replace(&mut self.body, vec![hover(title)]));
    }

    pub(crate) fn close(&mut self) {
        let group = html! { g { @for part in &self.body { (part) } } };
        self.body = self.before.pop().unwrap_or_default();
        self.body.push(group);
    }

    /// Returns the chart, with the words that stand for it where it is not seen.
    pub(crate) fn finish(self, class: &str, (width, height): (f64, f64), label: &str) -> Markup {
        let size = format!("0 0 {} {}", n(width), n(height));
        html! { svg class=(class) role="img" aria-label=(label) viewBox=(size) { @for part in &self.body { (part) } } }
    }
}

fn hover(title: &str) -> Markup {
    html! { @if !title.is_empty() { title { (title) } } }
}

/// Returns a coordinate: short, and never anything but a number.
pub(crate) fn n(value: f64) -> String {
    let mut text = format!("{:.1}", if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 });
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// Returns the class that gives a series its hue.
pub(crate) fn hue(series: usize) -> String {
    format!("h{}", series % HUES)
}

/// Returns the outline of a series' marks at a point. Hues and shapes have different periods, so
/// that thirty series differ in one or the other.
pub(crate) fn outline(series: usize, at: (f64, f64), radius: f64) -> String {
    let (x, y) = (at.0, at.1);
    // Shapes of one radius look unequal; these factors give them one area.
    let (r, s, d) = (radius, radius * 0.88, radius * 1.3);
    let shape = match series % SHAPES {
        0 => return circle(x, y, r),
        1 => [(-s, -s), (s, -s), (s, s), (-s, s)].to_vec(),
        2 => [(0.0, -d), (d, 0.0), (0.0, d), (-d, 0.0)].to_vec(),
        3 => [(0.0, -d), (d, s), (-d, s)].to_vec(),
        _ => [(0.0, d), (d, -s), (-d, -s)].to_vec(),
    };
    polygon(x, y, &shape)
}

/// Returns the mark of a series as a picture of its own, for legends; words stand beside it.
pub(crate) fn key(series: usize) -> Markup {
    key_of(&hue(series), series)
}

/// Returns a mark of the given classes and shape as a picture of its own.
pub(crate) fn key_of(class: &str, shape: usize) -> Markup {
    let mut svg = Svg::default();
    svg.path(&format!("mark {class}"), &outline(shape, (7.0, 7.0), 4.6), "");
    html! { svg.key aria-hidden="true" viewBox="0 0 14 14" { @for part in &svg.body { (part) } } }
}

fn circle(x: f64, y: f64, radius: f64) -> String {
    let (r, across) = (n(radius), n(2.0 * radius));
    format!("M{} {}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z", n(x - radius), n(y))
}

fn polygon(x: f64, y: f64, corners: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (place, corner) in corners.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(d, "{}{} {}", if place == 0 { 'M' } else { 'L' }, n(x + corner.0), n(y + corner.1));
    }
    d + "z"
}

/// Returns the width of text at the charts' text size.
pub(crate) fn length(text: &str) -> f64 {
    text.chars().map(em).sum()
}

fn em(c: char) -> f64 {
    if (c as u32) < 0x1100 { 6.6 } else { 13.0 }
}

/// Returns `text`, cut with an ellipsis where it is wider than `width`.
fn fit(text: &str, width: f64) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let mut left = width - 13.0;
    let kept = text.chars().take_while(|c| {
        left -= em(*c);
        left >= 0.0
    });
    kept.collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_finite() {
        for (value, text) in [(1.25, "1.2"), (3.0, "3"), (-0.01, "0"), (f64::NAN, "0"), (f64::INFINITY, "0")] {
            assert_eq!(n(value), text);
        }
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(fit("short", 100.0), "short");
        let cut = fit(&"x".repeat(100), 100.0);
        assert!(cut.ends_with('…') && cut.chars().count() < 20, "{cut}");
    }

    #[test]
    fn thirty_series_differ() {
        let mut looks: Vec<String> = (0..30).map(|series| hue(series) + &outline(series, (9.0, 9.0), 3.0)).collect();
        looks.sort();
        looks.dedup();
        assert_eq!(looks.len(), 30);
    }
}
