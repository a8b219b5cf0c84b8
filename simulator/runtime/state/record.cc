#include "simulator/runtime/state/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/output_signals.h"
#include "simulator/runtime/state/record_mark.h"

namespace lockstep::runtime {
namespace {

using nlohmann::json;

std::string text_of(json line) {
  line["pid"] = getpid();
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Whether the file begins as records do.
bool is_record(int file) {
  char first[kRecordMarkAt];
  return pread(file, first, sizeof first, 0) == sizeof first &&
         std::string_view(first, sizeof first) == kRecordMark.substr(0, kRecordMarkAt);
}

// Room for any count in a line's "launches".
constexpr int kDigits = 20;

void put_digits(std::uint64_t number, char* to) {
  char digits[kDigits];
  const auto [end, code] = std::to_chars(digits, digits + kDigits, number);
  const auto length = static_cast<std::size_t>(end - digits);
  std::memcpy(to + kDigits - length, digits, length);
}

json counters_json(const engine::Counters& c) {
  return {{"warp_instructions", c.warp_instructions},
          {"thread_instructions", c.thread_instructions},
          {"global_load_requests", c.global_load_requests},
          {"global_load_sectors", c.global_load_sectors},
          {"global_load_lines", c.global_load_lines},
          {"global_store_requests", c.global_store_requests},
          {"global_store_sectors", c.global_store_sectors},
          {"global_store_lines", c.global_store_lines},
          {"shared_load_requests", c.shared_load_requests},
          {"shared_load_bank_conflicts", c.shared_load_bank_conflicts},
          {"shared_store_requests", c.shared_store_requests},
          {"shared_store_bank_conflicts", c.shared_store_bank_conflicts},
          {"shuffles", c.shuffles},
          {"votes", c.votes},
          {"atomics", c.atomics},
          {"barriers", c.barriers}};
}

// Names by number.
class Files {
 public:
  int number(const std::string& name) {
    return numbers_.try_emplace(name, static_cast<int>(numbers_.size())).first->second;
  }
  json names() const {
    json all = json::array();
    for (const auto& [name, number] : numbers_) all[static_cast<std::size_t>(number)] = name;
    return all;
  }

 private:
  std::map<std::string, int> numbers_;
};

json inlined_json(const engine::InlinedPlace& place, Files* files) {
  json calls = json::array();
  for (const engine::SourcePlace& call : place.calls)
    calls.push_back({files->number(call.file), call.line, call.column});
  return {demangled(place.function), std::move(calls)};
}

json function_json(const engine::FunctionCoverage& function, Files* files) {
  json instructions = json::array();
  for (const engine::InstructionCoverage& i : function.instructions) {
    const int file = i.source.line == 0 ? -1 : files->number(i.source.file);
    instructions.push_back({i.text, i.ptx_line, file, i.source.line, i.inlined, i.guarded,
                            i.count.reached, i.count.ran, i.count.partial, i.count.parted,
                            i.jumps});
  }
  return {{"name", function.name},
          {"demangled", demangled(function.name)},
          {"kernel", function.is_kernel},
          {"text", function.text},
          {"instructions", std::move(instructions)}};
}

json access_json(const engine::CertifiedAccess& a) {
  json access = {{"instruction", a.text}, {"ptx_line", a.ptx_line},
                 {"space", a.space},      {"bytes", a.bytes},
                 {"reads", a.reads},      {"writes", a.writes},
                 {"known", a.known},      {"in_bounds", a.in_bounds},
                 {"aligned", a.aligned},  {"initialised", a.initialised},
                 {"apart", a.apart},      {"proved", a.proved()}};
  if (a.source.line != 0) {
    access["file"] = a.source.file;
    access["line"] = a.source.line;
  }
  return access;
}

json certificate_json(const engine::LaunchCertificate& c) {
  const auto dimensions = [](const check::Dim3& d) { return json{d.x, d.y, d.z}; };
  json accesses = json::array();
  for (const engine::CertifiedAccess& a : c.accesses) accesses.push_back(access_json(a));
  return {{"grid", dimensions(c.grid)},
          {"block", dimensions(c.block)},
          {"dynamic_shared", c.dynamic_shared},
          {"refused", c.refused},
          {"calls", c.calls},
          {"accesses", std::move(accesses)}};
}

}  // namespace

bool Record::open(const std::string& path) {
  path_ = path;
  return reopen();
}

bool Record::reopen() {
  struct stat is {};
  file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (file_ < 0 || fstat(file_, &is) != 0) {
    lose(std::strerror(errno));
    return false;
  }
  // In another PID namespace the path may lead to a file of somebody else's.
  if (!is_record(file_)) {
    close(std::exchange(file_, -1));
    lose("it is no record");
    return false;
  }
  device_ = is.st_dev;
  inode_ = is.st_ino;
  return true;
}

void Record::lose(const char* why) {
  if (lossy_.exchange(true)) return;
  const OutputSignalsHeldBack held_back;
  std::fprintf(stderr,
               "lockstep: the record %s cannot be written: %s; what happens from here on is "
               "missing from every report\n",
               path_.c_str(), why);
  if (file_ < 0) return;
  if (char* const mark = map(kRecordMarkAt, 1)) *mark = '1';
}

char* Record::map(off_t at, std::size_t bytes) const {
  static const off_t page = sysconf(_SC_PAGESIZE);
  const off_t begin = at / page * page;
  void* const there = mmap(nullptr, static_cast<std::size_t>(at - begin) + bytes,
                           PROT_READ | PROT_WRITE, MAP_SHARED, file_, begin);
  return there == MAP_FAILED ? nullptr : static_cast<char*>(there) + (at - begin);
}

bool Record::holds_file() const {
  struct stat is {};
  return fstat(file_, &is) == 0 && is.st_dev == device_ && is.st_ino == inode_;
}

// One write a line: lines of several processes do not mix in a file opened for appending. It begins
// with the end of another line, which a process that was killed may have left without one.
off_t Record::put(std::string_view line) {
  if (!holds_file() && !reopen()) return -1;
  const std::string text = "\n" + std::string(line) + "\n";
  const OutputSignalsHeldBack held_back;
  const char* from = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    const ssize_t done = write(file_, from, left);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      lose(std::strerror(done < 0 ? errno : ENOSPC));
      return -1;
    }
    from += done;
    left -= static_cast<std::size_t>(done);
  }
  return lseek(file_, 0, SEEK_CUR);
}

