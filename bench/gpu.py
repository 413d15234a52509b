"""The CUDA driver and run-time compiler through ctypes, and launches as bench/job describes them."""
import ctypes
import glob
import os
import re
import sys

BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1}
FAILURE = 64  # bytes that the record of a failed check takes at most


def library(pattern):
    for root in ("/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/usr/lib/x86_64-linux-gnu", *(os.path.join(p, "nvidia/*/lib") for p in sys.path)):
        found = sorted(glob.glob(os.path.join(root, pattern)))
        if found:
            return ctypes.CDLL(found[-1])
    return ctypes.CDLL(pattern.rstrip("*"))


def compile_one(path, options=(), arch="sm_90a"):
    """CUDA text to a cubin; returns the path, the bytes (None where it fails) and the compiler's log."""
    rtc = library("libnvrtc.so*")
    with open(path, "rb") as f:
        text = f.read()
    prog = ctypes.c_void_p()
    assert rtc.nvrtcCreateProgram(ctypes.byref(prog), text, os.path.basename(path).encode(), 0, None, None) == 0
    options = [b"--gpu-architecture=" + arch.encode(), b"--std=c++17", *options]
    rc = rtc.nvrtcCompileProgram(prog, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    rtc.nvrtcGetProgramLogSize(prog, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    rtc.nvrtcGetProgramLog(prog, log)
    if rc:
        return path, None, log.value.decode(errors="replace")
    rtc.nvrtcGetCUBINSize(prog, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    rtc.nvrtcGetCUBIN(prog, image)
    return path, image.raw, log.value.decode(errors="replace")


def resources(log):
    """What the log of a compilation with --ptxas-options=-v says of each entry."""
    out, name = {}, None
    for line in log.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)'", line):
            name = m[1]
        elif m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            out.setdefault(name, {}).update(stack=int(m[1]), spill_stores=int(m[2]), spill_loads=int(m[3]))
        elif m := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            out.setdefault(name, {}).update(registers=int(m[1]), static_shared=int(shared[1]) if shared else 0)
    return out


class Driver:
    """The first GPU, through its primary context."""

    def __init__(self):
        self.lib = library("libcuda.so.1")
        self.call("cuInit", 0)
        dev, ctx = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(dev), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(ctx), dev)
        self.call("cuCtxSetCurrent", ctx)

    def call(self, name, *args):
        rc = getattr(self.lib, name)(*args)
        if rc:
            raise RuntimeError(f"{name}: error {rc}")

    def alloc(self, size):
        p = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(max(size, 16)))
        return p

    def module(self, image):
        m = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(m), image)
        return m

    def prepare(self, module, launches, pointers, failure):
        """The launches of a job, ready to go: a list of functions of a stream."""
        return [self.ready(module, l, pointers, failure) for l in launches if l["grid"]]

    def ready(self, module, l, pointers, failure):
        f = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(f), module, l["entry"].encode())
        if l["shared"]:
            self.call("cuFuncSetAttribute", f, 8, l["shared"])  # the most dynamic shared memory
        args = []
        for a in l["args"]:
            if isinstance(a, list):
                args.append((ctypes.c_ubyte * 8)(*a[1].to_bytes(8, "little")))
            else:
                args.append(failure if "failure" in a else pointers[a["array"]])
        table = (ctypes.c_void_p * max(len(args), 1))(*(ctypes.addressof(a) for a in args))
        launch, grid, threads, shared = self.lib.cuLaunchKernel, l["grid"], l["threads"], l["shared"]

        def go(stream, held=args):
            rc = launch(f, grid, 1, 1, threads, 1, 1, shared, stream, table, None)
            if rc:
                raise RuntimeError(f"launch of {l['entry']}: error {rc}")
        return go
