#include "harness/property/contract.h"

#include <algorithm>
#include <cstring>

#include "harness/device/device.h"

namespace lockstep {
namespace {

// The lowest address used for arrays that must lie far apart. No such array is ever accessed.
constexpr std::uintptr_t kLow = 1 << 12;

// Moves arrays without elements too: a mistake or promise may give them some.
void move_to(const ArrayArgument& a, std::uintptr_t begin) { a.set(begin + (a.get() - a.begin())); }

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Returns an address for each of `arrays` arrays, so that the two arrays of every pair are far
// apart. The address space is split into parts of one size, as few as a greedy assignment needs.
// Two parts suffice if every array is always first or always second in its pairs.
std::vector<std::uintptr_t> far_apart(std::size_t arrays, const Pairs& pairs) {
  const auto is_second = [&](std::size_t a) {
    return std::ranges::find(pairs, a, &Pairs::value_type::second) != pairs.end();
  };
  const bool two_sides =
      std::ranges::none_of(pairs, [&](const auto& pair) { return is_second(pair.first); });
  std::vector<std::size_t> part(arrays, 0);
  std::size_t parts = 2;
  for (std::size_t a = 0; a < arrays; ++a) {
    const auto taken = [&](std::size_t p) {
      return std::ranges::any_of(pairs, [&](const auto& pair) {
        return std::max(pair.first, pair.second) == a &&
               part[std::min(pair.first, pair.second)] == p;
      });
    };
    if (two_sides) {
      part[a] = is_second(a) ? 1 : 0;
    } else {
      while (taken(part[a])) ++part[a];
    }
    parts = std::max(parts, part[a] + 1);
  }
  // The parts' share of 2^64 bytes, rounded down to whole pages; for two parts 2^63.
  const std::uintptr_t size = (~std::uintptr_t{0} / parts + 1) & ~(kLow - 1);
  std::vector<std::uintptr_t> places;
  for (const std::size_t p : part) places.push_back(kLow + p * size);
  return places;
}

// A 64-bit integer, signed or unsigned, as text.
std::string text(Whole value) {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
  return (value < 0 ? "-" : "") + std::to_string(magnitude);
}

}  // namespace

bool Range::contains(Whole value) const {
  if (!only.empty()) return std::ranges::find(only, value) != only.end();
  return value >= least && value <= most && (value - least) % step == 0;
}

void IntegerArgument::set(Whole value) const {
  // The low bytes are first in memory on every machine that CUDA supports.
  for (const Place& place : places) std::memcpy(place.at, &value, place.bytes);
}

std::vector<Whole> IntegerArgument::refused() const {
  std::vector<Whole> candidates;
  if (legal.only.empty()) {
    candidates = {legal.least - 1, legal.least - legal.step, legal.least + 1, legal.most + 1,
                  legal.most + legal.step};
  } else {
    for (const Whole value : legal.only)
      candidates.insert(candidates.end(), {value - 1, value + 1});
  }
  candidates.insert(candidates.end(), {-1, type_least, type_most});
  std::vector<Whole> values;
  for (const Whole value : candidates) {
    const bool fits = value >= type_least && value <= type_most;
    if (fits && !legal.contains(value) && std::ranges::find(values, value) == values.end())
      values.push_back(value);
  }
  return values;
}

Whole IntegerArgument::get() const {
  // Sign-extends if the type is signed: the least value of an unsigned type is 0.
  std::uint64_t word = 0;
  std::memcpy(&word, places[0].at, places[0].bytes);
  const std::size_t unused = 64 - 8 * places[0].bytes;
  return type_least < 0 ? Whole{static_cast<std::int64_t>(word << unused) >> unused} : Whole{word};
}

std::vector<Whole> IntegerArgument::promised() const {
  constexpr Whole kBit = 1;
  std::vector<Whole> candidates = legal.here.empty() ? legal.only : legal.here;
  if (candidates.empty()) {
    const Whole last = legal.least + (legal.most - legal.least) / legal.step * legal.step;
    candidates = {legal.least, last, kBit << 31, kBit << 32, (kBit << 32) + legal.least};
    // Multiples of 16 bytes, which wide copies require, and multiples of the step.
    for (const int bits : {33, 34, 36, 40, 44, 48, 56, 60})
      candidates.push_back(legal.least + (kBit << bits) / legal.step * legal.step);
    for (const int bits : {33, 34, 36, 40, 44, 48, 56, 60}) candidates.push_back(kBit << bits);
  }
  std::vector<Whole> values;
  for (const Whole value : candidates) {
    const bool fits = value >= type_least && value <= type_most;
    if (fits && legal.contains(value) && std::ranges::find(values, value) == values.end())
      values.push_back(value);
  }
  return values;
}

std::uintptr_t ArrayArgument::get() const {
  std::uintptr_t address;
  std::memcpy(&address, place, sizeof address);
  return address;
}
void ArrayArgument::set(std::uintptr_t address) const {
  std::memcpy(place, &address, sizeof address);
}
std::uintptr_t ArrayArgument::begin() const { return get() - footprint.before * element_bytes; }
std::uintptr_t ArrayArgument::end() const {
  return get() + (footprint.count + footprint.after) * element_bytes;
}

Contract::Contract(std::string launcher) : launcher_(std::move(launcher)) {}
Contract::Contract(Contract&&) noexcept = default;
Contract::~Contract() = default;

void Contract::integer(std::string name, Range legal, Whole type_least, Whole type_most,
                       std::vector<IntegerArgument::Place> places) {
  integers_.push_back(
      {std::move(name), std::move(legal), type_least, type_most, std::move(places)});
}

void Contract::array(std::string name, Role role, const Footprint& footprint,
                     const ElementType& type, void* place, ArrayArgument::Make make) {
  arrays_.push_back(
      {std::move(name), role, footprint, type.bytes, type.hash, place, std::move(make), nullptr});
  std::size_t& alignment = arrays_.back().footprint.alignment;
  if (alignment == 0) alignment = type.alignment;
}

const ArrayArgument& Contract::array_named(std::string_view name) const {
  const auto at = std::ranges::find(arrays_, name, &ArrayArgument::name);
  if (at == arrays_.end())
    throw std::logic_error(launcher_ + " has no array '" + std::string(name) + "'");
  return *at;
}

void Contract::apart(std::string_view one, std::string_view other) {
  apart_.emplace_back(&array_named(one) - arrays_.data(), &array_named(other) - arrays_.data());
}

void Contract::spread(std::string_view array, std::string name, Range legal,
                      std::function<std::vector<Piece>(std::int64_t)> place) {
  spreads_.push_back(
      {array_named(array).name, std::move(name), std::move(legal), std::move(place)});
}

void Contract::place_rows(std::string_view array, std::int64_t rows, std::int64_t columns,
                          std::string name, Range legal, std::int64_t unit, std::int64_t stride,
                          std::function<void(std::int64_t)> set) {
  if (rows < 2 || columns < 1) return;
  const auto elements = [unit, bytes = static_cast<std::int64_t>(array_named(array).element_bytes)](
                            std::int64_t v) { return unit == 0 ? v : v * unit / bytes; };
  spread(array, std::move(name), std::move(legal),
         [rows, columns, elements, stride, set = std::move(set)](std::int64_t value) {
           std::vector<Piece> pieces;
           for (std::int64_t i = 0; i < rows; ++i)
             pieces.push_back({i * elements(stride), columns, i * elements(value)});
           set(value);
           return pieces;
         });
}

void Contract::together(std::string name, Whole most, std::function<void(std::int64_t)> set) {
  together_.push_back({std::move(name), most, std::move(set)});
}

void Contract::reaches_no_further(std::string_view name) {
  integers_[&integer_named(name) - integers_.data()].extends = false;
}

void Contract::immaterial(std::string_view name, std::vector<Whole> values) {
  immaterial_.push_back({integer_named(name).name, std::move(values)});
}

void Contract::lengthens(std::string_view name, std::int64_t block, Whole most,
                         std::vector<Line> lines, std::function<void(std::int64_t)> also,
                         std::int64_t period) {
  lengthenings_.push_back({integer_named(name).name, block, period == 0 ? block : period, most,
                           std::move(lines), std::move(also)});
}

void Contract::report(std::string name, std::function<void(unsigned char junk)> hand_over,
                      std::function<std::string()> text) {
  reports_.push_back({std::move(name), std::move(hand_over), std::move(text)});
}

void Contract::mistake(std::string name, std::function<void()> make) {
  named_.push_back({std::move(name), std::move(make)});
}

void Contract::promise(std::string name, std::function<void()> make) {
  promised_.push_back({std::move(name), std::move(make)});
}

void Contract::own_kernels(std::string_view name, std::vector<Whole> values) {
  const IntegerArgument& argument = integer_named(name);
  if (values.empty()) {
    for (Whole v = argument.legal.least; v <= argument.legal.most; ++v) values.push_back(v);
  }
  own_kernels_.push_back({argument.name, std::move(values)});
}

void Contract::reads(cudaDeviceAttr property) { properties_read_.push_back(property); }

void Contract::product(std::vector<std::string> names, Whole most, std::vector<Whole> each) {
  each.resize(names.size(), most);
  products_.push_back({std::move(names), most, std::move(each)});
}

std::vector<Contract::Factors> Contract::last_factors(const Product& product) const {
  constexpr Whole kBit = 1;
  std::vector<Factors> all;
  const std::vector<std::string>& names = product.names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (i == j) continue;
      const IntegerArgument &one = integer_named(names[i]), &other = integer_named(names[j]);
      for (const Whole b : {Whole{2}, Whole{3}, kBit << 5, kBit << 16, kBit << 31}) {
        for (const Whole a : {product.most / b, product.most / b + 1}) {
          if (a < 1 || a > std::min(product.each[i], one.type_most) ||
              b > std::min(product.each[j], other.type_most))
            continue;
          all.push_back({one.name + ":" + text(a) + "," + other.name + ":" + text(b),
                         [this, &names, &one, &other, a, b] {
                           for (const std::string& name : names) integer_named(name).set(1);
                           one.set(a), other.set(b);
                         },
                         a * b});
        }
      }
    }
  }
  return all;
}

