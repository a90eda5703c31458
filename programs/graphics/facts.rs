//! What there is to draw on and to draw with: `unixmark-graphics facts` prints `NAME\tLABEL\tVALUE`
//! lines, which the tool writes into the journal. Each kind is printed before the next one is
//! asked, so that a GL driver that crashes takes no more than its own.

use std::io::Write;
use std::process::ExitCode;

use crate::kit::printable;
use crate::{gl, x};

pub struct Fact {
    /// In the journal.
    pub name: &'static str,
    /// For people.
    pub label: &'static str,
    pub value: String,
}

/// Of two that know the same fact, the first one counts: the display before the driver.
const SOURCES: [fn() -> Vec<Fact>; 2] = [x::facts, gl::facts];

pub fn print() -> ExitCode {
    let mut out = std::io::stdout();
    let mut printed_names = Vec::new();

    for facts_of_source in SOURCES {
        for Fact { name, label, value } in facts_of_source() {
            if !printed_names.contains(&name) {
                let _ = writeln!(out, "{name}\t{label}\t{}", printable(&value));
                printed_names.push(name);
            }
        }
        let _ = out.flush();
    }
    ExitCode::SUCCESS
}
