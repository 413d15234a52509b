#!/usr/bin/env python3
"""peers.py DIR [--out FILE]: checks and times what `go run ./bench/peers -o DIR` wrote, beside PyTorch, on the first NVIDIA GPU.

Inputs are random. Each kernel is checked against its peer's expression in float64; its results are poisoned first and stand
between guards. Kernel and peer are timed in turn, in random order, two ways: sustained (the median of calls with the L2 cache
cleared before each, as triton's do_bench does it) and cool (calls back to back after a pause, before the card is at its power
limit). FILE receives the rows as JSON.
"""
import argparse
import ctypes
import functools
import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
import time

from gpu import FAILURE, Driver, compile_one, resources

GUARD = 4096  # elements on each side of a result
LIMIT = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-5, "float64": 1e-12}  # relative error, in the norm


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("dir")
    ap.add_argument("--out", help="a file for the rows")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--milliseconds", type=int, default=100, help="for which a call is repeated")
    ap.add_argument("--check", action="store_true", help="do not time")
    ap.add_argument("--processes", type=int, default=os.cpu_count(), help="that compile")
    ap.add_argument("--largest", type=float, default=math.inf, help="skip what does more operations")
    return ap.parse_args()


class Task:
    """A kernel with its arrays on the GPU."""

    def __init__(self, torch, gpu, module, spec):
        self.torch, self.gpu, self.spec = torch, gpu, spec
        types = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "i8": "int8", "u8": "uint8", "bool": "bool"}
        self.names = {"torch": torch, "F": torch.nn.functional, **spec["sizes"], **spec["scalars"]}
        self.results, self.zeroed, pointers = {}, [], []
        for a in spec["arrays"]:
            dtype = getattr(torch, types[a["type"]])
            if a["role"] == "param":
                t = torch.randn(a["shape"], device="cuda").to(dtype)
                self.names[a["name"]] = t
            else:
                whole = torch.zeros(a["len"] + 2 * GUARD, device="cuda", dtype=dtype)
                t = whole[GUARD:GUARD + a["len"]].view(a["shape"])
                if a["role"] == "result":
                    self.results[a["name"]] = whole, t
                elif a["zero"] == "each":
                    self.zeroed.append(t)
                elif not a["zero"]:
                    self.poison(t)
            pointers.append(ctypes.c_uint64(t.data_ptr()))
        self.record = torch.zeros(FAILURE, device="cuda", dtype=torch.uint8)
        self.held = pointers, ctypes.c_uint64(self.record.data_ptr())
        self.launches = gpu.prepare(module, spec["launches"], *self.held)
        self.expression = compile(spec["peer"], spec["kernel"], "eval")
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def poison(self, t):
        t.fill_(float("nan") if t.is_floating_point() else 1 if t.dtype == self.torch.bool else -1)

    def ours(self):
        for t in self.zeroed:
            t.zero_()
        for go in self.launches:
            go(self.stream)

    def peer(self):
        return eval(self.expression, self.names)  # the expression is the table's

    def reference(self):
        wide = {n: v.double() if isinstance(v, self.torch.Tensor) and v.is_floating_point() else v for n, v in self.names.items()}
        return eval(self.expression, wide)

    def check(self):
        """The relative error of ours and of the peer, and what is wrong."""
        for whole, t in self.results.values():
            whole.fill_(7)
            self.poison(t)
        self.ours()
        self.torch.cuda.synchronize()
        if self.record.any():
            return math.nan, math.nan, "a check failed"
        (whole, got), = self.results.values()
        try:
            want = self.reference()
        except self.torch.OutOfMemoryError:
            self.torch.cuda.empty_cache()
            want = self.peer().double()
        error, peers, limit = self.distance(got, want), self.distance(self.peer(), want), LIMIT[str(got.dtype)[6:]]
        if (whole[:GUARD] != 7).any() or (whole[-GUARD:] != 7).any():
            return error, peers, "it writes outside its result"
        return error, peers, "" if error <= limit else f"relative error {error:.1e}, more than {limit:.0e}"  # NaN is wrong, too

    @staticmethod
    def distance(got, want):
        return ((got.double() - want).norm() / want.norm()).item()


def burst(torch, call, n):
    """Milliseconds of a call in a row of n, after a pause."""
    torch.cuda.synchronize()
    time.sleep(0.25)
    for _ in range(3):
        call()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(n):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / n


