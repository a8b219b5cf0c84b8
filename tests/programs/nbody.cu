// Gravity between all bodies in double precision, with tiles of bodies in shared memory and
// leapfrog steps.
#include "program.h"

namespace nbody {

constexpr int kTile = 64;

struct Body {
  double x, y, z, mass;
};

__global__ void accelerate(const Body* bodies, double3* velocity, int n, double dt, int mistake) {
  __shared__ Body tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const Body me = i < n ? bodies[i] : Body{0, 0, 0, 0};
  double3 a = {0, 0, 0};
  for (int first = 0; first < n; first += kTile) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : Body{0, 0, 0, 0};
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kTile; ++k) {
      const double dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      const double inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01);
      const double s = tile[k].mass * inverse * inverse * inverse;
      a.x += s * dx, a.y += s * dy, a.z += s * dz;
    }
    if (mistake != 1) __syncthreads();
  }
  if (i >= n) return;
  velocity[i].x += a.x * dt, velocity[i].y += a.y * dt, velocity[i].z += a.z * dt;
}

__global__ void drift(Body* bodies, const double3* velocity, int n, double dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bodies[i].x += velocity[i].x * dt, bodies[i].y += velocity[i].y * dt,
      bodies[i].z += velocity[i].z * dt;
}

PROGRAM(nbody, 1) {
  const int n = 150, steps = 3;
  const double dt = 1.0 / 64;
  Random random(1);
  std::vector<Body> bodies(n);
  for (Body& b : bodies) b = {random.unit(), random.unit(), random.unit(), 1 + random.unit()};
  std::vector<double3> velocity(n, double3{0, 0, 0});
  Buffer<Body> d_bodies(bodies);
  Buffer<double3> d_velocity(velocity);
  const int blocks = divide_up(n, kTile);
  for (int s = 0; s < steps; ++s) {
    accelerate<<<blocks, kTile>>>(d_bodies, d_velocity, n, dt, mistake);
    drift<<<blocks, kTile>>>(d_bodies, d_velocity, n, dt);
  }

  // The reference computes each pair once: it sums in another order.
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) {
        Body &p = bodies[i], &q = bodies[j];
        const double dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
        const double r = std::sqrt(dx * dx + dy * dy + dz * dz + 0.01), f = dt / (r * r * r);
        velocity[i].x += f * q.mass * dx, velocity[i].y += f * q.mass * dy,
            velocity[i].z += f * q.mass * dz;
        velocity[j].x -= f * p.mass * dx, velocity[j].y -= f * p.mass * dy,
            velocity[j].z -= f * p.mass * dz;
      }
    for (int i = 0; i < n; ++i)
      bodies[i].x += velocity[i].x * dt, bodies[i].y += velocity[i].y * dt,
          bodies[i].z += velocity[i].z * dt;
  }
  // The magnitude of a term is at most mass / softening^2 = 2 / 0.01. A term has some 20 roundings,
  // each a factor of at most 1 + 2^-53. A sum of n terms has n roundings. A step multiplies an
  // error of positions by at most dt^2 * n * 2 * (2 / 0.1^3) < 150: the slope of the softened force
  // is at most mass / 0.1^3 for each body.
  const double step = n * 200.0 * (20 + n) * dt * std::ldexp(1.0, -53), bound = step * 151 * 151;
  const std::vector<Body> got = d_bodies.host();
  const std::vector<double3> v = d_velocity.host();
  double error = 0, px = 0, mass = 0;
  for (int i = 0; i < n; ++i) {
    error = std::max({error, std::abs(got[i].x - bodies[i].x), std::abs(got[i].y - bodies[i].y),
                      std::abs(got[i].z - bodies[i].z)});
    px += got[i].mass * v[i].x, mass += got[i].mass;
  }
  return verdict(error <= bound && std::abs(px) <= bound * mass / dt, "error %g of %g, momentum %g",
                 error, bound, px);
}

}  // namespace nbody
