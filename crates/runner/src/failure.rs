//! Why a trial has no result.

use conditions::Refusal;
use journal::Trial;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The user stopped the run.
    Stopped,
    /// It could not be measured.
    Refused(Refusal),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Stopped => Failure::Stopped,
            refusal => Failure::Refused(refusal),
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Refused(Refusal::Failed(text))
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Failure {
        Failure::from(text.to_owned())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::from(format!("{error:#}"))
    }
}

/// Returns the trial of a cell that could not be measured.
pub(crate) fn refused(refusal: Refusal) -> Trial {
    match refusal {
        Refusal::Unavailable(reason) => Trial { skip: Some(reason), ..Trial::default() },
        refusal => Trial { error: Some(refusal.to_string()), ..Trial::default() },
    }
}

/// Returns the failure of a test that cannot run here.
pub(crate) fn unavailable(why: String) -> Failure {
    Refusal::Unavailable(why).into()
}
