//! Networks that are trained together: one launch of the kernel trains each of them for a few epochs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::size_of;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, LaunchConfig, PushKernelArg,
    ValidAsZeroBits,
};
use scorewise::Prior;
use scorewise_table::error::Result;

use super::source::{self, KernelLayer, THREADS};
use super::{DeviceError, device_error};
use crate::backend::Watch;
use crate::fit::{Epoch, Fit, Phase};
use crate::job::{Dataset, Job};
use crate::learner::Learner;
use crate::network::{Adam, NetworkRun, NetworkShape, log_odds};

/// Greatest number of epochs of a launch.
const MAX_EPOCHS: usize = 32;
/// Rows in all epochs of a launch, about, if the rows are shuffled: the orders of the epochs must be copied to the GPU.
const SHUFFLED_ROWS: usize = 1 << 15;

/// `struct Network` of `network.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct DeviceNetwork {
    parameters: u64,
    mean: u64,
    square: u64,
    best: u64,
    order: u64,
    losses: u64,
    validation: u64,
    prior: u64,
    matrix: u64,
    labels: u64,
    weights: u64,
    lowest: f64,
    power1: f64,
    power2: f64,
    rows: i32,
    validation_rows: i32,
    batch: i32,
    epochs: i32,
    since_best: i32,
    patience: i32,
    done: i32,
    diverged: i32,
    rate: f32,
    decay: f32,
    momentum: f32,
    memory: f32,
    epsilon: f32,
    order_stride: i32,
    stride: i32,
    unused: i32,
}

// SAFETY: the struct has the layout of C and only contains numbers.
unsafe impl DeviceRepr for DeviceNetwork {}
// SAFETY: a number of which all bits are 0 is valid.
unsafe impl ValidAsZeroBits for DeviceNetwork {}

/// `struct Prior` of `network.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct DevicePrior {
    panels: u64,
    segments: i32,
    unused: i32,
    base: f64,
    low: [f64; 4],
    width: [f64; 4],
    count: [i32; 4],
    first: [i32; 4],
    support_low: f64,
    support_high: f64,
}

// SAFETY: the struct has the layout of C and only contains numbers.
unsafe impl DeviceRepr for DevicePrior {}

/// The address of a buffer on the GPU.
fn address<T>(buffer: &CudaSlice<T>, stream: &CudaStream) -> u64 {
    buffer.device_ptr(stream).0
}

/// The rows of a split on the GPU.
type DeviceRows = Arc<CudaSlice<u32>>;

/// The priors of all jobs and the data sets, which all groups read.
pub(super) struct SharedBuffers {
    stream: Arc<CudaStream>,
    /// For each prior, by its text: its address on the GPU, and the buffers that keep it there.
    priors: HashMap<String, (CudaSlice<DevicePrior>, CudaSlice<f64>)>,
    data: Mutex<HashMap<usize, Arc<DeviceData>>>,
    /// The validation rows of each split, by the indices of the data set and of the split.
    splits: Mutex<HashMap<(usize, usize), DeviceRows>>,
}

/// A data set on the GPU.
struct DeviceData {
    matrix: CudaSlice<f32>,
    labels: CudaSlice<u8>,
    weights: Option<CudaSlice<f32>>,
    stride: usize,
}

impl SharedBuffers {
    /// Copies the priors of all jobs to the GPU.
    pub fn new(context: &Arc<CudaContext>, jobs: &[Job]) -> Result<Self> {
        let stream = context.new_stream().map_err(device_error)?;
        let mut priors = HashMap::new();
        for prior in jobs.iter().flat_map(|job| job.objective.priors()) {
            let text = prior.to_string();
            if let Entry::Vacant(entry) = priors.entry(text) {
                entry.insert(upload_prior(&stream, prior).map_err(device_error)?);
            }
        }
        stream.synchronize().map_err(device_error)?;
        Ok(SharedBuffers { stream, priors, data: Mutex::default(), splits: Mutex::default() })
    }

