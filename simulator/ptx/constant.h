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

// nullopt when `text` is no number of PTX.
std::optional<Constant> parse_number(std::string_view text);

// The bits of `c` as a register of `type` holds them: floats are rounded to the type (nearest
// even), integers cut to its width. An integer constant where a float stands is nullopt, and so is
// the reverse: PTX converts neither.
std::optional<std::uint64_t> bits_as(const Constant& c, Type type);

// Parses a constant expression: the operators of C without assignment, over 64-bit integers, and
// WARP_SZ. `current` is the first token and is left at the first one that does not belong. nullopt
// when there is no expression; then `current` is where it went wrong.
std::optional<Constant> parse_constant_expression(Token& current,
                                                  const std::function<Token()>& next);

}  // namespace lockstep::ptx
