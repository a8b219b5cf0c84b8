// Pages of the host's memory that are protected, because an operation accesses them that the host
// has not waited for.
//
// An area is the pages of one allocation. Guards lie on it: each closes its pages to the host, or
// to the host's writes. A page is as protected as the strictest of its guards asks. Pages can be
// opened one by one; they stay open until another guard comes. Pinned and managed memory has a
// second address for the engine, so only the program meets the protection; registered memory has
// not, and is opened while an operation is executed.
//
// Thread safety: all functions may be called by several threads at once. None allocates or touches
// guarded memory while it holds the mutex, but for add() and settle(), which allocate.
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
    bool is_kernel = false;       // it may access the box; others do
    std::weak_ptr<void> pending;  // as long as it has not been executed
  };

  // Puts a guard on an allocation's pages. An earlier one of the same lane, box and kind goes.
  // False where the allocation has no whole page, and for registered memory that the program may
  // not write: opening it again would need another protection than its own.
  bool add(const memory::Allocation& allocation, Guard guard);
  // Takes away guards whose operations `known` covers, and opens what no other guard closes.
  // `is_live`: whether an allocation is still there, by its base and number.
  using IsLive = std::function<bool(memory::Address, std::uint64_t)>;
  void settle(const Clock& known, const IsLive& is_live);
  // Takes all guards away.
  void clear(const IsLive& is_live);
  // There are guards.
  bool any() const { return any_; }

  // What a fault at an address means.
  enum class State : std::uint8_t {
    kNone,       // no area
    kOpen,       // the page permits the access: another thread has opened it
    kProtected,  // a guard forbids it
  };
  State state(memory::Address address, bool writes) const;
  // The guards on some of `size` bytes.
  std::vector<Guard> guards(memory::Address address, std::uint64_t size) const;

  // Opens the page of an address for all that is to come; or with a growing run of pages behind it.
  void open(memory::Address address, bool with_others);
  // Opens it for one access, and closes it again. false: it has been open for too many already.
  bool begin_step(memory::Address address);
  void end_step(memory::Address address);

  // Registered memory is open while an operation is executed. Calls may nest. False: there is none,
  // and end_execution() must not follow.
  bool begin_execution();
  void end_execution();

  // After a fork, in the child: opens all.
  void abandon();

  // So many single accesses of a page are looked at, of an area between two settlements, and of the
  // process; then pages stay open.
  static constexpr unsigned kStepsOfPage = 64, kStepsOfArea = 2048, kSteps = 1u << 17;

 private:
  struct Area {
    memory::Address begin = 0, end = 0;  // whole pages
    std::uint64_t id = 0;                // of the allocation
    memory::Address base = 0;
    bool registered = false;
    std::vector<Level> levels;
    bool uniform = true;  // all pages have one level: large areas are not walked through
    std::vector<std::uint8_t> steps;
    std::vector<Guard> guards;
    unsigned steps_of_all = 0;
    std::size_t run = 1;  // pages that the next open() opens
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
