//! Adds up the samples and the instructions of executions, by places; then by functions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::SystemTime;

use journal::{Profile, Sampled, SampledFunction, Stack};

use crate::arms::{Added, Arm};
use crate::callgrind;
use crate::inlined::Inlined;
use crate::naming::{Named, Namer, PYTHON, nameless};
use crate::places::{Place, Places};
use crate::records::{self, Event, Frame};
use crate::remarks::Remarks;
use crate::spaces::Spaces;
use crate::stacks::Stacks;

/// The most functions that are kept: those in which all commands together spent the most time, and
/// as many of those that executed the most instructions.
const MAX_FUNCTIONS: usize = 300;

/// The most different chains that are kept whole. Later ones are cut to their innermost place.
const MAX_CHAINS: usize = 500_000;

/// What stands for functions of a stack that are not kept.
const OTHER_CALLS: &str = "[other calls]";

/// The records of an execution.
pub struct Execution<'a> {
    /// Its command, by number.
    pub arm: usize,
    pub round: u64,
    /// The processor time that it used, sampled or not.
    pub cpu_ns: u64,
    /// The times of the samples that count.
    pub region: RangeInclusive<u64>,
    pub records: &'a [u8],
}

/// The samples of some commands' executions.
pub struct Collector {
    /// When the first execution began.
    since: SystemTime,
    arms: Vec<Arm>,
    places: Places,
    inlined: Inlined,
    /// Chains of places, the innermost first.
    chains: Vec<Rc<[usize]>>,
    chain_numbers: HashMap<Rc<[usize]>, usize>,
    notes: BTreeSet<String>,
}

impl Collector {
    /// A collector for so many commands, whose executions began at `since`.
    pub fn new(arms: usize, since: SystemTime) -> Collector {
        Collector {
            since,
            arms: (0..arms).map(|_| Arm::default()).collect(),
            places: Places::default(),
            inlined: Inlined::default(),
            chains: Vec::new(),
            chain_numbers: HashMap::new(),
            notes: BTreeSet::new(),
        }
    }

    /// Adds an execution.
    pub fn add(&mut self, execution: Execution<'_>) {
        let Execution { arm, round, cpu_ns, region, records } = execution;
        let mut spaces = Spaces::default();
        let mut added = Added {
            sampled: Sampled { round, cpu_ns, ..Sampled::default() },
            ns_by_chain: HashMap::new(),
        };
        for record in records::read(records) {
            match record.event {
                Event::Exec { process } => spaces.exec(process),
                Event::Fork { process, parent } => spaces.fork(process, parent),
                Event::Map { process, mapping } => spaces.map(process, mapping),
                Event::Lost(count) => added.sampled.lost += count,
                Event::Throttled => {
                    let note = "the kernel sampled less often than it was asked to, as samples took \
                                too much time";
                    self.notes.insert(note.to_owned());
                }
                Event::Sample { .. } if !region.contains(&record.time) => {}
                Event::Sample { process, ns, chain } => {
                    let chain = self.number_chain(process, &chain, &spaces);
                    *added.ns_by_chain.entry(chain).or_default() += ns;
                    added.sampled.samples += 1;
                    added.sampled.ns += ns;
                }
            }
        }
        if let Some(arm) = self.arms.get_mut(arm) {
            arm.sampled.push(added);
        }
    }

    /// Adds what callgrind has counted of a process, in the `pass`-th counted execution of a
    /// command.
    pub fn count(&mut self, arm: usize, pass: usize, text: &str) {
        let counted = callgrind::read(text);
        let mut instructions: HashMap<usize, u64> = HashMap::new();
        for (path, by_address) in counted.files {
            let object = self.places.object(path);
            for (address, count) in by_address {
                let place = object.as_ref().map_or(Place::Unknown, |object| object.place(address));
                *instructions.entry(self.places.number(place)).or_default() += count;
            }
        }
        for (address, count) in counted.made {
            let place = Place::Made { process: counted.process, address };
            *instructions.entry(self.places.number(place)).or_default() += count;
        }

        let Some(arm) = self.arms.get_mut(arm) else { return };
        if arm.counted.len() <= pass {
            arm.counted.resize_with(pass + 1, HashMap::new);
        }
        for (place, count) in instructions {
            *arm.counted[pass].entry(place).or_default() += count;
        }
    }

    /// The number of the chain of places at a sample's frames; a new chain gets the next number.
    fn number_chain(&mut self, process: u32, chain: &[Frame], spaces: &Spaces) -> usize {
        let mut places: Vec<usize> = Vec::new();
        for (depth, frame) in chain.iter().enumerate() {
            // A caller's address is that of the return, which may lie in the next function.
            let address = if depth > 0 { frame.address.saturating_sub(1) } else { frame.address };
            let place = match spaces.find(process, address) {
                _ if frame.is_kernel => Place::Kernel(address),
                Some(mapping) => self.places.in_mapping(mapping, process, address),
                None => Place::Unknown,
            };
            places.push(self.places.number(place));
        }
        if self.chains.len() >= MAX_CHAINS {
            places.truncate(1);
        }

        let places: Rc<[usize]> = places.into();
        let next = self.chains.len();
        let number = *self.chain_numbers.entry(Rc::clone(&places)).or_insert(next);
        if number == next {
            self.chains.push(places);
        }
        number
    }

