//! Journals in a results directory, and years of runs on many hosts, made of recorded ones: what is
//! planted in them is known exactly.

use std::path::PathBuf;

use serde_json::{Value, json};
use testing::Place;

/// A compiler for made-up runs that do not differ in it.
pub const GCC: &str = "cc (Debian 12.2.0-14) 12.2.0";

/// Writes a journal into the results directory; returns its path.
pub fn add_journal(place: &Place, name: &str, journal: &str) -> PathBuf {
    let folder = place.results().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("run.jsonl"), journal).unwrap();
    folder.join("run.jsonl")
}

/// A journal to make others of.
pub struct Recorded(Vec<Value>);

/// What is different in a run that is made.
pub struct Made<'a> {
    pub host: &'a str,
    /// RFC 3339.
    pub started: &'a str,
    /// They replace recorded ones, or are added.
    pub facts: &'a [(&'a str, &'a str)],
    /// The rate of a test as a multiple of the recorded one, by its name, condition and block.
    pub factor: &'a dyn Fn(&str, &str, u64) -> f64,
    pub compiler: &'a str,
    /// The fleet run it is part of.
    pub fleet: Option<&'a str>,
}

impl Recorded {
    /// Reads a recorded journal: the cells with one copy, numbered anew, their first `blocks` blocks,
    /// and no warnings.
    pub fn read(path: &str, blocks: u64) -> Recorded {
        let path = testing::file(path);
        let text = std::fs::read_to_string(path).unwrap();
        let mut ids: Vec<u64> = Vec::new();
        let mut lines = Vec::new();
        for mut line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let is_wanted = match line["type"].as_str().unwrap() {
                "cell" => line["copies"] == 1,
                "trial" => {
                    ids.contains(&line["cell"].as_u64().unwrap())
                        && line["block"].as_u64().unwrap() < blocks
                }
                kind => kind != "warning",
            };
            if is_wanted && line["type"] == "cell" {
                ids.push(line["id"].as_u64().unwrap());
                line["id"] = json!(ids.len() - 1);
            } else if is_wanted && line["type"] == "trial" {
                let id = line["cell"].as_u64().unwrap();
                line["cell"] = json!(ids.iter().position(|known| *known == id).unwrap());
            }
            if is_wanted {
                lines.push(line);
            }
        }
        Recorded(lines)
    }

    /// The journal as recorded, but for what `made` says.
    pub fn made(&self, made: &Made) -> String {
        let cells: Vec<&Value> = self.0.iter().filter(|line| line["type"] == "cell").collect();
        let mut text = String::new();
        for line in &self.0 {
            let mut line = line.clone();
            match line["type"].as_str().unwrap() {
                "run" => run(&mut line, made),
                "fact" => {
                    let name = line["name"].as_str().unwrap().to_owned();
                    if let Some((_, value)) = made.facts.iter().find(|(fact, _)| *fact == name) {
                        line["value"] = json!(value);
                    }
                }
                "trial" => {
                    let cell = cells[line["cell"].as_u64().unwrap() as usize];
                    let (test, condition) =
                        (cell["test"].as_str().unwrap(), cell["condition"].as_str().unwrap());
                    let factor = (made.factor)(test, condition, line["block"].as_u64().unwrap());
                    faster(&mut line, factor);
                }
                _ => {}
            }
            text += &(line.to_string() + "\n");
            if line["type"] == "run" {
                let known = |name: &str| self.0.iter().any(|line| line["name"] == name);
                for (name, value) in made.facts.iter().filter(|(name, _)| !known(name)) {
                    let fact = json!({"type": "fact", "name": name, "label": name, "group": "System", "value": value});
                    text += &(fact.to_string() + "\n");
                }
            }
        }
        text
    }
}

fn run(line: &mut Value, made: &Made) {
    line["host"] = json!(made.host);
    line["name"] = json!(format!("{}-{}-01", made.host, &made.started[..10]));
    line["started"] = json!(made.started);
    line["build"]["compiler"] = json!(made.compiler);
    line["build"]["hash"] = json!(format!("{:064x}", made.compiler.len()));
    if let Some(fleet) = made.fleet {
        line["fleet"] = json!({"run": fleet, "node": made.host, "task": "0", "attempt": 0});
    }
}

/// The same counts in less time, and what a program says of its own rate.
fn faster(trial: &mut Value, factor: f64) {
    for copy in trial.get_mut("copies").and_then(Value::as_array_mut).into_iter().flatten() {
        for slice in copy.get_mut("slices").and_then(Value::as_array_mut).into_iter().flatten() {
            for edge in 0..2 {
                slice[edge] = json!((slice[edge].as_f64().unwrap() / factor).round() as u64);
            }
        }
        let values = copy.get_mut("values").and_then(Value::as_object_mut);
        for number in
            values.into_iter().flat_map(|values| values.values_mut()).map(|value| &mut value[0])
        {
            *number = json!(number.as_f64().unwrap() * factor);
        }
    }
}
