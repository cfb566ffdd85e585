//! A straight line through many points: least squares, by the normal equations.
//!
//! By hand, as half a dozen columns need no library of linear algebra.

/// What the line through `values` at `rows` of the columns says for all rows.
pub(super) fn least_squares(columns: &[Vec<f64>], rows: &[usize], values: &[f64]) -> Vec<f64> {
    let mean = |of: &mut dyn Iterator<Item = f64>| of.sum::<f64>() / rows.len().max(1) as f64;
    let means: Vec<f64> = columns.iter().map(|column| mean(&mut rows.iter().map(|row| column[*row]))).collect();
    let level = mean(&mut values.iter().copied());
    let count = columns.len();
    let (mut products, mut sums) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for (row, value) in rows.iter().zip(values) {
        let point: Vec<f64> = columns.iter().zip(&means).map(|(column, mean)| column[*row] - mean).collect();
        for (place, x) in point.iter().enumerate() {
            sums[place] += x * (value - level);
            products[place].iter_mut().zip(&point).for_each(|(product, other)| *product += x * other);
        }
    }
    let slopes = solve(products, sums);
    let said = |row: usize| {
        let terms = columns.iter().zip(&means).zip(&slopes).map(|((column, mean), slope)| slope * (column[row] - mean));
        level + terms.sum::<f64>()
    };
    (0..columns.first().map_or(0, Vec::len)).map(said).collect()
}

/// Solves a x = b for a symmetric a without negative eigenvalues, by elimination. A column that says what others say already (the last
/// of the wind's directions) gets a slope of 0.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let scales: Vec<f64> = (0..b.len()).map(|place| a[place][place]).collect();
    let mut used = vec![false; b.len()];
    for at in 0..b.len() {
        if a[at][at] <= 1e-9 * scales[at] {
            continue;
        }
        used[at] = true;
        let (pivot, right) = (a[at].clone(), b[at]);
        for other in (0..b.len()).filter(|other| *other != at) {
            let share = a[other][at] / pivot[at];
            a[other].iter_mut().zip(&pivot).for_each(|(cell, from)| *cell -= share * from);
            b[other] -= share * right;
        }
    }
    (0..b.len()).map(|place| if used[place] { b[place] / a[place][place] } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again_where_one_column_is_the_sum_of_others_too() {
        let first: Vec<f64> = (0..40).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|x| (x * 7.0) % 11.0).collect();
        let sum: Vec<f64> = first.iter().zip(&second).map(|(x, y)| x + y).collect();
        let values: Vec<f64> = first.iter().zip(&second).map(|(x, y)| 3.0 - 2.0 * x + 0.5 * y).collect();
        let rows: Vec<usize> = (0..40).step_by(3).collect();
        let seen: Vec<f64> = rows.iter().map(|row| values[*row]).collect();
        let said = least_squares(&[first, second, sum, vec![5.0; 40]], &rows, &seen);
        assert!(said.iter().zip(&values).all(|(said, value)| (said - value).abs() < 1e-9), "{said:?}");
    }

    #[test]
    fn of_points_off_the_line_the_squares_are_least() {
        // By hand: through (0, 1), (1, 0), (2, 5) the slope is 2 and the line at 1 is 2.
        let said = least_squares(&[vec![0.0, 1.0, 2.0]], &[0, 1, 2], &[1.0, 0.0, 5.0]);
        assert_eq!(said, [0.0, 2.0, 4.0]);
    }
}
