// Random programs on a GPU of compute capability 9.0: by ptxas -O0, -O1 and -O3, and on the simulated GPU. Four votes; who is alone is wrong.
//
// Needs ptxas and the driver, and nothing else of CUDA. Each host thread makes a module of many programs, has ptxas assemble it three times,
// runs it, and runs it on the simulated GPU. Exit status: 0 all agree, 1 something differs, 2 wrong usage or no GPU, 3 a kernel did not end, 4 a
// kernel ended the context; after 3 and 4 the process must be started anew.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "simulator/fuzz/differential/gpu/device.h"
#include "simulator/fuzz/differential/printer.h"
#include "simulator/fuzz/differential/reduce.h"

namespace {

using namespace lockstep::fuzz::differential;
using Clock = std::chrono::steady_clock;

constexpr int kLevels[] = {0, 1, 3};
constexpr int kAssemblySeconds = 120, kLaunchSeconds = 30;
constexpr std::size_t kMostReduced = 16, kMostSaved = 50, kMostTold = 2000, kMostQuestions = 250;

struct Options {
  double minutes = 8;
  std::uint64_t seed = 1, programs = 0;
  std::size_t batch = 96;
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  bool dry = false, checks = false;
  std::string ptxas = "ptxas", out = "out", scratch = "/dev/shm";
  std::vector<std::uint64_t> only;  // programs by number
  std::vector<std::string> without;  // programs whose PTX holds one of these are left out
};

// The votes on one program.
struct Votes {
  std::uint64_t silicon[3] = {};
  std::uint64_t simulated = 0;
  bool operator==(const Votes&) const = default;
  bool agree() const { return silicon[0] == silicon[1] && silicon[1] == silicon[2] && silicon[2] == simulated; }
  // "-O3" when it alone differs, "simulated", or who is with whom.
  std::string alone() const {
    const std::uint64_t all[] = {silicon[0], silicon[1], silicon[2], simulated};
    constexpr const char* kNames[] = {"-O0", "-O1", "-O3", "simulated"};
    std::map<std::uint64_t, std::vector<int>> groups;
    for (int i = 0; i < 4; ++i) groups[all[i]].push_back(i);
    if (groups.size() == 2) {
      for (const auto& [value, members] : groups)
        if (members.size() == 1) return kNames[members[0]];
    }
    std::string s;
    for (const auto& [value, members] : groups) {
      if (!s.empty()) s += " | ";
      for (std::size_t i = 0; i < members.size(); ++i) s += (i ? " " : "") + std::string(kNames[members[i]]);
    }
    return s;
  }
};

struct Shared {
  Options options;
  Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::uint64_t next = 0, programs = 0, launched = 0, refused = 0, findings = 0;
  std::vector<std::uint64_t> rows;
  std::map<std::string, std::uint64_t> alone;
  std::size_t reduced = 0, saved = 0, told = 0;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> assembling{0}, simulating{0}, launching{0}, generating{0};  // microseconds of all threads
  int status = 0;
};

class Timed {
 public:
  explicit Timed(std::atomic<std::int64_t>& to) : to_(to) {}
  ~Timed() { to_ += std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_).count(); }

 private:
  std::atomic<std::int64_t>& to_;
  Clock::time_point start_ = Clock::now();
};

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

std::string table(Shared& s);

