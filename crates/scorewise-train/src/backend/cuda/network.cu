// Trains networks with dense layers, ReLU between them and one logit for each row. Each block of threads trains one network for a few epochs.
//
// The parameters of the network and the activations of 64 rows are in shared memory. Every thread owns the same weights in every step, so their Adam
// moments stay in its registers. A batch of more than 64 rows is divided into chunks of 64 rows, which go through the network twice: first to compute
// the loss of the whole batch, then to compute the gradient.
//
// The code before this file defines, for the shape and the loss of the networks:
//   LAYERS                    number of layers
//   CROSS_ENTROPY             1 for cross-entropy, 0 for the loss of a score, whose function `score_loss` is defined then
//   FORWARD, GRADIENTS, ...   one call of a function template for each layer

#define ROWS 64
#define STRIDE 68  // distance between the activations of two units; the 4 extra numbers avoid conflicts between memory banks
#define THREADS 256

struct Network {
  float* parameters;      // for every layer the weights by input, padded to a multiple of 4 outputs, then the biases
  float* mean;            // Adam's running mean of the gradient
  float* square;          // Adam's running mean of the squared gradient
  float* best;            // the parameters with the lowest validation loss
  const unsigned* order;  // the training rows in the order of each epoch
  double* losses;         // for each epoch: training loss, validation loss, share of predictions inside the support of the prior
  const unsigned* validation;
  const struct Prior* prior;  // null for cross-entropy
  const float* matrix;
  const unsigned char* labels;
  const float* weights;   // null if all rows have weight 1
  double lowest;          // the lowest validation loss of the phase so far
  double power1, power2;  // momentum and memory of Adam, to the power of the number of steps so far
  int rows, validation_rows;
  int batch;
  int epochs;             // the greatest number of epochs of this launch
  int since_best;         // number of epochs since the lowest validation loss
  int patience;
  int done;               // result: number of epochs whose losses were written
  int diverged;           // result: whether the next epoch led to a number that is not finite
  float rate;
  float decay;
  float momentum, memory, epsilon;
  int order_stride;       // 0 if all epochs have the same order
  int stride;             // numbers in a row of the matrix
  int unused;
};

struct Prior {
  const double* panels;   // nine coefficients for each panel of each segment
  int segments, unused;
  double base;
  double low[4], width[4];
  int count[4], first[4];
  double support_low, support_high;  // as logits
};

struct Data {
  const float* matrix;
  const unsigned char* labels;
  const float* weights;   // null if all rows have weight 1
  int stride;
};

// Shared memory. The order of the parameters is that of Network::parameters.
struct Shared {
  float labels[ROWS];
  float weights[ROWS];
  float logits[ROWS];     // then the derivatives of the loss with respect to the logits
  double partial[2][8];
  double sums[8];
  double training;
  float by_positive, by_negative;
  double positive_scale, negative_scale;
  float minus_rate_over_correction;
  float inverse_root_correction;
  int steps;
  int flag;
};

template <int N> __device__ inline void load(const float* from, float (&to)[N]) {
  if constexpr (N == 4) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x; to[1] = four.y; to[2] = four.z; to[3] = four.w;
  } else if constexpr (N == 2) {
    const float2 two = *reinterpret_cast<const float2*>(from);
    to[0] = two.x; to[1] = two.y;
  } else {
    to[0] = *from;
  }
}

// The outputs of a layer with K inputs and O outputs. A thread computes tiles of TO outputs x TR rows.
template <int K, int O, int TO, int TR, bool RELU>
__device__ inline void forward(const float* weights, const float* in, float* out) {
  constexpr int PADDED = (O + 3) / 4 * 4, ROW_TILES = ROWS / TR, TILES = (O + TO - 1) / TO * ROW_TILES;
  for (int tile = threadIdx.x; tile < TILES; tile += THREADS) {
    const int row = tile % ROW_TILES * TR, first = tile / ROW_TILES * TO;
    float sum[TO][TR], weight[TO], value[TR];
    load<TO>(weights + K * PADDED + first, weight);
    for (int i = 0; i < TO; ++i) for (int j = 0; j < TR; ++j) sum[i][j] = weight[i];
#pragma unroll 4
    for (int k = 0; k < K; ++k) {
      load<TO>(weights + k * PADDED + first, weight);
      load<TR>(in + k * STRIDE + row, value);
#pragma unroll
      for (int i = 0; i < TO; ++i)
#pragma unroll
        for (int j = 0; j < TR; ++j) sum[i][j] = fmaf(weight[i], value[j], sum[i][j]);
    }
#pragma unroll
    for (int i = 0; i < TO; ++i)
      if (first + i < O)
#pragma unroll
        for (int j = 0; j < TR; ++j) out[(first + i) * STRIDE + row + j] = RELU ? fmaxf(sum[i][j], 0.0f) : sum[i][j];
  }
}