const IntegerArgument& Contract::integer_named(std::string_view name) const {
  const auto at = std::ranges::find(integers_, name, &IntegerArgument::name);
  if (at == integers_.end())
    throw std::logic_error(launcher_ + " has no integer '" + std::string(name) + "'");
  return *at;
}

void Contract::allocate(bool null_where_empty) {
  for (ArrayArgument& array : arrays_) {
    if (null_where_empty && array.footprint.count == 0) continue;
    auto [held, data] = array.make();
    array.held = std::move(held);
    array.set(reinterpret_cast<std::uintptr_t>(data));
  }
}

void Contract::require_untouched(const Site& site) const {
  for (const ArrayArgument& array : arrays_) {
    if (array.held) array.held->require_untouched(site);
  }
}

// An overlap is the smallest at either end that the alignment of the moved array allows: one
// element for arrays of one type. All other arguments stay legal, so that only the mistake explains
// the refusal.
std::vector<Contract::Change> Contract::all_mistakes() const {
  std::vector<Change> all;
  for (const IntegerArgument& argument : integers_) {
    for (const Whole value : argument.refused()) {
      all.push_back(
          {argument.name + ":" + text(value), [&argument, value] { argument.set(value); }});
    }
  }
  for (const ArrayArgument& array : arrays_) {
    if (array.footprint.count == 0) continue;
    all.push_back({array.name + ":null", [&array] { array.set(0); }});
    for (std::size_t bytes = 1; bytes < array.footprint.alignment; ++bytes) {
      all.push_back({array.name + ":misaligned_by_" + std::to_string(bytes),
                     [&array, bytes] { array.set(array.get() + bytes); }});
    }
  }
  for (const auto& [one, other] : apart_) {
    const ArrayArgument &still = arrays_[one], &moved = arrays_[other];
    if (still.footprint.count == 0 || moved.footprint.count == 0) continue;
    const std::uintptr_t mask = ~(std::uintptr_t{moved.footprint.alignment} - 1);
    const auto at = [&still, &moved, mask] { moved.set(still.get() & mask); };
    all.push_back({moved.name + ":at_" + still.name, at});
    // Sizes in bytes that wrap to 0 in 32 bits: a launcher may take the array for empty, which
    // overlaps nothing.
    for (const IntegerArgument& argument : integers_) {
      for (const Whole value : {Whole{1} << 30, Whole{1} << 32}) {
        if (value > argument.type_most || !argument.legal.contains(value) ||
            value <= argument.get())
          continue;
        all.push_back({argument.name + ":" + text(value) + "," + moved.name + ":at_" + still.name,
                       [&argument, value, at] { argument.set(value), at(); }});
      }
    }
    all.push_back({moved.name + ":begins_in_" + still.name, [&still, &moved, mask] {
                     moved.set((still.end() - 1 + (moved.get() - moved.begin())) & mask);
                   }});
    all.push_back({moved.name + ":ends_in_" + still.name, [&still, &moved, mask] {
                     moved.set((still.begin() + 1 - (moved.end() - moved.get()) + ~mask) & mask);
                   }});
  }
  // Two factors whose product wraps to a small number in 32 or 64 bits.
  constexpr Whole kBit = 1;
  constexpr std::pair<Whole, Whole> kFactors[] = {{kBit << 16, kBit << 16},
                                                  {kBit << 31, 2},
                                                  {2, kBit << 31},
                                                  {kBit << 32, kBit << 32},
                                                  {kBit << 33, kBit << 31}};
  for (const Product& product : products_) {
    for (std::size_t i = 0; i < product.names.size(); ++i) {
      for (std::size_t j = i + 1; j < product.names.size(); ++j) {
        const IntegerArgument &one = integer_named(product.names[i]),
                              &other = integer_named(product.names[j]);
        for (const auto& [a, b] : kFactors) {
          if (a > one.type_most || b > other.type_most || a <= product.most / b) continue;
          all.push_back({one.name + ":" + text(a) + "," + other.name + ":" + text(b),
                         [&one, &other, a, b] { one.set(a), other.set(b); }});
        }
      }
    }
  }
  // The arrays move far apart first: a longer array then overlaps no other, and only the product
  // explains the refusal.
  for (const Product& product : products_) {
    for (const Factors& factors : last_factors(product)) {
      if (factors.product > product.most)
        all.push_back({factors.name, [this, set = factors.set] { move_far_apart(), set(); }});
    }
  }
  for (const Together& t : together_) {
    all.push_back({t.name + ":" + text(t.most + 1), [this, &t] {
                     move_far_apart();
                     t.set(static_cast<std::int64_t>(t.most + 1));
                   }});
  }
  all.insert(all.end(), named_.begin(), named_.end());
  return all;
}

