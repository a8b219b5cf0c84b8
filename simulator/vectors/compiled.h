// Compiles PTX to code that a GPU's driver loads.
#pragma once

#include <string>

namespace lockstep::vectors {

// Machine code for `architecture` ("sm_90a") from the assembler at `ptxas`. If `ptxas` is empty,
// the text itself, which the driver compiles. Terminates the program with a message if the
// assembler refuses the text.
std::string compiled(const std::string& text, const std::string& ptxas,
                     const std::string& architecture);

}  // namespace lockstep::vectors
