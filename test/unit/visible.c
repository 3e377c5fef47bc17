/* Which GPUs schedulers leave to a process: a made-up node with three of NVIDIA, one of them closed to us, and two of
 * AMD. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/visible.h"
#include "tree.h"

static char root[] = "/tmp/glslines_visible_XXXXXX";

#define NVIDIA_0 "0000:17:00.0"
#define NVIDIA_1 "0000:65:00.0"
#define NVIDIA_2 "0000:b3:00.0"
#define AMD_0 "0000:c1:00.0"
#define AMD_1 "0000:e1:00.0"

static void put(const char *name, const char *text)
{
    put_text(root, name, text);
}

static int make_node(void **state)
{
    (void)state;
    unsetenv("CUDA_DEVICE_ORDER");
    if (!mkdtemp(root)) return 1;
    /* minor numbers and addresses have opposite orders, and newer drivers write domains with eight digits */
    put("proc/driver/nvidia/gpus/0000:17:00.0/information",
        "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-aaaa1111\nDevice Minor: \t 2\n");
    put("proc/driver/nvidia/gpus/00000000:65:00.0/information",
        "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-bbbb2222\nDevice Minor: \t 1\n");
    put("proc/driver/nvidia/gpus/0000:b3:00.0/information",
        "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-cccc3333\nDevice Minor: \t 0\n");
    put("dev/nvidia2", "");
    put("dev/nvidia0", "");
    put("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\n");
    put("sys/class/kfd/kfd/topology/nodes/1/properties",
        "simd_count 304\nlocation_id 49408\ndomain 0\nunique_id 4660\ndrm_render_minor 128\n");
    put("sys/class/kfd/kfd/topology/nodes/2/properties",
        "simd_count 304\nlocation_id 57600\ndomain 0\nunique_id 22136\ndrm_render_minor 129\n");
    put("dev/dri/renderD128", "");
    put("dev/dri/renderD129", "");
    return 0;
}

static int remove_node(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void expect(const char *name, const char *value, const char *address, bool visible)
{
    const char *variable = NULL;
    setenv(name, value, 1);
    bool found = gls_visible_address(root, address, &variable);
    if (found != visible) fail_msg("%s=%s and %s", name, value, address);
    if (!visible) assert_string_equal(variable, name);
    unsetenv(name);
}

static void test_nvidia(void **state)
{
    const char *variable;
    (void)state;
    assert_true(gls_visible_address(root, NVIDIA_0, &variable) && gls_visible_address(root, "0000:00:02.0", &variable));
    expect("CUDA_VISIBLE_DEVICES", "0", NVIDIA_0, true);
    expect("CUDA_VISIBLE_DEVICES", "0", NVIDIA_2, false);
    /* the second of the GPUs that can be opened */
    expect("CUDA_VISIBLE_DEVICES", "1", NVIDIA_2, true);
    expect("CUDA_VISIBLE_DEVICES", "1", NVIDIA_1, false);
    expect("CUDA_VISIBLE_DEVICES", "GPU-cccc", NVIDIA_2, true);
    expect("CUDA_VISIBLE_DEVICES", "GPU-cccc", NVIDIA_0, false);
    expect("CUDA_VISIBLE_DEVICES", "7,0", NVIDIA_0, false);
    expect("CUDA_VISIBLE_DEVICES", "", NVIDIA_0, false);
    expect("CUDA_VISIBLE_DEVICES", "-1", NVIDIA_0, false);
    expect("CUDA_VISIBLE_DEVICES", "MIG-1234", NVIDIA_0, true);
    expect("CUDA_VISIBLE_DEVICES", "", AMD_0, true);
}

static void test_amd(void **state)
{
    (void)state;
    expect("ROCR_VISIBLE_DEVICES", "1", AMD_1, true);
    expect("ROCR_VISIBLE_DEVICES", "1", AMD_0, false);
    expect("ROCR_VISIBLE_DEVICES", "GPU-0000000000001234", AMD_0, true);
    expect("ROCR_VISIBLE_DEVICES", "GPU-0000000000001234", AMD_1, false);
    expect("HIP_VISIBLE_DEVICES", "0", AMD_0, true);
    setenv("ROCR_VISIBLE_DEVICES", "1", 1);
    expect("HIP_VISIBLE_DEVICES", "0", AMD_1, true);
    expect("HIP_VISIBLE_DEVICES", "1", AMD_1, false);
    unsetenv("ROCR_VISIBLE_DEVICES");
}

static void test_slurm(void **state)
{
    (void)state;
    expect("SLURM_JOB_GPUS", "0-1", NVIDIA_2, true);
    expect("SLURM_JOB_GPUS", "0-1", NVIDIA_0, false);
    expect("SLURM_JOB_GPUS", "1", AMD_1, true);
    expect("SLURM_JOB_GPUS", "1", AMD_0, false);
    expect("SLURM_JOB_GPUS", "none", AMD_0, true);
    /* a task may have fewer GPUs than the job */
    setenv("SLURM_JOB_GPUS", "0,2", 1);
    expect("SLURM_STEP_GPUS", "2", NVIDIA_2, false);
    unsetenv("SLURM_JOB_GPUS");
}

static void test_models_that_differ(void **state)
{
    (void)state;
    put("proc/driver/nvidia/gpus/0000:b3:00.0/information",
        "Model: \t\t NVIDIA T4\nGPU UUID: \t GPU-cccc3333\nDevice Minor: \t 0\n");
    /* only CUDA knows which is the fastest */
    expect("CUDA_VISIBLE_DEVICES", "0", NVIDIA_2, true);
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    expect("CUDA_VISIBLE_DEVICES", "0", NVIDIA_2, false);
    unsetenv("CUDA_DEVICE_ORDER");
}

int main(void)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                        "SLURM_JOB_GPUS", "SLURM_STEP_GPUS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nvidia), cmocka_unit_test(test_amd),
                                       cmocka_unit_test(test_slurm), cmocka_unit_test(test_models_that_differ)};
    return cmocka_run_group_tests(tests, make_node, remove_node);
}
