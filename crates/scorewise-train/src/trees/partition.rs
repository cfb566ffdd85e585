//! Divides the rows of a node between its two children.

use rayon::prelude::*;

use super::search::LeftCodes;

/// Minimum number of rows with which several threads divide the rows of a node.
const PARALLEL_ROWS: usize = 1 << 13;

/// Moves the rows of the left child to the front of `rows` and the rows of the right child behind them, and returns the number of rows of the left
/// child. The rows of each child keep their order, so that memory is read in ascending order. `column` holds the code of every row; `scratch` is as
/// long as `rows`.
///
/// # Panics
/// If a row has no code, or if `scratch` is shorter than `rows`.
pub(super) fn divide(
    rows: &mut [u32],
    scratch: &mut [u32],
    column: &[u8],
    left_codes: LeftCodes,
    threads: usize,
) -> usize {
    if threads < 2 || rows.len() < PARALLEL_ROWS {
        let count = divide_part(rows, scratch, column, left_codes);
        let right = rows.len() - count;
        rows[count..].copy_from_slice(&scratch[..right]);
        return count;
    }
    let size = rows.len().div_ceil(threads);
    let parts = rows.par_chunks_mut(size).zip(scratch.par_chunks_mut(size));
    let counts: Vec<usize> = parts.map(|(rows, scratch)| divide_part(rows, scratch, column, left_codes)).collect();
    // Now each part of `rows` begins with its rows of the left child, and each part of `scratch` with its rows of the right child. First the rows of
    // the left child are moved together, then the rows of the right child are copied from `scratch` behind them.
    let mut count = 0;
    for (part, left) in counts.iter().enumerate() {
        rows.copy_within(part * size..part * size + left, count);
        count += left;
    }
    let mut end = count;
    for (part, left) in counts.iter().enumerate() {
        let right = size.min(rows.len() - part * size) - left;
        rows[end..end + right].copy_from_slice(&scratch[part * size..part * size + right]);
        end += right;
    }
    count
}

/// Moves the rows of the left child to the front of `rows`, and copies the rows of the right child to the front of `scratch`. Returns the number of
/// rows of the left child.
fn divide_part(rows: &mut [u32], scratch: &mut [u32], column: &[u8], left_codes: LeftCodes) -> usize {
    assert!(scratch.len() >= rows.len());
    assert!(
        rows.iter().copied().max().is_none_or(|last| (last as usize) < column.len()),
        "every row must have a code in the column"
    );
    let (mut left, mut right) = (0, 0);
    for index in 0..rows.len() {
        // Every row is written to the ends of both lists, but only the list to which the row belongs gets longer; in the other list, the next row
        // overwrites it. This avoids a branch, which the processor would often predict wrongly.
        // SAFETY: `left` and `right` are at most `index`, which is below the length of `rows`, and `scratch` is at least as long as `rows`. All rows
        // have a code, as checked above.
        unsafe {
            let row = *rows.get_unchecked(index);
            let is_left = left_codes.contain(*column.get_unchecked(row as usize));
            *rows.get_unchecked_mut(left) = row;
            *scratch.get_unchecked_mut(right) = row;
            left += usize::from(is_left);
            right += usize::from(!is_left);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_order_on_both_sides_of_a_split_for_any_number_of_threads() {
        let column: Vec<u8> = (0..100_000u32).map(|row| (row.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let left_codes = LeftCodes { low: 3, span: 90 };
        for count in [0, 1, 100, 40_000] {
            let rows: Vec<u32> = (0..100_000).filter(|row| row % 5 < 2).take(count).collect();
            let is_left = |row: &u32| left_codes.contain(column[*row as usize]);
            let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| is_left(row));
            for threads in [1, 2, 3] {
                let (mut divided, mut scratch) = (rows.clone(), vec![0; rows.len()]);
                assert_eq!(divide(&mut divided, &mut scratch, &column, left_codes, threads), left.len());
                assert_eq!(divided, [left.clone(), right.clone()].concat(), "{threads} threads");
            }
        }
    }

    #[test]
    #[should_panic(expected = "every row must have a code in the column")]
    fn a_row_without_a_code_is_refused() {
        divide(&mut [0, 3], &mut [0; 2], &[1, 1, 1], LeftCodes { low: 0, span: 0 }, 1);
    }

    #[test]
    #[should_panic(expected = "every row must have a code in the column")]
    fn a_row_of_an_empty_column_is_refused() {
        divide(&mut [0], &mut [0], &[], LeftCodes { low: 0, span: 0 }, 1);
    }
}
