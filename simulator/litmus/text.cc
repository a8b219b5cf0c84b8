#include "simulator/litmus/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace lockstep::litmus {
namespace {

constexpr const char* kScopes[] = {"cta", "cluster", "gpu", "sys"};
constexpr const char* kSems[] = {"weak",    "volatile", "relaxed", "acquire",
                                 "release", "acq_rel",  "sc"};
constexpr const char* kRmws[] = {"exch", "add", "cas"};
constexpr const char* kLevels[] = {"cta", "", "gl", "sys"};

std::string order(const Op& op) {
  std::string s = std::string(".") + kSems[static_cast<int>(op.sem)];
  if (op.sem != Sem::kWeak && op.sem != Sem::kVolatile)
    s += std::string(".") + kScopes[static_cast<int>(op.scope)];
  return s;
}

template <std::size_t n>
int find(const char* const (&all)[n], std::string_view word) {
  for (std::size_t i = 0; i < n; ++i) {
    if (word == all[i] && !word.empty()) return static_cast<int>(i);
  }
  return -1;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : in_(std::string(text)) {}

  std::vector<Named> all() {
    while (std::getline(in_, line_)) {
      ++number_;
      if (line_.empty() || line_[0] == '#') continue;
      std::istringstream words(line_);
      std::string first;
      words >> first;
      if (first == "litmus") {
        finish();
        all_.emplace_back();
        words >> all_.back().name;
      } else if (all_.empty()) {
        fail("'litmus' and a name must come first");
      } else if (first == "cluster") {
        program().cluster = static_cast<std::uint8_t>(integer(words));
      } else if (first == "copies") {
        program().copies = static_cast<std::uint8_t>(integer(words));
      } else if (first == "generic") {
        program().generic = true;
      } else if (first == "expect") {
        std::string rest;
        std::getline(words >> std::ws, rest);
        all_.back().expected.push_back(rest);
      } else if (first.starts_with("mbarrier")) {
        const auto block = integer(words), count = integer(words);
        program().objects.push_back(
            {static_cast<std::uint8_t>(block), static_cast<std::uint8_t>(count)});
      } else if (const std::size_t colon = line_.find(':'); colon != std::string::npos) {
        thread(colon);
      } else {
        location(first, words);
      }
    }
    finish();
    return std::move(all_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(fmt::format("line {}: {}: {}", number_, line_, why));
  }
  Program& program() { return all_.back().program; }
  void finish() const {
    if (all_.empty()) return;
    const std::string why = invalid(all_.back().program);
    if (!why.empty()) throw std::runtime_error(fmt::format("litmus {}: {}", all_.back().name, why));
  }
  std::uint64_t integer(std::istringstream& words) const {
    std::string word;
    if (!(words >> word)) fail("a number is missing");
    try {
      return std::stoull(word, nullptr, 0);
    } catch (const std::exception&) {
      fail("'" + word + "' is no number");
    }
  }
  void location(const std::string& name, std::istringstream& words) {
    std::string place;
    words >> place;
    const std::size_t plus = place.find('+');
    Location l;
    l.name = name;
    l.shared = place.starts_with("shared");
    if (plus == std::string::npos || (!l.shared && !place.starts_with("global"))) fail("no place");
    if (l.shared) l.block = static_cast<std::uint8_t>(std::stoul(place.substr(6, plus - 6)));
    l.offset = static_cast<std::uint8_t>(std::stoul(place.substr(plus + 1)));
    l.bytes = static_cast<std::uint8_t>(integer(words));
    program().locations.push_back(l);
  }
  void thread(std::size_t colon) {
    std::istringstream head(line_.substr(0, colon));
    std::string name;
    unsigned block = 0, warp = 0, lane = 0;
    char dot = 0;
    if (!(head >> name >> block >> dot >> warp >> dot >> lane)) fail("no thread");
    Thread t;
    t.block = static_cast<std::uint8_t>(block);
    t.warp = static_cast<std::uint8_t>(warp);
    t.lane = static_cast<std::uint8_t>(lane);
    std::istringstream rest(line_.substr(colon + 1));
    std::string text;
    while (std::getline(rest >> std::ws, text, ';')) t.ops.push_back(operation(text));
    program().threads.push_back(t);
  }
  std::uint8_t place(std::istringstream& words) {
    std::string name;
    words >> name;
    const auto& all = program().locations;
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const Location& l) { return l.name == name; });
    if (it == all.end()) fail("no location '" + name + "'");
    return static_cast<std::uint8_t>(it - all.begin());
  }
  Op operation(const std::string& text) {
    std::istringstream words(text);
    std::string opcode;
    words >> opcode;
    std::vector<std::string> parts;
    std::istringstream dotted(opcode);
    for (std::string part; std::getline(dotted, part, '.');) parts.push_back(part);
    const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : std::string(); };
    Op op;
    const auto take_order = [&](std::size_t from) {
      const int sem = find(kSems, part(from)), scope = find(kScopes, part(from + 1));
      if (sem < 0) fail("'" + opcode + "': no order");
      op.sem = static_cast<Sem>(sem);
      const bool has_scope = op.sem != Sem::kWeak && op.sem != Sem::kVolatile;
      if (has_scope && scope < 0) fail("'" + opcode + "': no scope");
      op.scope = has_scope ? static_cast<Scope>(scope) : Scope::kGpu;
    };
    const auto take_rmw = [&] {
      const int rmw = find(kRmws, part(1));
      if (rmw < 0) fail("'" + opcode + "': no such change");
      op.rmw = static_cast<Rmw>(rmw);
      take_order(2);
    };
    const auto values = [&] {
      if (is_cas(op)) op.compare = integer(words);
      op.value = integer(words);
    };
    const std::string& first = parts.empty() ? opcode : parts[0];
    if (first == "ld") {
      take_order(1);
      op.location = place(words);
    } else if (first == "st") {
      op.kind = Kind::kStore;
      take_order(1);
      op.location = place(words);
      op.value = integer(words);
    } else if (first == "atom" || first == "red") {
      op.kind = first == "red" ? Kind::kRed : Kind::kAtom;
      take_rmw();
      const auto at = words.tellg();
      std::string word;
      words >> word;
      op.used = word != "_";
      if (op.used) words.seekg(at);
      op.location = place(words);
      values();
    } else if (first == "await") {
      op.kind = part(1) == "cas" ? Kind::kAwaitCas : Kind::kAwaitLoad;
      take_order(2);
      op.location = place(words);
      op.compare = integer(words);
      if (op.kind == Kind::kAwaitCas) op.rmw = Rmw::kCas, op.value = integer(words);
    } else if (opcode.starts_with("fence.proxy.")) {
      op.kind = Kind::kProxyFence;
      const int proxy = find(kProxies, opcode.substr(12));
      if (proxy < 0) fail("'" + opcode + "': no such proxy");
      op.id = static_cast<std::uint8_t>(proxy);
    } else if (first == "fence") {
      op.kind = Kind::kFence;
      take_order(1);
    } else if (opcode == "bne" || opcode == "beq" || opcode == "goto") {
      op.kind = Kind::kBranch;
      op.equal = opcode == "beq";
      op.id = opcode == "goto" ? kAlways : static_cast<std::uint8_t>(integer(words));
      if (op.id != kAlways) op.compare = integer(words);
      op.target = static_cast<std::uint8_t>(integer(words));
    } else if (first == "membar") {
      op.kind = Kind::kMembar;
      op.sem = Sem::kSc;
      const int level = find(kLevels, part(1));
      if (level < 0) fail("'" + opcode + "': no level");
      op.scope = static_cast<Scope>(level);
    } else if (opcode == "bar.sync" || opcode == "bar.arrive") {
      op.kind = opcode == "bar.sync" ? Kind::kBarSync : Kind::kBarArrive;
      op.id = static_cast<std::uint8_t>(integer(words));
      words >> std::ws;
      if (!words.eof()) op.warps = static_cast<std::uint8_t>(integer(words));
    } else if (opcode == "bar.warp.sync") {
      op.kind = Kind::kWarpSync;
      op.mask = static_cast<std::uint32_t>(integer(words));
    } else if (opcode == "cluster.wait") {
      op.kind = Kind::kClusterWait;
      op.sem = Sem::kAcquire;
    } else if (first == "cluster" && part(1) == "arrive") {
      op.kind = Kind::kClusterArrive;
      op.sem = static_cast<Sem>(std::max(0, find(kSems, part(2))));
    } else if (first == "mbarrier") {
      op.kind = part(1) == "arrive" ? Kind::kArrive : Kind::kWait;
      take_order(2);
      op.id = static_cast<std::uint8_t>(integer(words));
      if (op.kind == Kind::kWait) op.value = integer(words);
    } else {
      fail("'" + opcode + "': no such operation");
    }
    std::string more;
    if (words >> more) fail("'" + more + "' is too much");
    return op;
  }

  std::istringstream in_;
  std::string line_;
  int number_ = 0;
  std::vector<Named> all_;
};

}  // namespace

