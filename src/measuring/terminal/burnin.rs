//! A burn-in in progress: a table in place on a terminal, plain lines elsewhere; faults at once.

use std::collections::BTreeMap;

use anyhow::Result;

use super::screen::{BurnInScreen, Screen};
use super::{Loudness, StatusLine, say};
use journal::{Beat, BurnIn, Burned, Fault, Pass, Reading, Sample, SensorKind};
use measure::Observer;
use runner::BurnEvent;
use words::{bytes as show_bytes, bytes_per_second as show_rate, duration as show_time};

/// Seconds between plain lines.
const LINE_INTERVAL_SECONDS: f64 = 10.0;

/// Processors on one line of the table, and lines of them.
const PROCESSORS_PER_LINE: usize = 8;
const MAX_PROCESSOR_LINES: usize = 4;

/// Temperatures and powers that the table has room for.
const MAX_SENSORS: usize = 8;

/// The seconds whose clock and work later ones are compared with.
const FIRST_SECONDS: std::ops::Range<f64> = 1.5..6.5;

/// A beat that comes sooner after the last has no rate of its own.
const MIN_BEAT_SECONDS: f64 = 0.2;

/// The display of a burn-in.
pub(crate) struct BurnInDisplay {
    plan: BurnIn,
    loudness: Loudness,
    /// True if the whole terminal is drawn on.
    is_whole: bool,
    /// Lines that are rewritten in place.
    table: Option<StatusLine>,
    /// The whole terminal, with --watch.
    screen: Option<Box<(Screen, BurnInScreen)>>,
    state: State,
    /// The second of the last plain line.
    printed_at: f64,
}

/// The state so far.
#[derive(Default)]
struct State {
    resting: bool,
    at: f64,
    sensors: Reading,
    first: Reading,
    threads: BTreeMap<u32, Thread>,
    /// Clock and work of the threads in the first seconds.
    first_clock: Sum,
    first_work: Sum,
    stage: Option<journal::Stage>,
    faults: u64,
    last_pass: Option<Pass>,
}

/// A thread by its last beat.
#[derive(Default, Clone, Copy)]
struct Thread {
    cpu: u32,
    /// In GHz; 0 if it is not measured.
    clock: f64,
    /// Pieces of work per second.
    rate: f64,
    at: f64,
    /// Wrong results since the beginning.
    wrong: u64,
}

/// A sum of values, and their number.
#[derive(Default, Clone, Copy)]
struct Sum {
    sum: f64,
    count: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    /// A value in per cent of the mean; `None` while there is none.
    fn percent_of_mean(self, value: f64) -> Option<f64> {
        (self.count > 0.0 && self.sum > 0.0).then(|| value * self.count / self.sum * 100.0)
    }
}

impl BurnInDisplay {
    /// The display of a burn-in, on the whole terminal or in lines.
    pub(crate) fn new(plan: &BurnIn, loudness: Loudness, is_whole: bool) -> BurnInDisplay {
        BurnInDisplay {
            plan: plan.clone(),
            loudness,
            is_whole,
            table: None,
            screen: None,
            state: State::default(),
            printed_at: 0.0,
        }
    }
}

impl Observer for BurnInDisplay {
    fn began(&mut self, name: &str) -> Result<()> {
        if self.is_whole {
            self.screen = Some(Box::new((Screen::take()?, BurnInScreen::new(name))));
        } else if self.loudness != Loudness::Quiet {
            self.table = StatusLine::new();
        }
        Ok(())
    }

    fn warned(&mut self, text: &str) {
        if self.loudness != Loudness::Quiet {
            self.say(&format!("warning: {text}"));
        }
    }

    fn burned(&mut self, event: &BurnEvent<'_>) {
        match event {
            BurnEvent::Begin(command) if self.loudness == Loudness::Verbose => self.say(command),
            BurnEvent::Begin(_) => {}
            BurnEvent::Second(sample) => self.show_second(sample),
            BurnEvent::Stage(stage) => self.state.stage = Some((*stage).clone()),
            // Even if the display is quiet.
            BurnEvent::Fault(fault) => self.say(&describe_fault(fault)),
            BurnEvent::Pass(pass) => {
                self.state.last_pass = Some((*pass).clone());
                if self.loudness != Loudness::Quiet {
                    self.say(&summarise_pass(pass));
                }
            }
            BurnEvent::Warning(text) => self.warned(text),
            BurnEvent::Resting => {
                self.state.resting = true;
                // A table in place counts the rest down instead.
                if self.loudness != Loudness::Quiet && self.table.is_none() {
                    let rest = show_time(self.plan.rest);
                    self.say(&format!("the work stops; resting for {rest}"));
                }
            }
        }
    }
}

