//! A run as the picture that other pages show beside a link to it: PNG, since none of them shows SVG. The same run is the same bytes.

use ab_glyph::{Font, FontRef, ScaleFont, point};
use anyhow::{Context, Result};

use crate::record::Record;
use analysis::{Results, named};
use journal::Cell;
use report::score;

/// The size that others ask for, in pixels.
pub(crate) const SIZE: (u32, u32) = (1200, 630);

/// DejaVu Sans, the letters of Western languages.
static FONT: &[u8] = include_bytes!("assets/sans.ttf");

/// The paper, the inks, and their places in [`INKS`].
const PAPER: [u8; 3] = [0xfd, 0xfd, 0xfb];
const INKS: [[u8; 3]; 4] = [[0x1c, 0x1d, 0x1f], [0x5f, 0x63, 0x68], [0x1d, 0x62, 0xad], [0x8d, 0xb0, 0xd4]];
const INK: u8 = 0;
const SOFT: u8 = 1;
const BLUE: u8 = 2;
const BAR: u8 = 3;

/// An ink covers a pixel in so many steps.
const STEPS: u8 = 16;

/// The margin on the left and on the right.
const MARGIN: f32 = 60.0;
const RIGHT: f32 = SIZE.0 as f32 - MARGIN;

/// The top of the rows below indexes, and without them; their bottom, the most that fit and the most that one is high.
const TOP: [f32; 2] = [305.0, 215.0];
const BOTTOM: f32 = 605.0;
const ROWS: usize = 12;
const ROW: f32 = 46.0;

/// The ends of bars.
const FROM: f32 = 470.0;
const TO: f32 = 1030.0;

/// A picture while it is drawn.
struct Canvas {
    /// The ink and how far it covers, as a number: `ink * STEPS + step`.
    pixels: Vec<u8>,
    font: FontRef<'static>,
}

/// A row of the picture.
struct Line {
    name: String,
    value: String,
    /// The length of its bar, from 0 to 1; no line has one, or all have.
    bar: Option<f64>,
}

/// Returns the picture.
///
/// # Errors
/// It cannot be encoded: a defect.
pub(crate) fn png(record: &Record, results: &Results) -> Result<Vec<u8>> {
    let font = FontRef::try_from_slice(FONT).context("the font cannot be read")?;
    let mut canvas = Canvas { pixels: vec![0; (SIZE.0 * SIZE.1) as usize], font };
    canvas.fill((0.0, 0.0), (SIZE.0 as f32, 10.0), BLUE);
    canvas.write((MARGIN, 68.0), 28.0, BLUE, "unixmark");
    let day = record.run().started.get(..10).unwrap_or("");
    canvas.write_before((RIGHT, 68.0), 28.0, SOFT, day);
    let host = canvas.fitting(record.host(), 58.0, RIGHT - MARGIN);
    canvas.write((MARGIN, 140.0), 58.0, INK, &host);
    let about = canvas.fitting(&record.about(), 27.0, RIGHT - MARGIN);
    canvas.write((MARGIN, 184.0), 27.0, SOFT, &about);
    let indexes: Vec<&analysis::Index> = record.system_indexes().collect();
    let ends = if indexes.len() > 1 { vec![indexes[0], indexes[indexes.len() - 1]] } else { indexes };
    for (place, index) in (0_u8..).zip(&ends) {
        let left = MARGIN + f32::from(place) * 560.0;
        let end = canvas.write((left, 272.0), 72.0, INK, &score(&index.score));
        let about = format!("{} index, {}", words::plus_minus(index.score.halves()), words::copies(index.copies));
        canvas.write((end + 16.0, 272.0), 25.0, SOFT, &about);
    }
    canvas.lines(&lines(record, results), TOP[usize::from(ends.is_empty())]);
    canvas.encode()
}

/// The tests of the index at the most copies; or else what conditions cost, or the first figures.
fn lines(record: &Record, results: &Results) -> Vec<Line> {
    let indexes = || results.indexes().iter().filter(|index| index.id == "system" && index.complete);
    if let Some(index) = indexes().max_by_key(|index| index.copies) {
        let most = index.parts.iter().map(|part| part.index.value).fold(f64::MIN_POSITIVE, f64::max);
        let lines = index.parts.iter().take(ROWS).map(|part| Line {
            name: part.label.clone(),
            value: score(&part.index),
            bar: Some(part.index.value / most),
        });
        return lines.collect();
    }
    if !record.costs.is_empty() {
        let lines = record.costs.iter().take(ROWS).map(|one| Line {
            name: format!("{}, {}: {}", one.label, words::copies(one.key.copies), one.key.condition),
            value: format!("{} {}", words::signed_fine(one.change.value), one.unit),
            bar: None,
        });
        return lines.collect();
    }
    let line = |figure: &analysis::Figure| {
        let Cell { key, label, unit, .. } = &figure.cell;
        let name = format!("{}, {}", named(label, &key.load, &key.condition), words::copies(key.copies));
        Line { name, value: format!("{} {unit}", score(&figure.score)), bar: None }
    };
    record.figures().take(ROWS).map(line).collect()
}

