// Surfaces: once the coordinates are resolved to addresses, the accesses are those of global
// memory.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/ops/memory/image_ops.h"
#include "simulator/engine/ops/memory/load_store.h"
#include "simulator/engine/ops/memory/memory_ops.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/request.h"
#include "simulator/memory/image.h"

namespace lockstep::engine {
namespace {

using isa::Border;
using memory::Image;

// The places that lanes access in one surface.
struct Targets {
  const Image* image = nullptr;
  std::uint32_t size = 0;  // bytes a lane
  std::uint64_t address[kWarpSize];
  LaneMask inside = 0;  // the other lanes are outside, with .zero
};

std::string extents(const Image& image) {
  std::string s = std::to_string(image.width);
  if (image.dimensions > 1) s += " x " + std::to_string(image.height);
  if (image.dimensions > 2) s += " x " + std::to_string(image.depth);
  return s + " elements of " + std::to_string(image.format.bytes()) + " bytes" +
         (image.layered ? ", " + std::to_string(image.depth) + " layers" : "");
}

// Coordinates for messages, as signed numbers.
std::string coordinates(const Image& image, const Place& p, bool bytes) {
  const auto number = [](std::uint32_t v) { return std::to_string(static_cast<std::int32_t>(v)); };
  std::string s = (bytes ? "byte " : "element ") + number(p.at[0]);
  if (image.dimensions > 1) s += " of row " + number(p.at[1]);
  if (image.dimensions > 2) s += " of slice " + number(p.at[2]);
  return image.layered ? s + " of layer " + number(p.layer) : s;
}

bool report_place(Warp& w, const Op& op, int lane, const Image& image, const Place& p,
                  std::uint32_t size, check::Kind kind, const std::string& what) {
  const ImageForm form = ImageForm::of(op);
  check::Finding f = finding_at(w, w.pc - 1, 1u << lane, kind);
  f.space = "surface";
  f.access.size = size;
  f.access.is_write = op.run != &run_surface_load;
  f.access.is_atomic = op.action == Action::kSurfaceReduce;
  f.where = coordinates(image, p, !form.formatted) + what;
  report(w, std::move(f));
  return false;
}

// Coordinates below 0 clamp to 0: .clamp treats them as signed.
std::uint32_t clamped(std::uint32_t v, std::uint64_t last) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(static_cast<std::int32_t>(v), 0, static_cast<std::int64_t>(last)));
}

// Finds one lane's address. False: a finding ends the launch.
bool find_place(Warp& w, const Op& op, int lane, Targets& t) {
  const ImageForm form = ImageForm::of(op);
  const Image& image = *t.image;
  const auto element = static_cast<std::uint32_t>(image.format.bytes());
  const std::uint32_t size = t.size;
  Place p = image_place(w, op, lane);
  // x counts bytes, or elements if the surface's format is used.
  const std::uint32_t step = form.formatted ? element : 1;
  const std::uint64_t row = std::uint64_t{image.width} * element;
  const std::uint64_t ends[3] = {row / step, image.height, image.depth};
  if (std::uint64_t{p.at[0]} * step % size != 0) {
    return report_place(w, op, lane, image, p, size, check::Kind::kMisaligned,
                        " is no multiple of the " + std::to_string(size) + " bytes of the access");
  }
  bool inside = !image.layered || p.layer < image.depth;
  for (int d = 0; d < image.dimensions; ++d) inside = inside && p.at[d] < ends[d];
  inside = inside && std::uint64_t{p.at[0]} * step + size <= row;
  if (!inside && form.border == Border::kTrap) {
    return report_place(w, op, lane, image, p, size, check::Kind::kOutOfBounds,
                        " is outside of the surface of " + extents(image));
  }
  if (!inside && form.border == Border::kClamp) {
    p.at[0] = clamped(p.at[0], (row - std::min<std::uint64_t>(row, size)) / size * size / step);
    for (int d = 1; d < image.dimensions; ++d) p.at[d] = clamped(p.at[d], ends[d] - 1);
    p.layer = std::min(p.layer, image.depth - 1);
    inside = true;
  }
  if (!inside) return true;
  t.address[lane] = image.base + (image.layered ? p.layer : p.at[2]) * image.slice +
                    p.at[1] * image.pitch + std::uint64_t{p.at[0]} * step;
  t.inside |= 1u << lane;
  return true;
}

// Finds the places of lanes that name one surface. False: a finding ends the launch.
bool find_places(Warp& w, const Op& op, LaneMask lanes, Targets& t) {
  const int first = std::countr_zero(lanes);
  const std::uint64_t handle = source<std::uint64_t>(w, op.src[0])[first];
  const memory::Images* images = w.block->launch->config->images;
  t.image = images == nullptr ? nullptr : images->surface(handle);
  if (t.image == nullptr) return report_no_object(w, first, "surface", handle);
  if (!check_image(w, op, first, "surface", *t.image)) return false;
  if (!t.image->for_surfaces) {
    check::Finding f = finding_at(w, w.pc - 1, lanes, check::Kind::kInvalidInstruction);
    f.where = "the array of the surface object was made without cudaArraySurfaceLoadStore";
    report(w, std::move(f));
    return false;
  }
  t.size = ImageForm::of(op).formatted ? static_cast<std::uint32_t>(t.image->format.bytes())
                                       : static_cast<std::uint32_t>(op.width) * op.elements;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    if (!find_place(w, op, std::countr_zero(rest), t)) return false;
  }
  if (t.inside != 0)
    each(~t.inside, [&](int i) { t.address[i] = t.address[std::countr_zero(t.inside)]; });
  return true;
}

