//! Local-dynamic: free NICs of the sender only [coll, algorithm 3].

use std::collections::VecDeque;

use super::Policy;
use crate::{Dispatch, PeId, RailId, RailSet, StripingRatio, Turn, split};

/// A node that never starts to send on a NIC that is sending, or receiving as far as it knows. PEs
/// that find none free wait in line.
#[derive(Debug)]
pub struct LocalDynamic {
    ratio: StripingRatio,
    sending: RailSet,
    turn: Turn,
    waiting: VecDeque<PeId>,
}

impl LocalDynamic {
    /// The policy of one node. The ratio says how many of the free rails a message takes.
    pub fn new(ratio: StripingRatio) -> LocalDynamic {
        LocalDynamic {
            ratio,
            sending: RailSet::EMPTY,
            turn: Turn::default(),
            waiting: VecDeque::new(),
        }
    }

    fn is_free(&self, dispatch: &Dispatch) -> RailSet {
        let idle = dispatch.rails().without(self.sending);
        idle.iter().filter(|&rail| !dispatch.is_receiving(rail)).collect()
    }

    /// Serves the PEs in line as long as there are free NICs.
    fn serve(&mut self, dispatch: &mut Dispatch) {
        let mut place = 0;
        while let Some(&pe) = self.waiting.get(place) {
            let free = self.is_free(dispatch).and(dispatch.up());
            if free.is_empty() {
                return;
            }
            let Some(&head) = dispatch.head(pe) else {
                // Its message waits for a way.
                self.waiting.remove(place);
                continue;
            };
            let free = free.and(dispatch.up_to(head.to));
            if free.is_empty() {
                place += 1;
                continue;
            }
            self.waiting.remove(place);
            let (bytes, most) = (head.bytes, self.ratio.of_message(free.len(), &head));
            let selected = self.turn.take(free, most);
            self.sending = self.sending.or(selected);
            dispatch.send(pe, split(bytes, selected), false);
            if dispatch.head(pe).is_some() {
                self.waiting.push_back(pe);
            }
        }
    }
}

impl Policy for LocalDynamic {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        // Where ways die, it may be said of one that has no message, or is in line.
        if dispatch.head(pe).is_some() && !self.waiting.contains(&pe) {
            self.waiting.push_back(pe);
        }
        self.serve(dispatch);
    }

    fn sent(&mut self, rail: RailId, dispatch: &mut Dispatch) {
        self.sending.remove(rail);
        self.serve(dispatch);
    }

    fn quiet(&mut self, _rail: RailId, dispatch: &mut Dispatch) {
        self.serve(dispatch);
    }

    fn switched(&mut self, _rail: RailId, _up: bool, dispatch: &mut Dispatch) {
        self.serve(dispatch);
    }

    fn needs_departures(&self) -> bool {
        true
    }

    fn needs_arriving(&self) -> bool {
        true
    }

    fn free(&self, dispatch: &Dispatch) -> Option<RailSet> {
        Some(self.is_free(dispatch))
    }
}
