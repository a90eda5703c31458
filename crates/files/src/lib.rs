//! The places of the tool's files, and ways to write them whole so that they are nobody
//! else's.

mod lock;
mod place;
mod regular;
#[cfg(unix)]
mod trust;
mod whole;

pub use lock::Lock;
pub use place::{Kind, directory, is_temporary, temporary};
#[cfg(unix)]
pub use regular::unfollowed;
pub use regular::{open_regular, read_at_most, read_regular, read_text};
#[cfg(unix)]
pub use trust::{check_trusted, other_owner};
pub use whole::{write_atomically, write_whole};

/// Trusts every path: here the system keeps users out of each other's directories.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn check_trusted(_: &std::path::Path) -> Result<(), String> {
    Ok(())
}
