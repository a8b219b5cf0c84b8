#include "simulator/litmus/ptx.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::litmus {
namespace {

constexpr const char* kSems[] = {".weak",    ".volatile", ".relaxed", ".acquire",
                                 ".release", ".acq_rel",  ".sc"};
constexpr const char* kScopes[] = {".cta", ".cluster", ".gpu", ".sys"};

std::string order(const Op& op) {
  std::string s = kSems[static_cast<int>(op.sem)];
  if (op.sem != Sem::kWeak && op.sem != Sem::kVolatile) s += kScopes[static_cast<int>(op.scope)];
  return s;
}

class Writer {
 public:
  Module module;

  Writer() {
    line(".version 8.6\n.target sm_90\n.address_size 64");
    line_ = 4;
  }

  void kernel(const Program& p, std::size_t number) {
    program_ = &p;
    const bool shared = p.uses_shared();
    module.lines.push_back({line_, {}});
    line(fmt::format(".visible .entry k{}(.param .u64 arena, .param .u64 results)", number));
    line("{");
    if (shared) line(fmt::format(".shared .align 8 .b8 s[{}];", kArenaBytes * p.copies));
    if (!p.objects.empty())
      line(fmt::format(".shared .align 8 .b64 m[{}];", p.objects.size() * p.copies));
    line(".reg .pred p, any, is<4>; .reg .b32 id, block, key, copy, sa, ma, sr<4>, mr<4>, a<6>;");
    line(".reg .b64 g, o, state, wide, w<6>;");
    line(fmt::format(".reg .b32 r<{}>; .reg .b64 q<{}>;", kMaxThreads * kMaxOps,
                     kMaxThreads * kMaxOps));
    line("ld.param.u64 g, [arena];");
    line("ld.param.u64 o, [results];");
    line("mov.u32 id, %tid.x;");
    line("mov.u32 block, %ctaid.x;");
    if (p.copies > 1) {
      line("and.b32 copy, id, 31;");
      line("sub.u32 id, id, copy;");  // the warp's first lane
      line(fmt::format("mad.wide.u32 o, copy, {}, o;", kResultBytes));
    }
    line("shl.b32 key, block, 7;");
    line("add.u32 key, key, id;");
    if (shared) initialise();
    // The other threads of the grid end before the program starts.
    line("setp.ne.u32 any, 0, 0;");
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      line(fmt::format("setp.eq.u32 is{}, key, {};", t,
                       p.threads[t].block * 128 + p.threads[t].warp * 32 + p.threads[t].lane));
      line(fmt::format("or.pred any, any, is{};", t));
    }
    if (p.copies > 1) {
      line(fmt::format("setp.lt.u32 p, copy, {};", p.copies));
      line("and.pred any, any, p;");
    }
    line("@!any exit;");
    for (std::size_t t = 0; t < p.threads.size(); ++t) line(fmt::format("@is{} bra T{};", t, t));
    for (std::size_t t = 0; t < p.threads.size(); ++t) thread(static_cast<int>(t));
    line("END:");
    line("ret;");
    line("}");
  }

 private:
  void line(const std::string& text) {
    module.text += text + '\n';
    ++line_;
    if (!module.lines.empty()) module.lines.back().of.push_back(owner_);
  }

  // Thread 0 of each block initialises; the others wait.
  void initialise() {
    const Program& p = *program_;
    for (std::uint32_t b = 0; b < p.blocks(); ++b) {
      std::vector<std::string> stores;
      for (const Location& l : p.locations) {
        if (!l.shared || l.block != b) continue;
        for (int c = 0; c < p.copies; ++c)
          stores.push_back(fmt::format("st.shared.b{} [s+{}], 0;", 8 * l.bytes,
                                       l.offset * p.copies + c * l.bytes));
      }
      for (std::size_t i = 0; i < p.objects.size(); ++i) {
        if (p.objects[i].block != b) continue;
        for (int c = 0; c < p.copies; ++c) {
          stores.push_back(fmt::format("mbarrier.init.shared.b64 [m+{}], {};",
                                       8 * (i * p.copies + static_cast<std::size_t>(c)),
                                       p.objects[i].count));
        }
      }
      if (stores.empty()) continue;
      line(fmt::format("setp.ne.u32 p, key, {};", b * 128));
      if (p.copies > 1) line("setp.ne.or.u32 p, copy, 0, p;");
      line(fmt::format("@p bra INIT{};", b));
      for (const std::string& s : stores) line(s);
      if (p.cluster > 1 && !p.objects.empty()) line("fence.mbarrier_init.release.cluster;");
      line(fmt::format("INIT{}:", b));
    }
    if (p.cluster > 1) {
      line("barrier.cluster.arrive;");
      line("barrier.cluster.wait;");
    } else {
      line("barrier.sync 0;");
    }
  }

