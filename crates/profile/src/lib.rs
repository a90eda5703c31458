//! Where executions spent their processor time: from the records that the kernel took of them to
//! functions.
//!
//! 1. [`records`] reads the records of an execution, in the order of their times.
//! 2. [`spaces`] keeps each process' mappings, from which an address becomes a place: an offset
//!    in a file, or code that a compiler made while the program ran.
//! 3. [`collect`] adds up the time of each chain of places ([`Collector::add`]), and the
//!    instructions at each place ([`Collector::count`]) that valgrind has counted ([`callgrind`]).
//! 4. When all executions are added, each file is read once, its symbols ([`symbols`]) and its
//!    debug information ([`dwarf`]); places ([`places`]) become functions ([`naming`]), and those
//!    that were inlined ([`inlined`]) are functions, too: see [`Collector::finish`]. Few of their
//!    stacks are kept whole ([`stacks`]). [`remarks`] says what has no names.
//!
//! All of this was written by strangers, the samples apart: a program's symbols, the map of its
//! compiler. So whatever it says, nothing is read as a whole that has no limit.

mod arms;
mod callgrind;
mod collect;
mod dwarf;
mod elf;
mod inlined;
mod jit;
mod kernel;
mod names;
mod naming;
mod places;
mod records;
mod remarks;
mod spaces;
mod stacks;
mod symbols;

pub use collect::{Collector, Execution};
pub use kernel::KernelSymbols;
