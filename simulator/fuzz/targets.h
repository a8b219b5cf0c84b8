// The fuzz targets, each of which runs one input. An input may be refused, and a kernel may have a
// finding. A crash, a sanitizer report, an escaping exception or an endless run is a failure. A
// target terminates the process if a result contradicts itself: a malformed text is refused without
// a line, or a legal program is refused.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep::fuzz {

using Bytes = std::span<const std::uint8_t>;

// A container of device code as nvcc embeds it: //simulator/fatbin.
void fatbin(Bytes input);

// PTX text; lines "// next module" separate modules. Runs the lexer, parser, linker and compiler,
// then each kernel briefly.
void ptx(Bytes input);

// The choices for a program (random_program.h), which must load and is then launched.
void program(Bytes input);

}  // namespace lockstep::fuzz
