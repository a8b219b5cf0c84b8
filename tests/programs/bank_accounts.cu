// Transfers between accounts. Each account has a one-word lock, acquired by compare-and-swap and
// released by atomicExch.
#include "program.h"

namespace bank_accounts {

__device__ void book(int account, int amount, int* locks, long long* balance, int mistake) {
  bool done = false;
  // The lock is released within the loop body: otherwise threads of one warp could
  // deadlock.
  while (!done) {
    if (atomicCAS(&locks[account], 0, 1) == 0) {
      if (mistake != 2) __threadfence();
      balance[account] += amount;
      __threadfence();
      if (mistake != 1 || amount > 0) atomicExch(&locks[account], 0);
      done = true;
    }
  }
}

__global__ void transfer(const uchar4* orders, int n, int* locks, long long* balance, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  book(orders[i].x, -orders[i].z, locks, balance, mistake);
  book(orders[i].y, orders[i].z, locks, balance, mistake);
}

PROGRAM(bank_accounts, 2) {
  const int n = 105, accounts = 9;
  std::vector<uchar4> orders(n);
  std::vector<long long> start(accounts, 1000), expected = start;
  Random random(94);
  for (uchar4& o : orders) {
    o = make_uchar4(random.below(accounts), random.below(accounts), random.below(100), 0);
    expected[o.x] -= o.z, expected[o.y] += o.z;
  }
  Buffer<uchar4> d_orders(orders);
  Buffer<int> locks(accounts);
  Buffer<long long> balance(start);
  locks.zero();
  transfer<<<3, 35>>>(d_orders, n, locks, balance, mistake);
  const std::vector<long long> got = balance.host();
  long long sum = 0;
  for (const long long b : got) sum += b;
  return verdict(got == expected && sum == 1000 * accounts, "%lld in all, %lld in the first", sum,
                 got[0]);
}

}  // namespace bank_accounts