class Worker {
 public:
  Worker(Shared& shared, Device* device, int number)
      : s_(shared), name_(fmt::format("judge-{}-{}", getpid(), number)) {
    if (device != nullptr) lane_ = std::make_unique<Device::Lane>(*device, std::max(s_.options.batch, s_.options.only.size()));
  }

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
          return std::any_of(s_.options.without.begin(), s_.options.without.end(), [&](const std::string& w) { return text.find(w) != std::string::npos; });
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
      if (s_.next++ == 0) numbers = o.only;
      return numbers;
    }
    if (Clock::now() - s_.start > std::chrono::duration<double>(60 * o.minutes) || (o.programs != 0 && s_.next >= o.programs)) return numbers;
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

  // Assembles the programs at a level; those that ptxas refuses are taken out, one by one.
  bool assembled(std::vector<Program>& programs, int level, std::string& cubin) {
    const Timed t(s_.assembling);
    for (;;) {
      if (programs.empty()) return false;
      const Assembled a = assemble(s_.options.ptxas, s_.options.scratch, name_, module_of(programs), level, kAssemblySeconds);
      if (a.ok) {
        cubin = a.cubin;
        return true;
      }
      // The half that fails, until it is one program.
      std::vector<Program> suspects = programs;
      std::string messages = a.messages;
      while (suspects.size() > 1) {
        std::vector<Program> half(suspects.begin(), suspects.begin() + static_cast<std::ptrdiff_t>(suspects.size() / 2));
        const Assembled h = assemble(s_.options.ptxas, s_.options.scratch, name_, module_of(half), level, kAssemblySeconds);
        if (!h.ok) {
          suspects = std::move(half);
          messages = h.messages;
          continue;
        }
        suspects.erase(suspects.begin(), suspects.begin() + static_cast<std::ptrdiff_t>(suspects.size() / 2));
        const Assembled rest = assemble(s_.options.ptxas, s_.options.scratch, name_, module_of(suspects), level, kAssemblySeconds);
        if (rest.ok) break;  // neither half alone
        messages = rest.messages;
      }
      const std::uint64_t number = suspects.front().seed;
      {
        const std::lock_guard lock(s_.mutex);
        ++s_.refused;
        if (s_.saved++ < kMostSaved)
          write(std::filesystem::path(s_.options.out) / fmt::format("refused-{:016x}.ptx", number),
                fmt::format("// ptxas -O{}\n/* {} */\n", level, messages) + module_of(std::span(&suspects.front(), 1)));
        fmt::print("ptxas -O{} refuses {:016x}: {}\n", level, number, messages.substr(0, 200));
      }
      std::erase_if(programs, [&](const Program& p) { return p.seed == number; });
    }
  }

  // Nothing more can be launched in this process: which programs it was is left for another.
  void lost(const std::vector<Program>& programs, int level, const std::string& why, int status) {
    const std::lock_guard lock(s_.mutex);
    if (s_.stop.exchange(true)) return;
    std::string numbers;
    for (const Program& p : programs) numbers += fmt::format("{:016x}\n", p.seed);
    write(std::filesystem::path(s_.options.out) / fmt::format("lost-O{}-{}.txt", level, getpid()), numbers);
    fmt::print("-O{}: {}; one of {} programs, see lost-O{}-{}.txt\n", level, why, programs.size(), level, getpid());
    s_.status = status;
    if (status == 3) {
      fmt::print("{}", table(s_));
      std::fflush(stdout);
      _exit(3);  // a kernel that does not end holds every other call
    }
  }

  // The votes on each program; false when they could not be had. `programs` loses those that ptxas refuses.
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
            programs[i], i, {.checks = s_.options.checks ? std::uint32_t{lockstep::check::kAllChecks} : std::uint32_t{lockstep::check::kNoChecks}});
        if (!r.error.empty() && !quiet) {
          const std::lock_guard lock(s_.mutex);
          ++s_.findings;
          fmt::print("{:016x}: a finding\n{}", programs[i].seed, r.error);
        }
        to[i].simulated = digest(r.memory);
      }
    }
    if (lane_ == nullptr) {
      for (Votes& v : to)
        for (auto& d : v.silicon) d = v.simulated;
      return true;
    }
    const Timed t(s_.launching);
    for (int l = 0; l < 3; ++l) {
      const Device::Lane::Outcome o = lane_->run(programs, cubins[l], kLaunchSeconds);
      if (o.hangs) {
        lost(programs, kLevels[l], "a kernel does not end", 3);
        return false;
      }
      if (!o.error.empty()) {
        lost(programs, kLevels[l], o.error, 4);
        return false;
      }
      for (std::size_t i = 0; i < programs.size(); ++i) to[i].silicon[l] = o.digests[i];
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
        if (++s_.told <= kMostTold)
          fmt::print("{:016x}: {} differs; digests {:016x} {:016x} {:016x}, simulated {:016x}\n", programs[i].seed, all[i].alone(), all[i].silicon[0],
                     all[i].silicon[1], all[i].silicon[2], all[i].simulated);
      }
    }
    for (const std::size_t i : differ) explain(programs[i], all[i]);
  }

  void explain(const Program& program, const Votes& votes) {
    bool reduce = false;
    {
      const std::lock_guard lock(s_.mutex);
      if (s_.saved++ >= kMostSaved) return;
      reduce = s_.reduced++ < kMostReduced;
    }
    const std::string alone = votes.alone();
    Program small = program;
    if (reduce) {
      small = reduced(program, [&](const Program& p) {
        std::vector<Program> one = {p};
        std::vector<Votes> v;
        const bool late = Clock::now() - s_.start > std::chrono::duration<double>(60 * s_.options.minutes + 15);
        return !late && !s_.stop && this->votes(one, v, true) && v.size() == 1 && v[0].alone() == alone && !v[0].agree();
      }, kMostQuestions);
    }
    std::string text = fmt::format("// {:016x}: {} differs\n// {} blocks of {} threads; the input begins at byte {}\n// arguments", program.seed,
                                   alone, small.blocks, small.threads, small.input_offset);
    for (const std::uint32_t a : small.arguments) text += fmt::format(" {:08x}", a);
    text += "\n" + differences(small) + module_of(std::span(&small, 1));
    write(std::filesystem::path(s_.options.out) / fmt::format("{}-{:016x}.ptx", reduce ? "small" : "raw", program.seed), text);
  }

  // Where each level's memory first differs from the simulated GPU's.
  std::string differences(const Program& p) {
    std::string text;
    std::vector<Program> one = {p};
    if (lane_ == nullptr || !simulator_.load(one, {}).empty()) return text;
    const Result r = simulator_.run(p, 0, {});
    if (!r.error.empty()) text += fmt::format("/* {} */\n", r.error);
    for (const int level : kLevels) {
      std::string cubin;
      if (!assembled(one, level, cubin) || one.empty()) return text;
      const Device::Lane::Outcome o = lane_->run(one, cubin, kLaunchSeconds);
      if (o.hangs || !o.error.empty()) return text;
      text += fmt::format("// simulated against -O{}: {}\n", level, first_difference(p, r.memory, lane_->memory(p, 0), fmt::format("-O{}", level)));
    }
    return text;
  }

  Shared& s_;
  std::string name_;
  Simulator simulator_;
  std::unique_ptr<Device::Lane> lane_;
};

