//! What a packet costs in the two ends of a channel, from being handed over to its acknowledgement,
//! over a link that loses nothing.

use crosstie_protocol::Machine;
use crosstie_protocol::channel::*;
use crosstie_units::Time;
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

/// Two ends, and the frames between them.
struct Pair {
    ends: [Endpoint<u64>; 2],
    flight: VecDeque<(usize, Frame<u64>)>,
    frames: u64,
    delivered: u64,
}

impl Pair {
    fn new(kind: ChannelKind) -> Pair {
        let spec = kind
            .spec(&Recommended::simulated(Time::from_ns(1_000_000), SelectiveSpec::SIMULATED))
            .expect("a reliable channel");
        let end = || Endpoint::new(spec).expect("a sound channel");
        Pair { ends: [end(), end()], flight: VecDeque::new(), frames: 0, delivered: 0 }
    }

    fn serve(&mut self, now: Time, end: usize) {
        while let Some(action) = self.ends[end].poll_action(now) {
            match action {
                Action::Transmit(frame) => self.flight.push_back((1 - end, frame)),
                Action::Deliver(item) => self.delivered += black_box(item),
                Action::Acknowledged(item) => _ = black_box(item),
            }
        }
    }

    /// Sends so many packets, from one end or from both.
    #[inline(never)]
    fn packets(&mut self, count: u64, both: bool) {
        let mut now = Time::ZERO;
        for _ in 0..count {
            for end in 0..1 + usize::from(both) {
                self.ends[end].handle(now, Input::Send { item: 1, bytes: 1500, rides: true });
                self.serve(now, end);
            }
            // Some frames are always under way, and nothing piles up.
            while self.flight.len() > 6 || self.ends[0].queued() > 0 {
                now = now + Time::from_ns(10);
                black_box(self.ends[0].poll_timeout().min(self.ends[1].poll_timeout()));
                let (end, frame) = self.flight.pop_front().expect("a full window is answered");
                self.frames += 1;
                self.ends[end].handle(now, Input::Frame(frame));
                self.serve(now, end);
            }
        }
    }
}

fn main() {
    let share = std::env::var("CROSSTIE_BENCH_SHARE").ok().and_then(|share| share.parse().ok());
    let count = (1e7 * share.unwrap_or(1.0f64)) as u64;
    let (window, timeout) = (8, None);
    let kind = |acknowledge| ChannelKind::GoBackN { window, timeout, acknowledge };
    let delayed = Acknowledge::Delayed { every: 4, after: None };
    let selective = ChannelKind::Selective { least: None, ahead: None, after: None };
    for (name, kind, both) in [
        ("immediate, one way", kind(Acknowledge::Immediate), false),
        ("delayed, one way", kind(delayed), false),
        ("piggyback, both ways", kind(Acknowledge::Piggyback { after: None }), true),
        ("selective, one way", selective, false),
        ("selective, both ways", selective, true),
    ] {
        let mut pair = Pair::new(kind);
        let start = Instant::now();
        pair.packets(count, both);
        let time = start.elapsed().as_nanos() as f64;
        let resent: u64 = pair.ends.iter().map(|end| end.tally().retransmissions()).sum();
        assert!(resent == 0 && pair.delivered + 14 > count, "{resent} {}", pair.delivered);
        let (packet, frame) = (time / pair.delivered as f64, time / pair.frames as f64);
        println!("{name:22} {packet:6.1} ns a packet, {frame:6.1} ns a frame");
    }
}
