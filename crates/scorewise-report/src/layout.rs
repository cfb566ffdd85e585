//! Panels in rows. Where they do not fill the last row, it is the first that is short, and centred, as in the paper: the
//! uniform prior alone on top, the raised cosines in a square below.

use crate::picture::Place;

/// How many panels stand side by side.
pub(crate) fn columns(panels: usize) -> usize {
    match panels {
        0..=3 => panels.max(1),
        4 => 2,
        5..=12 => 3,
        _ => 4,
    }
}

/// How many rows there are.
pub(crate) fn rows(panels: usize) -> usize {
    panels.div_ceil(columns(panels))
}

/// The place of every panel: its row, and its column in halves, since a short row is centred.
pub(crate) fn places(panels: usize) -> impl Iterator<Item = (usize, usize)> {
    let columns = columns(panels);
    let missing = rows(panels) * columns - panels;
    (0..panels).map(move |panel| {
        let seat = panel + missing;
        let row = seat / columns;
        if row == 0 { (0, 2 * panel + missing) } else { (row, 2 * (seat % columns)) }
    })
}

/// The same as rectangles, for panels of this width and height.
pub(crate) fn places_of(panels: usize, (width, height): (f64, f64)) -> impl Iterator<Item = Place> {
    places(panels).map(move |(row, half_column)| Place {
        left: 0.5 * half_column as f64 * width,
        top: row as f64 * height,
        width,
        height,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_panels_are_one_above_a_square() {
        let places: Vec<_> = places(10).collect();
        assert_eq!(places[..4], [(0, 2), (1, 0), (1, 2), (1, 4)]);
        assert_eq!(places[9], (3, 4));
    }

    #[test]
    fn five_panels_are_two_above_three() {
        assert_eq!(places(5).collect::<Vec<_>>(), [(0, 1), (0, 3), (1, 0), (1, 2), (1, 4)]);
    }

    #[test]
    fn full_rows_are_filled_in_order() {
        assert_eq!(places(1).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(places(4).collect::<Vec<_>>(), [(0, 0), (0, 2), (1, 0), (1, 2)]);
        for panels in 1..=30 {
            let mut seen: Vec<_> = places(panels).collect();
            assert!(seen.iter().all(|(row, half)| *row < rows(panels) && *half + 2 <= 2 * columns(panels)), "{panels}");
            seen.dedup();
            assert_eq!(seen.len(), panels);
        }
    }
}
