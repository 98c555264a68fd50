//! `tree-adaptive`: [`TreeAdaptive`](crate::TreeAdaptive), declared.

use super::declaration::{Declaration, Need, PETRINI, Promise};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "tree-adaptive",
    description: "A packet climbs to a nearest common ancestor of source and destination; each switch \
                  on the way up takes any free upward port, so all minimal paths are in use and load \
                  spreads by itself. From the ancestor down there is one way. Packets between the \
                  same two hosts may overtake each other. Minimal and free of deadlock (Petrini, \
                  Appendix A).",
    needs: &[Need::Tree],
    promise: Promise::DeadlockFree { because: "no route turns from down to up" },
    paper: Some(PETRINI),
};
