// Programs of this folder as one binary: nvcc needs most of its time for their common headers.
//
//   several NAME [ARGUMENT]...
//
// Each is a whole program too. Here a namespace holds its functions; all headers come first.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "check.h"

namespace of_certified {
#include "certified.cu"
}
namespace of_devices {
#include "devices.cu"
}
namespace of_dynamic_shared {
#include "dynamic_shared.cu"
}
namespace of_goes_on {
#include "goes_on.cu"
}
namespace of_graph {
#include "graph.cu"
}
namespace of_grid_sync {
#include "grid_sync.cu"
}
namespace of_printf {
#include "printf.cu"
}
namespace of_races {
#include "races.cu"
}
namespace of_reduction {
#include "reduction.cu"
}
namespace of_repeats {
#include "repeats.cu"
}
namespace of_streams {
#include "streams.cu"
}
namespace of_textures {
#include "textures.cu"
}
namespace of_waits_for_host {
#include "waits_for_host.cu"
}

template <int (*kMain)()>
static int call(int, char**) {
  return kMain();
}
template <int (*kMain)(int, char**)>
static int call(int argc, char** argv) {
  return kMain(argc, argv);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    int (*run)(int, char**);
  } programs[] = {
      {"certified", call<of_certified::main>},
      {"devices", call<of_devices::main>},
      {"dynamic_shared", call<of_dynamic_shared::main>},
      {"goes_on", call<of_goes_on::main>},
      {"graph", call<of_graph::main>},
      {"grid_sync", call<of_grid_sync::main>},
      {"printf", call<of_printf::main>},
      {"races", call<of_races::main>},
      {"reduction", call<of_reduction::main>},
      {"repeats", call<of_repeats::main>},
      {"streams", call<of_streams::main>},
      {"textures", call<of_textures::main>},
      {"waits_for_host", call<of_waits_for_host::main>},
  };
  for (const auto& p : programs)
    if (argc > 1 && std::strcmp(argv[1], p.name) == 0) return p.run(argc - 1, argv + 1);
  std::fprintf(stderr, "usage: several NAME [ARGUMENT]...\n");
  return 2;
}
