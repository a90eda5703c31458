//! Values that begin with a dash, such as `-r -1`: clap takes them for options, and advises `--`,
//! after which they would be commands.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// What to write in place of an option's value that was taken for an option; `None` if that is not
/// what `error` is about.
pub(super) fn describe(error: &Error, words: &[OsString], tool: &Command) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let words: Vec<&str> = words.iter().map_while(|word| word.to_str()).collect();
    let verb = tool.find_subcommand(words.get(1)?)?;

    // Of a word such as -5%, clap names only -5.
    let pair = words.windows(2).find(|pair| {
        pair[1].starts_with(unknown.as_str())
            && verb.get_arguments().any(|arg| requires_value(arg) && is_named(arg, pair[0]))
    })?;
    let &[option, value] = pair else { return None };
    let joined = words::shell(&[format!("{option}={value}")]);
    Some(format!(
        "'{value}' is taken for an option; write {joined} to make it the value of {option}"
    ))
}

fn requires_value(arg: &Arg) -> bool {
    let has_required_value = arg.get_num_args().is_none_or(|count| count.min_values() > 0);
    arg.get_action().takes_values() && has_required_value && !arg.is_positional()
}

/// True if a word is the option's long name, or its letter.
fn is_named(arg: &Arg, word: &str) -> bool {
    let is_long = arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
    is_long || arg.get_short().is_some_and(|letter| word == format!("-{letter}"))
}
