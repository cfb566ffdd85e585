//! Compiles one loop for several instruction sets and selects the best one at run time.
//!
//! The loops are plain Rust that the compiler vectorises; `#[target_feature]` lets it use AVX2 or AVX-512 in a portable
//! binary. No operation is reordered, so all instruction sets give the same bits (tested).

/// A loop that is compiled for each instruction set. `run` must be `#[inline(always)]`, so that it is compiled with the target features.
pub(crate) trait Vectorised {
    type Output;
    fn run(self) -> Self::Output;
}

/// The instruction sets for which loops are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// The best instruction set of this machine. (On aarch64, NEON is part of the portable code.)
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                return InstructionSet::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return InstructionSet::Avx2;
            }
        }
        InstructionSet::Portable
    }
}

/// Runs the loop compiled for this instruction set.
pub(crate) fn run_vectorised<V: Vectorised>(instructions: InstructionSet, body: V) -> V::Output {
    match instructions {
        InstructionSet::Portable => body.run(),
        // SAFETY: only `InstructionSet::best` returns the higher sets, after detecting that the processor supports them.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => unsafe { avx2(body) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => unsafe { avx512(body) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<V: Vectorised>(body: V) -> V::Output {
    body.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<V: Vectorised>(body: V) -> V::Output {
    body.run()
}
