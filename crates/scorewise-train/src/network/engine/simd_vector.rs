//! The vector registers with which the kernels compute.
//!
//! The kernels are fast only if their sums stay in registers, which automatic vectorisation does not guarantee. So the kernels are generic over
//! the trait [`SimdVector`], which is implemented with intrinsics for AVX-512 and AVX2 and with plain arrays for every other machine.

/// A vector register of `WIDTH` f32 numbers.
///
/// # Safety
/// The methods of an implementation use the instructions of its instruction set. Call them only inside [`run`](super::simd_task::run) with this
/// instruction set. The pointers of `load` and `store` must be valid for `WIDTH` numbers.
pub(crate) trait SimdVector: Copy {
    /// How many f32 numbers a register holds.
    const WIDTH: usize;
    /// Number of registers that a kernel may use as accumulators; the other registers hold the factors of the products.
    const ACCUMULATORS: usize;
    unsafe fn splat(value: f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn store(self, to: *mut f32);
    /// `self` · `factor` + `term`; rounded only once if the instruction set has a fused multiply-add.
    unsafe fn multiply_add(self, factor: Self, term: Self) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    unsafe fn times(self, other: Self) -> Self;
    /// The maximum of `self` and 0 in each lane; 0 where `self` is NaN.
    unsafe fn positive_part(self) -> Self;
    /// `self` in the lanes where `gate` > 0, and 0 in the other lanes.
    unsafe fn keep_where_positive(self, gate: Self) -> Self;
    /// The larger of `self` and `other` in each lane; `other` where `self` is NaN.
    unsafe fn maximum(self, other: Self) -> Self;
    /// The sum of all lanes, added in a fixed order.
    unsafe fn sum(self) -> f32;
    /// Hints that the cache line at this address will soon be read.
    #[inline(always)]
    unsafe fn prefetch_at(_: *const f32) {}
    /// `self` / (√`square` + `epsilon`) in each lane. Every lane of `square` must be positive and not denormal.
    unsafe fn over_root(self, square: Self, epsilon: Self) -> Self;
    /// Transposes a block of 16 rows and 4 columns: to[column][row] = from[row][column]. Each row of `from` must have 4 numbers. `to` must have room
    /// for 4 columns of 16 numbers, which begin `stride` numbers apart.
    unsafe fn transpose(from: &[*const f32; 16], to: *mut f32, stride: usize) {
        for (row, from) in from.iter().enumerate() {
            for column in 0..4 {
                // SAFETY: the caller guarantees that all sixteen rows have four numbers, and that there is room for four columns of sixteen numbers.
                unsafe { *to.add(column * stride + row) = *from.add(column) };
            }
        }
    }
}

/// An array of eight numbers, for machines without AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; 8]);

impl SimdVector for Portable {
    const WIDTH: usize = 8;
    const ACCUMULATORS: usize = 12;
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Portable([value; 8])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller guarantees that the pointer is valid for eight numbers.
        Portable(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller guarantees that the pointer is valid for eight numbers.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn multiply_add(self, factor: Self, term: Self) -> Self {
        // The result is rounded twice. `f32::mul_add` would round once, but without hardware support it is a library call for every number.
        Portable(std::array::from_fn(|k| self.0[k] * factor.0[k] + term.0[k]))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Portable(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        Portable(std::array::from_fn(|k| self.0[k] * other.0[k]))
    }
    #[inline(always)]
    unsafe fn positive_part(self) -> Self {
        Portable(self.0.map(|x| if x > 0.0 { x } else { 0.0 }))
    }
    #[inline(always)]
    unsafe fn keep_where_positive(self, gate: Self) -> Self {
        Portable(std::array::from_fn(|k| if gate.0[k] > 0.0 { self.0[k] } else { 0.0 }))
    }
    #[inline(always)]
    unsafe fn maximum(self, other: Self) -> Self {
        Portable(std::array::from_fn(|k| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] }))
    }
    #[inline(always)]
    unsafe fn over_root(self, square: Self, epsilon: Self) -> Self {
        Portable(std::array::from_fn(|k| self.0[k] / (square.0[k].sqrt() + epsilon.0[k])))
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        let x = self.0;
        ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::SimdVector;
    use std::arch::x86_64::*;

    impl SimdVector for __m256 {
        const WIDTH: usize = 8;
        const ACCUMULATORS: usize = 12;
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2 and FMA.
            unsafe { _mm256_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2 and that `from` points to eight numbers.
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller guarantees that the processor supports AVX2 and that there is room for eight numbers.
            unsafe { _mm256_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn multiply_add(self, factor: Self, term: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2 and FMA.
            unsafe { _mm256_fmadd_ps(self, factor, term) }
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2.
            unsafe { _mm256_add_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn times(self, other: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2.
            unsafe { _mm256_mul_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn positive_part(self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2. If `self` is NaN, the instruction returns 0.
            unsafe { _mm256_max_ps(self, _mm256_setzero_ps()) }
        }
        #[inline(always)]
        unsafe fn keep_where_positive(self, gate: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2.
            unsafe { _mm256_and_ps(self, _mm256_cmp_ps::<_CMP_GT_OQ>(gate, _mm256_setzero_ps())) }
        }
        #[inline(always)]
        unsafe fn prefetch_at(address: *const f32) {
            // SAFETY: a prefetch is only a hint to the processor, so any address is allowed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
        }
        #[inline(always)]
        unsafe fn transpose(from: &[*const f32; 16], to: *mut f32, stride: usize) {
            // SAFETY: the caller guarantees that the processor supports AVX2, that each of the 16 rows has 4 numbers, and that `to`
            // has room for the 4 columns.
            unsafe {
                for half in [0, 8] {
                    let four = |at: usize| {
                        let low = _mm256_castps128_ps256(_mm_loadu_ps(from[half + at]));
                        _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(from[half + at + 4]))
                    };
                    let (a, b, c, d) = (four(0), four(1), four(2), four(3));
                    let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                    let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                    let to = to.add(half);
                    _mm256_storeu_ps(to, _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low));
                    _mm256_storeu_ps(to.add(stride), _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low));
                    _mm256_storeu_ps(to.add(2 * stride), _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high));
                    _mm256_storeu_ps(to.add(3 * stride), _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high));
                }
            }
        }
        #[inline(always)]
        unsafe fn maximum(self, other: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2. If `self` is NaN, the instruction returns `other`.
            unsafe { _mm256_max_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn over_root(self, square: Self, epsilon: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX2.
            unsafe { _mm256_div_ps(self, _mm256_add_ps(_mm256_sqrt_ps(square), epsilon)) }
        }
        #[inline(always)]
        unsafe fn sum(self) -> f32 {
            // SAFETY: the caller guarantees that the processor supports AVX2.
            unsafe {
                let half = _mm_add_ps(_mm256_castps256_ps128(self), _mm256_extractf128_ps::<1>(self));
                let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
                _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
            }
        }
    }

    impl SimdVector for __m512 {
        const WIDTH: usize = 16;
        const ACCUMULATORS: usize = 24;
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512 and that `from` points to sixteen numbers.
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller guarantees that the processor supports AVX-512 and that there is room for sixteen numbers.
            unsafe { _mm512_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn multiply_add(self, factor: Self, term: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_fmadd_ps(self, factor, term) }
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_add_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn times(self, other: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_mul_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn positive_part(self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_max_ps(self, _mm512_setzero_ps()) }
        }
        #[inline(always)]
        unsafe fn keep_where_positive(self, gate: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe {
                let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate, _mm512_setzero_ps());
                _mm512_maskz_mov_ps(above, self)
            }
        }
        #[inline(always)]
        unsafe fn prefetch_at(address: *const f32) {
            // SAFETY: a prefetch is only a hint to the processor, so any address is allowed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
        }
        /// Transposes 64 numbers with only eight shuffles, because groups of four numbers are combined while they are loaded. Shuffles are the
        /// bottleneck: only one of the processor's two execution ports for vector arithmetic can shuffle.
        #[inline(always)]
        unsafe fn transpose(from: &[*const f32; 16], to: *mut f32, stride: usize) {
            // SAFETY: the caller guarantees that the processor supports AVX-512, that each of the 16 rows has 4 numbers, and that `to`
            // has room for the 4 columns.
            unsafe {
                let mut fours = [_mm512_setzero_ps(); 4];
                for (at, four) in fours.iter_mut().enumerate() {
                    *four = _mm512_castps128_ps512(_mm_loadu_ps(from[at]));
                    *four = _mm512_insertf32x4::<1>(*four, _mm_loadu_ps(from[at + 4]));
                    *four = _mm512_insertf32x4::<2>(*four, _mm_loadu_ps(from[at + 8]));
                    *four = _mm512_insertf32x4::<3>(*four, _mm_loadu_ps(from[at + 12]));
                }
                let [a, b, c, d] = fours;
                let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
                let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
                _mm512_storeu_ps(to, _mm512_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low));
                _mm512_storeu_ps(to.add(stride), _mm512_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low));
                _mm512_storeu_ps(to.add(2 * stride), _mm512_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high));
                _mm512_storeu_ps(to.add(3 * stride), _mm512_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high));
            }
        }
        #[inline(always)]
        unsafe fn maximum(self, other: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_max_ps(self, other) }
        }
        /// Computes the square root and the quotient without the exact instructions, because each of those occupies the processor's only divider for
        /// the time of a dozen multiplications. Instead, each result comes from an estimate with 14 correct bits and one Newton step, which doubles
        /// the number of correct bits. The error is at most two units in the last place.
        #[inline(always)]
        unsafe fn over_root(self, square: Self, epsilon: Self) -> Self {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe {
                let estimate = _mm512_rsqrt14_ps(square);
                let root = _mm512_mul_ps(square, estimate);
                // A Newton step replaces `root` by root + ½ · root · (1 − root · estimate), where `estimate` approximates 1 / √`square`.
                let half = _mm512_mul_ps(_mm512_set1_ps(0.5), root);
                let root = _mm512_fmadd_ps(half, _mm512_fnmadd_ps(root, estimate, _mm512_set1_ps(1.0)), root);
                let divisor = _mm512_add_ps(root, epsilon);
                let estimate = _mm512_rcp14_ps(divisor);
                let quotient = _mm512_mul_ps(self, estimate);
                _mm512_fmadd_ps(estimate, _mm512_fnmadd_ps(divisor, quotient, self), quotient)
            }
        }
        #[inline(always)]
        unsafe fn sum(self) -> f32 {
            // SAFETY: the caller guarantees that the processor supports AVX-512.
            unsafe { _mm512_reduce_add_ps(self) }
        }
    }
}
