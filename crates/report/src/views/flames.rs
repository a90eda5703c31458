//! Flame graphs of commands that were sampled, side by side on one scale.
//!
//! The chains of calls of all commands become one tree ([`Tree::new`]), so that a function is in
//! the same place in each graph: of the functions that one calls, the first takes the most time in
//! all commands together. Of a tree, a graph of each command is drawn ([`Graph`]).
//!
//! A function has a hue where the table says that it differs, whoever calls it. All others have
//! none, however much wider they are in one command than in another: that may be chance.

use std::collections::BTreeMap;

use analysis::{FunctionChange, FunctionChanges, Functions, Results};
use maud::Markup;

use super::function_name::short_name;
use super::shared::command;
use crate::charts::flame::{Flame, Frame};
use crate::charts::svg::{SQUARE, key_of};
use crate::document::{Block, Chart};

/// The most commands that are drawn.
const MAX_GRAPHS: usize = 6;

/// The most functions below each other.
const MAX_DEPTH: usize = 40;

/// The characters of a name on hover.
const MAX_NAME_LENGTH: usize = 120;

/// The share of time from which on chains of a single function deserve a word.
const MIN_SHORT_SHARE: f64 = 0.5;

/// The hues of functions that take significantly more and less time.
const HUE_OF_MORE: &str = "h1";
const HUE_OF_LESS: &str = "h0";

/// The graphs, if there are chains of calls.
pub(super) fn chart(results: &Results) -> Option<Block> {
    let commands = &results.functions[..results.functions.len().min(MAX_GRAPHS)];
    let tree = Tree::new(commands);
    // All graphs have one scale, so that widths can be compared.
    let longest_ns = commands.iter().map(|functions| functions.ns).fold(0.0, f64::max);
    if tree.root.calls.is_empty() || longest_ns <= 0.0 {
        return None;
    }

    let mut panels = Vec::new();
    for (number, functions) in commands.iter().enumerate() {
        let name = command(&functions.cell);
        let graph = Graph {
            number,
            base_ns: base_ns(functions, commands),
            changes: hue_changes(functions, commands),
        };
        let flame = Flame {
            label: format!("Flame graph of {name}; the table has the time in each function"),
            whole: longest_ns,
            root: graph.root(functions, &tree),
            is_alone: commands.len() == 1,
        };
        panels.push((name, flame.chart()));
    }
    Some(Block::Chart(Chart {
        title: "Flame graphs".to_owned(),
        caption: caption(results, commands, &tree),
        legend: legend(commands),
        panels,
        ..Chart::default()
    }))
}

fn legend(commands: &[Functions]) -> Vec<(Markup, String)> {
    if commands.iter().all(|functions| functions.change.is_none()) {
        return Vec::new();
    }
    let where_it_differs = if commands.len() == 2 {
        "time itself in the second command"
    } else {
        "time itself than in the first command"
    };
    vec![
        (key_of(HUE_OF_MORE, SQUARE), format!("takes significantly more {where_it_differs}")),
        (key_of(HUE_OF_LESS, SQUARE), format!("takes significantly less {where_it_differs}")),
        (key_of("ink hollow", SQUARE), "no significant difference".to_owned()),
    ]
}

fn caption(results: &Results, commands: &[Functions], tree: &Tree<'_>) -> String {
    let mut sentences = vec![
        "The width of a function is the processor time that an execution spends in it and in what it calls, which is drawn below it."
            .to_owned(),
    ];
    if commands.len() > 1 {
        sentences.push("All commands share one scale.".to_owned());
    }
    sentences.push(
        "A function that calls itself is one frame; what is too narrow to be seen is merged."
            .to_owned(),
    );
    if tree.is_cut {
        sentences.push(format!("Calls more than {MAX_DEPTH} deep are left out."));
    }
    if tree.short_ns > MIN_SHORT_SHARE * tree.ns {
        sentences.push(
            "Most samples have no known caller: build with -fno-omit-frame-pointer (Rust: -C \
             force-frame-pointers=yes)."
                .to_owned(),
        );
    }
    if results.functions.len() > commands.len() {
        let left_out = results.functions.len() - commands.len();
        sentences.push(format!(
            "{} drawn.",
            match left_out {
                1 => "The last command is not".to_owned(),
                left_out => format!("The last {left_out} commands are not"),
            }
        ));
    }
    sentences.join(" ")
}

/// The time that a command's percentages are shares of: its own execution, or, where it is compared
/// with the first command, that command's, as in the table. Widths have another scale, which is one
/// for all commands.
fn base_ns(functions: &Functions, commands: &[Functions]) -> f64 {
    match commands.first() {
        Some(first) if functions.change.is_some() => first.ns,
        _ => functions.ns,
    }
}