    /// Names the functions. Returns the profile of each command, in order; `read_kernel` gives the
    /// text of the kernel's list of its symbols, if that is needed.
    pub fn finish(mut self, read_kernel: impl FnOnce() -> Option<String>) -> Vec<Profile> {
        let mut namer =
            Namer { places: &mut self.places, inlined: &mut self.inlined, since: self.since };
        let mut functions = namer.name(read_kernel);
        self.join_nameless(&mut functions);
        let mut remarks = Remarks {
            places: &self.places,
            chains: &self.chains,
            arms: &self.arms,
            notes: std::mem::take(&mut self.notes),
        };
        remarks.agree_on_inlined(&mut self.inlined);
        self.inlined.find_helpers(|place| &functions[place].name);
        remarks.note_nameless(&functions);
        let notes: Vec<String> = remarks.notes.into_iter().collect();

        let frames = Frames::new(&functions, &self.inlined);
        let by_frame = ByFrame::new(&self.arms, &self.chains, &functions, &frames);
        let stack_of = |chain: usize| frames.stack(&self.chains[chain]);
        let stacks = Stacks::new(stack_of, &by_frame.ns_by_chain, frames.names.len());
        let kept = by_frame.largest();

        let kernel = self.places.has_kernel();
        let mut profiles: Vec<Profile> = self
            .arms
            .iter()
            .map(|arm| Profile { kernel, ..by_frame.profile(arm, &kept, &stacks) })
            .collect();
        if let Some(first) = profiles.first_mut() {
            first.notes = notes;
        }
        profiles
    }

    /// Gives the nameless code of `./old` and of `./new` one name, since functions are matched by
    /// name. Of the files with nameless code that only one command executes, those in which each
    /// command spends the most time are treated as builds of the same program.
    fn join_nameless(&self, functions: &mut [Named]) {
        let ns_by_label: Vec<BTreeMap<&str, u64>> =
            self.arms.iter().map(|arm| self.nameless_ns(arm, functions)).collect();
        let mut labels: Vec<String> = Vec::new();
        for ns in &ns_by_label {
            let of_one_command = ns.iter().filter(|(label, _)| {
                ns_by_label.iter().filter(|other| other.contains_key(**label)).count() == 1
            });
            let Some((label, _)) = of_one_command.max_by_key(|(_, ns)| **ns) else { return };
            labels.push((*label).to_owned());
        }
        if labels.len() < 2 {
            return;
        }

        let joined = nameless(&labels.join(", "));
        for function in functions {
            if labels.contains(&function.file) && function.is_nameless() {
                function.name.clone_from(&joined);
            }
        }
    }

    /// The time of a command's executions in code without a name, by the files it lies in.
    fn nameless_ns<'f>(&self, arm: &Arm, functions: &'f [Named]) -> BTreeMap<&'f str, u64> {
        let mut ns_by_label = BTreeMap::new();
        for (chain, ns) in arm.sampled.iter().flat_map(|added| &added.ns_by_chain) {
            let Some(place) = self.chains[*chain].first() else { continue };
            let function = &functions[*place];
            if self.places.is_in(*place, |_| true) && function.is_nameless() {
                *ns_by_label.entry(function.file.as_str()).or_default() += ns;
            }
        }
        ns_by_label
    }
}

/// The functions of all places, numbered. Those of one name are one function, whatever file they
/// lie in, as the next build may have moved them.
struct Frames<'n> {
    names: Vec<&'n str>,
    /// Of each place: what is inlined there, the innermost first, and the function with a symbol.
    of_place: Vec<Vec<usize>>,
    /// Of each place: the frame to which its time and its instructions are attributed.
    counted: Vec<usize>,
}

impl<'n> Frames<'n> {
    fn new(functions: &'n [Named], inlined: &'n Inlined) -> Frames<'n> {
        let mut frames = Frames { names: Vec::new(), of_place: Vec::new(), counted: Vec::new() };
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for (place, function) in functions.iter().enumerate() {
            let mut of_place = Vec::new();
            for name in inlined.at(place).iter().chain([&function.name]) {
                let next = frames.names.len();
                let number = *numbers.entry(name).or_insert(next);
                if number == next {
                    frames.names.push(name);
                }
                of_place.push(number);
            }
            frames.counted.push(of_place[inlined.counted(place)]);
            frames.of_place.push(of_place);
        }
        frames
    }

    /// A chain as functions, the outermost first.
    fn stack(&self, chain: &[usize]) -> Vec<usize> {
        let frames = chain.iter().rev().flat_map(|place| self.of_place[*place].iter().rev());
        frames.copied().collect()
    }

    /// The name of a frame, or of what stands for all others.
    fn name(&self, frame: usize) -> String {
        self.names.get(frame).unwrap_or(&OTHER_CALLS).to_string()
    }
}

