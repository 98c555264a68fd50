//! What the patterns on the bits of a host's number share.

use super::super::Misfit;
use super::Law;

/// Refuses hosts that are not all numbers of so many bits, a multiple of `multiple`.
pub(super) fn check(name: &str, multiple: u32, hosts: Option<u32>) -> Result<(), Misfit> {
    let fits =
        |hosts: u32| hosts.is_power_of_two() && hosts.trailing_zeros().is_multiple_of(multiple);
    match hosts {
        Some(hosts) if !fits(hosts) => {
            let base = 1 << multiple;
            let title = format!("`{name}` does not fit this number of hosts");
            let problem = format!("there are {hosts} hosts, expected a power of {base}");
            Err(Misfit::new(name, title, problem))
        }
        _ => Ok(()),
    }
}

/// Every host sends to one other; `to` is given a host's number and how many bits it has.
pub(super) fn law(hosts: u32, to: fn(u32, u32) -> u32) -> Law {
    let bits = hosts.trailing_zeros();
    Law::Table((0..hosts).map(|host| to(host, bits)).collect())
}

/// The lowest bits, all set.
pub(super) fn ones(bits: u32) -> u32 {
    (1 << bits) - 1
}
