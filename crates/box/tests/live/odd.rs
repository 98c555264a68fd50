//! Boxes and makers of odd sizes and habits.

use std::io::Write;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Command, End, Spec, Trace};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::parts::{self, part, say};
use crate::stage::{company, live, shell, spec, start};

const PORT: u16 = 7400;

/// A part: sends one datagram of a length to an address.
pub fn parcel(words: &[&str]) -> i32 {
    let &[to, length] = words else { panic!("{words:?}") };
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let bytes = vec![1; length.parse().unwrap()];
    socket.send_to(&bytes, (to.parse::<Ipv4Addr>().unwrap(), PORT)).unwrap();
    0
}

/// A part: says how long the datagrams are that arrive, so many of them.
pub fn unpack(words: &[&str]) -> i32 {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    say("ready");
    let mut memory = vec![0; 70_000];
    for _ in 0..words[0].parse().unwrap() {
        say(socket.recv(&mut memory).map_or(0, |length| length));
    }
    0
}

/// Sends datagrams from one host to another, one on each of some rails; their lengths as they
/// arrive.
fn deliver(cluster: &Cluster, from: usize, to: usize, what: &[(usize, usize)]) -> Vec<usize> {
    let mut receiver = start(cluster, to, part("unpack", &[&what.len()]));
    receiver.until("ready");
    for (rail, length) in what {
        let address = cluster.spec().address(*rail, to);
        start(cluster, from, part("parcel", &[&address, length])).end().well();
    }
    let text = receiver.end().well();
    parts::lines(&text).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn two_hundred_and_fifty_hosts() {
    let _company = company();
    let Some(cluster) = live(&spec("hosts = 250\n[[rail]]\nrate = '1 Gbit/s'")) else { return };
    assert_eq!(deliver(&cluster, 0, 249, &[(0, 100)]), [100]);
    assert_eq!(deliver(&cluster, 249, 123, &[(0, 100)]), [100]);
    assert_eq!(shell(&cluster, 249, "echo $CROSSTIE_HOST").well(), "host249\n");
}

#[test]
fn sixteen_rails() {
    let _company = company();
    let rails: String = (0..16)
        .map(|rail| match rail % 3 {
            0 => "[[rail]]\nrate = '1 Gbit/s'\nshape.switch = {}\n",
            1 => "[[rail]]\nrate = '1 Gbit/s'\nshape.cable.between = [0, 2]\n",
            _ => "[[rail]]\n",
        })
        .collect();
    let Some(cluster) = live(&spec(&format!("hosts = 3\n{rails}"))) else { return };
    let what: Vec<(usize, usize)> = (0..16).map(|rail| (rail, 100 + rail)).collect();
    let lengths: Vec<usize> = what.iter().map(|(_, length)| *length).collect();
    assert_eq!(deliver(&cluster, 0, 2, &what), lengths);
    assert_eq!(deliver(&cluster, 2, 0, &what), lengths);
}

#[test]
fn frames_are_as_long_as_the_file_allows() {
    let _company = company();
    for offloads in [true, false] {
        let rails = ["cable", "switch"].map(|shape| {
            [576, 1500, 9000, 65_535].map(|mtu| {
                format!(
                    "[[rail]]\nrate = '1 Gbit/s'\nmtu = '{mtu} B'\nshape.{shape} = {{}}\noffloads = {offloads}\n"
                )
            })
        });
        let Some(cluster) = live(&spec(&format!("hosts = 2\n{}", rails.concat().concat()))) else {
            return;
        };
        let mut trace = Trace::new(&cluster).unwrap();
        // What fills a frame after the headers of IP and UDP.
        let lengths = [576, 1500, 9000, 65_535].map(|mtu| mtu - 28);
        let what: Vec<(usize, usize)> = lengths.into_iter().cycle().take(8).enumerate().collect();
        assert_eq!(deliver(&cluster, 0, 1, &what), [lengths, lengths].concat());
        for sample in trace.look(Duration::ZERO).unwrap() {
            if (sample.host.as_str(), sample.end) == ("host0", End::Nic) {
                let rail: usize = sample.rail.strip_prefix("rail").unwrap().parse().unwrap();
                let bytes = (what[rail].1 + 42) as u64;
                assert_eq!(
                    (sample.frames, sample.bytes, sample.drops),
                    (1, bytes, 0),
                    "{sample:?}"
                );
            }
        }
    }
}

#[test]
fn slow_and_fast_rails() {
    let _company = company();
    let rails = ["1 kB/s", "64 kB/s", "100 GB/s", "4294967295 B/s", "4294967296 B/s"];
    let rails = rails.map(|rate| format!("[[rail]]\nrate = '{rate}'\n"));
    let Some(cluster) = live(&spec(&format!("hosts = 2\n{}", rails.concat()))) else { return };
    let what: Vec<(usize, usize)> = (0..5).map(|rail| (rail, 200 + rail)).collect();
    assert_eq!(deliver(&cluster, 0, 1, &what), [200, 201, 202, 203, 204]);
}

#[test]
fn names_that_the_system_knows_too() {
    let _company = company();
    // Files and folders of a box, hosts that look like a rail of others, and devices of the switch.
    let text = "hosts = ['hosts', 'bin', 'proc', 'box']\n[[rail]]\nname = 'switch0'\n[[rail]]\nname = 'port0-0'\n[[rail]]\nname = 'eth0'";
    let Some(cluster) = live(&spec(text)) else { return };
    assert_eq!(deliver(&cluster, 0, 1, &[(0, 50), (1, 51), (2, 52)]), [50, 51, 52]);
    for (host, name) in cluster.spec().hosts.names().iter().enumerate() {
        assert_eq!(shell(&cluster, host, "echo $CROSSTIE_HOST").well(), format!("{name}\n"));
    }
    let said = start(&cluster, 3, part("visit", &[&"hosts"])).end();
    assert_eq!(parts::line(&said.text), "hosts");
}

#[test]
fn names_that_the_kernel_does_not_take_are_misfits() {
    for name in ["lo", "all", "default"] {
        let spec: Spec = toml::from_str(&format!("[[rail]]\nname = '{name}'")).unwrap();
        assert!(spec.check().is_err(), "a rail called `{name}`");
    }
}

/// A part: makes a box and says what a program on it says.
pub fn nest(_: &[&str]) -> i32 {
    match Cluster::start(&spec("hosts = ['inner', 'other']\n[[rail]]\nrate = '1 Gbit/s'")) {
        Ok(cluster) => {
            say(shell(&cluster, 0, "cat /proc/sys/kernel/hostname").well().trim());
            say(format!("{:?}", deliver(&cluster, 0, 1, &[(0, 77)])));
        }
        Err(error) => say(error.to_string().replace('\n', " / ")),
    }
    0
}

#[test]
fn a_box_in_a_box() {
    let _company = company();
    let Some(cluster) = live(&spec("[[rail]]\n")) else { return };
    let text = start(&cluster, 1, part("nest", &[])).end().well();
    assert_eq!(parts::lines(&text).collect::<Vec<_>>(), ["inner", "[77]"]);
}

/// A part: has a thousand files open and may open few more; makes a small box and a large one.
pub fn crowded(_: &[&str]) -> i32 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard.min(1200), hard).unwrap();
    let files: Vec<_> = (0..1000).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
    setrlimit(Resource::RLIMIT_NOFILE, 1064, hard).unwrap();
    let small = Cluster::start(&spec("hosts = 4\n[[rail]]\n")).unwrap();
    say(shell(&small, 3, "ls /proc/self/fd | wc -l").well().trim());
    match Cluster::start(&spec("hosts = 40\n[[rail]]\n")) {
        Ok(_) => say("made"),
        Err(error) => say(error.to_string().replace('\n', " / ")),
    }
    drop(files);
    assert!(shell(&small, 0, "true").ending.success());
    0
}

