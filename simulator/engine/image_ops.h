// tex, tld4, suld, sust, sured and the queries: what a kernel does with texture and surface objects (memory/image.h).
//
// The object's handle is in src[0], 64 bits. Program::slots[src[3] ..]: the layer's register, then those of three coordinates; kNoSlot where
// there is none. Program::slots[target ..]: the elements' registers, also where there is one. immediate: an ImageForm.
// Source: PTX ISA 9.0, sections 9.7.10 and 9.7.11.
#pragma once

#include <bit>

#include "simulator/engine/block.h"
#include "simulator/ptx/opcode.h"

namespace lockstep::memory {
class Images;
struct Image;
}

namespace lockstep::engine {

// The modifiers that the handlers look at.
struct ImageForm {
  ptx::Geometry geometry = ptx::Geometry::kNone;
  ptx::Type type = ptx::Type::kNone;            // of an element in registers
  ptx::Border border = ptx::Border::kNone;      // surfaces
  std::uint8_t component = 0;                   // tld4
  bool gathers = false;                         // tld4
  bool float_coordinates = false;               // textures
  bool formatted = false;                       // sust.p, sured.p
  std::uint8_t unused = 0;

  std::int64_t packed() const { return std::bit_cast<std::int64_t>(*this); }
  static ImageForm of(const Op& op) { return std::bit_cast<ImageForm>(op.immediate); }
};
static_assert(sizeof(ImageForm) == 8);

inline constexpr int kImageSlots = 4;  // layer, x, y, z

// src[1]: the level, or kNoSlot. dst2: predicate that says whether the elements are resident, which they always are.
void run_texture(Warp& w, const Op& op, LaneMask mask);
void run_surface_load(Warp& w, const Op& op, LaneMask mask);
void run_surface_store(Warp& w, const Op& op, LaneMask mask);
void run_surface_store_formatted(Warp& w, const Op& op, LaneMask mask);
void run_surface_reduce(Warp& w, const Op& op, LaneMask mask);  // mode: ptx::AtomOp
// immediate: ptx::ImageQuery; mode: 1 of a surface, 0 of a texture.
void run_image_query(Warp& w, const Op& op, LaneMask mask);

// Where a lane looks, as the registers say it.
struct Place {
  std::uint32_t layer = 0;
  std::uint32_t at[3] = {0, 0, 0};  // integers, or the bits of floats
};
Place image_place(const Warp& w, const Op& op, int lane);

// Reports that the object of a lane cannot be used so: of `what` ("texture"), none of the lane's handle, one whose array has been freed, or one of another
// shape than the instruction's (`image` of the object). Always false.
bool report_no_object(Warp& w, int lane, const char* what, std::uint64_t handle);
bool check_image(Warp& w, const Op& op, int lane, const char* what, const memory::Image& image);

}  // namespace lockstep::engine
