// Batteries for arguments far from the case's own: arguments that must not affect the results,
// arguments that set the length of a call, and a launcher's report on both.
#include <algorithm>
#include <optional>

#include "harness/device/device.h"
#include "harness/device/far_array.h"
#include "harness/property/compare.h"
#include "properties/batteries.h"
#include "properties/streams.h"

namespace lockstep::properties {
namespace {

constexpr Whole kBit = 1;

template <class T>
std::vector<T> shuffled(std::vector<T> values, std::uint64_t seed) {
  Bits bits(seed);
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[bits.below(i)]);
  return values;
}

std::string text(const IntegerArgument& argument, Whole value) {
  const bool negative = value < 0;
  return fmt::format("{}:{}{}", argument.name, negative ? "-" : "",
                     static_cast<std::uint64_t>(negative ? -value : value));
}

}  // namespace

// ---- Arguments that must not affect the results.

void require_no_effect_of_immaterial_arguments(Trial& trial, std::uint64_t seed) {
  constexpr std::size_t kValues = 4;  // for each argument
  const Contract& contract = *trial.call().contract;
  if (contract.immaterial_arguments().empty()) return;
  const Stream stream;
  const Results expected = trial.run(Contents::kFirst, stream, "launched");
  const auto restore = trial.call().keep();
  const auto require_same_with = [&](const std::string& when) {
    trial.set(Contents::kFirst, stream);
    trial.launch(stream, when.c_str());
    require_same(trial, trial.results(), expected, when.c_str());
  };
  std::string all;  // one value of each at once
  std::vector<std::pair<const IntegerArgument*, Whole>> together;
  for (const Immaterial& immaterial : contract.immaterial_arguments()) {
    const IntegerArgument& argument = contract.integer_named(immaterial.integer);
    const std::vector<Whole> values =
        shuffled(immaterial.values.empty() ? argument.promised() : immaterial.values, mix(++seed));
    if (values.empty()) continue;
    for (std::size_t i = 0; i < std::min(values.size(), kValues); ++i) {
      argument.set(values[i]);
      require_same_with("with " + text(argument, values[i]));
      restore();
    }
    together.emplace_back(&argument, values.back());
    all += (all.empty() ? "with " : " ") + text(argument, values.back());
  }
  for (const auto& [argument, value] : together) argument->set(value);
  require_same_with(all);
  restore();
}

// ---- Reports of a launcher.

void require_reports_filled(Trial& trial, std::uint64_t) {
  const Contract& contract = *trial.call().contract;
  if (contract.reported().empty()) return;
  const Stream stream;
  const auto restore = trial.call().keep();
  const auto require_filled = [&](const std::string& when, const std::function<void()>& change) {
    std::vector<std::string> first;
    for (const unsigned char junk : {0x5a, 0xa5}) {
      trial.set(Contents::kFirst, stream);
      change();
      for (const Report& report : contract.reported()) report.hand_over(junk);
      trial.launch(stream, when.c_str());
      restore();
      for (std::size_t i = 0; i < contract.reported().size(); ++i) {
        const Report& report = contract.reported()[i];
        if (first.size() <= i) {
          first.push_back(report.text());
          continue;
        }
        REQUIRE_LAW(report.text() == first[i],
                    "{}, {}: {} is not filled in: it says {}, and over other bytes {}",
                    trial.name(), when, report.name, first[i], report.text());
      }
    }
  };
  require_filled("launched", [] {});
  for (const IntegerArgument& argument : contract.integers()) {
    const std::vector<Whole> promised = argument.promised();
    if (std::ranges::find(promised, Whole{0}) != promised.end())
      require_filled("with " + text(argument, 0), [&argument] { argument.set(0); });
  }
}

// ---- Very long calls.

