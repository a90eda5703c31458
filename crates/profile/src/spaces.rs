//! The address spaces of an execution's processes: what lies at an address.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::records::Mapped;

/// What processes have mapped, as their records say it.
#[derive(Debug, Default)]
pub struct Spaces(HashMap<u32, Rc<Space>>);

/// Mappings by their starts, none of which overlaps another.
type Space = BTreeMap<u64, Rc<Mapped>>;

impl Spaces {
    /// A process became another program, whose mappings follow.
    pub fn exec(&mut self, process: u32) {
        self.0.remove(&process);
    }

    /// A process began with the mappings of its parent. Threads have their own process' number.
    pub fn fork(&mut self, process: u32, parent: u32) {
        if process == parent {
            return;
        }
        if let Some(space) = self.0.get(&parent).cloned() {
            self.0.insert(process, space);
        }
    }

    /// Adds a mapping, which replaces what lay at its addresses.
    pub fn map(&mut self, process: u32, mapping: Mapped) {
        let space = Rc::make_mut(self.0.entry(process).or_default());
        let (start, end) = (mapping.start, mapping.end);
        if start >= end {
            return;
        }

        let covered: Vec<u64> = space
            .range(..end)
            .rev()
            .take_while(|(_, other)| other.end > start)
            .map(|(at, _)| *at)
            .collect();
        for at in covered {
            let Some(other) = space.remove(&at) else { continue };
            if other.start < start {
                space.insert(other.start, Rc::new(Mapped { end: start, ..(*other).clone() }));
            }
            if other.end > end {
                let offset = other.offset.wrapping_add(end - other.start);
                space.insert(end, Rc::new(Mapped { start: end, offset, ..(*other).clone() }));
            }
        }
        space.insert(start, Rc::new(mapping));
    }

    /// The mapping at an address of a process.
    pub fn find(&self, process: u32, address: u64) -> Option<&Rc<Mapped>> {
        let (_, mapping) = self.0.get(&process)?.range(..=address).next_back()?;
        (address < mapping.end).then_some(mapping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, end: u64, path: &str) -> Mapped {
        Mapped { start, end, offset: start, inode: 1, path: path.to_owned() }
    }

    fn path(spaces: &Spaces, process: u32, address: u64) -> Option<&str> {
        spaces.find(process, address).map(|mapping| &*mapping.path)
    }

    #[test]
    fn a_mapping_replaces_what_it_covers() {
        let mut spaces = Spaces::default();
        spaces.map(1, mapping(10, 50, "a"));
        spaces.map(1, mapping(20, 30, "b"));

        let found = [9, 10, 19, 20, 29, 30, 49, 50].map(|address| path(&spaces, 1, address));

        let expected =
            [None, Some("a"), Some("a"), Some("b"), Some("b"), Some("a"), Some("a"), None];
        assert_eq!(found, expected);
        assert_eq!(spaces.find(1, 30).unwrap().offset, 30);
    }

    #[test]
    fn children_have_their_parents_mappings_until_they_execute() {
        let mut spaces = Spaces::default();
        spaces.map(1, mapping(10, 50, "a"));
        spaces.fork(2, 1);
        spaces.map(2, mapping(60, 70, "b"));
        assert_eq!((path(&spaces, 2, 10), path(&spaces, 1, 60)), (Some("a"), None));

        spaces.exec(2);
        assert_eq!((path(&spaces, 2, 10), path(&spaces, 1, 10)), (None, Some("a")));
    }
}
