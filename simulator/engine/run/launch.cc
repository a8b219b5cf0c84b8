// Runs a launch from start to end.
#include "simulator/engine/launch/launch.h"

#include <chrono>
#include <thread>

#include "simulator/engine/launch/running.h"

namespace lockstep::engine {

void Counters::add(const Counters& o) {
  warp_instructions += o.warp_instructions;
  thread_instructions += o.thread_instructions;
  global_load_requests += o.global_load_requests;
  global_load_sectors += o.global_load_sectors;
  global_load_lines += o.global_load_lines;
  global_store_requests += o.global_store_requests;
  global_store_sectors += o.global_store_sectors;
  global_store_lines += o.global_store_lines;
  shared_load_requests += o.shared_load_requests;
  shared_load_bank_conflicts += o.shared_load_bank_conflicts;
  shared_store_requests += o.shared_store_requests;
  shared_store_bank_conflicts += o.shared_store_bank_conflicts;
  shuffles += o.shuffles;
  votes += o.votes;
  atomics += o.atomics;
  barriers += o.barriers;
}

Outcome launch(const Kernel& kernel, const LaunchConfig& config, memory::DeviceMemory& memory) {
  using Clock = std::chrono::steady_clock;
  Running running(kernel, config, memory);
  Clock::time_point since;
  std::uint64_t changes = ~std::uint64_t{0};
  while (running.advance() == Running::State::kStill) {
    const Clock::time_point now = Clock::now();
    if (running.changes() != changes) {
      changes = running.changes();
      since = now;
    }
    if (!running.host_may_help() || now - since >= config.host_patience) {
      running.fail();
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return running.finish();
}

}  // namespace lockstep::engine
