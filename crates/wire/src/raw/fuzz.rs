//! What fuzzers tell raw endpoints.

use super::meet::Told;

/// What a rank tells of itself before endpoints meet. What is understood is written again as it was
/// meant.
pub fn told(bytes: &[u8]) {
    if let Some(told) = Told::read(bytes) {
        assert_eq!(Told::read(told.write().as_bytes()).as_ref(), Some(&told));
    }
}
