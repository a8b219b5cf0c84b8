#include "simulator/engine/run/sampler.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "simulator/engine/launch/helper_threads.h"
#include "simulator/engine/monitor/reports.h"

namespace lockstep::engine {
namespace {

// The sampling thread. It starts with the first launch and runs as long as the process.
class Sampler {
 public:
  static Sampler& get() {
    static auto* const sampler = new Sampler;
    return *sampler;
  }
  void begin(LaunchSamples* samples) {
    const std::lock_guard lock(mutex_);
    all_.push_back(samples);
    if (all_.size() == 1) wake_.notify_one();
  }
  void end(LaunchSamples* samples) {
    const std::lock_guard lock(mutex_);
    std::erase(all_, samples);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Sampler() {
    ++helper_threads();
    // Signals must be handled by the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !all_.empty(); });
      const Clock::time_point before = Clock::now();
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
      const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
      for (LaunchSamples* const samples : all_) samples->look(seconds);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<LaunchSamples*> all_;
};

}  // namespace

LaunchSamples::LaunchSamples(const Launch& launch, std::vector<Worker>& workers)
    : launch_(launch), workers_(workers) {
  Sampler::get().begin(this);
}

LaunchSamples::~LaunchSamples() {
  Sampler::get().end(this);
  std::unordered_map<std::uint32_t, ProfiledInstruction> by_pc;
  for (const auto& [key, seconds] : seconds_) {
    const auto pc = static_cast<std::uint32_t>(key >> 8);
    const auto [at, first] = by_pc.try_emplace(pc);
    ProfiledInstruction& i = at->second;
    if (first) {
      const program::Origin& origin = launch_.program->origin(pc);
      i.kernel = launch_.kernel->name;
      i.text = origin.text;
      i.ptx_line = origin.ptx_line;
      if (origin.source.line != 0) {
        i.source = {source_file(launch_.program->sources[origin.module], origin.source.file),
                    origin.source.line, origin.source.column};
      }
    }
    i.seconds[key & 0xff] += seconds;
  }
  for (const auto& [pc, instruction] : by_pc) launch_.config->time_profile->add(instruction);
}

void LaunchSamples::look(double seconds) {
  for (const Worker& w : workers_) {
    const Doing doing = w.activity.what.load(std::memory_order_relaxed);
    if (doing == Doing::kNothing) continue;
    const std::uint64_t pc = w.activity.pc.load(std::memory_order_relaxed);
    seconds_[pc << 8 | static_cast<std::uint64_t>(doing)] += seconds;
  }
}

}  // namespace lockstep::engine
