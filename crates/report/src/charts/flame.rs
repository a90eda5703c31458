//! Flame graphs, from the top down: a row for each depth of calls, in which a function's frame is
//! as wide as the time in it and in what it calls.
//!
//! A page stays small whatever the program does. Frames that are too narrow to be seen are merged
//! with their neighbours, and of more than [`MAX_FRAMES`] the widest are drawn
//! ([`Layout::min_width`]). A frame without room for three letters has no text; all have a hover
//! text.

use super::svg::{
    Anchor, Drawing, Drawings, IMAGE_PX, Medium, PANEL_GAP_PX, Svg, Widths, cut_to_width,
    text_width,
};

/// Widths of a chart that has the page to itself, and of one of two side by side.
const WHOLE: Widths = Widths { wide: 1000.0, narrow: 358.0, image: IMAGE_PX };
const HALF: Widths = Widths { wide: 508.0, image: (IMAGE_PX - PANEL_GAP_PX) / 2.0, ..WHOLE };

const ROW_PX: f64 = 18.0;

/// Between a row's top and the baseline of its text.
const BASELINE_PX: f64 = 12.5;

/// Between frames.
const GAP_PX: f64 = 0.5;

/// At both ends of a frame's text, and the narrowest text.
const MARGIN_PX: f64 = 4.0;
const MIN_TEXT: &str = "abc…";

/// The shortest name without its path.
const MIN_NAME: &str = "abc";

/// What Go calls parts of a function, with a number; alone they name nothing.
const NUMBERED: [&str; 2] = ["func", "abi"];

/// Narrower frames are merged.
const MIN_FRAME_PX: f64 = 1.0;

/// The most frames of a drawing, merged ones apart.
const MAX_FRAMES: usize = 600;

/// A function with what it calls.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) time: f64,
    /// The class of its hue; empty if it has none.
    pub(crate) hue: &'static str,
    /// Words after the name, where there is room for both.
    pub(crate) remark: String,
    /// Everything about it, on hover.
    pub(crate) title: String,
    pub(crate) calls: Vec<Frame>,
}

pub(crate) struct Flame {
    /// The words for readers who do not see it.
    pub(crate) label: String,
    /// The time for which the whole width stands.
    pub(crate) whole: f64,
    pub(crate) root: Frame,
    /// True if it has the page to itself.
    pub(crate) is_alone: bool,
}

impl Flame {
    /// The drawings for all media.
    pub(crate) fn chart(&self) -> Drawings {
        let widths = if self.is_alone { WHOLE } else { HALF };
        widths.draw(|medium, width| Layout::new(self, width).finish(medium))
    }
}

/// A drawing of one width.
struct Layout<'a> {
    flame: &'a Flame,
    svg: Svg,
    width: f64,
    px_per_time: f64,
    /// The width in px from which on a frame is drawn by itself.
    min_width: f64,
    rows: usize,
}

impl<'a> Layout<'a> {
    fn new(flame: &'a Flame, width: f64) -> Layout<'a> {
        let px_per_time = if flame.whole > 0.0 { width / flame.whole } else { 0.0 };
        let mut widths = Vec::new();
        collect_widths(&flame.root, px_per_time, &mut widths);
        widths.sort_by(|a, b| b.total_cmp(a));
        let widest_left_out = widths.get(MAX_FRAMES).copied().unwrap_or(0.0);

        Layout {
            flame,
            svg: Svg::default(),
            width,
            px_per_time,
            // Just above, so that all frames of that width are merged.
            min_width: MIN_FRAME_PX.max(widest_left_out * 1.0001),
            rows: 0,
        }
    }

    fn finish(mut self, medium: Medium) -> Drawing {
        self.draw_frame(&self.flame.root, 0.0, 0);
        let height = self.rows as f64 * ROW_PX;
        self.svg.finish(medium, (self.width, height), &self.flame.label).with_class("flame")
    }

    /// Draws a frame at `left`, and below it what it calls.
    fn draw_frame(&mut self, frame: &Frame, left: f64, row: usize) {
        let width = frame.time * self.px_per_time;
        let text = self.fit(frame, width - 2.0 * MARGIN_PX);
        self.draw_box(frame.hue, (left, row), width, &frame.title, &text);

        let mut left = left;
        let mut merged = Merged::default();
        for call in &frame.calls {
            let width = call.time * self.px_per_time;
            if width < self.min_width {
                merged.add(call, width);
                continue;
            }

            self.draw_merged(&merged, left, row + 1);
            left += std::mem::take(&mut merged).width;
            self.draw_frame(call, left, row + 1);
            left += width;
        }
        self.draw_merged(&merged, left, row + 1);
    }

    fn draw_merged(&mut self, merged: &Merged, left: f64, row: usize) {
        if merged.width < MIN_FRAME_PX {
            return;
        }
        let title = match &merged.names[..] {
            [name] => name.clone(),
            names => format!(
                "{} with little time: {}",
                words::count(names.len(), "function"),
                words::listed(names, 3)
            ),
        };
        self.draw_box("", (left, row), merged.width, &title, "");
    }

    fn draw_box(
        &mut self,
        hue: &str,
        (left, row): (f64, usize),
        width: f64,
        title: &str,
        text: &str,
    ) {
        let top = row as f64 * ROW_PX;
        self.rows = self.rows.max(row + 1);
        self.svg.open_group(title);
        self.svg.rect(hue, (left, top), (width - GAP_PX, ROW_PX - 1.0));
        self.svg.text("", (left + MARGIN_PX, top + BASELINE_PX), Anchor::Start, text);
        self.svg.close_group();
    }

    /// The text of a frame with so much room.
    fn fit(&self, frame: &Frame, room: f64) -> String {
        if room < text_width(MIN_TEXT) {
            return String::new();
        }
        let both = format!("{} {}", frame.name, frame.remark);
        let has_room = !frame.remark.is_empty() && text_width(&both) <= room;
        if has_room { both } else { cut_to_width(shorten_path(&frame.name, room), room) }
    }
}

/// A name without as much of its path as there is no room for: of `go/printer.(*printer).expr`
/// rather `expr` than `go/prin…`.
fn shorten_path(name: &str, room: f64) -> &str {
    let is_whole = |part: &str| {
        let count = |letter| part.matches(letter).count();
        count('<') == count('>') && count('(') == count(')')
    };
    let mut shortest = name;
    for (at, separator) in name.match_indices(['/', ':', '.']) {
        if text_width(shortest) <= room {
            break;
        }
        let rest = &name[at + separator.len()..];
        let is_name = !rest.starts_with(|c: char| c == ':' || c.is_ascii_digit())
            && !NUMBERED.contains(&rest.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit()));
        if is_name && is_whole(rest) && text_width(rest) >= text_width(MIN_NAME) {
            shortest = rest;
        }
    }
    shortest
}

