//! What appears in a terminal, to the character.

mod samples;

use crosstie_report::Terminal;
use crosstie_study::{Figure, Row, Setting, Status, Table};
use proptest::prelude::*;

const WIDE: Terminal = Terminal { width: 100, unicode: true, colour: false };

/// Rows that show every status.
fn rows() -> Vec<Row> {
    let all = samples::load_curves();
    [9, 11, 12, 40].map(|i: usize| all[i].clone()).to_vec()
}

#[test]
fn a_wide_terminal_shows_every_column() {
    assert_eq!(
        WIDE.table(&rows()),
        "\
engine         load  offered         accepted      latency   p99  status
adaptive        0.5   0.5000  0.4998 ± 0.0020  132.8 ± 3.1   319  converged
adaptive        0.6   0.6000  0.5997 ± 0.0024     572 ± 71  1373  not converged
adaptive       0.65   0.6500  0.6191 ± 0.0040            –     –  saturated
random-ascent  0.65   0.6500  0.5161 ± 0.0040            –     –  deadlocked
offered, accepted: flits/cycle/host; latency, p99: cycles
"
    );
}

#[test]
fn a_narrow_terminal_shows_what_matters_most() {
    let narrow = Terminal { width: 48, unicode: false, colour: false };
    assert_eq!(
        narrow.table(&rows()),
        "\
engine    load  accepted  latency  status
adaptive   0.5    0.4998    132.8  converged
adaptive   0.6    0.5997    572.0  not converged
adaptive  0.65    0.6191        -  saturated
random-~  0.65    0.5161        -  deadlocked
accepted: flits/cycle/host; latency: cycles
"
    );
}

#[test]
fn closed_loop_work_has_columns_of_its_own() {
    assert_eq!(
        WIDE.table(&samples::pings()),
        "\
world     size            time [us]  p99 [us]  latency [us]   MB/s  status
wormhole  8 B       1.2600 ± 0.0063     1.323        0.6300  12.70  completed
wormhole  1 KiB       6.340 ± 0.032     6.657         3.170  323.0  completed
wormhole  64 KiB        328.9 ± 1.6     345.3         164.5  398.5  completed
ideal     8 B     0.14000 ± 0.00070    0.1470       0.07000  114.3  completed
ideal     1 KiB       5.220 ± 0.026     5.481         2.610  392.3  completed
ideal     64 KiB                  –         –             –      –  failed
"
    );
    let kinds = [samples::pings(), rows()].concat();
    let text = Terminal { width: 160, ..WIDE }.table(&kinds);
    for head in ["offered", "latency [us]", "latency  ", "MB/s"] {
        assert!(text.lines().next().unwrap().contains(head), "{text}");
    }
}

#[test]
fn colour_marks_the_status_and_nothing_else() {
    let coloured = Terminal { colour: true, ..WIDE }.table(&rows());
    assert!(coloured.contains("319  \x1b[32mconverged\x1b[0m\n"));
    assert!(coloured.contains("\x1b[1;31mdeadlocked\x1b[0m\n"));
    let colours = ["\x1b[32m", "\x1b[33m", "\x1b[35m", "\x1b[1;31m", "\x1b[0m"];
    let plain = colours.iter().fold(coloured, |text, colour| text.replace(colour, ""));
    assert_eq!(plain, WIDE.table(&rows()));
}

#[test]
fn curves_share_a_scale_and_show_where_they_end() {
    let figure = Figure { log_y: true, ..samples::latency_figure() };
    assert_eq!(
        WIDE.sparklines(&figure, &samples::load_curves()),
        "\
mean latency [cycles] against offered load, 0.05 to 0.65
adaptive       ▁▁▁▁▁▁▁▂▂▃▄█↑  63.49 to 572.0
deterministic  ▁▁▁▁▂▂▄█↑      64.36 to 742.0
random-ascent  ▁▁▁▁▁▁▂▃▄▇×    63.81 to 487.0
"
    );
    let ascii = Terminal { unicode: false, ..WIDE }.sparklines(&figure, &samples::load_curves());
    assert!(ascii.is_ascii() && ascii.contains("____..~#^"), "{ascii}");
}

