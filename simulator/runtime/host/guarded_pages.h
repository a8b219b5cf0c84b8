// Protected pages of host memory: an operation that the host has not waited for accesses them.
//
// An area is the pages of one allocation. Each guard on an area closes its pages to the host, or to
// the host's writes. A page has the strictest protection of its guards. Pages can be opened one by
// one; they stay open until another guard is added. Pinned and managed memory has a second address
// for the engine, so only the program's accesses fault. Registered memory has no second address; it
// is open while an operation is executed.
//
// All functions are thread-safe. While holding the mutex, none touches guarded memory, and none
// except add() and settle() allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/memory/box.h"
#include "simulator/runtime/order/clock.h"

namespace lockstep::runtime {

inline constexpr std::uint64_t kPageBytes = 4096;

class GuardedPages {
 public:
  enum class Level : std::uint8_t { kOpen, kReadOnly, kClosed };

  struct Guard {
    memory::Box box;
    Level level = Level::kClosed;
    Lane lane = 0;
    std::uint32_t sequence = 0;
    bool is_kernel = false;       // it may access the box; other operations certainly do
    std::weak_ptr<void> pending;  // valid until the operation has been executed
  };

  // Adds a guard to an allocation's pages and removes an earlier guard of the same lane, box and
  // kind. Returns false if the allocation has no whole page, or is registered memory that the
  // program may not write: restoring its protection would be impossible.
  bool add(const memory::Allocation& allocation, Guard guard);
  // Removes guards whose operations `known` covers, and opens pages that no other guard closes.
  // `is_live`: whether an allocation still exists, by its base and number.
  using IsLive = std::function<bool(memory::Address, std::uint64_t)>;
  void settle(const Clock& known, const IsLive& is_live);
  // Removes all guards.
  void clear(const IsLive& is_live);
  // Whether there are guards.
  bool any() const { return any_; }

  // The state of the page of a faulting address.
  enum class State : std::uint8_t {
    kNone,       // no area
    kOpen,       // the page permits the access: another thread has opened it
    kProtected,  // a guard forbids it
  };
  State state(memory::Address address, bool writes) const;
  // Whether every access of the program that a guard forbids has faulted since the guard was added:
  // the page has not been opened meanwhile. False for registered memory, which is open while an
  // operation is executed.
  bool sees(memory::Address address, bool writes) const;
  // The guards on any of `size` bytes.
  std::vector<Guard> guards(memory::Address address, std::uint64_t size) const;

  // Opens the page of an address until another guard is added. `with_others`: opens a growing
  // number of following pages, too.
  void open(memory::Address address, bool with_others);
  // begin_step() opens the page for one access, end_step() closes it again. Returns false if too
  // many single accesses have been made.
  bool begin_step(memory::Address address);
  void end_step(memory::Address address);

  // Opens registered memory while an operation is executed. Calls may nest. Returns false if there
  // is none; then end_execution() must not be called.
  bool begin_execution();
  void end_execution();

  // Call in the child after a fork: opens all pages.
  void abandon();

  // The limits of single accesses: of a page, of an area between two calls of settle(), and of the
  // process. Beyond them pages stay open.
  static constexpr unsigned kStepsOfPage = 64, kStepsOfArea = 2048, kSteps = 1u << 17;

 private:
  struct Area {
    memory::Address begin = 0, end = 0;  // whole pages
    std::uint64_t id = 0;                // of the allocation
    memory::Address base = 0;
    bool registered = false;
    std::vector<Level> levels;
    bool uniform = true;  // all pages have one level, so large areas need no loop
    std::vector<std::uint8_t> steps;
    std::vector<std::uint8_t> opened;  // by page: open() has been called since the first guard
    std::vector<Guard> guards;
    unsigned steps_of_all = 0;
    std::size_t run = 1;  // number of pages that the next open() opens
  };
  Area* find(memory::Address address);
  const Area* find(memory::Address address) const;
  void apply(Area& area, const std::vector<Level>& wanted, bool also_raise);
  void set_all(Area& area, Level level);
  static void protect(memory::Address begin, memory::Address end, Level level);
  static std::vector<Level> wanted(const Area& area);
  void update_any();

  mutable std::mutex mutex_;
  std::map<memory::Address, Area> areas_;              // by their first page
  std::map<memory::Address, std::uint64_t> left_out_;  // registered memory that is not writable
  std::atomic<bool> any_ = false;
  unsigned steps_ = 0;
  int executing_ = 0;
};

}  // namespace lockstep::runtime
