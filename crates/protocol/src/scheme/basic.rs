//! Basic: round robin, whatever the NICs are doing [coll, 3].

use crosstie_units::Time;

use super::Rules;
use crate::dispatch::Dispatch;
use crate::{NodeSpec, PeId, RailSet, Turn};

/// Each PE takes the rails in turn by itself, which is how PEs come to use the same one.
#[derive(Debug)]
pub(super) struct Basic {
    turns: Vec<Turn>,
}

impl Basic {
    pub fn new(spec: &NodeSpec) -> Basic {
        Basic { turns: vec![Turn::default(); spec.pes as usize] }
    }
}

impl Rules for Basic {
    fn ready(&mut self, _now: Time, pe: PeId, dispatch: &mut Dispatch) {
        let rail = self.turns[pe.0 as usize].take_one(dispatch.rails());
        dispatch.send(pe, RailSet::from_iter(rail), false);
    }
}
