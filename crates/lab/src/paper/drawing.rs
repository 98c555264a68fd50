//! Figures of a paper that no part draws.

use crosstie_study::{Figure, Row, Setting, Status, WorkKind};

/// A figure, and the rows it is drawn from.
pub type Drawing = (Figure, Vec<Row>);

/// A figure with plain axes whose ends follow from the data.
pub(super) fn plain(name: &str, title: String, x: &str, y: &str, series: &str) -> Figure {
    Figure {
        name: name.to_owned(),
        title: Some(title),
        x: x.to_owned(),
        y: vec![y.to_owned()],
        series: vec![series.to_owned()],
        only: Default::default(),
        log_x: false,
        log_y: false,
        x_range: None,
        y_range: None,
    }
}

/// A point of a line: which line, where along, and how high.
pub(super) fn point(series: (&str, &str), x: (&str, f64), y: (&str, f64)) -> Row {
    Row {
        profile: None,
        point: 0,
        kind: WorkKind::Traffic,
        settings: vec![
            (series.0.to_owned(), Setting::Text(series.1.to_owned())),
            (x.0.to_owned(), Setting::Number(x.1)),
        ],
        status: Status::Converged,
        note: String::new(),
        measured: vec![(y.0.to_owned(), y.1)],
    }
}
