#include "properties/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "harness/device/device_array.h"
#include "harness/ledger/session.h"
#include "harness/matrix_unit/integer_probe.h"
#include "harness/matrix_unit/probe.h"
#include "harness/matrix_unit/random_numbers.h"
#include "harness/property/compare.h"
#include "harness/property/digest.h"

namespace lockstep::properties {

using kernels::IntegerProducts;
using kernels::MatrixForm;
using kernels::UnitElement;
using matrix_unit::Dot;
using matrix_unit::NumberRange;

struct Measured {
  matrix_unit::Measurement floats;
  matrix_unit::IntegerMeasurement integers;
};

namespace {

// ---- Tiles ----

bool is_integer(const MatrixForm& form) { return form.d == UnitElement::kS32; }

matrix_unit::NumberFormat format_of(UnitElement e) {
  switch (e) {
    case UnitElement::kF16: return matrix_unit::kF16;
    case UnitElement::kBF16: return matrix_unit::kBF16;
    case UnitElement::kTF32: return matrix_unit::kTF32;
    case UnitElement::kE4M3: return matrix_unit::kE4M3;
    case UnitElement::kE5M2: return matrix_unit::kE5M2;
    case UnitElement::kF64: return matrix_unit::kF64;
    default: return matrix_unit::kF32;
  }
}
matrix_unit::Formats formats_of(const MatrixForm& f) {
  return {format_of(f.a), format_of(f.b), format_of(f.d), f.k};
}
matrix_unit::IntegerFormats integers_of(const MatrixForm& f) {
  return {kernels::bits_of(f.a), f.k};
}

// The elements of a matrix, packed into words; the first is in the low bits.
class Packed {
 public:
  Packed(UnitElement type, std::size_t elements)
      : bits_(static_cast<std::size_t>(kernels::bits_of(type))),
        words_((elements * bits_ + 31) / 32) {}
  Packed(UnitElement type, std::vector<std::uint32_t> words)
      : bits_(static_cast<std::size_t>(kernels::bits_of(type))), words_(std::move(words)) {}

  void set(std::size_t at, std::uint64_t value) {
    if (bits_ == 64) words_[2 * at + 1] = static_cast<std::uint32_t>(value >> 32);
    std::uint32_t& word = words_[at * bits_ / 32];
    const std::size_t shift = at * bits_ % 32;
    const std::uint32_t mask = bits_ >= 32 ? ~0u : ((1u << bits_) - 1) << shift;
    word = (word & ~mask) | (static_cast<std::uint32_t>(value) << shift & mask);
  }
  std::uint64_t get(std::size_t at) const {
    if (bits_ == 64) return words_[2 * at] | std::uint64_t{words_[2 * at + 1]} << 32;
    const std::uint32_t word = words_[at * bits_ / 32] >> (at * bits_ % 32);
    return bits_ == 32 ? word : word & ((1u << bits_) - 1);
  }
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  std::size_t bits_;
  std::vector<std::uint32_t> words_;
};

// The matrices of some tiles.
struct Tiles {
  Tiles(const MatrixForm& form, std::size_t count)
      : form(form),
        count(count),
        a(form.a, count * m() * k()),
        b(form.b, count * n() * k()),
        c(form.d, count * m() * n()) {}

  std::size_t m() const { return static_cast<std::size_t>(form.m); }
  std::size_t n() const { return static_cast<std::size_t>(form.n); }
  std::size_t k() const { return static_cast<std::size_t>(form.k); }

  void set_row(std::size_t tile, std::size_t row, const std::vector<std::uint64_t>& values) {
    for (std::size_t i = 0; i < k(); ++i) a.set((tile * m() + row) * k() + i, values[i]);
  }
  void set_column(std::size_t tile, std::size_t column, const std::vector<std::uint64_t>& values) {
    for (std::size_t i = 0; i < k(); ++i) b.set((tile * n() + column) * k() + i, values[i]);
  }
  std::size_t at(std::size_t tile, std::size_t row, std::size_t column) const {
    return (tile * m() + row) * n() + column;
  }

  // The inputs of one element.
  Dot dot(std::size_t tile, std::size_t row, std::size_t column) const {
    Dot d;
    for (std::size_t i = 0; i < k(); ++i) {
      d.a.push_back(a.get((tile * m() + row) * k() + i));
      d.b.push_back(b.get((tile * n() + column) * k() + i));
    }
    d.c = c.get(at(tile, row, column));
    return d;
  }

