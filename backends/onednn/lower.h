// From a site to its kernel, for the ops that the library computes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/kernel.h"
#include "backends/cpu/isa.h"
#include "backends/onednn/choices.h"
#include "backends/onednn/library.h"

namespace stepscope::onednn {

// What lowering needs of its backend.
struct Context {
  const Library& library;
  int threads;
  cpu::Isa isa;  // of the own kernels
};

// All three throw unsupported, with op and reason. Requires: the site passed the shape rule of its
// op, all types are f32, and OpenMP gives context.threads (backends/onednn/team.h).
std::unique_ptr<Kernel> lower_product(const Context& context, const OpSite& site, Routine routine);
std::unique_ptr<Kernel> lower_convolution(const Context& context, const OpSite& site);
// Weights to or from a layout of the library; activations by an own kernel.
std::unique_ptr<Kernel> lower_reorder(const Context& context, const OpSite& site);

bool is_product(OpKind kind);
// Whether the library offers two routines for a product op.
bool has_choice(OpKind kind);
// The sizes of a product op. Requires: the kind is one.
Product product_of(const OpSite& site);

}  // namespace stepscope::onednn
