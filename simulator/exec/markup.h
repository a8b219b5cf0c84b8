// Text from programs, escaped for XML and HTML.
#pragma once

#include <string>

namespace lockstep::exec {

// Escapes text for an element or a quoted attribute. Bytes that are not UTF-8 become the
// replacement character, control characters become a question mark.
std::string escaped(const std::string& text);

}  // namespace lockstep::exec
