#!/usr/bin/env python3
"""sanitize.py CUDA [--out FILE]: runs parts of the conformance corpus, and kernels written as IR text, under compute-sanitizer.

CUDA is the command of ./bench/cuda, built. Two kernels with a planted mistake come first: a tool that does not find them would
find nothing elsewhere. FILE receives a row for each tool and part.
"""
import argparse
import json
import re
import subprocess
import sys
import time

GOLDEN = "ir/simt/testdata/golden/"
PLANTED = [("memcheck", "bench/cuda/planted/outside.simt:N=1000"), ("racecheck", "bench/cuda/planted/race.simt:N=1000")]
BY_HAND = [GOLDEN + x for x in ("gemm_any.simt:M=65,N=131,K=77", "rowreduce.simt:R=37,N=1000", "rowreduce_rms.simt:R=5,N=4096")]
PARTS = [(["-only", "none/of/them", *BY_HAND], "written by hand"), *((["-only", g + "/"], g) for g in ("gemm", "rows", "attention", "science", "calls"))]
SUMMARY = re.compile(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+) (?:error|hazard)")


def run(cuda, tool, args, limit):
    start = time.time()
    command = ["compute-sanitizer", "--tool", tool, "--target-processes", "application-only", cuda, *args]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False).stdout
    except subprocess.TimeoutExpired:
        return {"found": None, "seconds": limit, "said": "out of time"}
    found = [int(n) for n in SUMMARY.findall(text)]
    said = [line for line in text.splitlines() if not line.startswith("=====")]
    return {"found": found[-1] if found else None, "seconds": round(time.time() - start, 1), "said": said[-1] if said else ""}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("cuda")
    ap.add_argument("--out")
    ap.add_argument("--seconds", type=int, default=120, help="for each part")
    a = ap.parse_args()
    jobs = [(tool, ["-only", "none/of/them", x], "planted: " + x, True) for tool, x in PLANTED]
    jobs += [(tool, args, name, False) for args, name in PARTS for tool in ("memcheck", "racecheck")]
    rows = []
    for tool, args, name, planted in jobs:
        row = {"tool": tool, "part": name, **run(a.cuda, tool, args, a.seconds)}
        row["as_it_must"] = row["found"] is not None and (row["found"] > 0) == planted
        rows.append(row)
        print(f"{tool} {name}: {row['found']} found, {row['seconds']} s; {row['said']}", flush=True)
        if a.out:
            with open(a.out, "w", encoding="utf-8") as f:
                json.dump({"what": "compute-sanitizer over the corpus; planted mistakes must be found", "command": "python3 bench/sanitize.py CUDA --out FILE", "rows": rows}, f, indent=1)
    return 0 if all(r["as_it_must"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