/// Neighbours that are too narrow to be drawn.
#[derive(Default)]
struct Merged {
    names: Vec<String>,
    width: f64,
}

impl Merged {
    fn add(&mut self, frame: &Frame, width: f64) {
        self.names.push(frame.name.clone());
        self.width += width;
    }
}

fn collect_widths(frame: &Frame, px_per_time: f64, widths: &mut Vec<f64>) {
    widths.push(frame.time * px_per_time);
    for call in &frame.calls {
        collect_widths(call, px_per_time, widths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, time: f64, calls: Vec<Frame>) -> Frame {
        Frame { name: name.to_owned(), time, title: name.to_owned(), calls, ..Frame::default() }
    }

    fn draw(root: Frame) -> String {
        Flame { label: String::new(), whole: 100.0, root, is_alone: false }
            .chart()
            .render_for_page()
            .0
    }

    #[test]
    fn narrow_frames_are_merged_and_have_no_text() {
        let calls = vec![
            frame("wide", 60.0, vec![]),
            frame("slim", 5.0, vec![]),
            frame("thin_1", 0.15, vec![]),
            frame("thin_2", 0.15, vec![]),
            frame("none", 0.0, vec![]),
        ];

        let chart = draw(frame("all", 100.0, calls));

        // Each in both drawings.
        assert_eq!(chart.matches(">wide</text>").count(), 2, "{chart}");
        assert_eq!(chart.matches("<title>slim</title>").count(), 2, "{chart}");
        assert!(!chart.contains(">slim</text>"), "{chart}");
        let merged = "<title>3 functions with little time: thin_1, thin_2 and none</title>";
        assert_eq!(chart.matches(merged).count(), 2, "{chart}");
    }

    #[test]
    fn a_name_that_is_too_long_loses_its_path_first() {
        for (name, letters, shorter) in [
            ("go/printer.(*printer).expr", 30, "go/printer.(*printer).expr"),
            ("go/printer.(*printer).expr", 22, "printer.(*printer).expr"),
            ("go/printer.(*printer).expr", 8, "expr"),
            ("tool::parse::<core::str::Chars>", 25, "parse::<core::str::Chars>"),
            ("main.(*sequencer).Add.func2", 10, "Add.func2"),
            ("main.main.func3.1", 10, "main.func3.1"),
            ("31.8 ms of an execution", 4, "31.8 ms of an execution"),
            ("a.b", 1, "a.b"),
        ] {
            let room = text_width(&"x".repeat(letters + 1));
            assert_eq!(shorten_path(name, room), shorter, "{letters}");
        }
    }

    #[test]
    fn a_drawing_has_a_bounded_number_of_frames() {
        // A hundred functions that call a hundred each, forty deep.
        let calls = (0..100)
            .map(|number| {
                let deepest = frame("deepest", 1.0, vec![]);
                (0..40).fold(deepest, |call, depth| {
                    frame(&format!("{number}_{depth}"), 1.0, vec![call])
                })
            })
            .collect();

        let chart = draw(frame("all", 100.0, calls));

        assert!(chart.matches("<rect").count() < 4 * MAX_FRAMES, "{}", chart.len());
        assert!(chart.len() < 400_000, "{}", chart.len());
    }
}
