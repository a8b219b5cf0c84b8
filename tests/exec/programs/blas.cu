// Calls of cuBLAS; the results are compared with those of plain loops.
#include "blas.h"

#include <string>

#include "blas_fp8.h"

static cublasHandle_t handle;

static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const float* x, const float* a, int lda, const float* b, int ldb,
                           const float* y, float* c, int ldc) {
  return cublasSgemm(handle, p, q, m, n, k, x, a, lda, b, ldb, y, c, ldc);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const double* x, const double* a, int lda, const double* b, int ldb,
                           const double* y, double* c, int ldc) {
  return (m + n) % 2 == 0 ? cublasDgemm(handle, p, q, m, n, k, x, a, lda, b, ldb, y, c, ldc)
                          : cublasDgemm_64(handle, p, q, m, n, k, x, a, lda, b, ldb, y, c, ldc);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const cuComplex* x, const cuComplex* a, int lda, const cuComplex* b,
                           int ldb, const cuComplex* y, cuComplex* c, int ldc) {
  return cublasCgemm(handle, p, q, m, n, k, x, a, lda, b, ldb, y, c, ldc);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const cuDoubleComplex* x, const cuDoubleComplex* a, int lda,
                           const cuDoubleComplex* b, int ldb, const cuDoubleComplex* y,
                           cuDoubleComplex* c, int ldc) {
  return cublasZgemm(handle, p, q, m, n, k, x, a, lda, b, ldb, y, c, ldc);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const __half* x, const __half* a, int lda, const __half* b, int ldb,
                           const __half* y, __half* c, int ldc) {
  return cublasHgemm(handle, p, q, m, n, k, x, a, lda, b, ldb, y, c, ldc);
}

template <class A, class C>
static void expect_product(const Matrix<A>& a, const Matrix<A>& b, const Matrix<C>& c,
                           cublasOperation_t p, cublasOperation_t q, int k, Z alpha, Z beta,
                           double unit_of_sums) {
  c.expect(
      k + 4,
      [&](int i, int j, double* size) {
        Z sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += a.at(p, i, l) * b.at(q, l, j);
          *size += std::abs(alpha) * std::abs(a.at(p, i, l)) * std::abs(b.at(q, l, j));
        }
        *size = 3 * (*size + std::abs(beta * c.at(i, j)));
        return alpha * sum + beta * c.at(i, j);
      },
      unit_of_sums);
}

constexpr cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

template <class T>
static void check_gemm(int m, int n, int k, Z alpha, Z beta) {
  T x, y;
  set(x, alpha);
  set(y, beta);
  for (const cublasOperation_t p : kOperations) {
    for (const cublasOperation_t q : kOperations) {
      const bool flips_a = p != CUBLAS_OP_N, flips_b = q != CUBLAS_OP_N;
      const Matrix<T> a(flips_a ? k : m, flips_a ? m : k), b(flips_b ? n : k, flips_b ? k : n, 1);
      Matrix<T> c(m, n, 2);
      BLAS(gemm(p, q, m, n, k, &x, a.device, a.ld, b.device, b.ld, &y, c.device, c.ld));
      expect_product(a, b, c, p, q, k, wide(x), wide(y), unit<T>());
    }
  }
}

// f16 and similar types are summed in float, integers in int.
template <class A, class C, class Factor>
static void check_ex(cudaDataType of_a, cudaDataType of_c, cublasComputeType_t compute) {
  const int m = 12, n = 8, k = 20;
  const Matrix<A> a(m, k, 4), b(n, k, 4);
  Matrix<C> c(m, n);
  const Factor alpha = static_cast<Factor>(2.125), beta = 1;  // most results are rounded
  BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a.device, of_a, a.ld,
                    b.device, of_a, b.ld, &beta, c.device, of_c, c.ld, compute,
                    CUBLAS_GEMM_DEFAULT));
  expect_product(a, b, c, CUBLAS_OP_N, CUBLAS_OP_T, k, wide(alpha), 1, std::ldexp(1, -24));
}

