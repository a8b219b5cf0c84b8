// Arrays, textures and surfaces.
#include "tests/calls/rig.h"

namespace lockstep::calls {
namespace in_array {

void create(Rig& rig) {
  const std::string name = rig.number("array");
  const int bits[] = {8, 16, 32, 0, 64, 24};
  const int x = rig.random.chance(70) ? 32 : rig.random.of(bits);
  const int y = rig.random.chance(70) ? 0 : rig.random.of(bits);
  const int z = rig.random.chance(90) ? 0 : rig.random.of(bits);
  const auto kind = static_cast<cudaChannelFormatKind>(rig.random.below(4));
  const cudaChannelFormatDesc channel = {x, y, z, z, kind};
  const std::size_t width = rig.random.of({0, 1, 16, 100, 200000}),
                    height = rig.random.of({0, 0, 1, 16, 70000});
  const unsigned flags = rig.random.of({0u, 0u, 2u, 4u, 8u, 1u, 6u});
  cudaArray_t array = nullptr;
  const cudaError_t error = cudaMallocArray(&array, &channel, width, height, flags);
  rig.answer(text("cudaMallocArray(&%s, {%d, %d, %d, %d, %d}, %zu, %zu, %#x)", name.c_str(), x, y,
                  z, z, kind, width, height, flags),
             error);
  if (error == cudaSuccess)
    rig.arrays.push_back({array, name, width * ((x + y + 2 * z) / 8), height});
}

void ask(Rig& rig) {
  Array* const a = rig.pick(rig.arrays);
  if (a == nullptr) return;
  cudaChannelFormatDesc channel = {};
  cudaExtent extent = {};
  unsigned flags = 0;
  const cudaError_t error = cudaArrayGetInfo(&channel, &extent, &flags, a->it);
  rig.answer(text("cudaArrayGetInfo(%s)", a->name.c_str()), error,
             text("%d %d %d %d %d, %zu x %zu x %zu, %#x", channel.x, channel.y, channel.z,
                  channel.w, channel.f, extent.width, extent.height, extent.depth, flags));
}

void copy(Rig& rig) {
  Array* const a = rig.pick(rig.arrays);
  if (a == nullptr) return;
  static unsigned char host[4096];
  const std::size_t width = rig.random.of({0, 1, 4, 16, 64, 65}), height = rig.random.of({0, 1, 2});
  const std::size_t x = rig.random.of({0, 0, 0, 4, 1}), y = rig.random.of({0, 0, 0, 1});
  const std::size_t pitch = rig.random.of({64, 64, 16, 0});
  const bool to = rig.random.chance(60);
  rig.answer(
      text("cudaMemcpy2D%sArray(%s, %zu, %zu, pitch %zu, %zu, %zu)", to ? "To" : "From",
           a->name.c_str(), x, y, pitch, width, height),
      to ? cudaMemcpy2DToArray(a->it, x, y, host, pitch, width, height, cudaMemcpyHostToDevice)
         : cudaMemcpy2DFromArray(host, pitch, a->it, x, y, width, height, cudaMemcpyDeviceToHost));
}

cudaResourceDesc resource(Rig& rig, std::string& what) {
  cudaResourceDesc r = {};
  Array* const a = rig.pick(rig.arrays);
  Memory* const m = rig.pick(rig.memory);
  const int bits = rig.random.of({8, 16, 32, 32, 32});
  const auto format = rig.random.of({cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat});
  const cudaChannelFormatDesc channel = {bits, 0, 0, 0, format};
  switch (rig.random.below(4)) {
    case 0:
      if (m == nullptr || m->kind != Memory::kDevice) break;
      r.resType = cudaResourceTypeLinear;
      r.res.linear = {m->at, channel, m->size};
      what = text("linear %s %d %d", m->name.c_str(), bits, format);
      return r;
    case 1: {
      if (m == nullptr || m->kind != Memory::kDevice || m->size < 4096) break;
      const std::size_t pitch = rig.random.of({32, 64, 512});
      r.resType = cudaResourceTypePitch2D;
      r.res.pitch2D = {m->at, channel, 8, 4, pitch};
      what = text("pitch %s %d %d %zu", m->name.c_str(), bits, format, pitch);
      return r;
    }
    default: break;
  }
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a == nullptr ? nullptr : a->it;
  what = a == nullptr ? "array null" : "array " + a->name;
  return r;
}

void create_texture(Rig& rig) {
  std::string what;
  const cudaResourceDesc r = resource(rig, what);
  cudaTextureDesc t = {};
  for (auto& mode : t.addressMode) mode = static_cast<cudaTextureAddressMode>(rig.random.below(4));
  t.filterMode = static_cast<cudaTextureFilterMode>(rig.random.below(2));
  t.readMode = static_cast<cudaTextureReadMode>(rig.random.below(2));
  t.normalizedCoords = static_cast<int>(rig.random.below(2));
  t.sRGB = rig.random.chance(10);
  t.maxAnisotropy = rig.random.of({0u, 0u, 4u, 17u});
  const std::string name = rig.number("texture");
  cudaTextureObject_t texture = 0;
  const cudaError_t error = cudaCreateTextureObject(&texture, &r, &t, nullptr);
  rig.answer(text("cudaCreateTextureObject(&%s, %s, %d %d %d, filter %d, read %d, normalized %d, "
                  "sRGB %d, anisotropy %u)",
                  name.c_str(), what.c_str(), t.addressMode[0], t.addressMode[1], t.addressMode[2],
                  t.filterMode, t.readMode, t.normalizedCoords, t.sRGB, t.maxAnisotropy),
             error);
  if (error == cudaSuccess) rig.textures.push_back({texture, name});
}

void create_surface(Rig& rig) {
  std::string what;
  const cudaResourceDesc r = resource(rig, what);
  const std::string name = rig.number("surface");
  cudaSurfaceObject_t surface = 0;
  const cudaError_t error = cudaCreateSurfaceObject(&surface, &r);
  rig.answer(text("cudaCreateSurfaceObject(&%s, %s)", name.c_str(), what.c_str()), error);
  if (error == cudaSuccess) rig.surfaces.push_back({surface, name});
}

void destroy_objects(Rig& rig) {
  if (Named<cudaTextureObject_t>* const t = rig.pick(rig.textures)) {
    cudaResourceDesc r = {};
    const cudaError_t error = cudaGetTextureObjectResourceDesc(&r, t->it);
    rig.answer(text("cudaGetTextureObjectResourceDesc(%s)", t->name.c_str()), error,
               text("%d", r.resType));
    rig.answer(text("cudaDestroyTextureObject(%s)", t->name.c_str()),
               cudaDestroyTextureObject(t->it));
    rig.remove(rig.textures, t);
  }
  if (Named<cudaSurfaceObject_t>* const s = rig.pick(rig.surfaces)) {
    rig.answer(text("cudaDestroySurfaceObject(%s)", s->name.c_str()),
               cudaDestroySurfaceObject(s->it));
    rig.remove(rig.surfaces, s);
  }
  if (rig.random.chance(20)) rig.answer("cudaDestroyTextureObject(0)", cudaDestroyTextureObject(0));
}

}  // namespace in_array

std::vector<Call<Rig>> array_calls() {
  using namespace in_array;
  return {{6, create},         {2, ask}, {4, copy}, {4, create_texture}, {2, create_surface},
          {2, destroy_objects}};
}

}  // namespace lockstep::calls
