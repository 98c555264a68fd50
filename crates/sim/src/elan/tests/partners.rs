//! Route tables, and what a process goes on doing once it has written a command.

use super::super::routes::Route;
use super::*;

/// A process of the first sixteen that has routes to some of them.
fn leading(routes: impl Fn(Process) -> Vec<Route>) -> impl Fn(Process) -> Capability {
    move |process| Capability { routes: routes(process), ..everything(process) }
}

/// Processes that may not reach process 5.
fn without_5(process: Process) -> Vec<Route> {
    let route = |partners, host| Route { process, partners, host };
    vec![route(0..=4, 0), route(6..=15, 6)]
}

fn fates(told: &[Event], id: u64) -> Vec<Fate> {
    told.iter().filter(|event| event.id == id).map(|event| event.fate).collect()
}

/// The command processor takes the descriptor, the DMA engine takes it up, and that is all: three
/// steps, an error event, and not a flit on any channel, whatever is in the memory of the partner.
#[test]
fn a_partner_without_a_route_is_refused_before_any_packet_leaves() {
    let main = elan3(Memory::Main, Memory::Main);
    for bytes in [0, 64, LONG] {
        for (way, to) in [(Way::Put, 5), (Way::Get, 5), (Way::Cast(7), 4), (Way::Cast(5), 5)] {
            let job = (way, (0, 0, to, bytes));
            let (told, flits) = play(&config(None), main, &[job], &leading(without_5));
            assert_eq!(fates(&told, 0), [Fate::Dropped], "{way:?} {bytes}");
            near(told[0].at.seconds() * 1e6, 0.6, 1e-9);
            assert_eq!(flits, 0, "{way:?} {bytes}");
            let (told, flits) = play(&config(None), main, &[job], &everything);
            assert!(!fates(&told, 0).contains(&Fate::Dropped) && flits > 0, "with a route it goes");
        }
    }
}

/// Those behind it in the queue of the DMA engine wait for the step in which it is found, no more.
#[test]
fn who_is_refused_keeps_the_others_for_one_step() {
    let elan = elan3(Memory::Elan, Memory::Elan);
    let jobs = all(Way::Put, &[(0, 0, 5, LONG), (0, 0, 1, 64)]);
    let told = run_with(elan, &jobs, None, &leading(without_5));
    assert_eq!(fates(&told, 0), [Fate::Dropped]);
    // Its command and its start, of 200 ns each.
    near(acknowledged(&told, 1), takes(Memory::Elan, Memory::Elan, 1, 64) + 0.4, 0.006);
}

/// The process that holds the data answers on a route of its own table. Without one it refuses to
/// be asked, and sends nothing.
#[test]
fn a_get_needs_a_route_there_and_a_route_back() {
    let capability = leading(|process| match process {
        5 => without_5(process).into_iter().skip(1).collect(),
        _ => everything(process).routes,
    });
    let main = elan3(Memory::Main, Memory::Main);
    let jobs = all(Way::Get, &[(0, 0, 5, 1000), (50_000, 7, 5, 1000)]);
    let told = run_with(main, &jobs, None, &capability);
    assert_eq!(fates(&told, 0), [Fate::Dropped], "5 has no route to 0");
    assert!(matches!(fates(&told, 1)[..], [Fate::Arrived(_)]));
}

/// A table is what counts: where it leads to a wrong host, that host has granted nothing for the
/// process, and refuses.
#[test]
fn a_route_to_a_wrong_host_ends_in_an_error_and_never_in_memory() {
    let exchanged = |process: Process| {
        let route = |partners, host| Route { process, partners, host };
        vec![route(0..=0, 0), route(1..=1, 2), route(2..=2, 1), route(3..=15, 3)]
    };
    let shifted = |process: Process| vec![Route { process, partners: 0..=14, host: 1 }];
    let main = elan3(Memory::Main, Memory::Main);
    let job = (0, 0, 1, 1000);
    for way in [Way::Put, Way::Get] {
        let (told, flits) = play(&config(None), main, &[(way, job)], &leading(exchanged));
        assert_eq!(fates(&told, 0), [Fate::Dropped], "{way:?}");
        assert!(flits > 0, "host 2 is asked");
    }
    let told = run_with(main, &[(Way::Cast(3), job)], None, &leading(shifted));
    assert_eq!(fates(&told, 0), [Fate::Dropped]);
}

/// A process writes the address of a descriptor to the command port, and goes on: it can write
/// another one at once, and both puts overlap but for what they share, the microcode processor of
/// its NIC, which has four steps to do for each.
#[test]
fn a_process_goes_on_once_it_has_written_a_command() {
    let elan = elan3(Memory::Elan, Memory::Elan);
    for to in [1, 2] {
        let told = run(elan, &[(0, 0, 1, 0), (0, 0, to, 0)]);
        let alone = takes(Memory::Elan, Memory::Elan, to, 0);
        let second = acknowledged(&told, 1);
        assert!(second > alone && second <= alone + 4.0 * 0.2 + 0.006, "{second}, {alone}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the tables are, a put arrives if and only if there is a route for it, and flits go
    /// only if one arrives.
    #[test]
    fn what_arrives_has_a_route(
        tables in prop::collection::vec((0..16u32, 0..16u32), 16),
        puts in prop::collection::vec((0..20_000u64, 0..16u32, 1..16u32, 0..2000u32), 1..20),
    ) {
        let step = |(at, from, step, bytes): Job| (at, from, (from + step) % 16, bytes);
        let mut puts: Vec<Job> = puts.into_iter().map(step).collect();
        puts.sort_unstable();
        let range = |process: Process| {
            let (a, b) = tables[process as usize];
            a.min(b)..=a.max(b)
        };
        let capability = leading(|process| {
            let partners = range(process);
            vec![Route { process, host: *partners.start(), partners }]
        });
        let elan = elan3(Memory::Main, Memory::Main);
        let (told, flits) = play(&config(None), elan, &all(Way::Put, &puts), &capability);
        let mut arrive = 0;
        for (id, &(_, from, to, _)) in (0..).zip(&puts) {
            let may = range(from).contains(&to);
            arrive += u32::from(may);
            let found = fates(&told, id);
            prop_assert_eq!(found.iter().any(|fate| matches!(fate, Fate::Arrived(_))), may);
            prop_assert_eq!(found == [Fate::Dropped], !may);
        }
        prop_assert_eq!(flits > 0, arrive > 0);
    }
}
