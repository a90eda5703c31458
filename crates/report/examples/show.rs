//! Renders recorded runs: `cargo run -p unixmark-report --example show -- FORMAT RUN…`; several are
//! compared; `--paired` says that they alternated.

use clap::ValueEnum;
use unixmark_report::{Format, Subject, render};

fn main() -> anyhow::Result<()> {
    let (paired, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "--paired");
    let [format, runs @ ..] = &args[..] else { anyhow::bail!("show FORMAT RUN…") };
    let format = Format::from_str(format, true).map_err(anyhow::Error::msg)?;
    let catalogue = catalogue::Catalogue::load()?;
    let read = |run: &String| {
        Ok(analysis::Results::new(&journal::read(std::path::Path::new(run))?, &catalogue, None))
    };
    let mut results = runs.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    if results.len() > 1 {
        let design =
            if paired.is_empty() { analysis::Design::Apart } else { analysis::Design::Rounds };
        let asked = analysis::Asked { design, threshold: 1.0, conditions: None };
        let all = analysis::Comparisons::new(results, &asked);
        print!("{}", render(Subject::Comparison(&all, Some(&all.gate(5.0, None))), format)?);
    } else if let Some(results) = results.pop() {
        print!("{}", render(Subject::Run(&results), format)?);
    }
    Ok(())
}
