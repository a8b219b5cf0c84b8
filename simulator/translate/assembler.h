// The assembler (Xbyak), and constants that machine code reads beside itself.
#pragma once

#include <array>
#include <cstdint>
#include <map>

// As its makers advise for programs that have `and`, `or` and `xor` of their own.
#define XBYAK_NO_OP_NAMES
// Without NDEBUG Xbyak includes <iostream>, which has an object with a destructor. The drop-in must
// have none (simulator/runtime/tests/exports_test.cc).
#ifndef NDEBUG
#define NDEBUG
#include <xbyak/xbyak.h>
#undef NDEBUG
#else
#include <xbyak/xbyak.h>
#endif

namespace lockstep::translate {

// Vectors of eight 32-bit words, each once, after the code that reads them.
class ConstantPool {
 public:
  using Words = std::array<std::uint32_t, 8>;
  // The operand that has the words.
  Xbyak::Address operator()(const Words& words) {
    return Xbyak::util::ptr[Xbyak::util::rip + labels_[words]];
  }
  // One word in all lanes; one 64-bit word.
  Xbyak::Address all(std::uint32_t w) { return (*this)({w, w, w, w, w, w, w, w}); }
  Xbyak::Address all_wide(std::uint64_t w) {
    const auto low = static_cast<std::uint32_t>(w), high = static_cast<std::uint32_t>(w >> 32);
    return (*this)({low, high, low, high, low, high, low, high});
  }
  void emit(Xbyak::CodeGenerator& g) {
    g.align(32);
    for (auto& [words, label] : labels_) {
      g.L(label);
      for (const std::uint32_t w : words) g.dd(w);
    }
    labels_.clear();
  }

 private:
  std::map<Words, Xbyak::Label> labels_;
};

}  // namespace lockstep::translate
