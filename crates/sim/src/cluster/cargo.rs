//! What packets of the engine carry.

use crosstie_protocol::{Control, NodeId, RailId, StripeId};

/// What one packet under way carries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cargo {
    /// A packet of a stripe: its sender can tell the rest.
    Data {
        from: NodeId,
        to: NodeId,
        stripe: StripeId,
        number: u32,
    },
    Control {
        rail: RailId,
        from: NodeId,
        to: NodeId,
        packet: Control,
        serial: u64,
    },
}

/// Cargo by the numbers that packets have in the engine.
#[derive(Debug, Default)]
pub(super) struct Hold {
    cargo: Vec<Cargo>,
    spare: Vec<u64>,
}

impl Hold {
    /// Keeps cargo until it is taken.
    pub fn put(&mut self, cargo: Cargo) -> u64 {
        match self.spare.pop() {
            Some(id) => {
                self.cargo[id as usize] = cargo;
                id
            }
            None => {
                self.cargo.push(cargo);
                self.cargo.len() as u64 - 1
            }
        }
    }

    pub fn get(&self, id: u64) -> Cargo {
        self.cargo[id as usize]
    }

    pub fn take(&mut self, id: u64) -> Cargo {
        self.spare.push(id);
        self.get(id)
    }
}
