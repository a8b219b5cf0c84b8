#include "simulator/fuzz/differential/gpu/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>

#include "simulator/fuzz/differential/gpu/device.h"

extern char** environ;

namespace lockstep::fuzz::differential {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChannel = 3;  // the descriptor in the runner's process
constexpr int kStartMilliseconds = 60000, kLoadMilliseconds = 20000;

// The data about a program that a runner needs.
struct Item {
  std::uint32_t blocks, threads, input_offset, skipped;
  std::array<std::uint32_t, kArgumentBytes / 4> arguments;
};

struct Request {
  std::uint32_t programs, milliseconds, memory;
  std::uint64_t cubin;
};

struct Answer {
  std::uint32_t fault, failed;  // bytes of the text
  std::uint64_t digests, memory;
};

bool send_all(int channel, const void* data, std::size_t n) {
  for (const char* p = static_cast<const char*>(data); n > 0;) {
    const ssize_t sent = send(channel, p, n, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    p += sent, n -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Returns false at the end of the channel or of the time.
bool receive_all(int channel, void* data, std::size_t n,
                 std::optional<Clock::time_point> until = {}) {
  for (char* p = static_cast<char*>(data); n > 0;) {
    if (until) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now()).count();
      pollfd f = {channel, POLLIN, 0};
      if (left <= 0 || poll(&f, 1, static_cast<int>(left)) <= 0) return false;
    }
    const ssize_t got = recv(channel, p, n, 0);
    if (got <= 0) return false;
    p += got, n -= static_cast<std::size_t>(got);
  }
  return true;
}

void answer(int channel, const std::string& fault, std::size_t failed,
            std::span<const std::uint64_t> digests, std::span<const std::uint8_t> memory) {
  const Answer a = {static_cast<std::uint32_t>(fault.size()), static_cast<std::uint32_t>(failed),
                    digests.size(), memory.size()};
  send_all(channel, &a, sizeof a), send_all(channel, fault.data(), fault.size());
  send_all(channel, digests.data(), digests.size_bytes()),
      send_all(channel, memory.data(), memory.size_bytes());
}

}  // namespace

int serve(int channel) {
  // Loads all kernels of a module at once, not each at its first use.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  std::optional<Device> device;
  std::optional<Device::Lane> lane;
  try {
    device.emplace();
    lane.emplace(*device, kMaxPrograms);
    answer(channel, device->name(), 0, {}, {});
  } catch (const std::exception& e) {
    answer(channel, e.what(), 1, {}, {});
    return 2;
  }
  for (Request r; receive_all(channel, &r, sizeof r);) {
    std::vector<Item> items(r.programs);
    std::string cubin(r.cubin, 0);
    if (!receive_all(channel, items.data(), items.size() * sizeof(Item)) ||
        !receive_all(channel, cubin.data(), cubin.size()))
      break;
    std::vector<Program> programs;
    std::vector<std::uint8_t> skipped;
    for (const Item& i : items) {
      Program& p = programs.emplace_back();
      p.blocks = i.blocks, p.threads = i.threads, p.input_offset = i.input_offset,
      p.arguments = i.arguments;
      skipped.push_back(static_cast<std::uint8_t>(i.skipped));
    }
    const Device::Lane::Outcome o =
        lane->run(programs, skipped, cubin, static_cast<int>(r.milliseconds));
    std::vector<std::uint8_t> memory;
    if (o.error.empty() && !o.hangs && r.memory) memory = lane->memory(programs[0], 0);
    answer(channel, o.hangs ? "does not end" : o.error, o.failed, o.digests, memory);
    if (o.hangs || !o.error.empty()) break;
  }
  char end;
  // Returns when the other side closes. The context is unusable, and the driver might wait for the
  // kernel.
  receive_all(channel, &end, 1);
  _exit(0);
}

Runner::~Runner() { end(); }

void Runner::end() {
  if (pid_ < 0) return;
  close(channel_);
  kill(pid_, SIGKILL);
  // The driver may need some time to remove a kernel from the GPU.
  std::thread([pid = pid_] {
    int status;
    waitpid(pid, &status, 0);
  }).detach();
  pid_ = channel_ = -1;
}

void Runner::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kChannel);
  const std::string channel = "--runner=" + std::to_string(kChannel);
  const char* arguments[] = {"differential_gpu", channel.c_str(), nullptr};
  const int failed = posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                                 const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  channel_ = ends[0];
  if (failed != 0) {
    close(channel_);
    pid_ = channel_ = -1;
    throw std::runtime_error(std::string("posix_spawn: ") + std::strerror(failed));
  }
  ++started_;
  Answer a;
  std::string text;
  const auto until = Clock::now() + std::chrono::milliseconds(kStartMilliseconds);
  bool ok = receive_all(channel_, &a, sizeof a, until);
  if (ok) {
    text.resize(a.fault);
    ok = receive_all(channel_, text.data(), text.size(), until);
  }
  if (!ok || a.failed != 0) {
    end();
    throw std::runtime_error(ok ? text : "the process that runs kernels did not start");
  }
  name_ = text;
}

const std::string& Runner::name() {
  if (pid_ < 0) start();
  return name_;
}

Runner::Outcome Runner::run(std::span<const Program> programs,
                            std::span<const std::uint8_t> skipped, const std::string& cubin,
                            int milliseconds, bool memory) {
  // Creating a context may fail while another one is being destroyed.
  for (int tries = 0; pid_ < 0; ++tries) {
    try {
      start();
    } catch (const std::exception&) {
      if (tries == 5) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  const Request r = {static_cast<std::uint32_t>(programs.size()),
                     static_cast<std::uint32_t>(milliseconds), memory, cubin.size()};
  std::vector<Item> items;
  for (std::size_t i = 0; i < programs.size(); ++i)
    items.push_back({programs[i].blocks, programs[i].threads, programs[i].input_offset,
                     skipped.empty() ? 0u : skipped[i], programs[i].arguments});
  Outcome o;
  Answer a;
  const auto until = Clock::now() + std::chrono::milliseconds(milliseconds + kLoadMilliseconds);
  bool ok = send_all(channel_, &r, sizeof r) &&
            send_all(channel_, items.data(), items.size() * sizeof(Item)) &&
            send_all(channel_, cubin.data(), cubin.size()) &&
            receive_all(channel_, &a, sizeof a, until);
  if (ok) {
    o.fault.resize(a.fault), o.digests.resize(a.digests), o.memory.resize(a.memory);
    o.failed = a.failed;
    ok = receive_all(channel_, o.fault.data(), o.fault.size(), until) &&
         receive_all(channel_, o.digests.data(), 8 * o.digests.size(), until) &&
         receive_all(channel_, o.memory.data(), o.memory.size(), until);
  }
  if (!ok) o = {"the process that runs kernels ended or gave no answer", programs.size(), {}, {}};
  if (!o.fault.empty()) end();
  return o;
}

}  // namespace lockstep::fuzz::differential
