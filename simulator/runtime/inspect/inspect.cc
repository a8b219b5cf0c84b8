#include "simulator/runtime/inspect/inspect.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "simulator/fatbin/fatbin.h"
#include "simulator/runtime/state/device_library.h"

namespace lockstep::runtime {
namespace {

using Bytes = std::span<const std::uint8_t>;

template <class T>
std::optional<T> read(Bytes file, std::uint64_t offset) {
  if (offset > file.size() || sizeof(T) > file.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

Bytes part(Bytes file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size()) return {};
  return file.subspan(offset, std::min<std::uint64_t>(size, file.size() - offset));
}

std::string text_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const auto* from = reinterpret_cast<const char*>(table.data() + offset);
  return {from, strnlen(from, table.size() - offset)};
}

std::vector<Elf64_Shdr> sections(Bytes file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> result;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(file, header.e_shoff + i * header.e_shentsize);
    if (section) result.push_back(*section);
  }
  return result;
}

Bytes section_named(Bytes file, const Elf64_Ehdr& header, const std::vector<Elf64_Shdr>& all,
                    std::string_view name) {
  if (header.e_shstrndx >= all.size()) return {};
  const Bytes names = part(file, all[header.e_shstrndx].sh_offset, all[header.e_shstrndx].sh_size);
  for (const Elf64_Shdr& s : all) {
    if (s.sh_type != SHT_NOBITS && text_at(names, s.sh_name) == name)
      return part(file, s.sh_offset, s.sh_size);
  }
  return {};
}

std::vector<std::string> needed_libraries(Bytes file, const std::vector<Elf64_Shdr>& all) {
  std::vector<std::string> result;
  for (const Elf64_Shdr& s : all) {
    if (s.sh_type != SHT_DYNAMIC || s.sh_link >= all.size()) continue;
    const Bytes names = part(file, all[s.sh_link].sh_offset, all[s.sh_link].sh_size);
    for (std::uint64_t at = 0; at < s.sh_size; at += sizeof(Elf64_Dyn)) {
      const auto entry = read<Elf64_Dyn>(file, s.sh_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) result.push_back(text_at(names, entry->d_un.d_val));
    }
  }
  return result;
}

// Containers lie one after another in .nv_fatbin; padding between them is skipped. The texts for
// the device, one a container.
std::vector<std::string> read_images(Bytes section, int compute_capability, Inspection* result,
                                     std::vector<fatbin::Image>* images) {
  std::vector<std::string> texts;
  constexpr std::uint32_t kMagic = 0xba55ed50;
  for (std::uint64_t at = 0; at + 16 <= section.size();) {
    if (read<std::uint32_t>(section, at) != kMagic) {
      at += 8;
      continue;
    }
    auto container = fatbin::read_container(section.subspan(at));
    if (auto* found = std::get_if<std::vector<fatbin::Image>>(&container)) {
      if (const fatbin::Image* ptx = fatbin::choose_ptx(*found, compute_capability)) {
        texts.emplace_back(reinterpret_cast<const char*>(ptx->data.data()), ptx->data.size());
      }
      for (fatbin::Image& image : *found) {
        if (image.kind == fatbin::Kind::kElf && !fatbin::has_functions(image)) continue;
        if (image.kind == fatbin::Kind::kPtx) result->ptx.push_back(image.arch);
        if (image.kind == fatbin::Kind::kElf) result->machine_code.push_back(image.arch);
        images->push_back(std::move(image));
      }
    }
    at += *read<std::uint16_t>(section, at + 6) + *read<std::uint64_t>(section, at + 8);
    at = (at + 7) / 8 * 8;
  }
  for (auto* list : {&result->ptx, &result->machine_code}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return texts;
}

constexpr std::string_view kShared = "libcudart.so.13";

}  // namespace

Inspection inspect(Bytes file, int compute_capability) {
  using Kind = Inspection::Kind;
  Inspection result;
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    result.sentence = "not a 64-bit ELF file";
    return result;
  }
  const auto all = sections(file, *header);
  result.needed = needed_libraries(file, all);
  std::vector<fatbin::Image> images;
  const Bytes device_code = section_named(file, *header, all, ".nv_fatbin");
  const Bytes relocatable = section_named(file, *header, all, "__nv_relfatbin");
  for (std::string& text : read_images(device_code, compute_capability, &result, &images))
    result.modules.push_back({std::move(text)});
  // nvcc links all that is relocatable.
  if (auto linked = read_images(relocatable, compute_capability, &result, &images); !linked.empty())
    result.modules.push_back(std::move(linked));
  for (std::vector<std::string>& texts : result.modules)
    for (std::string& library : device_libraries_for(texts)) texts.push_back(std::move(library));

  const auto runtime =
      std::find_if(result.needed.begin(), result.needed.end(),
                   [](const std::string& n) { return n.starts_with("libcudart.so"); });
  const bool has_code =
      !images.empty();  // nvcc links sections without any in programs that have none
  const auto judge_code = [&](Kind kind, const char* what) {
    result.kind = kind;
    result.runnable = fatbin::choose_ptx(images, compute_capability) != nullptr;
    result.sentence = result.runnable ? std::string(what) + " and has PTX for the simulated GPU"
                                      : fatbin::explain_no_ptx(images, compute_capability);
  };
  if (runtime != result.needed.end() && *runtime != kShared) {
    result.kind = Kind::kOtherRuntime;
    result.sentence = "needs " + *runtime + "; the simulated GPU is a drop-in for " +
                      std::string(kShared) + ": build it with CUDA 13";
  } else if (runtime != result.needed.end() && has_code) {
    judge_code(Kind::kSharedRuntime, "uses the shared CUDA runtime");
  } else if (runtime != result.needed.end()) {
    result.kind = Kind::kSharedRuntime;
    result.runnable = true;
    result.sentence = "uses the shared CUDA runtime and has no device code of its own";
  } else {
    const auto inside = std::make_unique<StaticRuntime>();
    find_static_runtime(file, inside.get());
    result.static_runtime = inside->kind;
    if (inside->kind == StaticRuntime::Kind::kNone) {
      result.kind = has_code ? Kind::kLibrary : Kind::kNoDeviceCode;
      result.sentence =
          has_code ? "is a library that leaves the CUDA runtime to the program that loads it"
                   : "has no device code";
    } else if (inside->found() && has_code) {
      judge_code(Kind::kStaticRuntime, "has the CUDA runtime linked statically");
    } else {
      result.kind = Kind::kStaticRuntime;
      result.runnable = inside->found();
      result.sentence = result.runnable
                            ? "has the CUDA runtime linked statically and no device code of its own"
                            : explain(inside->kind);
    }
  }
  return result;
}

}  // namespace lockstep::runtime
