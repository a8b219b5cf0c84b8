// Textures and image queries, and the parts that surfaces share with them.
#include "simulator/engine/ops/memory/image_ops.h"

#include <bit>
#include <cstring>
#include <string>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/engine/state/worker.h"
#include "simulator/memory/image.h"
#include "simulator/memory/planes.h"

namespace lockstep::engine {
namespace {

using memory::Address;
using memory::Image;
using memory::Sample;
using memory::Texel;
using memory::Texture;

std::string shape_name(int dimensions, bool layered, bool cube) {
  if (cube) return layered ? "a layered cube map" : "a cube map";
  return std::to_string(dimensions) + "-D" + (layered ? " layered" : "");
}

// Fetches use the texture unit, so the counters of global memory must not count them.
class Uncounted {
 public:
  explicit Uncounted(Worker& k) : worker_(k), counting_(k.counting) { k.counting = false; }
  ~Uncounted() { worker_.counting = counting_; }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  Worker& worker_;
  const bool counting_;
};

Sample sample_of(const Texture& texture, const ImageForm& form, const Place& p) {
  if (form.float_coordinates) {
    float at[3];
    std::memcpy(at, p.at, sizeof at);
    return form.gathers ? memory::gather(texture, at, p.layer)
                        : memory::sample(texture, at, p.layer);
  }
  std::int32_t at[3];
  std::memcpy(at, p.at, sizeof at);
  return memory::fetch(texture, at, p.layer);
}

// Writes the channels of a texel to registers.
void put(Warp& w, const Op& op, isa::Type type, const Texel& texel, int lane) {
  const Slot* slots = &w.block->program->slots[op.as<ListedFields>().first()];
  for (int e = 0; e < op.elements; ++e) {
    if (slots[e] == kNoSlot) continue;
    switch (type) {
      case isa::Type::kF16:
        destination<std::uint16_t>(w, slots[e])[lane] =
            memory::to_half(texel[static_cast<std::size_t>(e)]);
        break;
      case isa::Type::kF16x2: {
        const auto low = static_cast<std::size_t>(2 * e);
        destination<std::uint32_t>(w, slots[e])[lane] =
            memory::to_half(texel[low]) | std::uint32_t{memory::to_half(texel[low + 1])} << 16;
        break;
      }
      default:
        destination<std::uint32_t>(w, slots[e])[lane] = texel[static_cast<std::size_t>(e)];
        break;
    }
  }
}

// The results of txq and suq, with the numbers of PTX ISA 5.3, "Texture, Sampler and Surface
// Types".
std::uint32_t answer(const Image& image, const Texture* texture, isa::ImageQuery query) {
  using isa::ImageQuery;
  switch (query) {
    case ImageQuery::kWidth: return image.width;
    case ImageQuery::kHeight: return image.dimensions > 1 ? image.height : 0;
    case ImageQuery::kDepth: return image.dimensions > 2 ? image.depth : 0;
    case ImageQuery::kArraySize:
      return !image.layered ? 0 : image.cube ? image.depth / 6 : image.depth;
    case ImageQuery::kNormalizedCoords:
      return texture != nullptr && texture->normalized_coordinates;
    case ImageQuery::kNumMipmapLevels: return 1;
    case ImageQuery::kNumSamples: return 1;
    case ImageQuery::kChannelOrder:
      return image.format.channels == 1 ? 0x10b0 : image.format.channels == 2 ? 0x10b2 : 0x10b5;
    case ImageQuery::kChannelDataType: {
      const std::uint32_t width = image.format.bits == 8 ? 0 : image.format.bits == 16 ? 1 : 2;
      switch (image.format.kind) {
        case memory::ChannelKind::kSigned: return 0x10d7 + width;
        case memory::ChannelKind::kUnsigned: return 0x10da + width;
        case memory::ChannelKind::kFloat: return 0x10dc + width;
      }
      return 0;
    }
    default: return 0;
  }
}

// As fetch_lanes(), if memory::is_filtered_plane() is true.
bool fetch_from_plane(Warp& w, const Op& op, const Texture& texture, LaneMask lanes,
                      LaneMask& unwritten) {
  const isa::Type type = ImageForm::of(op).type;
  const Slot* const from = &w.block->program->slots[op.src[3]];
  const std::uint32_t* const layers =
      from[0] == kNoSlot ? nullptr : source<std::uint32_t>(w, from[0]);
  const float *const across = source<float>(w, from[1]), *const down = source<float>(w, from[2]);
  const memory::PlaneSamples samples = memory::sample_plane(texture, across, down, layers, lanes);
  float elements[4][kWarpSize] = {};
  const Uncounted uncounted(*w.block->worker);
  for (int n = 0; n < 4 && samples.reading[n] != 0; ++n) {
    const LaneMask reading = samples.reading[n];
    Request r;
    r.op = &op;
    r.pc = w.pc - 1;
    r.size = 4;
    r.reads = true;
    std::memcpy(r.address, samples.address[n], sizeof r.address);
    each(~reading, [&](int i) { r.address[i] = samples.address[n][std::countr_zero(reading)]; });
    if (!resolve(w, r, isa::Space::kGlobal, reading)) return false;
    unwritten |= r.unwritten;
    each(reading, [&](int i) { load_element<4>(&elements[n][i], r.host[i]); });
  }
  std::uint32_t results[kWarpSize];
  memory::filter_plane(texture, samples, elements, results);
  if (type == isa::Type::kF16 || type == isa::Type::kF16x2) {
    each(lanes, [&](int i) { put(w, op, type, Texel{results[i]}, i); });
    return true;
  }
  // Writes the first channel, and zeros for missing channels.
  const Slot* const to = &w.block->program->slots[op.as<ListedFields>().first()];
  for (int e = 0; e < op.elements; ++e) {
    if (to[e] == kNoSlot) continue;
    auto* const d = destination<std::uint32_t>(w, to[e]);
    each(lanes, [&](int i) { d[i] = e == 0 ? results[i] : 0; });
  }
  return true;
}

// Fetches for lanes that name the same texture. Returns false if a finding ends the launch.
bool fetch_lanes(Warp& w, const Op& op, const Texture& texture, LaneMask lanes,
                 LaneMask& unwritten) {
  const ImageForm form = ImageForm::of(op);
  if (form.float_coordinates && !form.gathers && memory::is_filtered_plane(texture))
    return fetch_from_plane(w, op, texture, lanes, unwritten);
  Sample samples[kWarpSize];
  Texel elements[kWarpSize][8];
  int most = 0;
  each(lanes, [&](int i) {
    samples[i] = sample_of(texture, form, image_place(w, op, i));
    // Only level 0 exists. A float level is clamped to it. Any other integer level reads zero.
    if (op.src[1] != kNoSlot && !form.float_coordinates &&
        source<std::uint32_t>(w, op.src[1])[i] != 0)
      samples[i].taps[0].outside = true;
    most = samples[i].count > most ? samples[i].count : most;
  });
  const Uncounted uncounted(*w.block->worker);
  for (int n = 0; n < most; ++n) {
    Request r;
    r.op = &op;
    r.pc = w.pc - 1;
    r.size = static_cast<std::uint32_t>(texture.image.format.bytes());
    r.reads = true;
    LaneMask reading = 0;
    each(lanes, [&](int i) {
      const Sample::Tap& tap = samples[i].taps[static_cast<std::size_t>(n)];
      r.address[i] = tap.address;
      if (n < samples[i].count && !tap.outside) reading |= 1u << i;
    });
    if (reading == 0) continue;
    each(~reading, [&](int i) { r.address[i] = r.address[std::countr_zero(reading)]; });
    if (!resolve(w, r, isa::Space::kGlobal, reading)) return false;
    unwritten |= r.unwritten;
    each(reading, [&](int i) {
      std::byte element[16];
      load_element(element, r.host[i], r.size);
      elements[i][n] = memory::read_element(element, texture.image.format, texture.normalized_read);
    });
  }
  each(lanes, [&](int i) {
    put(w, op, form.type,
        form.gathers ? memory::gathered(texture, samples[i], elements[i], form.component)
                     : memory::filter(texture, samples[i], elements[i]),
        i);
  });
  return true;
}

}  // namespace

Place image_place(const Warp& w, const Op& op, int lane) {
  const Slot* slots = &w.block->program->slots[op.src[3]];
  const auto value = [&](Slot slot) {
    return slot == kNoSlot ? 0 : source<std::uint32_t>(w, slot)[lane];
  };
  return {value(slots[0]), {value(slots[1]), value(slots[2]), value(slots[3])}};
}

bool report_no_object(Warp& w, int lane, const char* what, std::uint64_t handle) {
  const memory::Images* images = w.block->launch->config->images;
  const bool destroyed = images != nullptr && images->was(handle);
  check::Finding f =
      finding_at(w, w.pc - 1, 1u << lane,
                 destroyed ? check::Kind::kUseAfterFree : check::Kind::kInvalidInstruction);
  f.where = destroyed ? std::string("the ") + what + " object has been destroyed"
                      : "there is no " + std::string(what) + " object of the handle " +
                            std::to_string(handle);
  report(w, std::move(f));
  return false;
}

bool check_image(Warp& w, const Op& op, int lane, const char* what, const Image& image) {
  const ImageForm form = ImageForm::of(op);
  const bool layered = is_layered(form.geometry), cube = is_cube(form.geometry);
  const int dimensions = cube ? 2 : dimensions_of(form.geometry);  // of a face
  if (!image.freed && image.dimensions == dimensions && image.layered == layered &&
      image.cube == cube)
    return true;
  check::Finding f =
      finding_at(w, w.pc - 1, 1u << lane,
                 image.freed ? check::Kind::kUseAfterFree : check::Kind::kInvalidInstruction);
  f.where = image.freed ? std::string("the array of the ") + what + " object has been freed"
                        : std::string("the ") + what + " object is " +
                              shape_name(image.dimensions, image.layered, image.cube) +
                              ", the instruction wants one that is " +
                              shape_name(dimensions, layered, cube);
  report(w, std::move(f));
  return false;
}

namespace {

// In one dimension, integer coordinates fetch from linear memory and float coordinates from arrays.
// Hardware returns nothing otherwise.
bool check_kind(Warp& w, const Op& op, int lane, const Texture& texture) {
  const ImageForm form = ImageForm::of(op);
  if (form.geometry != isa::Geometry::k1d || form.float_coordinates != texture.linear_memory)
    return true;
  check::Finding f = finding_at(w, w.pc - 1, 1u << lane, check::Kind::kInvalidInstruction);
  f.where =
      texture.linear_memory
          ? "the texture object is of linear memory, which is fetched by integers only (tex1Dfetch)"
          : "the texture object is of an array, which in one dimension is fetched by floats only "
            "(tex1D)";
  report(w, std::move(f));
  return false;
}

}  // namespace

void run_texture(Warp& w, const Op& op, LaneMask mask) {
  const memory::Images* images = w.block->launch->config->images;
  const auto* handles = source<std::uint64_t>(w, op.src[0]);
  LaneMask unwritten = 0;
  for (LaneMask rest = mask; rest != 0;) {
    const int first = std::countr_zero(rest);
    LaneMask lanes = 0;
    each(rest, [&](int i) { lanes |= LaneMask{handles[i] == handles[first]} << i; });
    rest &= ~lanes;
    const Texture* texture = images == nullptr ? nullptr : images->texture(handles[first]);
    if (texture == nullptr)
      return static_cast<void>(report_no_object(w, first, "texture", handles[first]));
    if (!check_image(w, op, first, "texture", texture->image) ||
        !check_kind(w, op, first, *texture))
      return;
    if (!fetch_lanes(w, op, *texture, lanes, unwritten)) return;
  }
  if (op.dst2 != kNoSlot) set_predicate(w, op.dst2, mask, mask);
  if (unwritten == 0) return;
  begin_tracking(w);
  for (int e = 0; e < op.elements; ++e) {
    const Slot slot =
        w.block->program->slots[op.as<ListedFields>().first() + static_cast<std::uint32_t>(e)];
    if (slot != kNoSlot) mark_register(w, slot, unwritten, mask, w.pc - 1);
  }
}

void run_image_query(Warp& w, const Op& op, LaneMask mask) {
  const memory::Images* images = w.block->launch->config->images;
  const auto* handles = source<std::uint64_t>(w, op.src[0]);
  const bool surface = op.as<program::ImageQueryFields>().of_surface();
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Texture* texture =
        images == nullptr || surface ? nullptr : images->texture(handles[lane]);
    const Image* image = texture != nullptr              ? &texture->image
                         : images == nullptr || !surface ? nullptr
                                                         : images->surface(handles[lane]);
    if (image == nullptr)
      return static_cast<void>(
          report_no_object(w, lane, surface ? "surface" : "texture", handles[lane]));
    destination<std::uint32_t>(w, op.dst)[lane] =
        answer(*image, texture, static_cast<isa::ImageQuery>(op.immediate));
  }
}

}  // namespace lockstep::engine
