// Random programs on a GPU of compute capability 9.0, compiled by ptxas -O0, -O1 and -O3, and on
// the simulated GPU. There are four votes; a single deviating vote is wrong.
//
// Needs only ptxas and the driver. Each host thread generates a module of many programs, has ptxas
// assemble it three times, runs it in a separate process, and runs it on the simulated GPU. A
// kernel that fails or does not end costs that process; the other programs of the module run again
// without it. Exit status: 0 all agree, 1 something differs, 2 wrong usage or no GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "simulator/fuzz/differential/campaign.h"
#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/gpu/assemble.h"
#include "simulator/fuzz/differential/gpu/runner.h"
#include "simulator/fuzz/differential/gpu/votes.h"
#include "simulator/fuzz/differential/printer.h"
#include "simulator/fuzz/differential/reduce.h"

namespace {

using namespace lockstep::fuzz::differential;
using Clock = std::chrono::steady_clock;

constexpr int kAssemblySeconds = 120;
constexpr std::size_t kMaxSaved = 1000, kMaxPrinted = 2000, kMaxQuestions = 250, kMaxFaults = 12;
constexpr auto kReducing = std::chrono::seconds(25);

struct Options {
  double minutes = 8;
  std::uint64_t seed = 1, programs = 0;
  std::size_t batch = 96, runners = 0;  // default: half the number of host threads
  std::size_t reduced =
      4;  // programs of one kind that are reduced; twelve times as many of all kinds
  int milliseconds = 1500;  // for all kernels of a module
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  bool dry = false, checks = false;
  std::string ptxas = "ptxas", out = "out", scratch = "/dev/shm";
  std::vector<std::uint64_t> only;   // by number
  std::vector<std::string> without;  // omits programs whose PTX contains one of these
};

// Processes that run kernels. There are fewer than host threads, because ptxas takes most of the
// time.
class Pool {
 public:
  explicit Pool(std::size_t n) : runners_(n) {
    for (Runner& r : runners_) free_.push_back(&r);
  }
  class Lent {
   public:
    explicit Lent(Pool& pool) : pool_(pool) {
      std::unique_lock lock(pool.mutex_);
      pool.given_.wait(lock, [&] { return !pool.free_.empty(); });
      runner_ = pool.free_.back();
      pool.free_.pop_back();
    }
    ~Lent() {
      {
        const std::lock_guard lock(pool_.mutex_);
        pool_.free_.push_back(runner_);
      }
      pool_.given_.notify_one();
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Runner* operator->() const { return runner_; }

   private:
    Pool& pool_;
    Runner* runner_;
  };
  std::uint64_t started() const {
    std::uint64_t n = 0;
    for (const Runner& r : runners_) n += r.started();
    return n;
  }

 private:
  std::vector<Runner> runners_;
  std::vector<Runner*> free_;
  std::mutex mutex_;
  std::condition_variable given_;
};

struct Shared {
  Options options;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::uint64_t next = 0, programs = 0, launched = 0, refused = 0, findings = 0;
  std::vector<std::uint64_t> rows;
  std::map<std::string, std::uint64_t> alone;
  std::map<std::string, std::size_t> reduced_of;  // by the deviating voter
  std::size_t reduced = 0, saved = 0, printed = 0;
  std::unique_ptr<Pool> pool;  // nullptr: nothing is launched
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> assembling{0}, simulating{0}, launching{0},
      generating{0};  // microseconds, over all threads
  int status = 0;
};

class Timed {
 public:
  explicit Timed(std::atomic<std::int64_t>& to) : to_(to) {}
  ~Timed() {
    to_ += std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_).count();
  }

 private:
  std::atomic<std::int64_t>& to_;
  Clock::time_point start_ = Clock::now();
};

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string table(Shared& s);

class Worker {
 public:
  Worker(Shared& shared, int number)
      : s_(shared), name_(fmt::format("judge-{}-{}", getpid(), number)) {}

