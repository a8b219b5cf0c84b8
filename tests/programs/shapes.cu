// Objects with virtual functions, created by new and deleted on the device. The results of their
// functions are summed.
#include "program.h"

namespace shapes {

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual long long twice_area() const = 0;
  __device__ virtual bool contains(int x, int y) const = 0;
};

class Box : public Shape {
 public:
  __device__ Box(int w, int h) : w_(w), h_(h) {}
  __device__ long long twice_area() const override { return 2ll * w_ * h_; }
  __device__ bool contains(int x, int y) const override {
    return x >= 0 && y >= 0 && x < w_ && y < h_;
  }

 private:
  int w_, h_;
};

class Triangle : public Shape {
 public:
  __device__ explicit Triangle(int legs) : legs_(legs) {}
  __device__ long long twice_area() const override { return static_cast<long long>(legs_) * legs_; }
  __device__ bool contains(int x, int y) const override {
    return x >= 0 && y >= 0 && x + y < legs_;
  }

 private:
  short legs_;
};

__global__ void make(Shape** all, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 3)
    all[i] = new Box(i % 13, i % 7 + 1);
  else
    all[i] = new Triangle(i % 17);
}

__global__ void ask(Shape* const* all, int n, unsigned long long* area, int* inside, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n + (mistake == 1)) return;
  atomicAdd(area, static_cast<unsigned long long>(all[i]->twice_area()));
  int count = 0;
  for (int y = -1; y < 9; ++y)
    for (int x = -1; x < 9; ++x) count += all[i]->contains(x, y);
  inside[i] = count;
}

__global__ void clear(Shape** all, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete all[i];
}

PROGRAM(shapes, 2) {
  const int n = 100;
  Buffer<Shape*> all(128);
  Buffer<unsigned long long> area(1);
  Buffer<int> inside(n);
  area.zero();
  const int blocks = divide_up(n, 32);
  make<<<blocks, 32>>>(all, n);
  if (mistake == 2) clear<<<blocks, 32>>>(all, n);
  ask<<<blocks, 32>>>(all, n, area, inside, mistake);
  if (mistake != 2) clear<<<blocks, 32>>>(all, n);
  const std::vector<int> got = inside.host();
  unsigned long long expected = 0;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    int count = 0;
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 9; ++x) count += i % 3 ? x < i % 13 && y <= i % 7 : x + y < i % 17;
    expected += i % 3 ? 2 * (i % 13) * (i % 7 + 1) : (i % 17) * (i % 17);
    wrong += got[i] != count;
  }
  const unsigned long long sum = area.host()[0];
  return verdict(wrong == 0 && sum == expected, "%d wrong, twice the area %llu of %llu", wrong, sum,
                 expected);
}

}  // namespace shapes
