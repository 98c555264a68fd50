use super::*;
use crate::HostId;
use proptest::prelude::*;

/// Two switches joined by two cables, an adapter with both ports cabled, one with one, a router,
/// and the aggregation node inside a switch.
const SUBNET: &str = "\
#
# Topology file: generated on Mon Jan  6 10:00:00 2025
#
# Initiated from node 00000000000000a1 port 00000000000000a2

vendid=0x2c9
devid=0xd2f0
sysimgguid=0xb1
switchguid=0xb1(b1)
Switch\t41 \"S-00000000000000b1\"\t\t# \"MF0;leaf-1:MQM8700/U1\" enhanced port 0 lid 1 lmc 0
[1]\t\"H-00000000000000a1\"[1](a2) \t\t# \"node01 HCA-1\" lid 4 4xHDR
[2]\t\"H-00000000000000a1\"[2](a3) \t\t# \"node01 HCA-1\" lid 5 4xHDR
[39]\t\"S-00000000000000b2\"[1]\t\t# \"spine \"one\"\" lid 2 4xHDR
[40]\t\"S-00000000000000b2\"[2]\t\t# \"spine \"one\"\" lid 2 4xHDR
[41]\t\"H-00000000000000b8\"[1](b8) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 4xHDR

vendid=0x2c9
devid=0xd2f0
sysimgguid=0xb2
switchguid=0xb2(b2)
Switch\t8 \"S-00000000000000b2\"\t\t# \"spine \"one\"\" base port 0 lid 2 lmc 0
[1]\t\"S-00000000000000b1\"[39]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR
[2]\t\"S-00000000000000b1\"[40]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR
[3]\t\"H-00000000000000c1\"[1](c2) \t\t# \"\" lid 6 4xHDR
[4]\t\"R-00000000000000d1\"[1](d2) \t\t# \"gateway\" lid 7 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xd1
rtguid=0xd1
Rt\t1 \"R-00000000000000d1\"\t\t# \"gateway\"
[1](d2) \t\"S-00000000000000b2\"[4]\t\t# lid 7 lmc 0 \"spine \"one\"\" lid 2 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xb8
caguid=0xb8
Ca\t1 \"H-00000000000000b8\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](b8) \t\"S-00000000000000b1\"[41]\t\t# lid 9 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xa1
caguid=0xa1
Ca\t2 \"H-00000000000000a1\"\t\t# \"node01 HCA-1\"
[1](a2) \t\"S-00000000000000b1\"[1]\t\t# lid 4 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR
[2](a3) \t\"S-00000000000000b1\"[2]\t\t# lid 5 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR
";

/// The links in words, in order.
fn cables(text: &str) -> Vec<String> {
    let fabric = read("subnet", text).unwrap();
    fabric.links().map(|link| fabric.describe(link.channels()[0])).collect()
}

#[test]
fn a_subnet_with_everything() {
    assert_eq!(
        cables(SUBNET),
        [
            "node01 HCA-1:1 -> MF0;leaf-1:MQM8700/U1:1",
            "node01 HCA-1:2 -> MF0;leaf-1:MQM8700/U1:2",
            "MF0;leaf-1:MQM8700/U1:39 -> spine \"one\":1",
            "MF0;leaf-1:MQM8700/U1:40 -> spine \"one\":2",
            "H-00000000000000c1 -> spine \"one\":3",
            "gateway -> spine \"one\":4",
        ]
    );
    let fabric = read("subnet", SUBNET).unwrap();
    assert_eq!((fabric.name(), fabric.hosts().len(), fabric.switches().len()), ("subnet", 4, 2));
    let ports: Vec<u16> = fabric.switches().map(|switch| fabric.ports(switch)).collect();
    assert_eq!(ports, [42, 9], "port 0 is there");
}

