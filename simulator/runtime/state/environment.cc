#include "simulator/runtime/state/environment.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "command/nearest.h"

namespace lockstep::runtime {
namespace {

constexpr std::string_view kPrefix = "LOCKSTEP_";

std::string complaint(std::string_view variable, std::string_view value,
                      std::string_view expected) {
  return std::string(variable) + "='" + std::string(value) + "' is not " + std::string(expected);
}

// Reads a whole number in [least, most]; false with a sentence in `error` when it is none.
template <class T>
bool read_number(const Lookup& lookup, const char* variable, std::uint64_t least,
                 std::uint64_t most, T* result, std::string* error) {
  const char* text = lookup(variable);
  if (text == nullptr || *text == '\0') return true;
  const std::string_view value(text);
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc{} || end != value.data() + value.size() || number < least ||
      number > most) {
    *error =
        complaint(variable, value,
                  "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return false;
  }
  *result = static_cast<T>(number);
  return true;
}

struct CheckName {
  std::string_view name;
  std::uint32_t bits;
};
constexpr CheckName kCheckNames[] = {{"all", check::kAllChecks},
                                     {"none", 0},
                                     {"bounds", check::kBounds},
                                     {"initialisation", check::kInitialisation},
                                     {"races", check::kRaces},
                                     {"synchronisation", check::kSynchronisation},
                                     {"leaks", check::kLeaks},
                                     {"strict-barriers", check::kStrictBarriers},
                                     {"strict-libraries", check::kStrictLibraries},
                                     {"strict-proxies", check::kStrictProxies},
                                     {"strict-writes", check::kStrictWrites}};

std::optional<std::uint32_t> read_checks(std::string_view value) {
  std::uint32_t checks = value.starts_with('-') ? std::uint32_t{check::kAllChecks} : 0;
  while (true) {
    const std::size_t comma = value.find(',');
    std::string_view word = value.substr(0, comma);
    const bool take_away = word.starts_with('-');
    if (take_away) word.remove_prefix(1);
    const auto* entry = std::find_if(std::begin(kCheckNames), std::end(kCheckNames),
                                     [&](const CheckName& c) { return c.name == word; });
    if (entry == std::end(kCheckNames)) return std::nullopt;
    checks = take_away ? checks & ~entry->bits : checks | entry->bits;
    if (comma == std::string_view::npos) return checks;
    value.remove_prefix(comma + 1);
  }
}

// Of a list that has a name which is none: the name that was meant, or empty.
std::string meant_check(std::string_view value) {
  std::vector<std::string> names;
  for (const CheckName& c : kCheckNames) names.emplace_back(c.name);
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    std::string word(value.substr(begin, end - begin));
    if (word.starts_with('-')) word.erase(0, 1);
    if (std::find(names.begin(), names.end(), word) == names.end())
      return command::nearest(word, names);
    begin = end + 1;
  }
  return {};
}

bool read_suppressions(const Lookup& lookup, check::Suppressions* result, std::string* error) {
  const char* path = lookup("LOCKSTEP_SUPPRESSIONS");
  if (path == nullptr || *path == '\0') return true;
  std::error_code none;
  // Every process of a run reads the file: what comes through a pipe is there for the first alone.
  const bool is_pipe = std::filesystem::is_fifo(path, none);
  std::ifstream file;
  if (!is_pipe) file.open(path);
  if (!file.is_open() || std::filesystem::is_directory(path, none)) {
    *error =
        complaint("LOCKSTEP_SUPPRESSIONS", path,
                  is_pipe ? "a file that can be read more than once" : "a file that can be read");
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto parsed = check::Suppressions::parse(text);
  if (const auto* mistake = std::get_if<std::string>(&parsed)) {
    *error = std::string(path) + ", " + *mistake;
    return false;
  }
  *result = std::get<check::Suppressions>(std::move(parsed));
  return true;
}

std::variant<Settings, std::string> read_values(const Lookup& lookup);

// The message for a name that is no setting, but resembles one; empty if there is none.
std::string misspelt(const std::vector<std::string>& set) {
  std::vector<std::string> known;  // without the prefix
  read_values([&](const char* name) -> const char* {
    if (std::string_view(name).starts_with(kPrefix)) known.emplace_back(name + kPrefix.size());
    return nullptr;
  });
  for (const std::string& name : set) {
    const std::string rest = name.substr(std::min(name.size(), kPrefix.size()));
    if (std::ranges::count(known, rest) != 0) continue;
    if (const std::string meant = command::nearest(rest, known); !meant.empty())
      return "the simulated GPU has no setting " + name +
             command::did_you_mean(std::string(kPrefix) + meant);
  }
  return {};
}

}  // namespace

std::vector<std::string> names_in_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with(kPrefix)) names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

