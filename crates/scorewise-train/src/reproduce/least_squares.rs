//! Linear regression by least squares with the normal equations. It is used with seven columns, for which no linear algebra library is needed.

/// Fits `values`, the target values of `rows`, as a linear function of the columns with an intercept. Returns the predictions for all rows.
pub(super) fn least_squares(columns: &[Vec<f64>], rows: &[usize], values: &[f64]) -> Vec<f64> {
    let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / rows.len().max(1) as f64;
    let means: Vec<f64> = columns.iter().map(|column| mean(&mut rows.iter().map(|row| column[*row]))).collect();
    let mean_value = mean(&mut values.iter().copied());
    let count = columns.len();
    let (mut products, mut sums) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for (row, value) in rows.iter().zip(values) {
        let point: Vec<f64> = columns.iter().zip(&means).map(|(column, mean)| column[*row] - mean).collect();
        for (index, x) in point.iter().enumerate() {
            sums[index] += x * (value - mean_value);
            products[index].iter_mut().zip(&point).for_each(|(product, other)| *product += x * other);
        }
    }
    let coefficients = solve_linear_system(products, sums);
    let prediction = |row: usize| {
        let terms = columns.iter().zip(&means).zip(&coefficients);
        mean_value + terms.map(|((column, mean), coefficient)| coefficient * (column[row] - mean)).sum::<f64>()
    };
    (0..columns.first().map_or(0, Vec::len)).map(prediction).collect()
}

/// Solves a x = b for a symmetric positive semidefinite matrix a by Gauss–Jordan elimination. A column that is a linear combination of earlier
/// columns, such as the indicator of the last wind direction, gets the coefficient 0.
fn solve_linear_system(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let diagonal: Vec<f64> = (0..b.len()).map(|column| a[column][column]).collect();
    let mut is_used = vec![false; b.len()];
    for column in 0..b.len() {
        if a[column][column] <= 1e-9 * diagonal[column] {
            continue;
        }
        is_used[column] = true;
        let (pivot, right) = (a[column].clone(), b[column]);
        for row in (0..b.len()).filter(|row| *row != column) {
            let factor = a[row][column] / pivot[column];
            a[row].iter_mut().zip(&pivot).for_each(|(element, pivot)| *element -= factor * pivot);
            b[row] -= factor * right;
        }
    }
    (0..b.len()).map(|column| if is_used[column] { b[column] / a[column][column] } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_function_is_recovered_even_if_one_column_is_the_sum_of_others() {
        let first: Vec<f64> = (0..40).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|x| (x * 7.0) % 11.0).collect();
        let sum: Vec<f64> = first.iter().zip(&second).map(|(x, y)| x + y).collect();
        let values: Vec<f64> = first.iter().zip(&second).map(|(x, y)| 3.0 - 2.0 * x + 0.5 * y).collect();
        let rows: Vec<usize> = (0..40).step_by(3).collect();
        let known: Vec<f64> = rows.iter().map(|row| values[*row]).collect();
        let predicted = least_squares(&[first, second, sum, vec![5.0; 40]], &rows, &known);
        let is_close = |(predicted, value): (&f64, &f64)| (predicted - value).abs() < 1e-9;
        assert!(predicted.iter().zip(&values).all(is_close), "{predicted:?}");
    }

    #[test]
    fn points_that_are_not_on_one_line_give_the_least_squares_line() {
        // The least-squares line of the points (0, 1), (1, 0) and (2, 5) has the slope 2 and the value 2 at 1.
        let predicted = least_squares(&[vec![0.0, 1.0, 2.0]], &[0, 1, 2], &[1.0, 0.0, 5.0]);
        assert_eq!(predicted, [0.0, 2.0, 4.0]);
    }
}
