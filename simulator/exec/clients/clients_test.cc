#include "simulator/exec/clients/clients.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::exec {
namespace {

Environment set_up(const ClientFiles& files, const std::map<std::string, std::string>& before) {
  Environment set;
  set_up_clients(
      files, 90,
      [&](const char* name) -> const char* {
        const auto it = before.find(name);
        return it == before.end() ? nullptr : it->second.c_str();
      },
      &set);
  return set;
}

const ClientFiles kAll = {"/l/clients/ptxas", "/l/clients/modules"};

TEST(Clients, TritonGetsAnAssemblerAndACacheOfItsOwn) {
  const Environment set = set_up(kAll, {{"HOME", "/home/a"}});
  EXPECT_EQ(set.at("TRITON_PTXAS_PATH"), "/l/clients/ptxas");
  EXPECT_EQ(set.at("TRITON_PTXAS_BLACKWELL_PATH"), "/l/clients/ptxas");
  EXPECT_EQ(set.at("TRITON_CACHE_DIR"), "/home/a/.cache/lockstep/triton");
  EXPECT_EQ(set.at("TORCHINDUCTOR_CACHE_DIR"), "/home/a/.cache/lockstep/inductor");
  EXPECT_EQ(set.at("CUPY_CACHE_DIR"), "/home/a/.cache/lockstep/cupy");
  EXPECT_EQ(set.at("WARP_CACHE_PATH"), "/home/a/.cache/lockstep/warp");
  EXPECT_EQ(set.at("TORCH_CUDA_ARCH_LIST"), "9.0+PTX");
}

TEST(Clients, TheUsersAssemblerIsReplacedAndTheUsersCacheIsKept) {
  const Environment set = set_up(kAll, {{"HOME", "/home/a"},
                                        {"TRITON_PTXAS_PATH", "/usr/bin/ptxas"},
                                        {"TRITON_CACHE_DIR", "/c"},
                                        {"CUPY_COMPILE_WITH_PTX", "0"},
                                        {"PYTORCH_NO_CUDA_MEMORY_CACHING", "0"}});
  EXPECT_EQ(set.at("TRITON_PTXAS_PATH"), "/l/clients/ptxas");
  EXPECT_FALSE(set.contains("TRITON_CACHE_DIR"));
  EXPECT_EQ(set.at("CUPY_COMPILE_WITH_PTX"), "1");
  EXPECT_FALSE(set.contains("PYTORCH_NO_CUDA_MEMORY_CACHING"));
}

TEST(Clients, TheCacheLiesWhereTheSystemWantsCaches) {
  EXPECT_EQ(
      set_up(kAll, {{"HOME", "/home/a"}, {"XDG_CACHE_HOME", "/var/c"}}).at("TRITON_CACHE_DIR"),
      "/var/c/lockstep/triton");
  EXPECT_TRUE(
      set_up(kAll, {{"HOME", ""}}).at("TRITON_CACHE_DIR").starts_with("/tmp/lockstep-cache-"));
}

TEST(Clients, TheFolderForPyTorchComesBeforeTheUsersFolders) {
  EXPECT_EQ(set_up(kAll, {}).at("PYTHONPATH"), "/l/clients/modules");
  EXPECT_EQ(set_up(kAll, {{"PYTHONPATH", ""}}).at("PYTHONPATH"), "/l/clients/modules");
  EXPECT_EQ(set_up(kAll, {{"PYTHONPATH", "/mine:/other"}}).at("PYTHONPATH"),
            "/l/clients/modules:/mine:/other");
}

TEST(Clients, WithoutTheFilesNothingIsSetForThem) {
  const Environment set = set_up({}, {{"HOME", "/home/a"}});
  EXPECT_FALSE(set.contains("TRITON_PTXAS_PATH"));
  EXPECT_FALSE(set.contains("TRITON_CACHE_DIR"));
  EXPECT_FALSE(set.contains("PYTHONPATH"));
  EXPECT_EQ(set.at("CUPY_COMPILE_WITH_PTX"), "1");
}

}  // namespace
}  // namespace lockstep::exec
