// The kernels of a training step of an MLP, each recorded by a function. All arrays are row-major
// in device memory; {n} is an array's extent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace stepscope::mlp {

struct Recorder;

// logits {rows, classes}, labels {rows} -> loss {rows}, gradient {rows, classes} of their mean
void softmax_xent(Recorder& recorder, float* loss, float* gradient, const float* logits,
                  const int* labels, int rows, int classes);
// in {n} -> out {1}
void mean(Recorder& recorder, float* out, const float* in, int n);
// weights {n} -= *rate * gradient {n}; both aligned to 16 bytes
void sgd(Recorder& recorder, float* weights, const float* gradient, const float* rate, int n);
// count {1} += 1
void advance(Recorder& recorder, int* count);

// Products in place of the library's.
enum class Activation { none, relu };
// x {rows, in}, weights {out, in}, bias {out} -> y {rows, out}
void linear(Recorder& recorder, float* y, const float* x, const float* weights, const float* bias,
            int rows, int in, int out, Activation activation);
// dy {rows, out}, x {rows, in} -> dweights {out, in}, dbias {out}
void weight_gradient(Recorder& recorder, float* dweights, float* dbias, const float* dy,
                     const float* x, int rows, int in, int out);
// dy {rows, out}, weights {out, in}, x {rows, in} -> dx {rows, in}, 0 where x is
void input_gradient(Recorder& recorder, float* dx, const float* dy, const float* weights,
                    const float* x, int rows, int in, int out);

}  // namespace stepscope::mlp
