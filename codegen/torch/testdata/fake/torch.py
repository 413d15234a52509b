"""As much of PyTorch as the launcher asks for, with memory that is only counted."""

import types

__version__ = "fake"
version = types.SimpleNamespace(cuda="13.0")
strided, sparse_coo = "torch.strided", "torch.sparse_coo"
float64, float32, float16, bfloat16 = "torch.float64", "torch.float32", "torch.float16", "torch.bfloat16"
int64, int32, int16, int8, uint8, bool = "torch.int64", "torch.int32", "torch.int16", "torch.int8", "torch.uint8", "torch.bool"
uint64, uint32, uint16 = "torch.uint64", "torch.uint32", "torch.uint16"

_sizes = {float64: 8, float32: 4, float16: 2, bfloat16: 2, int64: 8, int32: 4, int16: 2, int8: 1, uint8: 1, bool: 1, uint64: 8, uint32: 4, uint16: 2}
_next = 1 << 20


class device:
    def __init__(self, type, index=0):
        self.type, self.index = type, index

    def __str__(self):
        return f"{self.type}:{self.index}"

    def __eq__(self, other):
        return str(self) == str(other)


def _rows(shape):
    out, n = [], 1
    for x in reversed(shape):
        out.append(n)
        n *= max(x, 1)
    return tuple(reversed(out))


class Tensor:
    def __init__(self, shape, dtype=float32, device=device("cuda"), strides=None, at=None, requires_grad=False, layout=strided):
        global _next
        self.shape, self.dtype, self.device, self.layout, self.requires_grad = tuple(shape), dtype, device, layout, requires_grad
        self.strides = strides or _rows(shape)
        self.at = _next if at is None else at
        _next += (self.numel() * self.element_size() + 256) // 256 * 256
        self.contents, self.copied = [0] * self.numel(), None

    def dim(self):
        return len(self.shape)

    def stride(self):
        return self.strides

    def numel(self):
        n = 1
        for x in self.shape:
            n *= x
        return n

    def element_size(self):
        return _sizes[self.dtype]

    def is_contiguous(self):
        return self.strides == _rows(self.shape)

    def data_ptr(self):
        return self.at

    def tolist(self):
        return self.contents

    def copy_(self, other):
        self.copied = other


def empty(shape, dtype, device):
    return Tensor(shape, dtype, device)


def zeros(shape, dtype, device):
    return Tensor(shape, dtype, device)


def is_grad_enabled():
    return True


cuda = types.SimpleNamespace(current_device=lambda: 0, current_stream=lambda device: types.SimpleNamespace(cuda_stream=77))
