#include "simulator/runtime/mutation/server.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <utility>

#include "simulator/engine/run/mutable_code.h"
#include "simulator/runtime/mutation/call_change.h"
#include "simulator/runtime/mutation/call_site.h"
#include "simulator/runtime/mutation/survey.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/modules.h"
#include "simulator/runtime/state/output_signals.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/thread_count.h"

namespace lockstep::runtime {

using nlohmann::json;

namespace {

// One write a line: those of several processes do not mix in a file opened for appending. Where
// there is no room, the command finds the file read-only (exec/mutate/rounds.cc): that needs no
// room, and holds for mutants too, whose exit status says something else.
void put_line(int file, const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const OutputSignalsHeldBack held_back;
  const ssize_t written = write(file, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return;
  std::fprintf(stderr, "lockstep: what becomes of mutants cannot be written: %s\n",
               std::strerror(written < 0 ? errno : ENOSPC));
  fchmod(file, 0444);
  _exit(kExitUnrecorded);
}

// What a mutant prints is its own, and it has nothing to read.
void redirect(const std::string& folder, int id) {
  const std::string path =
      folder.empty() ? "/dev/null" : folder + "/" + std::to_string(id) + ".txt";
  std::fflush(nullptr);
  const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (out >= 0) dup2(out, STDOUT_FILENO), dup2(out, STDERR_FILENO), close(out);
  if (in >= 0) dup2(in, STDIN_FILENO), close(in);
}

}  // namespace

MutationServer::MutationServer(Plan plan) : plan_(std::move(plan)) {
  lines_ = open(plan_.out.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (lines_ < 0)
    throw std::runtime_error("LOCKSTEP_MUTATION: '" + plan_.out + "': " + std::strerror(errno));
  process_ = getpid();
  for (const PlannedMutant& m : plan_.mutants) (m.of_call() ? calls_ : kernels_).push_back(m);
  // This process executes operations as they are put, and those mutants from their begin on late.
  for (PlannedMutant& m : calls_) {
    if (changes_order(m.change)) m.at = 1;
  }
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const PlannedMutant& a, const PlannedMutant& b) { return a.at < b.at; });
  if (plan_.mode == Plan::Mode::kBecome) self_ = &plan_.mutants.at(0);
  if (plan_.mode != Plan::Mode::kServe || !plan_.compare) return;
  kernels_.clear();
  candidates_.emplace(plan_);
  const std::string path = plan_.out + ".trying";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const OutputSignalsHeldBack held_back;
  // With its room: a store into a hole of a full disk would end the process.
  if (const int error = file < 0 ? errno : posix_fallocate(file, 0, sizeof(Shared)); error != 0) {
    throw std::runtime_error("LOCKSTEP_MUTATION: '" + path + "': " + std::strerror(error));
  }
  void* const shared = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED)
    throw std::runtime_error("LOCKSTEP_MUTATION: '" + path + "': " + std::strerror(errno));
  shared_ = new (shared) Shared();
}

// What does not come to the mutant's place is as it was. The parent goes through all of the program
// that some mutant needs; while calls are still to be changed that is all of it, for these are
// counted.
bool MutationServer::begin_part() {
  ++parts_;
  if (self_ == nullptr)
    return plan_.has_part(parts_) &&
           (!candidates_ || next_call_ < calls_.size() || candidates_->need(parts_));
  if (until_part_ends_ && findings_ == 0) {
    shared_->taken_back = self_->id;
    _exit(0);
  }
  until_part_ends_ =
      false;  // the simulated GPU has found something: the end says what becomes of it
  return plan_.has_part(parts_) && (!self_->parts || plan_.sets[*self_->parts].contains(parts_));
}

std::optional<engine::Outcome> MutationServer::before_launch(Runtime& runtime, FatBinary& binary,
                                                             const engine::Kernel& kernel,
                                                             engine::LaunchConfig& config) {
  ++launches_;
  const bool first = self_ == nullptr && candidates_;  // of a mutant that is forked here
  if (first) {
    config.host_threads = 1;  // as in a trial, and in a mutant
    compare(runtime, binary, kernel, config);
    if (self_ == nullptr) return candidates_->adopt();
  } else if (self_ == nullptr) {
    if (const PlannedMutant* mutant = fork_those_at(runtime, kernels_, next_kernel_, launches_))
      become(runtime, *mutant);
  }
  if (self_ == nullptr) return std::nullopt;
  limit(config, first ? candidates_->instructions() : 0);
  if (self_->of_call()) return std::nullopt;
  if (self_candidate_ != nullptr && !self_candidate_->whole) {
    put_in_place(runtime, binary, kernel);
  } else {
    mutate_code(runtime, binary, runtime.current().ordinal);
  }
  return std::nullopt;
}

