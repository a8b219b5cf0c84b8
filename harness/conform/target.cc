#include "harness/conform/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/ledger/options.h"

namespace lockstep {
namespace {

constexpr std::uint64_t kMaxGpus = 1024;

Target simulator(std::string_view device) {
  Target t;
  t.device = device;
  t.name = "the simulated GPU";
  t.variables["LOCKSTEP_GPU"] = "simulated";
  t.variables["LOCKSTEP_DEVICES"] = "2";  // what a launcher keeps from one device to the next shows
  if (device.starts_with("sm_")) {
    t.name += fmt::format(", as {}", device);
    t.variables["LOCKSTEP_DEVICE"] = device;
  }
  return t;
}

Target silicon(std::uint64_t ordinal, const Driver& driver) {
  const Gpu& gpu = driver.gpus[ordinal];
  Target t;
  t.device = std::to_string(ordinal);
  t.silicon = true;
  t.name = fmt::format("GPU {}, {} (sm_{}{})", ordinal, gpu.name, gpu.major, gpu.minor);
  t.variables["LOCKSTEP_GPU"] = "required";
  // A single GPU needs no selection. It may also be a MIG slice, which has another kind of name.
  if (driver.gpus.size() > 1) t.variables["CUDA_VISIBLE_DEVICES"] = gpu.uuid;
  return t;
}

bool names_simulator(std::string_view device) {
  return device.empty() || device == "simulator" || device.starts_with("sm_");
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == text.npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// The ordinals among `count` GPUs that the text names; nothing if it is invalid.
std::optional<std::vector<std::uint64_t>> ordinals(std::string_view device, std::size_t count) {
  if (device == "gpu") return std::vector<std::uint64_t>{0};
  std::vector<std::uint64_t> out;
  if (device == "all") {
    for (std::size_t i = 0; i < count; ++i) out.push_back(i);
    return out;
  }
  for (const std::string_view part : split(device)) {
    const auto n = parse_number(part, 0, kMaxGpus);
    if (!n || std::find(out.begin(), out.end(), *n) != out.end()) return std::nullopt;
    out.push_back(*n);
  }
  return out;
}

}  // namespace

Targets choose_targets(std::string_view device, const Driver& driver) {
  Targets out;
  if (names_simulator(device)) {
    if (device.starts_with("sm_") && !parse_number(device.substr(3), 10, 999)) {
      out.error = fmt::format(
          "--device={} does not name a device such as sm_75, sm_80, sm_90, sm_100", device);
      return out;
    }
    out.targets.push_back(simulator(device));
    return out;
  }
  const auto wanted = ordinals(device, driver.gpus.size());
  if (!wanted) {
    out.error = fmt::format(
        "--device={} is none of simulator, sm_NN, gpu, all, or the numbers of GPUs such as 0 or "
        "0,1",
        device);
    return out;
  }
  if (!driver.error.empty()) {
    out.absent = true;
    out.error = fmt::format(
        "no GPU can be used: {}. --device=simulator runs the same programs on the simulated GPU.",
        driver.error);
    return out;
  }
  for (const std::uint64_t ordinal : *wanted) {
    if (ordinal >= driver.gpus.size()) {
      out.targets.clear();
      out.absent = true;
      out.error =
          fmt::format("there is no GPU {}: this machine has {}", ordinal, driver.gpus.size());
      return out;
    }
    out.targets.push_back(silicon(ordinal, driver));
  }
  return out;
}

Targets choose_targets(std::string_view device) {
  return choose_targets(device, names_simulator(device) ? Driver{} : driver());
}

}  // namespace lockstep
