// Modules, libraries, and what is looked up in them.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_code {

// PTX that the driver may refuse.
struct Source {
  const char* name;
  const char* text;
};

const Source kWrong[] = {
    {"empty", ""},
    {"words", "no ptx at all"},
    {"no_target", ".version 8.0\n.address_size 64\n"},
    {"nothing", ".version 8.0\n.target sm_75\n.address_size 64\n"},
    {"late_target",
     ".version 9.0\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n"},
    {"late_version",
     ".version 99.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"},
    {"undeclared",
     ".version 8.0\n.target sm_75\n.address_size 64\n"
     ".visible .entry k() { mov.u32 %r0, 1; ret; }\n"},
    {"external",
     ".version 8.0\n.target sm_75\n.address_size 64\n.extern .func f();\n"
     ".visible .entry k() { call f; ret; }\n"},
    {"twice",
     ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
     ".visible .entry k() { ret; }\n"},
};

void load_module(Rig& rig) {
  const std::string name = rig.number("module");
  Code code = {.name = name};
  const bool wrong = rig.random.chance(35);
  const Source source = wrong ? rig.random.of(kWrong) : Source{"kernels", kPtx};
  CUresult result = CUDA_SUCCESS;
  switch (rig.random.below(3)) {
    case 0:
      result = DRIVER(cuModuleLoadData)(&code.module, source.text);
      rig.answer(text("cuModuleLoadData(&%s, %s)", name.c_str(), source.name), result);
      break;
    case 1: {
      char log[512] = "";
      CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
      void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
      result = DRIVER(cuModuleLoadDataEx)(&code.module, source.text, 2, options, values);
      rig.answer(text("cuModuleLoadDataEx(&%s, %s, log)", name.c_str(), source.name), result);
      break;
    }
    default: {
      const int option = rig.random.of({0, 7, 11, 12, 13, 14, 17, 18, 40, 99});
      const std::size_t value = rig.random.of({0u, 1u, 2u, 4u, 75u, 90u, 64u});
      CUjit_option options[] = {static_cast<CUjit_option>(option)};
      void* values[] = {reinterpret_cast<void*>(value)};
      result = DRIVER(cuModuleLoadDataEx)(&code.module, source.text, 1, options, values);
      rig.answer(
          text("cuModuleLoadDataEx(&%s, %s, {%d: %zu})", name.c_str(), source.name, option, value),
          result);
    }
  }
  if (result == CUDA_SUCCESS) rig.codes.push_back(code);
}

void load_library(Rig& rig) {
  const std::string name = rig.number("library");
  Code code = {.name = name};
  // A GPU's driver reads the PTX of a library at its first use, the simulated one at once.
  const Source source = {"kernels", kPtx};
  const int option = rig.random.of({-1, -1, -1, 1, 2, 99});  // an H200's driver dies of 0
  CUlibraryOption options[] = {static_cast<CUlibraryOption>(option)};
  void* values[] = {reinterpret_cast<void*>(std::size_t{rig.random.of({0u, 1u})})};
  const unsigned count = option < 0 ? 0 : 1;
  const CUresult result = DRIVER(cuLibraryLoadData)(&code.library, source.text, nullptr, nullptr, 0,
                                                    options, values, count);
  rig.answer(text("cuLibraryLoadData(&%s, %s, {%d})", name.c_str(), source.name, option), result);
  if (result == CUDA_SUCCESS) rig.codes.push_back(code);
}

void unload(Rig& rig) {
  if (rig.codes.size() < 2) return;
  rig.wait();
  Code* const code = &rig.codes[1 + rig.random.below(rig.codes.size() - 1)];
  if (code->module != nullptr) {
    rig.answer(text("cuModuleUnload(%s)", code->name.c_str()),
               DRIVER(cuModuleUnload)(code->module));
  } else {
    rig.answer(text("cuLibraryUnload(%s)", code->name.c_str()),
               DRIVER(cuLibraryUnload)(code->library));
  }
  rig.remove(rig.codes, code);
}

void nulls(Rig& rig) {
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  switch (rig.random.below(8)) {
    case 0: return rig.answer("cuModuleLoadData(&m, null)", DRIVER(cuModuleLoadData)(&m, nullptr));
    case 1:
      return rig.answer("cuModuleLoadData(null, kernels)", DRIVER(cuModuleLoadData)(nullptr, kPtx));
    case 2: return rig.answer("cuModuleLoad(&m, \"/none\")", DRIVER(cuModuleLoad)(&m, "/none"));
    case 3:
      return rig.answer("cuModuleGetFunction(null module)",
                        DRIVER(cuModuleGetFunction)(&f, nullptr, "add"));
    case 4:
      return rig.answer("cuModuleGetFunction(null function)",
                        DRIVER(cuModuleGetFunction)(nullptr, rig.own_code().module, "add"));
    case 5:
      return rig.answer("cuModuleGetFunction(null name)",
                        DRIVER(cuModuleGetFunction)(&f, rig.own_code().module, nullptr));
    case 6: return rig.answer("cuModuleUnload(null)", DRIVER(cuModuleUnload)(nullptr));
    default: return rig.answer("cuLibraryUnload(null)", DRIVER(cuLibraryUnload)(nullptr));
  }
}

const char* const kNames[] = {"add",   "few_threads",  "shared", "factor",
                              "table", "managed_word", "none",   ""};

