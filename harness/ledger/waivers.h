// Waivers: known failures that an open issue covers until a date.
//
// A file is a JSON array of {"property", "url", "expires", "reason"}: exactly these four strings. A
// waiver excuses a failing property only. It needs a date, because a waiver without an end is a
// deleted test. A waived property that passes is red, so that a fix must remove its waiver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/ledger/ledger.h"

namespace lockstep {

struct Waiver {
  std::string property;  // full name, "Stencil.MatchesItsReference"; no patterns
  std::string url;       // http(s) address of the issue
  std::string expires;   // "2027-01-31", the last day on which it applies (UTC)
  std::string reason;    // one sentence
};

struct Waivers {
  std::vector<Waiver> waivers;
  std::vector<std::string> errors;  // empty: the file is valid; otherwise no waiver is kept
};

Waivers parse_waivers(std::string_view json, const std::string& origin);
// An absent file is an error as well.
Waivers read_waivers(const std::string& path);

// Today's date in UTC, as "2026-11-21".
std::string today_utc();

// Applies the waivers to a record. FAIL becomes WAIVED, or stays FAIL with a note that the waiver
// has expired. PASS becomes FAIL ("unexpected-pass"). NOT_RUN and NOT_APPLICABLE are unchanged:
// neither shows whether the issue persists.
Record apply_waivers(Record record, const std::vector<Waiver>& waivers, std::string_view today);

}  // namespace lockstep
