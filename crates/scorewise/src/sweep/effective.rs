//! The number of independent rows that would determine a score as precisely as the given rows do.
//!
//! A score s is approximately a linear function of the cells of the confusion matrix, so its error is a sum with one term for each row:
//!
//! ```text
//! s(sample) − s(population) ≈ Σ ψᵢ        ψᵢ = wᵢ (gᵢ − ḡ)
//! ```
//!
//! Here wᵢ is the weight of row i, gᵢ the derivative of s with respect to the cell that contains the row, and ḡ the weighted mean of gᵢ. The variance
//! V of this sum depends on which rows depend on each other:
//!
//! ```text
//! independent rows          V = Σ ψᵢ²
//! G groups                  V = G/(G − 1) Σ S²      S: the sum of ψ over a group
//! blocks of b rows          V = 2 V(b) − V(b/2) or V(b), whichever is greater
//!                           V(b) = n/b mean(S²)     S: the sum of ψ over b consecutive rows, beginning at any row
//! ```
//!
//! V(b) leaves out a part of the autocorrelation that is proportional to 1/b, so 2 V(b) − V(b/2) leaves out much less.
//!
//! The effective number of rows m is the number of independent rows without weights for which the variance would be V. A variance that is estimated
//! from few groups or blocks is uncertain, so m is multiplied by (z/t)², where z = 1.96 is the 97.5 % quantile of the normal distribution and t that
//! of Student's distribution. The degrees of freedom of Student's distribution are the number of groups minus 1, or half the number of blocks minus 1,
//! because 2 V(b) − V(b/2) varies about as much as V(2b). They are 3 (Σ S²)²/Σ S⁴ − 1 if this is smaller, which happens if a few large sums dominate.
//!
//! Korn, E. L. & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive counts estimated from survey
//! data. Survey Methodology 24(2), 193–201. Vats, D. & Flegal, J. M. (2022). Lugsail lag windows for estimating time-average covariance matrices.
//! Biometrika 109(3), 735–750.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::block_length::block_length;
use super::bootstrap::{BlockLength, Resampling};
use crate::confusion::Confusion;
use crate::real::Real;
use crate::rows::{Probabilities, Rows};

/// Rows that are assigned to cells of a confusion matrix, or to pairs of cells if there are two forecasts.
pub(super) struct CellSample<'a, R> {
    /// The weights of the rows; `None` if every row has weight 1.
    weights: Option<&'a [R]>,
    /// For each row, the index of its cell (0 to 3) or of its pair of cells (0 to 7).
    cells: &'a [u8],
    /// The total weight of each cell.
    pub totals: [f64; 8],
    /// The sum of the squared weights of each cell.
    squares: [f64; 8],
}

impl<'a, R: Real> CellSample<'a, R> {
    /// Sums the weights of the rows in each cell; `cells` contains the index of the cell of each row.
    pub fn new(rows: &'a Rows<'_, Probabilities<'_, R>>, cells: &'a [u8]) -> Self {
        let (mut totals, mut squares) = ([0.0; 8], [0.0; 8]);
        for (row, cell) in cells.iter().enumerate() {
            let weight = rows.weight(row);
            totals[usize::from(cell & 7)] += weight;
            squares[usize::from(cell & 7)] += weight * weight;
        }
        CellSample { weights: rows.weights, cells, totals, squares }
    }

    /// The confusion matrix of the rows, if each row is in one of the four cells of one forecast.
    pub fn confusion(&self) -> Confusion {
        let [tn, fp, fn_, tp, ..] = self.totals;
        Confusion::new(tn, fp, fn_, tp)
    }

