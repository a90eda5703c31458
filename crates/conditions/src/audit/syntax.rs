//! Rules in the format of auditctl(8) and of the files in /etc/audit/rules.d, one a line:
//!
//! ```text
//! -a always,exit -F arch=b64 -S open,openat -F auid>=1000 -F success=0 -k opens
//! -w /etc/passwd -p wa -k identity
//! ```
//!
//! [`parse`] reads a text: it leaves lines out that set or delete something for the whole machine,
//! and notes that. [`Words::sort`] sorts the words of a line by option, and [`build_rule`] makes a
//! rule of them.

use crate::audit::names::{self, Kind};
use crate::audit::rule::{ALWAYS, Field, NEVER, Rule, Value, field, list, op};

/// The longest key that the kernel takes (AUDIT_MAX_KEY_LEN).
const MAX_KEY_BYTES: usize = 256;

/// A rule, and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourcedRule {
    /// `FILE:LINE`.
    pub at: String,
    pub rule: Rule,
}

/// The rules of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleSet {
    /// In the order of the text.
    pub rules: Vec<SourcedRule>,
    /// Sentences about lines that were left out.
    pub notes: Vec<String>,
}

/// The treatment of system calls and architectures that this machine does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// They are an error: somebody wrote them for this machine.
    Refuse,
    /// They are left out: the text is for every machine.
    Skip,
}

/// Reads a text of rules; errors refer to it as `name`.
///
/// # Errors
/// The first line that is not a rule, and what to try.
pub(crate) fn parse(text: &str, name: &str, unknown: Unknown) -> Result<RuleSet, String> {
    let mut set = RuleSet::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }

        let at = format!("{name}:{}", index + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        if unknown == Unknown::Skip && words.iter().any(|word| is_other_arch(word)) {
            continue;
        }
        if let Some(why) = why_left_out(&words) {
            set.notes.push(format!("{at}: '{line}' {why} and was left out"));
            continue;
        }
        if let Some(rule) = build_rule(&words, unknown).map_err(|why| format!("{at}: {why}"))? {
            set.rules.push(SourcedRule { at, rule });
        }
    }

    Ok(set)
}

/// True if a word limits its rule to programs that this machine does not run.
fn is_other_arch(word: &str) -> bool {
    word.strip_prefix("arch=").is_some_and(|arch| names::arch_number(arch).is_none())
}

/// The reason why a line is left out, if it is: the tool adds rules to those that are there, for
/// its own programs.
fn why_left_out(words: &[&str]) -> Option<&'static str> {
    let option = words[0];
    let is_global = matches!(option, "-D" | "-b" | "-f" | "-e" | "-r" | "-c" | "-i" | "-q" | "-t");
    if is_global || option.starts_with("--") {
        return Some("applies to the whole machine");
    }
    if matches!(option, "-d" | "-W" | "-l" | "-s") {
        return Some("adds nothing");
    }

    let adds_to_list = matches!(option, "-a" | "-A");
    let mut lists = words.get(1).copied().unwrap_or_default().split(',');
    if adds_to_list && lists.any(|list| ["task", "user", "filesystem", "io_uring"].contains(&list))
    {
        return Some("does not concern system calls of the measured programs");
    }

    None
}

/// The words of a line, sorted by their options.
#[derive(Default)]
struct Words<'a> {
    /// `-a`: the list, and the action.
    place: Option<(u32, u32)>,
    /// `-w`.
    watch: Option<&'a str>,
    /// `-p`.
    perm: Option<&'a str>,
    /// `-F arch=`, which is among the fields too.
    arch: Option<u32>,
    /// `-S`.
    calls: Vec<&'a str>,
    /// `-F` and `-C`.
    fields: Vec<Field>,
    /// `-k`.
    key: Option<&'a str>,
}

/// The rule of a line; `None` if this machine has none of its system calls.
fn build_rule(words: &[&str], unknown: Unknown) -> Result<Option<Rule>, String> {
    let words = Words::sort(words)?;
    let mut rule = match (words.place, words.watch) {
        (Some((list, action)), None) => Rule::new(list, action),
        (None, Some(_)) => Rule::new(list::EXIT, ALWAYS),
        (Some(_), Some(_)) => {
            return Err("a rule has -a or -w, not both; make it two lines".to_owned());
        }
        (None, None) => {
            return Err("not a rule; one begins with -a or -w (see auditctl(8))".to_owned());
        }
    };
    if !add_calls(&mut rule, &words, unknown)? {
        return Ok(None);
    }

    if let Some(path) = words.watch {
        rule.fields.push(watch_field(path)?);
    }
    rule.fields.extend(words.fields);
    if words.watch.is_some() || words.perm.is_some() {
        let letters = words.perm.unwrap_or("rwxa");
        let bits = names::perm_bits(letters)
            .ok_or_else(|| format!("-p '{letters}': use letters of rwxa"))?;
        rule.fields.push(Field::number(field::PERM, op::EQUAL, bits));
    }
    if let Some(key) = words.key {
        rule.fields.push(key_field(key)?);
    }
    Ok(Some(rule))
}

