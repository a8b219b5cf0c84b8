#include "simulator/engine/ops/alu/alu_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <span>

#include "simulator/coverage/judged.h"
#include "simulator/isa/forms.h"

namespace lockstep::engine::alu_test {
namespace {

constexpr Bits kPoison = 0xa5c3'5a3c'96e1'0fd2;

Bits truncated(Bits v, int bytes) {
  return bytes == 0 ? v & 1 : bytes >= 8 ? v : v & ((Bits{1} << (8 * bytes)) - 1);
}

// A file of registers, 512 bytes each.
class Bank {
 public:
  explicit Bank(int registers) : storage_(registers * 512 + 64) {
    const auto at = reinterpret_cast<std::uintptr_t>(storage_.data());
    base_ = storage_.data() + (64 - at % 64) % 64;
  }
  std::byte* base() { return base_; }
  static Slot slot(int index) { return static_cast<Slot>(index * 512); }
  std::byte* at(int index) { return base_ + slot(index); }
  Bits get(int index, int bytes, int lane) const {
    const std::byte* const at = base_ + slot(index);
    Bits v = 0;
    if (bytes == 0) {
      std::memcpy(&v, at, 4);
      return (v >> lane) & 1;
    }
    std::memcpy(&v, at + lane * bytes, static_cast<std::size_t>(bytes));
    return v;
  }

 private:
  std::vector<std::byte> storage_;
  std::byte* base_;
};

// The contents of a register: a value for each lane or, for a predicate, a bit.
struct Image {
  alignas(64) std::array<std::byte, kWarpSize * 8> held;

  static std::size_t size(int bytes) {
    return bytes == 0 ? 4 : static_cast<std::size_t>(kWarpSize * bytes);
  }

  // Fills in the values `of(lane)`.
  template <class Of>
  void fill(int bytes, Of of) {
    switch (bytes) {
      case 0: return put(bits(of));
      case 1: return lanes<std::uint8_t>(of);
      case 2: return lanes<std::uint16_t>(of);
      case 4: return lanes<std::uint32_t>(of);
      case 8: return lanes<std::uint64_t>(of);
      default: ADD_FAILURE() << "no register has " << bytes << " bytes";
    }
  }
  // Takes `ours` in the lanes of the mask and `others` in the rest.
  void merge(int bytes, LaneMask mask, const Image& ours, const Image& others) {
    switch (bytes) {
      case 0: return put((ours.get<LaneMask>(0) & mask) | (others.get<LaneMask>(0) & ~mask));
      case 1: return merge_lanes<std::uint8_t>(mask, ours, others);
      case 2: return merge_lanes<std::uint16_t>(mask, ours, others);
      case 4: return merge_lanes<std::uint32_t>(mask, ours, others);
      case 8: return merge_lanes<std::uint64_t>(mask, ours, others);
      default: ADD_FAILURE() << "no register has " << bytes << " bytes";
    }
  }
  // The lowest bits of `of(lane)`.
  template <class Of>
  static LaneMask bits(Of of) {
    LaneMask mask = 0;
    for (int lane = 0; lane < kWarpSize; ++lane)
      mask |= static_cast<LaneMask>(of(lane) & 1) << lane;
    return mask;
  }

