// The targets of the fuzzers; each handles one input. An input may be refused, and a kernel may end
// with a finding. A crash, a sanitizer report, an escaping exception or an endless run must never
// happen. A target aborts the process when a result is inconsistent: a malformed text is refused
// without a line, or a legal program is refused.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep::fuzz {

using Bytes = std::span<const std::uint8_t>;

// A container of device code as nvcc embeds it: //simulator/fatbin.
void fatbin(Bytes input);

// PTX text; lines "// next module" separate modules. Runs the lexer, parser, linker and decoder,
// then each kernel for a short time.
void ptx(Bytes input);

// The choices for a program (random_program.h), which must load, and is launched.
void program(Bytes input);

}  // namespace lockstep::fuzz
