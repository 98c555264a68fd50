//! The scenes: which box, which ranks, and what is held against what.

use std::io::Read;
use std::time::Duration;

use crosstie_box::{Change, Cluster, Command, Occurrence, Spec};
use crosstie_units::{Rate, Seed, Time};
use crosstie_wire::start::run_in_box;

/// A scene.
struct Scene {
    name: &'static str,
    /// The rates of the rails, in Mbit/s; none: one that is as fast as it can be.
    rails: &'static [u32],
    /// Whether segments pass these whole.
    whole: bool,
    /// What ranks do: words for `rank`.
    does: &'static str,
    /// What happens to rails meanwhile.
    happens: Happens,
    /// What rank 0's number is a share of, if it is one: bits per second of payload at line rate.
    of: Option<f64>,
    unit: &'static str,
    floor: f64,
    aim: f64,
}

/// Two hosts and rails of these rates, in Mbit/s. Segments pass whole, as with NICs that cut them up themselves: two cores that cut
/// them into frames have no time for anything else beyond 2 Gbit/s. What happens within a millisecond is not that of a slow rail then.
fn rails(rates: &[u32], whole: bool) -> String {
    let rail = |rate: &u32| format!("[[rail]]\nrate = '{rate} Mbit/s'\nwhole = {whole}\n");
    format!("hosts = 2\n{}", rates.iter().map(rail).collect::<String>())
}

/// What happens to rails while ranks communicate, from two seconds after their start on.
#[derive(Clone, Copy)]
enum Happens {
    Nothing,
    /// The second rail becomes ten times as slow.
    Slows,
    /// The second rail is down for five seconds.
    Fails,
    /// So many random deaths, returns and changes of rate, 20 ms apart in the mean. One rail lives at any time.
    Chaos(u32),
}