 private:
  template <class T>
  T get(int lane) const {
    T v;
    std::memcpy(&v, held.data() + lane * sizeof v, sizeof v);
    return v;
  }
  template <class T>
  void put(T v, int lane = 0) {
    std::memcpy(held.data() + lane * sizeof v, &v, sizeof v);
  }
  template <class T, class Of>
  void lanes(Of of) {
    for (int lane = 0; lane < kWarpSize; ++lane) put(static_cast<T>(of(lane)), lane);
  }
  template <class T>
  void merge_lanes(LaneMask mask, const Image& ours, const Image& others) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      put(((mask >> lane) & 1) != 0 ? ours.get<T>(lane) : others.get<T>(lane), lane);
  }
};

// A lane's operands, with the carry after the last source.
using Operands = std::array<Bits, 6>;

// Fills `tuples`, whose memory is reused for every form: new pages would cost a fifth of the time.
void operand_tuples(const Form& form, const std::vector<std::vector<Bits>>& specials,
                    const Options& options, std::vector<Operands>& tuples) {
  const int n = static_cast<int>(specials.size());
  std::mt19937_64 random(std::hash<std::string>{}(form.text));
  tuples.clear();
  auto pick = [&](int i) { return specials[i][random() % specials[i].size()]; };
  const bool is_exhaustive = n == 1 && (form.bytes[1] == 1 || form.bytes[1] == 2);
  if (is_exhaustive) {
    for (Bits v = 0; v < (Bits{1} << (8 * form.bytes[1])); ++v) tuples.push_back({v});
    return;
  }
  if (n == 1) {
    for (Bits v : specials[0]) tuples.push_back({v});
  }
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      for (Bits a : specials[i]) {
        for (Bits b : specials[j]) {
          Operands& t = tuples.emplace_back();
          for (int k = 0; k < n; ++k) t[k] = k == i ? a : k == j ? b : pick(k);
        }
      }
    }
  }
  const int count = std::getenv("LOCKSTEP_SCALE") ? options.random : options.random / 4;
  for (int r = 0; r < count; ++r) {
    Operands& t = tuples.emplace_back();
    for (int k = 0; k < n; ++k) {
      const unsigned how = random() % 8;
      if (how < 2)
        t[k] = pick(k);
      else if (how == 2 && k > 0)
        t[k] = t[random() % k] + random() % 5 - 2;  // nearly equal
      else if (how == 3 && k > 0)
        t[k] = (t[random() % k] + random() % 5 - 2) ^
               (form.bytes[1] ? Bits{1} << (8 * form.bytes[1] - 1) : 0);
      else
        t[k] = random();
    }
  }
  for (auto& t : tuples) {
    for (int k = 0; k < n; ++k) t[k] = truncated(t[k], form.bytes[k + 1]);
  }
}

std::string shown(std::span<const Bits> in) {
  std::string s;
  for (Bits b : in) {
    char text[32];
    std::snprintf(text, sizeof text, " 0x%llx", static_cast<unsigned long long>(b));
    s += text;
  }
  return s;
}

// The inputs of the 32 lanes: operands, then carry. For a form with a reference, also the expected
// results.
struct Batch {
  std::array<Operands, kWarpSize> in;
  std::array<Bits, kWarpSize> expected;
  LaneMask carry;
  // The same values as registers hold them. `second` and `carry_out` are empty if the options have
  // no such reference.
  std::array<Image, 5> sources;
  Image result;
  LaneMask second, carry_out;
};

// The layout of one run.
struct Layout {
  LaneMask mask;
  int alias;       // destination in this source's register; -1: its own
  bool constants;  // sources from the file of constants
};

// Returns the number of wrong lanes and reports the first few.
class Runner {
 public:
  // `judge` may be empty: then the batch contains the expected results.
  Runner(const Form& form, const Judge& judge, const Options& options)
      : form_(form), judge_(judge), options_(options) {
    poison_.fill(form_.bytes[0], [&](int lane) { return kPoison >> lane; });
  }

  // Call after `in` and `expected` are set.
  void prepare(Batch& batch) const {
    const int n = static_cast<int>(form_.bytes.size()) - 1;
    for (int i = 0; i < n; ++i)
      batch.sources[i].fill(form_.bytes[i + 1], [&](int lane) { return batch.in[lane][i]; });
    if (!judge_) batch.result.fill(form_.bytes[0], [&](int lane) { return batch.expected[lane]; });
    if (options_.second)
      batch.second = Image::bits([&](int lane) { return options_.second(batch.in[lane].data()); });
    if (options_.carry_out)
      batch.carry_out =
          Image::bits([&](int lane) { return options_.carry_out(batch.in[lane].data()); });
  }