    /// The weight of a row.
    fn weight_of(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].to_f64())
    }

    /// The effective number of rows for a quantity with these derivatives with respect to the cells.
    pub fn effective_rows(&self, derivatives: &[f64; 8], resampling: Resampling<'_>) -> f64 {
        let linear = Linearisation::new(&self.totals, derivatives);
        let terms = || -> Vec<f64> {
            let term = |(row, cell): (usize, &u8)| self.weight_of(row) * linear.slope(usize::from(cell & 7));
            self.cells.iter().enumerate().map(term).collect()
        };
        linear.effective_rows(self.cells.len() as f64, || match resampling {
            Resampling::Poisson | Resampling::Stratified => {
                let squared = |cell: usize| self.squares[cell] * linear.slope(cell).powi(2);
                ((0..8).map(squared).sum(), f64::INFINITY)
            }
            Resampling::Groups(groups) => variance_of_groups(&terms(), groups),
            Resampling::Blocks(length) => variance_of_blocks(&terms(), length),
        })
    }

    /// The length of bootstrap blocks for a quantity with these derivatives with respect to the cells.
    pub fn block_length(&self, derivatives: &[f64; 8]) -> usize {
        let term = |(row, cell): (usize, &u8)| self.weight_of(row) * derivatives[usize::from(cell & 7)];
        safe_block_length(&self.cells.iter().enumerate().map(term).collect::<Vec<_>>())
    }
}

/// The linear approximation of a quantity, such as a score, as a function of the total weights of the cells, near their values in the sample.
pub(super) struct Linearisation<'a> {
    /// The derivatives g of the quantity with respect to the cells.
    derivatives: &'a [f64; 8],
    /// The weighted mean ḡ of the derivatives.
    mean: f64,
    /// The variance that the quantity would have in a sample of one row; divided by m, it is the variance for m independent rows. It equals the
    /// variance of the derivative over the rows, times the squared total weight.
    reference: f64,
}

impl<'a> Linearisation<'a> {
    /// Computes the linear approximation from the total weight of each cell and the derivatives of the quantity with respect to the cells.
    pub fn new(totals: &[f64; 8], derivatives: &'a [f64; 8]) -> Self {
        let weight: f64 = totals.iter().sum();
        let (sum, square) = (0..8).fold((0.0, 0.0), |(sum, square), cell| {
            let product = totals[cell] * derivatives[cell];
            (sum + product, square + product * derivatives[cell])
        });
        let mean = sum / weight;
        Linearisation { derivatives, mean, reference: weight * (square - sum * mean) }
    }

    /// The contribution of a row of weight 1 in this cell to the error of the quantity: the derivative for this cell minus the mean derivative.
    pub fn slope(&self, cell: usize) -> f64 {
        self.derivatives[cell] - self.mean
    }

    /// The effective number of rows of a sample that has `rows` rows. `variance` returns an estimate of the variance of the quantity and the degrees
    /// of freedom of this estimate; it is called only if the derivatives are finite and not the same for all rows.
    pub fn effective_rows(&self, rows: f64, variance: impl FnOnce() -> (f64, f64)) -> f64 {
        if !(self.reference > 0.0 && self.reference.is_finite()) {
            return rows;
        }
        let (variance, freedom) = variance();
        let effective = self.reference / variance * share_for(freedom);
        effective.clamp(1.0, rows.max(1.0))
    }

    /// The variance of the quantity in a sample of `rows` independent rows.
    pub fn variance_for(&self, rows: f64) -> f64 {
        self.reference / rows
    }
}

/// The variance of the sum of all terms if terms of the same group depend on each other, and the degrees of freedom of this estimate. `groups`
/// contains the index of the group of each term.
pub(super) fn variance_of_groups(terms: &[f64], groups: &[u32]) -> (f64, f64) {
    let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
    let (mut sums, mut is_present) = (vec![0.0; count], vec![false; count]);
    for (term, group) in terms.iter().zip(groups) {
        sums[*group as usize] += term;
        is_present[*group as usize] = true;
    }
    let present = is_present.iter().filter(|present| **present).count() as f64;
    if present < 2.0 {
        // The variance cannot be estimated from a single group, so it is taken to be infinite.
        return (f64::INFINITY, 2.0);
    }
    let (squares, fourth_powers) = powers(sums.into_iter());
    (squares * present / (present - 1.0), degrees_of_freedom(present, squares, fourth_powers))
}