impl BurnInDisplay {
    fn show_second(&mut self, sample: &Sample) {
        for message in self.state.update(sample) {
            self.say(&message);
        }
        if self.loudness == Loudness::Quiet {
            return;
        }

        if let Some(both) = &mut self.screen {
            let (screen, burn) = &mut **both;
            self.state.add_to_charts(burn);
            let lines = self.state.table_lines(&self.plan);
            let done = self.state.share_done(&self.plan);
            screen.draw(|size| burn.draw(size, &lines, done));
            return;
        }
        if let Some(table) = &mut self.table {
            table.set(self.state.table_lines(&self.plan));
            return;
        }
        // Samples come each second, a little early or late.
        let is_due = sample.at >= self.printed_at + LINE_INTERVAL_SECONDS - 0.5;
        if self.plan.kind != Burned::Memory && is_due {
            self.printed_at = sample.at;
            let line = self.state.plain_line();
            self.say(&line);
        }
    }

    fn say(&mut self, text: &str) {
        match (&mut self.screen, &mut self.table) {
            (Some(both), _) => both.1.say(text.to_owned()),
            (None, Some(table)) => table.say(text),
            (None, None) => say(text),
        }
    }
}

impl State {
    /// Takes in a second; returns messages on wrong results, which are shown at once.
    fn update(&mut self, sample: &Sample) -> Vec<String> {
        if sample.at == 0.0 {
            self.first = sample.sensors.clone();
        }
        self.at = sample.at;
        self.faults = sample.faults;
        if sample.sensors != Reading::default() {
            self.sensors = sample.sensors.clone();
        }

        let mut messages = Vec::new();
        for beat in &sample.beats {
            messages.extend(self.add_beat(beat));
        }
        messages
    }

    /// Takes in the beat of a thread; returns a message if it has new wrong results.
    fn add_beat(&mut self, beat: &Beat) -> Option<String> {
        let thread = self.threads.entry(beat.thread).or_default();
        let passed = beat.at - thread.at;
        let rate = if passed > MIN_BEAT_SECONDS { beat.count as f64 / passed } else { thread.rate };
        let more_wrong = beat.wrong.saturating_sub(thread.wrong);
        *thread = Thread { cpu: beat.cpu, clock: beat.clock, rate, at: beat.at, wrong: beat.wrong };

        if FIRST_SECONDS.contains(&beat.at) {
            self.first_work.add(rate);
            if beat.clock > 0.0 {
                self.first_clock.add(beat.clock);
            }
        }
        (more_wrong > 0).then(|| {
            format!("wrong: {more_wrong} on CPU {} in the second to {:.0} s", beat.cpu, beat.at)
        })
    }

    /// Gives this second's numbers to the charts.
    fn add_to_charts(&self, burn: &mut BurnInScreen) {
        if let Some(ghz) = self.mean_clock() {
            burn.value("clock", "GHz", ghz);
        }
        if let Some(percent) = self.work_percent().filter(|_| !self.resting) {
            burn.value("work", "% of the first seconds", percent);
        }
        for (name, celsius) in &self.sensors.temperature {
            burn.value(name, "°C", *celsius);
        }
        for (name, watts) in &self.sensors.power {
            burn.value(name, "W", *watts);
        }
    }

    /// The share that is done, 0 to 1: of the time, or of the pass.
    fn share_done(&self, plan: &BurnIn) -> f64 {
        match (plan.seconds, &self.stage) {
            (Some(seconds), _) => self.at / (seconds + plan.rest).max(1.0),
            (None, Some(stage)) => stage.done as f64 / stage.total.max(1) as f64,
            (None, None) => 0.0,
        }
    }

    /// The clocks in GHz of the threads that measure them.
    fn clocks(&self) -> Vec<f64> {
        self.threads.values().map(|thread| thread.clock).filter(|clock| *clock > 0.0).collect()
    }

