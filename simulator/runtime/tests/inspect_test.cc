// Inspection of programs built by nvcc in different ways, and of files that are no programs.
#include "simulator/runtime/inspect/inspect.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep::runtime {
namespace {

std::vector<std::uint8_t> contents(const char* variable) {
  const char* path = std::getenv(variable);
  EXPECT_NE(path, nullptr) << variable;
  std::ifstream file(path == nullptr ? "" : path, std::ios::binary);
  EXPECT_TRUE(file.good()) << variable;
  return {std::istreambuf_iterator<char>(file), {}};
}

using Kind = Inspection::Kind;

TEST(Inspect, ASharedRuntimeWithPtxRuns) {
  const Inspection i = inspect(contents("PROGRAM"), 90);
  EXPECT_EQ(i.kind, Kind::kSharedRuntime) << i.sentence;
  EXPECT_TRUE(i.runnable) << i.sentence;
  EXPECT_EQ(i.ptx, std::vector<int>{90});
  ASSERT_EQ(i.modules.size(), 1u);
  ASSERT_EQ(i.modules[0].size(), 1u);
  EXPECT_NE(i.modules[0][0].find(".entry"), std::string::npos);
}

TEST(Inspect, PtxForANewerDeviceDoesNot) {
  const Inspection i = inspect(contents("PROGRAM"), 80);
  EXPECT_EQ(i.kind, Kind::kSharedRuntime);
  EXPECT_FALSE(i.runnable);
}

TEST(Inspect, AStaticRuntimeWithItsSymbolsRuns) {
  const std::vector<std::uint8_t> whole = contents("STATIC");
  const Inspection i = inspect(whole, 90);
  EXPECT_EQ(i.kind, Kind::kStaticRuntime);
  EXPECT_EQ(i.static_runtime, StaticRuntime::Kind::kSymbols);
  EXPECT_TRUE(i.runnable) << i.sentence;
  EXPECT_FALSE(inspect(whole, 80).runnable);
}

// Stripped, and with the symbols of CUDA 12.
TEST(Inspect, AStaticRuntimeThatCannotBeServedNamesWhatToChange) {
  std::vector<std::uint8_t> renamed = contents("STATIC"), stripped = renamed;
  const auto replace = [](std::vector<std::uint8_t>& bytes, const std::string& name,
                          const std::string& by) {
    const std::string text = std::string(1, '\0') + name + std::string(1, '\0');
    for (auto at = bytes.begin();
         (at = std::search(at, bytes.end(), text.begin(), text.end())) != bytes.end();)
      std::copy(by.begin(), by.end(), ++at);
  };
  replace(stripped, "__cudaRegisterFatBinary", "__xudaRegisterFatBinary");
  replace(stripped, "__cudaInitModule", "__xudaInitModule");
  const Inspection without = inspect(stripped, 90);
  EXPECT_EQ(without.static_runtime, StaticRuntime::Kind::kStripped);
  EXPECT_FALSE(without.runnable);
  EXPECT_NE(without.sentence.find("-cudart shared"), std::string::npos) << without.sentence;
  replace(renamed, "cudaGraphInstantiateWithParams",
          std::string("cudaGetDeviceProperties_v2") + '\0');
  const Inspection older = inspect(renamed, 90);
  EXPECT_EQ(older.static_runtime, StaticRuntime::Kind::kOlder);
  EXPECT_FALSE(older.runnable);
  EXPECT_NE(older.sentence.find("CUDA 13"), std::string::npos) << older.sentence;
}

// Each entry point has room for a jump, and they do not overlap.
TEST(Inspect, EntryPointsOfAStaticRuntimeAreFoundWithTheirRoom) {
  const std::vector<std::uint8_t> file = contents("STATIC");
  const auto found = std::make_unique<StaticRuntime>();
  find_static_runtime(file, found.get());
  EXPECT_GT(found->count, 400u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < found->count; ++i) {
    names.insert(found->entries[i].name);
    if (i + 1 < found->count) {
      EXPECT_LE(found->entries[i].room, found->entries[i + 1].value - found->entries[i].value)
          << found->entries[i].name;
    }
  }
  for (const char* name :
       {"cudaMalloc", "cudaLaunchKernel", "__cudaRegisterFatBinary", "__cudaLaunchKernel"})
    EXPECT_EQ(names.count(name), 1u) << name;
}

// The names that the code passes to callbacks, and the order of the other entry points, yield what
// the symbol table holds.
TEST(Inspect, WithoutTheSymbolTableTheSameEntryPointsAreFound) {
  std::vector<std::uint8_t> file = contents("STATIC");
  const auto found = std::make_unique<StaticRuntime>();
  const auto entries = [&] {
    std::vector<std::tuple<std::uint64_t, std::string>> all;
    for (std::size_t i = 0; i < found->count; ++i)
      all.emplace_back(found->entries[i].value, found->entries[i].name);
    std::sort(all.begin(), all.end());
    return all;
  };
  find_static_runtime(file, found.get());
  ASSERT_EQ(found->kind, StaticRuntime::Kind::kSymbols);
  const auto by_symbols = entries();
  // Removes every section that is a symbol table.
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    std::uint8_t* const section = file.data() + header.e_shoff + i * header.e_shentsize;
    Elf64_Shdr s;
    std::memcpy(&s, section, sizeof s);
    if (s.sh_type == SHT_SYMTAB) s.sh_type = SHT_NULL;
    std::memcpy(section, &s, sizeof s);
  }
  find_static_runtime(file, found.get());
  EXPECT_EQ(found->kind, StaticRuntime::Kind::kNames);
  EXPECT_EQ(entries(), by_symbols);
  for (std::size_t i = 0; i < found->count; ++i)
    EXPECT_GE(found->entries[i].room, 14u) << found->entries[i].name;
  EXPECT_TRUE(inspect(file, 90).runnable);
  // Also removes the fat binaries: a library that only forwards the runtime's functions.
  for (const std::string section : {".nv_fatbin", ".nvFatBinSegment", "__nv_relfatbin"}) {
    for (auto at = file.begin();
         (at = std::search(at, file.end(), section.begin(), section.end())) != file.end();)
      *at++ = '!';
  }
  find_static_runtime(file, found.get());
  EXPECT_EQ(found->kind, StaticRuntime::Kind::kNames);
  EXPECT_EQ(entries(), by_symbols);
}

