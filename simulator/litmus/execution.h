// One execution of a litmus program, step by step, and the races in it, literally by PTX ISA 8.7 to
// 8.9.
//
// Memory is sequentially consistent, as on the simulated GPU: a read returns the last value
// written. Every thread (every lane) has a vector clock: base causality order (8.9.5). Every write
// stores its observers (8.9.2), for the second clause of causality order.
//
//   release pattern   its writes carry a message: the thread, the scope, and the clock of the
//                     pattern's first operation
//   acquire pattern   its reads find messages; its last operation acquires those for which the
//                     scopes of both ends include each other's thread (8.9.4)
//
// This file is written from the manual, independently of the simulated GPU's search for races,
// which it judges.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

// The known differences between the search for races and the manual, and choices that the manual
// leaves open. The initial values follow the manual. Each is counted separately if it explains a
// difference (compare.h).
struct Rules {
  // 8.9.3: fence.sc operations synchronise in the order in which they are executed. Otherwise they
  // count as fence.acq_rel.
  bool fence_sc = true;
  // A fence before a block barrier counts for the strong writes of the block's other threads after
  // the barrier: `__threadfence(); __syncthreads(); if (t == 0) flag = 1;`. The manual requires a
  // fence of the writing thread itself.
  bool block_fences = false;
  // 8.7: strong operations of different sizes on the same bytes are morally strong, too.
  bool mixed_sizes = false;
  // An atom whose result is unused counts as red: ptxas compiles it to one.
  bool unused_atom_is_red = false;
  // 8.9.2: red observes the value that it changes, for its thread. (8.8: it is never an acquire
  // pattern.)
  bool red_observes = false;
  // A barrier of the block is a fence for strong reads of the threads that arrive there: the
  // last-block example of the CUDA C++ Programming Guide has no other fence.
  bool barrier_fences = false;
  // Operations on mbarrier objects have the scope of the cluster, whatever they name: libraries
  // arrive at other blocks' objects with the default scope, .cta.
  bool mbarrier_scopes = false;
  // A strong access may be morally strong with the last write of a chain. Then it does not race
  // with the chain's writes by other blocks, even if its scope, or theirs, is too narrow. (At least
  // three threads.)
  bool chain_stands = false;
  // 8.9.2: a weak read of the value that an atomic of its own thread has left observes the chain
  // before that atomic. (Such a read races with the chain itself, unless something else orders
  // them.)
  bool weak_observes = true;
  bool operator==(const Rules&) const = default;
};

// Two racing operations, by thread and index in it. The first one is earlier in the execution.
struct Race {
  std::uint8_t thread = 0, op = 0, other_thread = 0, other_op = 0;
  auto operator<=>(const Race&) const = default;
};

// The properties of a program that do not change while it runs.
class Setting {
 public:
  Setting(const Program& program, const Rules& rules);

  const Program& program() const { return *program_; }
  const Rules& rules() const { return rules_; }
  // The threads that an operation of `thread` at `scope` includes: one bit each.
  std::uint8_t reach(int thread, Scope scope) const {
    return reach_[thread][static_cast<int>(scope)];
  }
  std::uint8_t warp_mates(int thread) const { return warp_mates_[thread]; }
  std::uint8_t block_mates(int thread) const { return reach(thread, Scope::kCta); }
  std::uint8_t cluster_mates(int thread) const { return reach(thread, Scope::kCluster); }
  // Ranges of bytes that every location covers completely or not at all; one bit each.
  std::uint16_t cells(int location) const { return cells_[location]; }
  struct Cell {
    std::uint8_t begin = 0, bytes = 0, arena = 0;
  };
  const Cell& cell(int number) const { return all_cells_[number]; }
  // Barriers of blocks and warps, numbered over all blocks.
  int barrier(int thread, const Op& op) const;
  // Of a warp barrier: the threads in its mask.
  std::uint8_t in_mask(int thread, std::uint32_t mask) const;
  // The number of warps of the thread's block that contain threads.
  int warps(int thread) const { return warps_[thread]; }

  // Whether the order of two threads' next operations does not matter.
  bool independent(int thread, const Op& op, int other_thread, const Op& other) const;

 private:
  struct BarrierName {
    std::uint8_t block, warp, id;
    std::uint32_t mask;
    bool operator==(const BarrierName&) const = default;
  };
  static BarrierName name_of(const Thread& t, const Op& op);