std::variant<Settings, std::string> read_settings(const Lookup& value_of,
                                                  const std::vector<std::string>& set) {
  if (std::string error = misspelt(set); !error.empty()) return error;
  return read_values(value_of);
}

namespace {

std::variant<Settings, std::string> read_values(const Lookup& lookup) {
  Settings settings;
  std::string error;
  if (const char* device = lookup("LOCKSTEP_DEVICE"); device != nullptr && *device != '\0') {
    settings.profile = find_profile(device);
    if (settings.profile == nullptr)
      return complaint("LOCKSTEP_DEVICE", device,
                       "a device that can be simulated: " + profile_names());
  }
  if (const char* checks = lookup("LOCKSTEP_CHECKS"); checks != nullptr && *checks != '\0') {
    const auto bits = read_checks(checks);
    if (!bits) {
      return complaint("LOCKSTEP_CHECKS", checks,
                       "'all', 'none' or a comma-separated list of bounds, initialisation, races, "
                       "synchronisation, leaks, strict-barriers, "
                       "strict-libraries, strict-proxies, strict-writes ('-races': all but races; "
                       "'all,leaks': "
                       "leaks too, which "
                       "are not looked for by default)") +
             command::did_you_mean(meant_check(checks));
    }
    settings.checks = *bits;
  }
  if (const char* registers = lookup("LOCKSTEP_REGISTERS");
      registers != nullptr && *registers != '\0') {
    const std::string_view value = registers;
    if (value != "shared" && value != "separate")
      return complaint("LOCKSTEP_REGISTERS", value, "'shared' or 'separate'");
    if (value == "separate") settings.registers = engine::RegisterPlaces::kSeparate;
  }
  if (const char* streams = lookup("LOCKSTEP_STREAMS"); streams != nullptr && *streams != '\0') {
    const std::string_view value = streams;
    if (value != "late" && value != "at-once")
      return complaint("LOCKSTEP_STREAMS", value, "'late' or 'at-once'");
    settings.streams_at_once = value == "at-once";
  }
  if (const char* host = lookup("LOCKSTEP_HOST_ACCESSES"); host != nullptr && *host != '\0') {
    const std::string_view value = host;
    if (value != "watch" && value != "ignore")
      return complaint("LOCKSTEP_HOST_ACCESSES", value, "'watch' or 'ignore'");
    settings.host_accesses = value == "watch";
  }
  if (const char* proof = lookup("LOCKSTEP_PROOF"); proof != nullptr && *proof != '\0') {
    using Proof = engine::LaunchConfig::Proof;
    const std::string_view value = proof;
    if (value != "off" && value != "on" && value != "compare")
      return complaint("LOCKSTEP_PROOF", value, "'off', 'on' or 'compare'");
    settings.proof = value == "off" ? Proof::kOff : value == "on" ? Proof::kOn : Proof::kCompare;
  }
  if (const char* word = lookup("LOCKSTEP_REPEATS"); word != nullptr && *word != '\0') {
    using Mode = Repeats::Mode;
    const std::string_view value = word;
    if (value != "off" && value != "on" && value != "always" && value != "compare")
      return complaint("LOCKSTEP_REPEATS", value, "'off', 'on', 'always' or 'compare'");
    settings.repeats = value == "off"      ? Mode::kOff
                       : value == "on"     ? Mode::kOn
                       : value == "always" ? Mode::kAlways
                                           : Mode::kCompare;
  }
  if (const char* word = lookup("LOCKSTEP_TRANSLATE"); word != nullptr && *word != '\0') {
    using Translate = engine::LaunchConfig::Translate;
    const std::string_view value = word;
    if (value != "off" && value != "on" && value != "always" && value != "compare")
      return complaint("LOCKSTEP_TRANSLATE", value, "'off', 'on', 'always' or 'compare'");
    settings.translate = value == "off"      ? Translate::kOff
                         : value == "on"     ? Translate::kOn
                         : value == "always" ? Translate::kAlways
                                             : Translate::kCompare;
  }
  std::uint64_t memory_gib = 0;
  if (!read_number(lookup, "LOCKSTEP_DEVICES", 0, 64, &settings.devices, &error) ||
      !read_number(lookup, "LOCKSTEP_MEMORY", 1, 1024, &memory_gib, &error) ||
      !read_number(lookup, "LOCKSTEP_SCHEDULE", 0, ~std::uint64_t{0}, &settings.schedule, &error) ||
      !read_number(lookup, "LOCKSTEP_HOST_THREADS", 0, 1024, &settings.host_threads, &error) ||
      !read_number(lookup, "LOCKSTEP_INSTRUCTION_LIMIT", 0, ~std::uint64_t{0},
                   &settings.instruction_limit, &error) ||
      !read_number(lookup, "LOCKSTEP_QUIET", 0, 1, &settings.quiet, &error) ||
      !read_number(lookup, "LOCKSTEP_COLOR", 0, 1, &settings.colours, &error) ||
      !read_number(lookup, "LOCKSTEP_COUNT", 0, 1, &settings.count, &error) ||
      !read_number(lookup, "LOCKSTEP_GO_ON", 0, 1, &settings.go_on, &error) ||
      !read_number(lookup, "LOCKSTEP_COVERAGE", 0, 1, &settings.coverage, &error) ||
      !read_number(lookup, "LOCKSTEP_CERTIFICATE", 0, 1, &settings.certificate, &error) ||
      !read_number(lookup, "LOCKSTEP_PROFILE", 0, 1, &settings.time_profile, &error) ||
      !read_number(lookup, "LOCKSTEP_API_ERRORS", 0, 1, &settings.api_errors, &error) ||
      !read_suppressions(lookup, &settings.suppressions, &error)) {
    return error;
  }
  if (const char* record = lookup("LOCKSTEP_RECORD")) settings.record = record;
  if (const char* mutation = lookup("LOCKSTEP_MUTATION")) settings.mutation = mutation;
  settings.memory_bytes = memory_gib << 30;
  // NVIDIA's variable: anything but a number is NVIDIA's business, and means no here.
  const char* blocking = lookup("CUDA_LAUNCH_BLOCKING");
  settings.launch_blocking = blocking != nullptr && *blocking >= '1' && *blocking <= '9';
  return settings;
}

}  // namespace

std::string names_of_checks(std::uint32_t checks) {
  for (const CheckName& c : kCheckNames) {
    if (c.bits == checks) return std::string(c.name);
  }
  std::string names;
  for (const CheckName& c : kCheckNames) {
    const bool several = (c.bits & (c.bits - 1)) != 0;
    if (c.bits != 0 && (checks & c.bits) == c.bits && (!several || checks > c.bits)) {
      names.append(names.empty() ? "" : ", ").append(c.name);
      checks &= ~c.bits;
    }
  }
  return names;
}

std::uint64_t device_memory_bytes(const Settings& settings, std::uint64_t host_bytes) {
  if (settings.memory_bytes != 0) return settings.memory_bytes;
  constexpr std::uint64_t kMiB = 1 << 20;
  const std::uint64_t share =
      host_bytes / 4 / static_cast<std::uint64_t>(std::max(1, settings.devices));
  return std::clamp(share / kMiB * kMiB, 256 * kMiB, settings.profile->memory_bytes);
}

std::uint64_t host_memory_bytes() {
  std::uint64_t bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::uint64_t limit = 0;
    if (file >> limit && limit != 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace lockstep::runtime
