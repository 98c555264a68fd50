//! The routing that is wanted, as written on the command line.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use crosstie_fabric::Fabric;
use crosstie_routing::{Routing, RoutingKind};
use crosstie_study::argument;
use crosstie_units::Seed;

use crate::exit::Failure;

/// A routing and the seed of its draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The routing.
    pub routing: RoutingKind,
    /// Where its draws follow from, if it makes any and has no seed of its own.
    pub seed: Seed,
}

impl Wanted {
    /// A routing by name, with seed 1.
    #[cfg(test)]
    pub fn plain(name: &str) -> Wanted {
        Wanted { routing: argument::read("routing", name).unwrap(), seed: Seed(1) }
    }

    /// The routes of a network, and the routing that made them.
    pub fn on(&self, fabric: &Fabric) -> Result<(RoutingKind, Box<dyn Routing>), Failure> {
        self.routing.routes(fabric, self.seed).map_err(Failure::user)
    }
}

/// Reads a routing with its keys from the command line, and tells shells the names there are.
#[derive(Debug, Clone)]
pub struct RoutingParser;

impl TypedValueParser for RoutingParser {
    type Value = RoutingKind;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<RoutingKind, clap::Error> {
        let parse = |text: &str| {
            argument::read::<RoutingKind>("routing", text).map_err(|fault| fault.to_string())
        };
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |kind: RoutingKind| PossibleValue::new(kind.name());
        Some(Box::new(RoutingKind::all().into_iter().map(value)))
    }
}
