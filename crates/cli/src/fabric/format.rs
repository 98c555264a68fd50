//! The formats a network can be written in.

use std::path::Path;

use clap::ValueEnum;
use crosstie_fabric::{Fabric, anynet, dot, draw, graphml};

use crate::exit::Failure;

/// A format of network files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Graphviz
    Dot,
    /// XML of networkx, igraph, Gephi and yEd; keeps everything
    Graphml,
    /// BookSim; keeps no ports
    Anynet,
    /// A picture, for small networks
    Svg,
}

impl Format {
    /// The format that a file's ending asks for.
    pub fn of_file(path: &Path) -> Result<Format, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "dot" | "gv" => Ok(Format::Dot),
            "graphml" => Ok(Format::Graphml),
            "anynet" => Ok(Format::Anynet),
            "svg" => Ok(Format::Svg),
            _ => Err(Failure::user(format!(
                "`{}` does not say in which format to write: expected a file that ends in .dot, \
                 .graphml, .anynet or .svg",
                path.display()
            ))),
        }
    }

    /// Its name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Dot => "dot",
            Format::Graphml => "graphml",
            Format::Anynet => "anynet",
            Format::Svg => "svg",
        }
    }

    /// The network in this format.
    pub fn write(self, fabric: &Fabric) -> Result<String, Failure> {
        match self {
            Format::Dot => Ok(dot::write(fabric)),
            Format::Graphml => graphml::write(fabric)
                .map_err(|error| Failure::user(format!("it could not be read again: {error}"))),
            Format::Anynet => anynet::write(fabric).map_err(Failure::user),
            Format::Svg => draw::svg(fabric).map_err(Failure::user),
        }
    }
}