  void run() {
    for (;;) {
      std::vector<std::uint64_t> numbers = next();
      if (numbers.empty()) return;
      std::vector<Program> programs;
      {
        const Timed t(s_.generating);
        for (const std::uint64_t n : numbers) programs.push_back(generate(Recipe::of(n)));
        std::erase_if(programs, [&](const Program& p) {
          if (s_.options.without.empty()) return false;
          const std::string text = module_of(std::span(&p, 1));
          return std::any_of(
              s_.options.without.begin(), s_.options.without.end(),
              [&](const std::string& w) { return text.find(w) != std::string::npos; });
        });
      }
      if (!programs.empty()) batch(programs);
      if (s_.stop) return;
    }
  }

 private:
  std::vector<std::uint64_t> next() {
    const std::lock_guard lock(s_.mutex);
    const Options& o = s_.options;
    std::vector<std::uint64_t> numbers;
    if (s_.stop) return numbers;
    if (!o.only.empty()) {
      for (; numbers.size() < o.batch && s_.next < o.only.size(); ++s_.next)
        numbers.push_back(o.only[s_.next]);
      return numbers;
    }
    if (Clock::now() - s_.start > std::chrono::duration<double>(60 * o.minutes) ||
        (o.programs != 0 && s_.next >= o.programs))
      return numbers;
    static const std::vector<int> possible = possible_rows(true);
    for (std::size_t i = 0; i < o.batch; ++i) {
      Choices choose(o.seed * 0x100000001b3 + s_.next++);
      Recipe recipe;
      recipe.seed = choose.bits() & 0x7fffffffffff;
      recipe.silicon = true;
      recipe.row = wanted_row(choose, s_.rows, possible);
      numbers.push_back(recipe.number());
    }
    return numbers;
  }

  // Assembles the programs at a level. Programs that ptxas refuses are removed one by one.
  bool assembled(std::vector<Program>& programs, int level, std::string& cubin) {
    const Timed t(s_.assembling);
    for (;;) {
      if (programs.empty()) return false;
      const Assembled a = assemble(s_.options.ptxas, s_.options.scratch, name_, module_of(programs),
                                   level, kAssemblySeconds);
      if (a.ok) {
        cubin = a.cubin;
        return true;
      }
      // Bisects until one program is left.
      std::vector<Program> suspects = programs;
      std::string messages = a.messages;
      while (suspects.size() > 1) {
        std::vector<Program> half(
            suspects.begin(), suspects.begin() + static_cast<std::ptrdiff_t>(suspects.size() / 2));
        const Assembled h = assemble(s_.options.ptxas, s_.options.scratch, name_, module_of(half),
                                     level, kAssemblySeconds);
        if (!h.ok) {
          suspects = std::move(half);
          messages = h.messages;
          continue;
        }
        suspects.erase(suspects.begin(),
                       suspects.begin() + static_cast<std::ptrdiff_t>(suspects.size() / 2));
        const Assembled rest = assemble(s_.options.ptxas, s_.options.scratch, name_,
                                        module_of(suspects), level, kAssemblySeconds);
        if (rest.ok) break;  // neither half fails alone
        messages = rest.messages;
      }
      const std::uint64_t number = suspects.front().seed;
      {
        const std::lock_guard lock(s_.mutex);
        ++s_.refused;
        if (s_.saved++ < kMaxSaved)
          write(std::filesystem::path(s_.options.out) / fmt::format("refused-{:016x}.ptx", number),
                fmt::format("// ptxas -O{}\n/* {} */\n", level, messages) +
                    module_of(std::span(&suspects.front(), 1)));
        fmt::print("ptxas -O{} refuses {:016x}: {}\n", level, number, messages.substr(0, 200));
      }
      std::erase_if(programs, [&](const Program& p) { return p.seed == number; });
    }
  }

