//! Sums over an m×m matrix of any [`Number`] type. A sum over all classes except one is never computed by subtraction, so that it is exactly 0
//! if all weight lies in the excluded class, and a division by such a sum is recognised as a division by zero.

use crate::formula::Number;

/// An m×m confusion matrix, stored row by row: rows are true classes, columns predicted classes.
pub(super) struct SquareMatrix<'a, T> {
    pub classes: usize,
    pub cells: &'a [T],
}

impl<T: Number> SquareMatrix<'_, T> {
    /// The cell in the row of the class `truth` and the column of the class `predicted`.
    pub fn at(&self, truth: usize, predicted: usize) -> T {
        self.cells[truth * self.classes + predicted]
    }

    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.cells.chunks_exact(self.classes)
    }

    pub fn row_sums(&self) -> Vec<T> {
        self.rows().map(|row| sum(row.iter().copied())).collect()
    }

    pub fn column_sums(&self) -> Vec<T> {
        let column = |predicted: usize| (0..self.classes).map(move |truth| self.at(truth, predicted));
        (0..self.classes).map(|predicted| sum(column(predicted))).collect()
    }

    /// The sum of the cells on the diagonal: the total weight of the rows that are predicted correctly.
    pub fn trace(&self) -> T {
        sum((0..self.classes).map(|class| self.at(class, class)))
    }

    /// For each class, the cells tn, fp, fn, tp of the binary matrix of this class against all others.
    pub fn binaries(&self) -> Vec<[T; 4]> {
        let sums_of_others: Vec<Vec<T>> = self.rows().map(leave_one_out_sums).collect();
        let binary = |class: usize| {
            let rest = || (0..self.classes).filter(move |truth| *truth != class);
            let tn = sum(rest().map(|truth| sums_of_others[truth][class]));
            let fp = sum(rest().map(|truth| self.at(truth, class)));
            [tn, fp, sums_of_others[class][class], self.at(class, class)]
        };
        (0..self.classes).map(binary).collect()
    }
}

/// The sum of the values; 0 if there are none.
pub(super) fn sum<T: Number>(values: impl Iterator<Item = T>) -> T {
    values.reduce(T::plus).unwrap_or(T::constant(0.0))
}

/// For each index i, the sum of all values except value i.
pub(super) fn leave_one_out_sums<T: Number>(values: &[T]) -> Vec<T> {
    let mut result = Vec::with_capacity(values.len());
    let mut before = T::constant(0.0);
    for value in values {
        result.push(before);
        before = before.plus(*value);
    }
    let mut after = T::constant(0.0);
    for (value, result) in values.iter().zip(&mut result).rev() {
        *result = result.plus(after);
        after = after.plus(*value);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leave_one_out_sums_do_not_lose_small_terms_next_to_large_ones() {
        assert_eq!(leave_one_out_sums(&[1.0, 10.0, 100.0]), [110.0, 101.0, 11.0]);
        assert_eq!(leave_one_out_sums(&[1.0, 1e30, 2.0]), [1e30, 3.0, 1e30]);
    }

    #[test]
    fn binary_matrices_match_matrices_counted_by_hand() {
        let cells = [50.0, 3.0, 2.0, 10.0, 30.0, 5.0, 1.0, 4.0, 15.0];
        let matrix = SquareMatrix { classes: 3, cells: &cells };
        assert_eq!(matrix.binaries(), [[54.0, 11.0, 5.0, 50.0], [68.0, 7.0, 15.0, 30.0], [93.0, 7.0, 5.0, 15.0]]);
        assert_eq!((matrix.row_sums(), matrix.column_sums()), (vec![55.0, 45.0, 20.0], vec![61.0, 37.0, 22.0]));
        assert_eq!(matrix.trace(), 95.0);
    }
}
