//! What the tests of this module share.

use catalogue::Catalogue;

/// The catalogue that is part of the binary.
pub(super) fn catalogue() -> Catalogue {
    Catalogue::load().unwrap()
}
