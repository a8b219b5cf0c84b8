// Text of programs within XML and HTML.
#pragma once

#include <string>

namespace lockstep::exec {

// The text of an element or a quoted attribute. Bytes that are no UTF-8 become the replacement
// character, control characters a question mark.
std::string escaped(const std::string& text);

}  // namespace lockstep::exec
