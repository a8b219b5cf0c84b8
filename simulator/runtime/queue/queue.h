// The queue of operations that were put into streams and have not been executed.
//
// Operations are stored in the order in which they were put, which respects the API's order
// (order/order.h). An operation is ready if its clock covers none of the operations before it in
// the queue. Several operations may be ready; the caller chooses which one to execute next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <random>

#include "simulator/runtime/order/order.h"

namespace lockstep::runtime {

struct Entry {
  Operation at;
  int device = 0;
  bool for_host = false;  // a function of the program: run when the host waits, never during a put
  // What the host had waited for when the operation was put.
  std::shared_ptr<const Clock> host;
  bool running = false;        // a thread executes it
  std::uint64_t tried_at = 0;  // Queue::changes() when it was last found to be waiting
  std::uint64_t turn_in = 0;   // the round in which it was last interrupted
  bool done = false;           // executed or dropped, and no longer in the queue

  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  virtual ~Entry() = default;
};

class Queue {
 public:
  explicit Queue(Order& order) : order_(order) {}

  void add(std::shared_ptr<Entry> entry);
  // Inserts an entry behind another one of the queue, for the same caller. Entries behind that one
  // must be ordered after the new entry, or be unordered with it.
  void insert_behind(const Entry& before, std::shared_ptr<Entry> entry);
  // A shared pointer to the entry.
  std::shared_ptr<Entry> entry(const Entry& entry) const;
  // Removes an entry that has been executed or dropped.
  void remove(Entry& entry);

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool has_host_functions() const { return host_functions_ != 0; }
  const std::list<std::shared_ptr<Entry>>& entries() const { return entries_; }
  // Whether every operation that has been put, executed or not, is ordered before `at` or after it.
  // May return false for reserved numbers (Order::reserve). No operation after `at` may have been
  // executed.
  bool orders_all_with(const Operation& at) const;
  // Whether an operation that `what` covers has not been executed.
  bool has(const Clock& what) const;

  // Restricts the operations that next() may return.
  struct Choice {
    const Clock* what = nullptr;        // operations that it covers; nullptr: all
    bool no_host_functions = false;     // excludes host functions and operations after them
    std::mt19937_64* random = nullptr;  // chooses any; nullptr: the first
  };
  // An operation that is ready and not known to be waiting; nullptr if there is none.
  std::shared_ptr<Entry> next(const Choice& choice) const;

  // Counts events that may have made an operation ready: executed operations and calls of the host.
  std::uint64_t changes() const { return changes_; }
  void changed() { ++changes_; }
  // Begins a round, in which each interrupted operation can have another turn.
  void begin_round() {
    ++rounds_;
    changed();
  }
  // Counts calls of the host that put operations, wait or query.
  std::uint64_t calls() const { return calls_; }
  void called() {
    ++calls_;
    begin_round();
  }
  // Marks the operation as waiting for a condition that does not hold yet.
  void waits(Entry& entry) { entry.tried_at = changes_; }
  // Marks the operation as interrupted: it is ready again in the next round.
  void interrupted(Entry& entry) { entry.turn_in = rounds_; }
  // Adds `what`, which has been executed, to the clocks of all unexecuted operations: they may have
  // learnt of it.
  void learn(const Clock& what);
  // As learn(), for the operations ordered after `at` only.
  void learn_after(const Operation& at, const Clock& what);

 private:
  bool is_stuck(const Entry& entry, bool no_host_functions) const;

  Order& order_;
  std::list<std::shared_ptr<Entry>> entries_;
  std::size_t host_functions_ = 0;  // entries with `for_host`, which does not change in the queue
  std::uint64_t changes_ = 1, calls_ = 0, rounds_ = 1;
};

}  // namespace lockstep::runtime
