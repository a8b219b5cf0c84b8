// tex, tld4, suld, sust, sured and the queries: what a kernel does with texture and surface objects
// (memory/image.h). program/images.h says how they use an Op. Source: PTX ISA 9.0, sections 9.7.10
// and 9.7.11.
#pragma once

#include "simulator/engine/state/block.h"
#include "simulator/program/images.h"

namespace lockstep::memory {
class Images;
struct Image;
}  // namespace lockstep::memory

namespace lockstep::engine {

using program::ImageForm;
using program::kImageSlots;

void run_texture(Warp& w, const Op& op, LaneMask mask);
void run_surface_load(Warp& w, const Op& op, LaneMask mask);
void run_surface_store(Warp& w, const Op& op, LaneMask mask);
void run_surface_store_formatted(Warp& w, const Op& op, LaneMask mask);
void run_surface_reduce(Warp& w, const Op& op, LaneMask mask);
void run_image_query(Warp& w, const Op& op, LaneMask mask);

// Where a lane looks, as the registers say it.
struct Place {
  std::uint32_t layer = 0;
  std::uint32_t at[3] = {0, 0, 0};  // integers, or the bits of floats
};
Place image_place(const Warp& w, const Op& op, int lane);

// Reports that the object of a lane cannot be used so: of `what` ("texture"), none of the lane's
// handle, one whose array has been freed, or one of another shape than the instruction's (`image`
// of the object). Always false.
bool report_no_object(Warp& w, int lane, const char* what, std::uint64_t handle);
bool check_image(Warp& w, const Op& op, int lane, const char* what, const memory::Image& image);

}  // namespace lockstep::engine
