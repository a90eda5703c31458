//! Commands as the user gave them.

use serde::{Deserialize, Serialize};

use catalogue::{Command, Parameter};

/// A command of which the name in reports does not say all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenCommand {
    /// Its name in reports: the label of its cell, or the condition where commands are compared.
    pub name: String,
    /// The whole command, or the name that the user gave it.
    pub command: String,
    /// The values of its parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
}

impl GivenCommand {
    /// The command as it was given; `None` if its name says all.
    pub fn new(command: &Command) -> Option<GivenCommand> {
        let Command { label, text, parameters, .. } = command;
        if text.is_empty() || (text == label && parameters.is_empty()) {
            return None;
        }

        Some(GivenCommand {
            name: label.clone(),
            command: text.clone(),
            parameters: parameters.clone(),
        })
    }

    /// The whole command, and the parameters that it has no place for: `make (branch = main)`.
    pub fn title(&self) -> String {
        title(&self.command, &self.parameters)
    }
}

/// A command's text, and those of its parameters that the text has no place for.
pub fn title(text: &str, parameters: &[Parameter]) -> String {
    let unused: Vec<String> = parameters
        .iter()
        .filter(|parameter| parameter.unused)
        .map(|parameter| format!("{} = {}", parameter.name, parameter.value))
        .collect();
    if unused.is_empty() { text.to_owned() } else { format!("{text} ({})", unused.join(", ")) }
}
