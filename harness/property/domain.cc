#include "harness/property/domain.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <set>

namespace lockstep {
namespace {

// Sizes at which kernels fail: tile, warp and block sizes, their multiples, and the limits of
// 16-bit and grid dimensions, each with its neighbours.
std::vector<std::int64_t> make_boundaries() {
  std::set<std::int64_t> centres = {4,   8,   16,  24,  32,  48,   64,   96,   128,  160, 192,
                                    256, 320, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
  for (int k = 13; k <= 40; ++k) centres.insert(std::int64_t{1} << k);
  centres.insert(65535);  // gridDim.y and .z
  std::set<std::int64_t> all = {0, 1, 2, 3};
  for (std::int64_t centre : centres) {
    for (std::int64_t d = -1; d <= 1; ++d) all.insert(centre + d);
  }
  return {all.begin(), all.end()};
}

const std::vector<std::int64_t>& boundaries() {
  static const std::vector<std::int64_t> kBoundaries = make_boundaries();
  return kBoundaries;
}

// The share of each kind in the draws of sizes(), in thousandths. A case of 2^20 elements costs as
// much as thousands of small ones. With five in a thousand, ten thousand cases still hold fifty
// large ones and near ten million elements in all.
constexpr std::uint64_t kSmall = 350;     // uniform among the first hundred
constexpr std::uint64_t kBoundary = 480;  // a boundary up to kCheap
constexpr std::uint64_t kMultiple = 65;   // a multiple of the warp up to kCheap, +-1
constexpr std::uint64_t kSpread = 100;    // log-uniform up to kCheap
constexpr std::int64_t kCheap = 16384;    // the rest is above: boundaries, hi itself, log-uniform

std::int64_t log_uniform(Bits& bits, std::int64_t lo, std::int64_t hi) {  // 1 <= lo <= hi
  const int lo_width = std::bit_width(static_cast<std::uint64_t>(lo)),
            hi_width = std::bit_width(static_cast<std::uint64_t>(hi));
  const int width =
      lo_width + static_cast<int>(bits.below(static_cast<std::uint64_t>(hi_width - lo_width + 1)));
  const std::int64_t first = std::max(lo, std::int64_t{1} << (width - 1));
  const std::int64_t last =
      std::min<std::int64_t>(hi, static_cast<std::int64_t>((std::uint64_t{1} << width) - 1));
  return first +
         static_cast<std::int64_t>(bits.below(static_cast<std::uint64_t>(last - first) + 1));
}

std::int64_t boundary_between(Bits& bits, std::int64_t lo, std::int64_t hi) {
  const auto& all = boundaries();
  const auto first = std::lower_bound(all.begin(), all.end(), lo),
             last = std::upper_bound(all.begin(), all.end(), hi);
  if (first == last) return bits.chance(50) ? lo : hi;
  return first[static_cast<std::ptrdiff_t>(bits.below(static_cast<std::uint64_t>(last - first)))];
}

std::int64_t sample_size(Bits& bits, std::int64_t lo, std::int64_t hi) {
  const std::int64_t cheap = std::clamp(lo > kCheap / 2 ? hi : kCheap, lo, hi);
  const std::uint64_t draw = bits.below(1000);
  if (draw < 10) return lo;
  if (draw < kSmall)
    return lo + static_cast<std::int64_t>(bits.below(
                    static_cast<std::uint64_t>(std::min<std::int64_t>(hi - lo, 100)) + 1));
  if (draw < kSmall + kBoundary) return boundary_between(bits, lo, cheap);
  if (draw < kSmall + kBoundary + kMultiple) {
    const std::int64_t warps =
        static_cast<std::int64_t>(bits.below(static_cast<std::uint64_t>(cheap / 32) + 1));
    return std::clamp(32 * warps - 1 + static_cast<std::int64_t>(bits.below(3)), lo, hi);
  }
  if (draw < kSmall + kBoundary + kMultiple + kSpread || cheap == hi) {
    return cheap < 1 ? lo + static_cast<std::int64_t>(
                                bits.below(static_cast<std::uint64_t>(cheap - lo) + 1))
                     : log_uniform(bits, std::max<std::int64_t>(lo, 1), cheap);
  }
  // The remaining five in a thousand.
  switch (bits.below(5)) {
    case 0: return hi;
    case 1: return log_uniform(bits, cheap, hi);
    default: return boundary_between(bits, cheap, std::max(cheap, hi >> bits.below(5)));
  }
}

// Values from `draw` with the shrinks of simpler_integers().
rc::Gen<std::int64_t> integers(std::function<std::int64_t(Bits&)> draw, std::int64_t lo,
                               std::int64_t hi) {
  return gen_by<std::int64_t>(std::move(draw), [lo, hi](std::int64_t word) {
    return detail::simpler_integers(word, lo, hi);
  });
}

}  // namespace

std::uint64_t Bits::next() { return mix(state_ += kSplitMixStep); }

std::uint64_t Bits::below(std::uint64_t bound) {
  // The high half of a 128-bit product; its bias, below bound / 2^64, is far smaller than any test
  // could see.
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

void Turns::next_case() {
  if (!picked_.empty()) ++turn_;
  picked_.clear();
}

std::uint64_t Turns::pick(std::uint64_t count) {
  const std::uint64_t number = picked_.size();
  if (choices_.size() <= number) choices_.emplace_back();
  Choice& choice = choices_[number];
  // A round is `count` turns, in which each option is used once. From round to round a choice
  // advances by its own step: two choices with equally many options then form all pairs.
  std::uint64_t step = 0;
  for (std::uint64_t round = count < 2 ? 0 : turn_ / count, digits = number + 1;
       digits != 0 && count >= 2; round /= count, digits /= count)
    step += round % count * (digits % count);
  Bits order(mix(seed_ + number * kSplitMixStep));
  std::vector<std::uint64_t> options(std::max<std::uint64_t>(count, 1));
  for (std::uint64_t i = 0; i < options.size(); ++i) {
    const std::uint64_t at = order.below(i + 1);
    options[i] = options[at];
    options[at] = i;
  }
  if (choice.used.size() != options.size() || !std::ranges::count(choice.used, false))
    choice.used.assign(options.size(), false);
  // These steps alone would couple a choice of 2 options with one of 3. Therefore take, of the
  // options left in the round, the one that forms most new pairs; if equal, the one that is due
  // first. A pair of choices with few options counts more, because there are enough cases for all
  // its pairs.
  constexpr double kNone = -1;
  double most = kNone;
  std::uint64_t best = 0;
  for (std::uint64_t i = 0; i < options.size(); ++i) {
    const std::uint64_t option = options[(turn_ + step + i) % options.size()];
    if (choice.used[option]) continue;
    double fresh = 0;
    for (std::uint64_t other = 0; other < number; ++other) {
      if (!choice.met[other].contains({picked_[other], option}))
        fresh += 1.0 / static_cast<double>(choices_[other].used.size());
    }
    if (fresh > most) most = fresh, best = option;
  }
  choice.used[best] = true;
  for (std::uint64_t other = 0; other < number; ++other)
    choice.met[other].insert({picked_[other], best});
  picked_.push_back(best);
  return best;
}

std::vector<std::int64_t> detail::simpler_integers(std::int64_t value, std::int64_t lo,
                                                   std::int64_t hi) {
  const std::int64_t target = std::clamp<std::int64_t>(0, lo, hi);  // the simplest of all
  std::vector<std::int64_t> out;
  if (value == target) return out;
  const bool up = value > target;
  const auto distance = [&](std::int64_t v) {
    return up ? static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(target)
              : static_cast<std::uint64_t>(target) - static_cast<std::uint64_t>(v);
  };
  const std::uint64_t own = distance(value);
  const auto offer = [&](std::int64_t v) {
    if (v < lo || v > hi || (v != target && (v > target) != up) || distance(v) >= own) return;
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  };
  offer(target);
  if (up) {
    offer(1);
    for (std::int64_t boundary : boundaries()) {
      if (boundary >= value) break;
      if (boundary < 65540) offer(boundary);  // above that, halving suffices
    }
  } else if (value < 0) {
    if (value != std::numeric_limits<std::int64_t>::min() && -value <= hi)
      out.push_back(-value);  // a positive number reads more easily
    offer(-1);
  }
  for (std::uint64_t step = own / 2; step > 0; step /= 2) {
    const std::uint64_t from = static_cast<std::uint64_t>(value);
    offer(static_cast<std::int64_t>(up ? from - step : from + step));
  }
  return out;
}

rc::Gen<std::int64_t> detail::held_to(rc::Gen<std::int64_t> gen, const WordDomain& words) {
  const auto check = [parse = words.parse, print = words.print,
                      describe = words.describe](std::int64_t word) {
    std::int64_t parsed;
    if (parse(print(word), parsed) && parsed == word) return word;
    throw std::logic_error("a generator drew '" + print(word) +
                           "', which is not in its domain: " + describe());
  };
  return [gen = std::move(gen), check](const rc::Random& random, int size) {
    return rc::shrinkable::map(gen(random, size), check);
  };
}

detail::WordDomain detail::range_of_words(std::int64_t lo, std::int64_t hi) {
  if (lo > hi)
    throw std::invalid_argument("range: " + std::to_string(lo) + " is above " + std::to_string(hi));
  const auto draw = [lo, hi](Bits& bits) {
    const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
    if (bits.chance(10)) return bits.chance(50) ? lo : hi;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + (span == ~std::uint64_t{0}
                                                                           ? bits.next()
                                                                           : bits.below(span + 1)));
  };
  WordDomain d{integers(draw, lo, hi)};
  d.print = [](std::int64_t word) { return std::to_string(word); };
  d.parse = [lo, hi](std::string_view text, std::int64_t& word) {
    return parse_integer(text, word) && word >= lo && word <= hi;
  };
  d.describe = [lo, hi] { return std::to_string(lo) + " ... " + std::to_string(hi); };
  return d;
}

namespace {

using Options = std::vector<detail::NamedWord>;

// The list with these options, which lives as long as the program. A case type makes its domains
// anew for every case; functions that only point to a list need no memory of their own.
const Options& kept(Options options) {
  struct Before {
    bool operator()(const detail::NamedWord& a, const detail::NamedWord& b) const {
      return a.word != b.word ? a.word < b.word : a.text < b.text;
    }
    bool operator()(const Options& a, const Options& b) const {
      return std::ranges::lexicographical_compare(a, b, Before());
    }
  };
  static std::mutex mutex;
  static std::set<Options, Before> all;
  const std::lock_guard lock(mutex);
  return *all.insert(std::move(options)).first;
}

}  // namespace

detail::WordDomain detail::choice_of_words(std::vector<NamedWord> named) {
  if (named.empty()) throw std::invalid_argument("choice: nothing to choose from");
  const Options* const options = &kept(std::move(named));
  const auto draw = [options](Bits& bits) { return (*options)[bits.below(options->size())].word; };
  const auto simpler = [options](std::int64_t word) {
    std::vector<std::int64_t> out;
    for (const NamedWord& option : *options) {
      if (option.word == word) break;
      out.push_back(option.word);
    }
    return out;
  };
  WordDomain d{gen_by<std::int64_t>(draw, simpler)};
  d.options = options->size();
  d.option = [options, simpler](std::size_t number) {
    return shrinkable_by<std::int64_t>((*options)[number].word, simpler);
  };
  d.print = [options](std::int64_t word) {
    const auto at = std::ranges::find(*options, word, &NamedWord::word);
    return std::string(at == options->end()
                           ? "?"
                           : at->text);  // not in the domain: such a text does not parse either
  };
  d.parse = [options](std::string_view text, std::int64_t& word) {
    const auto at = std::ranges::find(*options, text, &NamedWord::text);
    if (at == options->end()) return false;
    word = at->word;
    return true;
  };
  d.describe = [options] {
    std::string names;
    for (const NamedWord& option : *options)
      names.append(names.empty() ? "one of " : ", ").append(option.text);
    return names;
  };
  return d;
}

detail::WordDomain detail::one_of_words(std::vector<std::int64_t> words) {
  Options unnamed;
  unnamed.reserve(words.size());
  for (const std::int64_t word : words) unnamed.push_back({"", word});
  const Options* const options = &kept(unnamed);
  WordDomain d = choice_of_words(std::move(unnamed));
  d.print = [](std::int64_t word) { return std::to_string(word); };
  d.parse = [options](std::string_view text, std::int64_t& word) {
    std::int64_t parsed;
    if (!parse_integer(text, parsed) ||
        std::ranges::find(*options, parsed, &NamedWord::word) == options->end())
      return false;
    word = parsed;
    return true;
  };
  d.describe = [options] {
    std::string names;
    for (const NamedWord& option : *options)
      names.append(names.empty() ? "one of " : ", ").append(std::to_string(option.word));
    return names;
  };
  return d;
}

Domain<std::int64_t> sizes(std::int64_t lo, std::int64_t hi) {
  if (lo < 0) throw std::invalid_argument("sizes: a size is not negative");
  Domain<std::int64_t> d = range<std::int64_t>(lo, hi);
  d.words.gen = integers([lo, hi](Bits& bits) { return sample_size(bits, lo, hi); }, lo, hi);
  return d;
}

Domain<std::uint64_t> seeds() {
  const auto draw = [](Bits& bits) { return static_cast<std::int64_t>(bits.next()); };
  const auto simpler = [](std::int64_t word) {
    // A seed has no order worth halving through: a small one is only easier to read.
    std::vector<std::int64_t> out;
    for (std::int64_t simple = 0;
         simple < 8 && static_cast<std::uint64_t>(simple) < static_cast<std::uint64_t>(word);
         ++simple) {
      out.push_back(simple);
    }
    return out;
  };
  detail::WordDomain d{gen_by<std::int64_t>(draw, simpler)};
  d.print = [](std::int64_t word) { return std::to_string(static_cast<std::uint64_t>(word)); };
  d.parse = [](std::string_view text, std::int64_t& word) {
    std::uint64_t seed;
    if (!parse_integer(text, seed)) return false;
    word = static_cast<std::int64_t>(seed);
    return true;
  };
  d.describe = [] { return "0 ... 18446744073709551615"; };
  return Domain<std::uint64_t>(d);
}

Domain<bool> booleans() { return choice<bool>({{"false", false}, {"true", true}}); }

}  // namespace lockstep
