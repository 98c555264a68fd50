//! `shortest`: [`Shortest`](crate::Shortest), declared.

use super::declaration::{Declaration, Promise};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "shortest",
    description: "Among the ports that lead nearer to the destination's switch, the one with the \
                  lowest number; deterministic. Free of deadlock on a single switch and on networks \
                  without cycles, but not in general: ask with --certify before simulating. On trees \
                  it crowds the lowest ports; prefer the tree routings there.",
    needs: &[],
    promise: Promise::Nothing,
    paper: None,
};
