//! hyperfine's JSON (`--export-json`): every command's times, each a trial.

use super::{Draft, Heading, Journal, Result, Text, Value, list, number, string_at};

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    let is_result = |one: &Value| one.get("command").is_some() && one.get("mean").is_some();
    list(text.value(), "results").iter().any(is_result)
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "hyperfine".clone_into(&mut draft.run.tool);
    for result in list(source.value(), "results") {
        let figure = Heading::time(string_at(result, &["command"]), "s");
        let times: Vec<f64> = list(result, "times").iter().filter_map(|time| number(time, &[])).collect();
        draft.seconds += times.iter().sum::<f64>();
        match times.len() {
            // `--export-json` of a merged or shortened file has the mean alone.
            0 => draft.figure(&figure, number(result, &["mean"])),
            _ => draft.figure(&figure, times),
        }
    }
    Ok(vec![draft.finish()])
}