static void check_batches() {
  const int m = 5, n = 4, k = 6, count = 3;
  // Strided batches, with one B for all.
  const Matrix<float> a(m, k * count), b(k, n);
  Matrix<float> c(m, n * count);
  const float alpha = 0.5f, beta = 0;
  BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.device, a.ld,
                                 a.ld * k, b.device, b.ld, 0, &beta, c.device, c.ld, c.ld * n,
                                 count));
  const auto of = [&](int i, int j, double* size) {
    Z sum = 0;
    for (int l = 0; l < k; ++l) {
      sum += a.at(i, j / n * k + l) * b.at(l, j % n);
      *size += std::abs(a.at(i, j / n * k + l) * b.at(l, j % n));
    }
    return sum * 0.5;
  };
  c.expect(k + 2, of);
  // Batches by arrays of pointers in device memory.
  Matrix<float> d(m, n * count);
  const float* as[count];
  const float* bs[count];
  float* ds[count];
  for (int i = 0; i < count; ++i) {
    as[i] = a.device + i * a.ld * k;
    bs[i] = b.device;
    ds[i] = d.device + i * d.ld * n;
  }
  void* pointers = nullptr;
  CUDA(cudaMalloc(&pointers, 3 * sizeof as));
  auto** const on_device = static_cast<float**>(pointers);
  CUDA(cudaMemcpy(on_device, as, sizeof as, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(on_device + count, bs, sizeof bs, cudaMemcpyHostToDevice));
  CUDA(cudaMemcpy(on_device + 2 * count, ds, sizeof ds, cudaMemcpyHostToDevice));
  BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, on_device, a.ld,
                          on_device + count, b.ld, &beta, on_device + 2 * count, d.ld, count));
  d.expect(k + 2, of);
  CUDA(cudaFree(pointers));
}

// Vectors as matrices of one row: the gaps between columns are the increments.
static void check_vectors() {
  const int n = 100;
  const Matrix<float> x(1, n, 2);
  Matrix<float> y(1, n, 1);
  const float alpha = 0.75f;
  BLAS(cublasSaxpy(handle, n, &alpha, x.device, x.ld, y.device, y.ld));
  const auto of_axpy = [&](int, int j, double* size) {
    *size = 4;
    return 0.75 * x.at(0, j) + y.at(0, j);
  };
  y.expect(2, of_axpy);
  // A negative increment: the last element is first in memory.
  Matrix<float> z(1, n, 1);
  BLAS(cublasScopy(handle, n, x.device, x.ld, z.device, -z.ld));
  z.expect(0, [&](int, int j, double*) { return x.at(0, n - 1 - j); });
  Matrix<float> again(1, n, 1);
  BLAS(cublasScopy(handle, n, z.device, -z.ld, again.device, again.ld));
  again.expect(0, [&](int, int j, double*) { return x.at(0, j); });
  BLAS(cublasSscal(handle, n, &alpha, z.device, z.ld));
  z.expect(0, [&](int, int j, double*) { return 0.75 * x.at(0, n - 1 - j); });

  float dot = 0, norm = 0, sum = 0;
  int largest = 0;
  BLAS(cublasSdot(handle, n, x.device, x.ld, x.device, x.ld, &dot));
  BLAS(cublasSnrm2(handle, n, x.device, x.ld, &norm));
  BLAS(cublasSasum(handle, n, x.device, x.ld, &sum));
  BLAS(cublasIsamax(handle, n, x.device, x.ld, &largest));
  double squares = 0, magnitudes = 0;
  int expected = 0;
  for (int j = 0; j < n; ++j) {
    const double v = std::abs(x.at(0, j));
    squares += v * v;
    magnitudes += v;
    if (v > std::abs(x.at(0, expected))) expected = j;
  }
  EXPECT(std::abs(dot - squares) <= n * unit<float>() * squares);
  EXPECT(std::abs(norm - std::sqrt(squares)) <= unit<float>() * 4 * norm);
  EXPECT(std::abs(sum - magnitudes) <= n * unit<float>() * magnitudes);
  EXPECT(largest == expected + 1);

  const Matrix<cuDoubleComplex> u(1, 9), v(1, 9);
  cuDoubleComplex product;
  BLAS(cublasZdotc(handle, 9, u.device, u.ld, v.device, v.ld, &product));
  Z of_z = 0;
  for (int j = 0; j < 9; ++j) of_z += std::conj(u.at(0, j)) * v.at(0, j);
  EXPECT(std::abs(wide(product) - of_z) <= 1e-14 * 100);
}

