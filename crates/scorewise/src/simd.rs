//! One body, compiled for several instruction sets, the best one chosen at run time.
//!
//! The loops are plain Rust that the compiler vectorises; `#[target_feature]` lets it use AVX2 or AVX-512 in a binary that
//! runs anywhere. Nothing is reordered, so all levels give the same bits (tested).

/// A loop worth compiling more than once. `run` must be `#[inline(always)]`, or the features do not reach it.
pub(crate) trait Vectorised {
    type Output;
    fn run(self) -> Self::Output;
}

/// The instruction sets that get their own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best that this machine has. (On aarch64 NEON is part of the portable code.)
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Portable
    }
}

/// Runs the body compiled for this level.
pub(crate) fn vectorised_at<W: Vectorised>(level: Level, work: W) -> W::Output {
    match level {
        Level::Portable => work.run(),
        // SAFETY: `Level::best` is the only source of the higher levels, and it has asked the processor.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(work) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<W: Vectorised>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<W: Vectorised>(work: W) -> W::Output {
    work.run()
}
