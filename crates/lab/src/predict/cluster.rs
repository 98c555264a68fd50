//! Machines whose parameters are known.

use crate::outcome::estimated;
use crate::parameters::{cluster, from_text, window};
use crate::{LabError, RoutedFabric};
use crosstie_model as model;
use crosstie_model::Parameters;
use crosstie_routing::Need;
use crosstie_study::{Spec, World};
use std::path::PathBuf;

/// A machine of which the parameters of the model are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    rails: model::Cluster,
    nodes: Option<u32>,
    remark: Option<String>,
    /// W_FC of its channel, if it says so.
    window: Option<u32>,
}

impl Cluster {
    /// The machine of a spec; `locate` tells where the paths in it lead.
    pub fn of(spec: &Spec, locate: &dyn Fn(&str) -> PathBuf) -> Result<Cluster, LabError> {
        if spec.model.is_none() && spec.routing.needs(Need::InTransit) {
            let problem = "found one that stops at hosts, which frames do not";
            return Err(LabError::setting("routing", problem, "set `routing = \"up-down\"`"));
        }
        let network = RoutedFabric::build(&spec.fabric, &spec.routing, locate)?;
        let rails = cluster(spec, &network, locate)?;
        let remark = match spec.model {
            Some(_) => None,
            None => Cluster::taken_for_ethernet(spec.world),
        };
        let window = window(&spec.channel);
        let nodes = Some(network.fabric.hosts().len() as u32);
        Ok(Cluster { rails, nodes, remark, window })
    }

    /// What to say of the price of a machine that was made for a world.
    pub fn taken_for_ethernet(world: World) -> Option<String> {
        match world {
            World::Frame | World::Model => None,
            World::Wormhole | World::Ideal | World::Live => Some(format!(
                "its world is {}; the parameters are those of Ethernet with its links, switches and nodes",
                world.name()
            )),
        }
    }

    /// A model file: the parameters, and nothing else. What is wrong with it is said with its line.
    pub fn read(text: &str) -> Result<Cluster, String> {
        let rails = from_text(text)?.into();
        Ok(Cluster { rails, nodes: None, remark: None, window: None })
    }

    /// How many nodes it has, if that is known.
    pub fn nodes(&self) -> Option<u32> {
        self.nodes
    }

    /// The packets that it lets be outstanding between two nodes, W_FC, if its channel has such a
    /// window.
    pub fn window(&self) -> Option<u32> {
        self.window
    }

    /// What a reader of predictions should know.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// What prices of it only estimate, if there is anything.
    pub fn estimated(&self) -> Option<String> {
        estimated(&self.rails)
    }

    /// What a packet takes on the first rail.
    pub(super) fn parameters(&self) -> &Parameters {
        self.rails.first()
    }

    /// Its rails, and how ranks use them.
    pub(super) fn rails(&self) -> &model::Cluster {
        &self.rails
    }
}
