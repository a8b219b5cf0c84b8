// One execution of a litmus program, step by step, and the races in it: PTX ISA 8.7 to 8.9 as they
// stand.
//
// Memory is sequentially consistent, as on the simulated GPU: a read gets the last value written.
// Every thread, that is every lane, has a vector clock: base causality order (8.9.5). Every write
// keeps who has observed it (8.9.2), for the second clause of causality order.
//
//   release pattern   its writes carry a message: who, at which scope, and the clock of the
//                     pattern's first operation
//   acquire pattern   its reads find messages; its last operation takes those for which the
//                     scopes of both ends reach each other (8.9.4)
//
// Written from the manual and not from the rules of the simulated GPU's search for races, which it
// judges.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/litmus/program.h"

namespace lockstep::litmus {

// Where the search for races is known to differ from the manual, or the manual leaves a choice. As
// initialised, the manual holds. Each is counted apart where it explains a difference (compare.h).
struct Rules {
  // 8.9.3: fence.sc operations synchronise in the order in which they are executed. Else they are
  // fence.acq_rel.
  bool fence_sc = true;
  // A fence before a block barrier counts for the strong writes of the block's other threads after
  // it:
  // `__threadfence(); __syncthreads(); if (t == 0) flag = 1;`. The manual wants a fence of the
  // writing thread's own.
  bool block_fences = false;
  // 8.7: strong operations of different sizes on the same bytes are morally strong, too.
  bool mixed_sizes = false;
  // An atom whose result nobody reads is as red: ptxas makes it one.
  bool unused_atom_is_red = false;
  // 8.9.2: red observes what it changes, for its thread. (8.8: no acquire pattern, whatever this
  // says.)
  bool red_observes = false;
  // A barrier of the block is a fence for the strong reads of the threads that come to it: the
  // last-block example of the CUDA C++ Programming Guide has no other.
  bool barrier_fences = false;
  // Operations on mbarrier objects reach the cluster, whatever their scope: libraries arrive at
  // other blocks' objects with the scope that they have by default, .cta.
  bool mbarrier_scopes = false;
  // A strong access may be morally strong with the last write of a chain. Then it does not race
  // with the chain's writes by other blocks, even if its scope, or theirs, is too narrow. (At least
  // three threads.)
  bool chain_stands = false;
  // 8.9.2: a weak read of what an atomic of its own thread has left observes the chain before that
  // atomic. (Such a read races with the chain itself, unless something else orders them.)
  bool weak_observes = true;
  bool operator==(const Rules&) const = default;
};

// Two operations that race, by thread and place in it; the first one is earlier in the execution.
struct Race {
  std::uint8_t thread = 0, op = 0, other_thread = 0, other_op = 0;
  auto operator<=>(const Race&) const = default;
};

// What does not change while a program runs.
class Setting {
 public:
  Setting(const Program& program, const Rules& rules);

  const Program& program() const { return *program_; }
  const Rules& rules() const { return rules_; }
  // The threads that an operation of `thread` at `scope` reaches: a bit each.
  std::uint8_t reach(int thread, Scope scope) const {
    return reach_[thread][static_cast<int>(scope)];
  }
  std::uint8_t warp_mates(int thread) const { return warp_mates_[thread]; }
  std::uint8_t block_mates(int thread) const { return reach(thread, Scope::kCta); }
  std::uint8_t cluster_mates(int thread) const { return reach(thread, Scope::kCluster); }
  // Stretches of bytes that every location covers wholly or not at all; a bit each.
  std::uint16_t cells(int location) const { return cells_[location]; }
  struct Cell {
    std::uint8_t begin = 0, bytes = 0, arena = 0;
  };
  const Cell& cell(int number) const { return all_cells_[number]; }
  // Barriers of blocks and warps, numbered over all blocks.
  int barrier(int thread, const Op& op) const;
  // Of a warp barrier: the threads in its mask.
  std::uint8_t in_mask(int thread, std::uint32_t mask) const;
  // Warps of the thread's block that hold threads.
  int warps(int thread) const { return warps_[thread]; }

  // Whether it makes no difference which of two threads' next operations comes first.
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

// The state of an execution. Small and plain: searches copy it at every step.
class Execution {
 public:
  explicit Execution(const Setting& setting);

  // Threads that can make a step: a bit each.
  std::uint8_t enabled() const;
  bool finished() const;
  const Op& next(int thread) const { return setting_->program().threads[thread].ops[pc_[thread]]; }
  // Makes a step of a thread that can; adds the races of its operation with earlier ones to
  // `races`.
  void step(int thread, std::vector<Race>& races);
  // The values that the threads' operations have read, and the contents of global memory.
  // Executions that no observer can distinguish have the same outcome.
  std::uint64_t outcome() const;
  // Barriers were used as PTX forbids.
  bool broken() const { return broken_; }
  // A thread went round a loop more often than is looked at.
  bool cut() const { return cut_; }

  static constexpr int kMaxEvents = 64, kMostRounds = 3;

 private:
  using Clock = std::array<std::uint8_t, kMaxThreads>;
  static void join(Clock& to, const Clock& from) {
    for (int i = 0; i < kMaxThreads; ++i) to[i] = std::max(to[i], from[i]);
  }
  // The latest message of each thread and scope: the first operation of a release pattern.
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
    Clock observed = {};  // the first operation of each thread that has observed it; 0: none
  };
  struct Barrier {
    std::uint8_t came = 0, waiting = 0, arrivals = 0, expected = 0;
    Clock clock = {};
    Messages fences;
  };
  // An mbarrier, or the barrier of a cluster. Each arrival is a strong write of its own, which a
  // wait observes if the two are morally strong: by the arriving thread and its scope, block or
  // cluster.
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
  std::uint8_t polled_ = 0;   // the thread's await has read what is there now
  bool broken_ = false;
  Clock clock_[kMaxThreads] = {};
  Messages fences_[kMaxThreads];             // that the thread's strong writes carry
  Messages released_[kMaxThreads][kPlaces];  // its release operations there, likewise
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
