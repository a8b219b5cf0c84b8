#include "harness/ledger/waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kKeys = {"property", "url", "expires", "reason"};

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (std::size_t i : {0, 1, 2, 3, 5, 6, 8, 9}) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  const auto number = [&](std::size_t at, std::size_t n) {
    return std::atoi(std::string(text.substr(at, n)).c_str());
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(number(5, 2)),
                                     std::chrono::day(number(8, 2)))
      .ok();
}

bool is_url(std::string_view text) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (text.starts_with(scheme) && text.size() > scheme.size() && text.find(' ') == text.npos)
      return true;
  }
  return false;
}

// One sentence for each error in the entry.
std::vector<std::string> entry_errors(const json& entry) {
  std::vector<std::string> errors;
  if (!entry.is_object()) return {"is not an object"};
  for (const auto& [key, value] : entry.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      errors.push_back(fmt::format("has the unknown key '{}'", key));
  }
  for (const char* key : kKeys) {
    if (!entry.contains(key) || !entry[key].is_string() ||
        entry[key].get_ref<const std::string&>().empty()) {
      errors.push_back(fmt::format("needs '{}', a string that is not empty", key));
    }
  }
  if (!errors.empty()) return errors;
  const std::string property = entry["property"], url = entry["url"], expires = entry["expires"];
  if (property.find('.') == property.npos || property.find_first_of("*? ") != property.npos) {
    errors.push_back(
        fmt::format("names '{}', which is not a full property name like Suite.Name", property));
  }
  if (!is_url(url))
    errors.push_back(fmt::format("has the url '{}', which is not an http(s) address", url));
  if (!is_date(expires))
    errors.push_back(fmt::format("expires on '{}', which is not a date like 2027-01-31", expires));
  return errors;
}

}  // namespace

Waivers parse_waivers(std::string_view text, const std::string& origin) {
  Waivers out;
  const json file = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!file.is_array()) {
    out.errors.push_back(fmt::format("{}: not a JSON array of waivers", origin));
    return out;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const auto errors = entry_errors(file[i]);
    for (const std::string& e : errors)
      out.errors.push_back(fmt::format("{}: waiver {} {}", origin, i + 1, e));
    if (!errors.empty()) continue;
    Waiver w{file[i]["property"], file[i]["url"], file[i]["expires"], file[i]["reason"]};
    if (!seen.insert(w.property).second)
      out.errors.push_back(fmt::format("{}: {} is waived twice", origin, w.property));
    out.waivers.push_back(std::move(w));
  }
  if (!out.errors.empty()) out.waivers.clear();
  return out;
}

Waivers read_waivers(const std::string& path) {
  std::ifstream in(path);
  if (std::error_code none; !in || std::filesystem::is_directory(path, none))
    return {{}, {fmt::format("{}: the file of waivers cannot be read", path)}};
  return parse_waivers(std::string(std::istreambuf_iterator<char>(in), {}), path);
}

std::string today_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

Record apply_waivers(Record record, const std::vector<Waiver>& waivers, std::string_view today) {
  const auto w = std::find_if(waivers.begin(), waivers.end(),
                              [&](const Waiver& x) { return x.property == record.property; });
  if (w == waivers.end()) return record;
  if (record.verdict == Verdict::kPass) {
    record.verdict = Verdict::kFail;
    record.reason = "unexpected-pass";
    record.message =
        fmt::format("unexpected pass: remove the waiver for {} ({})", record.property, w->url);
  } else if (record.verdict == Verdict::kFail) {
    // ISO dates compare like text.
    if (std::string_view(w->expires) < today) {
      record.reason += fmt::format(" (its waiver {} expired on {})", w->url, w->expires);
    } else {
      record.verdict = Verdict::kWaived;
      record.reason =
          fmt::format("{} until {}: {} [{}]", w->url, w->expires, w->reason, record.reason);
    }
  }
  return record;
}

}  // namespace lockstep
