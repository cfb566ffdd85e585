//! F(σ(z)) and its derivative dF/dz, computed on a device. F is the cumulative distribution function of the prior of the threshold.
//!
//! `scorewise` approximates the function z ↦ F(σ(z)) by polynomials. A segment is a range of z that is divided into panels, which are intervals of
//! equal width with one polynomial each. There may be several segments, and each contributes one term to a sum:
//!
//! ```text
//! F(σ(z)) = base + Σ Vᵢ(s)        s = 2 (z − centre)/width ∈ [−1, 1]
//! ```
//!
//! Here base is the value of F(σ(z)) for z below all segments. In the term of a segment, i is the panel that contains z, Vᵢ is its polynomial, centre
//! is its centre, and width is its width. If z lies outside a segment, the term is evaluated at the nearest end of the segment. This module looks up
//! the polynomials and evaluates them by Horner's rule.
//!
//! With thousands of panels, the quotient (z − lowest z of the segment)/width is so large that f32 has few digits left for its fractional part.
//! Therefore s is computed from the centre of the panel, which the table stores as two numbers: the centre rounded to f32, and the remainder.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use scorewise::Prior;
use scorewise::prior::{COEFFICIENTS, PiecewisePolynomial, Segment};

/// The cumulative distribution function F of a prior, approximated by polynomials. It gives F(σ(z)) for a tensor of logits z.
#[derive(Clone, Debug)]
pub(crate) struct PriorCdf {
    pieces: PiecewisePolynomial,
}

impl PriorCdf {
    /// Computes the polynomials that approximate the distribution function of this prior.
    pub fn new(prior: &Prior) -> Self {
        PriorCdf { pieces: prior.piecewise_polynomial() }
    }

    /// Returns F(σ(z)) and its derivative with respect to the logits z, where F is the cumulative distribution function of the prior. Both are NaN
    /// where z is NaN.
    pub fn value_and_derivative(&self, z: &Tensor<1>) -> (Tensor<1>, Tensor<1>) {
        let mut value = z.full_like(self.pieces.base);
        let mut derivative = z.zeros_like();
        for segment in &self.pieces.segments {
            let (segment_value, segment_derivative) = segment_value_and_derivative(segment, z);
            value = value + segment_value;
            derivative = derivative + segment_derivative;
        }
        let is_nan = z.clone().is_nan();
        (value.mask_fill(is_nan.clone(), f64::NAN), derivative.mask_fill(is_nan, f64::NAN))
    }
}

/// Returns what one segment (a range of logits z, divided into panels) contributes to F(σ(z)) and to its derivative with respect to z. F is the
/// cumulative distribution function of the prior.
fn segment_value_and_derivative(segment: &Segment, z: &Tensor<1>) -> (Tensor<1>, Tensor<1>) {
    let table = PanelTable::new(segment, &z.device(), z.dtype());
    let (low, high) = (segment.low, segment.low + segment.width * segment.panels.len() as f64);
    let clamped = z.clone().clamp(low, high);
    let position = clamped.clone().sub_scalar(low).div_scalar(segment.width);
    // Devices differ in how they convert NaN to an integer, so the index of the panel is clamped to the size of the table.
    let panel = position.int().clamp(0, segment.panels.len() as i64 - 1);
    let s = clamped - table.lookup(CENTRE_COLUMN, &panel) - table.lookup(REMAINDER_COLUMN, &panel);
    let s = s.mul_scalar(2.0 / segment.width).clamp(-1.0, 1.0);

    let mut value = table.lookup(COEFFICIENTS - 1, &panel);
    let mut derivative = value.zeros_like();
    for power in (0..COEFFICIENTS - 1).rev() {
        derivative = derivative * s.clone() + value.clone();
        value = value * s.clone() + table.lookup(power, &panel);
    }
    let is_outside = z.clone().lower_scalar(low).bool_or(z.clone().greater_equal_scalar(high));
    (value, derivative.mul_scalar(2.0 / segment.width).mask_fill(is_outside, 0.0))
}

/// The index of the column of [`PanelTable`] that holds the centre of each panel (interval of logits). The centres are rounded to f32 unless the
/// table is f64.
const CENTRE_COLUMN: usize = COEFFICIENTS;
/// The index of the column of [`PanelTable`] that holds, for each panel (interval of logits), its exact centre minus its rounded centre.
const REMAINDER_COLUMN: usize = COEFFICIENTS + 1;
/// The number of columns of a [`PanelTable`].
const COLUMNS: usize = COEFFICIENTS + 2;

/// A table on the device for one segment. A segment is a range of logits that is divided into short intervals, the panels, with one polynomial each.
/// For each panel, the table holds the coefficients of the polynomial and the centre of the panel.
struct PanelTable {
    /// The table as a tensor `[COLUMNS, panels]`, in which each row holds a column of the table.
    columns: Tensor<2>,
    panels: usize,
}

impl PanelTable {
    /// Creates the table of a segment on the device, with numbers of the type `dtype`.
    fn new(segment: &Segment, device: &Device, dtype: DType) -> Self {
        let panels = segment.panels.len();
        let centre = |panel: usize| segment.low + (panel as f64 + 0.5) * segment.width;
        let rounded = |value: f64| if dtype == DType::F64 { value } else { f64::from(value as f32) };
        let mut columns = Vec::with_capacity(COLUMNS * panels);
        for power in 0..COEFFICIENTS {
            columns.extend(segment.panels.iter().map(|panel| panel[power]));
        }
        columns.extend((0..panels).map(|panel| rounded(centre(panel))));
        columns.extend((0..panels).map(|panel| centre(panel) - rounded(centre(panel))));
        PanelTable { columns: Tensor::from_data(TensorData::new(columns, [COLUMNS, panels]), (device, dtype)), panels }
    }

    /// Looks up one value for each row of a batch, in the given column of the table. `panel_of_row` is the index of the panel (interval of logits)
    /// that contains the logit of the row.
    fn lookup(&self, column: usize, panel_of_row: &Tensor<1, Int>) -> Tensor<1> {
        self.columns.clone().narrow(0, column, 1).reshape([self.panels]).select(0, panel_of_row.clone())
    }
}
