//! Functions in which commands spend their processor time, and those that take more or less of it
//! than in the first command.
//!
//! 1. An execution is one value of each function: the time that its samples stand for. Commands
//!    were executed in rounds, so a difference is the mean of the rounds' differences, with
//!    Student's interval ([`FunctionChanges::new`]). The mean, and not a rank: the differences of
//!    all functions then add up to that of the whole.
//! 2. Functions with few samples in all commands together are not tested ([`MIN_SAMPLES`]). That
//!    does not depend on where the samples were, so it favours no difference (Bourgon et al. 2010).
//! 3. Of all functions of all commands, those are called whose false discovery rate is below 1 %
//!    (Benjamini & Hochberg 1995, [`CALLING_RATE`]); the intervals of those that are called allow
//!    for it (Benjamini & Yekutieli 2005).
//! 4. What is left of the whole difference is the rest ([`FunctionChanges::rest`]).
//! 5. Where valgrind was there, it counted instructions, which need no statistics
//!    ([`FunctionInstructions`]).

use std::collections::BTreeMap;

use stats::{Estimate, Mean, false_discovery_rates, mean, student_p};

use crate::products::comparison::RATE;
use crate::products::function_instructions::FunctionInstructions;
use journal::{Cell, Journal, Profile, SampledFunction};

/// Functions with fewer samples, in all executions of all commands, are part of the rest.
const MIN_SAMPLES: f64 = 10.0;

/// The false discovery rate below which a function is called. At 5 %, a single function that
/// differs would be joined by another in one run of ten, and a reader would look at both; at 1 %,
/// in one of fifty.
const CALLING_RATE: f64 = 0.01;

/// The share of an execution's processor time below which samples stand for too little of it.
const MIN_SAMPLED_SHARE: f64 = 0.8;

/// Where the processor time of a command goes.
#[derive(Debug, Clone)]
pub struct Functions {
    /// The command's cell.
    pub cell: Cell,
    /// Executions that were sampled.
    pub executions: usize,
    /// The mean processor time of an execution that was sampled, in ns.
    pub ns: f64,
    /// Its functions, the one that takes the most time first.
    pub all: Vec<Function>,
    /// The difference from the first command; `None` of the first, and where none was compared.
    pub change: Option<FunctionChanges>,
    /// Its instructions, where valgrind has counted them.
    pub instructions: Option<FunctionInstructions>,
    /// The samples, for what shows chains of calls.
    pub profile: Profile,
    /// Remarks, a sentence each.
    pub notes: Vec<String>,
}

/// The time in a function itself, without those that it calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub name: String,
    /// The name of the file in which it lies; empty if it lies in none.
    pub file: String,
    /// Its share of the command's processor time in per cent, with its interval over executions.
    pub share: Estimate,
}

/// The difference of a command from the first, by function. All of it is in per cent of the first
/// command's processor time.
#[derive(Debug, Clone)]
pub struct FunctionChanges {
    /// Rounds in which both were executed.
    pub pairs: usize,
    /// The difference of the whole processor time.
    pub total: Estimate,
    /// The functions that were tested, the largest difference first.
    pub functions: Vec<FunctionChange>,
    /// The difference of all that is not called.
    pub rest: Estimate,
    /// The difference of the whole in each round.
    differences: Vec<f64>,
}

/// The difference of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionChange {
    pub name: String,
    pub file: String,
    /// Its time in the first command, and in this one.
    pub base: f64,
    pub own: f64,
    /// The difference, with an interval that allows for the others if it is called.
    pub change: Estimate,
    pub q: f64,
    /// True if it takes significantly more or less time.
    pub is_significant: bool,
    p: f64,
    differences: Vec<f64>,
}

impl FunctionChange {
    /// True if only the other command has it, as far as samples show.
    pub fn is_only_in_base(&self) -> bool {
        self.own == 0.0
    }

    /// True if only this command has it, as far as samples show.
    pub fn is_only_in_own(&self) -> bool {
        self.base == 0.0
    }
}

impl Functions {
    /// Returns what a journal has of each command, the one that others are compared with first.
    pub(crate) fn all(journal: &Journal) -> Vec<Functions> {
        let mut all: Vec<Functions> = Vec::new();
        for profile in &journal.profiles {
            let Some(cell) = journal.cells.get(profile.cell) else { continue };
            all.push(Functions::new(cell, profile));
        }

        let base = all.first().filter(|first| first.cell.is_alternating()).cloned();
        if let Some(base) = base {
            for own in all.iter_mut().skip(1) {
                own.change = FunctionChanges::new(&base.profile, &own.profile);
                own.instructions = FunctionInstructions::new(&own.profile, Some(&base.profile));
            }
            call(&mut all);
        }
        all
    }

