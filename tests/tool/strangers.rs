//! Files of others: bounded before anything is made of them, and left out by name where they are
//! bad.

mod damaged;
mod left_out;
