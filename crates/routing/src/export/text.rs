//! Routes as lines of numbers.

use std::io::{self, Write};

use crosstie_fabric::Fabric;

use super::{pairs, ports};
use crate::{Route, Routing};

/// Writes one line per route: source, destination, and the port to leave each switch by. `4|5` is a
/// free choice, and `(12)` says that the packet is now at host 12 and put in again there.
pub fn text(fabric: &Fabric, routing: &dyn Routing, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# source destination: port at each switch, (host) where a packet stops")?;
    let mut route = Route::default();
    for (from, to) in pairs(fabric) {
        routing.route(from, to, &mut route);
        write!(out, "{} {}:", from.0, to.0)?;
        for leg in route.legs() {
            for tag in leg.tags {
                for (i, port) in ports(routing, tag).iter().enumerate() {
                    write!(out, "{}{}", if i == 0 { ' ' } else { '|' }, port.0)?;
                }
            }
            if let Some(host) = leg.stop {
                write!(out, " ({})", host.0)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::UpDownItb;
    use crate::networks::ring;
    use crate::{Root, TreeAdaptive};
    use crosstie_fabric::{SwitchId, tree};
    use crosstie_units::Seed;

    fn lines(fabric: &Fabric, routing: &dyn Routing) -> Vec<String> {
        let mut out = Vec::new();
        text(fabric, routing, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn stops_stand_in_brackets() {
        let root = Root::Switch(SwitchId(0));
        let itb = UpDownItb { root, seed: None };
        let lines = lines(&ring(5), &itb.routes(&ring(5), Seed(1)).unwrap());
        assert_eq!(lines.len(), 1 + 20);
        assert_eq!(lines[1], "0 1: 1 0");
        assert!(lines.contains(&"2 4: 1 0 (3) 1 0".to_owned()), "{lines:?}");
        assert!(lines.contains(&"4 2: 2 0 (3) 2 0".to_owned()), "{lines:?}");
    }

    #[test]
    fn choices_are_told_apart_by_bars() {
        let fabric = tree(2, 2).unwrap();
        let lines = lines(&fabric, &TreeAdaptive::new(&fabric).unwrap());
        assert_eq!(lines[1..4], ["0 1: 1", "0 2: 2|3 1 0", "0 3: 2|3 1 1"]);
    }
}
