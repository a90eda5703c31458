//! A burn-in on the whole terminal: what is known by now, and clock and temperature over time.

use super::{Line, Messages, Size, arrange, heading};

/// Seconds that charts remember: more than a terminal has columns.
const LONGEST: usize = 1000;

/// A row of a chart, filled from nothing to the whole.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The screen of a burn-in.
#[derive(Default)]
pub(crate) struct BurnInScreen {
    title: String,
    messages: Messages,
    charts: Vec<Chart>,
}

/// A number second by second.
struct Chart {
    name: String,
    unit: &'static str,
    values: Vec<f64>,
}

impl BurnInScreen {
    /// Begins to watch the run `title`.
    pub(crate) fn new(title: &str) -> BurnInScreen {
        BurnInScreen { title: title.to_owned(), ..BurnInScreen::default() }
    }

    /// Keeps a message on the screen.
    pub(crate) fn say(&mut self, text: String) {
        self.messages.add(text);
    }

    /// Adds this second's value to the chart `name`.
    pub(crate) fn value(&mut self, name: &str, unit: &'static str, value: f64) {
        let place = match self.charts.iter().position(|chart| chart.name == name) {
            Some(place) => place,
            None => {
                self.charts.push(Chart { name: name.to_owned(), unit, values: Vec::new() });
                self.charts.len() - 1
            }
        };
        let values = &mut self.charts[place].values;
        values.push(value);
        if values.len() > LONGEST {
            values.remove(0);
        }
    }

    /// Draws the whole screen: `lines` as they are, and a share of 0 to 1 that is done.
    pub(crate) fn draw(&self, size: Size, lines: &[String], done: f64) -> Vec<Line> {
        let label = lines.first().map_or("", String::as_str);
        let mut head = heading(&self.title, done, label);
        head.extend(lines.iter().skip(1).map(|line| Line::plain(line.as_str())));
        arrange(size.rows, head, |rows| self.charts(size.columns, rows), self.messages.lines())
    }

    /// Returns as many charts as there is room for, each with a line of its own above it.
    fn charts(&self, columns: usize, rows: usize) -> Vec<Line> {
        let count = (rows / 3).min(self.charts.len());
        let height = rows.checked_div(count).unwrap_or(0);
        self.charts[..count].iter().flat_map(|chart| chart.lines(columns, height)).collect()
    }
}

impl Chart {
    fn range(&self) -> (f64, f64) {
        self.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    }

    /// Returns a title, and below it a bar for each of the last seconds.
    fn lines(&self, columns: usize, height: usize) -> Vec<Line> {
        let (low, high) = self.range();
        let title = format!("{}: {low:.2} to {high:.2} {}", self.name, self.unit);
        let rows = height.saturating_sub(1);
        let bars = self.bars(columns);
        let row = |below: usize| {
            let eighth =
                |bar: &u64| (*bar as usize * rows * 8 / 100).saturating_sub(below * 8).min(8);
            Line::plain(bars.iter().map(|bar| EIGHTHS[eighth(bar)]).collect::<String>())
        };
        std::iter::once(Line::dim(title)).chain((0..rows).rev().map(row)).collect()
    }

    /// The last values, from 10 for the lowest to 100 for the highest. The range is at least a
    /// tenth of the highest, so that noise does not look like a cliff.
    fn bars(&self, columns: usize) -> Vec<u64> {
        let (low, high) = self.range();
        let range = (high - low).max(high.abs() / 10.0).max(f64::MIN_POSITIVE);
        let last = &self.values[self.values.len().saturating_sub(columns)..];
        // From 10 to 100.
        last.iter().map(|value| (100.0 - 90.0 * (high - value) / range) as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    #[test]
    fn a_burn_in_at_80_columns() {
        let mut burn = BurnInScreen::new("vm-2026-11-21-01");
        for second in 0..40_i32 {
            burn.value("clock", "GHz", if second < 20 { 4.2 } else { 3.1 });
            burn.value("coretemp Package id 0", "°C", f64::from(50 + second));
        }
        burn.say("wrong: 1 on CPU 5 in the second to 11 s".to_owned());
        let lines = ["40 s of 5 min 0 s".to_owned(), "clock             3.10 GHz".to_owned()];
        insta::assert_snapshot!(plain(&burn.draw(Size { columns: 80, rows: 14 }, &lines, 0.13)));
    }
}
