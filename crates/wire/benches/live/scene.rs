//! The scenes: which box, which ranks, and what is held against what.

use std::io::Read;
use std::time::Duration;

use crosstie_box::{Change, Cluster, Command, Occurrence, Spec};
use crosstie_units::{Rate, Seed, Time};

/// A scene.
#[derive(Clone, Copy)]
struct Scene {
    name: &'static str,
    /// The host of each rank.
    ranks: &'static [usize],
    /// The rates of the rails, in Mbit/s; none: one that is as fast as it can be.
    rails: &'static [u32],
    /// Whether segments pass these whole.
    whole: bool,
    /// What ranks do: words for `rank`.
    does: &'static str,
    /// The same by bare means, if there are such: words for `rank`.
    bare: &'static str,
    /// What happens to rails meanwhile.
    happens: Happens,
    /// How often it is played, in turn with what is bare. The best counts, being the least
    /// disturbed.
    times: usize,
    held: Held,
    unit: &'static str,
    floor: f64,
    aim: f64,
}

/// What rank 0's number is held against.
#[derive(Clone, Copy)]
enum Held {
    /// The sum of the rates of the rails, in both directions or in one.
    Rates { directions: f64 },
    /// Nothing: it has a unit of its own.
    Itself,
    /// So many bits per second after a change.
    Bits(f64),
}

/// Two hosts and rails of these rates, in Mbit/s. Segments pass whole, as with NICs that cut them
/// up themselves: two cores that cut them into frames have no time for anything else beyond 2
/// Gbit/s. What happens within a millisecond is not that of a slow rail then.
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
    /// So many random deaths, returns and changes of rate, 20 ms apart in the mean. One rail lives
    /// at any time.
    Chaos(u32),
}

/// Streams on rails that have rates.
const STREAM: Scene = Scene {
    name: "",
    ranks: &[0, 1],
    rails: &[1000, 1000],
    whole: true,
    does: "stream 4194304 8 3",
    bare: "bare-stream 2",
    happens: Happens::Nothing,
    times: 2,
    held: Held::Rates { directions: 1.0 },
    unit: "%",
    floor: 92.0,
    aim: 94.5,
};

/// Round trips, and whatever takes a time.
const TIME: Scene =
    Scene { rails: &[], times: 1, held: Held::Itself, unit: "us", does: "", bare: "", ..STREAM };

const SCENES: &[Scene] = &[
    Scene { name: "two-equal-1M", does: "stream 1048576 16 3", ..STREAM },
    Scene { name: "two-equal-4M", ..STREAM },
    Scene { name: "unequal-4M", rails: &[1000, 250], ..STREAM },
    Scene { name: "unequal-1M", rails: &[1000, 250], does: "stream 1048576 16 3", ..STREAM },
    Scene {
        name: "unequal-1M-alone",
        rails: &[1000, 250],
        whole: false,
        does: "stream 1048576 1 3",
        floor: 85.0,
        aim: 92.0,
        ..STREAM
    },
    Scene {
        name: "unequal-16K",
        rails: &[1000, 250],
        does: "stream 16384 64 2",
        floor: 0.0,
        aim: 0.0,
        ..STREAM
    },
    Scene {
        name: "unequal-4K",
        rails: &[1000, 250],
        does: "stream 4096 16 2",
        whole: false,
        floor: 0.0,
        aim: 0.0,
        ..STREAM
    },
    Scene {
        name: "unequal-16K-ping",
        rails: &[1000, 250],
        whole: false,
        does: "ping 16384 300",
        floor: 0.0,
        aim: 0.0,
        ..TIME
    },
    Scene { name: "four-4M", rails: &[1000; 4], floor: 90.0, aim: 94.0, ..STREAM },
    Scene {
        name: "both-ways",
        does: "both 4194304 8 3",
        bare: "",
        held: Held::Rates { directions: 2.0 },
        floor: 86.0,
        aim: 92.0,
        ..STREAM
    },
    Scene {
        name: "slows",
        happens: Happens::Slows,
        times: 1,
        does: "watch 262144 128 6 1",
        bare: "",
        held: Held::Bits(1.1e9),
        floor: 88.0,
        aim: 93.0,
        ..STREAM
    },
    Scene {
        name: "fails",
        rails: &[1000, 1000],
        happens: Happens::Fails,
        does: "watch 262144 32 11 0",
        unit: "ms",
        floor: 200.0,
        aim: 50.0,
        ..TIME
    },
    Scene {
        name: "chaos",
        rails: &[1000, 1000, 250],
        happens: Happens::Chaos(1000),
        does: "watch 262144 32 26 0",
        unit: "ms",
        floor: 200.0,
        aim: 200.0,
        ..TIME
    },
    Scene {
        name: "ping",
        does: "ping-against-bare 8 100 500",
        unit: "times bare",
        floor: 1.3,
        aim: 1.1,
        ..TIME
    },
    Scene {
        name: "unshaped-4M",
        does: "stream 4194304 8 2",
        bare: "bare-stream 2",
        times: 2,
        unit: "Gbit/s",
        floor: 24.0,
        aim: 40.0,
        ..TIME
    },
    Scene {
        name: "memory-ping",
        ranks: &[0, 0],
        does: "ping 8 200000",
        bare: "bare-flag 200000",
        times: 5,
        floor: 0.4,
        aim: 0.25,
        ..TIME
    },
    Scene {
        name: "memory-4M",
        ranks: &[0, 0],
        does: "stream 4194304 2 2",
        bare: "bare-copy 4194304 2",
        unit: "Gbit/s",
        floor: 48.0,
        aim: 72.0,
        ..TIME
    },
    Scene {
        // Into so many places that no cache holds them.
        name: "memory-4M-of-8",
        ranks: &[0, 0],
        does: "stream 4194304 8 2",
        bare: "bare-copy 4194304 8",
        unit: "Gbit/s",
        floor: 0.0,
        aim: 0.0,
        ..TIME
    },
    Scene {
        name: "four-barrier",
        ranks: &[0; 4],
        does: "barrier 20000",
        floor: 100.0,
        aim: 30.0,
        ..TIME
    },
    Scene {
        name: "four-all-reduce",
        ranks: &[0; 4],
        does: "all-reduce 20000",
        floor: 100.0,
        aim: 30.0,
        ..TIME
    },
    Scene {
        name: "many-barrier",
        ranks: &[0; 64],
        does: "barrier 200",
        floor: 1500.0,
        aim: 500.0,
        ..TIME
    },
    Scene {
        name: "many-all-reduce",
        ranks: &[0; 64],
        does: "all-reduce 200",
        floor: 1500.0,
        aim: 500.0,
        ..TIME
    },
    Scene {
        name: "four-rails-barrier",
        ranks: &[0, 1, 2, 3],
        does: "barrier 5000",
        floor: 0.0,
        aim: 0.0,
        ..TIME
    },
    Scene {
        name: "four-rails-all-reduce",
        ranks: &[0, 1, 2, 3],
        does: "all-reduce 5000",
        floor: 0.0,
        aim: 0.0,
        ..TIME
    },
];

