//! The instruction set that the kernels run with, chosen at run time: one binary runs anywhere.

use super::lanes::{Lanes, Portable};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m512};

/// An instruction set that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Arrays of eight, whatever the compiler makes of them.
    Portable,
    /// AVX2 with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best that this machine has.
    #[must_use]
    pub fn best() -> Self {
        Level::all().pop().unwrap_or(Level::Portable)
    }

    /// All that this machine has, the best last.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        levels.extend([Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_here()));
        levels
    }

    /// Whether this machine has it.
    fn is_here(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Level::Avx2.is_here() && is_x86_feature_detected!("avx512f"),
        }
    }
}

/// Work written once over a vector register. `with` must be `#[inline(always)]`, or the instructions do not reach it.
pub(crate) trait Work {
    /// # Safety
    /// Called only by [`run`], where the instructions of `V` are.
    unsafe fn with<V: Lanes>(self);
}

/// Does the work with the registers of a level; the level falls back to the portable one where the machine lacks it.
pub(crate) fn run<W: Work>(level: Level, work: W) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor was asked.
        Level::Avx512 if level.is_here() => unsafe { avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor was asked.
        Level::Avx2 if level.is_here() => unsafe { avx2(work) },
        // SAFETY: arrays need no instructions.
        _ => unsafe { work.with::<Portable>() },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<W: Work>(work: W) {
    // SAFETY: inside a function that has the instructions.
    unsafe { work.with::<__m256>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512<W: Work>(work: W) {
    // SAFETY: inside a function that has the instructions.
    unsafe { work.with::<__m512>() }
}
