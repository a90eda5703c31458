//! Parameters of commands, in hyperfine's words: `{NAME}` stands for each of several values.
//!
//! Every combination of values makes commands of its own. The first parameter varies fastest, and
//! all commands of a combination come before those of the next. A value is text: what it holds is
//! not replaced again.

use std::ffi::OsString;

use anyhow::{Context, Result, bail, ensure};

use catalogue::Parameter;

/// The most combinations of values: far more than commands can be compared.
const MAX_COMBINATIONS: usize = 1000;

/// The parameters of a command line.
#[derive(Debug, clap::Args)]
pub(crate) struct Parameters {
    /// A parameter and its values, also as NAME=A,B: {NAME} is replaced by each, in commands and in
    /// their names, --setup, --prepare, --conclude, --cleanup, --input and --output, which makes
    /// several commands of one; `\,` is a comma; repeatable
    #[arg(short = 'L', long, num_args = 2, value_names = ["NAME", "A,B,…"], allow_hyphen_values = true)]
    parameter_list: Vec<String>,
    /// The same for the numbers from MIN to MAX
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"], allow_hyphen_values = true)]
    parameter_scan: Vec<String>,
    /// The step between these numbers [default: 1]
    #[arg(short = 'D', long, value_name = "STEP", requires = "parameter_scan")]
    parameter_step_size: Option<String>,
}

/// One value for each parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Combination(Vec<Parameter>);

impl Combination {
    /// Replaces each `{NAME}` by the parameter's value.
    pub(crate) fn replace(&self, text: &str) -> String {
        let mut replaced = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let (before, placeholder) = rest.split_at(start);
            replaced.push_str(before);
            match self.0.iter().find(|parameter| is_at_start(placeholder, &parameter.name)) {
                Some(Parameter { name, value, .. }) => {
                    replaced.push_str(value);
                    rest = &placeholder[name.len() + 2..];
                }
                None => {
                    replaced.push('{');
                    rest = &placeholder[1..];
                }
            }
        }
        replaced + rest
    }

    /// The parameters, those marked as unused for which one of `texts` has no place.
    pub(crate) fn used_by(&self, texts: &[&str]) -> Vec<Parameter> {
        let is_in_all = |name: &str| texts.iter().all(|text| has_placeholder(text, name));
        self.0
            .iter()
            .map(|parameter| Parameter { unused: !is_in_all(&parameter.name), ..parameter.clone() })
            .collect()
    }

    /// True if there are no parameters.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Parameters {
    /// Every combination of the parameters' values; a single empty one without parameters.
    ///
    /// # Errors
    /// Two parameters have one name, a scan has no values, or there are too many combinations.
    pub(crate) fn combinations(&self) -> Result<Vec<Combination>> {
        let mut combinations = vec![Combination::default()];
        for (name, values) in self.values()? {
            ensure!(
                !combinations[0].0.iter().any(|parameter| parameter.name == name),
                "two parameters are called '{name}'; give each a name of its own"
            );
            ensure!(
                values.len() * combinations.len() <= MAX_COMBINATIONS,
                "the parameters have more than {MAX_COMBINATIONS} combinations of values; name fewer values"
            );

            // The parameters before it vary faster.
            let mut longer = Vec::new();
            for value in values {
                let parameter = Parameter { name: name.clone(), value, unused: false };
                for Combination(shorter) in &combinations {
                    let parameters = [&shorter[..], std::slice::from_ref(&parameter)].concat();
                    longer.push(Combination(parameters));
                }
            }
            combinations = longer;
        }
        Ok(combinations)
    }

    /// A sentence for each parameter that none of `texts` has a place for; it names a placeholder
    /// that was perhaps meant.
    pub(crate) fn describe_unused(&self, texts: &[&str]) -> Vec<String> {
        let lists = self.parameter_list.chunks_exact(2).map(|list| &list[0]);
        let scans = self.parameter_scan.chunks_exact(3).map(|scan| &scan[0]);
        let other = texts.iter().flat_map(|text| placeholders(text)).next();
        let hint = other.map(|other| format!(", but {{{other}}} is")).unwrap_or_default();
        lists
            .chain(scans)
            .filter(|name| !texts.iter().any(|text| has_placeholder(text, name)))
            .map(|name| {
                format!(
                    "{{{name}}} is nowhere in the command line{hint}: each command is measured once for every value"
                )
            })
            .collect()
    }

    /// The name and the values of each parameter.
    fn values(&self) -> Result<Vec<(String, Vec<String>)>> {
        let mut parameters = Vec::new();
        for list in self.parameter_list.chunks_exact(2) {
            let name = check_name(&list[0])?;
            parameters.push((name, split_at_commas(&list[1])));
        }
        for scan in self.parameter_scan.chunks_exact(3) {
            let name = check_name(&scan[0])?;
            let values = scan_values(&scan[1], &scan[2], self.parameter_step_size.as_deref())?;
            parameters.push((name, values));
        }
        Ok(parameters)
    }
}

