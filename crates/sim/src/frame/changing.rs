//! Links that change while frames are on them.
//!
//! Where links never change, a frame that is queued knows at once when it will start. Where they
//! do, it waits for its turn, and finds out then how fast its link is, and whether it is there at
//! all.

use super::engine::Flight;
use super::spec::Line;
use crate::network::Change;
use crosstie_units::Time;
use std::collections::VecDeque;

/// What there is to know of links that change, by channel.
pub(super) struct Changing<'a> {
    pub changes: &'a [Change],
    /// What each channel was made as.
    pub own: Vec<Line>,
    pub is_down: Vec<bool>,
    /// Frames that wait for a channel, but for those at inputs.
    pub waiting: Vec<VecDeque<u32>>,
    crossing: Vec<Vec<Crossing>>,
    /// When the last bit of each frame is where it started last, by its place.
    tails: Vec<Time>,
}

/// A frame on a channel.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    frame: u32,
    /// The number of its packet, since its place may be given to another when it has been dropped.
    id: u64,
    /// When its last bit is at the other end.
    there: Time,
}

impl<'a> Changing<'a> {
    pub fn new(changes: &'a [Change], own: Vec<Line>) -> Changing<'a> {
        let channels = own.len();
        Changing {
            changes,
            own,
            is_down: vec![false; channels],
            waiting: vec![VecDeque::new(); channels],
            crossing: vec![Vec::new(); channels],
            tails: Vec::new(),
        }
    }

    /// A frame starts on a channel at a time, and would have left it at another: when it has. One
    /// that a switch cuts through while links change goes on no faster than it comes.
    pub fn start(
        &mut self,
        (at, left, wire): (Time, Time, Time),
        channel: u32,
        place: u32,
        flight: &Flight,
    ) -> Time {
        if self.tails.len() <= place as usize {
            self.tails.resize(place as usize + 1, Time::ZERO);
        }
        let tail = &mut self.tails[place as usize];
        let left = if flight.hop > 0 { left.max(*tail) } else { left };
        *tail = left + wire;
        let crossing = &mut self.crossing[channel as usize];
        crossing.retain(|other| other.there > at);
        crossing.push(Crossing { frame: place, id: flight.id, there: *tail });
        left
    }

    /// The frames that are on a channel, with the numbers of their packets.
    pub fn crossing(&self, now: Time, channel: u32) -> Vec<(u32, u64)> {
        let on_it = self.crossing[channel as usize].iter().filter(|frame| frame.there > now);
        on_it.map(|crossing| (crossing.frame, crossing.id)).collect()
    }
}