  Packed multiply() const {
    const auto in_a = DeviceArray<std::uint32_t>::input("a", a.words(), {});
    const auto in_b = DeviceArray<std::uint32_t>::input("b", b.words(), {});
    const auto in_c = DeviceArray<std::uint32_t>::input("c", c.words(), {});
    const auto out = DeviceArray<std::uint32_t>::output("d", c.words().size(), {});
    const kernels::LaunchStatus status = kernels::multiply_tiles(
        form, in_a.data(), in_b.data(), in_c.data(), out.data(), static_cast<int>(count));
    if (!status.ok()) fail_case({Reason::kCudaError, "", status.message});
    return {form.d, out.fetch()};
  }

  const MatrixForm& form;
  const std::size_t count;
  Packed a, b, c;
};

std::string hex(std::uint64_t bits, UnitElement type) {
  return fmt::format("{:#0{}x}", bits, 2 + std::max(1, kernels::bits_of(type) / 4));
}

std::string text_of(const Dot& dot, const MatrixForm& form) {
  std::string text = "c " + hex(dot.c, form.d);
  for (std::size_t i = 0; i < dot.a.size(); ++i) {
    if (dot.a[i] == 0 && dot.b[i] == 0) continue;
    text += fmt::format("{} {}: {} x {}", i == 0 ? ";" : ",", i, hex(dot.a[i], form.a),
                        hex(dot.b[i], form.b));
  }
  return text;
}

// Computes one element for each dot product: eight per tile, on its diagonal and on the diagonals
// below, which must agree.
std::vector<std::uint64_t> elements_of(const MatrixForm& form, const std::vector<Dot>& dots) {
  const std::size_t n = static_cast<std::size_t>(form.n), count = (dots.size() + n - 1) / n;
  Tiles tiles(form, count);
  for (std::size_t i = 0; i < dots.size(); ++i) {
    tiles.set_column(i / n, i % n, dots[i].b);
    for (std::size_t row = i % n; row < tiles.m(); row += n) {
      tiles.set_row(i / n, row, dots[i].a);
      tiles.c.set(tiles.at(i / n, row, i % n), dots[i].c);
    }
  }
  const Packed d = tiles.multiply();
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    out.push_back(d.get(tiles.at(i / n, i % n, i % n)));
    for (std::size_t row = i % n; row < tiles.m(); row += n) {
      const std::uint64_t other = d.get(tiles.at(i / n, row, i % n));
      REQUIRE_LAW(other == out.back(),
                  "{}: D[{}][{}] is {}, and D[{}][{}] of the same numbers {}: {}", form.name, row,
                  i % n, hex(other, form.d), i % n, i % n, hex(out.back(), form.d),
                  text_of(dots[i], form));
    }
  }
  return out;
}

// ---- Cases ----

struct TileCase {
  NumberRange range = NumberRange::kNearOne;
  std::uint64_t seed = 0;

  static void fields(TileCase& c, FieldVisitor& field) {
    using enum NumberRange;
    field("range", c.range,
          choice<NumberRange>({{"near_one", kNearOne},
                               {"cancelling", kCancelling},
                               {"spread", kSpread},
                               {"all", kAll},
                               {"tiny", kTiny},
                               {"huge", kHuge},
                               {"special", kSpecial}}));
    field("seed", c.seed, seeds());
  }

  // A number of a type, from random bits. C is zero in a quarter of the tiles. Integers are at the
  // ends of their range where floats are huge.
  std::uint64_t number(UnitElement type, std::uint64_t random) const {
    const int bits = kernels::bits_of(type);
    switch (type) {
      case UnitElement::kS8:
      case UnitElement::kU8:
      case UnitElement::kS4:
      case UnitElement::kU4:
      case UnitElement::kB1: {
        const std::uint64_t top = std::uint64_t{1} << (bits - 1);
        if (range == NumberRange::kHuge && bits > 1)
          return ((random & 1) != 0 ? top : top - 1) + (random >> 1 & 1);
        if (range == NumberRange::kTiny) return random >> 8 & 1;
        return random >> 8 & (2 * top - 1);
      }
      case UnitElement::kS32:
        if (range == NumberRange::kHuge) return 0x7fffff00 + (random >> 8 & 0x1ff);
        return random >> 32 >> (range == NumberRange::kTiny ? 24 : 0);
      default: return random_number(format_of(type), range, random);
    }
  }