/// Runs a part outside of boxes; what it says.
fn alone(part: &str) -> String {
    let (name, role) = parts::role(part, &[]);
    let words = parts::words();
    let output =
        std::process::Command::new(&words[0]).args(&words[1..]).env(name, role).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn a_maker_with_a_thousand_open_files() {
    let _company = company();
    if live(&spec("[[rail]]\n")).is_none() {
        return;
    }
    let text = alone("crowded");
    let lines: Vec<&str> = parts::lines(&text).collect();
    assert_eq!(lines[0], "4");
    assert!(lines[1].contains("open files"), "{lines:?}");
}

/// A part: has no standard files; makes a box and runs programs on it all the same.
#[allow(unsafe_code)]
pub fn bare(_: &[&str]) -> i32 {
    let output = nix::unistd::dup(std::io::stdout()).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    // SAFETY: nothing here uses these before they are opened again.
    unsafe {
        for number in 0..3 {
            libc::close(number);
        }
    }
    let told = (|| {
        let cluster = Cluster::start(&spec("[[rail]]\n")).map_err(|error| error.to_string())?;
        let line = "cat; echo through; echo lost >&2; readlink /proc/self/fd/0";
        let command = Command::new(["/bin/sh", "-c", line]).stdout(writer);
        let program = cluster.spawn(1, &command).map_err(|error| error.to_string())?;
        drop(command);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reader, &mut text).map_err(|error| error.to_string())?;
        Ok::<_, String>(format!("{:?} {}", program.wait(), text.trim().replace('\n', " ")))
    })();
    let told = told.unwrap_or_else(|error| error);
    let mut output = std::fs::File::from(output);
    writeln!(output, "\n=> {told}").unwrap();
    0
}

