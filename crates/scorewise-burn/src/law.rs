//! F(σ(z)) and dF/dz on a device: the core's polynomials by one lookup and Horner's rule.
//!
//! ```text
//! F = base + Σ over stretches of Vᵢ(s)        i = the panel that z lies in, s = 2 (z − its middle)/width ∈ [−1, 1]
//! ```
//!
//! In f32 the place of z among thousands of panels has few digits left for its place within one, so s is taken from the panel's middle, which
//! the table holds in two parts: what f32 keeps of it, and the rest.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use scorewise::Prior;
use scorewise::prior::{COEFFICIENTS, Pieces, Stretch};

/// A prior, ready for tensors.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    pieces: Pieces,
}

impl Law {
    pub fn new(prior: &Prior) -> Self {
        Law { pieces: prior.pieces() }
    }

    /// F(σ(z)) and its slope by z. What is no number stays so.
    pub fn value_and_slope(&self, z: &Tensor<1>) -> (Tensor<1>, Tensor<1>) {
        let mut value = z.full_like(self.pieces.base);
        let mut slope = z.zeros_like();
        for stretch in &self.pieces.stretches {
            let (part, rise) = part(stretch, z);
            value = value + part;
            slope = slope + rise;
        }
        let is_bad = z.clone().is_nan();
        (value.mask_fill(is_bad.clone(), f64::NAN), slope.mask_fill(is_bad, f64::NAN))
    }
}

/// What a stretch adds to F, and to its slope.
fn part(stretch: &Stretch, z: &Tensor<1>) -> (Tensor<1>, Tensor<1>) {
    let table = Table::new(stretch, &z.device(), z.dtype());
    let (low, high) = (stretch.low, stretch.low + stretch.width * stretch.panels.len() as f64);
    let inside = z.clone().clamp(low, high);
    let place = inside.clone().sub_scalar(low).div_scalar(stretch.width);
    // Clamped as an integer too: what a device makes of NaN is its own affair, but must not lead out of the table.
    let number = place.int().clamp(0, stretch.panels.len() as i64 - 1);
    let s = inside - table.column(MIDDLE, &number) - table.column(MIDDLE_REST, &number);
    let s = s.mul_scalar(2.0 / stretch.width).clamp(-1.0, 1.0);

    let mut value = table.column(COEFFICIENTS - 1, &number);
    let mut slope = value.zeros_like();
    for power in (0..COEFFICIENTS - 1).rev() {
        slope = slope * s.clone() + value.clone();
        value = value * s.clone() + table.column(power, &number);
    }
    let outside = z.clone().lower_scalar(low).bool_or(z.clone().greater_equal_scalar(high));
    (value, slope.mul_scalar(2.0 / stretch.width).mask_fill(outside, 0.0))
}

/// The columns of a table after those of the coefficients.
const MIDDLE: usize = COEFFICIENTS;
const MIDDLE_REST: usize = COEFFICIENTS + 1;
const COLUMNS: usize = COEFFICIENTS + 2;

/// The panels of a stretch as columns on a device.
struct Table {
    columns: Tensor<2>,
    panels: usize,
}

impl Table {
    fn new(stretch: &Stretch, device: &Device, dtype: DType) -> Self {
        let panels = stretch.panels.len();
        let middle = |panel: usize| stretch.low + (panel as f64 + 0.5) * stretch.width;
        let kept = |value: f64| if dtype == DType::F64 { value } else { f64::from(value as f32) };
        let mut columns = Vec::with_capacity(COLUMNS * panels);
        for power in 0..COEFFICIENTS {
            columns.extend(stretch.panels.iter().map(|panel| panel[power]));
        }
        columns.extend((0..panels).map(|panel| kept(middle(panel))));
        columns.extend((0..panels).map(|panel| middle(panel) - kept(middle(panel))));
        Table { columns: Tensor::from_data(TensorData::new(columns, [COLUMNS, panels]), (device, dtype)), panels }
    }

    /// One column at the panels of all rows.
    fn column(&self, column: usize, panels: &Tensor<1, Int>) -> Tensor<1> {
        self.columns.clone().narrow(0, column, 1).reshape([self.panels]).select(0, panels.clone())
    }
}
