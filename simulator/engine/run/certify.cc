#include "simulator/engine/run/certify.h"

#include "simulator/proof/prove.h"

namespace lockstep::engine {
namespace {

// A proof costs about as much as some hundred warps: fewer are checked.
constexpr std::uint64_t kFewestWarps = 512;

proof::Certificate prove(const Launch& l) {
  const LaunchConfig& config = *l.config;
  proof::Shape shape;
  shape.grid = {config.grid.x, config.grid.y, config.grid.z};
  shape.block = {config.block.x, config.block.y, config.block.z};
  shape.parameters = {l.parameters.data(), l.kernel->parameter_offsets.back()};
  shape.shared_window = l.shared_window;
  proof::Memory memory;
  for (const Range& r : l.shared) memory.shared.push_back({r.begin, r.end});
  memory.allocation = [&](std::uint64_t address) -> std::optional<proof::Extent> {
    const memory::Allocation* const a = l.memory->find(address);
    if (a == nullptr || !a->usable()) return std::nullopt;
    return proof::Extent{a->begin, a->end};
  };
  return proof::prove(*l.program, *l.kernel, shape, memory);
}

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// All that a proof depends on but the kernel itself.
std::string key_of(const Launch& l) {
  std::string key;
  append(key, l.config->grid);
  append(key, l.config->block);
  append(key, l.config->dynamic_shared);
  append(key, l.memory->generation());
  key.append(reinterpret_cast<const char*>(l.parameters.data()),
             l.kernel->parameter_offsets.back());
  return key;
}

}  // namespace

void certify(Launch& l, const LoadedKernel& loaded) {
  using Proof = LaunchConfig::Proof;
  l.search_shared = l.check_races;
  // Blocks of a cluster reach one another's shared memory.
  if (l.config->proof == Proof::kOff || l.clustered || l.config->cluster.count() != 1) return;
  if (l.config->proof == Proof::kOn && l.blocks * l.warps < kFewestWarps) return;
  l.certificate = loaded.certificate(key_of(l), [&] { return prove(l); });
  if (l.config->proof == Proof::kOn && l.certificate->shared_apart) l.search_shared = false;
}

}  // namespace lockstep::engine
