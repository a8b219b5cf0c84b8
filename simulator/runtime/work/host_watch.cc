#include "simulator/runtime/state/host_watch.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "simulator/runtime/host/callers.h"
#include "simulator/runtime/host/libc_calls.h"
#include "simulator/runtime/state/leaks.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/concurrency.h"
#include "simulator/runtime/work/library_work.h"
#include "simulator/runtime/work/pending.h"

namespace lockstep::runtime {
namespace {

bool host_sees(const memory::Allocation& a) {
  return a.kind == memory::Kind::kManaged || a.kind == memory::Kind::kPinned ||
         a.kind == memory::Kind::kRegistered;
}

bool watches(const Runtime& runtime) {
  return runtime.host_sees_memory && runtime.settings.host_accesses &&
         (runtime.settings.checks & check::kRaces) != 0 && runtime.interceptor == nullptr;
}

bool has_failed(const Runtime& runtime) {
  return std::any_of(runtime.devices.begin(), runtime.devices.end(),
                     [](const Device& device) { return device.error != cudaSuccess; });
}

// Of a handler's call, on a stack that is large enough for anything.
struct OwnStack {
  static constexpr std::size_t kBytes = std::size_t{1} << 20;
  ucontext_t here{}, there{};
  void* stack = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  const HostAccess* access = nullptr;
  const std::vector<const void*>* callers = nullptr;
  Verdict verdict = Verdict::kOpen;
};

Verdict judge_here(const HostAccess& access, const std::vector<const void*>& callers) {
  Runtime& runtime = Runtime::get();
  const void* const behind =
      callers.empty() ? static_cast<const char*>(access.at) + 1 : callers.front();
  try {
    return runtime.host_watch.accessed(runtime, access, behind, callers) ? Verdict::kOpenWithOthers
                                                                         : Verdict::kStep;
  } catch (...) {
    return Verdict::kOpen;
  }
}

// Under the device lock: there is one.
OwnStack* own = nullptr;

void judge_there() { own->verdict = judge_here(*own->access, *own->callers); }

Verdict judge_on_own_stack(const HostAccess& access) {
  if (own == nullptr) own = new OwnStack;
  const std::vector<const void*> none;
  if (own->stack == MAP_FAILED || getcontext(&own->there) != 0) return Verdict::kOpen;
  own->there.uc_stack.ss_sp = own->stack;
  own->there.uc_stack.ss_size = OwnStack::kBytes;
  own->there.uc_link = &own->here;
  own->access = &access;
  own->callers = &none;
  makecontext(&own->there, judge_there, 0);
  return swapcontext(&own->here, &own->there) == 0 ? own->verdict : Verdict::kOpen;
}

// Another thread of the host may hold the lock for as long as a kernel runs, and may wait for what
// this one is about to write: then the access is not looked at. The attendant waits for nobody: it
// suspends a kernel that polls. So does a thread that executes a kernel in slices.
bool lock_for_a_while(Runtime& runtime) {
  using std::chrono::steady_clock;
  constexpr auto kForOthers = std::chrono::milliseconds(20),
                 kIfItGivesWay = std::chrono::milliseconds(10'000);
  constexpr int kMicroseconds = 100;
  DeviceLock& lock = runtime.lock;
  const DeviceLock::Wanted wanted(lock);
  for (const auto begin = steady_clock::now();;) {
    if (lock.try_lock()) return true;
    const auto waited = steady_clock::now() - begin;
    if (waited > (runtime.gives_way > 0 ? kIfItGivesWay : kForOthers)) return false;
    usleep(kMicroseconds);
  }
}

Verdict judge(const HostAccess& access) {
  Runtime& runtime = Runtime::get();
  // The simulated GPU's own accesses, and what it calls.
  if (runtime.lock.is_mine() || !lock_for_a_while(runtime)) return Verdict::kOpen;
  constexpr unsigned kVector = 16;
  HostAccess mine = access;
  mine.overreads = !mine.writes && mine.bytes >= kVector && is_of_library(mine.at);
  const Verdict verdict =
      on_signal_stack() ? judge_on_own_stack(mine) : judge_here(mine, program_frames(mine.at));
  runtime.lock.unlock();
  return verdict;
}

void access_for_a_call(const void* begin, std::size_t bytes, bool writes, const void* from) {
  Runtime& runtime = Runtime::get();
  HostWatch& watch = runtime.host_watch;
  if (!watch.pages.any() || bytes == 0 || runtime.lock.is_mine()) return;
  const auto first = reinterpret_cast<memory::Address>(begin);
  bool any = false;
  for (memory::Address page = first & ~(kPageBytes - 1); page < first + bytes; page += kPageBytes)
    any |= watch.pages.state(page, writes) == GuardedPages::State::kProtected;
  if (!any) return;
  if (lock_for_a_while(runtime)) {
    // Once for each page: an access is compared with what lies on one.
    HostAccess access;
    access.writes = writes;
    for (memory::Address at = first; at < first + bytes;) {
      const memory::Address end =
          std::min<memory::Address>(first + bytes, (at & ~(kPageBytes - 1)) + kPageBytes);
      access.address = at;
      access.bytes = static_cast<unsigned>(end - at);
      if (watch.accessed(runtime, access, from, {from})) break;
      at = end;
    }
    runtime.lock.unlock();
  }
  for (memory::Address page = first & ~(kPageBytes - 1); page < first + bytes; page += kPageBytes)
    watch.pages.open(page, false);
}

// Whether the operation may wait for something that the host does without a call.
bool may_wait_for_host(Runtime& runtime, const Pending& p) {
  if (p.callback || p.kernel || std::holds_alternative<HostWork>(p.work) ||
      std::holds_alternative<MemoryOperationsWork>(p.work))
    return true;
  const auto* const work = std::get_if<KernelWork>(&p.work);
  if (work == nullptr) return false;
  KernelEntry* const entry = runtime.modules.find_kernel(work->function);
  const engine::Kernel* kernel = nullptr;
  return entry != nullptr &&
         runtime.modules.get(runtime, *entry, p.device, &kernel) == cudaSuccess &&
         kernel->may_poll();
}

// Whether an operation before this one may, so that this one may be ordered after what the host
// does now.
bool may_be_held(Runtime& runtime, const Pending& p) {
  return std::ranges::any_of(runtime.queue.entries(), [&](const auto& entry) {
    return entry.get() != &p && p.at.before.covers(entry->at.lane, entry->at.sequence) &&
           may_wait_for_host(runtime, static_cast<const Pending&>(*entry));
  });
}

}  // namespace

void HostWatch::guard(Runtime& runtime, const std::shared_ptr<Pending>& pending,
                      const memory::Box& box, GuardedPages::Level level, bool is_kernel) {
  if (box.empty()) return;
  const memory::Allocation* const a = runtime.memory->find(box.begin);
  if (a == nullptr || a->freed || !host_sees(*a)) return;
  if (!watch_faults(&pages, judge)) {
    refused_ = true;
    return;
  }
  lead_libc_calls(access_for_a_call);
  GuardedPages::Guard guard;
  guard.box = is_kernel ? memory::Box::line(a->base, a->size) : box;
  guard.level = level;
  guard.lane = pending->at.lane;
  guard.sequence = pending->at.sequence;
  guard.is_kernel = is_kernel;
  guard.pending = pending;
  pages.add(*a, std::move(guard));
}

// A kernel may access what `pointers` point to, and what pointers point to that lie there now. Of
// an allocation the first 4 KiB are searched for these; data that looks like a pointer costs a
// protected page, and no finding: a kernel is compared by the bytes that it has accessed.
void HostWatch::guard_reachable(Runtime& runtime, const std::shared_ptr<Pending>& pending,
                                std::vector<memory::Address> pointers) {
  constexpr std::size_t kSearched = 4096, kAllocations = 64;
  const std::size_t given = pointers.size();
  const memory::DeviceMemory& memory = *runtime.memory;
  std::vector<memory::Address> found;  // bases of allocations
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (i >= given && found.size() >= kAllocations) return;
    const memory::Address pointer = pointers[i];
    const memory::Allocation* const a = memory.find(pointer);
    if (a == nullptr || a->freed || !host_sees(*a) || std::ranges::count(found, a->base) != 0)
      continue;
    found.push_back(a->base);
    guard(runtime, pending, memory::Box::line(pointer, 1), GuardedPages::Level::kClosed, true);
    // The simulated GPU has no second address of registered memory, which may be protected.
    if (a->kind == memory::Kind::kRegistered) continue;
    const std::byte* const words = memory.host(*a, a->base);
    for (std::size_t at = 0; at + 8 <= std::min<std::size_t>(a->size, kSearched); at += 8) {
      memory::Address word = 0;
      std::memcpy(&word, words + at, sizeof word);
      if (memory.in_window(word)) pointers.push_back(word);
    }
  }
}

// Of a kernel: what its parameters lead to, and the managed variables.
void HostWatch::added(Runtime& runtime, const std::shared_ptr<Pending>& pending) {
  if (!watches(runtime) || refused_ || runtime.order.host().covers(pending->at.before)) return;
  using Level = GuardedPages::Level;
  if (const auto* kernel = std::get_if<KernelWork>(&pending->work)) {
    const std::vector<std::byte>& bytes = kernel->parameters;
    std::vector<memory::Address> pointers;
    for (std::size_t i = 0; i + sizeof(memory::Address) <= bytes.size(); i += 8) {
      memory::Address value = 0;
      std::memcpy(&value, bytes.data() + i, sizeof value);
      if (value >= kPageBytes) pointers.push_back(value);
    }
    const auto variables = runtime.modules.managed_variables();
    pointers.insert(pointers.end(), variables.begin(), variables.end());
    guard_reachable(runtime, pending, std::move(pointers));
    return;
  }
  if (const auto* library = std::get_if<LibraryWork>(&pending->work)) {
    for (const void* pointer : library->call->pointers)
      guard(runtime, pending, memory::Box::line(reinterpret_cast<memory::Address>(pointer), 1),
            Level::kClosed, true);
    return;
  }
  const Accesses accesses = accesses_of(runtime, pending->work);
  guard(runtime, pending, accesses.read, Level::kReadOnly, false);
  guard(runtime, pending, accesses.written, Level::kClosed, false);
}

void HostWatch::settle_guards(Runtime& runtime) {
  const auto is_live = [&](memory::Address base, std::uint64_t id) {
    const memory::Allocation* const a = runtime.memory->find(base);
    return a != nullptr && !a->freed && a->id == id;
  };
  // After an error nobody waits any more.
  if (has_failed(runtime)) {
    pages.clear(is_live);
    return;
  }
  if (settled_at_ == runtime.order.host_waits()) return;
  settled_at_ = runtime.order.host_waits();
  pages.settle(runtime.order.host(), is_live);
}

Touched HostWatch::remembered(Runtime& runtime, const HostAccess& access, const void* at) {
  const Operation* const function = thread_state().function;
  const Operation operation = function != nullptr ? *function : runtime.order.host_access();
  Touched t;
  t.box = memory::Box::line(access.address, access.overreads ? 1 : access.bytes);
  t.touch = access.writes ? Touch::kWrites : Touch::kReads;
  t.call = kTheHost;
  t.caller = at;
  t.stream.kind = engine::StreamName::Kind::kNone;
  t.lane = operation.lane;
  t.sequence = operation.sequence;
  t.host = true;
  t.flag = !access.overreads && is_small(t.box);
  if (last_.caller == at && last_.touch == t.touch && last_.sequence == t.sequence) {
    if (last_.box == t.box) {
      t.polls = true;
    } else if (last_.box.end() == t.box.begin) {  // element after element
      t.box = memory::Box::line(last_.box.begin, last_.box.width + t.box.width);
      t.flag = t.flag && last_.flag;
    }
  }
  last_ = t;
  return t;
}

bool HostWatch::accessed(Runtime& runtime, const HostAccess& access, const void* at,
                         const std::vector<const void*>& callers) {
  HostAccessed mine;
  mine.box = memory::Box::line(access.address, access.overreads ? 1 : access.bytes);
  mine.writes = access.writes;
  mine.flag = !access.overreads && is_small(mine.box);
  mine.at = at;
  // Kernels that are under way may have informed the host of what they have done so far.
  Clock known = runtime.order.host();
  for (const auto& entry : runtime.queue.entries()) {
    const auto& p = static_cast<const Pending&>(*entry);
    const engine::Running* const running = p.kernel ? p.kernel->under_way() : nullptr;
    if (running != nullptr && running->informed_host()) known.join(p.at.before);
  }
  const Operation* const function = thread_state().function;
  std::vector<PendingAccess> waiting;
  std::vector<engine::Running*> under_way;
  bool is_compared_later = false;
  for (const GuardedPages::Guard& g : pages.guards(access.address, access.bytes)) {
    const auto pending = std::static_pointer_cast<Pending>(g.pending.lock());
    if (!pending || pending->done) continue;
    // What comes after the function that accesses the memory waits for its end.
    if (function != nullptr && pending->at.before.covers(function->lane, function->sequence))
      continue;
    // The later accesses of a kernel are not ordered, even if it has informed the host of earlier
    // ones.
    engine::Running* const running = pending->kernel ? pending->kernel->under_way() : nullptr;
    if (running != nullptr && std::ranges::count(under_way, running) == 0)
      under_way.push_back(running);
    if (known.covers(g.lane, g.sequence)) continue;
    if (g.is_kernel || (mine.flag && is_small(g.box)) || may_be_held(runtime, *pending)) {
      is_compared_later = true;
    } else {
      waiting.push_back({pending->api_name + pending->at.stream.in(), pending->caller, g.box,
                         g.level == GuardedPages::Level::kClosed});
    }
  }
  if (callers.size() > 1) mine.from = callers[1];
  if (check_host_access(runtime, known, mine, waiting)) return true;
  if (is_compared_later || !under_way.empty()) {
    const Touched t = remembered(runtime, access, at);
    for (engine::Running* running : under_way) running->also_concurrent(beside(t));
    if (is_compared_later) runtime.touched.add(t);
  }
  return false;
}

}  // namespace lockstep::runtime
