// The order between the threads of one block: which accesses are ordered before what each thread
// does next (base causality order, PTX ISA 8.9.5). These accesses are what the thread "knows".
//
// Barriers of the whole block divide its time into epochs. An access of an earlier epoch is ordered
// before every access of this epoch. Within an epoch each warp has a clock, which smaller
// synchronisations advance. An access is stamped with its epoch and clock.
//
// Knowledge is stored by warp. A lane that knows more than its warp has a store of its own until
// the lanes of the warp synchronise. Lock-step execution, votes and shuffles order nothing.
//
// Release patterns (8.8): a release operation, or a fence followed by a strong write, leaves a
// Message at the location that it writes (story.h). Acquire patterns: an acquire operation that
// reads there, or a strong read followed by a fence, adds the message to what the thread knows.
// Both scopes must include the other thread.
//
// Three rules order more than the manual does. Programs that look correct rely on them, among them
// the last-block example of the CUDA C++ Programming Guide:
// - Fences of the block's other threads, before a barrier with them, count as fences before this
//   thread's strong writes after the barrier: `__threadfence(); __syncthreads(); if (t == 0) flag =
//   1;`.
// - Fences that the other lanes of the warp execute in the same instruction count likewise.
// - A barrier of the block is a fence for the strong reads before it: `if (t == 0) last =
//   atomicInc(...) == n - 1; __syncthreads(); if (last) ...`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/check/knowledge.h"
#include "simulator/check/scope.h"
#include "simulator/check/thread_clocks.h"

namespace lockstep::check {

class GridOrder;

class BlockOrder {
 public:
  static constexpr std::uint32_t kClockMax = ThreadClocks::kMax;

  BlockOrder();
  ~BlockOrder();
  BlockOrder(BlockOrder&&) = delete;

  // Epochs are numbered over all blocks that this object serves.
  std::uint32_t epoch() const { return epoch_number_; }
  std::uint32_t clock(std::uint32_t warp) const { return clock_[warp]; }
  std::uint32_t block() const { return block_; }
  // Whether block `other` belongs to the launch of this block.
  bool is_of_launch(std::uint32_t other) const { return other - first_block_ < blocks_; }

  // Whether the access of thread `other` of this block, stamped `clock` in this epoch, is ordered
  // before what `thread` does now. Threads are numbered in the block.
  bool ordered(std::uint32_t other, std::uint32_t clock, std::uint32_t thread) const {
    const std::uint32_t w = thread >> 5, v = other >> 5;
    if (clock == kClockMax) return true;  // the clock has run out
    if (v == w &&
        (all_lanes_[w] > clock ||
         (lanes_used_ && lane_clock_[(w * 32 + (thread & 31)) * 32 + (other & 31)] > clock)))
      return true;
    return partial_ &&
           (known_[w].cover(v, other & 31, clock) ||
            ((apart_[w] >> (thread & 31) & 1) && known_to_lane(other, clock, thread)) ||
            (knows_others_ && knows(thread, block_, epoch_number_, v, other & 31, clock)));
  }
  // The lanes of `warp` of this block for whose accesses ordered() holds.
  std::uint32_t ordered_lanes(std::uint32_t warp, std::uint32_t clock, std::uint32_t thread) const;
  // As ordered(), for an access of another block.
  bool ordered_after_block(std::uint32_t thread, std::uint32_t block, std::uint32_t epoch,
                           std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
    return knows_others_ && knows(thread, block, epoch, warp, lane, clock);
  }
  // As ordered_lanes(), for a warp of another block.
  std::uint32_t lanes_ordered_after_block(std::uint32_t thread, std::uint32_t block,
                                          std::uint32_t epoch, std::uint32_t warp,
                                          std::uint32_t clock) const {
    return knows_others_ ? known_lanes(thread, block, epoch, warp, clock) : 0;
  }
  // As ordered(), for a block of another launch. Also true if the thread knows of a launch that is
  // ordered after that launch.
  bool ordered_after_launch(std::uint32_t thread, std::uint32_t block) const;
  // Whether the thread knows of a launch that is ordered after the `sequence`-th operation of a
  // lane. If so, the operation is ordered before whatever the thread does next.
  bool ordered_after_operation(std::uint32_t thread, std::uint32_t lane,
                               std::uint32_t sequence) const;
  // Whether some thread of the block knows of other blocks.
  bool knows_of_others() const { return knows_others_; }
  // Whether threads of warp `w` may differ in what they know of warp `v` of `block`, or may know
  // some of its lanes and not others.
  bool knows_lanes_apart(std::uint32_t w, std::uint32_t block, std::uint32_t v) const;
  // Whether an access is ordered before what all lanes of warp `w` do now or before none of it, but
  // for accesses of the lanes themselves.
  bool orders_lanes_alike(std::uint32_t w) const { return apart_[w] == 0 && !lanes_used_; }
  // Whether warp `w` has been ordered, in this epoch, after accesses of its own lanes or of other
  // warps.
  bool partly_ordered(std::uint32_t w) const {
    return partial_ || lanes_used_ || all_lanes_[w] != 0;
  }
  // The accesses that are ordered before whatever `lanes` of warp `w` do now, and their own
  // accesses before the present clock. `all`: `lanes` are all lanes that the warp has ever had.
  ThreadClocks clocks_known_to(std::uint32_t w, std::uint32_t lanes, bool all) const;
  Knowledge known_to(std::uint32_t w, std::uint32_t lanes, bool all) const {
    return known_to(w, lanes, clocks_known_to(w, lanes, all));
  }