    fn new(cell: &Cell, profile: &Profile) -> Functions {
        let ns = mean(profile.executions.iter().map(|execution| execution.ns as f64));
        let mut all: Vec<Function> = profile
            .functions
            .iter()
            .filter(|function| {
                function.ns.iter().chain(&function.instructions).any(|number| *number > 0)
            })
            .map(|function| {
                let shares: Vec<f64> =
                    function.ns.iter().map(|own| *own as f64 / ns * 100.0).collect();
                let share = stats::mean_interval(&shares);
                Function { name: function.name.clone(), file: function.file.clone(), share }
            })
            .collect();
        all.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));

        let mut notes = profile.notes.clone();
        notes.extend(remarks(profile));
        Functions {
            cell: cell.clone(),
            executions: profile.executions.len(),
            ns,
            all,
            change: None,
            instructions: FunctionInstructions::new(profile, None),
            profile: profile.clone(),
            notes,
        }
    }
}

/// Remarks on what samples do not show.
fn remarks(profile: &Profile) -> Vec<String> {
    let sum = |number: fn(&journal::Sampled) -> u64| -> u64 {
        profile.executions.iter().map(number).sum()
    };
    let mut remarks = Vec::new();
    let lost = sum(|execution| execution.lost);
    if lost > 0 {
        remarks.push(format!("the kernel had no room for {lost} samples, which are missing"));
    }
    let (ns, cpu_ns) = (sum(|execution| execution.ns), sum(|execution| execution.cpu_ns));
    if profile.kernel && (ns as f64) < MIN_SAMPLED_SHARE * cpu_ns as f64 {
        let share = 100.0 * ns as f64 / cpu_ns as f64;
        remarks.push(format!(
            "samples stand for {share:.0} % of the processor time: processes that end within 0.9 ms are seldom sampled"
        ));
    }
    if !profile.kernel {
        remarks.push(
            "the kernel's part of the time is not sampled, which kernel.perf_event_paranoid keeps to root; try sudo, or \
             `sysctl kernel.perf_event_paranoid=1`"
                .to_owned(),
        );
    }
    remarks
}

/// Executions of two commands in the same rounds.
struct Pairs<'p> {
    base: &'p Profile,
    own: &'p Profile,
    /// The places of both executions of a round in their profiles.
    places: Vec<[usize; 2]>,
    /// The mean processor time of the first command's executions.
    base_ns: f64,
}

impl<'p> Pairs<'p> {
    /// Pairs executions by their rounds; `None` if there is no pair, or if the first command took
    /// no time.
    fn new(base: &'p Profile, own: &'p Profile) -> Option<Pairs<'p>> {
        let (base_rounds, own_rounds) = (places_by_round(base), places_by_round(own));
        let places: Vec<[usize; 2]> = base_rounds
            .iter()
            .filter_map(|(round, place)| Some([*place, *own_rounds.get(round)?]))
            .collect();
        if places.is_empty() {
            return None;
        }

        let base_ns = mean(places.iter().map(|[place, _]| base.executions[*place].ns as f64));
        (base_ns > 0.0).then_some(Pairs { base, own, places, base_ns })
    }

    /// A time in per cent of the first command's.
    fn percent(&self, ns: f64) -> f64 {
        ns / self.base_ns * 100.0
    }

    /// The differences of the whole time, by round.
    fn total(&self) -> Vec<f64> {
        let Pairs { base, own, .. } = self;
        let differences = self.places.iter().map(|[in_base, in_own]| {
            self.percent(own.executions[*in_own].ns as f64 - base.executions[*in_base].ns as f64)
        });
        differences.collect()
    }

    /// The processor time that a sample stands for, on average.
    fn period(&self) -> f64 {
        let executions = || self.base.executions.iter().chain(&self.own.executions);
        let ns: u64 = executions().map(|execution| execution.ns).sum();
        let samples: u64 = executions().map(|execution| execution.samples).sum();
        ns as f64 / samples.max(1) as f64
    }

    /// The difference of a function. Until all functions are known ([`call`]) it is not called.
    fn change_of(&self, function: &InBoth<'_>) -> FunctionChange {
        let [in_base, in_own]: [Vec<f64>; 2] = [0, 1].map(|side| {
            self.places.iter().map(|places| function.ns_in(side, places[side])).collect()
        });
        let differences: Vec<f64> =
            in_base.iter().zip(&in_own).map(|(base, own)| self.percent(own - base)).collect();

        let change = Mean::new(&differences);
        let is_known = change.error > 0.0;
        let p = if is_known { student_p(change.value / change.error, change.degrees) } else { 1.0 };
        FunctionChange {
            name: function.name.to_owned(),
            file: function.file.to_owned(),
            base: self.percent(mean(in_base)),
            own: self.percent(mean(in_own)),
            change: estimate(&differences, RATE),
            q: 1.0,
            is_significant: false,
            p,
            differences,
        }
    }
}