const SCENES: &[Scene] = &[
    Scene {
        name: "two-equal-1M",
        rails: &[1000, 1000],
        whole: true,
        happens: Happens::Nothing,
        does: "stream 1048576 16 3",
        of: Some(2e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "two-equal-4M",
        rails: &[1000, 1000],
        whole: true,
        happens: Happens::Nothing,
        does: "stream 4194304 8 3",
        of: Some(2e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "unequal-4M",
        rails: &[1000, 250],
        whole: true,
        happens: Happens::Nothing,
        does: "stream 4194304 8 3",
        of: Some(1.25e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "unequal-1M",
        rails: &[1000, 250],
        whole: true,
        happens: Happens::Nothing,
        does: "stream 1048576 16 3",
        of: Some(1.25e9),
        unit: "%",
        floor: 92.0,
        aim: 94.5,
    },
    Scene {
        name: "unequal-1M-alone",
        rails: &[1000, 250],
        whole: false,
        happens: Happens::Nothing,
        does: "stream 1048576 1 3",
        of: Some(1.25e9),
        unit: "%",
        floor: 85.0,
        aim: 92.0,
    },
    Scene {
        name: "four-4M",
        rails: &[1000; 4],
        whole: true,
        happens: Happens::Nothing,
        does: "stream 4194304 8 3",
        of: Some(4e9),
        unit: "%",
        floor: 90.0,
        aim: 94.0,
    },
    Scene {
        name: "both-ways",
        rails: &[1000, 1000],
        whole: true,
        happens: Happens::Nothing,
        does: "both 4194304 8 3",
        of: Some(4e9),
        unit: "%",
        floor: 86.0,
        aim: 92.0,
    },
    Scene {
        name: "slows",
        rails: &[1000, 1000],
        whole: true,
        happens: Happens::Slows,
        does: "watch 262144 128 6 1",
        of: Some(1.1e9),
        unit: "%",
        floor: 88.0,
        aim: 93.0,
    },
    Scene {
        name: "fails",
        rails: &[1000, 1000],
        whole: true,
        happens: Happens::Fails,
        does: "watch 262144 32 11 0",
        of: None,
        unit: "ms",
        floor: 200.0,
        aim: 50.0,
    },
    Scene {
        name: "chaos",
        rails: &[1000, 1000, 250],
        whole: true,
        happens: Happens::Chaos(1000),
        does: "watch 262144 32 26 0",
        of: None,
        unit: "ms",
        floor: 200.0,
        aim: 200.0,
    },
    Scene {
        name: "ping-bare",
        rails: &[],
        whole: true,
        happens: Happens::Nothing,
        does: "bare-ping 8 50000",
        of: None,
        unit: "us",
        floor: 0.0,
        aim: 0.0,
    },
    Scene {
        name: "ping",
        rails: &[],
        whole: true,
        happens: Happens::Nothing,
        does: "ping 8 50000",
        of: None,
        unit: "us",
        floor: 0.0,
        aim: 0.0,
    },
    Scene {
        name: "unshaped-4M",
        rails: &[],
        whole: true,
        happens: Happens::Nothing,
        does: "stream 4194304 8 2",
        of: None,
        unit: "Gbit/s",
        floor: 24.0,
        aim: 40.0,
    },
];

/// Plays all scenes, or those whose names begin with one of these.
pub fn all(names: &[String]) {
    println!("{:20} {:>10} {:>8} {:>8}  unit", "scene", "measured", "floor", "aim");
    for scene in SCENES {
        if !names.is_empty() && !names.iter().any(|name| scene.name.starts_with(&name[..])) {
            continue;
        }
        match play(scene) {
            Ok(text) => {
                let number: f64 =
                    text.lines().next().and_then(|line| line.parse().ok()).unwrap_or(f64::NAN);
                let shown = scene.of.map_or(number, |of| 100.0 * number / of);
                println!(
                    "{:20} {shown:>10.2} {:>8} {:>8}  {}",
                    scene.name, scene.floor, scene.aim, scene.unit
                );
                text.lines().skip(1).for_each(|line| println!("    {line}"));
            }
            Err(error) => println!("{:20} {error}", scene.name),
        }
    }
}

fn play(scene: &Scene) -> Result<String, Box<dyn std::error::Error>> {
    let text = match scene.rails {
        [] => "hosts = 2\n[[rail]]".to_owned(),
        rates => rails(rates, scene.whole),
    };
    let spec: Spec = toml::from_str(&text)?;
    let cluster = Cluster::start(&spec)?;
    let this = std::env::current_exe()?;
    let (mut reader, writer) = std::io::pipe()?;
    let result = std::thread::scope(|threads| {
        threads.spawn(|| happen(&cluster, scene));
        run_in_box(
            &cluster,
            &[0, 1],
            |_| {
                let words = [this.as_os_str().to_owned(), "rank".into()];
                let rest = scene.does.split(' ').map(Into::into);
                let out = writer.try_clone().expect("a file can be opened twice");
                Command::new(words.into_iter().chain(rest)).stdout(out)
            },
            Duration::from_secs(120),
        )
    });
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    result?;
    Ok(text)
}

/// Makes happen what happens in a scene.
fn happen(cluster: &Cluster, scene: &Scene) {
    let rate = |mbit: u32| Change::Rate(Rate::from_bytes_per_second(u64::from(mbit) * 125_000));
    let make = |rail: usize, host: Option<usize>, change: Change| {
        let done = cluster.apply(&Occurrence { at: Time::ZERO, rail, host, change });
        done.expect("the box stands");
    };
    let wait = |ms: u64| std::thread::sleep(Duration::from_millis(ms));
    match scene.happens {
        Happens::Nothing => {}
        Happens::Slows => {
            wait(2000);
            make(1, None, rate(100));
        }
        Happens::Fails => {
            wait(2000);
            make(1, Some(1), Change::Down);
            wait(5000);
            make(1, Some(1), Change::Up);
        }
        Happens::Chaos(count) => {
            wait(2000);
            let mut random = Seed(15).stream("chaos", 0);
            let mut down: Vec<Option<usize>> = vec![None; scene.rails.len()];
            for _ in 0..count {
                let rail = random.below(down.len() as u64) as usize;
                let alive = down.iter().filter(|down| down.is_none()).count();
                match (down[rail], random.below(3)) {
                    (Some(host), _) => {
                        make(rail, Some(host), Change::Up);
                        down[rail] = None;
                    }
                    (None, 0) => make(rail, None, rate(100 + random.below(900) as u32)),
                    (None, _) if alive > 1 => {
                        let host = random.below(2) as usize;
                        make(rail, Some(host), Change::Down);
                        down[rail] = Some(host);
                    }
                    (None, _) => {}
                }
                wait(random.below(41));
            }
            for (rail, host) in down.iter().enumerate() {
                if let Some(host) = host {
                    make(rail, Some(*host), Change::Up);
                }
            }
        }
    }
}
