// Litmus programs: a few threads, a few places in memory, straight-line code.
//
// A program is small enough that an oracle can examine every execution of it (oracle.h). It can be
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

// The memory semantics of an operation (PTX ISA 8.4). kVolatile is kRelaxed at system scope, spelt
// differently.
enum class Sem : std::uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };

enum class Kind : std::uint8_t {
  kLoad,
  kStore,
  kAtom,        // a read-modify-write that returns the old value
  kRed,         // a read-modify-write without a result
  kAwaitLoad,   // loads until it reads `compare`
  kAwaitCas,    // compare-and-swap until it finds `compare`
  kFence,       // sem and scope
  kMembar,      // the older spelling of fence.sc
  kProxyFence,  // orders no threads; `id`: which kind (kProxies)
  // Branches to operation `target` if the result of operation `id` equals `compare` (`equal`), or
  // differs from it.
  kBranch,
  kBarSync,        // block barrier `id` of `warps` warps; 0: all of the block
  kBarArrive,      // arrives there without waiting; `warps` is not 0
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
  bool used = true;           // kAtom: the thread uses the result
  std::uint8_t location = 0;  // of memory operations
  std::uint8_t id = 0;        // of a barrier or mbarrier
  std::uint8_t warps = 0;
  std::uint8_t target = 0;
  bool equal = false;
  std::uint32_t mask = 0;
  std::uint64_t value = 0;    // stored, added or swapped in; a phase from 0
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
// Whether the operation may read, or write, for its thread. A cas that finds another value does not
// write.
inline bool may_read(const Op& op) { return accesses_memory(op) && op.kind != Kind::kStore; }
inline bool may_write(const Op& op) {
  return accesses_memory(op) && op.kind != Kind::kLoad && op.kind != Kind::kAwaitLoad;
}
inline constexpr std::uint8_t kAlways = 255;  // `id` of a branch that is always taken
inline bool acquires(Sem s) { return s == Sem::kAcquire || s == Sem::kAcqRel || s == Sem::kSc; }
inline bool releases(Sem s) { return s == Sem::kRelease || s == Sem::kAcqRel || s == Sem::kSc; }

struct Thread {
  std::uint8_t block = 0, warp = 0, lane = 0;
  std::vector<Op> ops;
  bool operator==(const Thread&) const = default;
};

// Bytes of global memory or of a block's shared memory. Locations may overlap. All are initially 0.
struct Location {
  std::string name;
  bool shared = false;
  std::uint8_t block = 0;              // the block whose shared memory it is in
  std::uint8_t offset = 0, bytes = 4;  // in an arena of kArenaBytes
  bool operator==(const Location&) const = default;
};

// An mbarrier in the shared memory of a block.
struct Object {
  std::uint8_t block = 0, count = 1;  // count: arrivals for a phase
  bool operator==(const Object&) const = default;
};

struct Program {
  std::vector<Thread> threads;
  std::vector<Location> locations;
  std::vector<Object> objects;
  std::uint8_t cluster = 1;  // blocks of a cluster
  // Copies of the whole program: one in each of the first lanes of the warps. Every copy has its
  // own locations, adjacent in memory like the elements of an array.
  std::uint8_t copies = 1;
  bool generic = false;  // addresses are generic
  bool operator==(const Program&) const = default;

  std::uint32_t blocks() const;  // of the grid, a multiple of `cluster`
  std::uint32_t warps() const;   // of a block
  bool uses_shared() const;      // locations or mbarriers in shared memory
  bool uses_remote() const;      // another block's shared memory
  std::size_t size() const;      // operations
};

// An execution's outcome is the sum of these over the values that its threads read and those left
// in global memory. 0 for an operation that was not reached.
std::uint64_t outcome_of_result(int thread, int op, std::uint64_t value);
std::uint64_t outcome_of_memory(int location, std::uint64_t value);

// Why PTX does not allow the program, or the simulated GPU cannot run it to its end; empty if
// neither. It may still block forever.
std::string invalid(const Program& program);

}  // namespace lockstep::litmus
