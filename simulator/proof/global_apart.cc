// Apartness in global memory: by the strides of affine addresses, or byte by byte.
//
// Ignores barriers, which order only the threads of one block.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "simulator/proof/apart.h"

namespace lockstep::proof {

using isa::Space;

namespace {

// Limits for the byte-by-byte search: accesses of single threads, and bytes.
constexpr std::uint64_t kMostTouches = 1 << 20;
constexpr std::uint64_t kMostBytes = 1 << 22;

// Accesses whose bytes may overlap.
using Group = std::vector<const Place*>;

// One index of an address: `count` values, `stride` bytes apart.
struct Dimension {
  Wide stride = 0, count = 0;
};

// Whether addresses with different indices are always at least `bytes` apart. With strides sorted
// by size, each must be at least as long as the reach of all shorter ones.
bool are_far(std::vector<Dimension> dimensions, Wide bytes) {
  for (Dimension& d : dimensions) d.stride = d.stride < 0 ? -d.stride : d.stride;
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  Wide reach = bytes;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Dimension& d = dimensions[i];
    if (d.count <= 1) continue;
    if (d.stride < reach) return false;
    // A loop without a bound may only be the last dimension.
    if (d.count > Wide{1} << 40) return i + 1 == dimensions.size();
    reach += d.stride * (d.count - 1);
  }
  return true;
}

// The dimensions of the group's addresses that are common to a block's threads: the grid's blocks
// and the rounds of loops.
std::vector<Dimension> common_dimensions(const Group& group, const Values& values,
                                         const Shape& shape) {
  const std::map<Symbol, std::int64_t>& factors = group.front()->address->factors;
  std::vector<Dimension> dimensions;
  for (Symbol s = 0; s < kFirstLoop; ++s) {
    const auto it = factors.find(s);
    dimensions.push_back({it == factors.end() ? Wide{0} : Wide{it->second},
                          shape.grid[static_cast<std::size_t>(s)]});
  }
  for (const auto& [s, f] : factors) {
    if (s >= kFirstLoop)
      dimensions.push_back({f, values.symbols()[static_cast<std::size_t>(s)].high + 1});
  }
  return dimensions;
}

// The bytes that a thread of block 0 accesses in round 0 of all loops.
struct Span {
  Wide begin = 0, end = 0;
  std::size_t thread = 0;
  bool writes = false;
};

std::vector<Span> spans_of(const Group& group, std::size_t threads) {
  std::vector<Span> spans;
  for (const Place* p : group) {
    for (std::size_t t = 0; t < threads; ++t) {
      const Wide at = p->address->of(t);
      if (p->access.threads[t]) spans.push_back({at, at + p->access.size, t, p->access.writes});
    }
  }
  return spans;
}

// Whether no thread accesses a byte that another writes, and all bytes lie within `extent` bytes.
// Overlapping spans count as one.
bool spans_are_apart(std::vector<Span> spans, Wide* extent) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  Wide end = spans.front().end;
  std::size_t thread = spans.front().thread;
  bool writes = spans.front().writes, several = false;
  for (const Span& s : spans) {
    if (s.begin >= end) {
      thread = s.thread;
      writes = several = false;
    }
    writes |= s.writes;
    several |= s.thread != thread;
    if (writes && several) return false;
    end = std::max(end, s.end);
  }
  *extent = end - spans.front().begin;
  return true;
}

// The strides of %tid.x, .y and .z. nullopt if the group's addresses depend on the thread in
// another way.
std::optional<std::array<Wide, 3>> thread_strides(const Group& group, const Shape& shape) {
  const std::size_t x = shape.block[0], y = shape.block[1];
  std::optional<std::array<Wide, 3>> strides;
  for (const Place* p : group) {
    const Form& f = *p->address;
    const auto from_first = [&](std::size_t t) {
      return t < shape.threads() ? Wide{f.of(t)} - f.of(0) : Wide{0};
    };
    const std::array<Wide, 3> own{x > 1 ? from_first(1) : 0, y > 1 ? from_first(x) : 0,
                                  shape.block[2] > 1 ? from_first(x * y) : 0};
    for (std::size_t t = 0; t < shape.threads(); ++t) {
      if (from_first(t) !=
          own[0] * Wide(t % x) + own[1] * Wide(t / x % y) + own[2] * Wide(t / x / y))
        return std::nullopt;
    }
    if (strides && *strides != own) return std::nullopt;
    strides = own;
  }
  return strides;
}

bool apart_by_strides(const Group& group, const Values& values, const Shape& shape) {
  for (const Place* p : group) {
    if (p->address->factors != group.front()->address->factors) return false;
  }
  std::vector<Dimension> dimensions = common_dimensions(group, values, shape);
  // First attempt: threads of a block one by one, blocks and rounds by their strides.
  std::vector<Span> spans = spans_of(group, values.threads());
  if (spans.empty()) return true;
  Wide extent = 0;
  if (spans_are_apart(spans, &extent) && are_far(dimensions, extent)) return true;
  // Second attempt: everything by strides.
  const auto strides = thread_strides(group, shape);
  if (!strides) return false;
  for (std::size_t i = 0; i < 3; ++i)
    dimensions.push_back({(*strides)[i], static_cast<Wide>(shape.block[i])});
  Wide begin = kNoBound, end = -kNoBound;
  for (const Place* p : group) {
    begin = std::min(begin, Wide{p->address->of(0)});
    end = std::max(end, Wide{p->address->of(0)} + p->access.size);
  }
  return are_far(dimensions, end - begin);
}

