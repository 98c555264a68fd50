//! Destination patterns, with the files that some of them come from.

use crate::LabError;
use crosstie_fabric::Fabric;
use crosstie_work::traffic::{Destination, Misfit, Pattern};
use std::path::PathBuf;

/// The pattern on a fabric; `locate` tells where the paths in it lead.
pub(crate) fn pattern(
    destination: &Destination,
    fabric: &Fabric,
    locate: &dyn Fn(&str) -> PathBuf,
) -> Result<Pattern, LabError> {
    let read = |file: &str| std::fs::read_to_string(locate(file));
    destination.on(fabric, &read).map_err(|Misfit { key, problem, help, file, .. }| {
        let key = format!("traffic.destination.{key}");
        let usual = || "choose another destination, or another number of hosts".to_owned();
        let help = help.unwrap_or_else(usual);
        match file {
            Some(file) => LabError::input(&key, locate(&file), problem, help),
            None => LabError::setting(&key, problem, help),
        }
    })
}
