//! The formats routes can be written in.

use std::io;

use clap::ValueEnum;
use crosstie_fabric::Fabric;
use crosstie_routing::Routing;
use crosstie_routing::export::{ForwardingTables, json, text};

use crate::exit::Failure;

/// A format of route tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line per route
    Text,
    /// One JSON document
    Json,
    /// Linear forwarding tables as OpenSM reads them, if the destination alone decides
    Opensm,
}

impl Format {
    /// All routes in this format.
    pub fn write(self, fabric: &Fabric, routing: &dyn Routing) -> Result<String, Failure> {
        let mut out = Vec::new();
        let written: io::Result<()> = match self {
            Format::Text => text(fabric, routing, &mut out),
            Format::Json => json(fabric, routing, &mut out),
            Format::Opensm => {
                ForwardingTables::of(fabric, routing).map_err(Failure::user)?.write(&mut out)
            }
        };
        written.map_err(Failure::ours)?;
        String::from_utf8(out).map_err(Failure::ours)
    }
}