  // Runs a module at a level. A program whose kernel fails is removed, and the others run again.
  void launch(const std::vector<Program>& programs, int level, const std::string& cubin,
              std::vector<Votes>& to) {
    const Timed t(s_.launching);
    Pool::Lent runner(*s_.pool);
    std::vector<std::uint8_t> skipped(programs.size());
    for (std::size_t faults = 0;; ++faults) {
      const Runner::Outcome o =
          runner->run(programs, skipped, cubin, s_.options.milliseconds, false);
      if (o.fault.empty()) {
        for (std::size_t i = 0; i < programs.size(); ++i)
          if (!skipped[i]) to[i].silicon[level] = o.digests[i];
        return;
      }
      if (faults == kMaxFaults || o.failed >= programs.size()) {
        for (std::size_t i = 0; i < programs.size(); ++i)
          if (!skipped[i]) to[i].fault[level] = "a program of the module: " + o.fault;
        return;
      }
      to[o.failed].fault[level] = o.fault;
      skipped[o.failed] = 1;
      if (std::all_of(skipped.begin(), skipped.end(), [](std::uint8_t s) { return s != 0; }))
        return;
    }
  }

  // Collects the votes on each program. Returns false if that was impossible. Programs that ptxas
  // refuses are removed from `programs`.
  bool votes(std::vector<Program>& programs, std::vector<Votes>& to, bool quiet) {
    std::string cubins[3];
    for (int l = 0; l < 3; ++l) {
      const std::size_t before = programs.size();
      if (!assembled(programs, kLevels[l], cubins[l])) return false;
      if (programs.size() != before) l = -1;  // all levels have the same programs
    }
    to.assign(programs.size(), {});
    {
      const Timed t(s_.simulating);
      if (const std::string why = simulator_.load(programs, {}); !why.empty()) {
        const std::lock_guard lock(s_.mutex);
        fmt::print("the simulated GPU refuses a program: {}\n", why);
        ++s_.findings;
        return false;
      }
      for (std::size_t i = 0; i < programs.size(); ++i) {
        const Result r = simulator_.run(
            programs[i], i,
            {.checks = s_.options.checks ? std::uint32_t{lockstep::check::kAllChecks}
                                         : std::uint32_t{lockstep::check::kNoChecks}});
        if (!r.error.empty() && !quiet) {
          const std::lock_guard lock(s_.mutex);
          ++s_.findings;
          fmt::print("{:016x}: a finding\n{}", programs[i].seed, r.error);
        }
        to[i].simulated = digest(r.memory);
      }
    }
    for (int l = 0; l < 3; ++l) {
      if (s_.pool != nullptr)
        launch(programs, l, cubins[l], to);
      else
        for (Votes& v : to) v.silicon[l] = v.simulated;
    }
    return true;
  }