std::string table(Shared& s) {
  const double seconds = std::chrono::duration<double>(Clock::now() - s.start).count();
  const Catalogue& all = Catalogue::get();
  std::string t = fmt::format("\n{} programs in {:.0f} s, {:.0f} a second; {} ran, {} refused by ptxas, {} with findings of the simulated GPU\n",
                              s.programs, seconds, static_cast<double>(s.programs) / seconds, s.launched, s.refused, s.findings);
  t += fmt::format("seconds of all host threads: generating {:.1f}, ptxas {:.1f}, simulating {:.1f}, launching {:.1f}\n",
                   1e-6 * static_cast<double>(s.generating), 1e-6 * static_cast<double>(s.assembling), 1e-6 * static_cast<double>(s.simulating),
                   1e-6 * static_cast<double>(s.launching));
  std::uint64_t least = ~std::uint64_t{0};
  std::size_t few = 0;
  for (const int r : possible_rows(true)) {
    least = std::min(least, s.rows[static_cast<std::size_t>(r)]);
    few += s.rows[static_cast<std::size_t>(r)] < 100;
  }
  t += fmt::format("rows of the table: {} can stand in such a program, {} did in fewer than 100; the least often seen in {}\n",
                   possible_rows(true).size(), few, least);
  if (s.alone.empty()) t += "no two votes differ\n";
  for (const auto& [who, n] : s.alone) t += fmt::format("{:8} programs: {}\n", n, who);
  std::string rows;
  for (const int r : possible_rows(true)) rows += fmt::format("{:8}  {}\n", s.rows[static_cast<std::size_t>(r)], all.name(r));
  write(std::filesystem::path(s.options.out) / fmt::format("rows-{}.txt", s.options.seed), rows);
  return t;
}

