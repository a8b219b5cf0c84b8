#include "harness/ledger/session.h"

#include <utility>

namespace lockstep {
namespace {

struct Session {
  SessionOptions options;
  Record record;
  std::string device_lost;
};

Session& session() {
  static Session the_session;
  return the_session;
}

}  // namespace

SessionOptions& session_options() { return session().options; }

void begin_property(std::string_view full_name) {
  session().record = Record{};
  session().record.property = full_name;
}

Record& current_record() { return session().record; }

Record end_property() { return std::exchange(session().record, Record{}); }

void mark_device_lost(std::string_view why) {
  if (session().device_lost.empty()) session().device_lost = why;
}

const std::string& device_lost() { return session().device_lost; }

}  // namespace lockstep
