//! A barrier of messages.

use super::BARRIER;
use crate::program::Process;
use crosstie_collective::Rank;

/// Waits until all of the ranks have come so far, by dissemination: in round i each tells the one
/// 2^i behind it. All go on at nearly the same time, and none receives two messages at once. The
/// network must be quiet, as nothing is sent again.
pub(super) async fn barrier(process: &Process, ranks: &[Rank]) {
    let place = ranks.iter().position(|&rank| rank == process.rank()).expect("it takes part");
    let mut distance = 1;
    while distance < ranks.len() {
        let to = ranks[(place + distance) % ranks.len()];
        let from = ranks[(place + ranks.len() - distance) % ranks.len()];
        let told = process.expect(Some(from), BARRIER, 1);
        process.send(to, BARRIER, 1).await;
        process.done(told).await;
        distance *= 2;
    }
}