/// The places of a profile's executions, by round.
fn places_by_round(profile: &Profile) -> BTreeMap<u64, usize> {
    let executions = profile.executions.iter().enumerate();
    executions.map(|(place, execution)| (execution.round, place)).collect()
}

impl FunctionChanges {
    /// Returns the difference of a command from `base`, of which nothing is called yet ([`call`]);
    /// `None` if no round has both, or if `base` took no time.
    fn new(base: &Profile, own: &Profile) -> Option<FunctionChanges> {
        let pairs = Pairs::new(base, own)?;

        let period = pairs.period();
        let mut functions: Vec<FunctionChange> = functions_of_both(base, own)
            .filter(|function| function.ns() / period >= MIN_SAMPLES)
            .map(|function| pairs.change_of(&function))
            .collect();
        functions.sort_by(|a, b| b.change.value.abs().total_cmp(&a.change.value.abs()));

        let differences = pairs.total();
        let total = estimate(&differences, RATE);
        Some(FunctionChanges {
            pairs: pairs.places.len(),
            total,
            functions,
            rest: total,
            differences,
        })
    }

    /// The functions that take significantly more or less time.
    pub fn significant(&self) -> impl Iterator<Item = &FunctionChange> {
        self.functions.iter().filter(|function| function.is_significant)
    }
}

/// A function of one of two commands, or of both.
struct InBoth<'p> {
    name: &'p str,
    file: &'p str,
    /// Its times in the executions of each command that has it.
    times: [Option<&'p Vec<u64>>; 2],
}

impl InBoth<'_> {
    /// Its time in an execution of a command; 0 if that does not have it.
    fn ns_in(&self, side: usize, place: usize) -> f64 {
        let times = self.times[side];
        times.and_then(|times| times.get(place)).map_or(0.0, |ns| *ns as f64)
    }

    /// Its time in all executions of both.
    fn ns(&self) -> f64 {
        self.times.iter().flatten().flat_map(|times| times.iter()).map(|ns| *ns as f64).sum()
    }
}

/// The functions of two commands, each once, by name.
fn functions_of_both<'p>(base: &'p Profile, own: &'p Profile) -> impl Iterator<Item = InBoth<'p>> {
    let mut all: BTreeMap<&str, InBoth<'p>> = BTreeMap::new();
    for (side, profile) in [base, own].into_iter().enumerate() {
        for SampledFunction { name, file, ns, .. } in &profile.functions {
            let found = all.entry(name).or_insert(InBoth { name, file, times: [None; 2] });
            found.times[side] = Some(ns);
        }
    }
    all.into_values()
}

/// A mean with the interval that misses it with probability `level`.
fn estimate(values: &[f64], level: f64) -> Estimate {
    let mean = Mean::new(values);
    let [low, high] = mean.ends(level);
    Estimate { value: mean.value, low, high }
}

/// Calls the functions of all commands together: steps 3 and 4.
fn call(all: &mut [Functions]) {
    let mut changes: Vec<&mut FunctionChanges> =
        all.iter_mut().filter_map(|functions| functions.change.as_mut()).collect();
    let p: Vec<f64> = changes
        .iter()
        .flat_map(|change| change.functions.iter().map(|function| function.p))
        .collect();
    let q = false_discovery_rates(&p);
    let called = q.iter().filter(|q| **q < CALLING_RATE).count();
    // Of the called ones, 95 % of these intervals hold (step 3).
    let level = RATE * called as f64 / p.len().max(1) as f64;

    let mut q = q.into_iter();
    for change in &mut changes {
        for function in &mut change.functions {
            function.q = q.next().unwrap_or(1.0);
            function.is_significant = function.q < CALLING_RATE;
            if function.is_significant {
                function.change = estimate(&function.differences, level);
            }
        }
        change.rest = rest(change);
    }
}

