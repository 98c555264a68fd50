//! The complete exchange: closed forms [tam, 5.1 to 5.4 and 6.4].
//!
//! Each of p ranks has a block of k packets for every other rank. With
//! T_w = O_s + L - g + O_r + U_r, n rounds that each drain the pipeline take
//!
//! ```text
//! T = k (p-1) g + n T_w
//! ```
//!
//! | algorithm | rounds n | equation |
//! |---|---|---|
//! | least; synchronous shuffle | 1 | 5.1, 5.3 |
//! | group shuffle | ceil(chi / omega) | 5.4 |
//! | shift | p-1 | 5.2 |
//! | pairwise | chi | 5.2 |
//!
//! chi is p-1 among an even number of ranks. Among an odd number it is p, and a rank rests in one
//! round: rounds by pairs then take k chi g at most.
//!
//! On two levels of switches each uplink carries k (p - d_1) d_1 packets either way, which is the
//! least time of a network whose uplinks are the bottleneck (6.4).

use crate::{Parameters, Uplink};
use crosstie_units::Time;

/// A complete exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// p, at least 2.
    pub ranks: u32,
    /// Packets of a block: k.
    pub packets: u64,
}

impl Exchange {
    /// T of `rounds` rounds, all packets full.
    pub fn time(&self, parameters: &Parameters, rounds: u32) -> Time {
        let full = parameters.packet_of(parameters.packet.get(), self.ranks);
        let rounds = u64::from(rounds);
        // Each round has its share of the gaps but one, and that one is in L.
        let gaps = (self.packets * u64::from(self.ranks - 1)).saturating_sub(rounds);
        full.gap() * gaps + (full.send + full.latency + full.receive) * rounds
    }

    /// The colours of the complete graph of the ranks: chi.
    pub fn colours(&self) -> u32 {
        if self.ranks.is_multiple_of(2) { self.ranks - 1 } else { self.ranks }
    }

    /// The rounds of a group shuffle with omega partners at a time; omega is at least 1.
    pub fn group_rounds(&self, omega: u32) -> u32 {
        self.colours().div_ceil(omega)
    }

    /// Packets that an uplink carries in one direction: k (p - d_1) d_1.
    pub fn crossing(&self, uplink: &Uplink) -> u64 {
        let here = u64::from(uplink.hosts);
        self.packets * u64::from(self.ranks).saturating_sub(here) * here
    }

    /// The least time of the uplinks (6.4), all packets full.
    pub fn of_uplinks(&self, uplink: &Uplink, packet: u64) -> Time {
        uplink.both_ways(packet, self.ranks) * self.crossing(uplink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cost;
    use crate::testing::{cut_through, store_and_forward, us};

    /// Section 3 of the digest: switch, p, k, omega, and T_sync, T_group and T_shift in us.
    #[test]
    fn the_times_of_table_5_2() {
        let table = [
            (cut_through(), 16, 4, 5, [7450.9, 7592.8, 8443.8]),
            (cut_through(), 16, 64, 5, [118_150.9, 118_292.8, 119_143.8]),
            (cut_through(), 8, 64, 4, [55_172.2, 55_240.4, 55_581.5]),
            (cut_through(), 4, 64, 3, [23_682.9, 23_682.9, 23_816.6]),
            (store_and_forward(), 16, 4, 5, [7566.0, 7937.9, 10_169.4]),
            (store_and_forward(), 16, 64, 5, [118_266.0, 118_637.9, 120_869.4]),
            (store_and_forward(), 8, 64, 4, [55_287.2, 55_470.5, 56_386.6]),
            (store_and_forward(), 4, 64, 3, [23_797.9, 23_797.9, 24_161.6]),
        ];
        for (on, ranks, packets, omega, times) in table {
            let exchange = Exchange { ranks, packets };
            for (rounds, time) in
                [1, exchange.group_rounds(omega), ranks - 1].into_iter().zip(times)
            {
                let found = exchange.time(&on, rounds).seconds() * 1e6;
                assert!(
                    (found - time).abs() < 0.051,
                    "p {ranks}, k {packets}, n {rounds}: {found}"
                );
            }
        }
    }

    #[test]
    fn rounds_are_those_of_table_5_1() {
        let exchange = |ranks| Exchange { ranks, packets: 1 };
        assert_eq!(exchange(16).group_rounds(5), 3);
        assert_eq!((exchange(16).group_rounds(1), exchange(16).group_rounds(15)), (15, 1));
        assert_eq!((exchange(9).group_rounds(4), exchange(5).group_rounds(2)), (3, 3));
    }

    /// The best bandwidth per node, (p-1) k b / T: 103 MB/s both ways together.
    #[test]
    fn uplinks_bound_the_configurations_of_chapter_6() {
        let way = Cost::fixed(us(1492.0 / 103.0));
        for (hosts, switches, best) in
            [(8, 2, 12.070), (8, 3, 9.254), (6, 4, 10.968), (8, 4, 8.315)]
        {
            let uplink =
                Uplink { hosts, outward: way, inward: way, shared: true, frames: None, core: None };
            let exchange = Exchange { ranks: hosts * switches, packets: 40 };
            let bytes = 40 * 1492 * u64::from(exchange.ranks - 1);
            let found = bytes as f64 / exchange.of_uplinks(&uplink, 1492).seconds() / 1e6;
            assert!((found - best).abs() < 0.001, "{hosts}x{switches}: {found}");
        }
    }
}