  void run(Handler handler, const Batch& batch, const Layout& layout) {
    const int n = static_cast<int>(form_.bytes.size()) - 1;
    Warp warp{};
    warp.file[0] = registers_.base();
    warp.file[1] = constants_.base();
    warp.exists = kAllLanes;
    warp.carry = batch.carry;
    std::memcpy(registers_.at(0), poison_.held.data(), Image::size(form_.bytes[0]));
    const auto second_before = static_cast<LaneMask>(kPoison);
    std::memcpy(registers_.at(8), &second_before, sizeof second_before);
    for (int i = 0; i < n; ++i) {
      Bank& bank = layout.constants && i != layout.alias ? constants_ : registers_;
      std::memcpy(bank.at(i + 1), batch.sources[i].held.data(), Image::size(form_.bytes[i + 1]));
    }
    Op op;
    op.dst = Bank::slot(layout.alias >= 0 ? layout.alias + 1 : 0);
    op.dst2 = form_.pair ? Bank::slot(8) : kNoSlot;
    for (int i = 0; i < n && i < 4; ++i)
      op.src[i] = Bank::slot(i + 1) | (layout.constants && i != layout.alias ? 1 : 0);
    auto fields = op.as<program::ComputeFields>();
    if (n == 5)
      fields.set_fifth_source(Bank::slot(5) | (layout.constants && layout.alias != 4 ? 1 : 0));
    for (int i = 0; i < n; ++i)
      if ((options_.flags >> i & 1) != 0) fields.set_negates(i);
    handler(warp, op, layout.mask);
    if (!judge_ && is_as_expected(batch, layout, warp.carry)) return;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const auto& t = batch.in[lane];
      const Bits got =
          registers_.get(layout.alias >= 0 ? layout.alias + 1 : 0, form_.bytes[0], lane);
      std::string wrong;
      if ((layout.mask >> lane) & 1) {
        if (judge_)
          wrong = judge_(t.data(), got);
        else if (got != batch.expected[lane])
          wrong = "got" + shown({&got, 1}) + ", expected" + shown({&batch.expected[lane], 1});
        if (options_.second && wrong.empty()) {
          const Bits second = registers_.get(8, 0, lane);
          if (second != options_.second(t.data()))
            wrong = "second destination is " + std::to_string(second);
        }
      } else {
        const Bits before =
            layout.alias >= 0 ? t[layout.alias] : truncated(kPoison >> lane, form_.bytes[0]);
        if (got != before) wrong = "inactive lane changed to" + shown({&got, 1});
        if (registers_.get(8, 0, lane) != ((second_before >> lane) & 1))
          wrong = "inactive lane's second destination changed";
      }
      const Bits carry_after = (warp.carry >> lane) & 1;
      const bool expect_new = options_.carry_out && ((layout.mask >> lane) & 1);
      const Bits carry_expected = expect_new ? options_.carry_out(t.data()) : t[n];
      if (carry_after != carry_expected && wrong.empty())
        wrong = "CC.CF is " + std::to_string(carry_after);
      if (!wrong.empty() && failures_++ < 4) {
        ADD_FAILURE() << form_.text << ", operands"
                      << shown({t.data(), static_cast<std::size_t>(n) + 1})
                      << " (last: carry), mask 0x" << std::hex << layout.mask << ", alias "
                      << std::dec << layout.alias << (layout.constants ? ", constants" : "") << ": "
                      << wrong;
      }
    }
  }
  long failures() const { return failures_; }

 private:
  // Compares all lanes at once. run() determines which lane is wrong, and how.
  bool is_as_expected(const Batch& batch, const Layout& layout, LaneMask carry) {
    const Image* result = &batch.result;
    if (layout.mask != kAllLanes) {
      merged_.merge(form_.bytes[0], layout.mask, batch.result,
                    layout.alias >= 0 ? batch.sources[layout.alias] : poison_);
      result = &merged_;
    }
    if (std::memcmp(registers_.at(layout.alias >= 0 ? layout.alias + 1 : 0), result->held.data(),
                    Image::size(form_.bytes[0])) != 0)
      return false;
    LaneMask second;
    std::memcpy(&second, registers_.at(8), sizeof second);
    if (((second ^ static_cast<LaneMask>(kPoison)) & ~layout.mask) != 0) return false;
    if (options_.second && ((second ^ batch.second) & layout.mask) != 0) return false;
    return carry == (options_.carry_out
                         ? (batch.carry_out & layout.mask) | (batch.carry & ~layout.mask)
                         : batch.carry);
  }

  const Form& form_;
  const Judge& judge_;
  const Options& options_;
  Image poison_, merged_;
  Bank registers_{9}, constants_{9};
  long failures_ = 0;
};