#[test]
fn one_end_of_each_cable_is_enough() {
    let switches_only: String = SUBNET
        .lines()
        .take_while(|line| !line.starts_with("rtguid"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(cables(&switches_only), cables(SUBNET));
    // Hosts listed before their switch, as in a file put together by hand.
    let adapters = "Ca 2 \"H-a\" # \"a\"\n[2](a2) \"S-s\"[7] # lid 1 lmc 0 \"leaf\" lid 2 4xEDR\n\
                    Ca 1 \"H-b\" # \"b\"\n[1](b1) \"S-s\"[3] # lid 3 lmc 0 \"leaf\" lid 2 4xEDR\n";
    assert_eq!(cables(adapters), ["a -> leaf:7", "b -> leaf:3"]);
}

#[test]
fn options_and_copies_change_the_look() {
    let grouped = "ibwarn: [17] mad_rpc: timed out\n\
                   Chassis 1 (guid 0x8f104004050c6)\n\
                   sysimgguid=0x8f104004050c7\t\t# Chassis 1\n\
                   switchguid=0x1(1)\t\t# ISR2012 Line 2 Chip 1\n\
                   Switch\t24 \"S-01\"\t\t# \"line\" base port 0 lid 6 lmc 0\n\
                   [13][ext 6]\t\"H-01\"[1](2) \t\t# \"a\" lid 4 4xDDR s=2 w=2 v=4\n\
                   [14][ext 5]\t\"S-02\"[3][ext 1]\t\t# \"other\" lid 4 4xDDR\n\
                   \n\
                   Non-Chassis Nodes\n   Switch 8 \"S-02\"\n   [1] \"H-02\"[1]\r\n";
    assert_eq!(cables(grouped), ["a -> line:13", "line:14 -> other:3", "H-02 -> other:1"]);
    assert_eq!(read("x", grouped).unwrap().host_out(HostId(1)).link().0, 2);
}

#[test]
fn mistakes_are_named() {
    let node = "line 1: found `S-1`, expected \"S-...\" for a Switch, \"H-...\" for a Ca, \"R-...\" for \
                a Rt";
    for (text, message) in [
        (
            "SW     6  1 0x0005442ba00003080 4x SDR",
            "line 1: found `SW`, expected `Switch`, `Ca`, `Rt`, a port in brackets or a name with `=`; \
             it may be the output of another command, or of an option such as --ports",
        ),
        ("Switch many \"S-1\"", "line 1: found `many`, expected a number of ports up to 255"),
        (
            "Switch 8 S-1",
            "line 1: found `S-1`, expected a node in quotes, such as \"S-0008f10400410015\"",
        ),
        ("Ca 2 \"S-1\"", node),
        ("Switch 8 \"S-1\" x", "line 1: found `x`, expected a comment or the end of the line"),
        (
            "\n[1] \"S-1\"[2]",
            "line 2: found a port without a node, expected a line with `Switch`, `Ca` or `Rt` before \
             it",
        ),
        (
            "Switch 8 \"S-1\"\n[0] \"H-1\"[1]",
            "line 2: found `[0] \\\"H-1\\\"[1]`, expected a port from 1 to 254 in brackets, such as [22]",
        ),
        (
            "Switch 8 \"S-1\"\n[1](9 \"H-1\"[1]",
            "line 2: found `(9 \\\"H-1\\\"[1]`, expected a closing bracket",
        ),
        (
            "Switch 8 \"S-1\"\n[1] \"?-1\"[1]",
            "line 2: found `\\\"?-1\\\"[1]`, expected a node in quotes, such as \"S-0008f10400410015\"",
        ),
        (
            "Switch 8 \"S-1\"\n[1] \"H-1\"[1] 4xQDR",
            "line 2: found `4xQDR`, expected a comment or the end of the line",
        ),
        (
            "Switch 8 \"S-1\"\n[1] \"S-1\"[2]",
            "line 2: found a cable from port 1 of S-1 to port 2 of S-1, expected cables between \
             different nodes",
        ),
        (
            "Switch 8 \"S-1\"\n[1] \"H-1\"[1]\nCa 1 \"H-1\"\n[1] \"S-1\"[2]",
            "line 4: found port 2 of S-1 at port 1 of H-1, expected port 1 of S-1, as in line 2",
        ),
        (
            "Switch 8 \"S-1\"\n[1] \"H-1\"[1]\n[1] \"H-2\"[1]",
            "line 3: found port 1 of H-2 at port 1 of S-1, expected port 1 of H-1, as in line 2",
        ),
        ("Switch 8 \"S-1\"\n[1] \"H-1\"[1]", "the network has 1 hosts; it needs at least 2"),
    ] {
        let error = read("wrong", text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

proptest! {
    #[test]
    fn no_change_of_a_file_makes_it_panic(
        at in any::<prop::sample::Index>(), cut in 0usize..40, insert in "[\\[\\]()\"#SHR 0-9-]{0,8}",
    ) {
        let start = at.index(SUBNET.len());
        let end = (start + cut).min(SUBNET.len());
        let _ = read("any", &format!("{}{insert}{}", &SUBNET[..start], &SUBNET[end..]));
    }

    #[test]
    fn nothing_makes_it_panic(
        text in "(Switch |Ca |\"S-1\"|\"H-[12]\"|\\[[0-9]{1,3}\\]|\\PC|[ \n#]){0,40}",
        bytes in any::<Vec<u8>>(),
    ) {
        let _ = read("any", &text);
        let _ = read("any", &String::from_utf8_lossy(&bytes));
    }
}