// alpha, beta and results in device memory: accessed when the stream executes the call.
static void check_pointers_on_the_device() {
  const int n = 50;
  const Matrix<float> x(1, n, 0);
  Matrix<float> y(1, n, 0);
  float* scalars = nullptr;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&scalars), 2 * sizeof(float)));
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  BLAS(cublasSasum(handle, n, x.device, 1, scalars));
  BLAS(cublasSaxpy(handle, n, scalars, x.device, 1, y.device, 1));
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  double sum = 0;
  for (int j = 0; j < n; ++j) sum += std::abs(x.at(0, j));
  y.expect(n, [&](int, int j, double* size) {
    *size = 4 * sum;
    return sum * x.at(0, j) + y.at(0, j);
  });
  CUDA(cudaFree(scalars));
}

static void check_matrix_and_vector() {
  const int m = 7, n = 5;
  const float alpha = 1.5f, beta = 0.5f;
  for (const cublasOperation_t op : kOperations) {
    const Matrix<float> a(m, n);
    const int from = op == CUBLAS_OP_N ? n : m, to = op == CUBLAS_OP_N ? m : n;
    const Matrix<float> x(1, from, 1);
    Matrix<float> y(1, to, 2);
    BLAS(cublasSgemv(handle, op, m, n, &alpha, a.device, a.ld, x.device, x.ld, &beta, y.device,
                     y.ld));
    y.expect(12, [&](int, int i, double* size) {
      Z sum = 0;
      for (int l = 0; l < from; ++l) {
        sum += a.at(op, i, l) * x.at(0, l);
        *size += 4 * std::abs(a.at(op, i, l));
      }
      return 1.5 * sum + 0.5 * y.at(0, i);
    });
  }
  const Matrix<float> x(1, m, 1), y(1, n, 0);
  Matrix<float> a(m, n);
  BLAS(cublasSger(handle, m, n, &alpha, x.device, x.ld, y.device, y.ld, a.device, a.ld));
  a.expect(4, [&](int i, int j, double* size) {
    *size = 8;
    return a.at(i, j) + 1.5 * x.at(0, i) * y.at(0, j);
  });
}

// Solves op(A) X = 2 B and X op(A) = 2 B; verifies by multiplying.
static void check_triangles() {
  const double two = 2, one = 1;
  for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        for (const cublasDiagType_t diag : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
          const int m = 6, n = 4, order = side == CUBLAS_SIDE_LEFT ? m : n;
          Matrix<double> a(order, order), b(m, n), back(m, n);
          for (int i = 0; i < order; ++i) a.host[i * (a.ld + 1)] = 4;
          a.upload();
          BLAS(cublasDtrsm(handle, side, fill, op, diag, m, n, &two, a.device, a.ld, b.device,
                           b.ld));
          BLAS(cublasDtrmm(handle, side, fill, op, diag, m, n, &one, a.device, a.ld, b.device,
                           b.ld, back.device, back.ld));
          back.expect(1000, [&](int i, int j, double* size) {
            *size = 1000;
            return 2.0 * b.at(i, j);
          });
          // The first unknown of a substitution needs only the diagonal.
          const bool forward = (fill == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N);
          if (side == CUBLAS_SIDE_RIGHT) continue;
          const int first = forward ? 0 : m - 1;
          const double got = b.download()[first];
          EXPECT(got == 2 * b.at(first, 0).real() / (diag == CUBLAS_DIAG_UNIT ? 1 : 4));
        }
      }
    }
  }
}

static void check_other_matrices() {
  const double alpha = 1.5, beta = 0.25;
  const Matrix<double> a(6, 4), b(4, 6), s(6, 6);
  Matrix<double> c(6, 4);
  BLAS(cublasDgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, 6, 4, &alpha, a.device, a.ld, &beta, b.device,
                   b.ld, c.device, c.ld));
  c.expect(2, [&](int i, int j, double* size) {
    *size = 4;
    return 1.5 * a.at(i, j) + 0.25 * b.at(j, i);
  });
  Matrix<double> d(6, 4);
  const Matrix<double> x(1, 6, 0);
  BLAS(cublasDdgmm(handle, CUBLAS_SIDE_LEFT, 6, 4, a.device, a.ld, x.device, 1, d.device, d.ld));
  d.expect(0, [&](int i, int j, double*) { return x.at(0, i) * a.at(i, j); });
  Matrix<double> e(6, 4);
  BLAS(cublasDsymm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, 6, 4, &alpha, s.device, s.ld,
                   a.device, a.ld, &beta, e.device, e.ld));
  e.expect(10, [&](int i, int j, double* size) {
    Z sum = 0;
    for (int l = 0; l < 6; ++l) sum += s.at(std::min(i, l), std::max(i, l)) * a.at(l, j);
    *size = 40;
    return 1.5 * sum + 0.25 * e.at(i, j);
  });
  const Matrix<cuDoubleComplex> h(5, 3);
  Matrix<cuDoubleComplex> f(5, 5);
  BLAS(cublasZherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 5, 3, &alpha, h.device, h.ld, &beta,
                   f.device, f.ld));
  f.expect(10, [&](int i, int j, double* size) {
    if (i < j) return f.at(i, j);  // the other triangle is unchanged
    Z sum = 0;
    for (int l = 0; l < 3; ++l) sum += h.at(i, l) * std::conj(h.at(j, l));
    *size = 40;
    const Z value = 1.5 * sum + 0.25 * f.at(i, j);
    return i == j ? Z(value.real()) : value;
  });
}

