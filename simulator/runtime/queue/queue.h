// Operations that were put into streams and have not been executed.
//
// They stand in the order in which they were put. That order keeps all that the API orders
// (order/order.h), so an operation is ready when none before it in the queue is covered by its
// clock. Others than the first may be ready, too: which of them is executed next is for the caller
// to choose.
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
  bool for_host = false;  // a function of the program: run where the host waits, never in a put
  // What the host had waited for when it was put.
  std::shared_ptr<const Clock> host;
  bool running = false;        // a thread executes it
  std::uint64_t tried_at = 0;  // Queue::changes() when it was last found to wait for something
  bool done = false;           // executed or dropped: it is in the queue no more

  Entry() = default;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  virtual ~Entry() = default;
};

class Queue {
 public:
  explicit Queue(Order& order) : order_(order) {}

  void add(std::shared_ptr<Entry> entry);
  // Adds one behind another that is in the queue, for the same caller. What stands behind that
  // comes after the new one, or in no order with it.
  void insert_behind(const Entry& before, std::shared_ptr<Entry> entry);
  // The entry, to keep.
  std::shared_ptr<Entry> entry(const Entry& entry) const;
  // It has been executed or dropped.
  void remove(Entry& entry);

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const std::list<std::shared_ptr<Entry>>& entries() const { return entries_; }
  // Whether something that `what` covers has not been executed.
  bool has(const Clock& what) const;

  // Which operations next() may give.
  struct Choice {
    const Clock* what = nullptr;        // those that it covers; nullptr: all
    bool no_host_functions = false;     // nor what comes after such a function
    std::mt19937_64* random = nullptr;  // any of them; nullptr: the first
  };
  // One that is ready, and is not known to wait for something else; nullptr: there is none.
  std::shared_ptr<Entry> next(const Choice& choice) const;

  // Counts what may have made an operation ready: one that was executed, a call of the host.
  std::uint64_t changes() const { return changes_; }
  void changed() { ++changes_; }
  // Calls of the host that put something, wait or ask.
  std::uint64_t calls() const { return calls_; }
  void called() {
    ++calls_;
    changed();
  }
  // The operation waits for something that is not there yet.
  void waits(Entry& entry) { entry.tried_at = changes_; }
  // Clocks of all that has not been executed are to cover this as well: it has been executed, and
  // they may have learnt of it.
  void learn(const Clock& what);
  // The same of those that come after the operation.
  void learn_after(const Operation& at, const Clock& what);

 private:
  bool is_stuck(const Entry& entry, bool no_host_functions) const;

  Order& order_;
  std::list<std::shared_ptr<Entry>> entries_;
  std::uint64_t changes_ = 1, calls_ = 0;
};

}  // namespace lockstep::runtime
