//! Local-dynamic: free NICs of the sender only [coll, algorithm 3].

use std::collections::VecDeque;

use crosstie_units::Time;

use super::Rules;
use crate::dispatch::Dispatch;
use crate::{NodeSpec, Parcel, PeId, RailId, RailSet, StripingRatio, Turn};

/// One NIC as far as the node knows.
#[derive(Debug, Clone, Copy, Default)]
struct Status {
    sending: bool,
    receiving: u32,
}

/// A node that never starts to send on a NIC that is sending or receiving. PEs that find none free
/// wait in line.
#[derive(Debug)]
pub(super) struct LocalDynamic {
    ratio: StripingRatio,
    nics: Vec<Status>,
    turn: Turn,
    waiting: VecDeque<PeId>,
}

impl LocalDynamic {
    pub fn new(spec: &NodeSpec, ratio: StripingRatio) -> LocalDynamic {
        LocalDynamic {
            ratio,
            nics: vec![Status::default(); spec.rails as usize],
            turn: Turn::default(),
            waiting: VecDeque::new(),
        }
    }

    fn is_free(&self) -> RailSet {
        let rails = (0..).map(RailId).zip(&self.nics);
        rails.filter(|(_, nic)| !nic.sending && nic.receiving == 0).map(|(rail, _)| rail).collect()
    }

    /// Serves the PEs in line as long as there are free NICs.
    fn serve(&mut self, dispatch: &mut Dispatch) {
        loop {
            let free = self.is_free();
            if free.is_empty() {
                return;
            }
            let Some(pe) = self.waiting.pop_front() else { return };
            let bytes = dispatch.head(pe).expect("a PE in line has a message").bytes;
            let selected = self.turn.take(free, self.ratio.of_message(free.len(), bytes));
            selected.iter().for_each(|rail| self.nics[rail.0 as usize].sending = true);
            dispatch.send(pe, selected, false);
            if dispatch.head(pe).is_some() {
                self.waiting.push_back(pe);
            }
        }
    }
}

impl Rules for LocalDynamic {
    fn ready(&mut self, _now: Time, pe: PeId, dispatch: &mut Dispatch) {
        self.waiting.push_back(pe);
        self.serve(dispatch);
    }

    fn sent(&mut self, _now: Time, rail: RailId, dispatch: &mut Dispatch) {
        self.nics[rail.0 as usize].sending = false;
        self.serve(dispatch);
    }

    fn arriving(&mut self, rail: RailId) {
        self.nics[rail.0 as usize].receiving += 1;
    }

    fn arrived(&mut self, _now: Time, parcel: &Parcel, dispatch: &mut Dispatch) {
        let nic = &mut self.nics[parcel.stripe.rail.0 as usize];
        match nic.receiving.checked_sub(1) {
            Some(fewer) => nic.receiving = fewer,
            None => dispatch.strays += 1,
        }
        self.serve(dispatch);
    }

    fn free(&self) -> Option<RailSet> {
        Some(self.is_free())
    }
}
