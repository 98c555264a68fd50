//! Clusters that tests share.

use crate::{Cost, Parameters};
use crosstie_units::{Bytes, Stream, Time};

pub(crate) fn us(us: f64) -> Time {
    Time::from_ps((us * 1e6).round() as u64)
}

fn fixed(time: f64) -> Cost {
    Cost::fixed(us(time))
}

/// Fast Ethernet and Directed Point on the cut-through switch [tam, table 5.2].
pub(crate) fn fast_ethernet() -> Parameters {
    Parameters {
        packet: Bytes::new(1492),
        send: fixed(12.5),
        send_gap: fixed(123.0),
        latency: Cost { fixed: us(149.0), node: us(0.3387), ..Cost::default() },
        receive_gap: fixed(123.0),
        receive: fixed(20.0),
        pickup: fixed(7.0),
        ..Parameters::default()
    }
}

/// The cut-through IBM 8275-326 with the gaps as stated [tam, table 5.2].
pub(crate) fn cut_through() -> Parameters {
    Parameters { send_gap: fixed(122.0), ..fast_ethernet() }
}

/// The store-and-forward IBM 8275-416 [tam, table 5.2].
pub(crate) fn store_and_forward() -> Parameters {
    let latency = Cost { fixed: us(264.0), node: us(0.3413), ..Cost::default() };
    Parameters { latency, ..cut_through() }
}

/// Figures 2.3 (g = 2) and 2.4 (g = 1), with microseconds for units and packets of a byte.
pub(crate) fn figure(g: f64) -> Parameters {
    Parameters {
        packet: Bytes::new(1),
        send: fixed(1.0),
        send_gap: fixed(g),
        latency: fixed(4.0),
        receive_gap: fixed(g),
        receive: fixed(1.5),
        pickup: fixed(0.5),
        ..Parameters::default()
    }
}

/// Any cluster.
pub(crate) fn drawn(stream: &mut Stream) -> Parameters {
    let mut cost = |most: u64| Cost {
        fixed: Time::from_ps(stream.below(most)),
        byte: Time::from_ps(stream.below(most / 1000)),
        ..Cost::default()
    };
    Parameters {
        send: cost(5_000_000),
        send_gap: cost(5_000_000),
        latency: cost(20_000_000),
        receive_gap: cost(5_000_000),
        receive: cost(3_000_000),
        pickup: cost(2_000_000),
        packet: Bytes::new(100 + stream.below(1000)),
        ..Parameters::default()
    }
}