int usage() {
  fmt::print(stderr,
             "differential_gpu [--minutes=N] [--programs=N] [--seed=N] [--batch=N] [--jobs=N] [--ptxas=PATH] [--out=FOLDER] [--scratch=FOLDER] "
             "[--checks] [--dry] "
             "[--without=TEXT]... [--replay=NUMBER] [--replay-list=FILE]\n");
  return 2;
}

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const std::size_t equals = a.find('=');
    const std::string name = a.substr(0, equals), value = equals == std::string::npos ? "" : a.substr(equals + 1);
    if (name == "--minutes") o.minutes = std::strtod(value.c_str(), nullptr);
    else if (name == "--programs") o.programs = std::strtoull(value.c_str(), nullptr, 10), o.minutes = 1e6;
    else if (name == "--seed") o.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--batch") o.batch = std::max<std::size_t>(1, std::strtoull(value.c_str(), nullptr, 10));
    else if (name == "--jobs") o.jobs = std::max(1, std::atoi(value.c_str()));
    else if (name == "--ptxas") o.ptxas = value;
    else if (name == "--out") o.out = value;
    else if (name == "--scratch") o.scratch = value;
    else if (name == "--without") o.without.push_back(value);
    else if (a == "--checks") o.checks = true;
    else if (a == "--dry") o.dry = true;
    else if (name == "--replay") o.only.push_back(std::strtoull(value.c_str(), nullptr, 16));
    else if (name == "--replay-list") {
      std::ifstream in(value);
      for (std::string line; std::getline(in, line);) o.only.push_back(std::strtoull(line.c_str(), nullptr, 16));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Shared shared;
  if (!parse(argc, argv, shared.options)) return usage();
  const Options& o = shared.options;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::filesystem::create_directories(o.out);
  shared.rows.resize(Catalogue::get().rows().size());
  std::unique_ptr<Device> device;
  try {
    if (!o.dry) device = std::make_unique<Device>();
  } catch (const std::exception& e) {
    fmt::print(stderr, "no GPU: {}\n", e.what());
    return 2;
  }
  fmt::print("{}, {} host threads, {} programs a module, seed {}\n", device ? device->name() : "dry: nothing is launched", o.jobs, o.batch, o.seed);
  shared.start = Clock::now();
  std::vector<std::thread> threads;
  std::atomic<int> running{o.only.empty() ? o.jobs : 1};
  for (int i = 0, n = running; i < n; ++i) {
    threads.emplace_back([&, i] {
      try {
        Worker(shared, device.get(), i).run();
      } catch (const std::exception& e) {
        fmt::print(stderr, "host thread {}: {}\n", i, e.what());
        shared.status = 4;
      }
      --running;
    });
  }
  for (auto told = Clock::now(); running > 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (Clock::now() - told < std::chrono::seconds(20)) continue;
    told = Clock::now();
    const std::lock_guard lock(shared.mutex);
    std::uint64_t mismatches = 0;
    for (const auto& [who, n] : shared.alone) mismatches += n;
    const double seconds = std::chrono::duration<double>(told - shared.start).count();
    fmt::print("{:6.0f} s: {} programs, {:.0f} a second, {} mismatches\n", seconds, shared.programs, static_cast<double>(shared.programs) / seconds,
               mismatches);
  }
  for (std::thread& t : threads) t.join();
  const std::string t = table(shared);
  fmt::print("{}", t);
  write(std::filesystem::path(o.out) / fmt::format("table-{}-{}.txt", o.seed, getpid()), t);
  std::fflush(stdout);
  const int status = shared.status != 0 ? shared.status : !shared.alone.empty() || shared.refused != 0 || shared.findings != 0 ? 1 : 0;
  _exit(status);  // after a lost context nothing can be given back
}
