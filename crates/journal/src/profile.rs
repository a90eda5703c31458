//! Where the executions of a command spent their processor time, sampled.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// The samples of a command's executions, by function. What was executed for this was not timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The command's cell.
    pub cell: usize,
    /// The executions, in their order.
    pub executions: Vec<Sampled>,
    /// The functions in which all commands of the run together spent the most time: the same ones,
    /// in the same order, for each command.
    pub functions: Vec<SampledFunction>,
    /// The names that stacks refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<String>,
    /// The chains of calls in which all commands spent the most time, over all executions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Stack>,
    /// True if the kernel's own functions were sampled too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kernel: bool,
    /// Remarks, each a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Profile {
    /// Checks that each function has a time for each execution, and each frame of a stack a name.
    ///
    /// # Errors
    /// A function or a frame lacks one.
    pub(super) fn check(&self) -> Result<()> {
        for function in &self.functions {
            ensure!(
                function.ns.len() == self.executions.len(),
                "function '{}' has {} times in {} executions",
                function.name,
                function.ns.len(),
                self.executions.len()
            );
        }
        let counted = self.functions.first().map_or(0, |first| first.instructions.len());
        ensure!(
            self.functions.iter().all(|function| function.instructions.len() == counted),
            "functions were counted in unlike numbers of executions"
        );

        let mut frames = self.stacks.iter().flat_map(|stack| &stack.frames);
        ensure!(
            frames.all(|frame| (*frame as usize) < self.frames.len()),
            "a stack has a frame that has no name"
        );
        Ok(())
    }
}

/// A sampled execution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The round: executions of different commands in one round followed each other.
    pub round: u64,
    /// The number of samples.
    pub samples: u64,
    /// The processor time that they stand for.
    pub ns: u64,
    /// The processor time that the execution used, by the kernel's account; 0 where only a region
    /// of it is sampled.
    pub cpu_ns: u64,
    /// Samples that the kernel had no room for.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub lost: u64,
}

/// The processor time in a function itself, and its instructions, without those that it calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledFunction {
    /// Its name, or that of its file in brackets.
    pub name: String,
    /// The name of the file in which it lies; empty if it lies in none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The time in each execution.
    pub ns: Vec<u64>,
    /// The instructions in each execution that valgrind counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<u64>,
}

/// The processor time in a chain of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The time, over all executions.
    pub ns: u64,
    /// Numbers in [`Profile::frames`], the outermost first.
    pub frames: Vec<u32>,
}
