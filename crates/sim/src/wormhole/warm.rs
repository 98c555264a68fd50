//! Bringing the state that a tick needs into the cache before the tick is worked off.
//!
//! In a large network nearly every event of a tick finds its state in no cache, and waits for memory
//! one line after the other. The events are known beforehand and independent of each other, so their
//! lines are read here in a few passes of loads that do not wait for one another. Nothing is changed
//! and nothing is decided; a small network, whose state stays in the cache anyway, does without.

use super::engine::{Engine, Event, GROUP, grants};
use super::network::{NONE, Target};
use std::hint::black_box;

/// From this many virtual channels on (about 200 bytes each), the state outgrows a second-level
/// cache of 2 MiB.
const LARGE: usize = 8192;

/// Events warmed at a time: few enough for their lines to be still there when their turn comes.
pub(super) const BATCH: usize = 64;

impl Engine<'_> {
    /// Reads what the given events are about to need.
    pub(super) fn warm(&self, events: &[Event]) {
        if self.vcs.len() < LARGE {
            return;
        }
        let mut sum = 0;
        for &event in events {
            sum ^= match event {
                Event::Mux(mux) => self.muxes[mux as usize].wake(),
                Event::Header(vc) => self.vcs[vc as usize].ready,
                Event::Delivered(worm) => self.worms[worm as usize].queued,
                Event::Host(_) => 0,
            };
        }
        for &event in events {
            match event {
                Event::Mux(mux) => {
                    for vc in self.active_vcs(mux) {
                        sum ^= self.vcs[vc as usize].ready ^ self.lines.known(grants(vc));
                        sum ^= self.counts[self.vcs[vc as usize].channel as usize].flits;
                    }
                }
                Event::Header(vc) => {
                    sum ^= self.lines.known(grants(vc));
                    let worm = self.vcs[vc as usize].front as usize;
                    sum ^=
                        self.worms[worm].queued ^ u64::from(self.tags[worm * self.tags_per_worm]);
                }
                Event::Delivered(_) | Event::Host(_) => {}
            }
        }
        for &event in events {
            match event {
                Event::Mux(mux) => {
                    for vc in self.active_vcs(mux) {
                        let feeder = self.vcs[vc as usize].feeder;
                        if feeder != NONE {
                            sum ^=
                                self.vcs[feeder as usize].ready ^ self.lines.known(grants(feeder));
                        }
                    }
                }
                Event::Header(vc) => {
                    let out = self.likely_output(vc);
                    if out != NONE {
                        let vc = out * self.network.vcs;
                        sum ^= self.muxes[self.vcs[vc as usize].mux as usize].wake();
                        for vc in vc..vc + self.network.vcs {
                            sum ^= self.vcs[vc as usize].ready ^ self.lines.known(grants(vc));
                        }
                    }
                }
                Event::Delivered(_) | Event::Host(_) => {}
            }
        }
        black_box(sum);
    }

    /// The channel that the header at the front of a buffer will most likely take.
    fn likely_output(&self, vc: u32) -> u32 {
        let switch = match self.network.targets[self.vcs[vc as usize].channel as usize] {
            Target::Switch(switch) => switch,
            Target::SendingNic(host) => return self.network.host_out[host as usize],
            Target::ReceivingNic(_) | Target::End => return NONE,
        };
        let worm = self.vcs[vc as usize].front as usize;
        let tag = self.tags[worm * self.tags_per_worm + self.worms[worm].hop as usize];
        let port = if tag & GROUP == 0 {
            tag
        } else {
            let group = &self.groups[(tag & !GROUP) as usize];
            group[self.switches[switch as usize].choice() % group.len()]
        };
        self.network.port_out[(self.network.first_port[switch as usize] + u32::from(port)) as usize]
    }
}