/// Plays all scenes, or those whose names begin with one of these.
pub fn all(names: &[String]) {
    println!("{:22} {:>10} {:>10} {:>8} {:>8}  unit", "scene", "measured", "bare", "floor", "aim");
    for scene in SCENES {
        if !names.is_empty() && !names.iter().any(|name| scene.name.starts_with(&name[..])) {
            continue;
        }
        let before = ticks();
        match measure(scene) {
            Ok(text) => print!("{text}"),
            Err(error) => println!("{:22} {error}", scene.name),
        }
        let after = ticks();
        let [all, stolen] = [0, 1].map(|which| after[which].saturating_sub(before[which]));
        if 200 * stolen > all {
            let share = 100.0 * stolen as f64 / all as f64;
            println!(
                "    disturbed: {share:.1} % of the cores went to other machines of this host"
            );
        }
    }
}

/// Ticks of all cores, and those that other machines of the same host had of them.
fn ticks() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    let ticks: Vec<u64> = words.skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    [ticks.iter().sum(), ticks.get(7).copied().unwrap_or(0)]
}

/// What rank 0 has measured.
fn number(text: &str) -> f64 {
    text.lines().next().and_then(|line| line.parse().ok()).unwrap_or(f64::NAN)
}

/// A line for a scene, and remarks below it.
fn measure(scene: &Scene) -> Result<String, Box<dyn std::error::Error>> {
    let is_time = matches!(scene.unit, "us" | "ms");
    let better = |a: String, b: String| {
        if (number(&a) <= number(&b)) == is_time { a } else { b }
    };
    let (mut bare, mut text) = (None, play(scene, scene.does)?);
    for round in 0..scene.times {
        if !scene.bare.is_empty() {
            let again = play(scene, scene.bare)?;
            bare = Some(bare.map_or(again.clone(), |bare| better(bare, again)));
        }
        if round > 0 {
            text = better(text, play(scene, scene.does)?);
        }
    }
    let sum = 1e6 * scene.rails.iter().sum::<u32>() as f64;
    let scaled = |number: f64| match (scene.held, scene.unit) {
        (Held::Rates { directions }, _) => 100.0 * number / (directions * sum),
        (Held::Bits(bits), _) => 100.0 * number / bits,
        (_, "Gbit/s") => number / 1e9,
        _ => number,
    };
    let measured = scaled(number(&text));
    let bare_shown = bare.as_deref().map(|text| format!("{:.2}", scaled(number(text))));
    let bare_shown = bare_shown.unwrap_or_default();
    let Scene { name, floor, aim, unit, .. } = scene;
    // Of some it is only of interest what they are.
    let [floor, aim] = [floor, aim].map(|&number| match number {
        0.0 => String::new(),
        number => number.to_string(),
    });
    let mut all =
        format!("{name:22} {measured:>10.2} {bare_shown:>10} {floor:>8} {aim:>8}  {unit}\n");
    let bare_remarks = bare.iter().flat_map(|text| text.lines().skip(1));
    let remarks = text.lines().skip(1).map(str::to_owned);
    let remarks = remarks.chain(bare_remarks.map(|line| format!("bare: {line}")));
    remarks.for_each(|line| all += &format!("    {line}\n"));
    Ok(all)
}

/// Lets the ranks of a scene do something; what rank 0 prints.
fn play(scene: &Scene, does: &str) -> Result<String, Box<dyn std::error::Error>> {
    let hosts = scene.ranks.iter().max().map_or(0, |host| host + 1);
    let text = match scene.rails {
        [] => format!("hosts = {hosts}\n[[rail]]"),
        rates => rails(rates, scene.whole),
    };
    let spec: Spec = toml::from_str(&text)?;
    let cluster = Cluster::start(&spec)?;
    let this = std::env::current_exe()?;
    let (mut reader, writer) = std::io::pipe()?;
    let result = std::thread::scope(|threads| {
        if does == scene.does {
            threads.spawn(|| happen(&cluster, scene));
        }
        cluster.run_ranks(
            scene.ranks,
            |_| {
                let words = [this.as_os_str().to_owned(), "rank".into()];
                let rest = does.split(' ').map(Into::into);
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