void add_signs(std::set<Bits>& s, Bits sign) {
  std::set<Bits> more;
  for (Bits b : s) more.insert(b | sign);
  s.merge(more);
}

// Zero, subnormals, powers of two and their neighbours, thirds, integers, limits, infinities and
// NaNs of a binary format.
std::vector<Bits> special_float(int precision, int exponent_bits) {
  const int top = precision + exponent_bits - 1;
  const Bits one = ((Bits{1} << (exponent_bits - 1)) - 1) << (precision - 1);
  const Bits infinity = ((Bits{1} << exponent_bits) - 1) << (precision - 1);
  const Bits ulp_of_exponent = Bits{1} << (precision - 1);
  const Bits fraction = ulp_of_exponent - 1;
  std::set<Bits> s = {0,
                      1,
                      2,
                      3,
                      fraction,
                      fraction - 1,
                      fraction >> 1,
                      ulp_of_exponent,
                      ulp_of_exponent + 1,
                      infinity - 1,
                      infinity - 2,
                      infinity,
                      infinity + 1,
                      infinity | (ulp_of_exponent >> 1),
                      infinity | fraction};
  for (int e : {-precision - 1,
                -precision,
                1 - precision,
                -2,
                -1,
                0,
                1,
                2,
                3,
                4,
                7,
                8,
                10,
                15,
                16,
                23,
                24,
                30,
                31,
                32,
                52,
                53,
                62,
                63,
                64,
                100,
                125,
                126,
                127}) {
    const std::int64_t exponent = static_cast<std::int64_t>(one >> (precision - 1)) + e;
    if (exponent <= 0 || exponent >= (1 << exponent_bits) - 1) continue;
    const Bits power = static_cast<Bits>(exponent) << (precision - 1);
    s.insert({power - 1, power, power + 1, power | (fraction ^ (fraction >> 1)),
              power | (fraction & 0x5555555555555555u)});
  }
  add_signs(s, Bits{1} << top);
  return {s.begin(), s.end()};
}

}  // namespace

namespace {

// The number of registers of an operand list, with the elements of vectors counted singly.
std::size_t registers_of(const std::vector<isa::OperandRule>& operands, const isa::Match& match) {
  std::size_t count = 0;
  for (const isa::OperandRule& rule : operands)
    count += static_cast<std::size_t>(std::max(1, isa::vector_length(rule, match.modifiers)));
  return count;
}

isa::Match match_of(const Form& form) {
  const bool moves = form.text.starts_with("mov."), packs = moves && form.bytes.size() > 2;
  const std::uint8_t variant = !packs ? 0 : form.bytes[0] > form.bytes[1] ? 1 : 2;
  for (const isa::Match& match : isa::match_opcode(form.text)) {
    if (moves && match.modifiers.variant == variant) return match;
    for (const auto& operands : match.form->operands) {
      if (!moves && registers_of(operands, match) == form.bytes.size()) return match;
    }
  }
  return {};
}

}  // namespace

AluKey key_of(const Form& form) {
  AluKey key;
  const isa::Match match = match_of(form);
  EXPECT_NE(match.form, nullptr) << "the table of forms has no " << form.text << " of "
                                 << form.bytes.size() << " operands";
  if (match.form == nullptr) return key;
  key.opcode = match.form->row->opcode;
  key.modifiers = match.modifiers;
  key.operand_count = static_cast<std::uint8_t>(form.bytes.size());
  for (std::size_t i = 0; i < form.bytes.size() && i < 6; ++i)
    key.register_bytes[i] = static_cast<std::uint8_t>(form.bytes[i]);
  key.has_second_destination = form.pair;
  return key;
}

