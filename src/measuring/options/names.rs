//! Names of commands in reports: short, in one line, and unlike each other.

/// Characters of a name.
const MAX_LENGTH: usize = 60;

/// Characters before the first difference that a name keeps.
const MAX_CONTEXT: usize = 20;

/// Characters of the number that distinguishes equal commands, as in ` (123)`.
const NUMBER_LENGTH: usize = 6;

/// The name of a single command: itself, shortened, without anything that a terminal acts on.
pub(super) fn name(title: &str) -> String {
    words::shortened(&to_one_line(title), MAX_LENGTH)
}

/// Names commands. Those that would be shortened to the same name are named by where they differ;
/// equal ones are numbered.
pub(super) fn names(titles: &[String]) -> Vec<String> {
    let titles: Vec<String> = titles.iter().map(|title| to_one_line(title)).collect();
    let mut names: Vec<String> = Vec::new();
    for title in &titles {
        let usual_name = name(title);
        let namesakes: Vec<&String> =
            titles.iter().filter(|other| *other != title && name(other) == usual_name).collect();
        let short = if namesakes.is_empty() { usual_name } else { difference(title, &namesakes) };

        let room = MAX_LENGTH - NUMBER_LENGTH;
        let numbered = |number: u32| format!("{} ({number})", words::shortened(&short, room));
        let is_free = |name: &String| !names.contains(name);
        names.push(words::free_name([short.clone()], numbered, is_free));
    }
    names
}

/// The part of a command from its first difference to any of `others` on, with a few words before
/// it.
fn difference(title: &str, others: &[&String]) -> String {
    let letters: Vec<char> = title.chars().collect();
    let first_difference =
        others.iter().map(|other| count_common(&letters, other)).min().unwrap_or(0);

    // At the beginning of a word, if one begins in that room.
    let earliest = first_difference.saturating_sub(MAX_CONTEXT);
    let space = (earliest..first_difference).find(|place| letters[*place].is_whitespace());
    let start = space.map_or(earliest, |space| space + 1);

    // Less the marks of what is left out before and after it.
    let end = letters.len().min(start + MAX_LENGTH - 2);
    let part: String = letters[start..end].iter().collect();
    format!("…{part}{}", if end < letters.len() { "…" } else { "" })
}

/// The number of letters at the beginning that are the same.
fn count_common(letters: &[char], other: &str) -> usize {
    letters.iter().zip(other.chars()).take_while(|(letter, other)| *letter == other).count()
}

fn to_one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(titles: &[&str]) -> Vec<String> {
        names(&titles.iter().map(|title| (*title).to_owned()).collect::<Vec<String>>())
    }

    #[test]
    fn equal_commands_are_numbered() {
        assert_eq!(named(&["true", "true", "false"]), ["true", "true (2)", "false"]);
        assert_eq!(named(&["a", "a (2)", "a"]), ["a", "a (2)", "a (3)"]);
        assert_eq!(named(&["a\nb", "a b"]), ["a b", "a b (2)"]);
    }

    #[test]
    fn long_commands_are_named_by_what_differs() {
        let command = |mode: &str| {
            format!(
                "./simulate --input data/2024-01-01.csv --mode {mode} --output /tmp/results.csv --seed 1"
            )
        };
        assert_eq!(
            named(&[&command("fast"), &command("slow"), "true"]),
            [
                "…--mode fast --output /tmp/results.csv --seed 1",
                "…--mode slow --output /tmp/results.csv --seed 1",
                "true"
            ]
        );
    }

    #[test]
    fn no_name_is_longer_than_a_table_has_room_for() {
        let long = "x".repeat(200);
        let titles = [&*long, &long, &format!("{long}a{long}"), &format!("{long}b{long}")];
        let names = named(&titles);
        assert!(names.iter().all(|name| name.chars().count() <= MAX_LENGTH), "{names:?}");
        let mut unlike = names.clone();
        unlike.sort();
        unlike.dedup();
        assert_eq!(unlike.len(), titles.len(), "{names:?}");
    }
}
