//! Rules in the format of auditctl(8) and of the files in /etc/audit/rules.d.

use crate::audit::names::{self, Kind};
use crate::audit::rule::{ALWAYS, Field, NEVER, Rule, field, list, op};

/// The longest key that the kernel takes, in bytes.
const KEY_LENGTH: usize = 256;

/// A rule, and where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// `FILE:LINE`.
    pub at: String,
    /// The rule.
    pub rule: Rule,
}

/// The rules of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleSet {
    /// Its rules, in order.
    pub rules: Vec<Line>,
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
    let mut read = RuleSet::default();
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
        if let Some(why) = left_out(&words) {
            read.notes.push(format!("{at}: '{line}' {why} and was left out"));
            continue;
        }
        if let Some(rule) = rule(&words, unknown).map_err(|why| format!("{at}: {why}"))? {
            read.rules.push(Line { at, rule });
        }
    }
    Ok(read)
}

/// Returns true if a word limits its rule to programs that this machine does not run.
fn is_other_arch(word: &str) -> bool {
    word.strip_prefix("arch=").is_some_and(|arch| names::arch(arch).is_none())
}

/// Returns why a line is left out: the tool adds rules to those that are there, for its own programs.
fn left_out(words: &[&str]) -> Option<&'static str> {
    let whole = ["-D", "-b", "-f", "-e", "-r", "-c", "-i", "-q", "-t"];
    if whole.contains(&words[0]) || words[0].starts_with("--") {
        return Some("applies to the whole machine");
    }
    if matches!(words[0], "-d" | "-W" | "-l" | "-s") {
        return Some("adds nothing");
    }
    let listed = |name: &str| words.get(1).is_some_and(|word| word.split(',').any(|part| part == name));
    if matches!(words[0], "-a" | "-A") && ["task", "user", "filesystem", "io_uring"].iter().any(|name| listed(name)) {
        return Some("does not concern system calls of the measured programs");
    }
    None
}

/// The words of a line, sorted.
#[derive(Default)]
struct Parts<'a> {
    place: Option<(u32, u32)>,
    watch: Option<&'a str>,
    perm: Option<&'a str>,
    arch: Option<u32>,
    calls: Vec<&'a str>,
    fields: Vec<Field>,
    key: Option<&'a str>,
}

/// Reads a rule; `None` if this machine has none of its system calls.
fn rule(words: &[&str], unknown: Unknown) -> Result<Option<Rule>, String> {
    let parts = sort(words)?;
    let mut rule = match (parts.place, parts.watch) {
        (Some((list, action)), None) => Rule::new(list, action),
        (None, Some(_)) => Rule::new(list::EXIT, ALWAYS),
        (Some(_), Some(_)) => return Err("a rule has -a or -w, not both; make it two lines".to_owned()),
        (None, None) => return Err("not a rule; one begins with -a or -w (see auditctl(8))".to_owned()),
    };
    if !set_calls(&mut rule, &parts, unknown)? {
        return Ok(None);
    }
    if let Some(path) = parts.watch {
        rule.fields.push(watched(path)?);
    }
    rule.fields.extend(parts.fields);
    if parts.watch.is_some() || parts.perm.is_some() {
        let letters = parts.perm.unwrap_or("rwxa");
        let bits = names::perm(letters).ok_or_else(|| format!("-p '{letters}': use letters of rwxa"))?;
        rule.fields.push(Field::number(field::PERM, op::EQUAL, bits));
    }
    if let Some(key) = parts.key {
        rule.fields.push(key_field(key)?);
    }
    Ok(Some(rule))
}

fn sort<'a>(words: &[&'a str]) -> Result<Parts<'a>, String> {
    let mut parts = Parts::default();
    let mut words = words.iter().copied();
    while let Some(option) = words.next() {
        let mut next = || words.next().ok_or_else(|| format!("{option} needs a value"));
        match option {
            "-a" | "-A" => parts.place = Some(list_and_action(next()?)?),
            "-w" => parts.watch = Some(next()?),
            "-p" => parts.perm = Some(next()?),
            "-k" => parts.key = Some(next()?),
            "-S" => parts.calls.extend(next()?.split(',')),
            "-F" => {
                let field = comparison(next()?)?;
                if let (field::ARCH, crate::audit::rule::Value::Number(arch)) = (field.id, &field.value) {
                    parts.arch = Some(*arch);
                }
                parts.fields.push(field);
            }
            "-C" => parts.fields.push(pair(next()?)?),
            other => return Err(format!("'{other}' is not an option of a rule; there are -a -A -w -p -S -F -C -k")),
        }
    }
    Ok(parts)
}

