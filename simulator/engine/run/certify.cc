#include "simulator/engine/run/certify.h"

#include <algorithm>
#include <iterator>

#include "simulator/engine/launch/certificate.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/isa/names.h"
#include "simulator/proof/prove.h"

namespace lockstep::engine {
namespace {

// Launches of fewer warps are not analysed.
constexpr std::uint64_t kFewestWarps = 128;

// The number of warp instructions that take at least three times as long as a proof, mostly ten. A
// proof saves a fifth to three quarters of a launch. So a useful proof soon pays, and a useless one
// costs little.
std::uint64_t price_of_proof(const Launch& l) {
  return (l.kernel->end - l.kernel->entry) * (1000 + 5 * std::uint64_t{l.threads});
}

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

// A key of everything that a proof depends on, except the kernel itself.
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

// Whether nothing else is under way. A later operation of another stream that nothing orders after
// the launch races with it if it writes what the launch reads; the search for races detects that.
bool has_memory_alone(const Launch& l) {
  return l.config->running_grids.empty() && l.config->concurrent.empty();
}

// Adds the initialised state of memory, which no key includes.
std::shared_ptr<const proof::Certificate> with_initialised(const Launch& l,
                                                           const proof::Certificate& proved) {
  auto c = std::make_shared<proof::Certificate>(proved);
  if (has_memory_alone(l)) {
    proof::claim_initialised(
        *c, [&](const proof::Extent& e) { return l.memory->is_written(e.begin, e.end - e.begin); });
  }
  return c;
}

// Whether the operation accesses memory that can be out of bounds, unwritten or in a race: not only
// parameters or registers.
bool touches_memory(const Op& op) {
  return proof::touches_memory_otherwise(op) || op.action == Action::kLoad ||
         op.action == Action::kStore || op.action == Action::kAtomic ||
         op.action == Action::kLoadFragment || op.action == Action::kStoreFragment;
}

CertifiedAccess described(const Launch& l, std::uint32_t pc, const proof::Access* proved) {
  const program::Origin& origin = l.program->origin(pc);
  const Op& op = l.program->ops[pc];
  CertifiedAccess a;
  a.text = origin.text;
  a.ptx_line = origin.ptx_line;
  if (origin.source.line != 0) {
    a.source = {source_file(l.program->sources[origin.module], origin.source.file),
                origin.source.line, origin.source.column};
  }
  if (op.action == Action::kLoad || op.action == Action::kStore || op.action == Action::kAtomic) {
    a.space = isa::space_name(static_cast<isa::Space>(op.space));
    a.bytes = std::uint32_t{op.width} * op.elements;
    a.reads = op.action != Action::kStore;
    a.writes = op.action != Action::kLoad;
  } else if (op.action == Action::kLoadFragment || op.action == Action::kStoreFragment) {
    a.space = isa::space_name(static_cast<isa::Space>(op.space));
    a.bytes = proved == nullptr ? 0 : proved->size;
    a.reads = op.action == Action::kLoadFragment;
    a.writes = !a.reads;
  } else {
    a.reads = a.writes = true;  // it may do both
  }
  if (proved == nullptr) return a;
  a.known = proved->known;
  a.in_bounds = proved->in_bounds;
  a.aligned = proved->aligned;
  a.initialised = proved->initialised;
  a.apart = proved->apart;
  return a;
}

LaunchCertificate described(const Launch& l) {
  LaunchCertificate c;
  c.grid = l.config->grid;
  c.block = l.config->block;
  c.dynamic_shared = l.config->dynamic_shared;
  c.calls = l.kernel->calls;
  if (l.certificate == nullptr) {
    c.refused = "blocks of a cluster reach one another's shared memory";
  } else if (!l.certificate->followed) {
    c.refused =
        c.calls ? "the kernel calls functions" : "the kernel's control flow is not followed";
  }
  for (std::uint32_t pc = l.kernel->entry; pc < l.kernel->end; ++pc) {
    if (touches_memory(l.program->ops[pc]))
      c.accesses.push_back(
          described(l, pc, l.certificate == nullptr ? nullptr : l.certificate->find(pc)));
  }
  return c;
}

// What a proof may save in a launch with `on`, and what it saves.
class Savings {
 public:
  explicit Savings(const Launch& l) : l_(l) {}

  // Whether anything can be left out, whatever is proved.
  bool are_possible() { return !l_.shared.empty() || is_closed(); }
  bool any(const proof::Certificate& c) { return of_shared(c) || global(c).has_value(); }
  // Whether races in shared memory need not be searched for.
  bool of_shared(const proof::Certificate& c) const {
    return !l_.shared.empty() && c.is_shared_silent();
  }
  // Where races in global memory are still to be searched for: Launch::contested. nullopt:
  // everywhere.
  std::optional<std::vector<std::uint64_t>> global(const proof::Certificate& c) {
    auto bases = contested(c);
    if (!bases || !leaves_some(c, *bases) || !is_closed()) return std::nullopt;
    return bases;
  }

