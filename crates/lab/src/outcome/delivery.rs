//! What became of packets where some may be lost.

use super::{Columns, extend};
use crosstie_protocol::channel::History;
use crosstie_sim::run::Delivery;

/// The columns of channels and losses; none where nothing could be lost and nothing was.
pub(super) fn columns(delivery: &Delivery) -> Columns {
    let mut columns = Columns::new();
    let overflows = delivery.overflows.ring + delivery.overflows.pool;
    let counted = |count: u64| Some(count as f64);
    if delivery.lost + overflows > 0 || delivery.channels.is_some() {
        extend(
            &mut columns,
            [("lost", counted(delivery.lost)), ("overflowed", counted(overflows))],
        );
    }
    extend(&mut columns, [("deaths", delivery.deaths.map(|count| count as f64))]);
    if let Some(tally) = &delivery.channels {
        // As the thesis does: of every sender, and then the mean.
        let mean = |of: fn(&History) -> Option<f64>| {
            let values: Vec<f64> = delivery.histories.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        extend(
            &mut columns,
            [
                ("sent", counted(tally.data())),
                ("resent", counted(tally.retransmissions())),
                ("acknowledgements", counted(tally.control())),
                ("interruption", mean(History::interruption)),
                ("severity", mean(History::severity)),
                ("recovery", mean(History::recovery)),
            ],
        );
    }
    if let Some(envelopes) = &delivery.envelopes {
        extend(
            &mut columns,
            [("envelopes", counted(envelopes.posted)), ("deferred", counted(envelopes.deferred))],
        );
    }
    columns
}
