//! Machines whose parameters are known.

use crate::parameters::parameters;
use crate::{LabError, RoutedFabric};
use crosstie_model::Parameters;
use crosstie_study::{Spec, World};
use std::path::PathBuf;

/// A machine of which the parameters of the model are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    parameters: Parameters,
    nodes: Option<u32>,
    remark: Option<String>,
}

impl Cluster {
    /// The machine of a spec; `locate` tells where the paths in it lead.
    pub fn of(spec: &Spec, locate: &dyn Fn(&str) -> PathBuf) -> Result<Cluster, LabError> {
        let network = RoutedFabric::build(&spec.fabric, &spec.routing, locate)?;
        let parameters = parameters(spec, &network, locate)?;
        let remark = match spec.world {
            _ if spec.model.is_some() => None,
            World::Frame | World::Model => spec.node.bus.as_ref().map(|_| {
                "it has I/O buses, which the model does not know: packets cross them in no time here"
                    .to_owned()
            }),
            World::Wormhole | World::Ideal | World::Live => Some(format!(
                "its world is {}; the parameters are those of Ethernet with its links, switches and nodes",
                spec.world.name()
            )),
        };
        Ok(Cluster { parameters, nodes: Some(network.fabric.hosts().len() as u32), remark })
    }

    /// A model file: the parameters, and nothing else. What is wrong with it is said with its line.
    pub fn read(text: &str) -> Result<Cluster, String> {
        let parameters = toml::from_str(text).map_err(|error| error.to_string())?;
        Ok(Cluster { parameters, nodes: None, remark: None })
    }

    /// How many nodes it has, if that is known.
    pub fn nodes(&self) -> Option<u32> {
        self.nodes
    }

    /// What a reader of predictions should know.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    pub(super) fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}
