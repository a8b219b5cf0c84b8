// Compiles PTX for a GPU.
#pragma once

#include <string>

namespace lockstep::vectors {

// Machine code for `architecture` ("sm_90a") from the assembler at `ptxas` or, if none is given,
// the text itself, for the driver to compile. Ends the program with a message if the assembler
// refuses the text.
std::string compiled(const std::string& text, const std::string& ptxas,
                     const std::string& architecture);

}  // namespace lockstep::vectors
