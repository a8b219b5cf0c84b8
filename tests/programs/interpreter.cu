// A stack machine: every thread runs its own byte code, by one large switch, with a stack in local
// memory.
#include "program.h"

namespace interpreter {

enum Code : unsigned char {
  kPush,
  kAdd,
  kSubtract,
  kMultiply,
  kSwap,
  kCopy,
  kDrop,
  kJump,
  kJumpIfZero,
  kInput,
  kDivide,
  kHalt
};

constexpr int kDeep = 16;

__global__ void run(const unsigned char* code, const unsigned short* start, int programs,
                    const int* input, int inputs, int* out, int mistake) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= programs * inputs) return;
  const unsigned char* at = code + start[i % programs];
  int stack[kDeep], top = 0;
  for (int steps = 0; steps < 2000; ++steps) {
    switch (static_cast<Code>(*at++)) {
      case kPush: stack[top++] = static_cast<signed char>(*at++); break;
      case kInput: stack[top++] = input[i / programs]; break;
      case kAdd: --top, stack[top - 1] += stack[top]; break;
      case kSubtract: --top, stack[top - 1] -= stack[top]; break;
      case kMultiply: --top, stack[top - 1] *= stack[top]; break;
      case kDivide:
        --top, stack[top - 1] = stack[top] == 0 ? 0 : stack[top - 1] / stack[top];
        break;
      case kCopy: stack[top] = stack[top - 1 - *at++], ++top; break;
      case kSwap: {
        const int t = stack[top - 1];
        stack[top - 1] = stack[top - 1 - *at], stack[top - 1 - *at] = t, ++at;
        break;
      }
      case kDrop: --top; break;
      case kJump: at += static_cast<signed char>(*at); break;
      case kJumpIfZero:
        at += stack[mistake == 2 ? top - 1 : --top] == 0 ? static_cast<signed char>(*at) : 1;
        break;
      case kHalt: out[i] = stack[mistake == 1 ? top : top - 1]; return;
    }
  }
  out[i] = -1;
}

PROGRAM(interpreter, 2) {
  // Three programs of n: n!, with the product and n on the stack; 3 n^2 - 7 n + n / 4; the nth
  // Fibonacci number, with a, b and n on the stack.
  const std::vector<std::vector<unsigned char>> programs = {
      {kPush,     1,     kInput,  // 1 n
       kCopy,     0,     kJumpIfZero, 13,    kCopy, 0,         kSwap, 2,
       kMultiply, kSwap, 1,           kPush, 1,     kSubtract, kJump, 256 - 15,  // while n
       kDrop,     kHalt},
      {kInput, kCopy, 0, kMultiply, kPush, 3, kMultiply, kInput, kPush, 7, kMultiply, kSubtract,
       kInput, kPush, 4, kDivide, kAdd, kHalt},
      {kPush, 0,     kPush,       1,     kInput,  // 0 1 n
       kCopy, 0,     kJumpIfZero, 15,    kPush,  1,     kSubtract, kSwap, 2,
       kCopy, 1,     kAdd,        kSwap, 1,      kSwap, 2,         kJump, 256 - 17,  // while n
       kDrop, kDrop, kHalt},
  };
  std::vector<unsigned char> code;
  std::vector<unsigned short> start;
  for (const auto& p : programs)
    start.push_back(static_cast<unsigned short>(code.size())),
        code.insert(code.end(), p.begin(), p.end());
  const int inputs = 13, n = inputs * 3;
  std::vector<int> input(inputs);
  for (int i = 0; i < inputs; ++i) input[i] = i;
  Buffer<unsigned char> d_code(code);
  Buffer<unsigned short> d_start(start);
  Buffer<int> d_input(input), out(n);
  run<<<divide_up(n, 32), 32>>>(d_code, d_start, 3, d_input, inputs, out, mistake);
  const std::vector<int> got = out.host();
  int wrong = 0;
  for (int i = 0, factorial = 1, a = 0, b = 1; i < inputs; ++i) {
    if (i) factorial *= i;
    wrong += (got[3 * i] != factorial) + (got[3 * i + 1] != 3 * i * i - 7 * i + i / 4) +
             (got[3 * i + 2] != a);
    b += a, a = b - a;
  }
  return verdict(wrong == 0, "%d of %d wrong, the last %d %d %d", wrong, n, got[n - 3], got[n - 2],
                 got[n - 1]);
}

}  // namespace interpreter