// Adds the gradient of the weights of a layer to `gradient`. The thread owns TK x TO weights; neighbouring threads own neighbouring outputs.
template <int K, int O, int TK, int TO>
__device__ inline void add_gradient(const float* in, const float* delta, float (&gradient)[TK * TO], float& bias) {
  constexpr int NK = (K + TK - 1) / TK, NO = (O + TO - 1) / TO;
  if (threadIdx.x < NK * NO) {
    const int k = threadIdx.x / NO, o = threadIdx.x % NO;
    const float *ins[TK], *deltas[TO];
#pragma unroll
    for (int i = 0; i < TK; ++i) ins[i] = in + min(k + i * NK, K - 1) * STRIDE;
#pragma unroll
    for (int j = 0; j < TO; ++j) deltas[j] = delta + min(o + j * NO, O - 1) * STRIDE;
    for (int row = 0; row < ROWS; row += 4) {
      float values[TK][4], derivatives[TO][4];
#pragma unroll
      for (int i = 0; i < TK; ++i) load<4>(ins[i] + row, values[i]);
#pragma unroll
      for (int j = 0; j < TO; ++j) load<4>(deltas[j] + row, derivatives[j]);
#pragma unroll
      for (int i = 0; i < TK; ++i)
#pragma unroll
        for (int j = 0; j < TO; ++j)
#pragma unroll
          for (int r = 0; r < 4; ++r) gradient[i * TO + j] = fmaf(values[i][r], derivatives[j][r], gradient[i * TO + j]);
    }
  }
  // The last threads sum the gradient of the biases, because the first ones have most of the weights.
  const int output = THREADS - 1 - threadIdx.x;
  if (output < O) {
    for (int row = 0; row < ROWS; row += 4) {
      float derivatives[4];
      load<4>(delta + output * STRIDE + row, derivatives);
      bias += (derivatives[0] + derivatives[1]) + (derivatives[2] + derivatives[3]);
    }
  }
}

// The derivatives of the loss with respect to the inputs of a layer, which replace the inputs: first in registers, then `store_delta` writes them.
template <int K, int O, int TK, int TR>
__device__ inline void input_delta(const float* weights, const float* delta, float (&out)[TK * TR]) {
  constexpr int PADDED = (O + 3) / 4 * 4, ROW_TILES = ROWS / TR, TILES = (K + TK - 1) / TK * ROW_TILES;
  if (threadIdx.x >= TILES) return;
  const int row = threadIdx.x % ROW_TILES * TR, first = threadIdx.x / ROW_TILES * TK;
#pragma unroll
  for (int i = 0; i < TK * TR; ++i) out[i] = 0.0f;
  const float* lines[TK];
#pragma unroll
  for (int i = 0; i < TK; ++i) lines[i] = weights + min(first + i, K - 1) * PADDED;
#pragma unroll 4
  for (int o = 0; o < O; ++o) {
    float value[TR];
    load<TR>(delta + o * STRIDE + row, value);
#pragma unroll
    for (int i = 0; i < TK; ++i) {
      const float weight = lines[i][o];
#pragma unroll
      for (int j = 0; j < TR; ++j) out[i * TR + j] = fmaf(weight, value[j], out[i * TR + j]);
    }
  }
}

template <int K, int TK, int TR>
__device__ inline void store_delta(float* activations, const float (&delta)[TK * TR]) {
  constexpr int ROW_TILES = ROWS / TR, TILES = (K + TK - 1) / TK * ROW_TILES;
  if (threadIdx.x >= TILES) return;
  const int row = threadIdx.x % ROW_TILES * TR, first = threadIdx.x / ROW_TILES * TK;
#pragma unroll
  for (int i = 0; i < TK; ++i)
    if (first + i < K)
#pragma unroll
      for (int j = 0; j < TR; ++j) {
        float* at = activations + (first + i) * STRIDE + row + j;
        *at = *at > 0.0f ? delta[i * TR + j] : 0.0f;
      }
}