/// The variance of the sum of all terms if terms of nearby rows depend on each other, and the degrees of freedom of this estimate. A block that
/// reaches the last row continues with the first.
pub(super) fn variance_of_blocks(terms: &[f64], length: BlockLength) -> (f64, f64) {
    let rows = terms.len();
    let length = match length {
        // The terms of the whole series sum to 0, so with blocks nearly as long as the series the variance would be underestimated.
        BlockLength::Rows(length) => length.min(rows.div_ceil(2)),
        BlockLength::Auto => safe_block_length(terms),
    };
    if length <= 1 {
        return (powers(terms.iter().copied()).0, f64::INFINITY);
    }
    let (squares, fourth_powers) = powers_of_blocks(terms, length);
    let (squares_of_halves, _) = powers_of_blocks(terms, length.div_ceil(2));
    let variance = (2.0 * squares - squares_of_halves).max(squares);
    // Half the number of blocks: see the documentation of this file.
    let units = rows as f64 / (2 * length) as f64;
    (variance, degrees_of_freedom(units, squares, fourth_powers))
}

/// The sums of the second and of the fourth powers of the sums of blocks of this length. A block begins at every row, so each term is contained in
/// `length` blocks; the sums of powers are divided by `length`.
fn powers_of_blocks(terms: &[f64], length: usize) -> (f64, f64) {
    let rows = terms.len();
    let mut sum: f64 = terms[..length].iter().sum();
    let sums = (0..rows).map(|start| {
        let block = sum;
        sum += terms[(start + length) % rows] - terms[start];
        block
    });
    let (squares, fourth_powers) = powers(sums);
    (squares / length as f64, fourth_powers / length as f64)
}

/// The length of the blocks for the confidence interval of the sum of `terms`: 1.5 times the length that is best for estimating the variance of the
/// sum, and at least the cube root of the number of rows. With shorter blocks, intervals would be too narrow for series that are autocorrelated over
/// many rows, and for short series, whose autocorrelation cannot be told from chance.
pub(super) fn safe_block_length(terms: &[f64]) -> usize {
    let best = block_length(terms);
    let longer = if best == 1 { 1 } else { best + best.div_ceil(2) };
    let least = (terms.len() as f64).cbrt().ceil() as usize;
    longer.max(least).min(terms.len().div_ceil(3)).max(1)
}

/// The sum of the squares of the numbers, and the sum of their fourth powers.
pub(super) fn powers(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((0.0, 0.0), |(squares, fourth_powers), number| {
        let square = number * number;
        (squares + square, fourth_powers + square * square)
    })
}

/// The degrees of freedom of a variance that was estimated from `count` independent sums, given the totals of their second and fourth powers.
pub(super) fn degrees_of_freedom(count: f64, squares: f64, fourth_powers: f64) -> f64 {
    let by_fourth_power = if fourth_powers > 0.0 { 3.0 * squares * squares / fourth_powers } else { count };
    (count.min(by_fourth_power) - 1.0).max(2.0)
}

/// The factor (z/t)² by which the effective number of rows is reduced if the variance is an estimate with `freedom` degrees of freedom. Here z and t
/// are the 97.5 % quantiles of the normal distribution and of Student's distribution.
pub(super) fn share_for(freedom: f64) -> f64 {
    (NORMAL_QUANTILE / student_quantile(freedom)).powi(2)
}