void find_function(Rig& rig) {
  Code* const code = rig.pick(rig.codes);
  const char* const name = rig.random.of(kNames);
  const std::string own = rig.number("function");
  if (code->module != nullptr) {
    CUfunction f = nullptr;
    const CUresult result = DRIVER(cuModuleGetFunction)(&f, code->module, name);
    rig.answer(text("cuModuleGetFunction(&%s, %s, \"%s\")", own.c_str(), code->name.c_str(), name),
               result);
    if (result == CUDA_SUCCESS) code->functions.push_back({f, own});
  } else {
    CUkernel k = nullptr;
    const CUresult result = DRIVER(cuLibraryGetKernel)(&k, code->library, name);
    rig.answer(text("cuLibraryGetKernel(&%s, %s, \"%s\")", own.c_str(), code->name.c_str(), name),
               result);
    if (result == CUDA_SUCCESS) code->kernels.push_back({k, own});
  }
}

void find_variable(Rig& rig) {
  Code* const code = rig.pick(rig.codes);
  const char* const name = rig.random.of(kNames);
  CUdeviceptr at = 0;
  std::size_t bytes = 0;
  // Not both are needed.
  CUdeviceptr* const where = rig.random.chance(85) ? &at : nullptr;
  std::size_t* const size = rig.random.chance(85) ? &bytes : nullptr;
  const std::string asked = text("%s, %s, \"%s\"", where == nullptr ? "null" : "&at",
                                 size == nullptr ? "null" : "&bytes", name);
  if (code->module != nullptr) {
    const CUresult result = DRIVER(cuModuleGetGlobal)(where, size, code->module, name);
    return rig.answer(text("cuModuleGetGlobal(%s, %s)", code->name.c_str(), asked.c_str()), result,
                      text("%s, %zu", at == 0 ? "null" : "not null", bytes));
  }
  const bool managed = rig.random.chance(40);
  const CUresult result = managed ? DRIVER(cuLibraryGetManaged)(where, size, code->library, name)
                                  : DRIVER(cuLibraryGetGlobal)(where, size, code->library, name);
  rig.answer(text("%s(%s, %s)", managed ? "cuLibraryGetManaged" : "cuLibraryGetGlobal",
                  code->name.c_str(), asked.c_str()),
             result, text("%s, %zu", at == 0 ? "null" : "not null", bytes));
}

void count_kernels(Rig& rig) {
  Code* const code = rig.pick(rig.codes);
  unsigned kernels = 0;
  if (code->module != nullptr) {
    if (rig.random.chance(50)) {
      const CUresult result = DRIVER(cuModuleGetFunctionCount)(&kernels, code->module);
      return rig.answer(text("cuModuleGetFunctionCount(%s)", code->name.c_str()), result,
                        text("%u", kernels));
    }
    CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
    const CUresult result = DRIVER(cuModuleGetLoadingMode)(&mode);
    return rig.answer("cuModuleGetLoadingMode()", result, text("%d", mode));
  }
  switch (rig.random.below(3)) {
    case 0: {
      const CUresult result = DRIVER(cuLibraryGetKernelCount)(&kernels, code->library);
      return rig.answer(text("cuLibraryGetKernelCount(%s)", code->name.c_str()), result,
                        text("%u", kernels));
    }
    case 1: {
      CUmodule m = nullptr;
      const CUresult result = DRIVER(cuLibraryGetModule)(&m, code->library);
      return rig.answer(text("cuLibraryGetModule(%s)", code->name.c_str()), result,
                        m == nullptr ? "null" : "not null");
    }
    default: {
      CUkernel found[8] = {};
      const unsigned room = rig.random.of({0u, 1u, 8u});
      const CUresult result = DRIVER(cuLibraryEnumerateKernels)(found, room, code->library);
      for (CUkernel k : found) kernels += k != nullptr ? 1 : 0;
      return rig.answer(text("cuLibraryEnumerateKernels(%s, %u)", code->name.c_str(), room), result,
                        text("%u", kernels));
    }
  }
}

void link(Rig& rig) {
  CUlinkState state = nullptr;
  const CUresult created = DRIVER(cuLinkCreate)(0, nullptr, nullptr, &state);
  rig.answer("cuLinkCreate()", created);
  if (created != CUDA_SUCCESS) return;
  {
    // What a linker answers after an input that it refused is left out.
    const Source source = {"kernels", kPtx};
    const int type = rig.random.of({1, 1, 1, 0, 2, 99});
    rig.answer(text("cuLinkAddData(%d, %s)", type, source.name),
               DRIVER(cuLinkAddData)(
                   state, static_cast<CUjitInputType>(type), const_cast<char*>(source.text),
                   std::string(source.text).size() + 1, source.name, 0, nullptr, nullptr));
  }
  void* image = nullptr;
  std::size_t bytes = 0;
  const CUresult completed = DRIVER(cuLinkComplete)(state, &image, &bytes);
  rig.answer("cuLinkComplete()", completed);
  if (completed == CUDA_SUCCESS) {
    const std::string name = rig.number("module");
    Code code = {.name = name};
    const CUresult loaded = DRIVER(cuModuleLoadData)(&code.module, image);
    rig.answer(text("cuModuleLoadData(&%s, image)", name.c_str()), loaded);
    if (loaded == CUDA_SUCCESS) rig.codes.push_back(code);
  }
  rig.answer("cuLinkDestroy()", DRIVER(cuLinkDestroy)(state));
}

}  // namespace in_code

std::vector<Call<Rig>> code_calls() {
  using namespace in_code;
  return {{3, load_module},   {3, load_library},  {1, unload},        {2, nulls},
          {6, find_function}, {5, find_variable}, {3, count_kernels}, {1, link}};
}

}  // namespace lockstep::calls::driver