/// The differences that give a command's functions their hues. The first command has those of the
/// second, if there are two.
fn hue_changes<'r>(
    functions: &'r Functions,
    commands: &'r [Functions],
) -> Option<&'r FunctionChanges> {
    match commands {
        [_, second] => second.change.as_ref(),
        _ => functions.change.as_ref(),
    }
}

/// The chains of calls of all commands.
struct Tree<'r> {
    root: Node<'r>,
    /// The time of all chains, and of those with a single function.
    ns: f64,
    short_ns: f64,
    /// True if a chain is deeper than what is drawn.
    is_cut: bool,
}

/// A function with what it calls.
#[derive(Default)]
struct Node<'r> {
    /// The time of an execution of each command.
    ns: Vec<f64>,
    calls: BTreeMap<&'r str, Node<'r>>,
}

impl<'r> Tree<'r> {
    fn new(commands: &'r [Functions]) -> Tree<'r> {
        let mut tree = Tree { root: Node::default(), ns: 0.0, short_ns: 0.0, is_cut: false };
        for (number, functions) in commands.iter().enumerate() {
            let executions = functions.executions.max(1) as f64;
            let frames = &functions.profile.frames;
            for stack in &functions.profile.stacks {
                let mut chain: Vec<&str> = stack
                    .frames
                    .iter()
                    .filter_map(|frame| frames.get(*frame as usize).map(String::as_str))
                    .collect();
                // A function that calls itself is one frame.
                chain.dedup();
                let command = CommandNumber { number, count: commands.len() };
                tree.add(&chain, stack.ns as f64 / executions, command);
            }
        }
        tree
    }

    /// Adds the time of a chain to each of its functions, for one of the commands.
    fn add(&mut self, chain: &[&'r str], ns: f64, command: CommandNumber) {
        self.ns += ns;
        if chain.len() == 1 {
            self.short_ns += ns;
        }
        self.is_cut |= chain.len() > MAX_DEPTH;

        let mut node = &mut self.root;
        for name in chain.iter().take(MAX_DEPTH) {
            node = node.calls.entry(name).or_default();
            node.ns.resize(command.count, 0.0);
            node.ns[command.number] += ns;
        }
    }
}

/// A command's place among those that are drawn.
#[derive(Clone, Copy)]
struct CommandNumber {
    number: usize,
    count: usize,
}

impl Node<'_> {
    fn ns_of_all(&self) -> f64 {
        self.ns.iter().sum()
    }
}

/// The graph of a command, while it is made.
struct Graph<'r> {
    number: usize,
    base_ns: f64,
    changes: Option<&'r FunctionChanges>,
}

impl Graph<'_> {
    fn root(&self, functions: &Functions, tree: &Tree<'_>) -> Frame {
        let time = format!("{} of an execution", words::nanoseconds(functions.ns));
        Frame {
            name: time.clone(),
            time: functions.ns,
            title: format!("{}: {time}", command(&functions.cell)),
            calls: self.frames_below(&tree.root),
            ..Frame::default()
        }
    }

    /// The functions that a function calls in this command, in an order that is the same for all
    /// commands.
    fn frames_below(&self, node: &Node<'_>) -> Vec<Frame> {
        let mut calls: Vec<(&&str, &Node<'_>)> = node.calls.iter().collect();
        calls.sort_by(|(_, a), (_, b)| b.ns_of_all().total_cmp(&a.ns_of_all()));
        calls
            .into_iter()
            .filter(|(_, call)| call.ns[self.number] > 0.0)
            .map(|(name, call)| self.frame(name, call))
            .collect()
    }

    fn frame(&self, name: &str, node: &Node<'_>) -> Frame {
        let ns = node.ns[self.number];
        let own_ns = ns - node.calls.values().map(|call| call.ns[self.number]).sum::<f64>();
        let mut title = format!(
            "{}: {}, {} % of the time; {} % in itself",
            words::shortened(name, MAX_NAME_LENGTH),
            words::nanoseconds(ns),
            self.percent(ns),
            self.percent(own_ns.max(0.0))
        );

        let mut significant = self.changes.into_iter().flat_map(FunctionChanges::significant);
        let difference = significant.find(|function| function.name == name);
        let remark = difference.map(|function| {
            let change = function.change;
            let ends = [change.low, change.high].map(words::signed_fine);
            title += &format!(
                "; wherever it is called from, the difference is {} % ({} to {})",
                words::signed_fine(change.value),
                ends[0],
                ends[1]
            );
            format!("{}%", words::signed_fine(change.value))
        });
        Frame {
            name: short_name(name),
            time: ns,
            hue: difference.map_or("", hue),
            remark: remark.unwrap_or_default(),
            title,
            calls: self.frames_below(node),
        }
    }

    fn percent(&self, ns: f64) -> String {
        words::share(ns / self.base_ns * 100.0)
    }
}

fn hue(difference: &FunctionChange) -> &'static str {
    if difference.change.value > 0.0 { HUE_OF_MORE } else { HUE_OF_LESS }
}
