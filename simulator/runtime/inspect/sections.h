// The sections of a 64-bit ELF file. Unreadable parts count as absent.
//
// Does not allocate or throw, as static_runtime.h requires.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lockstep::runtime {

using Bytes = std::span<const std::uint8_t>;

// Copies a T from the file. Zeros, and false, if the file is too short.
template <class T>
inline bool read(Bytes file, std::uint64_t offset, T* value) {
  std::memset(value, 0, sizeof *value);
  if (offset > file.size() || sizeof(T) > file.size() - offset) return false;
  std::memcpy(value, file.data() + offset, sizeof(T));
  return true;
}

// The string at an offset of a string table; "" if it does not end within the table.
inline const char* text_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return "";
  const auto* text = reinterpret_cast<const char*>(table.data() + offset);
  return strnlen(text, table.size() - offset) < table.size() - offset ? text : "";
}

class Sections {
 public:
  explicit Sections(Bytes file) : file_(file) {
    if (!read(file, 0, &header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64)
      header_ = {};
    Elf64_Shdr names;
    if (at(header_.e_shstrndx, &names)) names_ = part(names);
  }
  bool at(std::uint64_t i, Elf64_Shdr* section) const {
    return i < header_.e_shnum && read(file_, header_.e_shoff + i * header_.e_shentsize, section);
  }
  Bytes part(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS || s.sh_offset > file_.size()) return {};
    return file_.subspan(s.sh_offset,
                         std::min<std::uint64_t>(s.sh_size, file_.size() - s.sh_offset));
  }
  // The first section with this name, or zeros.
  Elf64_Shdr header(std::string_view name) const {
    Elf64_Shdr section;
    for (std::uint64_t i = 0; at(i, &section); ++i) {
      if (text_at(names_, section.sh_name) == name) return section;
    }
    return {};
  }
  Bytes named(std::string_view name) const { return part(header(name)); }
  // Calls visit(symbol, name) for each symbol of the tables of a type (SHT_SYMTAB, SHT_DYNSYM).
  // Returns false if there is none.
  template <class Visit>
  bool for_each_symbol(std::uint32_t type, Visit&& visit) const {
    bool found = false;
    Elf64_Shdr section, strings;
    for (std::uint64_t i = 0; at(i, &section); ++i) {
      if (section.sh_type != type || !at(section.sh_link, &strings)) continue;
      const Bytes names = part(strings), symbols = part(section);
      for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= symbols.size();
           offset += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        read(symbols, offset, &symbol);
        found = true;
        visit(symbol, text_at(names, symbol.st_name));
      }
    }
    return found;
  }

 private:
  Bytes file_, names_;
  Elf64_Ehdr header_{};
};

}  // namespace lockstep::runtime
