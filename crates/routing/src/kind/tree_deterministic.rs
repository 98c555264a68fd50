//! `tree-deterministic`: [`TreeDeterministic`](crate::TreeDeterministic), declared.

use super::declaration::{Declaration, Need, PETRINI, Promise};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "tree-deterministic",
    description: "As tree-adaptive, but the upward port at level l is fixed: the destination's digit \
                  l (D-mod-k). All packets to one destination meet at one ancestor and come down by \
                  one path; uniform traffic loads the channels of a level evenly, other patterns \
                  may not. Packets between two hosts take one path. Minimal and free of deadlock.",
    needs: &[Need::Tree],
    promise: Promise::DeadlockFree { because: "no route turns from down to up" },
    paper: Some(PETRINI),
};