impl<'a> Words<'a> {
    fn sort(words: &[&'a str]) -> Result<Words<'a>, String> {
        let mut sorted = Words::default();
        let mut words = words.iter().copied();
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{option} needs a value"));
            match option {
                "-a" | "-A" => sorted.place = Some(parse_place(value()?)?),
                "-w" => sorted.watch = Some(value()?),
                "-p" => sorted.perm = Some(value()?),
                "-k" => sorted.key = Some(value()?),
                "-S" => sorted.calls.extend(value()?.split(',')),
                "-F" => {
                    let field = parse_field(value()?)?;
                    if let (field::ARCH, Value::Number(arch)) = (field.id, &field.value) {
                        sorted.arch = Some(*arch);
                    }
                    sorted.fields.push(field);
                }
                "-C" => sorted.fields.push(parse_pair(value()?)?),
                other => {
                    return Err(format!(
                        "'{other}' is not an option of a rule; there are -a -A -w -p -S -F -C -k"
                    ));
                }
            }
        }

        Ok(sorted)
    }
}

/// Reads `LIST,ACTION`, in either order.
fn parse_place(word: &str) -> Result<(u32, u32), String> {
    let (mut list, mut action) = (None, None);
    for name in word.split(',') {
        match name {
            "exit" => list = Some(list::EXIT),
            "exclude" => list = Some(list::EXCLUDE),
            "always" => action = Some(ALWAYS),
            "never" => action = Some(NEVER),
            _ => {}
        }
    }

    list.zip(action).ok_or_else(|| format!("'{word}' is not a list and an action; try always,exit"))
}

/// Makes a rule match the system calls of its words; false if this machine has none of them.
fn add_calls(rule: &mut Rule, words: &Words<'_>, unknown: Unknown) -> Result<bool, String> {
    // The kernel wants the bits also in rules that are not about system calls.
    if words.calls.is_empty() || words.calls.contains(&"all") {
        rule.add_every_call();
        return Ok(true);
    }

    let mut has_any = false;
    for name in &words.calls {
        match names::call_number(name, words.arch) {
            Some(number) if rule.add_call(number) => has_any = true,
            Some(number) => return Err(format!("-S {number}: the highest system call is 2015")),
            None if unknown == Unknown::Skip => {}
            None => {
                return Err(format!(
                    "-S {name}: this architecture has no such system call; try its number, or -F arch=b32"
                ));
            }
        }
    }

    Ok(has_any)
}

/// Reads `FIELD OP VALUE` without blanks.
fn parse_field(word: &str) -> Result<Field, String> {
    let (name, op, text) = split_comparison(word)?;
    let (id, kind) = names::parse_field(name)
        .ok_or_else(|| format!("-F {word}: there is no field '{name}'; auditctl(8) lists them"))?;
    match kind {
        Kind::Path => Ok(Field::text(id, op, absolute_path(text)?)),
        Kind::Text if id == field::KEY => key_field(text),
        Kind::Text => Ok(Field::text(id, op, text)),
        _ => names::parse_value(kind, text)
            .map(|value| Field::number(id, op, value))
            .ok_or_else(|| format!("-F {word}: '{text}' is not a value of {name}; try a number")),
    }
}

/// Reads `FIELD=FIELD` or `FIELD!=FIELD`.
fn parse_pair(word: &str) -> Result<Field, String> {
    let (left, op, right) = split_comparison(word)?;
    let is_equality = op == op::EQUAL || op == op::NOT_EQUAL;
    match names::pair_number(left, right) {
        Some(pair) if is_equality => Ok(Field::number(field::FIELD_COMPARE, op, pair)),
        _ => {
            Err(format!("-C {word}: the kernel cannot compare these; auditctl(8) lists the pairs"))
        }
    }
}

/// Splits a comparison into its field, operator and value; an error if one is missing.
fn split_comparison(word: &str) -> Result<(&str, u32, &str), String> {
    // In this order, since `>` is a prefix of `>=`, `<` of `<=` and `&` of `&=`.
    const OPS: [(&str, u32); 8] = [
        ("!=", op::NOT_EQUAL),
        (">=", op::GREATER | op::EQUAL),
        ("<=", op::LESS | op::EQUAL),
        ("&=", op::AND | op::EQUAL),
        ("=", op::EQUAL),
        (">", op::GREATER),
        ("<", op::LESS),
        ("&", op::AND),
    ];
    let start = word.find(['!', '>', '<', '&', '=']).unwrap_or(word.len());
    let (name, comparison) = word.split_at(start);
    for (sign, op) in OPS {
        match comparison.strip_prefix(sign) {
            Some(value) if !name.is_empty() && !value.is_empty() => return Ok((name, op, value)),
            // A shorter operator would read the end of this one as a value.
            Some(_) => break,
            None => {}
        }
    }

    Err(format!("'{word}' is not a comparison; try FIELD=VALUE without blanks"))
}

/// The field that watches a directory with everything below it, or a file.
fn watch_field(path: &str) -> Result<Field, String> {
    let path = absolute_path(path)?;
    let id = if std::path::Path::new(path).is_dir() { field::DIR } else { field::WATCH };
    Ok(Field::text(id, op::EQUAL, path))
}

/// An absolute path, without slashes at its end.
fn absolute_path(path: &str) -> Result<&str, String> {
    if !path.starts_with('/') {
        return Err(format!("'{path}' is not an absolute path"));
    }

    let short = path.trim_end_matches('/');
    Ok(if short.is_empty() { "/" } else { short })
}

fn key_field(key: &str) -> Result<Field, String> {
    if key.len() > MAX_KEY_BYTES {
        return Err(format!(
            "the key is {} bytes long; the kernel takes {MAX_KEY_BYTES}",
            key.len()
        ));
    }

    Ok(Field::text(field::KEY, op::EQUAL, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Rule {
        let mut text = parse(line, "r", Unknown::Refuse).unwrap();
        assert_eq!((text.rules.len(), &text.notes[..]), (1, &[][..]), "{line}");
        text.rules.remove(0).rule
    }

    fn wrong(text: &str) -> String {
        parse(text, "my.rules", Unknown::Refuse).unwrap_err()
    }

    #[test]
    fn a_rule_with_everything() {
        let rule = parsed(
            "-a always,exit -F arch=b64 -S 2,257 -S 3 -F auid>=1000 -F auid!=unset -F success=0 -F perm=wa -k opens",
        );
        assert_eq!((rule.list, rule.action), (list::EXIT, ALWAYS));
        assert_eq!((rule.mask[0], rule.mask[8]), (0b1100, 0b10));
        let numbers: Vec<(u32, u32, Value)> = rule.fields[1..]
            .iter()
            .map(|field| (field.id, field.op, field.value.clone()))
            .collect();
        assert_eq!(
            numbers,
            [
                (9, 0x6000_0000, Value::Number(1000)),
                (9, 0x3000_0000, Value::Number(u32::MAX)),
                (104, 0x4000_0000, Value::Number(0)),
                (106, 0x4000_0000, Value::Number(10)),
                (210, 0x4000_0000, Value::Text("opens".to_owned())),
            ]
        );
    }

    #[test]
    fn watches_of_files_and_directories() {
        let file = parsed("-w /etc/passwd -p wa -k identity");
        assert_eq!(file.fields[0], Field::text(field::WATCH, op::EQUAL, "/etc/passwd"));
        assert_eq!(file.fields[1], Field::number(field::PERM, op::EQUAL, 10));
        assert_eq!((file.mask[0], file.mask[62], file.mask[63]), (u32::MAX, u32::MAX, 0));
        let folder = parsed("-w /etc/");
        assert_eq!(folder.fields[0], Field::text(field::DIR, op::EQUAL, "/etc"));
        assert_eq!(folder.fields[1], Field::number(field::PERM, op::EQUAL, 15));
    }

    #[test]
    fn what_is_about_the_whole_machine_is_noted() {
        let text = "# a comment\n-D\n-b 8192\n\n--loginuid-immutable\n-e 2\n-a never,task\n-a always,exit -S all\n";
        let read = parse(text, "f", Unknown::Refuse).unwrap();
        assert_eq!((read.rules.len(), read.notes.len()), (1, 5));
        assert_eq!(read.rules[0].at, "f:8");
        assert_eq!(read.notes[1], "f:3: '-b 8192' applies to the whole machine and was left out");
    }

    #[test]
    fn errors_name_the_line_and_what_to_try() {
        for (text, has) in [
            (
                "\n-a always,exit -S opne",
                "my.rules:2: -S opne: this architecture has no such system call",
            ),
            ("-a always", "'always' is not a list and an action; try always,exit"),
            ("-a always,exit -F auid", "'auid' is not a comparison; try FIELD=VALUE"),
            ("-a always,exit -F user=1", "there is no field 'user'"),
            ("-a always,exit -F arch=b65", "'b65' is not a value of arch"),
            ("-a always,exit -F path=etc", "'etc' is not an absolute path"),
            ("-a always,exit -C uid=inode", "the kernel cannot compare these"),
            ("-a always,exit -S", "-S needs a value"),
            ("-w /etc -p z", "-p 'z': use letters of rwxa"),
            ("audit everything", "'audit' is not an option of a rule"),
            ("-k key", "not a rule; one begins with -a or -w"),
            ("-a always,exit -S 3000", "the highest system call is 2015"),
        ] {
            assert!(wrong(text).contains(has), "{text}: {}", wrong(text));
        }
    }

    #[test]
    fn texts_for_every_machine_leave_out_what_it_lacks() {
        let text = "-a always,exit -S nothing_here\n-a always,exit -F arch=other -S close\n-a always,exit -S nothing_here,close";
        let read = parse(text, "f", Unknown::Skip).unwrap();
        assert_eq!((read.rules.len(), read.rules[0].at.as_str()), (1, "f:3"));
    }
}
