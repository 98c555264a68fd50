//! Bringing the state that a tick needs into the cache before the tick is worked off.
//!
//! In a large network nearly every event of a tick finds its state in no cache, and waits for
//! memory one line after the other. The events are known beforehand and independent of each other,
//! so while one batch of them is worked off, the lines of the next ones are on their way. Nothing
//! is changed and nothing is decided; a small network, whose state stays in the cache anyway, does
//! without.

use super::engine::{Engine, Event, GROUP, STOP};
use super::wiring::{NONE, Target};

/// From this many virtual channels on (128 bytes each, and what belongs to them), the state
/// outgrows a second-level cache of 2 MiB.
const LARGE: usize = 1 << 14;

/// Events warmed at a time: enough to keep memory busy, few enough for their lines to be still
/// there when their turn comes.
pub(super) const BATCH: usize = 32;

/// Passes over a batch before its events are worked off.
pub(super) const PASSES: usize = 3;

/// Asks for the cache line of an item without waiting for it.
#[inline]
pub(super) fn fetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a hint: it reads nothing and may be given any address")]
    // SAFETY: prefetching has no effect but on the cache, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

impl Engine<'_> {
    /// Whether the state outgrows the cache.
    pub(super) fn is_large(&self) -> bool {
        self.vcs.len() >= LARGE
    }

    /// Fetches what the given events are about to need; each pass follows pointers that the one
    /// before it has fetched.
    pub(super) fn prefetch(&self, events: &[Event], pass: usize) {
        for &event in events {
            match (pass, event) {
                (0, Event::Mux(mux)) => fetch(&self.muxes, mux as usize),
                (0, Event::Header(vc)) => {
                    self.vcs.fetch(vc);
                    let channel = (vc / self.network.vcs) as usize;
                    fetch(&self.network.targets, channel);
                    fetch(&self.network.in_port, channel);
                    fetch(&self.counts, channel);
                }
                (0, Event::Delivered(worm)) => fetch(&self.worms, worm as usize),
                (1, Event::Mux(mux)) => {
                    for vc in self.active_vcs(mux) {
                        self.vcs.fetch(vc);
                        let channel = (vc / self.network.vcs) as usize;
                        fetch(&self.counts, channel);
                        fetch(&self.network.origins, channel);
                    }
                }
                (1, Event::Header(vc)) => {
                    let worm = self.vcs[vc].front as usize;
                    fetch(&self.worms, worm);
                    fetch(&self.tags, worm * self.tags_per_worm);
                    if let Target::Switch(switch) = self.target(vc) {
                        let first_port = self.network.first_port[switch as usize];
                        fetch(&self.switches, switch as usize);
                        fetch(&self.line, (first_port * self.network.vcs) as usize);
                        fetch(&self.network.port_out, first_port as usize);
                    }
                }
                (2, Event::Mux(mux)) => {
                    for vc in self.active_vcs(mux) {
                        let feeder = self.vcs[vc].feeder;
                        if feeder != NONE {
                            self.vcs.fetch(feeder);
                        }
                    }
                }
                (2, Event::Header(vc)) => self.fetch_outputs(vc),
                _ => {}
            }
        }
    }

    /// Fetches the channels that the header at the front of a buffer will look at.
    fn fetch_outputs(&self, vc: u32) {
        let switch = match self.target(vc) {
            Target::Switch(switch) => switch,
            Target::SendingNic(host) | Target::Host(host) => {
                self.fetch_output(self.network.host_out[host as usize]);
                return;
            }
            Target::ReceivingNic(_) | Target::End => return,
        };
        let worm = self.vcs[vc].front as usize;
        let tag = self.tags[worm * self.tags_per_worm + self.worms[worm].hop as usize] & !STOP;
        let first_port = self.network.first_port[switch as usize];
        let out = |port: u16| self.network.port_out[(first_port + u32::from(port)) as usize];
        if tag & GROUP == 0 {
            self.fetch_output(out(tag));
            return;
        }
        let group = &self.groups[(tag & !GROUP) as usize];
        let (late, early) = group.split_at(self.switches[switch as usize].choice() % group.len());
        for &port in early.iter().chain(late) {
            // One with nothing in it will do.
            if self.fetch_output(out(port)) == self.network.vcs {
                return;
            }
        }
    }

    /// Fetches a channel if it has a free virtual channel; says how many are free.
    fn fetch_output(&self, channel: u32) -> u32 {
        let Some(&free) = self.free.get(channel as usize) else { return 0 };
        if free > 0 {
            let first = channel * self.network.vcs;
            fetch(&self.muxes, channel as usize);
            for vc in first..first + self.network.vcs {
                self.vcs.fetch(vc);
            }
        }
        free.count_ones()
    }

    /// Where the flits in a buffer are.
    fn target(&self, vc: u32) -> Target {
        self.network.targets[(vc / self.network.vcs) as usize]
    }
}
