//! Trains hundreds of small networks at once on a GPU of NVIDIA. One block of threads trains one network, so a GPU with 132 multiprocessors trains
//! about 400 networks at the same time.
//!
//! ```text
//! jobs that the kernel can train     groups of networks ─▶ a launch trains each network of the group for a few epochs ─▶ the course of each network
//!                                                 ▲                                                                          decides what comes next
//!                                                 └── a finished network gives its place to a waiting job ◀────────────────────────┘
//! all other jobs                     the threads of this machine, at the same time
//! ```
//!
//! Batches, initial weights and the stopping rule are those of [`Cpu`], for the same seed. Sums are in another order, so the weights differ in their
//! last digits. Driver and compiler (NVRTC) are loaded when they are needed, so the program also runs on machines without them.
//!
//! | file | contents |
//! |---|---|
//! | `source` | writes the source of the kernel for a shape and a loss |
//! | `network.cu` | the kernel: the steps of one epoch and the validation loss |
//! | `group` | networks that are trained together by one launch at a time |

mod group;
mod source;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute_enum};
use cudarc::driver::{CudaContext, CudaFunction, DriverError};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use scorewise_table::error::{Error, Result};
use scorewise_table::setting::Setting;

use super::{Backend, Cpu, Watch};
use crate::fit::{Fit, Objective};
use crate::job::{Dataset, Job};
use crate::learner::Learner;
use crate::network::{NetworkShape, Optimiser};
use group::{Group, SharedBuffers};

/// Greatest number of groups, each with a thread that waits for the GPU: a GPU runs at most 32 queues of launches at the same time. The driver uses
/// only 8 of them unless the environment variable `CUDA_DEVICE_MAX_CONNECTIONS` is 32, which the command sets when it starts.
const MAX_GROUPS: usize = 32;
/// Greatest number of segments (ranges of logits) of a prior that the kernel can use.
const MAX_SEGMENTS: usize = 4;

/// Trains networks on a GPU, and everything else on the threads of this machine.
#[derive(Debug)]
pub struct Cuda {
    context: Arc<CudaContext>,
    /// The threads for jobs that the GPU cannot train.
    cpu: Cpu,
    /// The kernels that have been compiled, by their source.
    kernels: Mutex<HashMap<String, CudaFunction>>,
}

/// The error for a problem of the driver or of the compiler.
fn device_error(problem: impl std::fmt::Display) -> Error {
    let hint = format!("train with `{}`", Setting("device").to("cpu"));
    Error::setting("device", format!("the GPU cannot be used: {problem}"), hint)
}

impl From<DriverError> for DeviceError {
    fn from(error: DriverError) -> Self {
        DeviceError(device_error(error))
    }
}

/// An error of the driver, as the error that the user sees.
struct DeviceError(Error);

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        error.0
    }
}

/// What the jobs of one launch have in common: the source of their kernel, and the shape of their networks.
struct NetworkKernel {
    source: String,
    shape: NetworkShape,
}