    /// The data set with this index, which is copied to the GPU at the first call.
    fn data(&self, index: usize, dataset: &Dataset) -> std::result::Result<Arc<DeviceData>, DeviceError> {
        let mut known = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = known.get(&index) {
            return Ok(data.clone());
        }
        let (matrix, columns) = (&dataset.matrix, dataset.matrix.columns());
        let values: Vec<f32> = (0..matrix.rows()).flat_map(|row| matrix.row(row)[..columns].iter().copied()).collect();
        let labels: Vec<u8> = dataset.labels.iter().map(|label| u8::from(*label != 0)).collect();
        let data = Arc::new(DeviceData {
            matrix: self.stream.clone_htod(&values)?,
            labels: self.stream.clone_htod(&labels)?,
            weights: match &dataset.weights {
                Some(weights) => Some(self.stream.clone_htod(&weights.to_vec())?),
                None => None,
            },
            stride: columns,
        });
        self.stream.synchronize()?;
        known.insert(index, data.clone());
        Ok(data)
    }

    /// The validation rows of a split, which are copied to the GPU at the first call.
    fn validation(&self, job: &Job, rows: &[u32]) -> std::result::Result<DeviceRows, DeviceError> {
        let mut known = self.splits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = known.get(&(job.dataset, job.split)) {
            return Ok(rows.clone());
        }
        let rows = Arc::new(self.stream.clone_htod(&rows.to_vec())?);
        self.stream.synchronize()?;
        known.insert((job.dataset, job.split), rows.clone());
        Ok(rows)
    }
}

/// Copies a prior to the GPU as piecewise polynomials.
fn upload_prior(
    stream: &Arc<CudaStream>,
    prior: &Prior,
) -> std::result::Result<(CudaSlice<DevicePrior>, CudaSlice<f64>), cudarc::driver::DriverError> {
    let polynomial = prior.piecewise_polynomial();
    let panels: Vec<f64> =
        polynomial.segments.iter().flat_map(|segment| segment.panels.iter().flatten().copied()).collect();
    let panels = stream.clone_htod(&panels)?;
    let (low, high) = prior.support();
    let mut on_device = DevicePrior {
        panels: address(&panels, stream),
        segments: polynomial.segments.len() as i32,
        base: polynomial.base,
        support_low: log_odds(low),
        support_high: log_odds(high),
        ..DevicePrior::default()
    };
    let mut first = 0;
    for (index, segment) in polynomial.segments.iter().enumerate() {
        (on_device.low[index], on_device.width[index]) = (segment.low, segment.width);
        (on_device.count[index], on_device.first[index]) = (segment.panels.len() as i32, first);
        first += segment.panels.len() as i32;
    }
    Ok((stream.clone_htod(&[on_device])?, panels))
}

/// A network in training.
struct Slot<'a> {
    job: usize,
    start: Instant,
    run: NetworkRun<'a>,
    /// The phase whose parameters are on the GPU, counted from 1.
    phase: usize,
    /// The learning rate and the phase of the next epochs.
    next: (Phase, f32),
    data: Arc<DeviceData>,
    validation: DeviceRows,
    prior: u64,
    state: DeviceNetwork,
}

/// A number of places for networks of the same shape and loss, with their buffers on the GPU.
pub(super) struct Group<'a> {
    stream: Arc<CudaStream>,
    function: &'a CudaFunction,
    shape: &'a NetworkShape,
    layers: Vec<KernelLayer>,
    length: usize,
    shared: &'a SharedBuffers,
    size: usize,
    parameters: CudaSlice<f32>,
    mean: CudaSlice<f32>,
    square: CudaSlice<f32>,
    best: CudaSlice<f32>,
    losses: CudaSlice<f64>,
    networks: CudaSlice<DeviceNetwork>,
    orders: CudaSlice<u32>,
    /// Length of the part of `orders` that belongs to one network.
    order_length: usize,
}