    fn mean_clock(&self) -> Option<f64> {
        let clocks = self.clocks();
        (!clocks.is_empty()).then(|| stats::mean(&clocks))
    }

    /// The mean clock, and its share of the first seconds': `3.00 GHz (75.0 % of the first
    /// seconds)`. The number is `width` columns wide, or wider.
    fn show_clock(&self, width: usize) -> Option<String> {
        let ghz = self.mean_clock()?;
        let share = match self.first_clock.percent_of_mean(ghz) {
            Some(percent) => format!(" ({percent:.1} % of the first seconds)"),
            None => String::new(),
        };
        Some(format!("{ghz:width$.2} GHz{share}"))
    }

    /// The mean rate of work in per cent of the first seconds'.
    fn work_percent(&self) -> Option<f64> {
        let rates: Vec<f64> = self.threads.values().map(|thread| thread.rate).collect();
        self.first_work.percent_of_mean(stats::mean(rates))
    }

    fn wrong_results(&self) -> u64 {
        self.threads.values().map(|thread| thread.wrong).sum()
    }

    /// The number of times that the machine reported throttling since the beginning; `None` if it
    /// does not report it.
    fn throttled(&self) -> Option<u64> {
        let mut throttled = None;
        for (name, count) in &self.sensors.count {
            let kind = SensorKind::from_name(name);
            if matches!(kind, SensorKind::Throttling | SensorKind::PowerLimit) {
                let first = self.first.count.get(name).copied().unwrap_or(*count);
                *throttled.get_or_insert(0) += count.saturating_sub(first);
            }
        }
        throttled
    }

    /// A line for an output that is not a terminal.
    fn plain_line(&self) -> String {
        let mut parts = vec![show_time(self.at)];
        if self.resting {
            parts.push("rest".to_owned());
        }
        parts.extend(self.show_clock(0).map(|clock| format!("clock {clock}")));
        if !self.resting {
            parts.extend(self.work_percent().map(|percent| format!("work {percent:.1} %")));
        }
        if let Some((name, celsius)) = self.sensors.hottest(None) {
            parts.push(format!("{celsius:.0} °C {name}"));
        }
        if let Some((name, watts)) = self.sensors.power.iter().next() {
            parts.push(format!("{watts:.0} W {name}"));
        }
        if let Some(count) = self.throttled().filter(|count| *count > 0) {
            parts.push(format!("throttled {}", words::count(count, "time")));
        }
        parts.push(format!("{} wrong", self.wrong_results()));
        parts.join(", ")
    }

    /// The lines of the table, the progress first.
    fn table_lines(&self, plan: &BurnIn) -> Vec<String> {
        let mut lines = vec![self.progress(plan)];
        match plan.kind {
            Burned::Cooling | Burned::Burst => {
                lines.extend(self.show_clock(6).map(|clock| format!("clock           {clock}")));
                if let Some(percent) = self.work_percent().filter(|_| !self.resting) {
                    lines.push(format!("work            {percent:6.1} % of the first seconds"));
                }
                lines.extend(self.processor_lines());
                lines.push(format!("wrong results   {:6}", self.wrong_results()));
            }
            Burned::Memory => {
                lines.push(format!("faults          {:6}", self.faults));
                lines.extend(self.last_pass.as_ref().map(summarise_pass));
            }
        }
        for (values, unit) in [(&self.sensors.temperature, "°C"), (&self.sensors.power, "W")] {
            for (name, value) in values.iter().take(MAX_SENSORS) {
                lines.push(format!("{name:<24} {value:6.1} {unit}"));
            }
        }
        lines.extend(self.throttled().map(|count| format!("throttled       {count:6} times")));
        lines
    }

    /// The pass or the time that is over, of the whole.
    fn progress(&self, plan: &BurnIn) -> String {
        let now = show_time(self.at);
        let whole = plan.seconds.map(|seconds| format!(" of {}", show_time(seconds)));
        let whole = whole.unwrap_or_default();
        match &self.stage {
            Some(stage) => format!(
                "pass {}: {}, {:.0} % of {}, {now}{whole}",
                stage.pass,
                stage.pattern,
                stage.done as f64 / stage.total.max(1) as f64 * 100.0,
                show_bytes(stage.total)
            ),
            None if self.resting => {
                let left = (plan.seconds.unwrap_or(0.0) + plan.rest - self.at).max(0.0);
                format!("{} of rest left", show_time(left))
            }
            None => format!("{now}{whole}"),
        }
    }