impl Cuda {
    /// Opens the first GPU. Jobs that it cannot train run on `threads` threads of this machine. An error says why there is no GPU.
    pub fn open(threads: usize) -> Result<Self> {
        // SAFETY: both functions only try to load a library.
        let (driver, compiler) =
            unsafe { (cudarc::driver::sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !driver {
            return Err(device_error("there is no driver of NVIDIA (libcuda)"));
        }
        if !compiler {
            return Err(device_error("CUDA's compiler library (libnvrtc) was not found"));
        }
        let context = CudaContext::new(0).map_err(device_error)?;
        // SAFETY: every buffer is used by one stream only, and freed after this stream has been synchronised.
        unsafe { context.disable_event_tracking() };
        context.set_blocking_synchronize().map_err(device_error)?;
        Ok(Cuda { context, cpu: Cpu { threads }, kernels: Mutex::default() })
    }

    /// The name of the GPU.
    pub fn name(&self) -> Result<String> {
        self.context.name().map_err(device_error)
    }

    /// The shape of the network of a job that a kernel may be able to train; `None` if none can, whatever the loss.
    fn shape_for(datasets: &[Dataset], job: &Job) -> Option<NetworkShape> {
        let Learner::Network(settings) = &job.learner else { return None };
        let sample = datasets.get(job.dataset)?.sample(job.split);
        if sample.binned.is_some() || settings.optimiser != Optimiser::Adam || sample.places.is_some() {
            return None;
        }
        let shape = settings.shape(&sample, job.objective.outputs(sample.classes)).ok()?;
        // A warm-up has another loss and so another kernel, which these launches do not have.
        let has_warm_up = settings.warm_start_for(&job.objective, shape.outputs()).is_some();
        (source::fits(&shape) && !has_warm_up).then_some(shape)
    }

    /// The kernel for networks of this shape and this loss; `None` if there is none.
    fn kernel_for(shape: NetworkShape, objective: &Objective) -> Option<NetworkKernel> {
        let segments = objective.priors().first().map_or(0, |prior| prior.piecewise_polynomial().segments.len());
        let source = source::source(&shape, objective).filter(|_| segments <= MAX_SEGMENTS)?;
        Some(NetworkKernel { source, shape })
    }

    /// The index of a kernel in the queue. It is compiled and added unless the queue has it already: losses that differ only in their prior have the
    /// same kernel.
    fn add_kernel(&self, queue: &mut Queue, kernel: NetworkKernel) -> Result<usize> {
        if let Some(index) = queue.kernels.iter().position(|(known, _)| known.source == kernel.source) {
            return Ok(index);
        }
        let function = self.compile(&kernel)?;
        queue.kernels.push((kernel, function));
        queue.waiting.get_mut().unwrap_or_else(PoisonError::into_inner).push(VecDeque::new());
        Ok(queue.kernels.len() - 1)
    }

    /// Compiles the kernel with this source, unless it has been compiled before.
    fn compile(&self, kernel: &NetworkKernel) -> Result<CudaFunction> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = kernels.get(&kernel.source) {
            return Ok(function.clone());
        }
        let (major, minor) = self.context.compute_capability().map_err(device_error)?;
        let options = CompileOptions {
            options: vec![format!("-arch=sm_{major}{minor}"), "-std=c++17".into()],
            ..CompileOptions::default()
        };
        let compiled = compile_ptx_with_opts(&kernel.source, options).map_err(device_error)?;
        let function = self
            .context
            .load_module(compiled)
            .and_then(|module| module.load_function("train"))
            .map_err(device_error)?;
        let bytes = source::shared_bytes(&kernel.shape) as i32;
        function
            .set_attribute(CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
            .map_err(device_error)?;
        kernels.insert(kernel.source.clone(), function.clone());
        Ok(function)
    }
}

/// The jobs that wait for the GPU, by their kernel.
struct Queue {
    kernels: Vec<(NetworkKernel, CudaFunction)>,
    waiting: Mutex<Vec<VecDeque<usize>>>,
    /// Whether a job has failed or was stopped, so that no other job may begin.
    ended: AtomicBool,
}

impl Queue {
    /// The index of the kernel with the most waiting jobs; `None` if no job is waiting.
    fn longest(&self) -> Option<usize> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = waiting.iter().enumerate().max_by_key(|(index, jobs)| (jobs.len(), usize::MAX - index))?;
        (!longest.1.is_empty() && !self.is_ended()).then_some(longest.0)
    }

    /// The next job for a kernel; `None` if no job is waiting for it.
    fn next(&self, kernel: usize) -> Option<usize> {
        if self.is_ended() {
            return None;
        }
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)[kernel].pop_front()
    }

    fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// Jobs of a longer list, for the backend of the CPU. The watch gets the numbers that the jobs have in the longer list.
struct Renumbered<'a> {
    watch: &'a dyn Watch,
    numbers: &'a [usize],
}

impl Watch for Renumbered<'_> {
    fn epoch(&self, job: usize, number: usize, epoch: &crate::fit::Epoch) -> std::ops::ControlFlow<()> {
        self.watch.epoch(self.numbers[job], number, epoch)
    }

    fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    fn finished(&self, job: usize, fit: &Fit, seconds: f64) -> Result<()> {
        self.watch.finished(self.numbers[job], fit, seconds)
    }
}

