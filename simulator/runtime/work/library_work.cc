#include "simulator/runtime/work/library_work.h"

#include <string>
#include <utility>
#include <vector>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/leaks.h"
#include "simulator/runtime/work/concurrency.h"

struct lockstepRunningWork {
  lockstep::runtime::Runtime& runtime;
  const lockstep::runtime::LibraryCall& call;
  const lockstep::runtime::Operation& at;
  struct Alone {
    std::string name;
    lockstep::memory::Box box;
  };
  std::vector<Alone> alone{};  // what it writes must not overlap these
};

namespace lockstep::runtime {
namespace {

memory::Box box_of(const lockstepRegion& r) {
  memory::Box box;
  box.begin = reinterpret_cast<memory::Address>(r.begin);
  box.width = r.width;
  box.height = r.height;
  box.depth = r.depth;
  box.pitch = r.pitch;
  box.slice = r.slice;
  return box.merged();
}

// Whether the last byte has an address.
bool is_representable(const lockstepRegion& r) {
  std::uint64_t rows = 0, slices = 0, end = reinterpret_cast<memory::Address>(r.begin);
  return !__builtin_mul_overflow(r.height - 1, r.pitch, &rows) &&
         !__builtin_mul_overflow(r.depth - 1, r.slice, &slices) &&
         !__builtin_add_overflow(end, rows, &end) && !__builtin_add_overflow(end, slices, &end) &&
         !__builtin_add_overflow(end, r.width, &end);
}

bool reads(const lockstepRegion& r) {
  return r.use == LOCKSTEP_READS || r.use == LOCKSTEP_READS_ALONE;
}

// "A of cublasSgemm in stream 5"
std::string named(const lockstepRunningWork& w, const lockstepRegion& r) {
  return std::string(r.name) + " of " + w.call.name + w.at.stream.in();
}

void report(const lockstepRunningWork& w, const lockstepRegion& r, check::Kind kind,
            memory::Address address, std::string where, std::string detail = {}) {
  check::Finding f;
  f.kind = kind;
  f.space = "global";
  f.call = w.call.name;
  f.access.address = address;
  f.access.is_write = !reads(r);
  f.where = std::move(where);
  f.detail = std::move(detail);
  const void* const from = w.call.caller;  // of a graph, too: the call that was captured
  f.access.operation = describe_caller(from);
  f.caller = from;
  w.runtime.report({std::move(f)});
}

// The allocation that holds all of the region; nullptr after a finding.
const memory::Allocation* find_allocation(const lockstepRunningWork& w, const lockstepRegion& r,
                                          const memory::Box& box) {
  const memory::DeviceMemory& memory = *w.runtime.memory;
  const auto fail = [&](check::Kind kind, const std::string& what) {
    report(w, r, kind, box.begin, named(w, r) + " " + what,
           "The call was not executed. On a GPU its kernel fails, or uses other memory.");
    return nullptr;
  };
  if (box.begin == 0) return fail(check::Kind::kOutOfBounds, "is a null pointer");
  const memory::Allocation* const a = memory.find(box.begin);
  if (a == nullptr && !memory.in_window(box.begin))
    return fail(check::Kind::kOutOfBounds,
                "(" + hexadecimal(box.begin) + ") is host memory where device memory is meant");
  if (a == nullptr || !a->usable())
    return fail(a == nullptr ? check::Kind::kOutOfBounds : check::Kind::kUseAfterFree,
                "(" + hexadecimal(box.begin) +
                    ") is no live device memory: " + describe_place(memory, box.begin));
  if (!is_representable(r)) return fail(check::Kind::kOutOfBounds, "leaves the address space");
  if (box.begin < a->begin || box.end() > a->end) {
    const std::string end = box.end() > a->end
                                ? " and ends " + bytes(box.end() - a->end) + " past its end"
                                : " and begins " + bytes(a->begin - box.begin) + " before it";
    return fail(check::Kind::kOutOfBounds, "has " + bytes(box.end() - box.begin) + " " +
                                               describe_place(memory, box.begin) + end);
  }
  return a;
}

// Bytes that are read and that nobody has written.
void check_written(const lockstepRunningWork& w, const lockstepRegion& r, const memory::Box& box) {
  const memory::DeviceMemory& memory = *w.runtime.memory;
  std::uint64_t missing = 0;
  memory::Address first = 0;
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const memory::Address begin = box.begin + z * box.slice + y * box.pitch,
                            end = begin + box.width;
      for (memory::Address at = begin; (at = memory.first_unwritten(at, end - at)) < end;) {
        if (missing == 0) first = at;
        const memory::Address until = memory.first_written(at, end - at);
        missing += until - at;
        at = until;
      }
    }
  }
  if (missing == 0) return;
  report(w, r, check::Kind::kUninitialised, first,
         named(w, r) + " has " + bytes(missing) + " that nobody has written, the first " +
             describe_place(memory, first),
         "The call has used them.");
}

void mark(memory::DeviceMemory& memory, const memory::Box& box, bool written) {
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const memory::Address at = box.begin + z * box.slice + y * box.pitch;
      if (written) {
        memory.mark_written(at, box.width);
      } else {
        memory.mark_unwritten(at, box.width);
      }
    }
  }
}

// What is written, and read as another argument.
void check_alone(const lockstepRunningWork& w, const lockstepRegion& r, const memory::Box& box) {
  for (const auto& [name, other] : w.alone) {
    if (!other.overlaps(box)) continue;
    report(w, r, check::Kind::kRace, box.begin,
           named(w, r) + " overlaps " + name + ", which the call reads: nothing orders the two",
           "On a GPU blocks of the call read what others have written.");
    return;
  }
}

void* open(lockstepRunningWork& w, const lockstepRegion& r) {
  const memory::Box box = box_of(r);
  Runtime& runtime = w.runtime;
  const memory::Allocation* const a = find_allocation(w, r, box);
  if (a == nullptr) return nullptr;
  if (r.alignment > 1 && box.begin % r.alignment != 0) {
    report(
        w, r, check::Kind::kMisaligned, box.begin,
        named(w, r) + " (" + hexadecimal(box.begin) + ") is no multiple of " + bytes(r.alignment),
        "The call was not executed. On a GPU its kernel fails.");
    return nullptr;
  }
  check_order(runtime, w.call.name, w.at, box, reads(r) ? Touch::kReads : Touch::kWrites);
  if ((runtime.settings.checks & check::kRaces) != 0) {
    if (!reads(r)) check_alone(w, r, box);
    if (r.use == LOCKSTEP_READS_ALONE) w.alone.push_back({r.name, box});
  }
  if (a->has_shadow) {
    if (!reads(r)) {
      mark(*runtime.memory, box, r.use == LOCKSTEP_WRITES);
    } else if ((runtime.settings.checks & check::kInitialisation) != 0) {
      check_written(w, r, box);
    }
  }
  return runtime.memory->host(*a, reinterpret_cast<memory::Address>(r.begin));
}

}  // namespace

cudaError_t run_library(Runtime& runtime, const LibraryCall& call, const Operation& at) {
  lockstepRunningWork running{runtime, call, at};
  runtime.record.called(call.name);
  return call.run(call.data, &running) == 0 ? cudaSuccess : cudaErrorIllegalAddress;
}

}  // namespace lockstep::runtime

void* lockstepOpenRegion(lockstepRunningWork* running, const lockstepRegion* region) {
  return lockstep::runtime::open(*running, *region);
}