// Arrays that must be apart move to separate parts of the address space. With two parts, an array
// of the largest size that can be promised just fills its part.
void Contract::move_far_apart() const {
  const std::vector<std::uintptr_t> places = far_apart(arrays_.size(), apart_);
  for (const auto& [one, other] : apart_) {
    move_to(arrays_[one], places[one]);
    move_to(arrays_[other], places[other]);
  }
}

std::vector<Contract::Change> Contract::all_promises() const {
  std::vector<Change> all;
  // An array moves beside another one. Any third array that it must not overlap moves out of the
  // way.
  const auto clear_way_for = [this](std::size_t array, std::size_t beside) {
    const std::vector<std::uintptr_t> places = far_apart(arrays_.size(), apart_);
    for (const auto& [one, other] : apart_) {
      if (other == array && one != beside) move_to(arrays_[one], places[one]);
      if (one == array && other != beside) move_to(arrays_[other], places[other]);
    }
  };
  for (const IntegerArgument& argument : integers_) {
    for (const Whole value : argument.promised()) {
      all.push_back({argument.name + ":" + text(value), [this, &argument, value] {
                       // A larger value needs more room than the case's arrays have.
                       if (argument.extends && value > argument.get()) move_far_apart();
                       argument.set(value);
                     }});
    }
  }
  for (const auto& [one, other] : apart_) {
    const ArrayArgument &still = arrays_[one], &moved = arrays_[other];
    if (still.footprint.count == 0 || moved.footprint.count == 0) continue;
    const std::uintptr_t mask = ~(std::uintptr_t{moved.footprint.alignment} - 1);
    const std::size_t beside = one, array = other;
    all.push_back({moved.name + ":right_after_" + still.name, [=, &still, &moved] {
                     clear_way_for(array, beside);
                     moved.set((still.end() + (moved.get() - moved.begin()) + ~mask) & mask);
                   }});
    all.push_back({moved.name + ":right_before_" + still.name, [=, &still, &moved] {
                     clear_way_for(array, beside);
                     moved.set((still.begin() - (moved.end() - moved.get())) & mask);
                   }});
  }
  for (const Product& product : products_) {
    for (const Factors& factors : last_factors(product)) {
      if (factors.product <= product.most)
        all.push_back({factors.name, [this, set = factors.set] { move_far_apart(), set(); }});
    }
  }
  for (const Together& t : together_) {
    all.push_back({t.name + ":" + text(t.most), [this, &t] {
                     move_far_apart();
                     t.set(static_cast<std::int64_t>(t.most));
                   }});
  }
  for (const Change& promise : promised_) {
    all.push_back({promise.name, [this, &promise] {
                     move_far_apart();
                     promise.make();
                   }});
  }
  return all;
}

