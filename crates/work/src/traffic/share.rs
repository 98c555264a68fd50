//! Shares of messages.

use super::Misfit;
use crosstie_units::range::closed;
use crosstie_units::reals;

reals! {
    /// Reads a share.
    read = "a share from 0 to 1", closed(0.0, 1.0);
}

/// Refuses a share that no file could have.
pub(super) fn check(key: &str, share: f64) -> Result<(), Misfit> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    let problem = format!("found {share}, expected a share from 0 to 1");
    Err(Misfit::new(key, "not a share", problem))
}
