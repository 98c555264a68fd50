//! k-ary n-trees (Petrini, Appendix A).

/// A k-ary n-tree: `k^n` leaves, `n k^(n-1)` switches; the first `hosts` leaves are populated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KaryTree {
    /// Arity.
    pub k: u16,
    /// Levels of switches.
    pub n: u16,
    /// Leaves that carry a host, numbered from 0; `k^n` unless the tree is pruned.
    pub hosts: u32,
}