// Resolves all places and calls `f` for the lanes of each surface that are inside it. Usually there
// is one surface. Returns false if a finding ends the launch.
template <class F>
bool each_surface(Warp& w, const Op& op, LaneMask mask, F f) {
  const auto* handles = source<std::uint64_t>(w, op.src[0]);
  for (LaneMask rest = mask; rest != 0;) {
    LaneMask lanes = 0;
    each(rest,
         [&](int i) { lanes |= LaneMask{handles[i] == handles[std::countr_zero(rest)]} << i; });
    rest &= ~lanes;
    Targets t;
    if (!find_places(w, op, lanes, t)) return false;
    Request r;
    std::copy_n(t.address, kWarpSize, r.address);
    f(r, t, lanes);
    if (w.event == Event::kAbort) return false;
  }
  return true;
}

}  // namespace

void run_surface_load(Warp& w, const Op& op, LaneMask mask) {
  each_surface(w, op, mask, [&](Request& r, const Targets& t, LaneMask lanes) {
    const Slot* slots = &w.block->program->slots[op.as<ListedFields>().first()];
    for (int e = 0; e < op.elements; ++e) {
      if (slots[e] == kNoSlot) continue;
      each(lanes & ~t.inside, [&](int i) {
        std::memset(destination<std::byte>(w, slots[e]) + i * op.register_bytes, 0,
                    op.register_bytes);
      });
    }
    if (t.inside != 0) load_from(w, op, r, t.inside);
  });
}

void run_surface_store(Warp& w, const Op& op, LaneMask mask) {
  each_surface(w, op, mask, [&](Request& r, const Targets& t, LaneMask) {
    if (t.inside != 0) store_to(w, op, r, t.inside);
  });
}

void run_surface_store_formatted(Warp& w, const Op& op, LaneMask mask) {
  // Each lane's element in the surface's format.
  struct Elements : Request {
    std::byte bytes[kWarpSize][16];
  };
  each_surface(w, op, mask, [&](Request& places, const Targets& t, LaneMask) {
    if (t.inside == 0) return;
    Elements r;
    static_cast<Request&>(r) = places;
    r.op = &op;
    r.pc = w.pc - 1;
    r.size = t.size;
    r.writes = true;
    const Slot* slots = &w.block->program->slots[op.as<ListedFields>().first()];
    Frame& frame = w.control->frames[static_cast<std::size_t>(w.control->frame)];
    each(t.inside, [&](int i) {
      memory::Texel texel{};
      for (int e = 0; e < op.elements; ++e)
        texel[static_cast<std::size_t>(e)] = source<std::uint32_t>(w, slots[e])[i];
      memory::write_element(r.bytes[i], t.image->format, texel);
    });
    for (int e = 0; e < op.elements && e < t.image->format.channels; ++e) {
      const Validity::Word* word = validity_word(frame, slots[e]);
      if (word == nullptr || (word->invalid & t.inside) == 0) continue;
      r.invalid |= word->invalid & t.inside;
      r.invalid_word = word;
    }
    each(r.invalid, [&](int i) { r.missing[i] = (1u << r.size) - 1; });
    if (w.block->launch->check_races) {
      r.store = [](Warp&, const Request& q, LaneMask some) {
        each(some, [&](int i) {
          store_element(q.host[i], static_cast<const Elements&>(q).bytes[i], q.size);
        });
      };
      r.same = [](Warp&, const Request& q, int lane) {
        std::byte there[16];
        load_element(there, q.host[lane], q.size);
        return std::memcmp(there, static_cast<const Elements&>(q).bytes[lane], q.size) == 0;
      };
    }
    if (!resolve(w, r, isa::Space::kGlobal, t.inside)) return;
    if (r.invalid != 0) note_unwritten_store(w, r);
    each(t.inside & ~r.stored, [&](int i) { store_element(r.host[i], r.bytes[i], r.size); });
  });
}

void run_surface_reduce(Warp& w, const Op& op, LaneMask mask) {
  each_surface(w, op, mask, [&](Request& r, const Targets& t, LaneMask) {
    if (t.inside == 0) return;
    // The surface's format says whether the numbers have a sign.
    Op as_formatted = op;
    if (ImageForm::of(op).formatted && t.image->format.kind == memory::ChannelKind::kSigned)
      as_formatted.as<MemoryFields>().add(kSignExtend);
    run_atomic_at(w, as_formatted, r, t.inside);
  });
}

}  // namespace lockstep::engine