#[test]
fn many_points_are_squeezed_and_peaks_stay() {
    let row = |i: u32| {
        let latency = if i == 77 { 100.0 } else { 1.0 };
        let settings = [("traffic.load", Setting::Number(f64::from(i)))];
        samples::row(i, &settings, Status::Converged, &[("latency_mean", latency)])
    };
    let rows: Vec<Row> = (0..200).map(row).collect();
    let figure = Figure { series: Vec::new(), ..samples::latency_figure() };
    let text = Terminal { width: 40, ..WIDE }.sparklines(&figure, &rows);
    let curve = text.lines().nth(1).unwrap();
    assert_eq!(curve.chars().filter(|&c| c == '█').count(), 1, "{curve}");
}

/// One column by two keys.
fn by(rows: &str, columns: &str, value: &str) -> Table {
    let columns = Some(columns.to_owned());
    let (name, title, rows, value) = (None, None, rows.to_owned(), vec![value.to_owned()]);
    Table { name, title, rows, columns, value }
}

#[test]
fn rows_are_laid_out_by_two_keys() {
    let latency = by("work.ping.size", "world", "latency");
    assert_eq!(
        WIDE.sheets(&latency, &samples::pings()),
        "\
latency [us] by message size and world
size    wormhole    ideal
8 B       0.6300  0.07000
1 KiB      3.170    2.610
64 KiB     164.5   failed
"
    );
    let each = Table {
        title: Some("A ping".to_owned()),
        columns: None,
        value: ["time_mean", "bandwidth"].map(str::to_owned).to_vec(),
        ..latency
    };
    assert_eq!(
        WIDE.sheets(&each, &samples::pings()),
        "\
A ping
world wormhole
size          time [us]   MB/s
8 B     1.2600 ± 0.0063  12.70
1 KiB     6.340 ± 0.032  323.0
64 KiB      328.9 ± 1.6  398.5

world ideal
size            time [us]    MB/s
8 B     0.14000 ± 0.00070   114.3
1 KiB       5.220 ± 0.026   392.3
64 KiB             failed  failed
"
    );
}

#[test]
fn cells_say_how_a_run_ended_unless_it_ended_well() {
    let table = by("traffic.load", "routing.engine", "latency_mean");
    assert_eq!(
        WIDE.sheets(&table, &rows()),
        "\
mean latency [cycles] by offered load and routing engine
load                adaptive  random-ascent
 0.5             132.8 ± 3.1              –
 0.6  572 ± 71 not converged              –
0.65               saturated     deadlocked
"
    );
    let coloured = Terminal { colour: true, ..WIDE }.sheets(&table, &rows());
    assert!(coloured.contains("572 ± 71 \x1b[33mnot converged\x1b[0m"), "{coloured}");
}

#[test]
fn a_sheet_that_is_too_wide_goes_on_below() {
    let table = by("routing.engine", "traffic.load", "latency_mean");
    let narrow = Terminal { width: 72, unicode: false, colour: false };
    let all = samples::load_curves();
    let text = narrow.sheets(&table, &all);
    assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    assert_eq!(text.matches("adaptive").count(), 3, "three blocks of columns: {text}");
    for load in all.iter().filter_map(|row| row.setting("traffic.load")) {
        let Setting::Number(load) = load else { panic!("a load is a number") };
        assert!(text.contains(&crosstie_report::number::chosen(*load)), "no {load}: {text}");
    }
}

#[test]
fn nothing_to_show_is_said() {
    assert_eq!(WIDE.table(&[]), "no points\n");
    assert_eq!(WIDE.sparklines(&samples::latency_figure(), &[]), "");
}

proptest! {
    #[test]
    fn any_rows_fit_any_terminal(
        rows in samples::any_rows(),
        figure in samples::any_figure(),
        columns in prop::sample::select(vec!["routing", "load", "absent"]),
        width in 0usize..120,
        unicode in any::<bool>(),
    ) {
        let terminal = Terminal { width, unicode, colour: false };
        let table = Table { value: figure.y.clone(), ..by("load", columns, "accepted") };
        let texts =
            [terminal.table(&rows), terminal.sparklines(&figure, &rows), terminal.sheets(&table, &rows)];
        for text in texts {
            prop_assert!(unicode || text.is_ascii(), "{text}");
            for line in text.lines().filter(|line| *line != "no points") {
                prop_assert!(line.chars().count() <= width.max(1), "{line:?}");
                prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
    }
}