  void thread(int number) {
    const Program& p = *program_;
    const Thread& t = p.threads[number];
    line(fmt::format("T{}:", number));
    for (std::uint32_t b = 0; b < p.blocks(); ++b) {
      if (b == t.block || b / p.cluster != t.block / p.cluster) continue;
      bool locations = false, objects = false;
      for (const Op& op : t.ops) {
        locations |= accesses_memory(op) && p.locations[op.location].shared &&
                     p.locations[op.location].block == b;
        objects |=
            (op.kind == Kind::kArrive || op.kind == Kind::kWait) && p.objects[op.id].block == b;
      }
      if (locations) {
        line("mov.u32 sa, s;");
        line(fmt::format("mapa.shared::cluster.u32 sr{}, sa, {};", b, b % p.cluster));
      }
      if (objects) {
        line("mov.u32 ma, m;");
        line(fmt::format("mapa.shared::cluster.u32 mr{}, ma, {};", b, b % p.cluster));
        if (p.copies > 1) line(fmt::format("mad.lo.u32 mr{}, copy, 8, mr{};", b, b));
      }
    }
    bool own_objects = false;
    for (const Op& op : t.ops)
      own_objects |=
          (op.kind == Kind::kArrive || op.kind == Kind::kWait) && p.objects[op.id].block == t.block;
    if (own_objects && p.copies > 1) {
      line("mov.u32 ma, m;");
      line("mad.lo.u32 ma, copy, 8, ma;");
    }
    if (p.copies > 1 || p.generic) addresses(t);
    const bool branches = std::any_of(t.ops.begin(), t.ops.end(),
                                      [](const Op& op) { return op.kind == Kind::kBranch; });
    for (std::size_t i = 0; branches && i < t.ops.size(); ++i) {
      if (has_result(t.ops[i]))
        line(fmt::format("mov.b{} {}, 0;", bits_of_result(t.ops[i]),
                         result(number, static_cast<int>(i))));
    }
    for (std::size_t i = 0; i < t.ops.size(); ++i) {
      if (branches) line(fmt::format("N{}_{}:", number, i));
      owner_ = OpName{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(i)};
      operation(number, static_cast<int>(i));
    }
    owner_.reset();
    if (branches) line(fmt::format("N{}_{}:", number, t.ops.size()));
    for (std::size_t i = 0; i < t.ops.size(); ++i) {
      if (!has_result(t.ops[i])) continue;
      line(fmt::format("st.global.b{} [o+{}], {};", bits_of_result(t.ops[i]),
                       result_offset(number, static_cast<int>(i)),
                       result(number, static_cast<int>(i))));
    }
    // Shared memory must exist until all blocks of the cluster have finished.
    if (p.cluster > 1 && p.uses_shared()) {
      line("barrier.cluster.arrive;");
      line("barrier.cluster.wait;");
    }
    line("bra END;");
  }
  bool wide(const Location& l) const { return !l.shared || program_->generic; }
  // Computes the address of every location that the thread accesses: in a<number>, or in w<number>
  // if it needs 64 bits.
  void addresses(const Thread& t) {
    const Program& p = *program_;
    for (std::size_t n = 0; n < p.locations.size(); ++n) {
      const Location& l = p.locations[n];
      const auto here = [&](const Op& op) { return accesses_memory(op) && op.location == n; };
      if (std::none_of(t.ops.begin(), t.ops.end(), here)) continue;
      if (!l.shared) {
        line(fmt::format("add.u64 w{}, g, {};", n, l.offset * p.copies));
      } else {
        const std::string base = l.block == t.block ? "s" : fmt::format("sr{}", l.block);
        line(fmt::format("mov.u32 a{}, {};", n, base));
        if (p.generic) {
          line(fmt::format("cvt.u64.u32 w{}, a{};", n, n));
          line(fmt::format("cvta.shared.u64 w{}, w{};", n, n));
          line(fmt::format("add.u64 w{}, w{}, {};", n, n, l.offset * p.copies));
        } else {
          line(fmt::format("add.u32 a{}, a{}, {};", n, n, l.offset * p.copies));
        }
      }
      if (p.copies == 1) continue;
      line(wide(l) ? fmt::format("mad.wide.u32 w{}, copy, {}, w{};", n, l.bytes, n)
                   : fmt::format("mad.lo.u32 a{}, copy, {}, a{};", n, l.bytes, n));
    }
  }

  int bits_of_result(const Op& op) const {
    return program_->locations[op.location].bytes == 8 ? 64 : 32;
  }
  std::string result(int thread, int op) const {
    const Op& o = program_->threads[thread].ops[op];
    return fmt::format("{}{}", program_->locations[o.location].bytes == 8 ? "q" : "r",
                       thread * kMaxOps + op);
  }

