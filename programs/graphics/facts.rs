//! What there is to draw on and to draw with: `unixmark-graphics facts` prints `NAME\tLABEL\tVALUE` lines, which the
//! tool writes into the journal. Each kind is printed before the next one is asked, so that a GL driver that crashes
//! takes no more than its own.

use std::io::Write;
use std::process::ExitCode;

use crate::kit::printable;
use crate::{gl, wayland, x};

/// Name in the journal, name for people, and value.
pub type Fact = (&'static str, &'static str, String);

/// Who knows any.
const SOURCES: &[fn() -> Vec<Fact>] = &[wayland::facts, x::facts, gl::facts];

pub fn tell() -> ExitCode {
    let mut out = std::io::stdout();
    let mut told = Vec::new();
    for source in SOURCES {
        for (name, label, value) in source() {
            // Under Wayland there is an X display too, by Xwayland: what is drawn on comes first.
            if !told.contains(&name) {
                let _ = writeln!(out, "{name}\t{label}\t{}", printable(&value));
                told.push(name);
            }
        }
        let _ = out.flush();
    }
    ExitCode::SUCCESS
}