impl<'a> Group<'a> {
    /// Reserves `size` places for networks.
    pub fn new(
        context: &Arc<CudaContext>,
        function: &'a CudaFunction,
        shape: &'a NetworkShape,
        size: usize,
        shared: &'a SharedBuffers,
    ) -> Result<Self> {
        let length = source::parameters(shape);
        let new = || -> std::result::Result<Self, DeviceError> {
            let stream = context.new_stream()?;
            let buffer = || stream.alloc_zeros::<f32>(size * length);
            Ok(Group {
                function,
                shape,
                layers: source::layers(shape),
                length,
                shared,
                size,
                parameters: buffer()?,
                mean: buffer()?,
                square: buffer()?,
                best: buffer()?,
                losses: stream.alloc_zeros(size * MAX_EPOCHS * 3)?,
                networks: stream.alloc_zeros(size)?,
                orders: stream.alloc_zeros(1)?,
                order_length: 0,
                stream,
            })
        };
        Ok(new()?)
    }

    /// Trains jobs until `next_job` returns none. Their results are added to `fits`; if a job is stopped, `end` is called.
    pub fn run(
        &mut self,
        datasets: &[Dataset],
        jobs: &[Job],
        next_job: &dyn Fn() -> Option<usize>,
        end: &dyn Fn(),
        watch: &dyn Watch,
        fits: &mut Vec<(usize, Fit)>,
    ) -> Result<()> {
        let samples: Vec<Vec<_>> =
            datasets.iter().map(|data| (0..data.splits.len()).map(|split| data.sample(split)).collect()).collect();
        let mut places: Vec<Option<Slot<'_>>> = (0..self.size).map(|_| None).collect();
        loop {
            for (place, slot) in places.iter_mut().enumerate() {
                while slot.is_none() {
                    let Some(number) = next_job() else { break };
                    let job = &jobs[number];
                    let mut new = self.slot(number, job, &datasets[job.dataset], &samples[job.dataset][job.split])?;
                    match new.run.next_epoch()? {
                        Some(next) => {
                            new.next = next;
                            self.upload(place, &mut new)?;
                            *slot = Some(new);
                        }
                        None => finish(new, watch, fits)?,
                    }
                }
            }
            if places.iter().all(Option::is_none) {
                return Ok(());
            }
            self.launch(&mut places, watch, end)?;
            for (place, slot) in places.iter_mut().enumerate() {
                let Some(current) = slot else { continue };
                match current.run.next_epoch()? {
                    Some(next) => {
                        current.next = next;
                        if current.phase != current.run.phases() {
                            self.upload(place, current)?;
                        }
                    }
                    None => finish(slot.take().expect("the slot is used"), watch, fits)?,
                }
            }
        }
    }