  void batch(std::vector<Program>& programs) {
    std::vector<Votes> all;
    const std::size_t asked = programs.size();
    if (!votes(programs, all, false)) return;
    std::vector<std::size_t> differ;
    {
      const std::lock_guard lock(s_.mutex);
      s_.programs += asked;
      s_.launched += programs.size();
      for (const Program& p : programs)
        for (const int r : rows_of(p)) ++s_.rows[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].agree()) continue;
        ++s_.alone[all[i].alone()];
        differ.push_back(i);
        if (++s_.printed <= kMaxPrinted)
          fmt::print("{:016x}: {} differs\n", programs[i].seed, all[i].alone());
      }
    }
    for (const std::size_t i : differ) explain(programs[i], all[i]);
  }

  void explain(const Program& program, const Votes& votes) {
    bool reduce = false;
    const std::string alone = votes.alone();
    {
      const std::lock_guard lock(s_.mutex);
      if (s_.saved++ >= kMaxSaved) return;
      reduce = s_.reduced < 12 * s_.options.reduced && s_.reduced_of[alone] < s_.options.reduced;
      if (reduce) ++s_.reduced, ++s_.reduced_of[alone];
    }
    Program small = program;
    const auto begin = Clock::now();
    if (reduce) {
      small = reduced(
          program,
          [&](const Program& p) {
            std::vector<Program> one = {p};
            std::vector<Votes> v;
            const auto now = Clock::now();
            const bool late =
                now - begin > kReducing ||
                now - s_.start > std::chrono::duration<double>(60 * s_.options.minutes + 15);
            return !late && !s_.stop && this->votes(one, v, true) && v.size() == 1 &&
                   v[0].alone() == alone && !v[0].agree();
          },
          kMaxQuestions);
    }
    std::string text = fmt::format(
        "// {:016x}: {} differs\n// {} blocks of {} threads; the input begins at byte {}\n// "
        "arguments",
        program.seed, alone, small.blocks, small.threads, small.input_offset);
    for (const std::uint32_t a : small.arguments) text += fmt::format(" {:08x}", a);
    text += "\n" + differences(small) + module_of(std::span(&small, 1));
    write(std::filesystem::path(s_.options.out) /
              fmt::format("{}-{:016x}.ptx", reduce ? "small" : "raw", program.seed),
          text);
  }

  // Where each level's memory first differs from that of the simulated GPU.
  std::string differences(const Program& p) {
    std::string text;
    std::vector<Program> one = {p};
    if (s_.pool == nullptr || !simulator_.load(one, {}).empty()) return text;
    const Result r = simulator_.run(p, 0, {});
    if (!r.error.empty()) text += fmt::format("/* {} */\n", r.error);
    for (const int level : kLevels) {
      std::string cubin;
      if (!assembled(one, level, cubin) || one.empty()) return text;
      const Runner::Outcome o =
          Pool::Lent(*s_.pool)->run(one, {}, cubin, s_.options.milliseconds, true);
      text += fmt::format("// simulated against -O{}: {}\n", level,
                          o.fault.empty()
                              ? first_difference(p, r.memory, o.memory, fmt::format("-O{}", level))
                              : o.fault);
    }
    return text;
  }

  Shared& s_;
  std::string name_;
  Simulator simulator_;
};

std::string table(Shared& s) {
  const double seconds = std::chrono::duration<double>(Clock::now() - s.start).count();
  const Catalogue& all = Catalogue::get();
  std::string t = fmt::format(
      "\n{} programs in {:.0f} s, {:.0f} a second; {} ran, {} refused by ptxas, {} with findings "
      "of the simulated GPU\n",
      s.programs, seconds, static_cast<double>(s.programs) / seconds, s.launched, s.refused,
      s.findings);
  t += fmt::format(
      "seconds of all host threads: generating {:.1f}, ptxas {:.1f}, simulating {:.1f}, launching "
      "{:.1f}\n",
      1e-6 * static_cast<double>(s.generating), 1e-6 * static_cast<double>(s.assembling),
      1e-6 * static_cast<double>(s.simulating), 1e-6 * static_cast<double>(s.launching));
  if (s.pool != nullptr) t += fmt::format("{} processes have run kernels\n", s.pool->started());
  std::uint64_t least = ~std::uint64_t{0};
  std::size_t few = 0;
  for (const int r : possible_rows(true)) {
    least = std::min(least, s.rows[static_cast<std::size_t>(r)]);
    few += s.rows[static_cast<std::size_t>(r)] < 100;
  }
  t += fmt::format(
      "rows of the table: {} can stand in such a program, {} did in fewer than 100; the least "
      "often seen in {}\n",
      possible_rows(true).size(), few, least);
  if (s.alone.empty()) t += "no two votes differ\n";
  for (const auto& [who, n] : s.alone) t += fmt::format("{:8} programs: {}\n", n, who);
  std::string rows;
  for (const int r : possible_rows(true))
    rows += fmt::format("{:8}  {}\n", s.rows[static_cast<std::size_t>(r)], all.name(r));
  write(std::filesystem::path(s.options.out) / fmt::format("rows-{}.txt", s.options.seed), rows);
  return t;
}