namespace {

constexpr std::size_t kLengthsTried = 5;
// Blocks at the begin of the grid, and as many at its end; fewer if the case has no more.
constexpr std::int64_t kBlocks = 4;

// An array of a longer call: both ends of each row are backed by memory.
class TwoEnds {
 public:
  // `block`: units of the integer for one block of the grid.
  TwoEnds(const ArrayArgument& array, const Line& line, std::int64_t now, std::int64_t value,
          std::int64_t block)
      : array_(array),
        of_first_(block * line.each),
        of_last_((now - (now - 1) / block * block) * line.each),
        before_(array.held->bytes()),
        rows_(line.rows),
        size_(line.rows > 1 ? now * line.each * bytes()
                            : static_cast<std::int64_t>(before_.size())),
        from_(line.stride * bytes()),
        to_((line.stride + (value - now) * line.each) * bytes()),
        behind_((value - now) * line.each * bytes()),
        far_(array.name, parts(), array.begin() % 256) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (const std::int64_t end : {std::int64_t{0}, behind_}) {
        const auto at = static_cast<std::uint64_t>(row * to_ + end);
        far_.write(at, reinterpret_cast<const unsigned char*>(before_.data()) + row * from_,
                   static_cast<std::size_t>(size_));
        if (array.role == Role::kOutput) far_.mark_unwritten(at, static_cast<std::size_t>(size_));
      }
    }
    array.set(reinterpret_cast<std::uintptr_t>(far_.data()) +
              static_cast<std::uintptr_t>(array.footprint.before * bytes()));
  }

  // Elements must hold their old or their `expected` value, and those of the first and of the last
  // block the `expected` one. So must the first and the last elements whose values differ, unless
  // they belong to another block.
  void require(const Bytes& expected, const std::string& when) const {
    require_end(expected, 0, when);
    require_end(expected, behind_, when);
  }

 private:
  std::int64_t bytes() const { return static_cast<std::int64_t>(array_.element_bytes); }
  std::vector<FarArray::Part> parts() const {
    std::vector<FarArray::Part> all;
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (const std::int64_t end : {std::int64_t{0}, behind_})
        all.push_back(
            {static_cast<std::uint64_t>(row * to_ + end), static_cast<std::uint64_t>(size_)});
    }
    return all;
  }
  void require_end(const Bytes& expected, std::int64_t end, const std::string& when) const {
    const auto same = [&](const std::byte* a, const std::byte* b) {
      return std::memcmp(a, b, array_.element_bytes) == 0;
    };
    std::optional<std::pair<std::int64_t, bool>>
        edge;  // a position in the row, and whether it has the new value
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t row = end == 0 ? i : rows_ - 1 - i;
      Bytes now(static_cast<std::size_t>(size_));
      far_.read(static_cast<std::uint64_t>(row * to_ + end),
                reinterpret_cast<unsigned char*>(now.data()), now.size());
      const std::byte* const wanted = expected.data() + row * from_;
      if (std::memcmp(now.data(), wanted, now.size()) == 0) {
        // All of the row is there. If the case changes any of it, no edge is missing.
        if (std::memcmp(before_.data() + row * from_, wanted, now.size()) != 0) return;
        continue;
      }
      for (std::int64_t j = 0; j < size_; j += bytes()) {
        const std::int64_t at = end == 0 ? j : size_ - bytes() - j;
        const std::byte *is = &now[static_cast<std::size_t>(at)],
                        *was = &before_[static_cast<std::size_t>(row * from_ + at)],
                        *becomes = &expected[static_cast<std::size_t>(row * from_ + at)];
        const bool changes = !same(was, becomes);
        if (same(is, becomes) ? false : !same(is, was) || array_.role == Role::kInput) {
          fail_case({Reason::kMismatch, "",
                     fmt::format("{}: '{}' differs from what the case leaves there, first {} "
                                 "elements from the {} of row {}",
                                 when, array_.name, j / bytes(), end == 0 ? "begin" : "end", row)});
        }
        if (changes && !edge) edge.emplace(j / bytes(), same(is, becomes));
        REQUIRE_LAW(
            !changes || i > 0 || j / bytes() >= (end == 0 ? of_first_ : of_last_) ||
                same(is, becomes),
            "{}: element {} of '{}' from its {} is in the {} block of the grid, and not there",
            when, j / bytes(), array_.name, end == 0 ? "begin" : "end",
            end == 0 ? "first" : "last");
      }
      if (edge) break;
    }
    // If the block at the end leaves its elements unchanged, the edge may belong to a block that
    // did not run.
    const std::int64_t of_block = end == 0 ? of_first_ : of_last_;
    const bool may_be_missing = of_block > 0 && edge && edge->first >= of_block;
    REQUIRE_LAW(!edge || edge->second || may_be_missing,
                "{}: the {} element of '{}' that is written is not there", when,
                end == 0 ? "first" : "last", array_.name);
  }

  const ArrayArgument& array_;
  const std::int64_t of_first_, of_last_;  // elements
  const Bytes before_;
  const std::int64_t rows_, size_, from_, to_, behind_;
  FarArray far_;
};

