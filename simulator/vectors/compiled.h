// PTX as a GPU takes it.
#pragma once

#include <string>

namespace lockstep::vectors {

// Machine code for `architecture` ("sm_90a") by the assembler at `ptxas`, or, where none is given,
// the text itself for the driver to compile. Ends the program, with a sentence, when the assembler
// refuses the text.
std::string compiled(const std::string& text, const std::string& ptxas,
                     const std::string& architecture);

}  // namespace lockstep::vectors