/// What all commands together spent, by function.
struct ByFrame<'c> {
    frames: &'c Frames<'c>,
    functions: &'c [Named],
    /// Of each chain: the place to which its time is attributed.
    innermost: Vec<usize>,
    ns: Vec<u64>,
    ns_by_chain: Vec<u64>,
    instructions: Vec<u64>,
}

impl<'c> ByFrame<'c> {
    fn new(
        arms: &[Arm],
        chains: &[Rc<[usize]>],
        functions: &'c [Named],
        frames: &'c Frames<'c>,
    ) -> ByFrame<'c> {
        let count = frames.names.len();
        let mut sums = ByFrame {
            frames,
            functions,
            innermost: chains.iter().map(|chain| innermost(chain, functions)).collect(),
            ns: vec![0; count],
            ns_by_chain: vec![0; chains.len()],
            instructions: vec![0; count],
        };
        for arm in arms {
            for (chain, ns) in arm.sampled.iter().flat_map(|added| &added.ns_by_chain) {
                sums.ns[frames.counted[sums.innermost[*chain]]] += ns;
                sums.ns_by_chain[*chain] += ns;
            }
            for (place, count) in arm.counted.iter().flatten() {
                sums.instructions[frames.counted[*place]] += count;
            }
        }
        sums
    }

    /// The functions that are kept: those with the most time, then those with the most
    /// instructions.
    fn largest(&self) -> Vec<usize> {
        let mut kept = largest(&self.ns, MAX_FUNCTIONS);
        let by_time: BTreeSet<usize> = kept.iter().copied().collect();
        let by_instructions = largest(&self.instructions, MAX_FUNCTIONS);
        kept.extend(by_instructions.into_iter().filter(|frame| !by_time.contains(frame)));
        kept
    }

    /// The profile of a command, without its notes.
    fn profile(&self, arm: &Arm, kept: &[usize], stacks: &Stacks) -> Profile {
        let count = self.frames.names.len();
        let mut ns: Vec<Vec<u64>> = vec![vec![0; arm.sampled.len()]; count];
        // Of each function: the last place at which this command was. The next build may have moved
        // it to another file.
        let mut place_of_frame: Vec<Option<usize>> = vec![None; count];
        let mut instructions: Vec<Vec<u64>> = vec![vec![0; arm.counted.len()]; count];
        for (pass, counted) in arm.counted.iter().enumerate() {
            for (place, count) in counted {
                let frame = self.frames.counted[*place];
                instructions[frame][pass] += count;
                place_of_frame[frame] = Some(*place);
            }
        }
        let mut ns_by_stack: BTreeMap<&[usize], u64> = BTreeMap::new();
        for (number, added) in arm.sampled.iter().enumerate() {
            for (chain, time) in &added.ns_by_chain {
                let place = self.innermost[*chain];
                let frame = self.frames.counted[place];
                ns[frame][number] += time;
                place_of_frame[frame] = Some(place);
                let stack = &stacks.all[stacks.of_chain[*chain]];
                *ns_by_stack.entry(stack).or_default() += time;
            }
        }

        let functions = kept.iter().map(|frame| SampledFunction {
            name: self.frames.name(*frame),
            file: place_of_frame[*frame]
                .map_or_else(String::new, |place| self.functions[place].file.clone()),
            ns: std::mem::take(&mut ns[*frame]),
            instructions: std::mem::take(&mut instructions[*frame]),
        });
        Profile {
            executions: arm.sampled.iter().map(|added| added.sampled.clone()).collect(),
            functions: functions.collect(),
            ..self.stacks(ns_by_stack)
        }
    }

    /// A profile with stacks alone, whose frames are numbered by their first appearance in them.
    fn stacks(&self, ns_by_stack: BTreeMap<&[usize], u64>) -> Profile {
        let mut profile = Profile::default();
        let mut numbers: HashMap<usize, u32> = HashMap::new();
        for (stack, ns) in ns_by_stack {
            let mut frames = Vec::new();
            for frame in stack {
                let number = *numbers.entry(*frame).or_insert_with(|| {
                    profile.frames.push(self.frames.name(*frame));
                    // It fits: `Stacks` keeps a few thousand stacks.
                    profile.frames.len() as u32 - 1
                });
                frames.push(number);
            }
            profile.stacks.push(Stack { ns, frames });
        }
        profile
    }
}

/// The place to which a chain's time is attributed: the innermost one; in Python's interpreter,
/// that of the innermost Python function, if the chain has one.
fn innermost(chain: &[usize], functions: &[Named]) -> usize {
    let Some(first) = chain.first() else { return 0 };
    let in_python = chain.iter().find(|place| functions[**place].name.starts_with(PYTHON));
    *in_python.filter(|_| functions[*first].is_python_interpreter()).unwrap_or(first)
}

/// The places of the largest numbers above 0, the largest first.
fn largest(numbers: &[u64], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..numbers.len()).filter(|place| numbers[*place] > 0).collect();
    places.sort_by_key(|place| std::cmp::Reverse(numbers[*place]));
    places.truncate(most);
    places
}
