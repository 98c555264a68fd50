//! One point of a study.

use crate::document::Fault;
use crate::fingerprint::Fingerprint;
use crate::row::Setting;
use crate::source::copy_of;
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
    /// Each file the spec refers to, in order, and its content, where it was looked at.
    pub(crate) inputs: Vec<(String, Fingerprint)>,
}

impl Point {
    /// The value of a swept key here.
    pub(crate) fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Its number and its settings, for people; empty if nothing is swept.
    pub fn name(&self) -> String {
        if self.settings.is_empty() {
            return String::new();
        }
        let settings = self.settings.iter().map(|(key, value)| format!("{key} = {value}"));
        format!("point {}: {}", self.index, settings.collect::<Vec<_>>().join(", "))
    }

    /// Adds to a fault where it was found.
    pub(crate) fn blame(&self, fault: Fault) -> Fault {
        match self.name() {
            name if name.is_empty() => fault,
            name => fault.with_help(format!("found at {name}")),
        }
    }

    /// The spec as it is kept with its results: what it refers to is beside it, under names that
    /// follow from the content.
    pub(crate) fn kept_spec(&self) -> Spec {
        self.spec.renamed(&|path: &str| match self.inputs.iter().find(|(known, _)| known == path) {
            Some((path, content)) => copy_of(path, *content),
            None => path.to_owned(),
        })
    }

    /// Names everything that decides the result: the 128-bit FNV-1a hash of [`Spec::to_toml`], seed
    /// included, followed by the fingerprint of each file the spec refers to. Title, figures, the
    /// position in the sweep and the folders of those files have no part in it.
    pub fn fingerprint(&self) -> Fingerprint {
        let spec = Fingerprint::of(self.kept_spec().to_toml().as_bytes());
        self.inputs.iter().fold(spec, |whole, (_, input)| whole.with(input.to_string().as_bytes()))
    }
}