void Record::started(std::string_view device, std::uint64_t schedule, std::string_view checks) {
  if (is_open()) put(text_of({{"device", device}, {"schedule", schedule}, {"checks", checks}}));
}

char* Record::put_counted(json of) {
  std::string line = text_of(std::move(of));
  line.pop_back();
  line += ",\"launches\":" + std::string(kDigits, ' ') + "}";
  put_digits(1, line.data() + line.size() - 1 - kDigits);
  constexpr off_t kBehind = 2;  // the brace and the end of the line
  const off_t end = put(line);
  return end < 0 ? nullptr : map(end - kBehind - kDigits, kDigits);
}

void Record::launching(std::string_view kernel, int device) {
  if (!is_open()) return;
  std::lock_guard lock(mutex_);
  const auto [it, first] = totals_.try_emplace(std::pair(std::string(kernel), device));
  Total& total = it->second;
  ++total.launches;
  if (first) {
    total.text = put_counted({{"kernel", demangled(it->first.first)}});
  } else if (total.text != nullptr) {
    put_digits(total.launches, total.text);
  }
}

void Record::launched(std::string_view kernel, int device, const engine::Counters& counters) {
  if (!is_open()) return;
  std::lock_guard lock(mutex_);
  totals_[std::pair(std::string(kernel), device)].counters.add(counters);
}

void Record::called(std::string_view function) {
  if (!is_open()) return;
  std::lock_guard lock(mutex_);
  const auto [it, first] = library_calls_.try_emplace(std::string(function));
  Counted& counted = it->second;
  if (++counted.launches == 1) {
    counted.text = put_counted({{"library_call", function}});
  } else if (counted.text != nullptr) {
    put_digits(counted.launches, counted.text);
  }
}