void MutationServer::after_launch(FatBinary&, const engine::Kernel&, const engine::Outcome&) {
  if (engine::Exchange* const mutant = std::exchange(in_place_, nullptr)) mutant->exchange();
}

void MutationServer::put_in_place(Runtime& runtime, FatBinary& binary,
                                  const engine::Kernel& kernel) {
  const int device = runtime.current().ordinal;
  engine::Exchange* const mutant = candidates_->beside(*self_candidate_, runtime, binary, device);
  if (mutant == nullptr && self_candidate_->whole) return mutate_code(runtime, binary, device);
  if (mutant == nullptr || !mutant->is_of(kernel)) return;
  mutant->exchange();
  in_place_ = mutant;
}

void MutationServer::compare(Runtime& runtime, FatBinary& binary, const engine::Kernel& kernel,
                             const engine::LaunchConfig& config) {
  engine::LaunchConfig trial = config;
  limit(trial);
  candidates_->begin(runtime, binary, kernel, trial, parts_, &shared_->trying);
  while (Candidate* const c = candidates_->next()) {
    const int id = c->mutant->id;
    if (!c->refused.empty()) {
      put_line(lines_, {{"id", id}, {"refused", c->refused}});
      put_line(lines_, {{"id", id}, {"died", 0}});
      c->over = true;
      continue;
    }
    // One that differs often gets a process that goes on to the end; one that seldom does, a
    // process for the rest of the part at a time.
    const bool to_the_end = parts_ == 0 || c->whole || 4 * c->parts_differed > c->parts_reached;
    shared_->taken_back = 0;
    if (fork_one(runtime, *c->mutant) != nullptr) {
      until_part_ends_ = !to_the_end;
      self_candidate_ = c;
      return become(runtime, *c->mutant);
    }
    c->over = true;
    if (to_the_end) {
      reap(static_cast<std::size_t>(std::max(1, plan_.jobs)));  // this process is one of the jobs
    } else {
      reap(1);
      c->over = shared_->taken_back != id;
    }
    if (c->over) c->beside.clear();  // thousands of them are room that each fork has to go through
  }
}

// What never left anything else, nobody could notice.
void MutationServer::end_candidates(int status) {
  if (status != plan_.status || parts_ != plan_.parts || otherwise_) {
    put_line(lines_, {{"id", 0}, {"otherwise", true}});
    return;
  }
  for (const Candidate& c : candidates_->all()) {
    if (c.over || c.parts_reached == 0) continue;
    json end = {{"id", c.mutant->id}, {"end", status}};
    if (c.mutant->enough == 0) end["felt"] = c.felt.text();  // all launches were looked at
    put_line(lines_, end);
    put_line(lines_, {{"id", c.mutant->id}, {"died", status << 8}});
  }
  put_line(lines_, {{"id", 0}, {"whole", true}});
}

bool MutationServer::before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream,
                                Work& work) {
  ++puts_;
  if (self_ == nullptr) {
    if (const PlannedMutant* mutant = fork_those_at(runtime, calls_, next_call_, puts_, api_name))
      become(runtime, *mutant);
  }
  if (self_ == nullptr || !self_->of_call() || self_->change == "error-swallowed" ||
      call_site(api_name).key(api_name) != self_->site)
    return true;
  return change_call(self_->change, ++times_, runtime.streams.other_than(stream), stream, work);
}

bool MutationServer::is_changed(Runtime& runtime, const char* api_name, const char* change) {
  ++puts_;
  if (self_ == nullptr) {
    if (const PlannedMutant* mutant = fork_those_at(runtime, calls_, next_call_, puts_, api_name))
      become(runtime, *mutant);
  }
  return self_ != nullptr && self_->of_call() && self_->change == change &&
         call_site(api_name).key(api_name) == self_->site;
}

bool MutationServer::executes_late() const {
  return self_ != nullptr && self_->of_call() && changes_order(self_->change);
}

cudaError_t MutationServer::launch_answered(Runtime& runtime, const char* api_name,
                                            cudaError_t error) {
  ++puts_;
  if (self_ == nullptr) {
    if (const PlannedMutant* mutant = fork_those_at(runtime, calls_, next_call_, puts_, api_name))
      become(runtime, *mutant);
  }
  const bool swallowed = self_ != nullptr && self_->change == "error-swallowed" &&
                         call_site(api_name).key(api_name) == self_->site;
  return swallowed ? cudaSuccess : error;
}

void MutationServer::found(const std::vector<check::Finding>& findings,
                           const check::Suppressions& suppressions) {
  if (getpid() != process_) return;
  for (const check::Finding& f : findings) {
    if (f.severity != check::Severity::kError) continue;
    ++findings_;
    if (suppressions.cover(f) || ++written_findings_ > 3) continue;  // the first say it
    json line = {{"id", self_ == nullptr ? 0 : self_->id},
                 {"finding", check::name(f.kind)},
                 {"text", f.to_string()}};
    if (self_ == nullptr) line["unchanged"] = true;
    put_line(lines_, line);
  }
}

