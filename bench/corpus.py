#!/usr/bin/env python3
"""corpus.py DIR [--out FILE]: runs what `go run ./bench/corpus -o DIR` wrote on the first NVIDIA GPU, through NVRTC and the driver.

Outputs and workspace are poisoned before each run. Prints a line per wrong run and a count; FILE receives the verdicts as JSON.
"""
import argparse
import ctypes
import gzip
import json
import multiprocessing
import os
import sys
import time
import numpy as np

from gpu import BYTES, FAILURE, Driver, compile_one

NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "f8e4m3": "u1", "f8e5m2": "u1", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8", "u32": "u4",
         "u16": "u2", "u8": "u1", "bool": "u1"}


def values(raw, dtype):
    """Stored elements as float64 or int64."""
    a = np.frombuffer(raw, NUMPY[dtype])
    if dtype == "bf16":
        return (a.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "f8e5m2":
        return (a.astype(np.uint16) << 8).view(np.float16).astype(np.float64)
    if dtype == "f8e4m3":
        e, m = (a >> 3 & 15).astype(np.int64), (a & 7).astype(np.float64)
        v = np.where(e == 0, np.ldexp(m, -9), np.ldexp(8 + m, e - 10)) * np.where(a & 128, -1.0, 1.0)
        return np.where((a & 127) == 127, np.nan, v)
    return a.astype(np.float64 if dtype[0] == "f" else np.int64)


def compare(got, want, rtol, atol):
    if got.dtype.kind == "i":
        bad = got != want
    else:
        with np.errstate(all="ignore"):
            bad = ~((got == want) | (np.isnan(got) & np.isnan(want)) | (np.isfinite(want) & (np.abs(got - want) <= atol + rtol * np.abs(want))))
    if not bad.any():
        return ""
    at = int(np.argmax(bad))
    return f"{int(bad.sum())} of {got.size} differ, the first at {at}: {got[at]}, expected {want[at]}"


def run(gpu, module, job, data):
    """Launches a run; returns what is wrong with it, or nothing."""
    pointers = []
    failure = gpu.alloc(FAILURE)
    try:
        gpu.call("cuMemsetD8_v2", failure, 0, ctypes.c_size_t(FAILURE))
        for a in job["arrays"]:
            size = a["len"] * BYTES[a["type"]]
            p = gpu.alloc(size)
            pointers.append(p)
            gpu.call("cuMemsetD8_v2", p, 0 if a["zero"] else 0xFF, ctypes.c_size_t(max(size, 16)))
            if a["input"] >= 0 and size:
                gpu.call("cuMemcpyHtoD_v2", p, data[a["input"]:a["input"] + size], ctypes.c_size_t(size))
        for go in gpu.prepare(module, job["launches"], pointers, failure):
            go(None)
        gpu.call("cuCtxSynchronize")
        record = ctypes.create_string_buffer(FAILURE)
        gpu.call("cuMemcpyDtoH_v2", record, failure, ctypes.c_size_t(FAILURE))
        failed = any(record.raw)
        if job["fails"] or failed:
            return "" if failed and job["fails"] else "a check failed" if failed else "no check failed, one had to"
        bad = []
        for a, p in zip(job["arrays"], pointers):
            if a["expect"] < 0 or not a["len"]:
                continue
            raw = ctypes.create_string_buffer(a["len"] * BYTES[a["type"]])
            gpu.call("cuMemcpyDtoH_v2", raw, p, ctypes.c_size_t(len(raw)))
            want = np.frombuffer(data[a["expect"]:a["expect"] + 8 * a["len"]], "f8" if a["type"][0] == "f" or a["type"] == "bf16" else "i8")
            message = compare(values(raw.raw, a["type"]), want, job["rtol"], job["atol"])
            if message:
                bad.append(f"{a['name']}: {message}")
        return "; ".join(bad)
    finally:
        for p in [*pointers, failure]:
            gpu.call("cuMemFree_v2", p)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("dir")
    ap.add_argument("--out")
    a = ap.parse_args()
    start = time.time()
    with open(os.path.join(a.dir, "jobs.json"), encoding="utf-8") as f:
        jobs = json.load(f)
    with gzip.open(os.path.join(a.dir, "data.bin.gz")) as f:
        data = f.read()
    sources = sorted({os.path.join(a.dir, j["module"]) for j in jobs})
    with multiprocessing.Pool() as pool:
        compiled = {os.path.basename(path): (image, log) for path, image, log in pool.imap_unordered(compile_one, sources)}
    built = time.time()
    warnings = {name: log for name, (image, log) in compiled.items() if log.strip("\0 \n")}
    gpu, modules, verdicts = Driver(), {}, {}
    for j in jobs:
        image, log = compiled[j["module"]]
        if image is None:
            verdicts[j["id"]] = "does not compile: " + log[:300]
            continue
        try:
            if j["module"] not in modules:
                modules[j["module"]] = gpu.module(image)
            verdicts[j["id"]] = run(gpu, modules[j["module"]], j, data)
        except RuntimeError as e:
            verdicts[j["id"]] = str(e)
            if "cuCtxSynchronize" in str(e):        # the context is lost
                break
    wrong = {k: v for k, v in verdicts.items() if v}
    for k, v in wrong.items():
        print(f"{k}: {v}")
    for k, v in warnings.items():
        print(f"{k}: {v[:300]}")
    print(f"{len(jobs)} runs of {len(sources)} kernels, {len(jobs) - len(verdicts)} not run, {len(wrong)} wrong, {len(warnings)} with compiler messages; "
          f"compiled in {built - start:.1f} s, run in {time.time() - built:.1f} s")
    if a.out:
        with open(a.out, "w", encoding="utf-8") as f:
            json.dump({"runs": len(jobs), "kernels": len(sources), "run": len(verdicts), "wrong": wrong, "messages": warnings}, f, indent=1, sort_keys=True)
    return 1 if wrong or len(verdicts) < len(jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