fn has_placeholder(text: &str, name: &str) -> bool {
    text.match_indices('{').any(|(place, _)| is_at_start(&text[place..], name))
}

/// True if a text begins with `{NAME}`.
fn is_at_start(text: &str, name: &str) -> bool {
    let after = text.strip_prefix('{').and_then(|text| text.strip_prefix(name));
    after.is_some_and(|rest| rest.starts_with('}'))
}

/// The words in braces that could name parameters; `${NAME}` is the shell's.
fn placeholders(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (start, _) in text.match_indices('{') {
        let Some((word, _)) = text[start + 1..].split_once('}') else { continue };
        let is_name = !word.is_empty()
            && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter));
        if is_name && !text[..start].ends_with('$') {
            words.push(word);
        }
    }
    words
}

fn check_name(name: &str) -> Result<String> {
    ensure!(
        !name.is_empty(),
        "a parameter has no name; try -L NAME A,B, and {{NAME}} in the commands"
    );
    Ok(name.to_owned())
}

/// Splits a list at its commas; `\,` is a comma of a value, `\\` a backslash.
fn split_at_commas(list: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && matches!(next, ',' | '\\'));
        match (letter, escaped, values.last_mut()) {
            (',', ..) => values.push(String::new()),
            (letter, escaped, Some(value)) => value.push(escaped.unwrap_or(letter)),
            // There always is a value.
            (_, _, None) => {}
        }
    }
    values
}

/// The numbers of a scan, with as many decimals as its first number or its step has, whichever has
/// more; the first keeps its own.
///
/// # Errors
/// There are none, or too many.
fn scan_values(first: &str, last: &str, step: Option<&str>) -> Result<Vec<String>> {
    let is_whole = count_decimals(first) == 0 && count_decimals(last) == 0;
    if step.is_none() && !is_whole {
        bail!("the step from {first} to {last} is not known; try --parameter-step-size 0.1");
    }
    let step = step.unwrap_or("1");
    let (min, max) = parse_finite(first)
        .zip(parse_finite(last))
        .context("MIN and MAX of --parameter-scan are numbers: try -P N 1 8")?;
    let size = parse_finite(step)
        .with_context(|| format!("'{step}' is not a number; try --parameter-step-size 0.5"))?;

    // A little more, so that 0.1 and two steps of 0.1 reach 0.3.
    let count = ((max - min) / size + 1e-9).floor();
    ensure!(
        size != 0.0 && count >= 0.0,
        "no number is from {first} to {last} in steps of {step}; try another MIN, MAX or --parameter-step-size"
    );
    ensure!(
        count < MAX_COMBINATIONS as f64,
        "more than {MAX_COMBINATIONS} numbers are from {first} to {last} in steps of {step}; try a larger --parameter-step-size"
    );

    let precision = count_decimals(first).max(count_decimals(step));
    let mut values = vec![strip_number(first)];
    for number in 1..=count as u32 {
        values.push(format!("{:.precision$}", min + f64::from(number) * size));
    }
    Ok(values)
}

fn parse_finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A number without what does not change it: a plus sign, zeros before its first digit.
fn strip_number(text: &str) -> String {
    let unsigned = text.trim_start_matches(['+', '-']);
    let is_negative = parse_finite(text).is_some_and(|number| number < 0.0);

    let sign = if is_negative { "-" } else { "" };
    let digits = unsigned.trim_start_matches('0');
    let zero = if digits.starts_with(|letter: char| letter.is_ascii_digit()) { "" } else { "0" };
    format!("{sign}{zero}{digits}")
}

fn count_decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Splits each parameter of a command line of `ab` or `hyperfine` from its values, where they were
/// written as one word, `-L NAME=A,B`: hyperfine has two.
pub(crate) fn split_parameters(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|verb| verb != "ab" && verb != "hyperfine") {
        return words;
    }
    let mut split: Vec<OsString> = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let ends_options = word == "--";
        let is_list = word.to_str().is_some_and(is_parameter_list);
        split.push(word);
        if ends_options {
            split.extend(words.by_ref());
        } else if is_list {
            let Some(parameter) = words.next() else { break };
            match parameter.to_str().and_then(|text| text.split_once('=')) {
                Some((name, values)) => split.extend([name.into(), values.into()]),
                None => split.extend([parameter].into_iter().chain(words.next())),
            }
        }
    }
    split
}

