//! Collective operations, held against what they are to give.

use std::time::Duration;

use crosstie_collective::Operation;
use crosstie_launch::Job;
use crosstie_wire::{Collective, Comm, CommError, Options};

use crate::parts::say;
use crate::requests::{SOON, WAYS};
use crate::stage::{here, live, well};

/// What a rank does: every operation with many lengths, and every root.
pub fn part() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let (rank, size) = (comm.rank(), comm.size());
    let value = |rank: usize, at: usize| (rank * 1000 + at) as u64;
    let vector =
        |rank: usize, count: usize| -> Vec<u64> { (0..count).map(|at| value(rank, at)).collect() };
    for count in [0, 1, 2, 3, 7, 100, 5000, 40_000] {
        comm.barrier()?;
        for root in [0, size - 1] {
            let mut data = if rank == root { vector(root, count) } else { vec![0; count] };
            comm.broadcast(root, &mut data)?;
            assert_eq!(data, vector(root, count), "broadcast");

            let mut all = vec![0; if rank == root { size * count } else { 0 }];
            comm.gather(root, &vector(rank, count), &mut all)?;
            if rank == root {
                let expected: Vec<u64> = (0..size).flat_map(|from| vector(from, count)).collect();
                assert_eq!(all, expected, "gather");
            }

            let source: Vec<u64> = (0..size).flat_map(|to| vector(to, count)).collect();
            let mut mine = vec![0; count];
            comm.scatter(root, if rank == root { &source } else { &[] }, &mut mine)?;
            assert_eq!(mine, vector(rank, count), "scatter");

            let mut data = vector(rank, count);
            comm.reduce(root, &mut data, |a, b| *a += b)?;
            let sum = |at: usize| (0..size).map(|from| value(from, at)).sum::<u64>();
            let expected = match rank == root {
                true => (0..count).map(sum).collect(),
                false => vector(rank, count),
            };
            assert_eq!(data, expected, "reduce");
        }
        let mut all = vec![0; size * count];
        comm.all_gather(&vector(rank, count), &mut all)?;
        let expected: Vec<u64> = (0..size).flat_map(|from| vector(from, count)).collect();
        assert_eq!(all, expected, "all-gather");

        let mut data = vector(rank, count);
        comm.all_reduce(&mut data, |a, b| *a = (*a).max(b))?;
        assert_eq!(data, vector(size - 1, count), "all-reduce");

        let sent: Vec<u64> = (0..size).flat_map(|to| vector(rank * 100 + to, count)).collect();
        let mut received = vec![0; size * count];
        comm.all_to_all(&sent, &mut received)?;
        let expected: Vec<u64> =
            (0..size).flat_map(|from| vector(from * 100 + rank, count)).collect();
        assert_eq!(received, expected, "all-to-all");
    }
    // A receive from anybody is not given what collective operations send.
    let mut any = [0u8; 1];
    comm.scope(|scope| {
        let coming = scope.recv(None, None, &mut any)?;
        comm.barrier()?;
        comm.send((rank + 1) % size, 3, &[rank as u8])?;
        let (status, _) = coming.wait()?;
        assert_eq!(status.source, (rank + size - 1) % size);
        Ok(())
    })?;
    let error = comm.all_gather(&[1u8], &mut []).unwrap_err().to_string();
    assert!(error.contains("expected"), "{error}");
    say("done");
    comm.finish()
}

/// A matrix of two rows and two columns.
type Matrix = [u64; 4];

fn matrix(rank: usize, at: usize) -> Matrix {
    let (rank, at) = (rank as u64, at as u64);
    [rank + 1, at + 2, rank * at + 3, 5 * rank + 1]
}

/// Which is not commutative.
fn multiply(a: &mut Matrix, b: Matrix) {
    let [p, q, r, s] = *a;
    let cell = |x: u64, y: u64, z: u64, w: u64| x.wrapping_mul(y).wrapping_add(z.wrapping_mul(w));
    *a = [
        cell(p, b[0], q, b[2]),
        cell(p, b[1], q, b[3]),
        cell(r, b[0], s, b[2]),
        cell(r, b[1], s, b[3]),
    ];
}

/// The product of the matrices of these ranks, in this order.
fn product(ranks: std::ops::Range<usize>, at: usize) -> Matrix {
    let mut all = ranks.map(|rank| matrix(rank, at));
    let mut first = all.next().unwrap();
    all.for_each(|next| multiply(&mut first, next));
    first
}