struct Step {
  float minus_rate, root, momentum, memory, epsilon, shrink;
};

__device__ inline float adam(float parameter, float gradient, float& mean, float& square, const Step& step) {
  mean = fmaf(step.momentum, mean, (1.0f - step.momentum) * gradient);
  square = fmaf(step.memory, square, (1.0f - step.memory) * gradient * gradient);
  return fmaf(step.minus_rate, mean / fmaf(sqrtf(square), step.root, step.epsilon), parameter);
}

// Applies the gradient to the weights that the thread owns, and sets it to 0.
template <int K, int O, int TK, int TO>
__device__ inline void update(float* weights, float (&gradient)[TK * TO], float (&mean)[TK * TO], float (&square)[TK * TO], float& bias,
                              float& bias_mean, float& bias_square, const Step& step) {
  constexpr int PADDED = (O + 3) / 4 * 4, NK = (K + TK - 1) / TK, NO = (O + TO - 1) / TO;
  if (threadIdx.x < NK * NO) {
    const int k = threadIdx.x / NO, o = threadIdx.x % NO;
#pragma unroll
    for (int i = 0; i < TK; ++i)
#pragma unroll
      for (int j = 0; j < TO; ++j) {
        if (k + i * NK < K && o + j * NO < O) {
          float* at = weights + (k + i * NK) * PADDED + o + j * NO;
          *at = adam(fmaf(-step.shrink, *at, *at), gradient[i * TO + j], mean[i * TO + j], square[i * TO + j], step);
        }
        gradient[i * TO + j] = 0.0f;
      }
  }
  const int output = THREADS - 1 - threadIdx.x;
  if (output < O) {
    float* at = weights + K * PADDED + output;
    *at = adam(*at, bias, bias_mean, bias_square, step);
    bias = 0.0f;
  }
}

// Copies the moments of the weights that the thread owns from (STORE: to) global memory.
template <int K, int O, int TK, int TO, bool STORE>
__device__ inline void moments(float* stored, float (&owned)[TK * TO], float& bias) {
  constexpr int PADDED = (O + 3) / 4 * 4, NK = (K + TK - 1) / TK, NO = (O + TO - 1) / TO;
  if (threadIdx.x < NK * NO) {
    const int k = threadIdx.x / NO, o = threadIdx.x % NO;
#pragma unroll
    for (int i = 0; i < TK; ++i)
#pragma unroll
      for (int j = 0; j < TO; ++j) {
        if (k + i * NK < K && o + j * NO < O) {
          float* at = stored + (k + i * NK) * PADDED + o + j * NO;
          if (STORE) *at = owned[i * TO + j]; else owned[i * TO + j] = *at;
        } else if (!STORE) {
          owned[i * TO + j] = 0.0f;
        }
      }
  }
  const int output = THREADS - 1 - threadIdx.x;
  if (output < O) {
    float* at = stored + K * PADDED + output;
    if (STORE) *at = bias; else bias = *at;
  }
}

// F(sigmoid(z)) of the prior, and its derivative with respect to z.
__device__ inline void prior_value(const Prior& prior, double z, double& value, double& derivative) {
  value = prior.base;
  derivative = 0.0;
  for (int segment = 0; segment < prior.segments; ++segment) {
    const double position = (z - prior.low[segment]) / prior.width[segment];
    const int last = prior.count[segment] - 1;
    const int panel = min(static_cast<int>(fmin(fmax(position, 0.0), 1e9)), last);
    const double s = fmin(fmax(2.0 * (position - panel) - 1.0, -1.0), 1.0);
    const double* coefficients = prior.panels + 9 * (prior.first[segment] + panel);
    double polynomial = coefficients[8], slope = 0.0;
    for (int power = 7; power >= 0; --power) {
      slope = fma(slope, s, polynomial);
      polynomial = fma(polynomial, s, coefficients[power]);
    }
    value += polynomial;
    if (position >= 0.0 && position < prior.count[segment]) derivative += slope * 2.0 / prior.width[segment];
  }
}

