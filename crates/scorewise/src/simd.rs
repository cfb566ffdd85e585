//! Compiles one loop for several instruction sets and selects the best compiled version at run time.
//!
//! The loops are plain Rust that the compiler vectorises; `#[target_feature]` lets it use AVX2 or AVX-512 in a portable
//! binary. No operation is reordered, so all instruction sets give the same bits; a test checks this.

/// A loop that is compiled for each instruction set. `run` must be `#[inline(always)]`; otherwise it is compiled without the target
/// features of its caller.
pub(crate) trait Vectorised {
    /// The result of the loop.
    type Output;
    /// Runs the loop and returns its result.
    fn run(self) -> Self::Output;
}

/// An instruction set for which the inner loops are compiled. The whole workspace uses this type to find out what a machine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionSet {
    /// The instructions that every machine of the compilation target has. (On aarch64 they include NEON.)
    Portable,
    /// AVX2 with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The AVX-512 extensions F, BW, DQ and VL, which every processor with AVX-512 has, except Xeon Phi.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// The best instruction set that this machine supports.
    #[must_use]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        for instructions in [InstructionSet::Avx512, InstructionSet::Avx2] {
            if instructions.is_supported() {
                return instructions;
            }
        }
        InstructionSet::Portable
    }

    /// All instruction sets that this machine supports, the best one last.
    #[must_use]
    pub fn supported() -> Vec<Self> {
        let all = [
            InstructionSet::Portable,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512,
        ];
        all.into_iter().filter(|instructions| instructions.is_supported()).collect()
    }

    /// Whether this machine supports the instruction set.
    #[must_use]
    pub fn is_supported(self) -> bool {
        match self {
            InstructionSet::Portable => true,
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => {
                InstructionSet::Avx2.is_supported()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }
}

/// Runs the loop compiled for this instruction set, or the portable loop if this machine does not support the instruction set.
pub(crate) fn run_vectorised<V: Vectorised>(instructions: InstructionSet, body: V) -> V::Output {
    match instructions {
        // SAFETY: `is_supported` has confirmed that the processor has AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 if instructions.is_supported() => unsafe { run_with_avx2(body) },
        // SAFETY: `is_supported` has confirmed that the processor has FMA and the four AVX-512 extensions.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 if instructions.is_supported() => unsafe { run_with_avx512(body) },
        _ => body.run(),
    }
}

/// Runs the loop, compiled with AVX2 and fused multiply-add instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_with_avx2<V: Vectorised>(body: V) -> V::Output {
    body.run()
}

/// Runs the loop, compiled with AVX-512 and fused multiply-add instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn run_with_avx512<V: Vectorised>(body: V) -> V::Output {
    body.run()
}