int usage() {
  fmt::print(stderr,
             "differential_gpu [--minutes=N] [--programs=N] [--seed=N] [--batch=N] [--jobs=N] "
             "[--ptxas=PATH] [--out=FOLDER] [--scratch=FOLDER] "
             "[--runners=N] [--milliseconds=N] [--reduced=N] [--checks] [--dry] "
             "[--without=TEXT]... [--replay=NUMBER] [--replay-list=FILE]\n");
  return 2;
}

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const std::size_t equals = a.find('=');
    const std::string name = a.substr(0, equals),
                      value = equals == std::string::npos ? "" : a.substr(equals + 1);
    if (name == "--minutes")
      o.minutes = std::strtod(value.c_str(), nullptr);
    else if (name == "--programs")
      o.programs = std::strtoull(value.c_str(), nullptr, 10), o.minutes = 1e6;
    else if (name == "--seed")
      o.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--batch")
      o.batch = std::clamp<std::size_t>(std::strtoull(value.c_str(), nullptr, 10), 1, kMaxPrograms);
    else if (name == "--runners")
      o.runners = std::max<std::size_t>(1, std::strtoull(value.c_str(), nullptr, 10));
    else if (name == "--milliseconds")
      o.milliseconds = std::max(1, std::atoi(value.c_str()));
    else if (name == "--reduced")
      o.reduced = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--jobs")
      o.jobs = std::max(1, std::atoi(value.c_str()));
    else if (name == "--ptxas")
      o.ptxas = value;
    else if (name == "--out")
      o.out = value;
    else if (name == "--scratch")
      o.scratch = value;
    else if (name == "--without")
      o.without.push_back(value);
    else if (a == "--checks")
      o.checks = true;
    else if (a == "--dry")
      o.dry = true;
    else if (name == "--replay")
      o.only.push_back(std::strtoull(value.c_str(), nullptr, 16));
    else if (name == "--replay-list") {
      std::ifstream in(value);
      for (std::string line; std::getline(in, line);)
        o.only.push_back(std::strtoull(line.c_str(), nullptr, 16));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strncmp(argv[1], "--runner=", 9) == 0) return serve(std::atoi(argv[1] + 9));
  Shared shared;
  if (!parse(argc, argv, shared.options)) return usage();
  const Options& o = shared.options;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::filesystem::create_directories(o.out);
  shared.rows.resize(Catalogue::get().rows().size());
  std::string gpu = "dry: nothing is launched";
  try {
    if (!o.dry) {
      shared.pool = std::make_unique<Pool>(
          o.runners != 0 ? o.runners : static_cast<std::size_t>(std::clamp(o.jobs / 2, 1, 16)));
      gpu = Pool::Lent(*shared.pool)->name();
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "no GPU: {}\n", e.what());
    return 2;
  }
  fmt::print("{}, {} host threads, {} programs a module, seed {}\n", gpu, o.jobs, o.batch, o.seed);
  shared.start = Clock::now();
  std::vector<std::thread> threads;
  std::atomic<int> running{o.jobs};
  for (int i = 0, n = running; i < n; ++i) {
    threads.emplace_back([&, i] {
      try {
        Worker(shared, i).run();
      } catch (const std::exception& e) {
        fmt::print(stderr, "host thread {}: {}\n", i, e.what());
        shared.status = 2;
        shared.stop = true;
      }
      --running;
    });
  }
  for (auto printed = Clock::now(); running > 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (Clock::now() - printed < std::chrono::seconds(20)) continue;
    printed = Clock::now();
    const std::lock_guard lock(shared.mutex);
    std::uint64_t mismatches = 0;
    for (const auto& [who, n] : shared.alone) mismatches += n;
    const double seconds = std::chrono::duration<double>(printed - shared.start).count();
    fmt::print("{:6.0f} s: {} programs, {:.0f} a second, {} mismatches\n", seconds, shared.programs,
               static_cast<double>(shared.programs) / seconds, mismatches);
  }
  for (std::thread& t : threads) t.join();
  const std::string t = table(shared);
  fmt::print("{}", t);
  write(std::filesystem::path(o.out) / fmt::format("table-{}-{}.txt", o.seed, getpid()), t);
  std::fflush(stdout);
  const int status = shared.status != 0 ? shared.status
                     : !shared.alone.empty() || shared.refused != 0 || shared.findings != 0 ? 1
                                                                                            : 0;
  return status;
}
