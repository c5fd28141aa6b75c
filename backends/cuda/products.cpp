// products.cpp is being written.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/products.h"
