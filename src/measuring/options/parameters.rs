//! Parameters of commands, in hyperfine's words: `{NAME}` stands for each of several values.

use std::ffi::OsString;

use anyhow::{Context, Result, bail};

/// The most values of a scan.
const MOST: f64 = 1000.0;

/// The parameters of a command line.
#[derive(Debug, clap::Args)]
pub(crate) struct Parameters {
    /// A parameter and its values: {NAME} in a command is replaced by each, which makes several commands of one;
    /// repeatable
    #[arg(short = 'L', long, value_name = "NAME=A,B,…")]
    parameter_list: Vec<String>,
    /// The same for the numbers from MIN to MAX
    #[arg(short = 'P', long, num_args = 3, value_names = ["NAME", "MIN", "MAX"])]
    parameter_scan: Vec<String>,
    /// The step between these numbers
    #[arg(short = 'D', long, value_name = "STEP", default_value = "1", hide_default_value = true)]
    parameter_step_size: f64,
}

impl Parameters {
    /// Returns commands in which each `{NAME}` is replaced by each of the values of its parameter.
    ///
    /// # Errors
    /// A parameter has another form.
    pub(crate) fn expanded(&self, commands: &[String]) -> Result<Vec<String>> {
        let mut all = commands.to_vec();
        for parameter in &self.parameter_list {
            let Some((name, values)) = parameter.split_once('=').filter(|(name, _)| !name.is_empty()) else {
                bail!("'{parameter}' is no parameter; try -L NAME=A,B, and {{NAME}} in the commands");
            };
            all = replaced(&all, name, &values.split(',').map(str::to_owned).collect::<Vec<String>>());
        }
        for scan in self.parameter_scan.chunks_exact(3) {
            let [min, max] = [&scan[1], &scan[2]].map(|number| number.parse::<f64>());
            let (min, max) =
                min.ok().zip(max.ok()).context("MIN and MAX of --parameter-scan are numbers: try -P N 1 8")?;
            all = replaced(&all, &scan[0], &steps(min, max, self.parameter_step_size)?);
        }
        Ok(all)
    }
}

/// Returns the commands, one that has a parameter once for each of its values.
fn replaced(commands: &[String], name: &str, values: &[String]) -> Vec<String> {
    let parameter = format!("{{{name}}}");
    let with = |command: &String| {
        let count = if command.contains(&parameter) { values.len() } else { 1 };
        values.iter().take(count).map(|value| command.replace(&parameter, value)).collect::<Vec<String>>()
    };
    commands.iter().flat_map(with).collect()
}

/// Returns the numbers from `min` to `max`.
///
/// # Errors
/// There are none, or too many.
fn steps(min: f64, max: f64, step: f64) -> Result<Vec<String>> {
    let count = ((max - min) / step + 1e-9).floor();
    if !(step > 0.0 && (0.0..MOST).contains(&count)) {
        bail!("there are not 1 to {MOST} numbers from {min} to {max} in steps of {step}; try another --parameter-scan");
    }
    // So that 0.1 and two steps of 0.1 are 0.3.
    Ok((0..=count as u32).map(|number| format!("{}", round(min + f64::from(number) * step))).collect())
}

fn round(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// Returns a command line of `ab` in which a parameter and its values are one word, as `-L NAME=A,B` and not, as
/// hyperfine also has it, `-L NAME A,B`.
pub(crate) fn joined(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|verb| verb != "ab") {
        return words;
    }
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let is_list = word == "-L" || word == "--parameter-list";
        let ends = word == "--";
        joined.push(word);
        if is_list && let Some(mut name) = words.next() {
            if !name.to_string_lossy().contains('=')
                && let Some(values) = words.next()
            {
                name.push("=");
                name.push(values);
            }
            joined.push(name);
        }
        if ends {
            joined.extend(words.by_ref());
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn parameters(list: &[&str], scan: &str, step: f64) -> Parameters {
        Parameters {
            parameter_list: list.iter().map(|one| (*one).to_owned()).collect(),
            parameter_scan: if scan.is_empty() { Vec::new() } else { words(scan) },
            parameter_step_size: step,
        }
    }

    #[test]
    fn parameters_are_replaced_by_each_of_their_values() {
        let commands = ["cc {opt} {file}", "ls"].map(str::to_owned);
        let found = parameters(&["opt=-O1,-O2", "file=a.c,b.c"], "", 1.0).expanded(&commands).unwrap();
        assert_eq!(found, ["cc -O1 a.c", "cc -O1 b.c", "cc -O2 a.c", "cc -O2 b.c", "ls"]);
        let error = parameters(&["opt"], "", 1.0).expanded(&commands).unwrap_err();
        assert!(error.to_string().contains("'opt' is no parameter"));
    }

    #[test]
    fn a_scan_has_both_ends() {
        let command = ["sleep {t}".to_owned()];
        let found = parameters(&[], "t 0.1 0.7", 0.2).expanded(&command).unwrap();
        assert_eq!(found, ["sleep 0.1", "sleep 0.3", "sleep 0.5", "sleep 0.7"]);
        for (scan, step) in [("t 2 1", 1.0), ("t 1 2", 0.0), ("t 1 nan", 1.0), ("t 0 1e9", 1.0), ("t a b", 1.0)] {
            assert!(parameters(&[], scan, step).expanded(&command).is_err(), "{scan} by {step}");
        }
    }

    #[test]
    fn a_parameter_and_its_values_may_be_two_words() {
        let joined = |line: &str| super::joined(words(line).into_iter().map(OsString::from).collect());
        let expected = |line: &str| words(line).into_iter().map(OsString::from).collect::<Vec<OsString>>();
        assert_eq!(joined("u ab -L cc gcc,clang x -L n=1,2"), expected("u ab -L cc=gcc,clang x -L n=1,2"));
        assert_eq!(joined("u ab x -- -L a b"), expected("u ab x -- -L a b"));
        assert_eq!(joined("u run -L a b"), expected("u run -L a b"));
        assert_eq!(joined("u ab -L"), expected("u ab -L"));
    }
}
