// Integer and floating-point literals of PTX, and constant expressions over integers (PTX ISA 4.5).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "simulator/isa/opcode.h"
#include "simulator/ptx/lexer.h"

namespace lockstep::ptx {

using isa::Type;

struct Constant {
  enum class Kind : std::uint8_t { kSigned, kUnsigned, kFloat } kind = Kind::kSigned;
  std::uint64_t bits = 0;  // integer, or the pattern of a double
  double as_double() const;
};

// nullopt if `text` is not a number of PTX.
std::optional<Constant> parse_number(std::string_view text);

// The bits of `c` in a register of `type`: floats are rounded to the type (nearest even), integers
// truncated to its width. nullopt for an integer constant of a floating-point type, or the reverse,
// because PTX converts neither.
std::optional<std::uint64_t> bits_as(const Constant& c, Type type);

// Parses a constant expression: C's operators without assignment, over 64-bit integers, and
// WARP_SZ. `current` is the first token on entry and the first token behind the expression on
// return. Returns nullopt for an invalid expression; `current` is then the offending token.
std::optional<Constant> parse_constant_expression(Token& current,
                                                  const std::function<Token()>& next);

}  // namespace lockstep::ptx