    /// A new training run for a job.
    fn slot<'s>(
        &self,
        number: usize,
        job: &'s Job,
        dataset: &Dataset,
        sample: &'s crate::fit::Sample<'s>,
    ) -> Result<Slot<'s>> {
        let Learner::Network(settings) = &job.learner else {
            return Err(device_error("only networks can be trained"));
        };
        let start = Instant::now();
        let run = NetworkRun::new(settings, &job.objective, job.seed, sample, 1)?;
        let data = self.shared.data(job.dataset, dataset)?;
        let validation = self.shared.validation(job, sample.validation)?;
        let prior = job.objective.priors().first().and_then(|prior| self.shared.priors.get(&prior.to_string()));
        let prior = prior.map_or(0, |(prior, _)| address(prior, &self.stream));
        // SAFETY: all bits 0 are a valid value of every field.
        let state = unsafe { std::mem::zeroed() };
        Ok(Slot { job: number, start, run, phase: 0, next: (Phase::Main, 0.0), data, validation, prior, state })
    }

    /// Copies the parameters of a phase that begins to the GPU.
    fn upload(&mut self, place: usize, slot: &mut Slot<'_>) -> Result<()> {
        let parameters = self.to_device(slot.run.parameters());
        let range = place * self.length..(place + 1) * self.length;
        let copy = || -> std::result::Result<(), DeviceError> {
            self.stream.memcpy_htod(&parameters, &mut self.parameters.slice_mut(range.clone()))?;
            self.stream.memcpy_htod(&parameters, &mut self.best.slice_mut(range.clone()))?;
            self.stream.memset_zeros(&mut self.mean.slice_mut(range.clone()))?;
            self.stream.memset_zeros(&mut self.square.slice_mut(range))?;
            Ok(())
        };
        copy()?;
        slot.phase = slot.run.phases();
        (slot.state.power1, slot.state.power2) = (1.0, 1.0);
        Ok(())
    }

    /// Trains all networks for a few epochs, and tells their courses.
    fn launch(&mut self, places: &mut [Option<Slot<'_>>], watch: &dyn Watch, end: &dyn Fn()) -> Result<()> {
        let adam = Adam::DEFAULTS;
        let mut orders = Vec::new();
        let mut states = Vec::new();
        let longest = places
            .iter()
            .flatten()
            .map(|slot| slot.run.rows() * if is_full_batch(slot) { 1 } else { MAX_EPOCHS.min(most_epochs(slot)) })
            .max()
            .unwrap_or(0);
        if longest > self.order_length {
            self.orders = self.stream.alloc_zeros(longest * self.size).map_err(device_error)?;
            self.order_length = longest;
        }
        for (place, slot) in places.iter_mut().enumerate() {
            let begin = orders.len();
            if let Some(slot) = slot {
                let epochs = epochs_of_launch(slot);
                let rows = slot.run.rows();
                let is_full = is_full_batch(slot);
                for _ in 0..if is_full { 1 } else { epochs } {
                    orders.extend(slot.run.next_order());
                }
                let limits = slot.run.course().limits().ok_or_else(|| device_error("a phase has ended too early"))?;
                let stream = &self.stream;
                let offset =
                    |buffer: &CudaSlice<f32>| address(buffer, stream) + (place * self.length * size_of::<f32>()) as u64;
                let state = &mut slot.state;
                *state = DeviceNetwork {
                    parameters: offset(&self.parameters),
                    mean: offset(&self.mean),
                    square: offset(&self.square),
                    best: offset(&self.best),
                    order: address(&self.orders, stream) + (place * self.order_length * size_of::<u32>()) as u64,
                    losses: address(&self.losses, stream) + (place * MAX_EPOCHS * 3 * size_of::<f64>()) as u64,
                    validation: address(&slot.validation, stream),
                    prior: slot.prior,
                    matrix: address(&slot.data.matrix, stream),
                    labels: address(&slot.data.labels, stream),
                    weights: slot.data.weights.as_ref().map_or(0, |weights| address(weights, stream)),
                    lowest: limits.lowest,
                    rows: rows as i32,
                    validation_rows: slot.validation.len() as i32,
                    batch: slot.run.batch_rows() as i32,
                    epochs: epochs.min(limits.epochs_left) as i32,
                    since_best: limits.since_best as i32,
                    patience: limits.patience as i32,
                    done: 0,
                    diverged: 0,
                    rate: slot.next.1,
                    decay: slot.run.weight_decay(),
                    momentum: adam.0,
                    memory: adam.1,
                    epsilon: adam.2,
                    order_stride: if is_full { 0 } else { rows as i32 },
                    stride: slot.data.stride as i32,
                    unused: 0,
                    ..*state
                };
                states.push(*state);
            }
            orders.resize(begin + if slot.is_some() { self.order_length } else { 0 }, 0);
        }
        // The orders of the used places follow each other in `orders`, so each is copied to its own place.
        let mut run = || -> std::result::Result<(Vec<DeviceNetwork>, Vec<f64>), DeviceError> {
            let used: Vec<usize> = (0..places.len()).filter(|place| places[*place].is_some()).collect();
            for (index, place) in used.iter().enumerate() {
                let from = &orders[index * self.order_length..(index + 1) * self.order_length];
                let range = place * self.order_length..(place + 1) * self.order_length;
                self.stream.memcpy_htod(from, &mut self.orders.slice_mut(range))?;
            }
            self.stream.memcpy_htod(&states, &mut self.networks)?;
            let config = LaunchConfig {
                grid_dim: (states.len() as u32, 1, 1),
                block_dim: (THREADS as u32, 1, 1),
                shared_mem_bytes: source::shared_bytes(self.shape) as u32,
            };
            let mut builder = self.stream.launch_builder(self.function);
            builder.arg(&self.networks);
            // SAFETY: the kernel gets the addresses of buffers that are as long as it expects.
            unsafe { builder.launch(config) }?;
            let states = self.stream.clone_dtoh(&self.networks)?;
            let losses = self.stream.clone_dtoh(&self.losses)?;
            self.stream.synchronize()?;
            Ok((states, losses))
        };
        let (states, losses) = run()?;
        let mut states = states.into_iter();
        for (place, slot) in places.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            slot.state = states.next().expect("one state for each used place");
            let done = slot.state.done as usize;
            let course = slot.run.course();
            for losses in losses[place * MAX_EPOCHS * 3..].chunks_exact(3).take(done) {
                let epoch =
                    Epoch { phase: slot.next.0, training: losses[0], validation: losses[1], coverage: losses[2] };
                let stop = watch.epoch(slot.job, course.epoch_number(), &epoch).is_break();
                if stop {
                    end();
                }
                course.record(epoch, stop);
                if course.limits().is_none() {
                    break;
                }
            }
            if slot.state.diverged != 0 {
                course.diverged();
            }
            if slot.run.course().limits().is_none() {
                let range = place * self.length..(place + 1) * self.length;
                let stream = &self.stream;
                let read = |buffer: &CudaSlice<f32>| stream.clone_dtoh(&buffer.slice(range.clone()));
                let (parameters, best) =
                    (read(&self.parameters).map_err(device_error)?, read(&self.best).map_err(device_error)?);
                self.stream.synchronize().map_err(device_error)?;
                let length = slot.run.parameters().len();
                slot.run.set_parameters(&self.to_host(&parameters, length), &self.to_host(&best, length));
            }
        }
        Ok(())
    }

    /// The parameters in the order of the kernel.
    fn to_device(&self, parameters: &[f32]) -> Vec<f32> {
        let mut list = vec![0.0; self.length];
        self.for_each_parameter(|host, device| list[device] = parameters[host]);
        list
    }

    /// The parameters in the order of a [`Network`](crate::network::Network).
    fn to_host(&self, parameters: &[f32], length: usize) -> Vec<f32> {
        let mut list = vec![0.0; length];
        self.for_each_parameter(|host, device| list[host] = parameters[device]);
        list
    }

    /// Calls `visit` with the positions of each parameter in the list of a [`Network`](crate::network::Network) and in that of the kernel.
    fn for_each_parameter(&self, mut visit: impl FnMut(usize, usize)) {
        for (layer, layout) in self.layers.iter().zip(self.shape.layers()) {
            for output in 0..layer.outputs {
                for input in 0..layer.inputs {
                    visit(layout.weights + output * layout.stride + input, layer.start + input * layer.padded + output);
                }
                visit(layout.biases + output, layer.start + layer.inputs * layer.padded + output);
            }
        }
    }
}

/// Whether a batch of the network contains all training rows.
fn is_full_batch(slot: &Slot<'_>) -> bool {
    slot.run.batch_rows() >= slot.run.rows()
}

/// The greatest number of epochs of a launch for this network.
fn most_epochs(slot: &Slot<'_>) -> usize {
    if is_full_batch(slot) { MAX_EPOCHS } else { (SHUFFLED_ROWS / slot.run.rows()).clamp(1, MAX_EPOCHS) }
}

/// The number of epochs of the next launch for this network.
fn epochs_of_launch(slot: &mut Slot<'_>) -> usize {
    let left = slot.run.course().limits().map_or(1, |limits| limits.epochs_left);
    most_epochs(slot).min(left).max(1)
}

/// Adds the result of a finished job to the list.
fn finish(slot: Slot<'_>, watch: &dyn Watch, fits: &mut Vec<(usize, Fit)>) -> Result<()> {
    let (job, seconds) = (slot.job, slot.start.elapsed().as_secs_f64());
    let fit = slot.run.finish();
    watch.finished(job, &fit, seconds)?;
    fits.push((job, fit));
    Ok(())
}
