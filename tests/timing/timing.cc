#include "tests/timing/timing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/device/device.h"
#include "harness/ledger/session.h"
#include "harness/property/splitmix64.h"

namespace lockstep::timing {
namespace {

void require(cudaError_t error, const std::string& tried) {
  if (error != cudaSuccess)
    throw std::runtime_error(
        fmt::format("{}: {}, {}", tried, cudaGetErrorName(error), cudaGetErrorString(error)));
}

// Pseudo-random numbers, each computed from its index only.
std::uint64_t scramble(std::uint64_t i) { return mix(i + kSplitMixStep); }

void note_duration(const std::string& name, const Estimate& us, std::size_t samples) {
  const nlohmann::ordered_json j = {{"name", name},
                                    {"median_us", us.median},
                                    {"low_us", us.low},
                                    {"high_us", us.high},
                                    {"samples", samples}};
  current_record().notes["timing." + name] = j.dump();
}

}  // namespace

void Timing::SetUp() {
  if (!is_simulator()) return;
  current_record().verdict = Verdict::kNotApplicable;
  current_record().reason =
      "needs silicon; the device is the simulated GPU, whose speed says nothing about a GPU's";
  GTEST_SKIP() << current_record().reason;
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  require(cudaMalloc(&data_, bytes), fmt::format("allocating {} bytes", bytes));
}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

void DeviceMemory::write(const void* host, std::size_t bytes) {
  require(cudaMemcpy(data_, host, bytes, cudaMemcpyHostToDevice), "filling device memory");
}

void DeviceMemory::fetch(void* host) const {
  require(cudaDeviceSynchronize(), "waiting for the device");
  require(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost), "fetching device memory");
}

std::vector<float> ordinary_floats(std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = 1 + static_cast<float>(scramble(i) >> 41) * 0x1p-23f;
  return x;
}

std::vector<int> scattered_integers(std::size_t count, int below) {
  std::vector<int> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<int>(scramble(i) % static_cast<std::uint64_t>(below));
  return x;
}

SpeedComparison compare(const std::string& where, const Contestant& a, const Contestant& b,
                        const TimingRules& rules, const StopwatchRules& stopwatch) {
  const MeasuredSpeed m = measure_speed(a.work, b.work, rules, stopwatch);
  if (!m.error.empty()) {
    ADD_FAILURE() << where << ": " << m.error;
    return {};
  }
  const SpeedComparison& c = m.comparison;
  fmt::print("{}: {} against {}: {}\n", where, b.name, a.name, to_text(c));
  note_duration(fmt::format("{}: {}", where, a.name), c.a_us, c.pairs);
  note_duration(fmt::format("{}: {}", where, b.name), c.b_us, c.pairs);
  const std::string name = fmt::format("{}: {} against {}", where, b.name, a.name);
  const nlohmann::ordered_json j = {{"name", name},
                                    {"verdict", lockstep::name(c.speed)},
                                    {"ratio", c.ratio.median},
                                    {"low", c.ratio.low},
                                    {"high", c.ratio.high},
                                    {"minimum_effect", rules.minimum_effect},
                                    {"pairs", c.pairs},
                                    {"throttled", c.throttled}};
  current_record().notes["timing_verdict." + name] = j.dump();
  return c;
}

}  // namespace lockstep::timing
