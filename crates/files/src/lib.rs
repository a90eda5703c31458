//! The places of the tool's files, and ways to write them whole so that they are nobody
//! else's.

#[cfg(unix)]
mod destination;
mod lock;
mod make;
mod place;
mod regular;
#[cfg(unix)]
mod strangers;
#[cfg(unix)]
mod trust;
mod whole;

#[cfg(unix)]
pub use destination::Destination;
pub use lock::Lock;
#[cfg(unix)]
pub use make::unfollowed;
pub use make::{
    make_directories, make_directory, make_private_directories, make_private_directory, options,
    overwrite, remove_tree, write,
};
#[cfg(target_os = "linux")]
pub use place::is_noexec;
pub use place::{Kind, directory, is_temporary, temporary};
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
