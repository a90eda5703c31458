//! A burn-in in progress: a table in place on a terminal, plain lines elsewhere; faults at once.

use std::collections::BTreeMap;

use anyhow::Result;

use super::screen::{BurnInScreen, Screen};
use super::{Loudness, StatusLine, say};
use journal::{BurnIn, Burned, Pass, Reading, Sample, SensorKind};
use measure::Observer;
use runner::BurnEvent;
use words::bytes as show_bytes;
use words::{bytes_per_second as speed, duration as time};

/// Seconds between plain lines.
const BETWEEN: f64 = 10.0;

/// Processors on one line of the table, and lines of them.
const ON_LINE: usize = 8;
const LINES: usize = 4;

/// Temperatures and powers that the table has room for.
const SENSORS: usize = 8;

/// The display of a burn-in.
pub(crate) struct BurnInDisplay {
    plan: BurnIn,
    loudness: Loudness,
    /// True if the whole terminal is drawn on.
    whole: bool,
    /// Lines that are rewritten in place.
    table: Option<StatusLine>,
    /// The whole terminal, with --watch.
    screen: Option<Box<(Screen, BurnInScreen)>>,
    state: State,
    /// The second of the last plain line.
    printed: f64,
}

/// The state so far.
#[derive(Default)]
struct State {
    resting: bool,
    at: f64,
    sensors: Reading,
    first: Reading,
    /// By thread: its processor, its clock, its pieces of work per second, its last beat, its wrong results.
    threads: BTreeMap<u32, Thread>,
    /// Clock and work of the first seconds: sum and number.
    clock: (f64, f64),
    work: (f64, f64),
    stage: Option<journal::Stage>,
    faults: u64,
    last_pass: Option<Pass>,
}

#[derive(Default, Clone, Copy)]
struct Thread {
    cpu: u32,
    clock: f64,
    rate: f64,
    at: f64,
    wrong: u64,
}

impl BurnInDisplay {
    /// Returns the display of a burn-in on the `whole` terminal or in lines.
    pub(crate) fn new(plan: &BurnIn, loudness: Loudness, whole: bool) -> BurnInDisplay {
        let state = State::default();
        BurnInDisplay { plan: plan.clone(), loudness, whole, table: None, screen: None, state, printed: 0.0 }
    }
}