static void check_copies() {
  const int rows = 3, columns = 4;
  std::vector<float> from(5 * columns), to(6 * columns, -1.0f);
  for (float& v : from) v = static_cast<float>(next_number());
  float* device = nullptr;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&device), 7 * columns * sizeof(float)));
  BLAS(cublasSetMatrix(rows, columns, sizeof(float), from.data(), 5, device, 7));
  BLAS(cublasGetMatrix(rows, columns, sizeof(float), device, 7, to.data(), 6));
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < 6; ++i) EXPECT(to[j * 6 + i] == (i < rows ? from[j * 5 + i] : -1.0f));
  }
  BLAS(cublasSetVector(4, sizeof(float), from.data(), 2, device, 3));
  BLAS(cublasGetVector(4, sizeof(float), device, 3, to.data(), 1));
  for (int i = 0; i < 4; ++i) EXPECT(to[i] == from[2 * i]);
  CUDA(cudaFree(device));
}

// Captured in a graph: each launch computes with the current inputs.
static void check_graph() {
  Matrix<float> x(1, 8, 0), y(1, 8, 0);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  const float alpha = 1;
  CUDA(cudaStreamCreate(&stream));
  BLAS(cublasSetStream(handle, stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  BLAS(cublasSaxpy(handle, 8, &alpha, x.device, 1, y.device, 1));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  y.expect(4, [&](int, int j, double* size) {
    *size = 8;
    return 3.0 * x.at(0, j) + y.at(0, j);
  });
  BLAS(cublasSetStream(handle, nullptr));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(stream));
}

static void check_lt() {
  const int m = 8, n = 6, k = 10;
  const Matrix<__half> a(k, m), b(k, n), bias(1, m, 0);
  Matrix<__half> d(m, n);
  const float alpha = 1, beta = 0;
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t of_a, of_b, of_d;
  cublasLtMatmulPreference_t preference;
  BLAS(cublasLtCreate(&lt));
  BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  BLAS(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_16F, k, m, a.ld));
  BLAS(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_16F, k, n, b.ld));
  BLAS(cublasLtMatrixLayoutCreate(&of_d, CUDA_R_16F, m, n, d.ld));
  BLAS(cublasLtMatmulPreferenceCreate(&preference));
  const cublasOperation_t flip = CUBLAS_OP_T;
  const void* const pointer = bias.device;
  BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &flip, sizeof flip));
  BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer,
                                      sizeof pointer));
  for (const int epilogue : {CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    BLAS(cublasLtMatmulAlgoGetHeuristic(lt, desc, of_a, of_b, of_d, of_d, preference, 1, &found,
                                        &count));
    EXPECT(count == 1);
    BLAS(cublasLtMatmul(lt, desc, &alpha, a.device, of_a, b.device, of_b, &beta, d.device, of_d,
                        d.device, of_d, &found.algo, nullptr, 0, nullptr));
    d.expect(1, [&](int i, int j, double* size) {
      double sum = bias.at(0, i).real();
      for (int l = 0; l < k; ++l) sum += (a.at(l, i) * b.at(l, j)).real();
      *size = std::abs(sum);
      if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) return Z(std::max(sum, 0.0));
      return Z(sum / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum))));
    });
  }
  // The same memory as row-major matrices: A is m x k, B n x k, D n x m.
  cublasLtMatmulDesc_t plain;
  cublasLtMatrixLayout_t rows_of_a, rows_of_b, rows_of_d;
  const int by_rows = CUBLASLT_ORDER_ROW;
  BLAS(cublasLtMatmulDescCreate(&plain, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  BLAS(cublasLtMatmulDescSetAttribute(plain, CUBLASLT_MATMUL_DESC_TRANSB, &flip, sizeof flip));
  BLAS(cublasLtMatrixLayoutCreate(&rows_of_a, CUDA_R_16F, m, k, a.ld));
  BLAS(cublasLtMatrixLayoutCreate(&rows_of_b, CUDA_R_16F, n, k, b.ld));
  BLAS(cublasLtMatrixLayoutCreate(&rows_of_d, CUDA_R_16F, n, m, d.ld));
  for (const cublasLtMatrixLayout_t one : {rows_of_a, rows_of_b, rows_of_d})
    BLAS(cublasLtMatrixLayoutSetAttribute(one, CUBLASLT_MATRIX_LAYOUT_ORDER, &by_rows, 4));
  BLAS(cublasLtMatmul(lt, plain, &alpha, b.device, rows_of_b, a.device, rows_of_a, &beta, d.device,
                      rows_of_d, d.device, rows_of_d, nullptr, nullptr, 0, nullptr));
  d.expect(1, [&](int i, int j, double* size) {
    Z sum = 0;
    for (int l = 0; l < k; ++l) sum += a.at(l, i) * b.at(l, j);
    *size = std::abs(sum);
    return sum;
  });
  for (const cublasLtMatrixLayout_t one : {of_a, of_b, of_d, rows_of_a, rows_of_b, rows_of_d})
    BLAS(cublasLtMatrixLayoutDestroy(one));
  BLAS(cublasLtMatmulDescDestroy(desc));
  BLAS(cublasLtMatmulDescDestroy(plain));
  BLAS(cublasLtMatmulPreferenceDestroy(preference));
  BLAS(cublasLtDestroy(lt));
}

// The status that cuBLAS documents for invalid arguments. With beta 0, C is not read.
static void check_arguments() {
  const Matrix<float> a(4, 4, 0), b(4, 4, 0);
  const float alpha = 1, beta = 0;
  float* fresh = nullptr;
  int version = 0;
  cudaStream_t stream = reinterpret_cast<cudaStream_t>(1);
  EXPECT(cublasGetVersion(handle, &version) == CUBLAS_STATUS_SUCCESS && version / 10000 == 13);
  EXPECT(cublasGetStream(handle, &stream) == CUBLAS_STATUS_SUCCESS && stream == nullptr);
  CUDA(cudaMalloc(reinterpret_cast<void**>(&fresh), 16 * sizeof(float)));
  BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &alpha, a.device, 4, b.device, 4,
                   &beta, fresh, 4));
  CUDA(cudaDeviceSynchronize());
  // Each failing call is on its own line: calls on one line are one finding.
