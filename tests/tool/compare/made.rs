//! Runs that are made up, and what is asked of them.

use std::path::PathBuf;

use analysis::Results;
use catalogue::{Catalogue, Metric};
use journal::{
    Build, Cell, Copy, End, Ended, Fact, Frame, Journal, Key, Procedure, Record, Recorder, Run,
    Schedule, Trial, Writer,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use testing::{Place, stderr, stdout};

/// Noise as a shared machine has it: 1 % about, and stalls that only slow.
fn noise(random: &mut Pcg64Mcg) -> f64 {
    let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let stall = if random.random::<f64>() < 0.1 { -0.2 * random.random::<f64>() } else { 0.0 };
    0.01 * sum + stall
}

/// A run that is made up.
pub struct Made {
    pub journal: Journal,
    random: Pcg64Mcg,
}

impl Made {
    pub fn new(name: &str, seed: u64) -> Made {
        let build = Build {
            name: "native".to_owned(),
            compiler: "cc 12".to_owned(),
            flags: "-O3".to_owned(),
            hash: "0123456789abcdef".to_owned(),
        };
        let run = Run {
            format: "unixmark-run/1".to_owned(),
            name: name.to_owned(),
            host: "vm".to_owned(),
            tool: "unixmark 0.1.0".to_owned(),
            started: format!("2026-11-21T{:02}:00:00Z", seed % 24),
            procedure: Procedure::Standard,
            cpus: 2,
            build: Some(build),
            ..Run::default()
        };
        let end = Some(End { reason: Ended::Complete, seconds: 60.0 });
        Made {
            journal: Journal { run, end, ..Journal::default() },
            random: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    fn cell(&mut self, test: &str, metric: Metric, unit: &str, load: &str) -> usize {
        let id = self.journal.cells.len();
        self.journal.cells.push(Cell {
            id,
            key: Key {
                test: test.to_owned(),
                copies: 1,
                load: load.to_owned(),
                condition: "none".to_owned(),
            },
            label: format!("Test of {test}"),
            metric,
            unit: unit.to_owned(),
            timebase: 1.0,
            scale: 1.0,
            category: "system".to_owned(),
            ..Cell::default()
        });
        id
    }

    /// A rate of about `rate` in `trials` trials.
    pub fn rate(mut self, test: &str, rate: f64, trials: u32) -> Made {
        let cell = self.cell(test, Metric::Rate, "lps", "none");
        for block in 0..trials {
            let count = (rate * noise(&mut self.random).exp()).round() as u64;
            let copies =
                vec![Copy { slices: vec![[0, 1_000_000_000, count].into()], ..Copy::default() }];
            self.journal.trials.push(Trial {
                cell,
                block,
                at: f64::from(block),
                copies,
                ..Trial::default()
            });
        }
        self
    }

    /// An interactive test: wakes `late` µs late about, and its frames take `work` of the 10 ms
    /// they have.
    pub fn latency(mut self, load: &str, late: f64, work: u64, frames: u64, trials: u32) -> Made {
        let cell = self.cell("audio", Metric::Latency, "ms", load);
        for block in 0..trials {
            let mut recorder = Recorder::new(Schedule {
                period: 10_000_000,
                deadline: 10_000_000,
                planned: frames,
                ..Schedule::default()
            });
            for number in 0..frames {
                let planned = number * 10_000_000;
                let wait = (late * 1e3 * (1.0 - self.random.random::<f64>()).ln().abs()) as u64;
                let done =
                    (number % 50 != 0 || work < 9).then_some(planned + wait + work * 1_000_000);
                recorder.add(Frame { planned, sent: planned, woke: planned + wait, done });
            }
            let copies =
                vec![Copy { frames: Some(Box::new(recorder.finish(None))), ..Copy::default() }];
            self.journal.trials.push(Trial {
                cell,
                block,
                at: f64::from(block),
                copies,
                ..Trial::default()
            });
        }
        self
    }

    pub fn without(mut self, test: &str, skip: Option<&str>, error: Option<&str>) -> Made {
        let cell = self.cell(test, Metric::Rate, "lps", "none");
        let (skip, error) = (skip.map(str::to_owned), error.map(str::to_owned));
        self.journal.trials.push(Trial { cell, skip, error, ..Trial::default() });
        self
    }

    pub fn fact(mut self, name: &str, value: &str) -> Made {
        let label = name.rsplit('.').next().unwrap().to_owned();
        let (name, group, value) = (name.to_owned(), "Kernel".to_owned(), value.to_owned());
        self.journal.facts.push(Fact::from_text(name, label, group, value));
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Journal)) -> Made {
        change(&mut self.journal);
        self
    }

    pub fn results(&self) -> Results {
        Results::new(&self.journal, &Catalogue::load().unwrap(), None)
    }

    /// Writes it among the results of `place`.
    pub fn write(&self, place: &Place) -> PathBuf {
        let folder = place.results().join(&self.journal.run.name);
        std::fs::create_dir_all(&folder).unwrap();
        let mut writer = Writer::create(&folder).unwrap();
        let Journal { run, facts, cells, trials, warnings, end, .. } = self.journal.clone();
        let mut records = vec![Record::Run(Box::new(run))];
        records.extend(facts.into_iter().map(Record::Fact));
        records.extend(cells.into_iter().map(|cell| Record::Cell(Box::new(cell))));
        records.extend(trials.into_iter().map(|trial| Record::Trial(Box::new(trial))));
        records.extend(warnings.into_iter().map(Record::Warning));
        records.extend(end.map(Record::End));
        records.iter().for_each(|record| writer.append(record).unwrap());
        folder
    }
}

pub fn place(runs: &[Made]) -> Place {
    let place = Place::new();
    runs.iter().for_each(|run| drop(run.write(&place)));
    place
}

/// Adds three runs, earlier than all others, so that it is known what runs of their kind differ by.
pub fn earlier(of: impl Fn(Made) -> Made, place: &Place) {
    for (name, seed) in [("e1", 24), ("e2", 48), ("e3", 72)] {
        of(Made::new(name, seed)).write(place);
    }
}

pub fn json(place: &Place, words: &str) -> Value {
    let output = place.unixmark(&format!("compare --format json {words}")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

pub fn text(place: &Place, words: &str) -> String {
    stdout(&place.unixmark(&format!("compare {words}")).output().unwrap())
}

/// The comparison of a test's measure.
pub fn of<'a>(json: &'a Value, test: &str, measure: &str) -> &'a Value {
    let all = json["comparisons"].as_array().unwrap();
    all.iter()
        .find(|one| one["test"] == test && one["measure"] == measure)
        .unwrap_or_else(|| panic!("{test} {measure}"))
}
