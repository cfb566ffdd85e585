//! Runs code that is generic over [`SimdVector`] with an instruction set that is chosen at run time, so that one binary runs on every machine
//! and uses the best instructions of each.

use scorewise::InstructionSet;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m512};

use super::simd_vector::{Portable, SimdVector};

/// A computation that is generic over the type of vector register. `run_with` must be `#[inline(always)]`, so that it is compiled with the
/// target features of its caller.
pub(crate) trait SimdTask {
    /// Runs the computation with vector registers of type `V`.
    ///
    /// # Safety
    /// `run_with` may be called only from a function that is compiled with the instructions of `V`. Call [`run`] instead, which ensures this.
    unsafe fn run_with<V: SimdVector>(self);
}

/// Runs a task with the given instruction set, or with portable code if this machine does not support that instruction set.
pub(crate) fn run<T: SimdTask>(instructions: InstructionSet, task: T) {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the match guard `is_supported` ensures that the processor supports AVX-512.
        InstructionSet::Avx512 if instructions.is_supported() => unsafe { run_with_avx512(task) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the match guard `is_supported` ensures that the processor supports AVX2 and FMA.
        InstructionSet::Avx2 if instructions.is_supported() => unsafe { run_with_avx2(task) },
        // SAFETY: `Portable` consists of plain arrays, which need no special instructions.
        _ => unsafe { task.run_with::<Portable>() },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn run_with_avx2<T: SimdTask>(task: T) {
    // SAFETY: this function is compiled with AVX2 and FMA, which the register type `__m256` needs.
    unsafe { task.run_with::<__m256>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn run_with_avx512<T: SimdTask>(task: T) {
    // SAFETY: this function is compiled with AVX-512, which the register type `__m512` needs.
    unsafe { task.run_with::<__m512>() }
}
