#include "simulator/runtime/state/refusals.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <variant>

#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/state/describe.h"

namespace lockstep::runtime {
namespace {

// A module with more of them says enough.
constexpr std::size_t kMaxRefusals = 100;

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t");
  return first == s.npos ? std::string_view{} : s.substr(first);
}

// The offset of a line's first character; the text's size when there is no such line.
std::size_t offset_of_line(std::string_view text, int line) {
  std::size_t at = 0;
  for (int n = 1; n < line; ++n) {
    at = text.find('\n', at);
    if (at == text.npos) return text.size();
    ++at;
  }
  return at;
}

std::string_view line_at(std::string_view text, std::size_t offset) {
  return text.substr(offset, text.find('\n', offset) - offset);
}

// The name of the function whose definition or declaration begins in this line; empty when none
// does. `what`: ".entry" or ".func".
std::string_view function_of(std::string_view line, std::string_view what) {
  line = trimmed(line);
  if (!line.starts_with('.')) return {};
  const std::size_t at = line.find(what);
  if (at == line.npos || line.substr(0, at).find_first_of("\"/") != line.npos) return {};
  std::string_view name = trimmed(line.substr(at + what.size()));
  // A function's result stands before its name.
  if (what == ".func" && name.starts_with('('))
    name = trimmed(name.substr(std::min(name.size(), name.find(')') + 1)));
  return name.substr(0, name.find_first_of("( \t\r"));
}

bool begins_function(std::string_view line) {
  return !function_of(line, ".entry").empty() || !function_of(line, ".func").empty();
}

// Reads a number and what blanks there are before it.
std::optional<int> take_number(std::string_view& text) {
  text = trimmed(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string file_numbered(std::string_view ptx, int number) {
  for (std::size_t at = 0; at < ptx.size();) {
    std::string_view line = trimmed(line_at(ptx, at));
    at += line_at(ptx, at).size() + 1;
    if (!line.starts_with(".file")) continue;
    line.remove_prefix(5);
    if (take_number(line) != number) continue;
    const std::size_t first = line.find('"'), last = line.rfind('"');
    if (first != line.npos && last > first)
      return std::string(line.substr(first + 1, last - first - 1));
  }
  return {};
}

// Leaves nothing of the body of the function that holds the line but a return, and every line where
// it is.
bool empty_function(std::string& text, int ptx_line) {
  std::size_t at = offset_of_line(text, ptx_line);
  if (at >= text.size()) return false;
  while (!begins_function(line_at(text, at))) {
    if (at == 0) return false;
    at = text.rfind('\n', at - 1);
    at = at == text.npos || at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  }
  const std::size_t open = text.find('{', at);
  if (open == text.npos) return false;
  int depth = 0;
  std::size_t close = open;
  for (; close < text.size(); ++close) {
    depth += text[close] == '{' ? 1 : text[close] == '}' ? -1 : 0;
    if (depth == 0) break;
  }
  constexpr std::string_view kReturn = "ret; ";
  if (close >= text.size() || text.compare(open + 1, kReturn.size(), kReturn) == 0) return false;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
  text.insert(open + 1, kReturn);
  return true;
}

}  // namespace

SourcePlace source_of(std::string_view ptx, int ptx_line) {
  if (ptx_line <= 0) return {};
  SourcePlace place;
  std::size_t at = offset_of_line(ptx, ptx_line);
  while (at < ptx.size()) {
    std::string_view line = trimmed(line_at(ptx, at));
    if (line.starts_with(".loc")) {
      const std::size_t inlined = line.find("inlined_at");
      line.remove_prefix(inlined == line.npos ? 4 : inlined + 10);
      const auto file = take_number(line), number = take_number(line);
      if (file && number) place = {file_numbered(ptx, *file), *number};
      break;
    }
    if (at == 0 || begins_function(line)) break;
    const std::size_t before = at < 2 ? std::string_view::npos : ptx.rfind('\n', at - 2);
    at = before == ptx.npos ? 0 : before + 1;
  }
  for (const std::string_view prefix : {"/proc/self/cwd/", "./"}) {
    if (place.file.starts_with(prefix)) place.file.erase(0, prefix.size());
  }
  return place.file.empty() ? SourcePlace{} : place;
}

std::vector<std::string> kernels_in(std::string_view ptx) {
  std::vector<std::string> kernels;
  for (std::size_t at = 0; at < ptx.size(); at += line_at(ptx, at).size() + 1) {
    const std::string_view name = function_of(line_at(ptx, at), ".entry");
    if (!name.empty()) kernels.push_back(demangled(std::string(name)));
  }
  return kernels;
}

std::vector<Refusal> find_refusals(std::vector<std::string> texts, memory::DeviceMemory& memory,
                                   std::vector<std::string>* kernels) {
  struct Placed {
    std::size_t text;
    int line;
    Refusal refusal;
  };
  std::vector<Placed> found;
  bool whole = false;  // refused
  const auto add = [&](const engine::LoadError& error) {
    Refusal r{demangled(error.function), error.message, {}};
    if (error.text < texts.size()) r.source = source_of(texts[error.text], error.ptx_line);
    found.push_back({error.text, error.ptx_line, std::move(r)});
  };
  while (found.size() < kMaxRefusals) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto loaded = engine::load_module(views, memory, 0);
    const auto* error = std::get_if<engine::LoadError>(&loaded);
    if (error == nullptr) {
      const engine::Module& module = *std::get<std::unique_ptr<engine::Module>>(loaded);
      for (const engine::LoadError& of_function : module.refusals()) add(of_function);
      for (const engine::Kernel* kernel : module.kernels()) {
        if (kernels != nullptr && !whole && kernel->refusal() != nullptr)
          kernels->push_back(demangled(kernel->name()));
      }
      break;
    }
    for (const std::string& text : texts) {
      if (kernels == nullptr || whole) break;
      for (std::string& kernel : kernels_in(text)) kernels->push_back(std::move(kernel));
    }
    whole = true;
    add(*error);
    if (error->ptx_line == 0 || error->text >= texts.size() ||
        !empty_function(texts[error->text], error->ptx_line))
      break;
  }
  std::stable_sort(found.begin(), found.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.text, a.line) < std::tie(b.text, b.line);
  });
  std::vector<Refusal> refusals;
  for (Placed& p : found) refusals.push_back(std::move(p.refusal));
  return refusals;
}

}  // namespace lockstep::runtime
