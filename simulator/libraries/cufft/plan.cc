#include "simulator/libraries/cufft/plan.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

namespace lockstep::cufft {
namespace {

using Value = Transform::Value;

// The values of one transform of a batch, [n0][n1][n2] without gaps.
struct Grid {
  std::array<std::int64_t, 3> n;
  std::vector<Value> values;

  explicit Grid(const std::array<std::int64_t, 3>& size)
      : n(size), values(static_cast<std::size_t>(n[0] * n[1] * n[2])) {}
  Value& at(std::int64_t i, std::int64_t j, std::int64_t k) {
    return values[static_cast<std::size_t>((i * n[1] + j) * n[2] + k)];
  }
  // Calls visit(value, i, j, k).
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::int64_t i = 0; i < n[0]; ++i)
      for (std::int64_t j = 0; j < n[1]; ++j)
        for (std::int64_t k = 0; k < n[2]; ++k) visit(at(i, j, k), i, j, k);
  }
};

void transform_axis(Grid& grid, int axis, const Transform& by, bool inverse) {
  if (by.size() == 1) return;
  std::vector<Value> line(by.size());
  std::array<std::int64_t, 3> lines = grid.n;
  lines[static_cast<std::size_t>(axis)] = 1;
  std::int64_t step = 1;
  for (int d = 2; d > axis; --d) step *= grid.n[static_cast<std::size_t>(d)];
  for (std::int64_t i = 0; i < lines[0]; ++i) {
    for (std::int64_t j = 0; j < lines[1]; ++j) {
      for (std::int64_t k = 0; k < lines[2]; ++k) {
        Value* const first = &grid.at(i, j, k);
        for (std::size_t x = 0; x < line.size(); ++x)
          line[x] = first[static_cast<std::int64_t>(x) * step];
        inverse ? by.inverse(line.data()) : by.forward(line.data());
        for (std::size_t x = 0; x < line.size(); ++x)
          first[static_cast<std::int64_t>(x) * step] = line[x];
      }
    }
  }
}

template <class T>
T load(const std::byte* at, std::int64_t place) {
  T value;
  std::memcpy(&value, at + place * static_cast<std::int64_t>(sizeof(T)), sizeof value);
  return value;
}
template <class T>
void store(std::byte* at, std::int64_t place, T value) {
  std::memcpy(at + place * static_cast<std::int64_t>(sizeof(T)), &value, sizeof value);
}

template <class Real>
void transform(const Work& work, const Layout& in, const Layout& out, const std::byte* from,
               std::byte* to) {
  using Complex = std::complex<Real>;
  const Shape& shape = work.shape;
  std::vector<Grid> done;  // reads everything before writing, because the transform may be in place
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    Grid grid(in.n);
    grid.for_each([&](Value& value, auto i, auto j, auto k) {
      const std::int64_t place = in.place(b, i, j, k);
      value = shape.kind == Kind::kRealToComplex ? Value(load<Real>(from, place))
                                                 : Value(load<Complex>(from, place));
    });
    if (shape.kind == Kind::kComplexToReal) {
      transform_axis(grid, 0, *work.transforms[0], true);
      transform_axis(grid, 1, *work.transforms[1], true);
      // The other half of each row is the conjugate of this half. The imaginary part of its end
      // values is ignored.
      Grid whole(shape.n);
      const std::int64_t n = shape.n[2];
      whole.for_each([&](Value& value, auto i, auto j, auto k) {
        value = k <= n / 2 ? grid.at(i, j, k) : std::conj(grid.at(i, j, n - k));
        if (k == 0 || 2 * k == n) value = value.real();
      });
      transform_axis(whole, 2, *work.transforms[2], true);
      done.push_back(std::move(whole));
      continue;
    }
    for (const int axis : {2, 1, 0})
      transform_axis(grid, axis, *work.transforms[static_cast<std::size_t>(axis)], work.inverse);
    done.push_back(std::move(grid));
  }
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    Grid& grid = done[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < out.n[0]; ++i) {
      for (std::int64_t j = 0; j < out.n[1]; ++j) {
        for (std::int64_t k = 0; k < out.n[2]; ++k) {
          const Value value = grid.at(i, j, k);
          const std::int64_t place = out.place(b, i, j, k);
          if (shape.kind == Kind::kComplexToReal) {
            store(to, place, static_cast<Real>(value.real()));
          } else {
            store(to, place,
                  Complex(static_cast<Real>(value.real()), static_cast<Real>(value.imag())));
          }
        }
      }
    }
  }
}

}  // namespace

Layout Shape::layout(int side, bool in_place) const {
  const bool is_real = kind == (side == 0 ? Kind::kRealToComplex : Kind::kComplexToReal);
  const bool is_half = kind != Kind::kComplex && !is_real;
  Layout layout;
  layout.n = n;
  if (is_half) layout.n[2] = half();
  layout.batch = batch;
  layout.element = real_bytes() * (is_real ? 1 : 2);
  if (advanced) {
    const Side& given = (*advanced)[static_cast<std::size_t>(side)];
    layout.embed = given.embed;
    layout.stride = given.stride;
    layout.distance = given.distance;
    return layout;
  }
  layout.embed = layout.n;
  if (is_real && in_place) layout.embed[2] = 2 * half();
  layout.distance = layout.embed[0] * layout.embed[1] * layout.embed[2];
  return layout;
}

std::size_t Shape::workspace() const {
  return static_cast<std::size_t>(batch * n[0] * n[1] * n[2]) * real_bytes() * 2;
}

int Work::run(lockstepRunningWork* running) const {
  const bool in_place = from == to;
  const Layout in = shape.input(in_place), out = shape.output(in_place);
  const std::byte* const source =
      open(running, in, "idata", from, in_place ? LOCKSTEP_READS : LOCKSTEP_READS_ALONE);
  if (source == nullptr) return 1;
  if (workspace != nullptr) {
    const lockstepRegion region{
        "the work area", workspace,          workspace_bytes, 1, 1, workspace_bytes,
        workspace_bytes, shape.real_bytes(), LOCKSTEP_SCRATCH};
    if (lockstepOpenRegion(running, &region) == nullptr) return 1;
  }
  std::byte* const target = open(running, out, "odata", to, LOCKSTEP_WRITES);
  if (target == nullptr) return 1;
  shape.is_double ? transform<double>(*this, in, out, source, target)
                  : transform<float>(*this, in, out, source, target);
  return 0;
}

}  // namespace lockstep::cufft
