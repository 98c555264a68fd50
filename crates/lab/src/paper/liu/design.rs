//! The designs of the paper: what parts call them, and what claims do.

/// The settings by which a part names a design.
pub(super) type Design = &'static [(&'static str, &'static str)];

/// One rail: the library as it was.
pub(super) const ONE: Design = &[("cluster.rails", "1"), ("policy", "binding")];
/// Two rails, of which each process of a node has one.
pub(super) const BINDING: Design = &[("cluster.rails", "2"), ("policy", "binding")];
/// Even striping; short messages take rails in turn.
pub(super) const EVEN: Design = &[("policy", "even-striping")];
/// Weights of 4 and 1.
pub(super) const WEIGHTED: Design = &[("policy", "weighted-striping")];
/// Weights that follow.
pub(super) const ADAPTIVE: Design = &[("policy", "adaptive-striping")];
/// Rails that take the next piece as they finish: not in the paper, drawn beside.
pub(super) const PULL: Design = &[("policy", "pull")];

/// Messages of up to so many bytes are short: sent without asking, and not cut.
pub(super) const SHORT: f64 = 16384.0;
/// Messages of as many bytes are large.
pub(super) const LARGE: f64 = 131072.0;

/// The design that the last word of a claim names.
pub(super) fn named(word: &str) -> Option<Design> {
    Some(match word {
        "original" => ONE,
        "multirail" | "even" | "striping" => EVEN,
        "binding" => BINDING,
        "weighted_4_1" => WEIGHTED,
        "adaptive" => ADAPTIVE,
        _ => return None,
    })
}
