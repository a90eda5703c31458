//! Names in addresses and of files that stand for what others wrote.

use sha2::{Digest, Sha256};

/// The name that stands for content: 128 bits of its SHA-256 as 32 digits. Nobody can make
/// two that are alike.
pub(crate) fn name_of(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