impl Backend for Cuda {
    fn fit(&self, datasets: &[Dataset], jobs: &[Job], watch: &dyn Watch) -> Result<Vec<Option<Fit>>> {
        let mut queue = Queue { kernels: Vec::new(), waiting: Mutex::default(), ended: AtomicBool::new(false) };
        let mut on_cpu = Vec::new();
        // The index of the kernel for each shape with each loss. Many jobs have the same, and to write a kernel takes long.
        let mut known: Vec<(NetworkShape, &Objective, Option<usize>)> = Vec::new();
        for (number, job) in jobs.iter().enumerate() {
            let Some(shape) = Cuda::shape_for(datasets, job) else {
                on_cpu.push(number);
                continue;
            };
            let found = known.iter().find(|(other, objective, _)| *other == shape && **objective == job.objective);
            let kernel = match found {
                Some((_, _, kernel)) => *kernel,
                None => {
                    let kernel = match Cuda::kernel_for(shape.clone(), &job.objective) {
                        Some(kernel) => Some(self.add_kernel(&mut queue, kernel)?),
                        None => None,
                    };
                    known.push((shape, &job.objective, kernel));
                    kernel
                }
            };
            match kernel {
                Some(kernel) => {
                    queue.waiting.get_mut().unwrap_or_else(PoisonError::into_inner)[kernel].push_back(number);
                }
                None => on_cpu.push(number),
            }
        }
        let mut results: Vec<Option<Fit>> = jobs.iter().map(|_| None).collect();
        let multiprocessors = self
            .context
            .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(device_error)? as usize;
        let on_gpu = jobs.len() - on_cpu.len();
        let groups = MAX_GROUPS.min(on_gpu);
        let group_size = |shape: &NetworkShape| {
            (multiprocessors * source::blocks(shape)).div_ceil(groups.max(1)).min(on_gpu.div_ceil(groups.max(1)))
        };
        let shared = SharedBuffers::new(&self.context, jobs)?;
        let work = || -> Result<Vec<(usize, Fit)>> {
            let mut fits = Vec::new();
            while let Some(kernel) = queue.longest() {
                let (NetworkKernel { shape, .. }, function) = &queue.kernels[kernel];
                let mut group = Group::new(&self.context, function, shape, group_size(shape), &shared)?;
                group.run(datasets, jobs, &|| queue.next(kernel), &|| queue.end(), watch, &mut fits)?;
            }
            Ok(fits)
        };
        let work = || {
            let result = work();
            if result.is_err() {
                queue.end();
            }
            result
        };
        let (fits, cpu_fits) = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..groups).map(|_| scope.spawn(work)).collect();
            let cpu_jobs: Vec<Job> = on_cpu.iter().map(|number| jobs[*number].clone()).collect();
            let cpu_fits = match cpu_jobs.is_empty() {
                true => Ok(Vec::new()),
                false => self.cpu.fit(datasets, &cpu_jobs, &Renumbered { watch, numbers: &on_cpu }),
            };
            let fits: Vec<Result<Vec<(usize, Fit)>>> = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            (fits, cpu_fits)
        });
        for fit in fits {
            for (number, fit) in fit? {
                results[number] = Some(fit);
            }
        }
        for (number, fit) in on_cpu.iter().zip(cpu_fits?) {
            results[*number] = fit;
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use scorewise::{CrossEntropy, Loss, Prior, Score, ScoreLoss};

    use super::*;

    /// Compiles the kernel for a shape, a loss and a compute capability such as 90. No GPU is needed.
    fn compile(shape: &NetworkShape, objective: &Objective, capability: u32) {
        let source = source::source(shape, objective).expect("the kernel has this loss");
        let options = CompileOptions {
            options: vec![format!("-arch=sm_{capability}"), "-std=c++17".into()],
            ..CompileOptions::default()
        };
        if let Err(error) = compile_ptx_with_opts(&source, options) {
            panic!("{shape:?}, {objective:?}: {error}");
        }
    }

    #[test]
    #[ignore = "needs the library NVRTC, but no GPU; the last steps of ./check run it"]
    fn kernels_compile_for_every_score_and_many_shapes() {
        let adult = NetworkShape::new(48, &[50, 20, 5], 1).unwrap();
        let small = NetworkShape::new(3, &[4], 1).unwrap();
        let score_loss = |score: Score| Objective::Binary(Loss::Score(ScoreLoss::new(score, Prior::uniform())));
        let cross_entropy = Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain()));
        let csi = score_loss(Score::parse("csi").unwrap());
        let mut cases = vec![
            (adult.clone(), cross_entropy.clone(), 80),
            (adult.clone(), csi.clone(), 80),
            (adult, csi.clone(), 90),
        ];
        cases.extend(Score::all().map(|score| (small.clone(), score_loss(score), 90)));
        for (inputs, hidden) in [(8, vec![15, 8]), (64, vec![64, 64]), (1, vec![]), (5, vec![1, 3, 2])] {
            let shape = NetworkShape::new(inputs, &hidden, 1).unwrap();
            cases.extend([(shape.clone(), csi.clone(), 80), (shape, cross_entropy.clone(), 90)]);
        }
        let next = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while let Some((shape, objective, capability)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        compile(shape, objective, *capability);
                    }
                });
            }
        });
    }

    #[test]
    fn networks_that_the_kernel_cannot_train_are_recognised() {
        let fits = |inputs: usize, hidden: &[usize], outputs: usize| {
            source::fits(&NetworkShape::new(inputs, hidden, outputs).unwrap())
        };
        assert!(fits(48, &[50, 20, 5], 1) && fits(1, &[], 1) && fits(64, &[64, 64], 1));
        assert!(!fits(48, &[50, 20, 5], 3), "many classes");
        assert!(!fits(65, &[8], 1) && !fits(8, &[65], 1), "too many inputs or units");
        assert!(!source::fits(&NetworkShape::look_up(vec![5, 6], &[8], 1).unwrap()), "binned columns");
    }
}