/// True if a word is `--parameter-list`, or its letter after those of options without a value.
fn is_parameter_list(word: &str) -> bool {
    let letters = word.strip_prefix('-').and_then(|letters| letters.strip_suffix('L'));
    word == "--parameter-list"
        || letters.is_some_and(|letters| letters.chars().all(|letter| "iNqv".contains(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn parameters(lists: &str, scan: &str, step: Option<&str>) -> Parameters {
        let words = |line: &str| if line.is_empty() { Vec::new() } else { words(line) };
        Parameters {
            parameter_list: words(lists),
            parameter_scan: words(scan),
            parameter_step_size: step.map(str::to_owned),
        }
    }

    fn replaced(parameters: &Parameters, text: &str) -> Vec<String> {
        let combinations = parameters.combinations().unwrap();
        combinations.iter().map(|combination| combination.replace(text)).collect()
    }

    /// Each expectation is what hyperfine 1.20 does.
    #[test]
    fn parameters_are_replaced_as_hyperfine_does() {
        for (lists, text, expected) in [
            ("a 1,2,3 b x,y", "{a}{b}", "1x 2x 3x 1y 2y 3y"),
            ("x {y},b y q,{x}", "{x}{y}", "{y}q bq {y}{x} b{x}"),
            ("x a\\,b,c\\\\,d\\e", "{x}", "a,b c\\ d\\e"),
            ("f --some,--flags", "{f}", "--some --flags"),
            ("x 1,1", "{x}", "1 1"),
            ("x ,", "<{x}>", "<> <>"),
            ("fo 1,2", "{foo}", "{foo} {foo}"),
            ("x 1", "{{x}}{x}{", "{1}1{"),
        ] {
            assert_eq!(replaced(&parameters(lists, "", None), text), words(expected), "{lists}");
        }
    }

    /// As hyperfine 1.20 has them.
    #[test]
    fn a_scan_has_the_decimals_of_its_ends_and_its_step() {
        for (scan, step, expected) in [
            ("n 1 3", None, "1 2 3"),
            ("n -2 -1", None, "-2 -1"),
            ("n 0.1 0.3", Some("0.1"), "0.1 0.2 0.3"),
            ("n 0 1", Some("0.3"), "0 0.3 0.6 0.9"),
            ("n 1 2", Some("0.50"), "1 1.50 2.00"),
            ("n 1.50 2", Some("0.25"), "1.50 1.75 2.00"),
            ("n 1 1", None, "1"),
            ("n 01 03", None, "1 2 3"),
            ("n -01 +1", None, "-1 0 1"),
            ("n +0 1", None, "0 1"),
            ("n .5 01", Some("0.5"), "0.5 1.0"),
            ("n 00.50 01", Some("0.25"), "0.50 0.75 1.00"),
        ] {
            assert_eq!(replaced(&parameters("", scan, step), "{n}"), words(expected), "{scan}");
        }
    }

    #[test]
    fn what_is_wrong_with_parameters_is_said() {
        for (lists, scan, step, why) in [
            ("x 1,2 x 3", "", None, "two parameters are called 'x'"),
            ("x 1", "x 1 2", None, "two parameters are called 'x'"),
            ("", "n 2 1", None, "no number is from 2 to 1 in steps of 1"),
            ("", "n 1 2", Some("0"), "no number is from 1 to 2 in steps of 0"),
            ("", "n 1 nan", None, "MIN and MAX"),
            ("", "n 0 1e9", None, "more than 1000 numbers are from 0 to 1e9"),
            ("", "n a b", None, "MIN and MAX"),
            ("", "n 0.1 0.3", None, "the step from 0.1 to 0.3 is not known"),
            ("", "n 1 2", Some("x"), "'x' is not a number"),
            ("", "n 1 40 m 1 40", None, "more than 1000 combinations"),
        ] {
            let error = parameters(lists, scan, step).combinations().unwrap_err().to_string();
            assert!(error.contains(why), "{lists} {scan}: {error}");
        }
    }

    #[test]
    fn an_unused_parameter_is_named_with_what_was_perhaps_meant() {
        let unused = |lists: &str, text: &str| parameters(lists, "", None).describe_unused(&[text]);
        assert_eq!(unused("foo 1,2", "true {foo}"), [""; 0]);
        assert_eq!(
            unused("fo 1,2", "true ${HOME} {foo}"),
            [
                "{fo} is nowhere in the command line, but {foo} is: each command is measured once for every value"
            ]
        );
    }

    #[test]
    fn a_parameter_and_its_values_may_be_one_word() {
        for (line, expected) in [
            ("u ab -L cc=gcc,clang x -L n 1,2", "u ab -L cc gcc,clang x -L n 1,2"),
            ("u hyperfine -iNL n=1,2 x", "u hyperfine -iNL n 1,2 x"),
            ("u ab --parameter-list n=a=b x", "u ab --parameter-list n a=b x"),
            ("u ab -L n -L=1 x", "u ab -L n -L=1 x"),
            ("u ab x -- -L a=b", "u ab x -- -L a=b"),
            ("u run -L a=b", "u run -L a=b"),
            ("u ab -L", "u ab -L"),
        ] {
            let given = words(line).into_iter().map(OsString::from).collect();
            let expected: Vec<OsString> = words(expected).into_iter().map(OsString::from).collect();
            assert_eq!(split_parameters(given), expected);
        }
    }
}
