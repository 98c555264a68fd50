//! What of a burst comes through a buffer [tam, A.1].

use crate::Packet;

/// Sources that fill a buffer and sinks that empty it: their rates, and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// A: how fast packets come, in any unit of time.
    pub arrival: f64,
    /// D: how fast they go, in the same.
    pub departure: f64,
    /// B~: how many may wait.
    pub frames: f64,
}

impl Burst {
    /// From S sources to R sinks, with packets that leave and come as often as they can: A ~ S /
    /// g_s, D ~ R / g_r.
    pub fn new(sources: u32, sinks: u32, packet: &Packet, frames: f64) -> Burst {
        Burst {
            arrival: f64::from(sources) / packet.send_gap.seconds(),
            departure: f64::from(sinks) / packet.receive_gap.seconds(),
            frames,
        }
    }

    /// When the buffer is full: B~ / (A - D) [tam, A.1]. `None`: never.
    pub fn full_after(&self) -> Option<f64> {
        (self.arrival > self.departure).then(|| self.frames / (self.arrival - self.departure))
    }

    /// The longest burst of which nothing is lost: A B~ / (A - D), packets by then. `None`: any.
    pub fn longest(&self) -> Option<f64> {
        self.full_after().map(|after| self.arrival * after)
    }

    /// The share of k packets that comes through: rho = D/A + B~/k [tam, A.2], and 1 up to the
    /// longest burst of which nothing is lost. The thesis has A.2 for all k > B~, which would
    /// give more than 1 between the two.
    pub fn success(&self, packets: f64) -> f64 {
        match self.longest() {
            Some(longest) if packets > longest => {
                self.departure / self.arrival + self.frames / packets
            }
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_sources_come_four_times_as_fast_as_a_sink_goes() {
        let packet = crate::testing::fast_ethernet().packet_of(1492, 5);
        let burst = Burst::new(4, 1, &packet, 95.0);
        assert!((burst.success(200.0) - 0.725).abs() < 1e-9);
        assert!((burst.longest().unwrap() - 95.0 * 4.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_vectors_of_the_success_ratio() {
        let burst = Burst { arrival: 4.0, departure: 1.0, frames: 95.0 };
        for (packets, ratio) in
            [(126.0, 1.0), (127.0, 0.998031), (200.0, 0.725), (400.0, 0.4875), (1000.0, 0.345)]
        {
            assert!((burst.success(packets) - ratio).abs() < 1e-6, "{packets}");
        }
        let slow = Burst { arrival: 1.0, ..burst };
        assert_eq!((slow.longest(), slow.success(1e9)), (None, 1.0));
    }
}