// Copies 64 rows to shared memory; rows after the last one have weight 0.
__device__ inline void load_rows(const Data& data, const unsigned* rows, int count, float* inputs, Shared& shared) {
  const int row = threadIdx.x % ROWS;
  const unsigned index = rows[min(row, count - 1)];
  const float* values = data.matrix + static_cast<size_t>(index) * data.stride;
  for (int column = threadIdx.x / ROWS; column < INPUTS; column += THREADS / ROWS) inputs[column * STRIDE + row] = values[column];
  if (threadIdx.x < ROWS) {
    shared.labels[row] = data.labels[index];
    shared.weights[row] = row < count ? (data.weights ? data.weights[index] : 1.0f) : 0.0f;
  }
}

// Adds the sums of the loss over the 64 rows to shared.sums: the weight of positives and of negatives, the sum of F (or of the loss of a row) of
// positives and of negatives, the number of predictions inside the support. Must be followed by a barrier.
__device__ inline void add_sums(const Prior& prior, Shared& shared, int count) {
  if (threadIdx.x < ROWS) {
    const int row = threadIdx.x;
    const double z = shared.logits[row], weight = shared.weights[row];
    double value, derivative;
#if CROSS_ENTROPY
    const double margin = shared.labels[row] != 0.0f ? z : -z;
    value = fmax(-margin, 0.0) + log1p(exp(-fabs(margin)));
    const double inside = 1.0;
#else
    prior_value(prior, z, value, derivative);
    const double inside = prior.support_low < z && z < prior.support_high ? 1.0 : 0.0;
#endif
    const bool positive = shared.labels[row] != 0.0f;
    double sums[6] = {positive ? weight : 0.0, positive ? 0.0 : weight, positive ? weight * value : 0.0, positive ? 0.0 : weight * value,
                      row < count ? inside : 0.0, row < count && !isfinite(shared.logits[row]) ? 1.0 : 0.0};
#pragma unroll
    for (int i = 0; i < 6; ++i) {
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) sums[i] += __shfl_down_sync(0xffffffff, sums[i], offset);
      if (row % 32 == 0) shared.partial[row / 32][i] = sums[i];
    }
  }
  __syncthreads();
  if (threadIdx.x < 6) shared.sums[threadIdx.x] += shared.partial[0][threadIdx.x] + shared.partial[1][threadIdx.x];
}

// The loss of shared.sums and its derivatives, by one thread. Returns NaN if a logit is not finite.
__device__ inline double batch_loss(Shared& shared, double& by_positive, double& by_negative) {
  const double* sums = shared.sums;
  by_positive = by_negative = 0.0;
  if (sums[5] > 0.0) return nan("");
#if CROSS_ENTROPY
  const double total = POSITIVE_WEIGHT * sums[0] + NEGATIVE_WEIGHT * sums[1];
  by_positive = total > 0.0 ? POSITIVE_WEIGHT / total : 0.0;
  by_negative = total > 0.0 ? NEGATIVE_WEIGHT / total : 0.0;
  return by_positive * sums[2] + by_negative * sums[3];
#else
  double value;
  score_loss(sums[1] - sums[3], sums[3], sums[0] - sums[2], sums[2], sums[0], sums[1], value, by_positive, by_negative);
  if (sums[0] == 0.0) by_positive = 0.0;
  if (sums[1] == 0.0) by_negative = 0.0;
  by_positive = isnan(by_positive) ? 0.0 : fmin(fmax(by_positive, -1e290), 1e290);
  by_negative = isnan(by_negative) ? 0.0 : fmin(fmax(by_negative, -1e290), 1e290);
  return value;
#endif
}