// Lengths at which blocks exceed 16 bits, and elements and bytes exceed 31 and 32 bits, and the
// largest length. Lengths whose low 32 bits are less than a block, or slightly more, are first. The
// seed orders the others.
std::vector<std::int64_t> lengths(const Contract& contract, const Lengthening& l, std::int64_t now,
                                  std::uint64_t seed) {
  Whole widest = 1;  // bytes of a row per unit
  Whole longest = (l.most - now) / l.period;
  for (const Line& line : l.lines) {
    const Whole bytes = static_cast<Whole>(line.each) *
                        static_cast<Whole>(contract.array_named(line.array).element_bytes);
    widest = std::max(widest, bytes);
    longest = std::min(longest,
                       static_cast<Whole>(FarArray::widest() / 2) / (bytes * l.period * line.rows));
  }
  std::vector<std::int64_t> all, others;
  const auto add = [&](std::vector<std::int64_t>& to, Whole periods) {
    const Whole value = now + periods * l.period;
    // The two ends must be separate, with a page between them.
    if (periods < 1 || periods > longest || periods * l.period < 2 * now + (kBit << 16)) return;
    const auto length = static_cast<std::int64_t>(value);
    if (std::ranges::find(all, length) == all.end() &&
        std::ranges::find(others, length) == others.end())
      to.push_back(length);
  };
  const auto up_to = [&](Whole value) { return (value - now + l.period - 1) / l.period; };
  add(all, up_to(kBit << 32)), add(all, (kBit << 32) / l.period + 1);
  add(others, up_to(kBit << 31)), add(others, (kBit << 16) + 3), add(others, longest);
  for (const int bits : {31, 32, 33}) {
    for (const Whole each : {kBit, widest}) add(others, (kBit << bits) / (each * l.period) + 1);
  }
  others = shuffled(std::move(others), seed);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

bool may_have_far_ends(const Contract& contract) {
  return std::ranges::any_of(contract.lengthenings(), [&](const Lengthening& l) {
    return contract.integer_named(l.integer).get() >= 2 * l.block;
  });
}

void require_far_ends(Trial& trial, std::uint64_t seed) {
  const Contract& contract = *trial.call().contract;
  const Stream stream;
  const auto restore = trial.call().keep();
  for (const Lengthening& l : contract.lengthenings()) {
    const IntegerArgument& integer = contract.integer_named(l.integer);
    const auto now = static_cast<std::int64_t>(integer.get());
    if (now < 2 * l.block) continue;  // one block processes all of it
    const Results expected = trial.run(Contents::kFirst, stream, "launched");
    const std::vector<std::int64_t> values = lengths(contract, l, now, mix(++seed));
    for (std::size_t k = 0; k < std::min(values.size(), kLengthsTried); ++k) {
      const std::int64_t value = values[k];
      const std::string what = "with " + text(integer, value), when = trial.name() + ", " + what;
      trial.set(Contents::kFirst, stream);
      std::vector<std::unique_ptr<TwoEnds>> arrays;
      for (const Line& line : l.lines)
        arrays.push_back(
            std::make_unique<TwoEnds>(contract.array_named(line.array), line, now, value, l.block));
      integer.set(value);
      if (l.also) l.also(value);
      {
        const SampledBlocks sampled(
            static_cast<std::uint64_t>(std::min<std::int64_t>(kBlocks, now / l.block)));
        trial.launch(stream, what.c_str());
      }
      restore();
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        const ArrayArgument& array = contract.array_named(l.lines[i].array);
        const auto result = std::ranges::find(expected, array.name, &Result::name);
        arrays[i]->require(result == expected.end() ? array.held->bytes() : result->bytes, when);
      }
    }
  }
}

}  // namespace lockstep::properties
