//! Arranges panels in rows. When the panels do not fill all rows, the first row is shorter and centred, as in Figure 2 of Marchetti et al.
//! (2022): the uniform prior alone in the first row, the raised cosines in a square below.

use crate::picture::Rect;

/// Number of panels (plots with axes of their own) in a full row of a figure that has `panels` panels in total.
pub(crate) fn column_count(panels: usize) -> usize {
    match panels {
        0..=3 => panels.max(1),
        4 => 2,
        5..=12 => 3,
        _ => 4,
    }
}

/// Number of rows in which a figure arranges this number of panels (plots with axes of their own).
pub(crate) fn row_count(panels: usize) -> usize {
    panels.div_ceil(column_count(panels))
}

/// Row and column of every panel (plot with axes of its own) of a figure. The column is counted in half columns, because centring may shift a short
/// row by half a column.
pub(crate) fn grid_positions(panels: usize) -> impl Iterator<Item = (usize, usize)> {
    let columns = column_count(panels);
    let missing = row_count(panels) * columns - panels;
    (0..panels).map(move |panel| {
        let cell = panel + missing;
        let row = cell / columns;
        if row == 0 { (0, 2 * panel + missing) } else { (row, 2 * (cell % columns)) }
    })
}

/// The rectangles of all panels (plots with axes of their own) of a figure. All panels have the given width and height in pixels.
pub(crate) fn panel_rects(panels: usize, (width, height): (f64, f64)) -> impl Iterator<Item = Rect> {
    grid_positions(panels).map(move |(row, half_column)| Rect {
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
    fn ten_panels_are_arranged_as_one_above_three_rows_of_three() {
        let positions: Vec<_> = grid_positions(10).collect();
        assert_eq!(positions[..4], [(0, 2), (1, 0), (1, 2), (1, 4)]);
        assert_eq!(positions[9], (3, 4));
    }

    #[test]
    fn five_panels_are_arranged_as_two_centred_above_three() {
        assert_eq!(grid_positions(5).collect::<Vec<_>>(), [(0, 1), (0, 3), (1, 0), (1, 2), (1, 4)]);
    }

    #[test]
    fn panels_get_distinct_cells_in_reading_order() {
        assert_eq!(grid_positions(1).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(grid_positions(4).collect::<Vec<_>>(), [(0, 0), (0, 2), (1, 0), (1, 2)]);
        for panels in 1..=30 {
            let mut seen: Vec<_> = grid_positions(panels).collect();
            assert!(
                seen.iter().all(|(row, half)| *row < row_count(panels) && *half + 2 <= 2 * column_count(panels)),
                "{panels}"
            );
            seen.dedup();
            assert_eq!(seen.len(), panels);
        }
    }
}