/// Reads `LIST,ACTION`, in either order.
fn list_and_action(word: &str) -> Result<(u32, u32), String> {
    let mut found = (None, None);
    for part in word.split(',') {
        match part {
            "exit" => found.0 = Some(list::EXIT),
            "exclude" => found.0 = Some(list::EXCLUDE),
            "always" => found.1 = Some(ALWAYS),
            "never" => found.1 = Some(NEVER),
            _ => {}
        }
    }
    match found {
        (Some(list), Some(action)) => Ok((list, action)),
        _ => Err(format!("'{word}' is not a list and an action; try always,exit")),
    }
}

/// Sets the bits of the system calls; returns whether this machine has any of them.
fn set_calls(rule: &mut Rule, parts: &Parts<'_>, unknown: Unknown) -> Result<bool, String> {
    // The kernel wants the bits also in rules that are not about system calls.
    if parts.calls.is_empty() || parts.calls.contains(&"all") {
        rule.every_call();
        return Ok(true);
    }
    let mut any = false;
    for name in &parts.calls {
        match names::call(name, parts.arch) {
            Some(number) if rule.call(number) => any = true,
            Some(number) => return Err(format!("-S {number}: the highest system call is 2015")),
            None if unknown == Unknown::Skip => {}
            None => {
                return Err(format!(
                    "-S {name}: this architecture has no such system call; try its number, or -F arch=b32"
                ));
            }
        }
    }
    Ok(any)
}

/// Reads `FIELD OP VALUE` without blanks.
fn comparison(word: &str) -> Result<Field, String> {
    let (name, op, text) = split(word)?;
    let (id, kind) =
        names::field(name).ok_or_else(|| format!("-F {word}: there is no field '{name}'; auditctl(8) lists them"))?;
    match kind {
        Kind::Path => Ok(Field::text(id, op, absolute(text)?)),
        Kind::Text if id == field::KEY => key_field(text),
        Kind::Text => Ok(Field::text(id, op, text)),
        _ => names::value(kind, text)
            .map(|value| Field::number(id, op, value))
            .ok_or_else(|| format!("-F {word}: '{text}' is not a value of {name}; try a number")),
    }
}

fn pair(word: &str) -> Result<Field, String> {
    let (left, op, right) = split(word)?;
    let pair = names::pair(left, right).filter(|_| op == op::EQUAL || op == op::NOT_EQUAL);
    pair.map(|pair| Field::number(field::FIELD_COMPARE, op, pair))
        .ok_or_else(|| format!("-C {word}: the kernel cannot compare these; auditctl(8) lists the pairs"))
}

fn split(word: &str) -> Result<(&str, u32, &str), String> {
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
    let start = word.find(['!', '>', '<', '&', '=']).filter(|start| *start > 0);
    let found = start.and_then(|start| {
        let rest = &word[start..];
        let (sign, op) = OPS.iter().find(|(sign, _)| rest.starts_with(sign))?;
        Some((&word[..start], *op, &rest[sign.len()..]))
    });
    found
        .filter(|(_, _, value)| !value.is_empty())
        .ok_or_else(|| format!("'{word}' is not a comparison; try FIELD=VALUE without blanks"))
}

/// Returns the field that watches a directory with everything below it, or a file.
fn watched(path: &str) -> Result<Field, String> {
    let path = absolute(path)?;
    let id = if std::path::Path::new(path).is_dir() { field::DIR } else { field::WATCH };
    Ok(Field::text(id, op::EQUAL, path))
}

fn absolute(path: &str) -> Result<&str, String> {
    if !path.starts_with('/') {
        return Err(format!("'{path}' is not an absolute path"));
    }
    let short = path.trim_end_matches('/');
    Ok(if short.is_empty() { "/" } else { short })
}

fn key_field(key: &str) -> Result<Field, String> {
    if key.len() > KEY_LENGTH {
        return Err(format!("the key is {} bytes long; the kernel takes {KEY_LENGTH}", key.len()));
    }
    Ok(Field::text(field::KEY, op::EQUAL, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::rule::Value;

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
        let numbers: Vec<(u32, u32, Value)> =
            rule.fields[1..].iter().map(|field| (field.id, field.op, field.value.clone())).collect();
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
            ("\n-a always,exit -S opne", "my.rules:2: -S opne: this architecture has no such system call"),
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
