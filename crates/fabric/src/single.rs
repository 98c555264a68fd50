//! All hosts on one switch.

use crate::{End, Fabric, FabricBuilder, FabricError, Port, Shape};

/// One switch with `hosts` ports, host h at port h.
pub fn single(hosts: u32) -> Result<Fabric, FabricError> {
    let ports = u16::try_from(hosts).map_err(|_| FabricError::TooLarge {
        what: format!("{hosts} hosts on one switch; a switch has at most {} ports", u16::MAX),
    })?;
    let mut builder = FabricBuilder::default();
    let switch = builder.switch("switch", ports);
    for port in 0..ports {
        let host = builder.host(port.to_string());
        builder.connect(End::host(host), End::switch(switch, Port(port)));
    }
    builder.build(format!("single switch with {hosts} hosts"), Shape::Single)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostId, SwitchId};

    #[test]
    fn host_h_is_at_port_h() {
        let fabric = single(8).unwrap();
        assert_eq!(fabric.name(), "single switch with 8 hosts");
        assert_eq!(fabric.ports(SwitchId(0)), 8);
        for host in fabric.hosts() {
            let port = Port(host.0 as u16);
            assert_eq!(fabric.switch_out(SwitchId(0), port), Some(fabric.host_in(host)));
        }
        assert_eq!(fabric.describe(fabric.host_in(HostId(3))), "switch:3 -> 3");
    }

    #[test]
    fn refuses_one_host_and_more_than_a_switch_can_hold() {
        assert_eq!(single(1).unwrap_err(), FabricError::TooFewHosts { hosts: 1 });
        let error = single(70_000).unwrap_err().to_string();
        assert_eq!(
            error,
            "the network is too large: 70000 hosts on one switch; a switch has at most 65535 ports"
        );
    }
}