impl Canvas {
    /// Draws rows, which share the room below `top`.
    fn lines(&mut self, lines: &[Line], top: f32) {
        let row = ((BOTTOM - top) / lines.len().max(1) as f32).min(ROW);
        let size = row * 0.76;
        for (number, line) in (1_u8..).zip(lines) {
            let base = top + f32::from(number) * row;
            let Line { name, value, bar } = line;
            self.write_before((RIGHT, base), size, INK, value);
            let Some(share) = bar else {
                let name = self.fitting(name, size, 800.0);
                self.write((MARGIN, base), size, SOFT, &name);
                continue;
            };
            let name = self.fitting(name, size, FROM - MARGIN - 14.0);
            self.write_before((FROM - 14.0, base), size, INK, &name);
            let length = (TO - FROM) * share.clamp(0.0, 1.0) as f32;
            self.fill((FROM, base - 0.75 * size), (FROM + length.max(1.0), base + 0.1 * size), BAR);
        }
    }

    fn fill(&mut self, (left, top): (f32, f32), (right, bottom): (f32, f32), ink: u8) {
        for y in top as usize..bottom as usize {
            for x in left as usize..right as usize {
                self.cover((x as i32, y as i32), ink, 1.0);
            }
        }
    }

    /// Writes from a point on the base line to the right; returns where the text ends.
    fn write(&mut self, (left, base): (f32, f32), size: f32, ink: u8, text: &str) -> f32 {
        let mut at = left;
        for letter in text.chars() {
            let font = self.font.as_scaled(size);
            let glyph = known(&self.font, letter);
            let advance = font.h_advance(glyph);
            let outline = self.font.outline_glyph(glyph.with_scale_and_position(size, point(at, base)));
            if let Some(outline) = outline {
                let corner = outline.px_bounds().min;
                let mut drawn = Vec::new();
                outline.draw(|x, y, cover| drawn.push((x, y, cover)));
                for (x, y, cover) in drawn {
                    self.cover((corner.x as i32 + x as i32, corner.y as i32 + y as i32), ink, cover);
                }
            }
            at += advance;
        }
        at
    }

    /// Writes so that the text ends at a point.
    fn write_before(&mut self, (right, base): (f32, f32), size: f32, ink: u8, text: &str) {
        self.write((right - self.width(text, size), base), size, ink, text);
    }

    fn width(&self, text: &str, size: f32) -> f32 {
        let font = self.font.as_scaled(size);
        text.chars().map(|letter| font.h_advance(known(&self.font, letter))).sum()
    }

    /// Returns as much of a text as has room.
    fn fitting(&self, text: &str, size: f32, room: f32) -> String {
        if self.width(text, size) <= room {
            return text.to_owned();
        }
        let mut shown = text.to_owned();
        while !shown.is_empty() && self.width(&format!("{shown}…"), size) > room {
            shown.pop();
        }
        format!("{}…", shown.trim_end())
    }

    /// Covers a share of a pixel, where nothing covers more.
    fn cover(&mut self, (x, y): (i32, i32), ink: u8, share: f32) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
        if x >= SIZE.0 || y >= SIZE.1 {
            return;
        }
        let step = (share.clamp(0.0, 1.0) * f32::from(STEPS - 1)).round() as u8;
        let pixel = &mut self.pixels[(y * SIZE.0 + x) as usize];
        if step > *pixel % STEPS {
            *pixel = ink * STEPS + step;
        }
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, SIZE.0, SIZE.1);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette());
        encoder.set_depth(png::BitDepth::Eight);
        // Of flat colours the rows themselves are the smallest.
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header().context("a picture cannot be encoded")?;
        writer.write_image_data(&self.pixels).context("a picture cannot be encoded")?;
        writer.finish().context("a picture cannot be encoded")?;
        Ok(bytes)
    }
}

/// The colours of every ink at every step, from the paper to the ink.
fn palette() -> Vec<u8> {
    let mixed = |paper: u8, ink: u8, step: u8| {
        let share = f32::from(step) / f32::from(STEPS - 1);
        (f32::from(paper) + (f32::from(ink) - f32::from(paper)) * share).round() as u8
    };
    let colour = |(ink, step): (usize, u8)| (0..3).map(move |part| mixed(PAPER[part], INKS[ink][part], step));
    (0..INKS.len()).flat_map(|ink| (0..STEPS).map(move |step| (ink, step))).flat_map(colour).collect()
}

/// A letter of the font, or the question mark in its place.
fn known(font: &FontRef<'_>, letter: char) -> ab_glyph::GlyphId {
    match font.glyph_id(letter) {
        missing if missing.0 == 0 => font.glyph_id('?'),
        glyph => glyph,
    }
}
