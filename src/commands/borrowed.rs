//! Words of other tools' command lines, and ours for the same.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options of other tools, and what ours has for them.
struct Borrowed {
    theirs: &'static [&'static str],
    ours: &'static str,
}

const OPTIONS: [Borrowed; 6] = [
    Borrowed { theirs: &["--json"], ours: "--format json, or --format brief" },
    Borrowed { theirs: &["--csv"], ours: "--format csv" },
    Borrowed { theirs: &["--markdown", "--md"], ours: "--format markdown" },
    Borrowed { theirs: &["--html"], ours: "--format html" },
    Borrowed { theirs: &["--svg", "--png", "--plot", "--chart"], ours: "--format svg" },
    Borrowed { theirs: &["--summary", "--short"], ours: "--format brief, or -q" },
];

/// What only some verbs have.
const PROFILE: Borrowed =
    Borrowed { theirs: &["--why", "--perf", "--profile", "--flamegraph"], ours: "--where" };
const PROFILE_VERBS: [&str; 2] = ["ab", "run"];

/// Verbs of tools that measure and compare.
const VERBS: [&str; 10] =
    ["bench", "benchmark", "bm", "diff", "exec", "hyper", "measure", "profile", "test", "time"];

/// What to try in place of a word of another tool's, if that is what clap does not know.
pub(super) fn describe(error: &Error, verb: &str) -> Option<String> {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = text_of(error, ContextKind::InvalidArg)?;
            let profile = PROFILE_VERBS.contains(&verb).then_some(&PROFILE);
            let mut options = OPTIONS.iter().chain(profile);
            let known = options.find(|borrowed| borrowed.theirs.contains(&option))?;
            Some(format!("there is no option '{option}'; try {}", known.ours))
        }
        ErrorKind::InvalidSubcommand => {
            let verb = text_of(error, ContextKind::InvalidSubcommand)?;
            VERBS.contains(&verb).then(|| {
                format!(
                    "there is no verb '{verb}'; try `unixmark ab 'COMMAND' 'COMMAND'` to compare \
                     commands, `unixmark run -- COMMAND` for one, `unixmark card` for this machine"
                )
            })
        }
        _ => None,
    }
}

fn text_of(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}