impl Observer for BurnInDisplay {
    fn began(&mut self, name: &str) -> Result<()> {
        if self.whole {
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
            BurnEvent::Fault(fault) => {
                let again = match (fault.is_gone(), fault.is_held()) {
                    (true, _) => "gone when read again",
                    (_, true) => "the same when read again",
                    _ => "different when read again",
                };
                let physical = fault.physical.map(|physical| format!(" (physical {physical})")).unwrap_or_default();
                self.say(&format!(
                    "fault: pass {}, {}: {} at {}{physical} instead of {}, {again}",
                    fault.pass, fault.pattern, fault.read, fault.address, fault.expected
                ));
            }
            BurnEvent::Pass(pass) => {
                self.state.last_pass = Some((*pass).clone());
                if self.loudness != Loudness::Quiet {
                    self.say(&summary(pass));
                }
            }
            BurnEvent::Warning(text) => self.warned(text),
            BurnEvent::Resting => {
                self.state.resting = true;
                if self.loudness != Loudness::Quiet && self.table.is_none() {
                    self.say(&format!("the work stops; resting for {}", time(self.plan.rest)));
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
            self.state.chart(burn);
            let (lines, done) = (self.state.lines(&self.plan), self.state.done(&self.plan));
            screen.draw(|size| burn.draw(size, &lines, done));
            return;
        }
        if let Some(table) = &mut self.table {
            table.set(self.state.lines(&self.plan));
        } else if self.plan.kind == Burned::Cooling && sample.at >= self.printed + BETWEEN - 0.5 {
            self.printed = sample.at;
            let line = self.state.one_line();
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
    /// Takes in a second; returns what must be shown at once.
    fn update(&mut self, sample: &Sample) -> Vec<String> {
        let mut messages = Vec::new();
        if sample.at == 0.0 {
            self.first = sample.sensors.clone();
        }
        self.at = sample.at;
        self.faults = sample.faults;
        if sample.sensors != Reading::default() {
            self.sensors = sample.sensors.clone();
        }
        for beat in &sample.beats {
            let thread = self.threads.entry(beat.thread).or_default();
            let passed = beat.at - thread.at;
            let rate = if passed > 0.2 { beat.count as f64 / passed } else { thread.rate };
            if beat.wrong > thread.wrong {
                let more = beat.wrong - thread.wrong;
                messages.push(format!("wrong: {more} on CPU {} in the second to {:.0} s", beat.cpu, beat.at));
            }
            *thread = Thread { cpu: beat.cpu, clock: beat.clock, rate, at: beat.at, wrong: beat.wrong };
            if (1.5..6.5).contains(&beat.at) {
                self.work = (self.work.0 + rate, self.work.1 + 1.0);
                if beat.clock > 0.0 {
                    self.clock = (self.clock.0 + beat.clock, self.clock.1 + 1.0);
                }
            }
        }
        messages
    }

    /// Gives this second's numbers to the charts.
    fn chart(&self, burn: &mut BurnInScreen) {
        if let Some((mean, _)) = self.clock() {
            burn.value("clock", "GHz", mean);
        }
        if let Some(share) = self.work().filter(|_| !self.resting) {
            burn.value("work", "% of the first seconds", share);
        }
        for (name, celsius) in &self.sensors.temperature {
            burn.value(name, "°C", *celsius);
        }
        for (name, watts) in &self.sensors.power {
            burn.value(name, "W", *watts);
        }
    }

    /// Returns the share that is done, 0 to 1: of the time, or of the pass.
    fn done(&self, plan: &BurnIn) -> f64 {
        match (plan.seconds, &self.stage) {
            (Some(seconds), _) => self.at / (seconds + plan.rest).max(1.0),
            (None, Some(stage)) => stage.done as f64 / stage.total.max(1) as f64,
            (None, None) => 0.0,
        }
    }

    /// The mean clock in GHz, and what it is of the first seconds', in per cent.
    fn clock(&self) -> Option<(f64, Option<f64>)> {
        let clocks: Vec<f64> = self.threads.values().map(|thread| thread.clock).filter(|clock| *clock > 0.0).collect();
        let mean = stats::mean(&clocks);
        (!clocks.is_empty()).then(|| (mean, share(mean, self.clock)))
    }

    fn work(&self) -> Option<f64> {
        let rates: Vec<f64> = self.threads.values().map(|thread| thread.rate).collect();
        share(stats::mean(rates), self.work)
    }

    fn wrong_results(&self) -> u64 {
        self.threads.values().map(|thread| thread.wrong).sum()
    }

    /// How often the machine reported throttling since the beginning; `None` if it does not report it.
    fn throttled(&self) -> Option<u64> {
        let rise = |(name, count): (&String, &u64)| {
            let kind = SensorKind::from_name(name);
            matches!(kind, SensorKind::Throttling | SensorKind::PowerLimit)
                .then(|| count.saturating_sub(self.first.count.get(name).copied().unwrap_or(*count)))
        };
        let rises: Vec<u64> = self.sensors.count.iter().filter_map(rise).collect();
        (!rises.is_empty()).then(|| rises.iter().sum())
    }

    /// A line for an output that is not a terminal.
    fn one_line(&self) -> String {
        let mut parts = vec![time(self.at)];
        if self.resting {
            parts.push("rest".to_owned());
        }
        parts.extend(self.clock().map(|(mean, share)| format!("clock {mean:.2} GHz{}", share_of_first(share))));
        if !self.resting {
            parts.extend(self.work().map(|share| format!("work {share:.1} %")));
        }
        parts.extend(self.sensors.hottest(None).map(|(name, celsius)| format!("{celsius:.0} °C {name}")));
        parts.extend(self.sensors.power.iter().next().map(|(name, watts)| format!("{watts:.0} W {name}")));
        parts.extend(
            self.throttled()
                .filter(|count| *count > 0)
                .map(|count| format!("throttled {}", words::count(count, "time"))),
        );
        parts.push(format!("{} wrong", self.wrong_results()));
        parts.join(", ")
    }

    /// The lines of the table.
    fn lines(&self, plan: &BurnIn) -> Vec<String> {
        let mut lines = vec![self.progress(plan)];
        match plan.kind {
            Burned::Cooling => {
                if let Some((mean, share)) = self.clock() {
                    lines.push(format!("clock           {mean:6.2} GHz{}", share_of_first(share)));
                }
                if let Some(share) = self.work().filter(|_| !self.resting) {
                    lines.push(format!("work            {share:6.1} % of the first seconds"));
                }
                lines.extend(self.processors());
                lines.push(format!("wrong results   {:6}", self.wrong_results()));
            }
            Burned::Memory => {
                lines.push(format!("faults          {:6}", self.faults));
                lines.extend(self.last_pass.as_ref().map(summary));
            }
        }
        for (values, unit) in [(&self.sensors.temperature, "°C"), (&self.sensors.power, "W")] {
            let line = |(name, value): (&String, &f64)| format!("{name:<24} {value:6.1} {unit}");
            lines.extend(values.iter().take(SENSORS).map(line));
        }
        lines.extend(self.throttled().map(|count| format!("throttled       {count:6} times")));
        lines
    }

    fn progress(&self, plan: &BurnIn) -> String {
        let whole = plan.seconds.map(|seconds| format!(" of {}", time(seconds))).unwrap_or_default();
        match &self.stage {
            Some(stage) => format!(
                "pass {}: {}, {:.0} % of {}, {}{whole}",
                stage.pass,
                stage.pattern,
                stage.done as f64 / stage.total.max(1) as f64 * 100.0,
                show_bytes(stage.total),
                time(self.at)
            ),
            None if self.resting => {
                format!("{} of rest left", time((plan.seconds.unwrap_or(0.0) + plan.rest - self.at).max(0.0)))
            }
            None => format!("{}{whole}", time(self.at)),
        }
    }

    /// The clock of every processor; if there are too many, the lowest and highest.
    fn processors(&self) -> Vec<String> {
        let threads: Vec<&Thread> = self.threads.values().filter(|thread| thread.clock > 0.0).collect();
        if threads.len() > ON_LINE * LINES {
            let clocks = threads.iter().map(|thread| thread.clock);
            let (least, most) = (clocks.clone().fold(f64::INFINITY, f64::min), clocks.fold(0.0, f64::max));
            return vec![format!("{} processors  {least:.2} to {most:.2} GHz", threads.len())];
        }
        let one = |thread: &&Thread| format!("{}:{:.2}", thread.cpu, thread.clock);
        let line =
            |part: &[&Thread]| format!("CPU             {}", part.iter().map(one).collect::<Vec<_>>().join("  "));
        threads.chunks(ON_LINE).map(line).collect()
    }
}

/// In per cent of the mean of the first seconds; `None` during these.
fn share(value: f64, (sum, number): (f64, f64)) -> Option<f64> {
    (number > 0.0 && sum > 0.0).then(|| value * number / sum * 100.0)
}

fn share_of_first(share: Option<f64>) -> String {
    share.map(|share| format!(" ({share:.1} % of the first seconds)")).unwrap_or_default()
}

/// `pass 1: 120.4 GiB in 62 s, 1.9 GiB/s, 0 faults`.
fn summary(pass: &Pass) -> String {
    let faults = words::count(pass.faults, "fault");
    let (bytes, took, rate) = (show_bytes(pass.bytes), time(pass.seconds), speed(pass.rate()));
    format!("pass {}: {bytes} in {took}, {rate}, {faults}", pass.pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Beat, Stage};

    fn beat(thread: u32, at: f64, clock: f64, wrong: u64) -> Beat {
        Beat { thread, cpu: thread + 4, at, count: 100, clock, wrong }
    }

    #[test]
    fn a_table_of_processors() {
        let mut state = State::default();
        for second in 1..=10_u32 {
            let at = f64::from(second);
            let clock = if second > 8 { 3.0 } else { 4.0 };
            let mut sample =
                Sample { at, beats: vec![beat(0, at, clock, 0), beat(1, at, clock, 0)], ..Sample::default() };
            sample.sensors.temperature.insert("coretemp Package id 0".to_owned(), 71.0);
            assert!(state.update(&sample).is_empty());
        }
        let asked = BurnIn { seconds: Some(300.0), ..BurnIn::default() };
        let lines = state.lines(&asked);
        assert_eq!(lines[0], "10 s of 5 min 0 s");
        assert_eq!(lines[1], "clock             3.00 GHz (75.0 % of the first seconds)");
        assert_eq!(lines[3], "CPU             4:3.00  5:3.00");
        assert!(lines.iter().any(|line| line.starts_with("coretemp Package id 0") && line.ends_with("71.0 °C")));
        let line =
            "10 s, clock 3.00 GHz (75.0 % of the first seconds), work 100.0 %, 71 °C coretemp Package id 0, 0 wrong";
        assert_eq!(state.one_line(), line);
        let wrong = Sample { at: 11.0, beats: vec![beat(1, 11.0, 3.0, 2)], ..Sample::default() };
        assert_eq!(state.update(&wrong), ["wrong: 2 on CPU 5 in the second to 11 s"]);
    }

    #[test]
    fn a_table_of_memory() {
        let stage = Stage { pass: 2, pattern: "random".to_owned(), done: 1 << 30, total: 4 << 30 };
        let state = State { stage: Some(stage), at: 61.0, faults: 3, ..State::default() };
        let lines = state.lines(&BurnIn { kind: Burned::Memory, ..BurnIn::default() });
        assert_eq!(lines[0], "pass 2: random, 25 % of 4 GiB, 1 min 1 s");
        assert_eq!(lines[1], "faults               3");
    }
}