/// The difference of all that is not called.
fn rest(change: &FunctionChanges) -> Estimate {
    let mut rest = change.differences.clone();
    for function in change.significant() {
        for (left, difference) in rest.iter_mut().zip(&function.differences) {
            *left -= difference;
        }
    }
    estimate(&rest, RATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Key, Role, Sampled, SampledFunction};
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    const FUNCTIONS: usize = 40;
    /// Three quarters of a minute of two commands that take a quarter of a second each.
    const ROUNDS: usize = 90;
    const PERIOD_NS: u64 = 900_000;
    const SAMPLES: usize = 357;

    /// The profile of a command whose functions have these shares of its samples. Executions differ
    /// by 1 % in their speed.
    fn profile(cell: usize, shares: &[f64], random: &mut Pcg64Mcg) -> Profile {
        let mut functions: Vec<SampledFunction> = (0..shares.len())
            .map(|number| SampledFunction {
                name: format!("function_{number}"),
                ns: vec![0; ROUNDS],
                ..SampledFunction::default()
            })
            .collect();
        let mut executions = Vec::new();
        for round in 0..ROUNDS {
            let speed = random.random_range(0.99..1.01);
            let samples = (SAMPLES as f64 * shares.iter().sum::<f64>() * speed) as u64;
            for _ in 0..samples {
                // Where the sample lies among the shares.
                let mut left = random.random_range(0.0..shares.iter().sum());
                let place = shares.iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                functions[place.unwrap_or(0)].ns[round] += PERIOD_NS;
            }
            let ns = samples * PERIOD_NS;
            let round = round as u64;
            executions.push(Sampled { round, samples, ns, cpu_ns: ns, ..Sampled::default() });
        }
        Profile { cell, executions, functions, kernel: true, ..Profile::default() }
    }

    fn compared(base: Profile, own: Profile) -> Functions {
        let cell = |id: usize, name: &str| Cell {
            id,
            key: Key { condition: name.to_owned(), ..Key::plain("ab", 1) },
            role: Role::Alternating,
            ..Cell::default()
        };
        let journal = Journal {
            cells: vec![cell(0, "old"), cell(1, "new")],
            profiles: vec![base, own],
            ..Journal::default()
        };
        Functions::all(&journal).remove(1)
    }

    fn called(functions: &Functions) -> Vec<&str> {
        let change = functions.change.as_ref().unwrap();
        change.significant().map(|function| function.name.as_str()).collect()
    }

    /// One function takes a fifth of the time, the others the rest in equal shares.
    fn shares() -> Vec<f64> {
        let mut shares = vec![0.8 / (FUNCTIONS - 1) as f64; FUNCTIONS];
        shares[17] = 0.2;
        shares
    }

    #[test]
    fn a_function_that_takes_two_per_cent_more_of_the_time_is_named_and_no_other() {
        let mut slower = shares();
        slower[17] += 0.02;
        let mut right = 0;
        for seed in 0..20 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let base = profile(0, &shares(), &mut random);

            let functions = compared(base, profile(1, &slower, &mut random));

            right += usize::from(called(&functions) == ["function_17"]);
        }
        assert!(right >= 18, "{right}");
    }

    #[test]
    fn where_nothing_differs_a_function_is_named_in_fewer_than_one_run_of_twenty() {
        let mut wrong = 0;
        for seed in 0..200 {
            let mut random = Pcg64Mcg::seed_from_u64(1000 + seed);
            let base = profile(0, &shares(), &mut random);

            let functions = compared(base, profile(1, &shares(), &mut random));

            wrong += usize::from(!called(&functions).is_empty());
        }
        // 1 % of 200 are 2, and more than 7 are 1 in 1000.
        assert!(wrong <= 7, "{wrong}");
    }

    #[test]
    fn differences_of_functions_and_the_rest_add_up_to_the_whole() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut slower = shares();
        slower[3] += 0.1;
        let base = profile(0, &shares(), &mut random);
        let change = compared(base, profile(1, &slower, &mut random)).change.unwrap();

        let named: f64 = change.significant().map(|function| function.change.value).sum();

        assert!((named + change.rest.value - change.total.value).abs() < 1e-9);
        assert!(change.total.low < 10.0 && change.total.high > 10.0, "{:?}", change.total);
    }

    #[test]
    fn a_function_that_one_command_lacks_is_said_to_be_the_others() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let base = profile(0, &shares(), &mut random);
        let mut own = profile(1, &shares(), &mut random);
        own.functions[17].name = "renamed".to_owned();

        let change = compared(base, own).change.unwrap();

        let both: Vec<(&str, bool, bool)> = change
            .significant()
            .map(|function| {
                (function.name.as_str(), function.is_only_in_base(), function.is_only_in_own())
            })
            .collect();
        assert!(both.contains(&("function_17", true, false)), "{both:?}");
        assert!(both.contains(&("renamed", false, true)), "{both:?}");
    }

    #[test]
    fn samples_that_stand_for_too_little_are_remarked_on() {
        let mut profile = Profile { kernel: true, ..Profile::default() };
        profile.executions.push(Sampled { ns: 40, cpu_ns: 100, lost: 3, ..Sampled::default() });

        let remarks = remarks(&profile);

        assert!(remarks[0].starts_with("the kernel had no room for 3 samples"), "{remarks:?}");
        assert!(remarks[1].starts_with("samples stand for 40 % of the processor time"));
    }
}
