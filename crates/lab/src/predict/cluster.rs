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
        let is_ethernet = matches!(spec.world, World::Frame | World::Model);
        let derived = spec.model.is_none() && !is_ethernet;
        let remark = derived.then(|| {
            let world = spec.world.name();
            format!(
                "its world is {world}; the parameters are those of Ethernet with its links, switches and nodes"
            )
        });
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