  void operation(int number, int index) {
    const Program& p = *program_;
    const Thread& t = p.threads[number];
    const Op& op = t.ops[index];
    const std::string label = fmt::format("L{}_{}", number, index);
    if (accesses_memory(op)) {
      const Location& l = p.locations[op.location];
      std::string space = ".global", base = "g";
      if (l.shared) {
        const bool own = l.block == t.block;
        space = own ? ".shared" : ".shared::cluster";
        base = own ? "s" : fmt::format("sr{}", l.block);
      }
      std::string address = fmt::format("[{}+{}]", base, l.offset);
      if (p.copies > 1 || p.generic)
        address = fmt::format("[{}{}]", wide(l) ? "w" : "a", op.location);
      if (p.generic) space.clear();
      const int bits = 8 * l.bytes;
      const std::string d =
          op.kind == Kind::kStore || op.kind == Kind::kRed ? std::string() : result(number, index);
      const auto repeat = [&] {
        line(fmt::format("setp.ne.b{} p, {}, {};", bits < 32 ? 32 : bits, d, op.compare));
        line(fmt::format("@p bra {};", label));
      };
      switch (op.kind) {
        case Kind::kLoad:
          line(fmt::format("ld{}{}.u{} {}, {};", order(op), space, bits, d, address));
          return;
        case Kind::kStore:
          line(fmt::format("st{}{}.u{} {}, {};", order(op), space, bits, address, op.value));
          return;
        case Kind::kAwaitLoad:
          line(label + ":");
          line(fmt::format("ld{}{}.u{} {}, {};", order(op), space, bits, d, address));
          repeat();
          return;
        case Kind::kAwaitCas:
          line(label + ":");
          line(fmt::format("atom{}{}.cas.b{} {}, {}, {}, {};", order(op), space, bits, d, address,
                           op.compare, op.value));
          repeat();
          return;
        case Kind::kRed:
          line(fmt::format("red{}{}.add.u{} {}, {};", order(op), space, bits, address, op.value));
          return;
        default: break;
      }
      const char* const change = op.rmw == Rmw::kExch  ? "exch.b"
                                 : op.rmw == Rmw::kAdd ? "add.u"
                                                       : "cas.b";
      const std::string compare = op.rmw == Rmw::kCas ? fmt::format("{}, ", op.compare) : "";
      line(fmt::format("atom{}{}.{}{} {}, {}, {}{};", order(op), space, change, bits, d, address,
                       compare, op.value));
      return;
    }
    const auto object = [&] {
      const bool own = p.objects[op.id].block == t.block;
      const std::string here = p.copies > 1 ? "ma" : "m";
      return fmt::format("[{}+{}]", own ? here : fmt::format("mr{}", p.objects[op.id].block),
                         8 * op.id * p.copies);
    };
    switch (op.kind) {
      case Kind::kFence: line(fmt::format("fence{};", order(op))); break;
      case Kind::kMembar:
        line(fmt::format("membar.{};", op.scope == Scope::kCta   ? "cta"
                                       : op.scope == Scope::kGpu ? "gl"
                                                                 : "sys"));
        break;
      case Kind::kProxyFence: line(fmt::format("fence.proxy.{};", kProxies[op.id])); break;
      case Kind::kBranch:
        if (op.id == kAlways) {
          line(fmt::format("bra N{}_{};", number, op.target));
        } else {
          line(fmt::format("setp.{}.b{} p, {}, {};", op.equal ? "eq" : "ne",
                           bits_of_result(t.ops[op.id]), result(number, op.id), op.compare));
          line(fmt::format("@p bra N{}_{};", number, op.target));
        }
        break;
      case Kind::kBarSync:
      case Kind::kBarArrive:
        line(fmt::format("barrier.{} {}{};", op.kind == Kind::kBarSync ? "sync" : "arrive", op.id,
                         op.warps != 0 ? fmt::format(", {}", 32 * op.warps) : ""));
        break;
      case Kind::kWarpSync: line(fmt::format("bar.warp.sync {:#x};", op.mask)); break;
      case Kind::kClusterArrive:
        line(fmt::format("barrier.cluster.arrive{};", kSems[static_cast<int>(op.sem)]));
        break;
      case Kind::kClusterWait: line("barrier.cluster.wait;"); break;
      case Kind::kArrive: {
        const bool own = p.objects[op.id].block == t.block;
        line(fmt::format("mbarrier.arrive{}{}.b64 {}, {};", order(op),
                         own ? ".shared" : ".shared::cluster", own ? "state" : "_", object()));
        break;
      }
      case Kind::kWait:
        line(label + ":");
        line(fmt::format("mbarrier.{}.parity{}.shared.b64 p, {}, {};",
                         index % 2 == 0 ? "test_wait" : "try_wait", order(op), object(),
                         op.value & 1));
        line(fmt::format("@!p bra {};", label));
        break;
      default: break;
    }
  }

  const Program* program_ = nullptr;
  std::optional<OpName> owner_;
  int line_ = 1;
};

}  // namespace

Module to_ptx(std::span<const Program> programs) {
  Writer w;
  for (std::size_t i = 0; i < programs.size(); ++i) w.kernel(programs[i], i);
  return std::move(w.module);
}

}  // namespace lockstep::litmus