  const Program* program_;
  Rules rules_;
  std::uint8_t reach_[kMaxThreads][4] = {};
  std::uint8_t warp_mates_[kMaxThreads] = {};
  int warps_[kMaxThreads] = {};
  std::uint16_t cells_[kMaxLocations] = {};
  std::vector<Cell> all_cells_;
  std::vector<BarrierName> barriers_;
};

// The state of an execution. Small and plain, because searches copy it at every step.
class Execution {
 public:
  explicit Execution(const Setting& setting);

  // The threads that can make a step: one bit each.
  std::uint8_t enabled() const;
  bool finished() const;
  const Op& next(int thread) const { return setting_->program().threads[thread].ops[pc_[thread]]; }
  // Makes a step of a thread that can make one. Adds the races of its operation with earlier ones
  // to `races`.
  void step(int thread, std::vector<Race>& races);
  // A hash of the values that the threads have read and of the contents of global memory.
  // Executions that no observer can distinguish have the same outcome.
  std::uint64_t outcome() const;
  // Barriers were used in a way that PTX forbids.
  bool broken() const { return broken_; }
  // A thread iterated a loop more often than is examined.
  bool cut() const { return cut_; }

  static constexpr int kMaxEvents = 64, kMostRounds = 3;

 private:
  using Clock = std::array<std::uint8_t, kMaxThreads>;
  static void join(Clock& to, const Clock& from) {
    for (int i = 0; i < kMaxThreads; ++i) to[i] = std::max(to[i], from[i]);
  }
  // The latest message of each thread and scope, with the clock of the release pattern's first
  // operation.
  struct Messages {
    Clock of[kMaxThreads][4] = {};
    void join(const Messages& from) {
      for (int t = 0; t < kMaxThreads; ++t) {
        for (int s = 0; s < 4; ++s) Execution::join(of[t][s], from.of[t][s]);
      }
    }
  };
  static constexpr int kMaxCells = 16;
  static constexpr int kPlaces = kMaxLocations + kMaxObjects;
  struct Cell {
    std::uint64_t value = 0;
    std::uint64_t accesses = 0, chain = 0;  // events
    std::int8_t last = -1;                  // the last write of the chain
    Messages messages;                      // of the release patterns that the chain holds
  };
  struct Event {
    std::uint8_t thread, op, epoch, location;
    bool strong, reads, writes;
    Scope scope;
    Clock observed = {};  // by thread: its first operation that has observed the write; 0: none
  };
  struct Barrier {
    std::uint8_t came = 0, waiting = 0, arrivals = 0, expected = 0;
    Clock clock = {};
    Messages fences;
  };
  // An mbarrier, or the barrier of a cluster. Each arrival is a strong write of its own. A wait
  // observes it if the two are morally strong, by the arriving thread and its scope (block or
  // cluster).
  struct Phases {
    std::uint8_t arrived = 0, phase = 0;
    Messages pending[kMaxThreads][2], complete[kMaxThreads][2];
  };

  bool can_step(int thread) const;
  void access(int thread, const Op& op, std::vector<Race>& races);
  void fence(int thread, const Op& op);
  void come_to_barrier(int thread, const Op& op);
  void open(Barrier& b);
  void arrive(int thread, const Op& op);
  Messages observed(const Phases& at, int thread, Scope scope) const;
  int cluster_of(int thread) const;
  std::uint64_t read(int location) const;
  void write(int location, std::uint64_t value);
  bool morally_strong(const Event& a, const Event& b) const;
  bool ordered(const Event& before, int thread) const;
  void acquire(int thread, Scope scope, const Messages& messages);

  const Setting* setting_;
  std::uint8_t pc_[kMaxThreads] = {};
  std::uint8_t blocked_ = 0;  // at a barrier
  std::uint8_t polled_ = 0;   // the thread's await has read the present value
  bool broken_ = false;
  Clock clock_[kMaxThreads] = {};
  Messages fences_[kMaxThreads];             // carried by the thread's strong writes
  Messages released_[kMaxThreads][kPlaces];  // of its release operations there
  Messages found_[kMaxThreads][kPlaces];
  Messages sc_;
  Cell cells_[kMaxCells];
  Event events_[kMaxEvents];
  std::uint8_t event_count_ = 0;
  Barrier barriers_[8];
  Phases objects_[kMaxObjects], clusters_[kMaxBlocks];
  std::uint64_t results_[kMaxThreads][kMaxOps] = {};
  std::uint8_t rounds_[kMaxThreads] = {};
  bool cut_ = false;
};

}  // namespace lockstep::litmus