void MutationServer::finish(int status) {
  if (getpid() != process_) return;
  if (self_ != nullptr) {
    put_line(lines_, {{"id", self_->id}, {"end", status}, {"part", parts_}});
  } else {
    reap(1);
    if (candidates_) end_candidates(status);
  }
}

const PlannedMutant* MutationServer::fork_those_at(Runtime& runtime,
                                                   const std::vector<PlannedMutant>& planned,
                                                   std::size_t& next, std::uint64_t now,
                                                   const char* api_name) {
  for (; next < planned.size() && planned[next].at <= now; ++next) {
    if (planned[next].at < now || (api_name != nullptr && !changes_order(planned[next].change) &&
                                   call_site(api_name).key(api_name) != planned[next].site)) {
      otherwise_ =
          true;  // its launch or call has passed, or is another: the plan is not of this run
      continue;
    }
    if (const PlannedMutant* self = fork_one(runtime, planned[next])) return self;
  }
  return nullptr;
}

const PlannedMutant* MutationServer::fork_one(Runtime& runtime, const PlannedMutant& mutant) {
  if (thread_count() > 1) {
    put_line(lines_, {{"id", mutant.id}, {"skipped", "the program has other threads here"}});
    return nullptr;
  }
  reap(static_cast<std::size_t>(std::max(1, plan_.jobs)));
  std::fflush(nullptr);
  runtime.forking_mutant = true;
  const pid_t parent = getpid();
  const pid_t child = fork();
  runtime.forking_mutant = false;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    redirect(plan_.outputs, mutant.id);
    running_.clear();
    process_ = getpid();
    findings_ = written_findings_ = 0;  // those so far are the unchanged program's
    return &mutant;
  }
  if (child < 0) {
    put_line(lines_,
             {{"id", mutant.id}, {"skipped", std::string("no process: ") + std::strerror(errno)}});
    return nullptr;
  }
  running_.insert_or_assign(child, Running{mutant.id, mutation::TimeLimit(plan_.seconds), parts_});
  return nullptr;
}

void MutationServer::become(Runtime& runtime, const PlannedMutant& mutant) {
  self_ = &mutant;
  if (!runtime.memory->separate_host_file()) {
    put_line(lines_, {{"id", mutant.id}, {"skipped", "its managed memory cannot be copied"}});
    _exit(1);
  }
}

void MutationServer::mutate_code(Runtime& runtime, FatBinary& binary, int device) {
  FatBinary::Loaded& loaded = binary.loaded.at(device);
  if (std::exchange(loaded.seen_by_mutant, true)) return;
  std::string& hash = hashes_[&binary];
  if (hash.empty()) hash = hash_of(loaded.texts);
  if (hash != self_->code) return;
  const auto code =
      engine::parse_again(std::vector<std::string_view>(loaded.texts.begin(), loaded.texts.end()));
  const std::string why = code->mutate(self_->place, *loaded.module, *runtime.memory, device,
                                       runtime.settings.registers);
  if (why.empty()) return;
  put_line(lines_, {{"id", self_->id}, {"refused", why}});
  _exit(0);
}

void MutationServer::limit(engine::LaunchConfig& config, std::uint64_t unchanged) const {
  constexpr std::uint64_t kMore = 4, kLeast = 1'000'000;
  config.host_threads = 1;  // mutants run beside one another
  if (plan_.instruction_limit == 0) return;
  // The largest launch may be a thousand times as large as the one in which a mutant first stands
  // still.
  config.instruction_limit =
      unchanged == 0 ? plan_.instruction_limit
                     : std::min(plan_.instruction_limit, std::max(kLeast, kMore * unchanged));
}

void MutationServer::reap(std::size_t fewer_than) {
  while (running_.size() >= fewer_than) {
    bool any = false;
    for (auto it = running_.begin(); it != running_.end();) {
      auto& [process, r] = *it;
      if (!r.late && r.limit.is_over(process)) {
        r.late = true;
        kill(process, SIGKILL);
      }
      int status = 0;
      if (waitpid(process, &status, WNOHANG) != process) {
        ++it;
        continue;
      }
      any = true;
      if (shared_ != nullptr && shared_->taken_back == r.id) {
        it = running_.erase(it);
        continue;
      }
      put_line(lines_, {{"id", r.id},
                        {"died", status},
                        {"seconds", r.limit.elapsed()},
                        {"late", r.late},
                        {"part", r.part}});
      it = running_.erase(it);
    }
    if (!any && running_.size() >= fewer_than)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace lockstep::runtime
