"""Calls the emitted rows_gk.py with a fake of torch and of the driver, and prints what comes of it."""

import ctypes
import struct
import sys


import rows_gk
import torch
from torch import Tensor, device

launched = []

# The arguments of the device functions, as their CUDA text declares them.
SIGNATURES = {
    "rows_t": [ctypes.c_int64, ctypes.c_float, ctypes.c_uint64, ctypes.c_uint64],
    "rows_y": [ctypes.c_bool, ctypes.c_int32, ctypes.c_uint64, ctypes.c_uint64],
}


class Driver:
    def __call__(self, name, *args):
        if name == "cuLaunchKernel":
            function, grid, _, _, threads, _, _, shared, stream, table, _ = args
            name = function.replace("uN16_rows_", "").replace("uN16_", "")
            kinds = SIGNATURES[name]
            assert len(table) == len(kinds) + 1
            values = [ctypes.cast(p, ctypes.POINTER(k)).contents.value for p, k in zip(table, kinds)]
            launched.append((function, grid, threads, shared, stream.value, values))



class Device:
    sms, l2bytes, arch = 4, 1 << 20, "sm_90a"

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


rows_gk._driver = lambda: Driver()
rows_gk._device = lambda index: Device()
rows_gk._Program.on = lambda self, index: {name: name for name in self.functions}


def call(what, **changes):
    """A right call, but for some arguments."""
    args = dict(x=Tensor((300, 64), torch.float16), y=Tensor((300,)), n=0.25, on=True, K=2)
    args.update(changes)
    launched.clear()
    torch._next = 1 << 21
    try:
        out = rows_gk.rows(**args)
        print(f"{what}: x at {args['x'].at}; {out.shape} {out.dtype} y <- {args['y'].copied.shape} at {args['y'].copied.at}; {launched}")
    except Exception as e:
        print(f"{what}: {type(e).__name__}: {e}")


call("right")
call("variant", x=Tensor((16, 8), torch.float16), y=Tensor((16,)))
call("no rows", x=Tensor((0, 64), torch.float16), y=Tensor((0,)))
call("no tensor", x=[1, 2])
call("dtype", x=Tensor((300, 64)))
call("layout", x=Tensor((300, 64), torch.float16, layout=torch.sparse_coo))
call("rank", x=Tensor((300,), torch.float16))
call("host", x=Tensor((300, 64), torch.float16, device=device("cpu")))
call("other device", y=Tensor((300,), device=device("cuda", 1)))
call("strides", x=Tensor((300, 64), torch.float16, strides=(1, 300)))
call("alignment", y=Tensor((300,), at=8))
call("gradient", y=Tensor((300,), requires_grad=True))
call("extent", y=Tensor((301,)))
call("where", x=Tensor((300, 63), torch.float16))
call("overlap", x=Tensor((300, 64), torch.float16, at=4096), y=Tensor((300,), at=4096))
call("scalar", n="half")
call("truth value", on=1)
call("size", K=-1)
call("size of a kind", K=2.0)


def fails(number, code, *args):
    """Makes the next records say that a check failed."""

    def zeros(shape, dtype, device):
        t = Tensor(shape, dtype, device)
        if dtype == torch.uint8:
            t.contents[64 * number : 64 * number + 56] = struct.pack("<IIqii4q", 0, 1, 5, code, len(args), *args, *[0] * (4 - len(args)))
        return t

    torch.zeros = zeros


fails(0, 0, 99, 7)
call("index")
fails(0, 1)
call("division")
