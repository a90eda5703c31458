//! A burn-in on the whole terminal: what is known by now, and clock and temperature over time.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Sparkline};

use super::{Messages, heading};

/// Seconds that charts remember: more than a terminal has columns.
const LONGEST: usize = 1000;

/// What is drawn during a burn-in.
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
    pub(crate) fn draw(&self, frame: &mut Frame<'_>, lines: &[String], done: f64) {
        let text = u16::try_from(lines.len().saturating_sub(1)).unwrap_or(u16::MAX);
        let parts = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(text),
            Constraint::Min(0),
            Constraint::Length(self.messages.height()),
        ]);
        let [head, table, charts, notes] = parts.areas(frame.area());
        let label = lines.first().cloned().unwrap_or_default();
        heading(frame, head, &self.title, done, label);
        let rest: Vec<Line<'_>> = lines.iter().skip(1).map(|line| Line::from(line.as_str())).collect();
        frame.render_widget(Paragraph::new(rest), table);
        self.charts(frame, charts);
        self.messages.draw(frame, notes);
    }

    /// As many charts as there is room for, each with a line of its own above it.
    fn charts(&self, frame: &mut Frame<'_>, area: Rect) {
        let room = usize::from(area.height / 3).min(self.charts.len());
        if room == 0 {
            return;
        }
        let height = area.height / u16::try_from(room).unwrap_or(1);
        for (number, chart) in (0..).zip(&self.charts[..room]) {
            let own = Rect { y: area.y + number * height, height, ..area };
            let [title, bars] = Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(own);
            frame.render_widget(chart.title().dim(), title);
            frame.render_widget(Sparkline::default().data(chart.bars(usize::from(area.width))).max(100), bars);
        }
    }
}

impl Chart {
    fn range(&self) -> (f64, f64) {
        self.values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
    }

    fn title(&self) -> Line<'_> {
        let (low, high) = self.range();
        Line::from(format!("{}: {low:.2} to {high:.2} {}", self.name, self.unit))
    }

    /// The last values, from 10 for the lowest to 100 for the highest. The range is at least a tenth
    /// of the highest, so that noise does not look like a cliff.
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
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

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
        let mut terminal = Terminal::new(TestBackend::new(80, 14)).unwrap();
        terminal.draw(|frame| burn.draw(frame, &lines, 0.13)).unwrap();
        insta::assert_snapshot!(terminal.backend().to_string());
    }
}