TEST(Inspect, MachineCodeAloneNamesTheFlag) {
  const Inspection i = inspect(contents("MACHINE_CODE_ONLY"), 90);
  EXPECT_EQ(i.kind, Kind::kSharedRuntime);
  EXPECT_FALSE(i.runnable);
  EXPECT_TRUE(i.ptx.empty());
  EXPECT_EQ(i.machine_code, std::vector<int>{90});
  EXPECT_NE(i.sentence.find("compute_"), std::string::npos) << i.sentence;
}

TEST(Inspect, WhatIsNoCudaProgramIsNone) {
  EXPECT_EQ(inspect(contents("HOST_PROGRAM"), 90).kind, Kind::kNoDeviceCode);
  EXPECT_EQ(inspect({}, 90).kind, Kind::kNotElf);
  const std::vector<std::uint8_t> text(1000, 'x');
  EXPECT_EQ(inspect(text, 90).kind, Kind::kNotElf);
}

// Every prefix and many corruptions of a real program must be handled; sanitizers and crashes are
// the oracle.
TEST(Inspect, SurvivesBrokenFiles) {
  const std::vector<std::uint8_t> whole = contents("PROGRAM");
  for (std::size_t n = 0; n < whole.size(); n += 1 + whole.size() / 100)
    inspect(std::span(whole).first(n), 90);
  // The ELF header and the section headers hold every offset that the code follows.
  for (std::size_t at = 0; at < 64; ++at) {
    std::vector<std::uint8_t> broken = whole;
    broken[at] ^= 0xff;
    inspect(broken, 90);
  }
  for (std::size_t back = 1; back < 64 * 40 && back < whole.size(); back += 7) {
    std::vector<std::uint8_t> broken = whole;
    broken[broken.size() - back] ^= 0xff;
    inspect(broken, 90);
  }
}

}  // namespace
}  // namespace lockstep::runtime