std::string to_text(const Op& op, const Program& p) {
  const auto place = [&] { return p.locations[op.location].name; };
  switch (op.kind) {
    case Kind::kLoad: return fmt::format("ld{} {}", order(op), place());
    case Kind::kStore: return fmt::format("st{} {} {}", order(op), place(), op.value);
    case Kind::kAtom:
    case Kind::kRed: {
      const bool red = op.kind == Kind::kRed;
      const std::string compare = op.rmw == Rmw::kCas ? fmt::format(" {}", op.compare) : "";
      return fmt::format("{}.{}{} {}{}{} {}", red ? "red" : "atom", kRmws[static_cast<int>(op.rmw)],
                         order(op), red || op.used ? "" : "_ ", place(), compare, op.value);
    }
    case Kind::kAwaitLoad: return fmt::format("await.ld{} {} {}", order(op), place(), op.compare);
    case Kind::kAwaitCas:
      return fmt::format("await.cas{} {} {} {}", order(op), place(), op.compare, op.value);
    case Kind::kFence: return "fence" + order(op);
    case Kind::kMembar: return fmt::format("membar.{}", kLevels[static_cast<int>(op.scope)]);
    case Kind::kProxyFence: return std::string("fence.proxy.") + kProxies[op.id];
    case Kind::kBranch:
      if (op.id == kAlways) return fmt::format("goto {}", op.target);
      return fmt::format("{} {} {} {}", op.equal ? "beq" : "bne", op.id, op.compare, op.target);
    case Kind::kBarSync:
    case Kind::kBarArrive:
      return fmt::format("bar.{} {}{}", op.kind == Kind::kBarSync ? "sync" : "arrive", op.id,
                         op.warps ? fmt::format(" {}", op.warps) : "");
    case Kind::kWarpSync: return fmt::format("bar.warp.sync {:#x}", op.mask);
    case Kind::kClusterArrive:
      return fmt::format("cluster.arrive.{}", kSems[static_cast<int>(op.sem)]);
    case Kind::kClusterWait: return "cluster.wait";
    case Kind::kArrive: return fmt::format("mbarrier.arrive{} {}", order(op), op.id);
    case Kind::kWait: return fmt::format("mbarrier.wait{} {} {}", order(op), op.id, op.value);
  }
  return "";
}

std::string to_text(const Program& p, std::string_view name) {
  std::string s = fmt::format("litmus {}\n", name);
  if (p.cluster != 1) s += fmt::format("cluster {}\n", p.cluster);
  if (p.copies != 1) s += fmt::format("copies {}\n", p.copies);
  if (p.generic) s += "generic\n";
  for (const Location& l : p.locations) {
    s += fmt::format("{} {}+{} {}\n", l.name,
                     l.shared ? fmt::format("shared{}", l.block) : "global", l.offset, l.bytes);
  }
  for (std::size_t i = 0; i < p.objects.size(); ++i) {
    s += fmt::format("mbarrier{} {} {}\n", i, p.objects[i].block, p.objects[i].count);
  }
  for (std::size_t i = 0; i < p.threads.size(); ++i) {
    const Thread& t = p.threads[i];
    s += fmt::format("P{} {}.{}.{}:", i, t.block, t.warp, t.lane);
    for (std::size_t j = 0; j < t.ops.size(); ++j)
      s += (j == 0 ? " " : "; ") + to_text(t.ops[j], p);
    s += "\n";
  }
  return s;
}

std::vector<Named> parse(std::string_view text) { return Reader(text).all(); }

}  // namespace lockstep::litmus
