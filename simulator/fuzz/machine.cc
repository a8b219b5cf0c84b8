#include "simulator/fuzz/machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace lockstep::fuzz {
namespace {

// The most instructions of a warp in a block: enough for every loop that ends.
constexpr std::uint64_t kInstructionLimit = 4000;

}  // namespace

memory::DeviceMemory& Machine::memory() {
  static memory::DeviceMemory memory;
  static const bool limited = (memory.set_capacity(0, 64ull << 20), true);
  (void)limited;
  return memory;
}

Machine::Machine() {
  const auto allocate = [](std::uint64_t bytes) {
    return memory().allocate(bytes, 256, memory::Kind::kDevice, 0)->base;
  };
  written_ = allocate(kWritten);
  unwritten_ = allocate(kUnwritten);
  freed_ = allocate(kUnwritten);
  const memory::DeviceMemory& m = memory();
  std::memset(m.host(*m.find(written_), written_), 0x5a, kWritten);
  memory().mark_written(written_, kWritten);
  memory().release(freed_);
}

Machine::~Machine() {
  for (const memory::Allocation* a : memory().live())
    memory().release(a->base);  // device code may have allocated too
}

void Machine::launch(const engine::Kernel& kernel, engine::LaunchConfig config) const {
  const engine::Limits limits;
  if (const engine::Dim3 cluster = kernel.required_cluster(); cluster.count() != 0) {
    if (cluster.count() > 8) return;
    config.cluster = config.grid = cluster;
  }
  if (config.block.count() > kernel.max_threads_per_block()) config.block = {1, 1, 1};
  if (std::uint64_t{kernel.static_shared_bytes()} + config.dynamic_shared >
      limits.shared_per_block_optin)
    return;
  std::vector<std::byte> parameters(kernel.parameter_offsets().back());
  const memory::Address buffers[] = {written_, unwritten_, freed_};
  for (std::size_t i = 0; i < kernel.parameter_sizes().size(); ++i) {
    if (kernel.parameter_sizes()[i] == 0) continue;
    const memory::Address a = buffers[i % 3];
    std::memcpy(parameters.data() + kernel.parameter_offsets()[i], &a,
                std::min<std::size_t>(kernel.parameter_sizes()[i], sizeof a));
  }
  config.parameters = parameters;
  config.host_threads = 1;
  config.instruction_limit = kInstructionLimit;
  config.count = true;
  config.output = [](std::string_view) {};
  for (const check::Finding& f : engine::launch(kernel, config, memory()).findings) {
    if (f.to_string().empty()) std::abort();
  }
}

}  // namespace lockstep::fuzz
