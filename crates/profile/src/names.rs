//! Names of functions as their programmers know them.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// The most bytes of a name: those of templates grow without limit.
const MAX_BYTES: usize = 500;

/// What compilers append, after a full stop, to the name of a part or a copy of a function. The
/// next build may have other parts, so that all are one function.
const PARTS: [&str; 3] = ["cold", "warm", "localalias"];

/// Those that a number follows. (Of the others it may.)
const NUMBERED_PARTS: [&str; 7] =
    ["part", "isra", "constprop", "llvm", "lto_priv", "specialized", "__uniq"];

/// A symbol as its programmer wrote it, without what a compiler has made of it.
pub fn readable(symbol: &str) -> String {
    let mut whole = symbol;
    while let Some(shorter) = without_last_part(whole) {
        whole = shorter;
    }
    demangled(whole).unwrap_or_else(|| shortened(whole))
}

/// A symbol without the part that ends it; `None` if it ends in none. A Go function's own name
/// follows a full stop, too: `main.warmup`.
fn without_last_part(symbol: &str) -> Option<&str> {
    let (before, last) = symbol.rsplit_once('.')?;
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = if is_number { before.rsplit_once('.')? } else { (before, last) };

    let is_part = PARTS.contains(&part) || is_number && NUMBERED_PARTS.contains(&part);
    (is_part && !whole.is_empty()).then_some(whole)
}

/// The name of a function in the map of a compiler, such as `py::parse:/src/tool.py` or
/// `JS:*parse file:///src/tool.js:2:15`, without its file and how well it was compiled: the other
/// command's file may lie elsewhere, and a function may be compiled again while the program runs.
pub fn in_map(name: &str) -> String {
    if let Some(python) = name.strip_prefix("py::") {
        let function = python.split(':').next().unwrap_or(python);
        return shortened(&format!("py::{function}"));
    }

    let of_node = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"];
    let node = of_node.iter().find_map(|kind| name.strip_prefix(kind));
    let Some((function, place)) = node.and_then(|node| node.split_once(' ')) else {
        return shortened(name);
    };
    let function = function.trim_start_matches(['*', '~', '^', '+', '\'']);
    let file = place.rsplit('/').next().unwrap_or(place);
    match function {
        // Its place is all that it has.
        "" | "<anonymous>" => shortened(&format!("<anonymous> {file}")),
        _ => shortened(function),
    }
}

/// The name that a Rust or C++ symbol encodes, cut to [`MAX_BYTES`]; `None` if it encodes none.
fn demangled(symbol: &str) -> Option<String> {
    let mut text = Limited::default();
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        // Without the hash, which differs between builds. An error says that the text was cut.
        let _ = write!(text, "{name:#}");
        return text.finish();
    }
    if !symbol.starts_with("_Z") {
        return None;
    }

    let name = Symbol::new(symbol).ok()?;
    let options = DemangleOptions::new().no_return_type();
    let _ = name.structured_demangle(&mut text, &options);
    text.finish()
}

fn shortened(name: &str) -> String {
    let mut text = Limited::default();
    let _ = text.write_str(name);
    text.0
}

/// A text that ends where it would become too long.
#[derive(Default)]
struct Limited(String);

impl Limited {
    fn finish(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_BYTES.saturating_sub(self.0.len());
        let mut ends = (0..=room.min(text.len())).rev();
        let end = ends.find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.0.push_str(&text[..end]);
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, expected) in [
            ("parse_number", "parse_number"),
            ("parse_number.constprop.0", "parse_number"),
            ("parse_number.isra.0.cold", "parse_number"),
            ("parse_number.constprop.0.cold.1", "parse_number"),
            ("main.(*T).parse", "main.(*T).parse"),
            ("main.warmup", "main.warmup"),
            ("tools/cold.partial.isra", "tools/cold.partial.isra"),
            ("main.main.func1.2", "main.main.func1.2"),
            ("_ZN4json5parseERKSs", "json::parse(std::string const&)"),
            ("_ZSt4sortIPiEvT_S1_.part.0", "std::sort<int*>(int*, int*)"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvCs1234_7mycrate4main", "mycrate::main"),
            ("_Zwhat", "_Zwhat"),
            (".cold", ".cold"),
        ] {
            assert_eq!(readable(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn names_of_maps_are_the_same_wherever_their_files_lie() {
        for (name, expected) in [
            ("py::parse:/old/tool.py", "py::parse"),
            ("py::Shop.price:/new/tool.py", "py::Shop.price"),
            ("py::<module>:<frozen importlib._bootstrap>", "py::<module>"),
            ("JS:~parse file:///old/tool.js:2:15", "parse"),
            ("JS:*parse /new/tool.js:3:15", "parse"),
            ("LazyCompile:*Shop.price /new/tool.js:3:15", "Shop.price"),
            ("JS:^<anonymous> /new/tool.js:7:1", "<anonymous> tool.js:7:1"),
            ("Builtin:ArrayPush", "Builtin:ArrayPush"),
            ("int Work.parse(int)", "int Work.parse(int)"),
        ] {
            assert_eq!(in_map(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_grows_without_limit_is_cut() {
        // Each substitution holds all before it twice.
        let mut symbol = "_Z1fSt4pairIiiE".to_owned();
        for seed in 0..20 {
            let _ = write!(symbol, "St4pairIS{seed}_S{seed}_E");
        }

        assert!(readable(&symbol).len() <= MAX_BYTES);
        assert_eq!(readable(&"x".repeat(5000)).len(), MAX_BYTES);
    }
}