/// Every operation, with blocks of unequal lengths where it may have them, and with matrices where
/// it combines. `scale` times as long.
fn every_operation(comm: &Comm, scale: usize) -> Result<(), CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let count = |from: usize, to: usize| (from * 5 + to * 3 + from * to) % 4 * scale;
    let value = |from: usize, to: usize, at: usize| (from * 1_000_003 + to * 1009 + at) as u64;
    let block = |from: usize, to: usize, count: usize| -> Vec<u64> {
        (0..count).map(|at| value(from, to, at)).collect()
    };
    let vector = |rank: usize, count: usize| -> Vec<Matrix> {
        (0..count).map(|at| matrix(rank, at)).collect()
    };
    comm.barrier()?;
    for root in [0, size / 2, size - 1] {
        let counts: Vec<usize> = (0..size).map(|rank| count(rank, root)).collect();
        let total = counts.iter().sum();
        let whole: Vec<u64> = (0..size).flat_map(|from| block(from, root, counts[from])).collect();
        let known = if rank == root { &counts[..] } else { &[] };

        let mut data = if rank == root { whole.clone() } else { vec![0; total] };
        comm.broadcast(root, &mut data)?;
        assert_eq!(data, whole, "broadcast");

        let mut all = vec![0; if rank == root { total } else { 0 }];
        comm.gather_v(root, &block(rank, root, counts[rank]), &mut all, known)?;
        assert!(rank != root || all == whole, "gather_v");

        let mut mine = vec![0; counts[rank]];
        comm.scatter_v(root, if rank == root { &whole } else { &[] }, known, &mut mine)?;
        assert_eq!(mine, block(rank, root, counts[rank]), "scatter_v");

        let mut all = vec![0; size * scale];
        comm.gather(root, &block(rank, root, scale), &mut all)?;
        let equal: Vec<u64> = (0..size).flat_map(|from| block(from, root, scale)).collect();
        assert!(rank != root || all == equal, "gather");

        let mut mine = vec![0; scale];
        comm.scatter(root, if rank == root { &equal } else { &[] }, &mut mine)?;
        assert_eq!(mine, block(rank, root, scale), "scatter");

        let mut data = vector(rank, scale);
        comm.collective(Collective::reduce(root, &mut data, multiply).in_order())?;
        let expected = |at| if rank == root { product(0..size, at) } else { matrix(rank, at) };
        assert!(data.iter().enumerate().all(|(at, found)| *found == expected(at)), "reduce");

        let mut data = block(rank, 0, scale);
        comm.reduce(root, &mut data, |a, b| *a = a.wrapping_add(b))?;
        let sum = |at| (0..size).map(|from| value(from, 0, at)).sum::<u64>();
        let expected = |at| if rank == root { sum(at) } else { value(rank, 0, at) };
        assert!(data.iter().enumerate().all(|(at, found)| *found == expected(at)), "reduce");
    }
    let counts: Vec<usize> = (0..size).map(|rank| count(rank, 1)).collect();
    let begin: usize = counts[..rank].iter().sum();
    let total: usize = counts.iter().sum();
    let mut all = vec![0; total];
    comm.all_gather_v(&block(rank, 7, counts[rank]), &mut all, &counts)?;
    let expected: Vec<u64> = (0..size).flat_map(|from| block(from, 7, counts[from])).collect();
    assert_eq!(all, expected, "all_gather_v");

    let mut all = vec![0; size * scale];
    comm.all_gather(&block(rank, 7, scale), &mut all)?;
    let expected: Vec<u64> = (0..size).flat_map(|from| block(from, 7, scale)).collect();
    assert_eq!(all, expected, "all_gather");

    let to: Vec<usize> = (0..size).map(|to| count(rank, to)).collect();
    let from: Vec<usize> = (0..size).map(|from| count(from, rank)).collect();
    let sent: Vec<u64> = (0..size).flat_map(|other| block(rank, other, to[other])).collect();
    let mut received = vec![0; from.iter().sum()];
    comm.all_to_all_v(&sent, &to, &mut received, &from)?;
    let expected: Vec<u64> = (0..size).flat_map(|other| block(other, rank, from[other])).collect();
    assert_eq!(received, expected, "all_to_all_v");

    let sent: Vec<u64> = (0..size).flat_map(|other| block(rank, other, scale)).collect();
    let mut received = vec![0; size * scale];
    comm.all_to_all(&sent, &mut received)?;
    let expected: Vec<u64> = (0..size).flat_map(|other| block(other, rank, scale)).collect();
    assert_eq!(received, expected, "all_to_all");

    let mut data = vector(rank, scale);
    comm.collective(Collective::all_reduce(&mut data, multiply).in_order())?;
    let right = |(at, found): (usize, &Matrix)| *found == product(0..size, at);
    assert!(data.iter().enumerate().all(right), "all-reduce in order");

    // Sums that depend on the order in which they are made.
    let parts = |rank: usize, at: usize| {
        ((rank * 37 + at * 11) % 101) as f64 * 0.1 + 1e9 / (rank + 1) as f64
    };
    let mut data: Vec<f64> = (0..3 * scale).map(|at| parts(rank, at)).collect();
    comm.all_reduce(&mut data, |a, b| *a += b)?;
    let mut bits = vec![0u64; 3 * scale * size];
    comm.all_gather(&data.iter().map(|sum| sum.to_bits()).collect::<Vec<u64>>(), &mut bits)?;
    assert!(
        bits.chunks_exact((3 * scale).max(1)).all(|other| other == &bits[..3 * scale]),
        "all-reduce"
    );
    for (at, sum) in data.iter().enumerate() {
        let exact: f64 = (0..size).map(|rank| parts(rank, at)).sum();
        assert!((sum - exact).abs() < 1e-3, "all-reduce: {sum}, not {exact}");
    }

    let all = vector(rank, total);
    let mut mine = vec![[0; 4]; counts[rank]];
    comm.collective(Collective::reduce_scatter_v(&all, &counts, &mut mine, multiply).in_order())?;
    let right = |(at, found): (usize, &Matrix)| *found == product(0..size, begin + at);
    assert!(mine.iter().enumerate().all(right), "reduce_scatter_v");

    let all: Vec<u64> = (0..size).flat_map(|to| block(rank, to, scale)).collect();
    let mut mine = vec![0; scale];
    comm.reduce_scatter(&all, &mut mine, |a, b| *a = a.wrapping_add(b))?;
    let sum = |at| (0..size).map(|from| value(from, rank, at)).sum::<u64>();
    assert!(mine.iter().enumerate().all(|(at, found)| *found == sum(at)), "reduce_scatter");

    let mut data = vector(rank, scale);
    comm.scan(&mut data, multiply)?;
    let right = |(at, found): (usize, &Matrix)| *found == product(0..rank + 1, at);
    assert!(data.iter().enumerate().all(right), "scan");

    let mut data = vector(rank, scale);
    comm.exclusive_scan(&mut data, multiply)?;
    let expected = |at| if rank == 0 { matrix(0, at) } else { product(0..rank, at) };
    let right = |(at, found): (usize, &Matrix)| *found == expected(at);
    assert!(data.iter().enumerate().all(right), "exclusive scan");
    Ok(())
}