  // Call after the warp has accessed a matrix as a whole (ldmatrix, wgmma). PTX does not say that
  // the lanes synchronise there, but programs let one lane release the accesses of the others. So a
  // release by any lane covers everything that the warp has done so far. The lanes are not ordered
  // among themselves.
  void accessed_as_one(std::uint32_t warp) { as_one_[warp] = clock_[warp] + 1; }
  // From now on a release by any lane of `warp` covers everything that `other` has done so far.
  // Call when both warps have read shared memory as one warpgroup (wgmma) and `warp` has waited for
  // it.
  void accessed_as_group(std::uint32_t warp, std::uint32_t other);
  // Advances the warp's clock: later accesses get a later stamp.
  void tick(std::uint32_t warp) {
    clock_[warp] = clock_[warp] < kClockMax ? clock_[warp] + 1 : kClockMax;
  }
  // Ends a release operation. A compare-and-swap that wrote nothing released nothing: it made no
  // message.
  void end_release(std::uint32_t warp) {
    if (released_ >> warp & 1) tick(warp);
    released_ &= ~(1u << warp);
  }
  // bar.warp.sync of `lanes`; `all`: these are all lanes that the warp has ever had.
  void warp_sync(std::uint32_t warp, std::uint32_t lanes, bool all);
  // arrive(): lanes of a warp arrive at a barrier in which not all warps take part. complete(): the
  // `waiting` warps leave it. `all`: `lanes` are all lanes that the warp has ever had.
  void arrive(std::uint32_t warp, int barrier, std::uint32_t lanes = ~0u, bool all = true);
  // Returns whether the waiting warps may now know more of other blocks.
  bool complete(int barrier, std::uint32_t waiting);
  // Fences by `lanes`: an acquire of the messages that their strong reads have found, a release, or
  // both.
  void acquire_fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope);
  void release_fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope);
  void fence(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope) {
    acquire_fence(warp, lanes, all, scope);
    release_fence(warp, lanes, all, scope);
  }

  // Whether a strong write of `thread` that is no release leaves a message, because a fence
  // precedes it.
  bool has_fenced(std::uint32_t thread) const {
    return block_fenced_ != 0 || (fenced_[thread >> 5] >> (thread & 31) & 1) != 0;
  }
  // Whether that holds for any thread of the warp.
  bool has_fenced_in(std::uint32_t warp) const { return block_fenced_ != 0 || fenced_[warp] != 0; }
  // Adds the messages that a strong write of `thread` leaves: one for each fence before it.
  void leave(std::uint32_t thread, Messages& at);
  // The message of `lanes` as a release operation leaves it, with the operation's own accesses;
  // `all` as in known_to(). end_release() must follow, before the lanes access anything else.
  Message message_of(std::uint32_t warp, std::uint32_t lanes, bool all, Scope scope);
  // Executes an acquire operation of `scope` by `thread` that has read a location with these
  // messages. Returns whether the scopes of the operation and of every message include the other's
  // thread.
  bool acquire(std::uint32_t thread, const Messages& found, Scope scope);
  // Stores the messages that a strong read has found. A later fence, or a later acquire operation
  // on the same location, acquires them. `location` is any number that identifies it; `version`
  // changes with its messages.
  void remember(std::uint32_t thread, std::uint64_t location, std::uint64_t version,
                const Messages& found);
  bool remembers() const { return !pending_.empty(); }
  void acquire_remembered(std::uint32_t thread, std::uint64_t location, Scope scope);
  // As acquire() of one thread, for `lanes` that read one location together. `all`: `lanes` are all
  // lanes that have not exited.
  void acquire(std::uint32_t warp, std::uint32_t lanes, bool all, const Messages& found,
               Scope scope);
  // Adds `what` to the knowledge of one thread, of lanes of a warp, or of all threads of the block.
  void learn(std::uint32_t thread, const Knowledge& what);
  void learn(std::uint32_t warp, std::uint32_t lanes, bool all, const Knowledge& what);
  void learn(const Knowledge& what);
  // Drops the stores of lanes that know no more, beyond their warp, than each other does. `lanes`:
  // all that have not exited.
  void put_together(std::uint32_t warp, std::uint32_t lanes) {
    if (apart_[warp] != 0) put_lanes_together(warp, lanes);
  }
  const GridOrder& grid() const { return *grid_; }
  void publish(const ReleaseClock& done) const;
  // Ends the block. Launches ordered after this one then know what the block knows of other blocks.
  void end_block();
  // What all threads of the block know of other blocks.
  const VectorClock& known_to_all() const { return others_; }
  std::uint32_t cluster() const { return cluster_; }

 protected:
  // Starts a block. `cluster`: blocks in a cluster. Nothing is published unless there are other
  // blocks.
  void start_block(std::uint32_t block, std::uint32_t cluster, GridOrder* grid);
  // Starts an epoch: a barrier of every thread that has not exited, or the start of a block.
  // `is_fence`: it counts as a fence for strong reads. Returns whether the block as a whole knows
  // more of other blocks.
  bool next_epoch(bool is_fence = true);

  std::uint32_t epoch_number_ = 0;
  std::uint32_t clock_[32] = {};
  std::uint32_t all_lanes_[32] = {};  // clock at the last synchronisation of all lanes of the warp
  bool partial_ = false;  // threads are ordered in this epoch by other means than the members above
  bool lanes_used_ = false;  // some order between single lanes in this epoch

 private:
  struct Lane {
    ThreadClocks clocks;
    VectorClock others;
    bool operator==(const Lane&) const = default;
  };
  // The accesses that a fence covers: `what`, and those of the thread itself before `clock`.
  struct Fence {
    std::shared_ptr<const Knowledge> what;
    std::uint32_t clock = 0;
  };
  static constexpr int kScopes = 3;
  struct Fences {
    Fence of[32][kScopes];
  };
  struct Barrier {
    ThreadClocks clocks;
    VectorClock others;
    std::shared_ptr<const Knowledge> fenced[kScopes];
  };
  struct Pending {
    std::uint32_t thread;
    std::uint64_t location, version;
    Messages found;
  };
  static constexpr std::size_t kMostPending = 256;

  // As known_to(), with these clocks of the block itself.
  Knowledge known_to(std::uint32_t w, std::uint32_t lanes, ThreadClocks own) const;
  void use_partial();
  bool hand_on(bool is_fence);
  bool reached(const Message& m, Scope scope) const;
  bool known_to_lane(std::uint32_t other, std::uint32_t clock, std::uint32_t thread) const;
  bool knows(std::uint32_t thread, std::uint32_t block, std::uint32_t epoch, std::uint32_t warp,
             std::uint32_t lane, std::uint32_t clock) const;
  std::uint32_t known_lanes(std::uint32_t thread, std::uint32_t block, std::uint32_t epoch,
                            std::uint32_t warp, std::uint32_t clock) const;
  bool knows_all_of(std::uint32_t thread, const ReleaseClock& done) const;
  void put_lanes_together(std::uint32_t warp, std::uint32_t lanes);
  // Joins what lanes of the warp know beyond their warp into `clocks` and `others`.
  void join_lanes(std::uint32_t warp, std::uint32_t lanes, ThreadClocks& clocks,
                  VectorClock& others) const;
  Lane& lane(std::uint32_t thread);
  VectorClock& others_of_warp(std::uint32_t warp);
  // Joins the fences of these lanes, each with its thread's own clock, into `all`.
  void join_fences(std::uint32_t warp, std::uint32_t lanes,
                   std::shared_ptr<const Knowledge> (&all)[kScopes]) const;
  void join_into(std::shared_ptr<const Knowledge>& all, std::shared_ptr<const Knowledge> k) const;
  // Joins the messages that strong reads of these lanes have found into `clocks` and `others`.
  void join_pending(std::uint32_t warp, std::uint32_t lanes, ThreadClocks& clocks,
                    VectorClock& others) const;
  void set_fences(std::uint32_t warp, std::uint32_t lanes,
                  const std::shared_ptr<const Knowledge> (&all)[kScopes]);

  std::uint32_t block_ = 0, cluster_ = 1;
  std::uint32_t first_block_ = 0, blocks_ = ~0u;  // of the launch
  GridOrder* grid_ = nullptr;
  std::unique_ptr<GridOrder> own_grid_;  // of a block that is alone
  std::uint32_t as_one_[32] = {};       // any lane's release covers what was done before this clock
  std::vector<ThreadClocks> as_group_;  // by warp: other warps' accesses that its releases cover
  std::vector<std::uint32_t> lane_clock_;  // [warp][lane][other lane]
  std::vector<ThreadClocks> known_;        // by warp, without what its lanes know of each other
  std::uint32_t apart_[32] = {};           // lanes that know more than their warp
  std::unique_ptr<std::array<Lane, 32>> lanes_[32];
  bool knows_others_ = false;                // some thread knows of other blocks
  VectorClock others_;                       // what all threads know of other blocks
  std::vector<VectorClock> others_of_warp_;  // what threads of a warp know beyond `others_`
  std::vector<Barrier> barrier_;             // by barrier: what the warps that arrived know
  std::uint32_t released_ = 0;               // warps in a release operation
  std::uint32_t fenced_[32] = {};            // lanes that have fenced since the last barrier
  std::unique_ptr<Fences> fences_[32];
  std::shared_ptr<const Knowledge>
      fenced_before_[kScopes];  // by any thread, before a barrier of the block
  bool touched_ = false;        // any member after `clock_` that next_epoch() resets is in use
  int block_fenced_ = 0;        // how many of `fenced_before_` are set
  std::vector<Pending> pending_;
};

}  // namespace lockstep::check