std::vector<std::string> Contract::promises() const {
  std::vector<std::string> names;
  for (Change& promise : all_promises()) names.push_back(std::move(promise.name));
  return names;
}

std::vector<Contract::Change> Contract::named(std::vector<Change> all,
                                              const std::vector<std::string>& names,
                                              const char* what) const {
  std::vector<Change> changes;
  auto at = all.begin();
  for (const std::string& name : names) {
    at = std::ranges::find(at, all.end(), name, &Change::name);
    if (at == all.end()) throw std::logic_error(launcher_ + " has no " + what + " '" + name + "'");
    changes.push_back(std::move(*at++));
  }
  return changes;
}

std::vector<Contract::Change> Contract::promises_named(
    const std::vector<std::string>& names) const {
  return named(all_promises(), names, "promise");
}

void Contract::make_promise(const std::string& promise) { promises_named({promise})[0].make(); }

std::vector<std::string> Contract::mistakes() const {
  std::vector<std::string> names;
  for (Change& mistake : all_mistakes()) names.push_back(std::move(mistake.name));
  return names;
}

std::vector<Contract::Change> Contract::mistakes_named(
    const std::vector<std::string>& names) const {
  return named(all_mistakes(), names, "mistake");
}

void Contract::make(const std::string& mistake) { mistakes_named({mistake})[0].make(); }