def timed(torch, calls, rounds, milliseconds):
    """{name: (sustained times, cool times)} of calls."""
    from triton.testing import do_bench
    out = {name: ([], []) for name in calls}
    for _ in range(rounds):
        for name, call in random.sample(list(calls.items()), len(calls)):
            sustained, cool = out[name]
            sustained.append(do_bench(call, warmup=20, rep=milliseconds, return_mode="median"))
            cool.append(burst(torch, call, max(3, min(1000, int(15 / sustained[-1])))))
    return out


def middle(times):
    return sorted(times)[len(times) // 2]


def run(torch, gpu, module, spec, a):
    """The row of a task."""
    sizes = dict(spec["sizes"])
    work = {k: eval(spec[k], {}, sizes) for k in ("flops", "bytes") if spec[k]}
    row = {"kernel": spec["kernel"], "sizes": sizes, "general": spec["general"], "schedule": spec.get("schedule", ""), "peer": spec["peer"], **work}
    if work.get("flops", 0) > a.largest:
        return {**row, "wrong": "skipped: too large"}
    task = Task(torch, gpu, module, spec)
    error, peers, wrong = task.check()
    row.update(error=error, peer_error=peers, wrong=wrong)
    if a.check or wrong:
        return row
    for name, (sustained, cool) in timed(torch, {"": task.ours, "peer_": task.peer}, a.rounds, a.milliseconds).items():
        row.update({name + "ms": middle(sustained), name + "ms_all": sustained, name + "cool_ms": middle(cool), name + "cool_ms_all": cool})
    row["ratio"], row["cool_ratio"] = row["peer_ms"] / row["ms"], row["peer_cool_ms"] / row["cool_ms"]
    return row


def line(row):
    name = f"{row['kernel']} {','.join(f'{k}={v}' for k, v in row['sizes'].items())} {row['schedule']}"
    if "ms" not in row:
        return f"{name}: {row['wrong'] or 'right'} (error {row.get('error', math.nan):.1e})"
    unit, work = ("TFLOP/s", row["flops"] / 1e9) if "flops" in row else ("GB/s", row["bytes"] / 1e6)
    rates = "  ".join(f"{who} {work / row[p + 'ms']:.1f}|{work / row[p + 'cool_ms']:.1f}" for who, p in (("gkc", ""), ("torch", "peer_")))
    return f"{name}: {rates} {unit}, ratio {row['ratio']:.2f}|{row['cool_ratio']:.2f}, error {row['error']:.1e} (torch {row['peer_error']:.1e})"


def main():
    a = arguments()
    with open(os.path.join(a.dir, "tasks.json"), encoding="utf-8") as f:
        given = json.load(f)
    sources = [os.path.join(a.dir, t["module"]) for t in given["tasks"]]
    with multiprocessing.Pool(a.processes) as pool:
        compiled = {os.path.basename(p): (image, log) for p, image, log in pool.imap_unordered(functools.partial(compile_one, options=(b"--ptxas-options=-v",)), sources)}
    import torch  # after the processes are started
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")
    gpu, rows = Driver(), []
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0"], capture_output=True, text=True, check=False).stdout.strip()
    out = {"command": "go run ./bench/peers -o DIR; python3 bench/peers.py DIR --out FILE", "commit": given["commit"], "device": torch.cuda.get_device_name(), "driver": driver,
           "torch": torch.__version__, "cuda": torch.version.cuda, "rows": rows}
    for spec in given["tasks"]:
        image, log = compiled[spec["module"]]
        try:
            row = {"kernel": spec["kernel"], "sizes": spec["sizes"], "schedule": spec.get("schedule", ""), "wrong": "does not compile: " + log[:2000]} if image is None else run(torch, gpu, gpu.module(image), spec, a)
        except (RuntimeError, torch.OutOfMemoryError) as e:
            row = {"kernel": spec["kernel"], "sizes": spec["sizes"], "schedule": spec.get("schedule", ""), "wrong": str(e)[:500]}
        row["resources"] = resources(log)
        rows.append(row)
        print(line(row), flush=True)
        if a.out:
            with open(a.out, "w", encoding="utf-8") as f:
                json.dump(out, f, indent=1)
        torch.cuda.empty_cache()
    return 1 if any(r["wrong"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
