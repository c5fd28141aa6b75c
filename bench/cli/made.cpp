// Making backends, and refusing what they do not have.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/made.h"

#include "ops/base/check.h"

namespace stepscope::cli {

std::unique_ptr<Backend> make_backend(const Options& options, const Registry& registry,
                                      const std::string& name) {
  std::unique_ptr<Backend> backend = registry.make(name, backend_options(options));
  check(options.input_copy == InputCopy::outside || backend->records_as() != RecordAs::tape,
        Fault::unsupported,
        "{}: records a tape, which holds no copies: leave out --input-copy inside", name);
  return backend;
}

void check_backends(const Options& options, const Registry& registry) {
  const bool plain =
      !options.record_as && !options.tf32 && options.input_copy == InputCopy::outside;
  if (plain) return;
  for (const std::string& name : options.flags.backends) {
    static_cast<void>(make_backend(options, registry, name));
  }
}

}  // namespace stepscope::cli
