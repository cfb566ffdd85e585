//! Runs code that is written over [`SimdVector`] with the vector registers of an instruction set that is chosen at run time, so that one
//! binary runs on every machine.

use scorewise::InstructionSet;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m512};

use super::simd_vector::{Portable, SimdVector};

/// A computation that is written once for every kind of vector register. `run_with` must be `#[inline(always)]`, so that it is compiled
/// with the target features of its caller.
pub(crate) trait SimdTask {
    /// # Safety
    /// Only [`run`] may call it, in a function that is compiled with the instructions of `V`.
    unsafe fn run_with<V: SimdVector>(self);
}

/// Runs a task with the registers of an instruction set, or with the portable code if this machine does not support the set.
pub(crate) fn run<T: SimdTask>(instructions: InstructionSet, task: T) {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the instructions.
        InstructionSet::Avx512 if instructions.is_supported() => unsafe { avx512(task) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor supports the instructions.
        InstructionSet::Avx2 if instructions.is_supported() => unsafe { avx2(task) },
        // SAFETY: arrays need no special instructions.
        _ => unsafe { task.run_with::<Portable>() },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<T: SimdTask>(task: T) {
    // SAFETY: this function is compiled with the instructions of the register.
    unsafe { task.run_with::<__m256>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512<T: SimdTask>(task: T) {
    // SAFETY: this function is compiled with the instructions of the register.
    unsafe { task.run_with::<__m512>() }
}
