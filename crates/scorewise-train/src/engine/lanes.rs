//! A vector register, whichever the machine has: what the kernels are written over.
//!
//! The kernels need their sums to stay in registers, which the compiler's own vectoriser does not promise; so they are written
//! once over this trait, with intrinsics beneath for AVX-512 and AVX2 and plain arrays elsewhere.

/// A handful of f32 that are computed with at once.
///
/// # Safety
/// The methods may use instructions that only the level has for which the type is: call them only inside
/// [`run`](super::level::run) of that level, and with pointers to at least `WIDTH` numbers.
pub(crate) trait Lanes: Copy {
    /// How many numbers.
    const WIDTH: usize;
    /// How many sums of vectors a kernel may keep: those registers that are not needed for what is multiplied.
    const SUMS: usize;
    unsafe fn splat(value: f32) -> Self;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn store(self, to: *mut f32);
    /// self · factor + term.
    unsafe fn fused(self, factor: Self, term: Self) -> Self;
    unsafe fn plus(self, other: Self) -> Self;
    /// self where it is above 0, else 0.
    unsafe fn positive_part(self) -> Self;
    /// self where `gate` is above 0, else 0.
    unsafe fn where_positive(self, gate: Self) -> Self;
    /// The sum of all lanes, in a fixed order.
    unsafe fn sum(self) -> f32;
    /// A hint that the cache line here will soon be read.
    #[inline(always)]
    unsafe fn expect_at(_: *const f32) {}
    /// Eight runs of eight numbers, turned: to[b][a] = from[a][b], runs `from_stride` and `to_stride` apart.
    unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        for a in 0..8 {
            for b in 0..8 {
                // SAFETY: the caller gives room for eight runs of eight on both sides.
                unsafe { *to.add(b * to_stride + a) = *from.add(a * from_stride + b) };
            }
        }
    }
}

/// Eight numbers as an array: any machine.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; 8]);

impl Lanes for Portable {
    const WIDTH: usize = 8;
    const SUMS: usize = 12;
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Portable([value; 8])
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives room for eight.
        Portable(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for eight.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn fused(self, factor: Self, term: Self) -> Self {
        // Two roundings: without the instruction a fused product would be a call of the library for every number.
        Portable(std::array::from_fn(|k| self.0[k] * factor.0[k] + term.0[k]))
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Portable(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
    #[inline(always)]
    unsafe fn positive_part(self) -> Self {
        Portable(self.0.map(|x| if x > 0.0 { x } else { 0.0 }))
    }
    #[inline(always)]
    unsafe fn where_positive(self, gate: Self) -> Self {
        Portable(std::array::from_fn(|k| if gate.0[k] > 0.0 { self.0[k] } else { 0.0 }))
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        let x = self.0;
        ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    /// Four numbers of a run, and four of the run four further on.
    #[inline(always)]
    unsafe fn pair(from: *const f32, stride: usize) -> __m256 {
        // SAFETY: as the caller's.
        unsafe {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(from));
            _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(from.add(4 * stride)))
        }
    }

    /// Eight by eight in sixteen shuffles: the halves of two runs are put together while loading, which costs no shuffle.
    #[inline(always)]
    unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
        // SAFETY: only called where AVX is, with room for eight runs of eight on both sides.
        unsafe {
            for half in 0..2 {
                let from = from.add(4 * half);
                let (a, b) = (pair(from, from_stride), pair(from.add(from_stride), from_stride));
                let (c, d) =
                    (pair(from.add(2 * from_stride), from_stride), pair(from.add(3 * from_stride), from_stride));
                let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                let to = to.add(4 * half * to_stride);
                _mm256_storeu_ps(to, _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low));
                _mm256_storeu_ps(to.add(to_stride), _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low));
                _mm256_storeu_ps(to.add(2 * to_stride), _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high));
                _mm256_storeu_ps(to.add(3 * to_stride), _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high));
            }
        }
    }

    impl Lanes for __m256 {
        const WIDTH: usize = 8;
        const SUMS: usize = 12;
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: only called where AVX2 and FMA are; see the trait. So below.
            unsafe { _mm256_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: as above, and the caller gives room for eight.
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as above.
            unsafe { _mm256_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn fused(self, factor: Self, term: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm256_fmadd_ps(self, factor, term) }
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm256_add_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn positive_part(self) -> Self {
            // SAFETY: as above. The second operand is returned for NaN: 0.
            unsafe { _mm256_max_ps(self, _mm256_setzero_ps()) }
        }
        #[inline(always)]
        unsafe fn where_positive(self, gate: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm256_and_ps(self, _mm256_cmp_ps::<_CMP_GT_OQ>(gate, _mm256_setzero_ps())) }
        }
        #[inline(always)]
        unsafe fn expect_at(place: *const f32) {
            // SAFETY: a hint; it reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
        }
        #[inline(always)]
        unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
            // SAFETY: as above.
            unsafe { turn(from, from_stride, to, to_stride) }
        }
        #[inline(always)]
        unsafe fn sum(self) -> f32 {
            // SAFETY: as above.
            unsafe {
                let half = _mm_add_ps(_mm256_castps256_ps128(self), _mm256_extractf128_ps::<1>(self));
                let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
                _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
            }
        }
    }

    impl Lanes for __m512 {
        const WIDTH: usize = 16;
        const SUMS: usize = 24;
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: only called where AVX-512 is; see the trait. So below.
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: as above, and the caller gives room for sixteen.
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn fused(self, factor: Self, term: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_fmadd_ps(self, factor, term) }
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_add_ps(self, other) }
        }
        #[inline(always)]
        unsafe fn positive_part(self) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_max_ps(self, _mm512_setzero_ps()) }
        }
        #[inline(always)]
        unsafe fn where_positive(self, gate: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate, _mm512_setzero_ps());
                _mm512_maskz_mov_ps(above, self)
            }
        }
        #[inline(always)]
        unsafe fn expect_at(place: *const f32) {
            // SAFETY: a hint; it reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
        }
        #[inline(always)]
        unsafe fn turn(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
            // SAFETY: as above.
            unsafe { turn(from, from_stride, to, to_stride) }
        }
        #[inline(always)]
        unsafe fn sum(self) -> f32 {
            // SAFETY: as above.
            unsafe { _mm512_reduce_add_ps(self) }
        }
    }
}
