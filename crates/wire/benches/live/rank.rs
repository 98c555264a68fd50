//! What ranks do in the scenes.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crosstie_wire::Comm;

type Failed = Box<dyn std::error::Error>;

/// One rank of a scene: rank 0 prints a number, and then remarks.
pub fn run(words: &[String]) {
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let done = match &words[0][..] {
        "stream" => stream(number(1), number(2), number(3), false),
        "both" => stream(number(1), number(2), number(3), true),
        "ping" => ping(number(1), number(2)),
        "bare-ping" => bare_ping(number(1), number(2)),
        other => Err(format!("no scene `{other}`").into()),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Messages from rank 0 to rank 1, so many at once, for so many seconds: bits of payload in a second.
fn stream(bytes: usize, window: usize, seconds: usize, both: bool) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let other = 1 - comm.rank();
    let (sends, receives) = (both || comm.rank() == 0, both || comm.rank() == 1);
    let out = vec![1u8; bytes];
    let mut into: Vec<Vec<u8>> = (0..window).map(|_| vec![0u8; bytes]).collect();
    // One round warms up. Both ends do as many as rank 0 says.
    let mut round = |comm: &Comm| {
        comm.scope(|scope| {
            if receives {
                for into in &mut into {
                    scope.recv(other, 1, &mut into[..])?;
                }
            }
            if sends {
                for _ in 0..window {
                    scope.send(other, 1, &out)?;
                }
            }
            Ok(())
        })
    };
    for _ in 0..3 {
        round(&comm)?;
    }
    comm.barrier()?;
    let begin = Instant::now();
    round(&comm)?;
    let took = begin.elapsed().as_secs_f64();
    let mut rounds = [(seconds as f64 / took).ceil().max(1.0) as u64];
    comm.broadcast(0, &mut rounds)?;
    let begin = Instant::now();
    let mut longest = Duration::ZERO;
    for _ in 0..rounds[0] {
        let begin = Instant::now();
        round(&comm)?;
        longest = longest.max(begin.elapsed());
    }
    // The last message is there when rank 1 says so.
    comm.barrier()?;
    let took = begin.elapsed().as_secs_f64();
    if comm.rank() == 0 {
        let directions = if both { 2.0 } else { 1.0 };
        let bits = 8.0 * directions * (rounds[0] as usize * window * bytes) as f64;
        println!("{}", bits / took);
        let mean = Duration::from_secs_f64(took / rounds[0] as f64);
        println!("{} rounds of {mean:.2?} in the mean, the longest of {longest:.2?}", rounds[0]);
        print_rails(&comm);
    }
    comm.finish()?;
    Ok(())
}

/// Half the round trip of a message, in microseconds.
fn ping(bytes: usize, times: usize) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let (other, mut message) = (1 - comm.rank(), vec![0u8; bytes]);
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let begin = Instant::now();
        if comm.rank() == 0 {
            comm.send(other, 0, &message)?;
            comm.recv(other, 0, &mut message)?;
        } else {
            comm.recv(other, 0, &mut message)?;
            comm.send(other, 0, &message)?;
        }
        all.push(begin.elapsed());
    }
    if comm.rank() == 0 {
        print_halves(&mut all);
        print_rails(&comm);
    }
    comm.finish()?;
    Ok(())
}

/// What rails have carried.
fn print_rails(comm: &Comm) {
    for rail in comm.statistics() {
        println!(
            "{}: {} datagrams, {} packets again, rate {:.1} Mbit/s, round trip {:?}",
            rail.name,
            rail.count.sent,
            rail.retransmissions,
            rail.rate.unwrap_or(0.0) * 8e-6,
            rail.round_trip.unwrap_or_default(),
        );
    }
}

/// The same by bare datagrams between spinning ranks.
fn bare_ping(bytes: usize, times: usize) -> Result<(), Failed> {
    let comm = Comm::init()?;
    let socket = UdpSocket::bind(("0.0.0.0", 7777))?;
    socket.set_nonblocking(true)?;
    comm.barrier()?;
    let to = format!("10.0.0.{}:7777", 2 - comm.rank());
    let mut message = vec![0u8; bytes];
    let mut receive = || loop {
        match socket.recv_from(&mut message) {
            Ok(_) => return,
            Err(_) => std::hint::spin_loop(),
        }
    };
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let begin = Instant::now();
        if comm.rank() == 0 {
            socket.send_to(&[0; 8], &to)?;
            receive();
        } else {
            receive();
            socket.send_to(&[0; 8], &to)?;
        }
        all.push(begin.elapsed());
    }
    if comm.rank() == 0 {
        print_halves(&mut all);
    }
    comm.finish()?;
    Ok(())
}

fn print_halves(all: &mut [Duration]) {
    all.sort_unstable();
    let us = |part: f64| all[((all.len() - 1) as f64 * part) as usize].as_secs_f64() * 5e5;
    println!("{}", us(0.5));
    println!(
        "a tenth under {:.2} us, nine tenths under {:.2} us, 99 % under {:.2} us",
        us(0.1),
        us(0.9),
        us(0.99)
    );
}
