/* What bench_matmul is measured against on NVIDIA's hardware: the plain tiled product as introductions to CUDA have it, one element of C an invocation and
 * tiles of 32 x 32 in shared memory. Not built with the rest.
 *
 * Usage: nvcc -O3 -arch=native -o cuda_tile test/bench/cuda_tile.cu && ./cuda_tile [SIZE ...]
 * SIZE as for bench_matmul. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TILE 32
#define ROUNDS 7

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

template <bool EDGES> __global__ void product(const float *a, const float *b, float *c, unsigned m, unsigned n, unsigned depth)
{
    __shared__ float strip_a[TILE][TILE], strip_b[TILE][TILE];
    unsigned row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (unsigned k = 0; k < depth; k += TILE) {
        unsigned across = k + threadIdx.x, down = k + threadIdx.y;
        strip_a[threadIdx.y][threadIdx.x] = !EDGES || (row < m && across < depth) ? a[(size_t)row * depth + across] : 0;
        strip_b[threadIdx.y][threadIdx.x] = !EDGES || (down < depth && column < n) ? b[(size_t)down * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += strip_a[threadIdx.y][i] * strip_b[i][threadIdx.x];
        __syncthreads();
    }
    if (!EDGES || (row < m && column < n)) c[(size_t)row * n + column] = sum;
}

static void run(unsigned m, unsigned n, unsigned depth)
{
    float *a, *b, *c, best = 1e30f, milliseconds, first;
    std::vector<float> ones((size_t)depth * (m > n ? m : n), 1.0f);
    cudaEvent_t begin, end;
    check(cudaMalloc(&a, sizeof(float) * m * depth));
    check(cudaMalloc(&b, sizeof(float) * depth * n));
    check(cudaMalloc(&c, sizeof(float) * m * n));
    check(cudaMemcpy(a, ones.data(), sizeof(float) * m * depth, cudaMemcpyHostToDevice));
    check(cudaMemcpy(b, ones.data(), sizeof(float) * depth * n, cudaMemcpyHostToDevice));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    /* an idle GPU has lowered its clock: half a second of work before the rounds that count */
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < ROUNDS;) {
        bool warm = std::chrono::steady_clock::now() - start > std::chrono::milliseconds(500);
        dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), block(TILE, TILE);
        check(cudaEventRecord(begin));
        if (m % TILE || n % TILE || depth % TILE) product<true><<<grid, block>>>(a, b, c, m, n, depth);
        else product<false><<<grid, block>>>(a, b, c, m, n, depth);
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        if (warm && milliseconds < best) best = milliseconds;
        round += warm;
    }
    check(cudaMemcpy(&first, c, sizeof first, cudaMemcpyDeviceToHost));
    printf("%ux%ux%u  CUDA tiles %10.1f GFLOP/s%s\n", m, n, depth, 2e-6 * m * n * depth / best, first == (float)depth ? "" : "  WRONG");
    check(cudaFree(a));
    check(cudaFree(b));
    check(cudaFree(c));
}

int main(int argc, char **argv)
{
    static const unsigned usual[] = {512, 1024, 2048, 4096, 8192};
    if (argc < 2)
        for (unsigned n : usual) run(n, n, n);
    for (int i = 1; i < argc; i++) {
        unsigned m = 0, n = 0, k = 0;
        if (sscanf(argv[i], "%ux%ux%u", &m, &n, &k) < 3) n = k = m;
        run(m, n, k);
    }
    return 0;
}
