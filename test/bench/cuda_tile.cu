/* What bench_matmul is measured against on NVIDIA's hardware: the plain tiled product as introductions to CUDA have it, one element of C an invocation and
 * tiles of 32 x 32 in shared memory. Not built with the rest.
 *
 * Usage: nvcc -O3 -arch=native -o cuda_tile test/bench/cuda_tile.cu && ./cuda_tile [SIZE ...] */
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

template <bool EDGES> __global__ void product(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float strip_a[TILE][TILE], strip_b[TILE][TILE];
    unsigned row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (unsigned k = 0; k < n; k += TILE) {
        unsigned across = k + threadIdx.x, down = k + threadIdx.y;
        strip_a[threadIdx.y][threadIdx.x] = !EDGES || (row < n && across < n) ? a[(size_t)row * n + across] : 0;
        strip_b[threadIdx.y][threadIdx.x] = !EDGES || (down < n && column < n) ? b[(size_t)down * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += strip_a[threadIdx.y][i] * strip_b[i][threadIdx.x];
        __syncthreads();
    }
    if (!EDGES || (row < n && column < n)) c[(size_t)row * n + column] = sum;
}

static void run(unsigned n)
{
    size_t bytes = sizeof(float) * n * n;
    float *a, *b, *c, best = 1e30f, milliseconds, first;
    std::vector<float> ones((size_t)n * n, 1.0f);
    cudaEvent_t begin, end;
    check(cudaMalloc(&a, bytes));
    check(cudaMalloc(&b, bytes));
    check(cudaMalloc(&c, bytes));
    check(cudaMemcpy(a, ones.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(b, ones.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int round = 0; round < ROUNDS; round++) {
        check(cudaEventRecord(begin));
        dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
        if (n % TILE) product<true><<<grid, block>>>(a, b, c, n);
        else product<false><<<grid, block>>>(a, b, c, n);
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        if (milliseconds < best) best = milliseconds;
    }
    check(cudaMemcpy(&first, c, sizeof first, cudaMemcpyDeviceToHost));
    printf("%6u  CUDA tiles %10.1f GFLOP/s%s\n", n, 2e-6 * n * n * n / best, first == (float)n ? "" : "  WRONG");
    check(cudaFree(a));
    check(cudaFree(b));
    check(cudaFree(c));
}

int main(int argc, char **argv)
{
    static const unsigned usual[] = {512, 1024, 2048, 4096, 8192};
    if (argc < 2)
        for (unsigned n : usual) run(n);
    for (int i = 1; i < argc; i++) run((unsigned)atoi(argv[i]));
    return 0;
}