// Replaces the logits in shared memory by the derivatives of the loss.
__device__ inline void logit_delta(const Prior& prior, Shared& shared) {
  if (threadIdx.x < ROWS) {
    const int row = threadIdx.x;
    const double z = shared.logits[row], weight = shared.weights[row];
    const bool positive = shared.labels[row] != 0.0f;
#if CROSS_ENTROPY
    const double p = 1.0 / (1.0 + exp(-z));
    const double delta = weight * (positive ? shared.positive_scale * (p - 1.0) : shared.negative_scale * p);
#else
    double value, derivative;
    prior_value(prior, z, value, derivative);
    const double delta = weight * derivative * (positive ? shared.positive_scale : shared.negative_scale);
#endif
    shared.logits[row] = static_cast<float>(delta);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) train(Network* networks) {
  extern __shared__ __align__(16) float memory[];
  float* parameters = memory;
  float* activations = memory + PARAMETERS;
  Shared& shared = *reinterpret_cast<Shared*>(memory + PARAMETERS + UNITS * STRIDE);
  Network& network = networks[blockIdx.x];
  const Data data = {network.matrix, network.labels, network.weights, network.stride};
  const Prior& prior = *network.prior;
  for (int i = threadIdx.x; i < PARAMETERS; i += THREADS) parameters[i] = network.parameters[i];
  OWNED
  LOAD_MOMENTS
  double power1 = network.power1, power2 = network.power2;
  double lowest = network.lowest;
  int since_best = network.since_best, epoch = 0, diverged = 0;
  __syncthreads();
  while (epoch < network.epochs && since_best < network.patience && !diverged) {
    const unsigned* order = network.order + static_cast<size_t>(epoch) * network.order_stride;
    double training = 0.0;
    int steps = 0;
    for (int begin = 0; begin < network.rows && !diverged; begin += network.batch) {
      const int end = min(begin + network.batch, network.rows);
      const bool single = end - begin <= ROWS;
      if (threadIdx.x < 8) shared.sums[threadIdx.x] = 0.0;
      __syncthreads();
      for (int at = begin; at < end; at += ROWS) {
        load_rows(data, order + at, min(ROWS, end - at), activations, shared);
        __syncthreads();
        FORWARD
        add_sums(prior, shared, min(ROWS, end - at));
        __syncthreads();
      }
      power1 *= network.momentum;
      power2 *= network.memory;
      if (threadIdx.x == 0) {
        double by_positive, by_negative;
        const double value = batch_loss(shared, by_positive, by_negative);
        shared.positive_scale = by_positive;
        shared.negative_scale = by_negative;
        shared.training = value;
      }
      __syncthreads();
      const double value = shared.training;
      if (!isfinite(value)) { diverged = 1; break; }
      training += value;
      ++steps;
      for (int at = begin; at < end; at += ROWS) {
        if (!single) {
          load_rows(data, order + at, min(ROWS, end - at), activations, shared);
          __syncthreads();
          FORWARD
        }
        logit_delta(prior, shared);
        __syncthreads();
        const Step step = {static_cast<float>(-network.rate / (1.0 - power1)), static_cast<float>(1.0 / sqrt(1.0 - power2)), network.momentum,
                           network.memory, network.epsilon, network.rate * network.decay};
        const bool last = at + ROWS >= end;
        BACKWARD
      }
    }
    if (diverged) break;
    // Validation.
    if (threadIdx.x < 8) shared.sums[threadIdx.x] = 0.0;
    if (threadIdx.x == 0) shared.flag = 0;
    __syncthreads();
    bool finite = true;
    for (int i = threadIdx.x; i < PARAMETERS; i += THREADS) finite = finite && isfinite(parameters[i]);
    if (!finite) shared.flag = 1;
    for (int at = 0; at < network.validation_rows; at += ROWS) {
      const int count = min(ROWS, network.validation_rows - at);
      load_rows(data, network.validation + at, count, activations, shared);
      __syncthreads();
      FORWARD
      add_sums(prior, shared, count);
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      double by_positive, by_negative;
      shared.training = batch_loss(shared, by_positive, by_negative);
    }
    __syncthreads();
    const double validation = shared.training;
    if (shared.flag || !isfinite(validation)) diverged = 1;
    if (diverged) break;
    if (threadIdx.x == 0) {
      network.losses[3 * epoch] = training / steps;
      network.losses[3 * epoch + 1] = validation;
      network.losses[3 * epoch + 2] = shared.sums[4] / network.validation_rows;
    }
    ++since_best;
    if (validation < lowest) {
      lowest = validation;
      since_best = 0;
      for (int i = threadIdx.x; i < PARAMETERS; i += THREADS) network.best[i] = parameters[i];
    }
    ++epoch;
    __syncthreads();
  }
  __syncthreads();
  for (int i = threadIdx.x; i < PARAMETERS; i += THREADS) network.parameters[i] = parameters[i];
  STORE_MOMENTS
  if (threadIdx.x == 0) {
    network.power1 = power1;
    network.power2 = power2;
    network.lowest = lowest;
    network.since_best = since_best;
    network.done = epoch;
    network.diverged = diverged;
  }
}
