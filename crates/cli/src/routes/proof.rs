//! The deadlock certificate in words.

use std::fmt;

use crosstie_fabric::{ChannelId, Fabric};
use crosstie_routing::{Certificate, Routing, certify};
use serde::Serialize;

use crate::exit::Failure;

/// The proof that a routing cannot deadlock, or the cycle along which it can.
#[derive(Debug, Serialize)]
pub struct Proof {
    deadlock_free: bool,
    /// How many are in use.
    channels: usize,
    dependencies: usize,
    /// All channels in use, such that packets only wait for later ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    order: Vec<String>,
    /// Channels each of which waits for the next, and the last for the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cycle: Vec<String>,
}

impl Proof {
    /// Follows all routes and looks for an order of the channels.
    pub fn find(fabric: &Fabric, routes: &dyn Routing) -> Result<Proof, Failure> {
        let certificate = certify(fabric, routes).map_err(Failure::ours)?;
        let words = |channels: &[ChannelId]| channels.iter().map(|&c| fabric.describe(c)).collect();
        let (order, cycle) = match &certificate {
            Certificate::DeadlockFree { order, .. } => (words(order), Vec::new()),
            Certificate::Cycle { cycle, .. } => (Vec::new(), words(cycle)),
        };
        Ok(Proof {
            deadlock_free: certificate.is_deadlock_free(),
            channels: certificate.channels(),
            dependencies: certificate.dependencies(),
            order,
            cycle,
        })
    }

    /// Whether the routing is proved free of deadlock.
    pub fn is_deadlock_free(&self) -> bool {
        self.deadlock_free
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (channels, dependencies) = (self.channels, self.dependencies);
        if self.deadlock_free {
            return writeln!(
                f,
                "  deadlock-free: order of {channels} channels, {dependencies} dependencies"
            );
        }
        writeln!(
            f,
            "  can deadlock: {} of {channels} channels wait for each other in a circle",
            self.cycle.len()
        )?;
        for channel in &self.cycle {
            writeln!(f, "    {channel}")?;
        }
        writeln!(f, "    and again from the first")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::Wanted;
    use crosstie_routing::{Shortest, TreeAdaptive};

    const RING: &str = "router 0 node 0 router 1\nrouter 1 node 1 router 2\n\
                        router 2 node 2 router 3\nrouter 3 node 3 router 4\n\
                        router 4 node 4 router 0\n";

    #[test]
    fn a_ring_can_deadlock_and_the_circle_is_shown() {
        let ring = crosstie_fabric::anynet::read("ring", RING).unwrap().fabric;
        let proof = Proof::find(&ring, &Shortest::new(&ring)).unwrap();
        assert!(!proof.is_deadlock_free());
        assert_eq!((proof.order.len(), proof.cycle.len()), (0, 5));
        let text = proof.to_string();
        assert!(text.starts_with("  can deadlock: 5 of 20 channels wait"), "{text}");
        assert!(text.ends_with("    and again from the first\n"), "{text}");
        // Each channel of the circle begins where the one before ends.
        let ends: Vec<(&str, &str)> =
            proof.cycle.iter().map(|c| c.split_once(" -> ").unwrap()).collect();
        let switch = |end: &str| end.split(':').next().unwrap().to_owned();
        for (i, (_, to)) in ends.iter().enumerate() {
            assert_eq!(switch(to), switch(ends[(i + 1) % ends.len()].0), "{text}");
        }
    }

    #[test]
    fn a_tree_cannot() {
        let tree = crosstie_fabric::tree(4, 3).unwrap();
        let proof = Proof::find(&tree, &TreeAdaptive::new(&tree).unwrap()).unwrap();
        assert_eq!(proof.order.len(), 384);
        assert!(proof.to_string().starts_with("  deadlock-free: order of 384 channels, "));
    }

    #[test]
    fn a_tree_routing_needs_a_tree() {
        let ring = crosstie_fabric::anynet::read("ring", RING).unwrap().fabric;
        let Err(Failure::User(text)) = Wanted::plain("tree-adaptive").on(&ring) else {
            panic!("accepted")
        };
        assert!(text.contains("\"ring\" is not one"), "{text}");
    }
}