/// What a rank does: every operation by `most` of its algorithms in turn, with lengths of which
/// some are 0, short and long.
pub fn every_algorithm(most: u64) -> Result<(), CommError> {
    let operations = Operation::all();
    let mut job = Job::join()?;
    for turn in 0..most as usize {
        let name = |operation: &Operation| {
            let algorithms = operation.algorithms();
            format!("{}={}", operation.name(), algorithms[turn % algorithms.len()].name)
        };
        let names: Vec<String> = operations.iter().map(name).collect();
        let algorithms = names.join(",").parse().unwrap();
        let comm = Comm::of(job, Options { algorithms, ..Options::from_environment()? })?;
        for scale in [0, 3, 700] {
            every_operation(&comm, scale)?;
        }
        job = comm.release()?;
    }
    // And as the model chooses.
    let comm = Comm::of(job, Options::from_environment()?)?;
    every_operation(&comm, 20)?;
    comm.agree_on_rates()?;
    every_operation(&comm, 1000)?;
    say("done");
    comm.finish()
}

/// What a rank does: many operations at once, which ranks wait for in another order.
pub fn many_at_once() -> Result<(), CommError> {
    let comm = Comm::init()?;
    comm.set_timeout(Some(Duration::from_secs(60)));
    let (rank, size) = (comm.rank(), comm.size());
    // So that their numbers come round while they are in flight.
    for _ in 0..65_400 {
        comm.broadcast(0, &mut [0u8])?;
    }
    let long = 5000;
    let mut sums: Vec<Vec<u64>> = (0..300)
        .map(|number| {
            vec![(number + rank) as u64; if number % 50 == 0 { long } else { number % 7 }]
        })
        .collect();
    let mut words: Vec<Vec<u64>> = (0..300)
        .map(|number| vec![if rank == number % size { number as u64 } else { 0 }; number % 5])
        .collect();
    comm.scope(|scope| {
        let mut all = Vec::new();
        for (sum, word) in sums.iter_mut().zip(&mut words) {
            let root = all.len() % size;
            scope.collective(Collective::broadcast(root, word))?;
            all.push(Some(scope.collective(Collective::all_reduce(sum, |a, b| *a += b))?));
        }
        for at in (0..300).map(|at| (at * 7 + rank * 31) % 300) {
            let summed = all[at].take().unwrap().wait()?;
            let expected: u64 = (0..size).map(|rank| (at + rank) as u64).sum();
            assert!(summed.iter().all(|&sum| sum == expected), "all-reduce {at}");
        }
        Ok(())
    })?;
    for (number, word) in words.iter().enumerate() {
        assert!(word.iter().all(|&word| word == number as u64), "broadcast {number}");
    }
    // An operation goes on while its rank waits for a message that another one sends after it.
    let mut sum = [rank as u64; 3];
    comm.scope(|scope| {
        let summed = scope.collective(Collective::all_reduce(&mut sum, |a, b| *a += b))?;
        if rank == 0 {
            for from in 1..size {
                comm.recv(from, 1, &mut [0u8])?;
            }
            assert!(summed.is_done());
        } else {
            summed.wait()?;
            comm.send(0, 1, &[1u8])?;
        }
        Ok(())
    })?;
    assert_eq!(sum, [(0..size as u64).sum(); 3]);
    say("done");
    comm.finish()
}

