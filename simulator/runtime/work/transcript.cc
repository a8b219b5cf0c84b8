#include "simulator/runtime/work/transcript.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace lockstep::runtime {
namespace {

std::string hexadecimal_bytes(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

std::string number(const char* name, std::uint64_t value) {
  return ",\"" + std::string(name) + "\":" + std::to_string(value);
}

// Of names as PTX and C++ have them, without quotes and backslashes.
std::string word(const char* name, std::string_view value) {
  return ",\"" + std::string(name) + "\":\"" + std::string(value) + "\"";
}

std::string bytes_of(const char* name, std::span<const std::byte> bytes) {
  return word(name, hexadecimal_bytes(bytes));
}

std::string extents(const char* name, const dim3& d) {
  return ",\"" + std::string(name) + "\":[" + std::to_string(d.x) + "," + std::to_string(d.y) +
         "," + std::to_string(d.z) + "]";
}

std::string block(const char* name, const Block& b) {
  return ",\"" + std::string(name) + "\":[" +
         std::to_string(reinterpret_cast<std::uintptr_t>(b.at)) + "," + std::to_string(b.pitch) +
         "," + std::to_string(b.slice) + "]";
}

std::string shape_text(const Shape& s) {
  return ",\"shape\":[" + std::to_string(s.width) + "," + std::to_string(s.height) + "," +
         std::to_string(s.depth) + "]";
}

const char* name_of(memory::Kind kind) {
  switch (kind) {
    case memory::Kind::kManaged: return "managed";
    case memory::Kind::kPinned: return "pinned";
    case memory::Kind::kRegistered: return "registered";
    default: return "device";
  }
}

// Whether a module's load, or a kernel, makes it.
bool is_made_by_code(const Modules& modules, const memory::Allocation& a) {
  return modules.is_variable(a) || a.name == "device malloc";
}

}  // namespace

Transcript& transcript() {
  static auto* const made = new Transcript;
  return *made;
}

void Transcript::add_event(const std::string& fields) {
  text_ += (text_.empty() ? "[{" : ",\n{") + fields + "}";
}

void Transcript::add_changes(Runtime& runtime) {
  runtime.modules.each_loaded([&](const FatBinary::Loaded& loaded, int device) {
    if (loaded.module == nullptr || !loaded_.insert(loaded.number).second) return;
    std::string texts;
    for (std::size_t i = 0; i < loaded.own_texts; ++i) {
      const std::string& text = loaded.texts[i];
      texts += (i == 0 ? "\"" : ",\"") +
               hexadecimal_bytes(std::as_bytes(std::span(text.data(), text.size()))) + "\"";
    }
    add_event("\"do\":\"load\"" + number("module", loaded.number) +
              number("device", static_cast<std::uint64_t>(device)) +
              number("room", loaded.placed_from) + ",\"texts\":[" + texts + "]");
  });
  if (generation_ == runtime.memory->generation()) return;
  generation_ = runtime.memory->generation();
  std::set<memory::Address> now;
  for (const memory::Allocation* a : runtime.memory->live()) {
    if (is_made_by_code(runtime.modules, *a) || a->size == 0) continue;
    now.insert(a->base);
    if (placed_.count(a->base) == 0)
      add_event("\"do\":\"place\"" + number("base", a->base) + number("size", a->size) +
                word("kind", name_of(a->kind)));
  }
  for (const memory::Address base : placed_) {
    if (now.count(base) == 0) add_event("\"do\":\"free\"" + number("base", base));
  }
  placed_ = std::move(now);
}

void Transcript::add_launch(Runtime& runtime, const Device& device, const KernelWork& work) {
  KernelEntry* const entry = runtime.modules.find_kernel(work.function);
  if (entry == nullptr) return;
  FatBinary::Loaded* loaded = nullptr;
  if (runtime.modules.load(runtime, *entry->binary, device.ordinal, &loaded) != cudaSuccess) return;
  const LaunchRequest& r = work.request;
  add_event("\"do\":\"launch\"" + number("module", loaded->number) + word("kernel", entry->name) +
            extents("grid", r.grid) + extents("block", r.block) +
            (r.has_cluster ? extents("cluster", r.cluster) : "") +
            number("shared", r.dynamic_shared) + number("cooperative", r.cooperative) +
            number("programmatic", r.programmatic) + bytes_of("parameters", work.parameters));
}

void Transcript::add_copy(const Runtime& runtime, const CopyWork& work) {
  const cudaMemcpy3DParms& p = work.box;
  if (p.srcArray != nullptr || p.dstArray != nullptr) {
    add_event("\"do\":\"unsupported\",\"what\":\"a copy of an array\"");
    return;
  }
  const Shape shape = shape_of(p);
  if (shape.empty()) return;
  const Block to = side_of(nullptr, p.dstPtr, p.dstPos),
              from = side_of(nullptr, p.srcPtr, p.srcPos);
  const auto is_of_device = [&](const Block& b) {
    const memory::Allocation* a = runtime.memory->find(reinterpret_cast<memory::Address>(b.at));
    return a != nullptr && a->kind != memory::Kind::kPinned && a->kind != memory::Kind::kRegistered;
  };
  if (!is_of_device(to)) {
    add_event("\"do\":\"read\"");
  } else if (is_of_device(from)) {
    add_event("\"do\":\"copy\"" + block("to", to) + block("from", from) + shape_text(shape));
  } else {
    std::string bytes;
    for (std::size_t z = 0; z < shape.depth; ++z) {
      for (std::size_t y = 0; y < shape.height; ++y) {
        const auto* row = static_cast<const std::byte*>(from.at) + z * from.slice + y * from.pitch;
        bytes += hexadecimal_bytes({row, shape.width});
      }
    }
    add_event("\"do\":\"write\"" + block("to", to) + shape_text(shape) + word("bytes", bytes));
  }
}

void Transcript::add_fill(const FillWork& work) {
  const cudaMemsetParams& p = work.rows;
  add_event("\"do\":\"fill\"" + block("to", {p.dst, p.pitch, work.slice}) +
            shape_text({p.width, p.height, work.depth}) + number("value", p.value) +
            number("element", p.elementSize));
}

void Transcript::add(Runtime& runtime, const Device& device, const Pending& p) {
  if (!on_) return;
  add_changes(runtime);
  if (p.expand) {
    add_event("\"do\":\"unsupported\",\"what\":\"a conditional node of a graph\"");
  } else if (const auto* kernel = std::get_if<KernelWork>(&p.work)) {
    add_launch(runtime, device, *kernel);
  } else if (const auto* copy = std::get_if<CopyWork>(&p.work)) {
    add_copy(runtime, *copy);
  } else if (const auto* fill = std::get_if<FillWork>(&p.work)) {
    add_fill(*fill);
  } else if (std::holds_alternative<LibraryWork>(p.work)) {
    add_event("\"do\":\"library\"" + word("call", p.api_name));
  } else if (std::holds_alternative<MemoryOperationsWork>(p.work)) {
    add_event("\"do\":\"unsupported\",\"what\":\"a stream memory operation\"");
  }
}

std::string Transcript::take(Runtime& runtime) {
  if (on_) add_changes(runtime);
  std::string text = std::exchange(text_, {});
  return text.empty() ? "[]" : text + "]";
}

}  // namespace lockstep::runtime