  // Launch::deferred. Assumes that global() has a value.
  std::unique_ptr<DeferredStores> deferred(const proof::Certificate& c) const {
    const auto extents = c.contested();
    const auto always = bases_of(extents->always), if_read = bases_of(extents->if_read);
    std::vector<std::uint64_t> bases;
    std::set_difference(if_read.begin(), if_read.end(), always.begin(), always.end(),
                        std::back_inserter(bases));
    if (bases.empty()) return nullptr;
    const Function& kernel = *l_.kernel;
    std::vector<bool> proved(kernel.end - kernel.entry);
    for (const proof::Access& a : c.accesses)
      proved[a.pc - kernel.entry] = a.space == isa::Space::kGlobal && a.apart_unless_read;
    return std::make_unique<DeferredStores>(std::move(bases), kernel.entry, std::move(proved));
  }

 private:
  // Grids that the launch makes are unordered with its own threads' later accesses.
  bool is_closed() {
    if (!closed_) {
      closed_ = l_.config->closed && has_memory_alone(l_) && l_.config->place.descent == nullptr &&
                !l_.program->launches_grids && l_.config->closed();
    }
    return *closed_;
  }
  std::optional<std::vector<std::uint64_t>> contested(const proof::Certificate& c) const {
    const auto extents = c.contested();
    if (!extents) return std::nullopt;
    std::vector<proof::Extent> all = extents->always;
    all.insert(all.end(), extents->if_read.begin(), extents->if_read.end());
    return bases_of(all);
  }
  // The allocations, by base, in order.
  std::vector<std::uint64_t> bases_of(const std::vector<proof::Extent>& extents) const {
    std::vector<std::uint64_t> bases;
    for (const proof::Extent& e : extents) bases.push_back(l_.memory->find(e.begin)->base);
    std::sort(bases.begin(), bases.end());
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    return bases;
  }
  // Whether some access need not be searched for.
  bool leaves_some(const proof::Certificate& c, const std::vector<std::uint64_t>& bases) const {
    return std::any_of(c.accesses.begin(), c.accesses.end(), [&](const proof::Access& a) {
      if (a.space != isa::Space::kGlobal || (a.in_bounds && a.bytes.begin == a.bytes.end))
        return false;
      return !a.in_bounds ||
             !std::binary_search(bases.begin(), bases.end(), l_.memory->find(a.bytes.begin)->base);
    });
  }

  const Launch& l_;
  std::optional<bool> closed_;
};

}  // namespace

void certify(Launch& l, const LoadedKernel& loaded) {
  using Proof = LaunchConfig::Proof;
  const Proof proof = l.config->proof;
  const bool asked = static_cast<bool>(l.config->certified);
  l.search_shared = l.check_races;
  // Blocks of a cluster access each other's shared memory. A cluster of one block may have a
  // cluster barrier.
  const bool has_cluster = l.config->cluster.count() != 1;
  // Only searches for races can be omitted.
  const bool saves = proof == Proof::kOn && l.check_races;
  Savings savings(l);
  if (has_cluster) {
  } else if (asked || proof == Proof::kCompare) {
    l.certificate = loaded.certificate(key_of(l), [&] { return prove(l); });
    l.certificate = with_initialised(l, *l.certificate);
  } else if (const std::uint64_t warps = l.units * l.warps; saves && warps >= kFewestWarps) {
    // Of a sample, only the blocks count that run. Without further knowledge, each warp is assumed
    // to execute every operation once.
    const std::uint64_t work = std::max(warps * (l.kernel->end - l.kernel->entry),
                                        loaded.expected_work(warps).value_or(0));
    l.certificate = loaded.certificate_worth(
        key_of(l), work, price_of_proof(l), [&] { return savings.are_possible(); },
        [&] { return prove(l); }, [&](const proof::Certificate& c) { return savings.any(c); });
  }
  if (asked) l.config->certified(described(l));
  if (proof == Proof::kOff) l.certificate = nullptr;
  if (l.certificate == nullptr || !l.check_races) return;
  if (saves && savings.of_shared(*l.certificate)) l.search_shared = false;
  l.contested = savings.global(*l.certificate);
  l.search_global = !saves || !l.contested;
  if (!l.search_global) l.deferred = savings.deferred(*l.certificate);
}

}  // namespace lockstep::engine
