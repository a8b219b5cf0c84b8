// Litmus programs: a few threads, a few places in memory, straight-line code.
//
// A program is so small that an oracle can examine all of its executions (oracle.h). It can be
// written as PTX for the simulated GPU (ptx.h), and as readable text for reports and lists
// (text.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::litmus {

inline constexpr int kMaxThreads = 4, kMaxLocations = 6, kMaxOps = 12, kMaxObjects = 2;
inline constexpr int kArenaBytes = 64;  // of global memory, and of each block's shared memory
inline constexpr int kMaxBlocks = 4;

// PTX ISA 8.5, from the narrowest to the widest.
enum class Scope : std::uint8_t { kCta, kCluster, kGpu, kSys };

// The memory order of an operation (PTX ISA 8.4). kVolatile is equivalent to kRelaxed at system
// scope, but has its own spelling.
enum class Sem : std::uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };

enum class Kind : std::uint8_t {
  kLoad,
  kStore,
  kAtom,        // reads, modifies and returns the old value
  kRed,         // modifies
  kAwaitLoad,   // loads until it reads `compare`
  kAwaitCas,    // compare-and-swap until it finds `compare`
  kFence,       // sem and scope
  kMembar,      // the older spelling of fence.sc
  kProxyFence,  // orders no threads; `id` selects the fence (kProxies)
  // Branches to operation `target` if the result of operation `id` is `compare` (if `equal`), or is
  // not.
  kBranch,
  kBarSync,        // block barrier `id` of `warps` warps; 0: of the whole block
  kBarArrive,      // arrives at it without waiting; `warps` is not 0
  kWarpSync,       // of the lanes in `mask`
  kClusterArrive,  // kRelease or kRelaxed
  kClusterWait,
  kArrive,  // at mbarrier `id`: kRelease or kRelaxed
  kWait,    // until phase `value` of mbarrier `id` is complete: kAcquire or kRelaxed
};

enum class Rmw : std::uint8_t { kExch, kAdd, kCas };

struct Op {
  Kind kind = Kind::kLoad;
  Sem sem = Sem::kWeak;
  Scope scope = Scope::kGpu;
  Rmw rmw = Rmw::kExch;
  bool used = true;           // kAtom: the thread keeps the value that it reads
  std::uint8_t location = 0;  // of memory operations
  std::uint8_t id = 0;        // of a barrier or mbarrier
  std::uint8_t warps = 0;
  std::uint8_t target = 0;
  bool equal = false;
  std::uint32_t mask = 0;
  std::uint64_t value = 0;    // the value stored, added or swapped in; a phase, counted from 0
  std::uint64_t compare = 0;  // of a cas or an await
  bool operator==(const Op&) const = default;
};

inline constexpr const char* kProxies[] = {"alias", "async", "async.global", "async.shared::cta"};

inline bool accesses_memory(const Op& op) { return op.kind <= Kind::kAwaitCas; }
inline bool awaits(const Op& op) {
  return op.kind == Kind::kAwaitLoad || op.kind == Kind::kAwaitCas;
}
inline bool is_cas(const Op& op) {
  return op.kind == Kind::kAwaitCas ||
         ((op.kind == Kind::kAtom || op.kind == Kind::kRed) && op.rmw == Rmw::kCas);
}
inline bool has_result(const Op& op) {
  return op.kind == Kind::kLoad || (op.kind == Kind::kAtom && op.used);
}
// Whether the operation may read or write memory. A cas that finds another value does not write.
inline bool may_read(const Op& op) { return accesses_memory(op) && op.kind != Kind::kStore; }
inline bool may_write(const Op& op) {
  return accesses_memory(op) && op.kind != Kind::kLoad && op.kind != Kind::kAwaitLoad;
}
inline constexpr std::uint8_t kAlways = 255;  // `id` of an unconditional branch
inline bool acquires(Sem s) { return s == Sem::kAcquire || s == Sem::kAcqRel || s == Sem::kSc; }
inline bool releases(Sem s) { return s == Sem::kRelease || s == Sem::kAcqRel || s == Sem::kSc; }

struct Thread {
  std::uint8_t block = 0, warp = 0, lane = 0;
  std::vector<Op> ops;
  bool operator==(const Thread&) const = default;
};

// Bytes of global memory or of a block's shared memory. Locations may overlap. All are 0 initially.
struct Location {
  std::string name;
  bool shared = false;
  std::uint8_t block = 0;              // the block that owns the shared memory
  std::uint8_t offset = 0, bytes = 4;  // in an arena of kArenaBytes
  bool operator==(const Location&) const = default;
};

// An mbarrier in the shared memory of a block.
struct Object {
  std::uint8_t block = 0, count = 1;  // arrivals in each phase
  bool operator==(const Object&) const = default;
};

struct Program {
  std::vector<Thread> threads;
  std::vector<Location> locations;
  std::vector<Object> objects;
  std::uint8_t cluster = 1;  // blocks of a cluster
  // The number of copies of the whole program, which run side by side: one in each of the first
  // lanes of the warps. Every copy has its own locations, which are adjacent in memory like the
  // elements of an array.
  std::uint8_t copies = 1;
  bool generic = false;  // addresses are generic
  bool operator==(const Program&) const = default;

  std::uint32_t blocks() const;  // in the grid; a multiple of `cluster`
  std::uint32_t warps() const;   // in each block
  bool uses_shared() const;      // has locations or mbarriers there
  bool uses_remote() const;      // accesses another block's shared memory
  std::size_t size() const;      // number of operations
};

// An execution's outcome is the sum of these values over the values that its threads have read and
// the final global memory. 0 for operations that were not reached.
std::uint64_t outcome_of_result(int thread, int op, std::uint64_t value);
std::uint64_t outcome_of_memory(int location, std::uint64_t value);

// The reason why PTX does not allow the program or the simulated GPU cannot run it to its end;
// empty if it is valid. A valid program may still block for ever.
std::string invalid(const Program& program);

}  // namespace lockstep::litmus