namespace {

// Exactly one of `judge` and `reference` is set. `reference` is called once for each lane, however
// often a batch runs, because exact arithmetic takes most of these tests' time.
void check_form(const Form& form, const std::vector<std::vector<Bits>>& specials,
                const Judge& judge, const Reference& reference, const Options& options) {
  ASSERT_EQ(specials.size() + 1, form.bytes.size()) << form.text;
  const AluKey key = key_of(form);
  static std::vector<Operands> tuples;
  operand_tuples(form, specials, options, tuples);
  const Handler handler = resolve_alu(key);
  ASSERT_NE(handler, nullptr) << form.text << " has no handler";
  coverage::ran(*match_of(form).form->row, form.text);
  std::mt19937_64 random(7);
  Runner runner(form, judge, options);
  Batch batch;
  for (std::size_t first = 0; first < tuples.size() && runner.failures() < 4; first += kWarpSize) {
    batch.carry = static_cast<LaneMask>(random());
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
      auto& in = batch.in[lane];
      in = tuples[std::min(first + lane, tuples.size() - 1)];
      for (int i : options.same_in_all_lanes) in[i] = tuples[first][i];
      in[specials.size()] = (batch.carry >> lane) & 1;
      if (reference) batch.expected[lane] = truncated(reference(in.data()), form.bytes[0]);
    }
    runner.prepare(batch);
    std::vector<Layout> layouts = {{kAllLanes, -1, (first / kWarpSize) % 2 == 1}};
    if ((first / kWarpSize) % 4 == 0) {
      auto mask = static_cast<LaneMask>(random());
      if (first % 3 == 0) mask = 1u << (random() % 32);
      if (mask == 0) mask = 0x80000000u;
      layouts.push_back({mask, -1, false});
      // The destination may share a source's register only if both have the same width.
      for (std::size_t i = 0; i < specials.size(); ++i) {
        if (form.bytes[i + 1] != form.bytes[0]) continue;
        layouts.push_back({kAllLanes, static_cast<int>(i), false});
        layouts.push_back({mask, static_cast<int>(i), false});
      }
    }
    for (const Layout& layout : layouts) runner.run(handler, batch, layout);
  }
}

}  // namespace

void check_judged(const Form& form, const std::vector<std::vector<Bits>>& specials,
                  const Judge& judge, const Options& options) {
  check_form(form, specials, judge, {}, options);
}

void check(const Form& form, const std::vector<std::vector<Bits>>& specials,
           const Reference& reference, const Options& options) {
  check_form(form, specials, {}, reference, options);
}

bool refused(const AluKey& key) { return resolve_alu(key) == nullptr; }
bool refused(const Form& form) { return refused(key_of(form)); }

const std::vector<Bits>& special_f16() {
  static const auto v = special_float(11, 5);
  return v;
}
const std::vector<Bits>& special_bf16() {
  static const auto v = special_float(8, 8);
  return v;
}
const std::vector<Bits>& special_f32() {
  static const auto v = special_float(24, 8);
  return v;
}
const std::vector<Bits>& special_f64() {
  static const auto v = special_float(53, 11);
  return v;
}
const std::vector<Bits>& both_predicates() {
  static const std::vector<Bits> v = {0, 1};
  return v;
}
const std::vector<Bits>& special_int(int bytes) {
  static std::vector<Bits> by_bytes[9];
  auto& v = by_bytes[bytes];
  if (v.empty()) {
    std::set<Bits> s;
    for (int bits : {1, 2, 3, 4, 5, 7, 8, 15, 16, 23, 24, 31, 32, 33, 48, 63}) {
      for (Bits d : {Bits{0}, Bits{1}, ~Bits{0}, Bits{2}}) {
        s.insert(truncated((Bits{1} << bits) + d, bytes));
        s.insert(truncated(Bits{0} - (Bits{1} << bits) + d, bytes));
      }
    }
    for (Bits b :
         {Bits{0}, Bits{1}, ~Bits{0}, Bits{0x5555555555555555}, Bits{0xaaaaaaaaaaaaaaaa},
          Bits{0x0123456789abcdef}, Bits{0xfedcba9876543210}, Bits{10}, Bits{100}, Bits{1000}})
      s.insert(truncated(b, bytes));
    s.insert(truncated(Bits{1} << (8 * bytes - 1), bytes));
    v.assign(s.begin(), s.end());
  }
  return v;
}

}  // namespace lockstep::engine::alu_test
