"""Compiles CUDA files with NVRTC, for every architecture given: nvrtc.py LIBRARY ARCH,ARCH FILE... Prints what the compiler says,
and ends with 1 if it said anything, with 3 if the library is not there."""
import ctypes
import glob
import os
import sys


def compile_one(nvrtc, arch, path):
    with open(path, "rb") as f:
        source = f.read()
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, path.encode(), 0, None, None)
    options = [b"--gpu-architecture=" + arch.encode(), b"--std=c++17", b"-default-device", b"--ptxas-options=--warn-on-spills"]
    rc = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    text = log.value.decode(errors="replace").strip()
    if rc != 0 or text:
        print(f"{path} for {arch}: rc {rc}\n{text}")
        return 1
    return 0


def main():
    try:
        for part in glob.glob(os.path.join(os.path.dirname(sys.argv[1]), "libnvrtc-builtins.so*")):
            ctypes.CDLL(part, ctypes.RTLD_GLOBAL)
        nvrtc = ctypes.CDLL(sys.argv[1])
    except OSError as e:
        print(e)
        return 3
    bad = 0
    for path in sys.argv[3:]:
        for arch in sys.argv[2].split(","):
            bad |= compile_one(nvrtc, arch, path)
    return bad


sys.exit(main())
