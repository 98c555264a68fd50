//! Several patterns at once.

use super::super::{Misfit, Pattern, share};
use super::{Declaration, Destination, Law, Reader};
use crosstie_fabric::Fabric;
use serde::{Deserialize, Serialize};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "mixture",
    sentence: "Each message follows one of several patterns; a host that is silent under some of them \
               divides its messages among the others, so that all senders send at the same rate.",
};

/// The most portions of a mixture.
const MOST_PARTS: usize = 64;

/// The key of its portions.
const PARTS: &str = "mixture.parts";

/// The keys of `mixture`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mixture {
    /// The patterns.
    pub parts: Vec<Portion>,
}

/// One pattern of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Portion {
    /// The share of messages that follows it.
    #[serde(deserialize_with = "share::read")]
    pub share: f64,
    /// The pattern, anything but a mixture.
    pub destination: Destination,
}

impl Mixture {
    /// Its portions, each with its key.
    fn portions(&self) -> impl Iterator<Item = (String, &Portion)> {
        (0..).zip(&self.parts).map(|(i, portion): (usize, _)| (format!("{PARTS}.{i}"), portion))
    }

    pub(super) fn check(&self, hosts: Option<u32>) -> Result<(), Misfit> {
        let count = self.parts.len();
        if !(1..=MOST_PARTS).contains(&count) {
            let problem = format!("found {count} parts, expected 1 to {MOST_PARTS}");
            return Err(Misfit::new(PARTS, "wrong number of parts", problem));
        }
        for (key, Portion { share, destination }) in self.portions() {
            share::check(&format!("{key}.share"), *share)?;
            let key = format!("{key}.destination");
            if let Destination::Mixture(_) = destination {
                let problem = "expected any other destination";
                return Err(Misfit::new(key, "a mixture inside a mixture", problem)
                    .help("list its parts here, with their shares multiplied"));
            }
            destination.check(hosts).map_err(|misfit| misfit.under(&key))?;
        }
        let sum: f64 = self.parts.iter().map(|portion| portion.share).sum();
        if (sum - 1.0).abs() > 1e-6 {
            let problem = format!("the shares add up to {sum}, expected 1");
            return Err(Misfit::new(PARTS, "the shares do not make a whole", problem));
        }
        Ok(())
    }

    pub(super) fn law(&self, fabric: &Fabric, read: &Reader<'_>) -> Result<Law, Misfit> {
        let hosts = fabric.hosts().len() as u32;
        let mut drawn = Vec::new();
        for (key, Portion { share, destination }) in self.portions() {
            // A pattern that no message follows is made all the same: its files are to be sound.
            let law = destination.law(fabric, read);
            let law = law.map_err(|misfit| misfit.under(&format!("{key}.destination")))?;
            if *share > 0.0 {
                drawn.push((*share, Pattern::new(hosts, law)));
            }
        }
        Ok(Law::Mixture(drawn.into()))
    }

    pub(super) fn files(&self) -> Vec<(String, &str)> {
        let portions = self.portions().flat_map(|(key, portion)| {
            let named = portion.destination.files().into_iter();
            named.map(move |(file_key, file)| (format!("{key}.destination.{file_key}"), file))
        });
        portions.collect()
    }
}
