//! `crosstie rank`: what other verbs start on real hosts. It is not for people.

use crate::exit::{Answer, Exit, Failure};

pub const EXAMPLES: &str = "\
Examples:
  crosstie rank
      started by `crosstie run`, `crosstie bench` and others, which tell it what
      to do";

/// Does what this rank was told.
pub fn rank() -> Exit {
    crosstie_lab::live::rank().map_err(|error| match crate::joined::rank() {
        Some(rank) => Failure::user(format!("rank {rank}: {error}")),
        None => Failure::user(error),
    })?;
    Ok(Answer::Yes)
}
