#include "simulator/exec/markup.h"

#include <nlohmann/json.hpp>

namespace lockstep::exec {
namespace {

using nlohmann::json;

// Replaces bytes that are not UTF-8 by the replacement character, with the help of the JSON writer.
// The text may come from programs.
std::string in_utf8(const std::string& text) {
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : in_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      case '\t': out += "&#9;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

}  // namespace lockstep::exec
