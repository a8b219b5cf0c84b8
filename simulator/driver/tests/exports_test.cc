// What the simulated libcuda.so.1 exports: every name of exports.txt, each an entry point or a refusal that names it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "simulator/driver/tests/driver_test.h"

namespace lockstep::driver {
namespace {

std::set<std::string> listed() {
  std::set<std::string> names;
  std::ifstream file(std::getenv("EXPORTS"));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line);
  }
  return names;
}

CUDA_TEST(DriverExports, EveryNameOfTheListIsThere) {
  const std::set<std::string> names = listed();
  EXPECT_EQ(names.size(), 637u);
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const std::string& name : names) EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
}

CUDA_TEST(DriverExports, EveryEntryPointIsExported) {
  const std::set<std::string> names = listed();
#define ENTRY(name, version, exported, function) EXPECT_EQ(names.count(exported), 1u) << exported;
#include "simulator/driver/entry_points.inc"
#undef ENTRY
}

CUDA_TEST(DriverExports, WhatIsNotSimulatedIsRefused) {
  GOOD(cuInit(0));
  CUmipmappedArray array = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMipmappedArrayCreate(&array, nullptr, 1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lockstep: cuMipmappedArrayCreate: the simulated GPU does not support it\n");
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuMipmappedArrayCreate", &function, 13000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
}

}  // namespace
}  // namespace lockstep::driver
