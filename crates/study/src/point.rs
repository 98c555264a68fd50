//! One point of a study.

use crate::fingerprint::Fingerprint;
use crate::row::Setting;
use crate::spec::Spec;

/// One point of a study: one run of the simulator, or one search.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Its number within the study, from 0.
    pub index: u32,
    /// The swept keys and their values here, in the order of the sweep.
    pub settings: Vec<(String, Setting)>,
    /// Everything that decides its result. The seed is that of the study unless `seed` itself is
    /// swept: with the same random numbers everywhere, points differ by their settings alone.
    pub spec: Spec,
    /// The content of each file the spec refers to, in order, where it was looked at.
    pub(crate) inputs: Vec<Fingerprint>,
}

impl Point {
    /// Names everything that decides the result: the 128-bit FNV-1a hash of [`Spec::to_toml`], seed
    /// included, followed by the fingerprint of each file the spec refers to. Title, figures and the
    /// position in the sweep have no part in it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.inputs.iter().fold(Fingerprint::of(self.spec.to_toml().as_bytes()), |whole, input| {
            whole.with(input.to_string().as_bytes())
        })
    }
}