// For each byte, the thread of the grid that accessed it, plus 1.
class Owners {
 public:
  explicit Owners(const Extent& e) : begin_(e.begin), bytes_(e.end - e.begin) {}
  // Records an access. False if two threads access a byte and one of them writes.
  bool touch(Wide at, std::uint32_t size, std::uint64_t thread, bool writes) {
    // Rounds of a counter that only other threads reach.
    if (at < Wide(begin_) || at + size > Wide(begin_ + bytes_.size())) return true;
    const auto from = static_cast<std::size_t>(at - Wide(begin_));
    for (std::size_t b = from; b < from + size; ++b) {
      Byte& byte = bytes_[b];
      byte.writes |= writes;
      byte.several |= byte.thread != 0 && byte.thread != thread + 1;
      byte.thread = thread + 1;
      if (byte.writes && byte.several) return false;
    }
    return true;
  }

 private:
  struct Byte {
    std::uint64_t thread : 62 = 0, writes : 1 = 0, several : 1 = 0;
  };
  std::uint64_t begin_;
  std::vector<Byte> bytes_;
};

bool apart_byte_by_byte(const Group& group, const Values& values, const Shape& shape) {
  Extent all = group.front()->access.bytes;
  for (const Place* p : group) {
    all.begin = std::min(all.begin, p->access.bytes.begin);
    all.end = std::max(all.end, p->access.bytes.end);
  }
  if (all.end - all.begin > kMostBytes) return false;
  Owners owners(all);
  Wide budget = kMostTouches;
  for (const Place* p : group) {
    const Form& f = *p->address;
    const std::vector<Dimension> dimensions = common_dimensions({p}, values, shape);
    Wide rounds = 1;
    for (const Dimension& d : dimensions) {
      if (d.count > kMostTouches) return false;
      rounds *= d.count;
      if (rounds > kMostTouches) return false;
    }
    budget -= rounds * Wide(values.threads());
    if (budget < 0) return false;
    const std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    for (std::uint64_t round = 0; round < static_cast<std::uint64_t>(rounds); ++round) {
      Wide more = 0;
      auto rest = static_cast<Wide>(round);
      for (const Dimension& d : dimensions) {
        more += d.stride * (rest % d.count);
        rest /= d.count;
      }
      for (std::size_t t = 0; t < values.threads(); ++t) {
        // The grid's dimensions come first.
        const std::uint64_t thread = round % blocks * values.threads() + t;
        if (p->access.threads[t] &&
            !owners.touch(f.of(t) + more, p->access.size, thread, p->access.writes))
          return false;
      }
    }
  }
  return true;
}

// Accesses with unknown addresses, which may belong to any group.
struct Elsewhere {
  bool reads = false, writes = false;
  std::uint32_t atomics = 0;  // their size; 0: there are none
};

bool is_written(const Group& group) {
  return std::any_of(group.begin(), group.end(), [](const Place* p) { return p->access.writes; });
}
bool has_strong(const Group& group) {
  return std::any_of(group.begin(), group.end(), [](const Place* p) { return p->access.strong; });
}

// Whether no two accesses of the group race, nor one of them with an atomic elsewhere.
bool is_apart(const Group& group, const Values& values, const Shape& shape,
              const Elsewhere& elsewhere) {
  if (!is_written(group) && elsewhere.atomics == 0) return true;
  // Atomics of one size do not race with each other.
  const Access& first = group.front()->access;
  if (first.is_atomic_of(elsewhere.atomics) &&
      std::all_of(group.begin(), group.end(), [&](const Place* p) {
        return p->access.is_atomic_of(first.size) && p->access.aligned;
      }))
    return true;
  if (elsewhere.atomics != 0) return false;
  // Strong accesses may race with weak ones, and may order other accesses.
  if (has_strong(group)) return false;
  return apart_by_strides(group, values, shape) || apart_byte_by_byte(group, values, shape);
}

}  // namespace

void part_global(const Values& values, const Shape& shape, std::vector<Place>& places) {
  std::vector<Place*> global;
  Elsewhere elsewhere;
  for (Place& p : places) {
    if (p.access.space != Space::kGlobal) continue;
    if (!p.address || !p.access.in_bounds) {
      if (p.access.is_atomic_of(elsewhere.atomics)) {
        elsewhere.atomics = p.access.size;  // misaligned ones are never executed
        continue;
      }
      elsewhere.reads |= p.access.reads;
      elsewhere.writes |= p.access.writes;
    } else if (p.access.bytes.begin == p.access.bytes.end) {
      p.access.apart = true;  // no thread gets here
    } else {
      global.push_back(&p);
    }
  }
  if (elsewhere.writes) return;
  std::sort(global.begin(), global.end(), [](const Place* a, const Place* b) {
    return a->access.bytes.begin < b->access.bytes.begin;
  });
  for (std::size_t from = 0; from < global.size();) {
    Group group;
    std::uint64_t end = 0;
    std::size_t to = from;
    for (; to < global.size() && (group.empty() || global[to]->access.bytes.begin < end); ++to) {
      group.push_back(global[to]);
      end = std::max(end, global[to]->access.bytes.end);
    }
    const bool may_be_read = elsewhere.reads && (is_written(group) || elsewhere.atomics != 0),
               apart = !(may_be_read && (has_strong(group) || elsewhere.atomics != 0)) &&
                       is_apart(group, values, shape, elsewhere);
    for (; from < to; ++from) {
      global[from]->access.apart = apart && !may_be_read;
      global[from]->access.apart_unless_read = apart && may_be_read;
    }
  }
}

}  // namespace lockstep::proof
