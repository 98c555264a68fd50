//! The `crosstie` command.
fn main() {}
