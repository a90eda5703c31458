//! Chains of calls as stacks of functions, few enough to be kept.
//!
//! The stacks that take the most time are kept whole. Of the others only the outermost functions
//! are, so that all time is somewhere: first of those that take the most time among them, then
//! fewer functions of the rest, and at last none.

use std::collections::HashMap;

/// The most stacks that are kept of each of [`DEPTHS`].
const MAX_STACKS: usize = 2000;

/// The functions that are kept of a stack.
const DEPTHS: [usize; 4] = [usize::MAX, 16, 6, 0];

/// The stacks that are kept.
#[derive(Debug)]
pub struct Stacks {
    /// The functions of each, the outermost first.
    pub all: Vec<Vec<usize>>,
    /// Of each chain: its stack.
    pub of_chain: Vec<usize>,
}

impl Stacks {
    /// Chooses among the stacks of chains, which took `ns` each; the number `others` replaces the
    /// functions that are left out. There may be many chains, so `functions` makes one stack at a
    /// time, again for each use.
    pub fn new(functions: impl Fn(usize) -> Vec<usize>, ns: &[u64], others: usize) -> Stacks {
        let mut all: Vec<Vec<usize>> = Vec::new();
        let mut of_chain: Vec<Option<usize>> = vec![None; ns.len()];
        for depth in DEPTHS {
            let mut ns_by_stack: HashMap<Vec<usize>, u64> = HashMap::new();
            for (chain, ns) in ns.iter().enumerate() {
                if of_chain[chain].is_none() {
                    let stack = shortened(functions(chain), depth, others);
                    *ns_by_stack.entry(stack).or_default() += ns;
                }
            }
            let mut largest: Vec<(Vec<usize>, u64)> = ns_by_stack.into_iter().collect();
            largest.sort_by(|(a, a_ns), (b, b_ns)| b_ns.cmp(a_ns).then_with(|| a.cmp(b)));
            largest.truncate(MAX_STACKS);

            let first = all.len();
            all.extend(largest.into_iter().map(|(stack, _)| stack));
            let numbers: HashMap<&[usize], usize> =
                (first..).zip(&all[first..]).map(|(number, stack)| (&stack[..], number)).collect();
            for (chain, stack) in of_chain.iter_mut().enumerate() {
                if stack.is_none() {
                    *stack = numbers.get(&shortened(functions(chain), depth, others)[..]).copied();
                }
            }
        }
        // The last depth has one stack for all that are left.
        let of_chain = of_chain.into_iter().map(Option::unwrap_or_default).collect();
        Stacks { all, of_chain }
    }
}

/// A stack, of which a function that calls itself is one, with at most so many functions.
fn shortened(mut stack: Vec<usize>, depth: usize, others: usize) -> Vec<usize> {
    stack.dedup();
    if stack.len() > depth {
        stack.truncate(depth);
        stack.push(others);
    }
    stack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_time_is_in_a_stack() {
        // Each chain of 20 functions differs in the last, which calls itself.
        let common: Vec<usize> = (1..20).collect();
        let chains: Vec<Vec<usize>> =
            (0..3000).map(|last| [&common[..], &[100 + last, 100 + last]].concat()).collect();
        let ns: Vec<u64> = (0..3000).collect();

        let stacks = Stacks::new(|chain| chains[chain].clone(), &ns, 0);

        assert_eq!(stacks.all.len(), MAX_STACKS + 1);
        let of = |chain: usize| &stacks.all[stacks.of_chain[chain]];
        assert_eq!(*of(2999), [&common[..], &[3099]].concat());
        assert_eq!(*of(7), [&common[..16], &[0]].concat());
    }
}
