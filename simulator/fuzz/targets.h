// What the fuzzers run, each on one input. An input may be refused and a kernel may end with a
// finding; what must never happen is a crash, a report of a sanitizer, an exception that escapes,
// or a run without end. A target ends the process when a result contradicts itself (a malformed
// text refused without a line, a legal program refused).
#pragma once

#include <cstdint>
#include <span>

namespace lockstep::fuzz {

using Bytes = std::span<const std::uint8_t>;

// A container of device code as nvcc embeds it: //simulator/fatbin.
void fatbin(Bytes input);

// PTX text, several modules apart by lines "// next module": lexer, parser, linker and decoder;
// then each kernel for a moment.
void ptx(Bytes input);

// The choices that make a program (random_program.h): loaded, which must succeed, and launched.
void program(Bytes input);

}  // namespace lockstep::fuzz