void Record::refused_launch() {
  std::lock_guard lock(mutex_);
  ++refused_launches_;
}

void Record::repeated_launch() {
  std::lock_guard lock(mutex_);
  ++repeated_launches_;
}

void Record::found(const std::vector<Reported>& findings) {
  if (!is_open()) return;
  for (const Reported& reported : findings) {
    put(text_of({{"finding", json::parse(to_json({reported.finding}))[0]},
                 {"number", reported.number},
                 {"suppressed", reported.suppressed}}));
  }
}

void Record::taken() {
  if (is_open()) put(text_of({{"taken", true}}));
}

void Record::covered(const std::vector<std::string>& texts,
                     const engine::ModuleCoverage& coverage) {
  if (!is_open()) return;
  Files files;
  json functions = json::array(), inlined = json::array();
  for (const engine::FunctionCoverage& f : coverage.functions)
    functions.push_back(function_json(f, &files));
  for (const engine::InlinedPlace& place : coverage.inlined)
    inlined.push_back(inlined_json(place, &files));
  put(text_of({{"coverage",
                {{"module", hash_of(texts)},
                 {"files", files.names()},
                 {"inlined", std::move(inlined)},
                 {"functions", std::move(functions)}}}}));
}

void Record::certified(std::string_view kernel, const engine::LaunchCertificate& certificate) {
  if (!is_open()) return;
  json of = certificate_json(certificate);
  const std::string key = std::string(kernel) + of.dump();
  std::lock_guard lock(mutex_);
  Counted& counted = certificates_[key];
  if (++counted.launches == 1) {
    of["kernel"] = demangled(std::string(kernel));
    counted.text = put_counted({{"certificate", std::move(of)}});
  } else if (counted.text != nullptr) {
    put_digits(counted.launches, counted.text);
  }
}

void Record::profiled(const std::vector<engine::ProfiledInstruction>& instructions) {
  if (!is_open()) return;
  json profile = json::array();
  for (const engine::ProfiledInstruction& i : instructions) {
    json spent = json::object();
    for (std::size_t d = 0; d < engine::kDoings; ++d) {
      if (i.seconds[d] != 0) spent[std::string(engine::kDoingNames[d])] = i.seconds[d];
    }
    json one = {{"kernel", demangled(i.kernel)},
                {"instruction", i.text},
                {"ptx_line", i.ptx_line},
                {"spent", std::move(spent)}};
    if (i.source.line != 0) one.update({{"file", i.source.file}, {"line", i.source.line}});
    profile.push_back(std::move(one));
  }
  put(text_of({{"profile", std::move(profile)}}));
}

void Record::finish(const std::vector<Reported>& changed) {
  if (!is_open()) return;
  found(changed);
  std::lock_guard lock(mutex_);
  json totals = json::array();
  for (const auto& [key, total] : totals_) {
    json one = counters_json(total.counters);
    one["kernel"] = demangled(key.first);
    one["device"] = key.second;
    totals.push_back(std::move(one));
  }
  put(text_of({{"totals", std::move(totals)},
               {"refused_launches", refused_launches_},
               {"repeated_launches", repeated_launches_}}));
}

void Record::forget() {
  std::lock_guard lock(mutex_);
  totals_.clear();
  certificates_.clear();
  library_calls_.clear();
  refused_launches_ = repeated_launches_ = 0;
  // Not the parent's open file: where one has written, the other would take for the end of its own
  // line.
  if (!is_open()) return;
  if (holds_file()) close(file_);
  reopen();
}

namespace {

void show_losses(int status, void* record) {
  if (status != 0 || !static_cast<const Record*>(record)->is_lossy()) return;
  std::fprintf(
      stderr,
      "lockstep: not all of this process could be recorded: the exit status is %d instead of 0\n",
      kExitUnrecorded);
  std::fflush(nullptr);
  _exit(kExitUnrecorded);
}

}  // namespace

void watch_losses(const Record* record) { on_exit(show_losses, const_cast<Record*>(record)); }

}  // namespace lockstep::runtime