namespace {

std::string prefix_of(const detail::Contracts& contracts, const Contract& contract) {
  return contracts.size() > 1 ? contract.launcher() + "." : "";
}

// All `names` of one contract for kEach, else the one that `which` is with its prefix.
std::vector<std::string> selected(std::vector<std::string> names, const std::string& prefix,
                                  const std::string& which) {
  if (which != detail::kEach)
    std::erase_if(names, [&](const std::string& name) { return prefix + name != which; });
  return names;
}

std::vector<std::string> names_of(const detail::Contracts& contracts,
                                  std::vector<std::string> (Contract::*names)() const) {
  std::vector<std::string> all;
  for (const Contract* contract : contracts) {
    const std::string prefix = prefix_of(contracts, *contract);
    for (const std::string& name : (contract->*names)()) all.push_back(prefix + name);
  }
  return all;
}

// Requires that the launcher of `call` refuses each of these mistakes of its contract.
void require_refusals(const BoundCall& call, const std::vector<Contract::Change>& mistakes) {
  if (mistakes.empty()) return;
  call.contract->allocate();
  const auto restore = call.keep();
  std::string what;
  Site site = {__FILE__, __LINE__, nullptr};
  for (const Contract::Change& mistake : mistakes) {
    what = call.contract->launcher() + " with " + mistake.name;
    site.what = what.c_str();
    mistake.make();
    cudaGetLastError();
    Answer answer;
    const std::vector<lockstepOperation> operations =
        operations_of([&] { answer = call.launch(nullptr); });
    restore();
    require_refused(site, answer);
    // CUDA itself returns the same error code: check that the launcher refused.
    if (!operations.empty()) {
      detail::fail_at(
          site, Reason::kLaw,
          fmt::format("must be refused before any operation on the device, but {}{} came first",
                      operations[0].call,
                      operations[0].kind == LOCKSTEP_FAILED_CALL ? ", which failed," : ""));
    }
    if (answer.of_cuda || cudaPeekAtLastError() != cudaSuccess) {
      detail::fail_at(site, Reason::kLaw,
                      fmt::format("must be refused by the launcher, but it was CUDA that did ({})",
                                  answer.message));
    }
  }
  call.contract->require_untouched(site);
}

}  // namespace