/// The 97.5 % quantile of the standard normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// The 97.5 % quantile of Student's distribution with `freedom` degrees of freedom.
pub(super) fn student_quantile(freedom: f64) -> f64 {
    if freedom > 1e6 {
        return NORMAL_QUANTILE;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(NORMAL_QUANTILE, |distribution| distribution.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of twelve rows.
    const LABELS: [bool; 12] = [true, true, true, true, false, false, false, false, false, false, false, false];
    /// For each of the twelve rows, the index of its cell in the order tn, fp, fn, tp.
    const CELLS: [u8; 12] = [3, 3, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0];
    /// The derivatives of a quantity with respect to the four cells, and zeros for the cells that are not used.
    const DERIVATIVES: [f64; 8] = [0.0, -0.3, -0.2, 0.4, 0.0, 0.0, 0.0, 0.0];

    /// The effective number of rows of a sample of twelve rows.
    fn effective_rows(weights: Option<&[f64]>, resampling: Resampling<'_>) -> f64 {
        let rows = Rows::new(Probabilities(&[0.5; 12]), &LABELS).unwrap();
        let rows = weights.map_or(rows, |weights| rows.weighted(weights).unwrap());
        CellSample::new(&rows, &CELLS).effective_rows(&DERIVATIVES, resampling)
    }

    #[test]
    fn the_effective_number_of_independent_rows_with_equal_weights_is_the_number_of_rows() {
        assert!((effective_rows(None, Resampling::Poisson) - 12.0).abs() < 1e-9);
        assert!((effective_rows(Some(&[2.5; 12]), Resampling::Poisson) - 12.0).abs() < 1e-9);
    }

    #[test]
    fn groups_and_blocks_of_one_row_are_treated_as_independent_rows() {
        let own: Vec<u32> = (0..12).collect();
        // With twelve groups of one row, the variance is multiplied by 12/11, and Student's distribution is used instead of the normal one. Both
        // reduce the effective number of rows, which would be 12 for independent rows.
        let groups = effective_rows(None, Resampling::Groups(&own));
        assert!(groups < 11.0 && groups > 5.0, "{groups}");
        let blocks = effective_rows(None, Resampling::Blocks(BlockLength::Rows(1)));
        assert!((blocks - 12.0).abs() < 1e-9, "{blocks}");
    }

    #[test]
    fn the_effective_number_of_rows_is_1_for_a_single_group_and_small_for_long_blocks() {
        assert_eq!(effective_rows(None, Resampling::Groups(&[0; 12])), 1.0);
        let block = |rows| effective_rows(None, Resampling::Blocks(BlockLength::Rows(rows)));
        assert_eq!([block(12), block(1000)], [block(6); 2]);
        assert!(block(6) < 6.0, "{}", block(6));
    }

    #[test]
    fn copies_of_rows_in_the_same_group_do_not_change_the_effective_number_of_rows() {
        let rows = 300usize;
        let cells: Vec<u8> = (0..rows).map(|row| [0, 0, 0, 1, 2, 3, 3][row % 7]).collect();
        let labels: Vec<bool> = cells.iter().map(|cell| *cell > 1).collect();
        let probabilities = vec![0.5; rows];
        let once = Rows::new(Probabilities(&probabilities), &labels).unwrap();
        let own: Vec<u32> = (0..rows as u32).collect();
        let single = CellSample::new(&once, &cells).effective_rows(&DERIVATIVES, Resampling::Groups(&own));
        let (cells, labels, groups) = (cells.repeat(4), labels.repeat(4), own.repeat(4));
        let probabilities = vec![0.5; 4 * rows];
        let copies = Rows::new(Probabilities(&probabilities), &labels).unwrap();
        let repeated = CellSample::new(&copies, &cells).effective_rows(&DERIVATIVES, Resampling::Groups(&groups));
        assert!((single - repeated).abs() < 1e-6, "{single}, {repeated}");
    }

    #[test]
    fn unequal_weights_reduce_the_effective_number_of_rows() {
        let mut weights = [1.0; 12];
        weights[0] = 20.0;
        let effective = effective_rows(Some(&weights), Resampling::Poisson);
        assert!(effective < 8.0, "{effective}");
    }

    #[test]
    fn the_factor_for_estimated_variances_follows_students_distribution() {
        // The 97.5 % quantiles of Student's distribution from tables: 2.2281 for 10 degrees of freedom, 12.706 for 1.
        assert!((share_for(10.0) - (1.959_964f64 / 2.228_139).powi(2)).abs() < 1e-5);
        assert!((share_for(1.0) - (1.959_964f64 / 12.706_205).powi(2)).abs() < 1e-5);
        assert_eq!(share_for(f64::INFINITY), 1.0);
    }
}