#define WITH(m, lda, x)                                                                            \
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, 4, 4, x, a.device, lda, b.device, 4, &beta,     \
              fresh, 4)
  EXPECT(WITH(-1, 4, &alpha) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(WITH(4, 3, &alpha) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(WITH(4, 4, nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(WITH(0, 4, &alpha) == CUBLAS_STATUS_SUCCESS);
#undef WITH
  EXPECT(cublasSsbmv(handle, CUBLAS_FILL_MODE_LOWER, 4, 1, &alpha, a.device, 4, b.device, 1, &beta,
                     fresh, 1) == CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &alpha, a.device, CUDA_R_32F, 4,
                      b.device, CUDA_R_16F, 4, &beta, fresh, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  // A result in host memory would need a wait, which a capture forbids.
  cudaGraph_t graph = nullptr;
  float result = 0;
  CUDA(cudaStreamCreate(&stream));
  BLAS(cublasSetStream(handle, stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cublasSdot(handle, 4, a.device, 1, b.device, 1, &result) ==
         CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
  BLAS(cublasSetStream(handle, nullptr));
  CUDA(cudaStreamDestroy(stream));
  cublasHandle_t gone;
  BLAS(cublasCreate(&gone));
  BLAS(cublasDestroy(gone));
  EXPECT(cublasDestroy(gone) == CUBLAS_STATUS_NOT_INITIALIZED);
  CUDA(cudaFree(fresh));
}

static void check_all() {
  check_gemm<float>(5, 7, 9, 1.5, 0.5);
  check_gemm<float>(33, 18, 300, 1, 0);
  check_gemm<double>(6, 5, 9, 1.5, 0.5);
  check_gemm<cuComplex>(5, 7, 9, {1.5, 0.5}, {0.5, -1});
  check_gemm<cuDoubleComplex>(6, 7, 8, {1.5, 0.5}, {0.5, -1});
  check_gemm<__half>(6, 7, 40, 1, 0.5);
  BLAS(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));  // exact for these numbers
  check_gemm<float>(3, 4, 5, 1, 1);
  BLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  check_ex<__half, __half, float>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
  check_ex<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  check_ex<__nv_bfloat16, __nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
  check_ex<__nv_bfloat16, float, float>(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  check_ex<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I);
  check_ex<signed char, float, float>(CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  check_ex<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F);
  check_batches();
  check_vectors();
  check_pointers_on_the_device();
  check_matrix_and_vector();
  check_triangles();
  check_other_matrices();
  check_copies();
  check_graph();
  check_lt();
  check_fp8();
}

// ---- programs with a mistake --------------------------------------------------------------------

__global__ void fill(float* to, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = 1;
}

static void do_wrong(const std::string& what) {
  const int n = 16;
  const size_t bytes = n * n * sizeof(float);
  float *a = nullptr, *b = nullptr, *c = nullptr;
  CUDA(cudaMalloc(reinterpret_cast<void**>(&a), what == "overlap" ? 2 * bytes : bytes));
  CUDA(cudaMalloc(reinterpret_cast<void**>(&b), bytes + 16));
  CUDA(cudaMalloc(reinterpret_cast<void**>(&c), bytes));
  if (what != "unwritten") CUDA(cudaMemset(a, 0, bytes));
  CUDA(cudaMemset(b, 0, bytes + 16));
  CUDA(cudaMemset(c, 0, bytes));
  CUDA(cudaDeviceSynchronize());
  cudaStream_t stream, other;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  BLAS(cublasSetStream(handle, stream));
  const float alpha = 1, beta = what == "unordered-read" ? 1.0f : 0.0f;
  if (what == "unordered" || what == "unordered-read") fill<<<1, 32, 0, other>>>(c, n * n);
  if (what == "unordered-copy") CUDA(cudaMemsetAsync(a, 1, bytes, other));
  if (what == "freed") CUDA(cudaFree(a));
  if (what == "host") a = new float[n * n];
  if (what == "misaligned") b = reinterpret_cast<float*>(reinterpret_cast<char*>(b) + 2);
  if (what == "pinned") {
    CUDA(cudaMallocHost(reinterpret_cast<void**>(&c), bytes));
    std::memset(c, 0, bytes);
  }
  if (what == "workspace") {
    void* workspace = nullptr;
    CUDA(cudaMalloc(&workspace, 1024));
    BLAS(cublasSetWorkspace(handle, workspace, 1024));
    CUDA(cudaFree(workspace));
  }
  if (what == "overlap") c = a + n;  // all but the first column of A, and one beyond
  const int rows = what == "too-long" ? n + 1 : n;
  if (what == "dot") {
    float result = 0;
    BLAS(cublasSdot(handle, n * n + 1, a, 1, b, 1, &result));
  } else if (what == "not-simulated") {
    cublasSsbmv(handle, CUBLAS_FILL_MODE_LOWER, n, 1, &alpha, a, n, b, 1, &beta, c, 1);
  } else if (what == "invalid") {
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, n - 1, b, n, &beta, c, n);
  } else {
    if (what == "graph") CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const cublasOperation_t op = CUBLAS_OP_N;
    BLAS(cublasSgemm(handle, op, op, n, n, n, &alpha, a, rows, b, n, &beta, c, n));  // here
    if (what == "pinned") std::printf("%g\n", c[0]);
    if (what == "graph") {
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      CUDA(cudaStreamEndCapture(stream, &graph));
      CUDA(cudaGraphInstantiate(&exec, graph, 0));
      CUDA(cudaFree(a));
      CUDA(cudaGraphLaunch(exec, stream));
    }
  }
  // The host waits for one stream only.
  if (what != "unordered-after") cudaStreamSynchronize(stream);
  if (what == "unordered-after") fill<<<1, 32, 0, other>>>(b, n * n);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  BLAS(cublasCreate(&handle));
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "arguments") {
    check_arguments();
  } else if (!what.empty()) {
    do_wrong(what);
  } else {
    check_all();
  }
  BLAS(cublasDestroy(handle));
  std::puts("PASSED");
}