std::vector<std::string> detail::mistakes_of(const Contracts& contracts) {
  return names_of(contracts, &Contract::mistakes);
}

std::vector<std::string> detail::promises_of(const Contracts& contracts) {
  return names_of(contracts, &Contract::promises);
}

detail::Contracts detail::contracts_of(const BoundCalls& calls) {
  Contracts contracts;
  for (const BoundCall& call : calls.calls) contracts.push_back(call.contract);
  return contracts;
}

std::string detail::one_or_each(const std::function<std::vector<std::string>()>& names,
                                const std::string& which) {
  if (which == kEach) return kEach;
  const std::vector<std::string> all = names();
  return std::ranges::find(all, which) == all.end() ? kEach : which;
}

void require_refusals(const BoundCalls& calls, const std::string& mistake) {
  const detail::Contracts contracts = detail::contracts_of(calls);
  for (const BoundCall& call : calls.calls) {
    const std::string prefix = prefix_of(contracts, *call.contract);
    std::vector<Contract::Change> mistakes = call.contract->all_mistakes();
    if (mistake != detail::kEach)
      std::erase_if(mistakes, [&](const auto& m) { return prefix + m.name != mistake; });
    require_refusals(call, mistakes);
  }
}

std::vector<std::string> promises_named(const BoundCalls& calls, const BoundCall& call,
                                        const std::string& promise) {
  const Contract& contract = *call.contract;
  return selected(contract.promises(), prefix_of(detail::contracts_of(calls), contract), promise);
}

Domain<std::string> detail::each_or_one_of(std::function<std::vector<std::string>()> names) {
  const auto all = [names = std::move(names)] {
    std::vector<std::string> all = names();
    all.push_back(kEach);
    return all;
  };
  const auto draw = [](Bits&) { return std::string(kEach); };
  const auto simpler = [all](const std::string& name) {
    std::vector<std::string> names = all();
    names.erase(std::ranges::find(names, name), names.end());
    return names;
  };
  Domain<std::string> d{gen_by<std::string>(draw, simpler)};
  d.describe = [all] {
    std::string text;
    for (const std::string& name : all()) text.append(text.empty() ? "one of " : ", ").append(name);
    return text;
  };
  d.print = [](const std::string& name) { return name; };
  d.parse = [all](std::string_view text, std::string& name) {
    const std::vector<std::string> names = all();
    if (std::ranges::find(names, text) == names.end()) return false;
    name = text;
    return true;
  };
  return d;
}

}  // namespace lockstep