#[test]
fn a_maker_without_standard_files() {
    let _company = company();
    if live(&spec("[[rail]]\n")).is_none() {
        return;
    }
    let text = alone("bare");
    assert_eq!(parts::line(&text), "Ok(Exited(0)) through /dev/null");
}

#[test]
fn boxes_from_several_threads() {
    let _company = company();
    let spec = spec("[[rail]]\nrate = '1 Gbit/s'");
    if live(&spec).is_none() {
        return;
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..4 {
                    let cluster = Cluster::start(&spec).unwrap();
                    assert_eq!(deliver(&cluster, 0, 1, &[(0, 60 + round)]), [60 + round]);
                }
            });
        }
    });
}

#[test]
fn a_box_holds_no_file_of_its_maker() {
    let _company = company();
    let spec = spec("[[rail]]\n");
    let (reader, writer) = std::io::pipe().unwrap();
    let Some(older) = live(&spec) else { return };
    let Some(newer) = live(&spec) else { return };
    // Reading ends when nobody holds the other end.
    drop(writer);
    let mut files = [PollFd::new(reader.as_fd(), PollFlags::empty())];
    assert_eq!(poll(&mut files, PollTimeout::from(5000u16)), Ok(1));
    // Nor is the line to one box held by another.
    let begin = Instant::now();
    drop(older);
    assert!(begin.elapsed() < Duration::from_secs(4), "it took {:?}", begin.elapsed());
    assert!(newer.stands());
}

/// A part: makes boxes while its threads print, allocate and look at the environment.
pub fn noisy(_: &[&str]) -> i32 {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    match thread % 3 {
                        0 => println!("{}", "noise ".repeat(20)),
                        1 => drop(std::env::var_os("PATH")),
                        _ => drop(vec![0u8; 1 << (thread + 8)]),
                    }
                }
            });
        }
        for _ in 0..40 {
            let cluster = Cluster::start(&spec("[[rail]]\n")).unwrap();
            assert!(shell(&cluster, 0, "true").ending.success());
        }
        over.store(true, Ordering::Relaxed);
    });
    say("done");
    0
}

#[test]
fn a_maker_whose_threads_are_busy() {
    let _company = company();
    if live(&spec("[[rail]]\n")).is_none() {
        return;
    }
    assert_eq!(parts::line(&alone("noisy")), "done");
}
