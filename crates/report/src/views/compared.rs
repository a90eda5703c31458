//! The runs that are compared, and how their systems differ.

use analysis::{Compared, Comparisons, Difference};
use journal::Run;
use serde_json::{Value, json};

use crate::document::{Block, Pair, Pairs};

/// The runs for programs.
pub(super) fn runs_data(all: &Comparisons) -> Value {
    all.runs.iter().map(run).collect()
}

fn run(compared: &Compared) -> Value {
    let Run { name, host, tool, started, procedure, comment, build, .. } = &compared.results.run;
    json!({
        "letter": compared.letter, "name": name, "host": host, "tool": tool, "started": started,
        "procedure": procedure.name(), "comment": comment, "condition": compared.condition, "build": build,
        "drift": compared.results.drift,
    })
}

/// The runs by their letters, with their sides unless they are systems next to each other.
pub(super) fn runs(all: &Comparisons, is_sided: bool) -> Block {
    let pair = |compared: &Compared| {
        let Run { name, started, procedure, comment, .. } = &compared.results.run;
        let condition = compared
            .condition
            .as_ref()
            .map_or(String::new(), |condition| format!("condition {condition}"));
        let side = match compared.letter.starts_with(all.against()) {
            _ if !is_sided => "",
            true => "base",
            false => "",
        };
        let words = [comment, name, started, &format!("{procedure} procedure"), &condition, side];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let letter = compared.letter.clone();
        Pair {
            key: letter.clone(),
            label: letter.clone(),
            narrow: letter,
            value: words.join(", "),
            ..Pair::default()
        }
    };
    Block::Pairs(Pairs {
        key: "",
        title: String::new(),
        items: all.runs.iter().map(pair).collect(),
    })
}

/// Facts that are not the same in all runs.
pub(super) fn differences(all: &Comparisons) -> Vec<Block> {
    let item = |fact: &Difference| {
        let values =
            fact.values.iter().map(|(value, letters)| format!("{value} ({})", letters.join(", ")));
        format!("{}: {}", fact.label, values.collect::<Vec<String>>().join(", "))
    };
    let json = |fact: &Difference| {
        let values = fact.values.iter().map(|(value, runs)| json!({"runs": runs, "value": value}));
        json!({"name": fact.name, "label": fact.label, "values": values.collect::<Vec<Value>>()})
    };
    // Facts of a moment, which differ between any two runs, are for programs alone.
    let lasting = all.differences.iter().filter(|fact| !fact.is_of_a_moment);
    let (differ, lacking): (Vec<&Difference>, Vec<&Difference>) =
        lasting.partition(|fact| fact.is_known_twice());
    let lacking: Vec<&str> = lacking.iter().map(|fact| fact.label.as_str()).collect();
    let mut items: Vec<String> = differ.into_iter().map(item).collect();
    items.extend(
        (!lacking.is_empty()).then(|| format!("recorded on one side only: {}", lacking.join(", "))),
    );
    let data = Block::Data("differences", all.differences.iter().map(json).collect());
    vec![data, Block::section("The systems differ in"), Block::items(items)]
}
