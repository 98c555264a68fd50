use super::*;

/// Fast Ethernet and Directed Point on the cut-through switch [tam, table 5.2], as a file has it.
const FILE: &str = r#"
packet = "1492 B"
send = "12.5 us"
send-gap = "123 us"
receive-gap = { fixed = "123 us" }
latency = { fixed = "149 us", node = "338.7 ns" }
receive = "20 us"
pickup = "7 us"
copy.ctm = { byte = "2 ns" }
buffer = { architecture = "input", frames = 43 }
"#;

fn us(us: f64) -> Cost {
    Cost::fixed(Time::from_ps((us * 1e6).round() as u64))
}

#[test]
fn a_file_is_read_as_it_is_written() {
    let read: Parameters = toml::from_str(FILE).unwrap();
    assert_eq!(read.packet_of(1492, 2).latency.ps(), 149_677_400);
    assert_eq!(read.buffer, Some(Buffer { architecture: Architecture::Input, frames: 43 }));
    let text = toml::to_string(&read).unwrap();
    assert_eq!(toml::from_str::<Parameters>(&text).unwrap(), read, "{text}");
    assert_eq!(toml::from_str::<Parameters>("").unwrap(), Parameters::default());
    let said = |text: &str| toml::from_str::<Parameters>(text).unwrap_err().message().to_owned();
    assert!(said("gap = '1 us'").contains("unknown field `gap`, expected one of `packet`"));
    assert!(said("packet = '0 B'").contains("expected a size from \"1 B\""));
    assert!(said("buffer = { architecture = 'input', frames = 0 }").contains("from 1 to"));
}

#[test]
fn the_network_is_the_bottleneck_of_fast_ethernet() {
    let fast: Parameters = toml::from_str(FILE).unwrap();
    assert!(fast.full_duplex(1492, 2));
    assert_eq!(fast.g(1492, 2).ps(), 123_000_000);
    // Figure 2.3: 3 is more than g = 2.
    let figure = Parameters {
        send: us(1.0),
        send_gap: us(2.0),
        receive_gap: us(2.0),
        latency: us(4.0),
        receive: us(1.5),
        pickup: us(0.5),
        ..Parameters::default()
    };
    assert!(!figure.full_duplex(1, 16));
    let short = Parameters { latency: us(100.0), ..fast };
    assert!(!short.full_duplex(1492, 2), "g must be less than L");
}

/// Section 3.2.3: 80 MB/s on two processors, 76 on one.
#[test]
fn the_bandwidth_names_what_holds_it_up() {
    let gigabit = Parameters {
        send: us(7.0),
        send_gap: us(18.7),
        receive_gap: us(12.6),
        latency: us(30.0),
        ..Parameters::default()
    };
    let smp = gigabit.bandwidth(1500, 2);
    assert!((smp.bytes_per_second / 1e6 - 80.2).abs() < 0.1 && smp.stage == Stage::SendGap);
    let up = Parameters { receive: us(19.7), ..gigabit }.bandwidth(1500, 2);
    assert!((up.bytes_per_second / 1e6 - 76.1).abs() < 0.1 && up.stage == Stage::Receive);
    assert_eq!(up.stage.to_string(), "O_r + U_r");
    assert!(Parameters::default().bandwidth(1, 2).bytes_per_second.is_infinite());
}

/// Section 3.2.1.
#[test]
fn ethernet_in_theory() {
    let gap = |bytes, rate: &str| ethernet_gap(bytes, rate.parse().unwrap()).unwrap().ps();
    assert_eq!(gap(1500, "100 Mbit/s"), 123_040_000);
    assert_eq!(gap(1500, "1 Gbit/s"), 12_304_000);
    assert_eq!(gap(1024, "1 Gbit/s"), 8_496_000);
    assert_eq!((gap(46, "100 Mbit/s"), gap(1, "1 Gbit/s")), (6_720_000, 672_000));
    assert_eq!(ethernet_gap(1, Rate::from_bytes_per_second(0)), None);
}
