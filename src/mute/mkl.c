/* Intel's MKL, with which PyTorch multiplies matrices, asks two functions of its own whether a CPU
   is Intel's before it looks at what the CPU can do. Where AMD's has AVX-512 it is told no, and
   takes kernels for half as wide registers. These two, found first, answer for such a CPU as for
   one of Intel's, and for any other as MKL would; which instructions there are it still asks the
   CPU itself. */

static int suits(void) {
    __builtin_cpu_init();
    int wide = __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f");
    return __builtin_cpu_is("intel") || wide;
}

int mkl_serv_intel_cpu(void) { return suits(); }

int mkl_serv_intel_cpu_true(void) { return suits(); }
