//! Two runs at once on one machine: they see each other by the names they hold.

use std::ops::Range;

use anyhow::{Result, bail};

use machine::Name;

/// How many runs can see each other.
const NUMBERS: Range<u32> = 0..16;

/// The names of a run that goes on.
pub(super) struct Place {
    number: Option<u32>,
    /// Held: they are given back with this.
    names: Vec<Name>,
}

impl Place {
    /// Takes the first number that is free.
    pub(super) fn take() -> Place {
        let found = NUMBERS.into_iter().find_map(|number| Some((number, numbered(number).ok()??)));
        let (number, name) = found.unzip();
        Place { number, names: name.into_iter().collect() }
    }

    /// Has this host to itself, among those that ask for that.
    ///
    /// # Errors
    /// Another has it, or measures here without having asked.
    pub(super) fn alone() -> Result<Place> {
        let alone = Name::take("unixmark-alone").ok().flatten();
        let free = |number: u32| matches!(numbered(number), Ok(Some(_)));
        let (Some(alone), true) = (alone, NUMBERS.into_iter().all(free)) else {
            bail!(
                "another unixmark measures on this host, which a fleet's run has to itself; try again when it has ended"
            );
        };
        let mut place = Place::take();
        place.names.push(alone);
        Ok(place)
    }

    /// Whether another run goes on now.
    pub(super) fn shared(&self) -> bool {
        let mut others = NUMBERS.filter(|number| Some(*number) != self.number);
        others.any(|number| matches!(numbered(number), Ok(None)))
    }
}

fn numbered(number: u32) -> std::io::Result<Option<Name>> {
    Name::take(&format!("unixmark-run-{number}"))
}