    /// The clock of every processor; if there are too many, the lowest and highest.
    fn processor_lines(&self) -> Vec<String> {
        let clocks = self.clocks();
        if clocks.len() > PROCESSORS_PER_LINE * MAX_PROCESSOR_LINES {
            let min = clocks.iter().copied().fold(f64::INFINITY, f64::min);
            let max = clocks.iter().copied().fold(0.0, f64::max);
            return vec![format!("{} processors  {min:.2} to {max:.2} GHz", clocks.len())];
        }

        let mut fields = Vec::new();
        for Thread { cpu, clock, .. } in self.threads.values() {
            if *clock > 0.0 {
                fields.push(format!("{cpu}:{clock:.2}"));
            }
        }
        fields
            .chunks(PROCESSORS_PER_LINE)
            .map(|fields| format!("CPU             {}", fields.join("  ")))
            .collect()
    }
}

/// A wrong word of memory, and whether it was wrong when it was read again.
fn describe_fault(fault: &Fault) -> String {
    let again = match (fault.is_gone(), fault.is_held()) {
        (true, _) => "gone when read again",
        (_, true) => "the same when read again",
        _ => "different when read again",
    };
    let physical = fault.physical.as_ref().map(|physical| format!(" (physical {physical})"));
    format!(
        "fault: pass {}, {}: {} at {}{} instead of {}, {again}",
        fault.pass,
        fault.pattern,
        fault.read,
        fault.address,
        physical.unwrap_or_default(),
        fault.expected
    )
}

/// `pass 1: 120.4 GiB in 62 s, 1.9 GiB/s, 0 faults`.
fn summarise_pass(pass: &Pass) -> String {
    let faults = words::count(pass.faults, "fault");
    let (bytes, time) = (show_bytes(pass.bytes), show_time(pass.seconds));
    format!("pass {}: {bytes} in {time}, {}, {faults}", pass.pass, show_rate(pass.rate()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Stage;

    fn beat(thread: u32, at: f64, clock: f64, wrong: u64) -> Beat {
        Beat { thread, cpu: thread + 4, at, count: 100, clock, wrong }
    }

    #[test]
    fn a_table_of_processors() {
        let mut state = State::default();
        for second in 1..=10_u32 {
            let at = f64::from(second);
            let clock = if second > 8 { 3.0 } else { 4.0 };
            let mut sample = Sample {
                at,
                beats: vec![beat(0, at, clock, 0), beat(1, at, clock, 0)],
                ..Sample::default()
            };
            sample.sensors.temperature.insert("coretemp Package id 0".to_owned(), 71.0);
            assert!(state.update(&sample).is_empty());
        }
        let asked = BurnIn { seconds: Some(300.0), ..BurnIn::default() };
        let lines = state.table_lines(&asked);
        assert_eq!(lines[0], "10 s of 5 min 0 s");
        assert_eq!(lines[1], "clock             3.00 GHz (75.0 % of the first seconds)");
        assert_eq!(lines[3], "CPU             4:3.00  5:3.00");
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("coretemp Package id 0") && line.ends_with("71.0 °C"))
        );
        let line = "10 s, clock 3.00 GHz (75.0 % of the first seconds), work 100.0 %, 71 °C coretemp Package id 0, 0 wrong";
        assert_eq!(state.plain_line(), line);
        let wrong = Sample { at: 11.0, beats: vec![beat(1, 11.0, 3.0, 2)], ..Sample::default() };
        assert_eq!(state.update(&wrong), ["wrong: 2 on CPU 5 in the second to 11 s"]);
    }

    #[test]
    fn a_table_of_memory() {
        let stage = Stage { pass: 2, pattern: "random".to_owned(), done: 1 << 30, total: 4 << 30 };
        let state = State { stage: Some(stage), at: 61.0, faults: 3, ..State::default() };
        let lines = state.table_lines(&BurnIn { kind: Burned::Memory, ..BurnIn::default() });
        assert_eq!(lines[0], "pass 2: random, 25 % of 4 GiB, 1 min 1 s");
        assert_eq!(lines[1], "faults               3");
    }
}