  Tiles tiles(const MatrixForm& form, std::size_t count) const {
    Tiles t(form, count);
    Bits random(digest_of(form.name, std::strlen(form.name), seed));
    for (std::size_t i = 0; i < count * t.m() * t.k(); ++i)
      t.a.set(i, number(form.a, random.next()));
    for (std::size_t i = 0; i < count * t.n() * t.k(); ++i)
      t.b.set(i, number(form.b, random.next()));
    for (std::size_t tile = 0; tile < count; ++tile) {
      const bool has_c = random.next() % 4 != 0;
      for (std::size_t i = 0; i < t.m() * t.n(); ++i)
        t.c.set(tile * t.m() * t.n() + i, has_c ? number(form.d, random.next()) : 0);
    }
    return t;
  }
};

// ---- Laws ----

void every_element_agrees(const MatrixForms& unit, const TileCase& c) {
  require_capability(unit.needs);
  for (const MatrixForm& form : unit.forms) {
    const Dot dot = c.tiles(form, 1).dot(0, 0, 0);
    Tiles same(form, 1);
    for (std::size_t row = 0; row < same.m(); ++row) same.set_row(0, row, dot.a);
    for (std::size_t column = 0; column < same.n(); ++column) same.set_column(0, column, dot.b);
    for (std::size_t i = 0; i < same.m() * same.n(); ++i) same.c.set(i, dot.c);
    const Packed d = same.multiply();
    for (std::size_t i = 1; i < same.m() * same.n(); ++i) {
      REQUIRE_LAW(d.get(i) == d.get(0),
                  "{}: D[{}][{}] is {}, and D[0][0] of the same numbers {}: {}", form.name,
                  i / same.n(), i % same.n(), hex(d.get(i), form.d), hex(d.get(0), form.d),
                  text_of(dot, form));
    }
  }
}

void repeats_its_bits(const MatrixForms& unit, const TileCase& c) {
  require_capability(unit.needs);
  for (const MatrixForm& form : unit.forms) {
    const Tiles tiles = c.tiles(form, 4);
    const Packed once = tiles.multiply(), again = tiles.multiply();
    if (once.words() == again.words()) continue;
    fail_case({Reason::kNondeterminism, "",
               fmt::format("{}: another result for the same tiles", form.name)});
  }
}

const Measured& measured(const MatrixForms& unit, const MatrixForm& form) {
  for (const auto& [name, found] : *unit.measured) {
    if (name == form.name) return *found;
  }
  auto found = std::make_shared<Measured>();
  const auto multiply = [&form](const std::vector<Dot>& dots) { return elements_of(form, dots); };
  if (is_integer(form)) {
    found->integers = measure(integers_of(form), multiply);
  } else {
    found->floats = measure(formats_of(form), multiply);
  }
  unit.measured->emplace_back(form.name, found);
  return *unit.measured->back().second;
}

std::string text_of(const matrix_unit::Finding& f) {
  using enum matrix_unit::Finding::Certainty;
  const auto with = [&](const char* what) {
    return f.text.empty() ? what : fmt::format("{}: {}", what, f.text);
  };
  switch (f.certainty) {
    case kAtLeast: return "at least " + f.text;
    case kAtMost: return "at most " + f.text;
    case kNoEffect: return with("no effect");
    case kNotDetermined: return with("not determined");
    default: return f.text;
  }
}

// For the passport (docs/reference/passport.md): names and values, in the order of display.
std::string note_of(const MatrixForm& form, const Measured& m) {
  std::string values;
  const auto add = [&](const std::string& name, const matrix_unit::Finding& f) {
    values += fmt::format("{}[\"{}\", \"{}\"]", values.empty() ? "" : ", ", name, text_of(f));
  };
  for (const auto& [property, f] : m.floats.findings) add(name_of(property), f);
  for (const auto& [name, f] : m.integers.findings) add(name, f);
  return fmt::format(R"({{"kind": "matrix_unit", "name": "{}", "terms": {}, "values": [{}]}})",
                     form.name, form.k + 1, values);
}

struct NoCase {
  static void fields(NoCase&, FieldVisitor&) {}
};

void can_be_measured(const MatrixForms& unit, const NoCase&) {
  require_capability(unit.needs);
  unit.measured->clear();
  for (const MatrixForm& form : unit.forms) {
    const Measured& m = measured(unit, form);
    current_record().notes[fmt::format("measurement.{}", form.name)] = note_of(form, m);
  }
}

// A form's declared properties of integers must be the measured ones: how a sum that exceeds the
// range is stored, whether factors have a sign, which bits are counted.
void computes_as_its_form_says(const MatrixForms& unit, const NoCase&) {
  require_capability(unit.needs);
  for (const MatrixForm& form : unit.forms) {
    if (!is_integer(form)) continue;
    const matrix_unit::IntegerUnit& is = measured(unit, form).integers.unit;
    const bool bits = form.a == UnitElement::kB1;
    const bool saturates = form.integers == IntegerProducts::kMultiplySaturate,
               has_sign = form.a == UnitElement::kS8 || form.a == UnitElement::kS4,
               counts_differing = form.integers == IntegerProducts::kXor;
    REQUIRE_LAW(is.saturates == saturates, "{}: a sum that does not fit {}", form.name,
                is.saturates ? "saturates" : "wraps");
    REQUIRE_LAW(bits || is.has_sign == has_sign, "{}: factors have {} sign", form.name,
                is.has_sign ? "a" : "no");
    REQUIRE_LAW(!bits || is.counts_differing == counts_differing, "{}: bits that {} are counted",
                form.name, is.counts_differing ? "differ" : "are both set");
  }
}

// The measured parameters must predict the bits. A NaN result may be that of any operand.
void explains_random_tiles(const MatrixForms& unit, const TileCase& c) {
  require_capability(unit.needs);
  for (const MatrixForm& form : unit.forms) {
    const Measured& m = measured(unit, form);
    const auto unexplained = [&](const auto& findings) {
      for (const auto& [property, f] : findings) {
        if (f.certainty == matrix_unit::Finding::Certainty::kNotDetermined) return text_of(f);
      }
      return std::string();
    };
    const std::string why =
        is_integer(form) ? unexplained(m.integers.findings) : unexplained(m.floats.findings);
    REQUIRE_LAW(why.empty(), "{}: what it computes cannot be said: {}", form.name, why);
    const matrix_unit::Formats formats = formats_of(form);
    const Tiles tiles = c.tiles(form, 1);
    const Packed d = tiles.multiply();
    for (std::size_t i = 0; i < tiles.m() * tiles.n(); ++i) {
      const Dot dot = tiles.dot(0, i / tiles.n(), i % tiles.n());
      const std::uint64_t got = d.get(i);
      const std::uint64_t wanted = is_integer(form)
                                       ? element_of(m.integers.unit, integers_of(form), dot)
                                       : element_of(m.floats.unit, formats, dot);
      const auto is_nan = [&](std::uint64_t v) {
        return matrix_unit::take_apart(v, formats.d).kind == matrix_unit::Parts::Kind::kNaN;
      };
      if (!is_integer(form) && m.floats.unit.hands_nan_on && is_nan(got) && is_nan(wanted))
        continue;
      REQUIRE_LAW(got == wanted,
                  "{}: D[{}][{}] is {}, and {} by the arithmetic that was measured: {}", form.name,
                  i / tiles.n(), i % tiles.n(), hex(got, form.d), hex(wanted, form.d),
                  text_of(dot, form));
    }
  }
}

}  // namespace

MatrixForms matrix_forms(const Requirement& needs, std::vector<MatrixForm> forms) {
  return {needs, std::move(forms),
          std::make_shared<decltype(MatrixForms::measured)::element_type>()};
}

std::vector<MatrixForm> forms_since(int capability, const std::vector<MatrixForm>& forms) {
  std::vector<MatrixForm> some;
  std::copy_if(forms.begin(), forms.end(), std::back_inserter(some),
               [&](const MatrixForm& f) { return f.capability == capability; });
  return some;
}

Laws<MatrixForms> matrix_unit_laws() {
  return {
      law("EveryElementAgrees", every_element_agrees, {.cases = 14, .cost = 4}),
      law("RepeatsItsBits", repeats_its_bits, {.cases = 7, .cost = 4}),
      law("CanBeMeasured", can_be_measured, {.cases = 1, .cost = 100}),
      law("ComputesAsItsFormSays", computes_as_its_form_says, {.cases = 1, .cost = 100}),
      law("MeasurementsExplainRandomTiles", explains_random_tiles, {.cases = 28, .cost = 4}),
  };
}

}  // namespace lockstep::properties
