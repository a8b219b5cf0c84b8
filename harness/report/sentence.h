// Converts a property's name to a sentence.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// "Stencil.MatchesItsReference": "matches its reference".
std::string sentence_of(std::string_view property);

}  // namespace lockstep