/// What a rank does: rank 1 calls something else than the others, which are told; two operations
/// that are in flight meanwhile give what they are for.
pub fn at_odds(case: u64) -> Result<(), CommError> {
    let job = Job::join()?;
    let rank = job.rank();
    let mut options = Options::from_environment()?;
    if case == 3 {
        let name = if rank == 1 { "all-reduce=linear" } else { "all-reduce=in-order-doubling" };
        options.algorithms = name.parse().unwrap();
    }
    let comm = Comm::of(job, options)?;
    comm.set_timeout(Some(Duration::from_secs(20)));
    let sum = |a: &mut u64, b: u64| *a += b;
    let (mut short, mut long, mut data) = ([rank as u64; 3], [rank as u64; 3000], [1u64; 4]);
    let result = comm.scope(|scope| {
        let scans = [&mut short[..], &mut long[..]]
            .map(|data| scope.collective(Collective::scan(data, sum)).unwrap());
        let result = match (case, rank) {
            (0, 1) => comm.barrier(),
            (1, 1) => comm.broadcast(2, &mut data),
            (2, 1) => comm.collective(Collective::all_reduce(&mut data, sum).in_order()),
            (0 | 1, _) => comm.broadcast(0, &mut data),
            _ => comm.all_reduce(&mut data, sum),
        };
        for scan in scans {
            let expected: u64 = (0..=rank as u64).sum();
            assert!(scan.wait()?.iter().all(|&sum: &u64| sum == expected), "scan");
        }
        result
    });
    match result {
        Ok(()) => say(format!("rank {rank}: done")),
        Err(error) => say(format!("rank {rank}: {error}")),
    }
    // No rank leaves before all are told.
    std::thread::sleep(SOON);
    std::process::exit(0);
}

#[test]
fn ranks_that_call_something_else_are_told_what() {
    let expected = [
        &["calls barrier", "calls broadcast"][..],
        &["its root of broadcast is rank"],
        &["another reduction or type", "as the algorithm of all-reduce"],
        &["as the algorithm of all-reduce"],
    ];
    for (case, expected) in expected.iter().enumerate() {
        for way in WAYS {
            let lines = here(3, &format!("at-odds {case}"), way);
            let told = |line: &&String| expected.iter().any(|expected| line.contains(expected));
            assert!(lines.iter().any(|line| told(&line)) && lines.len() == 3, "{case}: {lines:?}");
            assert!(!lines.iter().any(|line| line.contains("not done")), "{case}: {lines:?}");
        }
    }
}

#[test]
fn every_algorithm_gives_what_it_is_for() {
    let all = Operation::all();
    let most = all.iter().map(|operation| operation.algorithms().len()).max().unwrap();
    for ranks in 1..=9 {
        assert_eq!(here(ranks, &format!("every-algorithm {most}"), &[]).len(), ranks);
    }
}

#[test]
fn hundreds_of_operations_are_in_flight_at_once() {
    for ranks in [2, 3, 4] {
        assert_eq!(here(ranks, "many-at-once", &[]).len(), ranks);
    }
}

#[test]
fn they_give_what_they_are_for() {
    for ranks in [1, 2, 3, 4, 5] {
        assert_eq!(here(ranks, "collectives", &[]).len(), ranks);
    }
}

#[test]
fn and_over_rails() {
    let Some(cluster) = live("hosts = 3\n[[rail]]\n[[rail]]") else { return };
    assert_eq!(well(&cluster, &[0, 1, 2, 0, 1], "collectives", &[]).len(), 5);
    assert_eq!(well(&cluster, &[0, 1, 2, 0, 1], "every-algorithm 3", &[]).len(), 5);
}
