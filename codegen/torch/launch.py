import base64
import ctypes
import glob
import math
import os
import struct
import threading

import torch


class KernelError(RuntimeError):
    """A check of a kernel failed as it ran: an index outside of its tensor, a division by zero."""


class CudaError(RuntimeError):
    """The CUDA driver or its compiler is missing, or refuses something."""


_DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
    "bool": "bool",
}


def _dtype(name):
    found = getattr(torch, _DTYPES[name], None)
    if found is None:
        raise TypeError(f"torch {torch.__version__} has no dtype {_DTYPES[name]}")
    return found


# Arithmetic of the host. Integers wrap, quotients truncate, and where an operation has no value it gives 0.


def _i(x, bits):
    half = 1 << (bits - 1)
    return (x + half & (1 << bits) - 1) - half


def _u(x, bits):
    return x & (1 << bits) - 1


def _div(a, b):
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _rem(a, b):
    return a - _div(a, b) * b if b else 0


def _floordiv(a, b):
    return a // b if b else 0


def _mod(a, b):
    return a % b if b else 0


def _pow(a, n):
    return pow(a, n, 1 << 64) if n >= 0 else 0


def _sign(a):
    return (a > 0) - (a < 0)


def _shl(a, n, bits):
    return a << n if 0 <= n < bits else 0


def _shr(a, n, bits):
    return a >> n if 0 <= n < bits else 0


def _pow2floor(a):
    return 1 << max(a, 1).bit_length() - 1


def _pow2ceil(a):
    return 1 << (max(a, 1) - 1).bit_length()


def _round(x, exp, mant):
    """A float of exp and mant bits, in which ties are even."""
    if x == 0 or x != x or math.isinf(x):
        return x
    least, bias = 2 - (1 << exp - 1), (1 << exp - 1) - 1
    step = max(math.frexp(x)[1] - 1, least) - mant
    y = math.ldexp(round(math.ldexp(x, -step)), step)
    largest = math.ldexp(2 - math.ldexp(1, -mant), bias)
    return math.copysign(math.inf if abs(y) > largest else abs(y), x)


def _f64(x):
    return x


def _f32(x):
    return ctypes.c_float(x).value


def _f16(x):
    return _round(x, 5, 10)


def _bf16(x):
    return _round(x, 8, 7)


def _of_int(x, bits):
    """An integer rounded to a float of that many bits, once."""
    shift = abs(x).bit_length() - bits
    if shift <= 0:
        return float(x)
    q, rest = abs(x) >> shift, abs(x) & (1 << shift) - 1
    half = 1 << (shift - 1)
    q += rest > half or rest == half and q & 1
    return math.copysign(float(q << shift), x)


def _to_int(x, lo, hi):
    if x != x:
        return 0
    return lo if x <= lo else hi if x >= hi else int(x)


def _fdiv(a, b):
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def _fmin(a, b):
    if a != a or b != b:
        return math.nan
    return a if a < b or a == b and math.copysign(1, a) < 0 else b


def _fmax(a, b):
    if a != a or b != b:
        return math.nan
    return a if a > b or a == b and math.copysign(1, a) > 0 else b


def _whole(f, x):
    return x if x != x or math.isinf(x) else math.copysign(float(f(x)), x)


def _sqrt(x):
    return math.sqrt(x) if x >= 0 else math.nan


def _float(f, *args):
    """A function of floats, which does not raise errors."""
    try:
        return f(*args)
    except OverflowError:
        return math.inf
    except ValueError:
        return -math.inf if f in (math.log, math.log2) and args[0] == 0 else math.nan


# Arguments of device functions.

_INTEGERS = {
    "i64": ctypes.c_int64, "i32": ctypes.c_int32, "i16": ctypes.c_int16, "i8": ctypes.c_int8, "u64": ctypes.c_uint64,
    "u32": ctypes.c_uint32, "u16": ctypes.c_uint16, "u8": ctypes.c_uint8,
}


def _value(x, dtype):
    """A scalar as a device function takes it."""
    if dtype == "f64":
        return ctypes.c_double(x)
    if dtype == "f32":
        return ctypes.c_float(x)
    if dtype == "f16":
        return ctypes.c_uint16(struct.unpack("<H", struct.pack("<e", x))[0])
    if dtype == "bf16":
        return ctypes.c_uint16(struct.unpack("<I", struct.pack("<f", x))[0] >> 16)
    if dtype == "bool":
        return ctypes.c_bool(x)
    return _INTEGERS[dtype](x)


# The driver and the compiler.


class _Library:
    """A shared library whose functions return error codes."""

    def __init__(self, handle, text):
        self.handle, self.text = handle, text

    def __call__(self, name, *args):
        code = getattr(self.handle, name)(*args)
        if code != 0:
            raise CudaError(f"{name}: {self.text(self.handle, code)} (error {code})")


def _driver_text(handle, code):
    text = ctypes.c_char_p()
    handle.cuGetErrorString(code, ctypes.byref(text))
    return (text.value or b"unknown").decode()


def _compiler_text(handle, code):
    handle.nvrtcGetErrorString.restype = ctypes.c_char_p
    return handle.nvrtcGetErrorString(code).decode()


_lock = threading.RLock()
_libraries = {}


def _driver():
    with _lock:
        if "driver" not in _libraries:
            try:
                handle = ctypes.CDLL("libcuda.so.1")
            except OSError as e:
                raise CudaError(f"the CUDA driver cannot be loaded: {e}") from None
            _libraries["driver"] = _Library(handle, _driver_text)
            _libraries["driver"]("cuInit", 0)
        return _libraries["driver"]


def _compiler_paths():
    """Where NVRTC may be: the place that GKC_NVRTC names, the Python packages that torch brings along, the system."""
    if os.environ.get("GKC_NVRTC"):
        return [os.environ["GKC_NVRTC"]]
    paths = []
    try:
        import nvidia

        for folder in nvidia.__path__:
            paths += glob.glob(os.path.join(folder, "*", "lib", "libnvrtc.so.*"))
    except ImportError:
        pass
    like_torch = ".so." + (torch.version.cuda or "").partition(".")[0]
    return sorted(paths, key=lambda p: (like_torch not in p, p)) + ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]


def _compiler():
    with _lock:
        if "compiler" in _libraries:
            return _libraries["compiler"]
        tried = []
        for path in _compiler_paths():
            try:
                for builtins in glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so*")) if os.path.dirname(path) else []:
                    ctypes.CDLL(builtins)  # the compiler asks the loader for it, which does not look there
                handle = ctypes.CDLL(path)
            except OSError as e:
                tried.append(str(e))
                continue
            _libraries["compiler"] = _Library(handle, _compiler_text)
            return _libraries["compiler"]
        raise CudaError(
            "the CUDA compiler NVRTC cannot be loaded: install the Python package nvidia-cuda-nvrtc, set GKC_NVRTC to the path of "
            "libnvrtc.so, or build this file with gkc build --emit cubin,torch (tried: " + "; ".join(tried) + ")"
        )


def _compile(name, source, arch):
    nvrtc, program, size = _compiler(), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc("nvrtcCreateProgram", ctypes.byref(program), source.encode(), (name + ".cu").encode(), 0, None, None)
    try:
        options = (ctypes.c_char_p * 2)(b"--gpu-architecture=" + arch.encode(), b"--std=c++17")
        try:
            nvrtc("nvrtcCompileProgram", program, 2, options)
        except CudaError as e:
            nvrtc("nvrtcGetProgramLogSize", program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc("nvrtcGetProgramLog", program, log)
            raise CudaError(f"kernel {name} does not compile for {arch}: {e}\n{log.value.decode()}") from None
        nvrtc("nvrtcGetCUBINSize", program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        nvrtc("nvrtcGetCUBIN", program, image)
        return image.raw
    finally:
        nvrtc("nvrtcDestroyProgram", ctypes.byref(program))


class _Device:
    """What the driver says of a device."""

    def __init__(self, index):
        cu = _driver()
        self.number, self.context = ctypes.c_int(), ctypes.c_void_p()
        cu("cuDeviceGet", ctypes.byref(self.number), index)
        cu("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.number)  # the one that torch uses
        self.major, self.minor = self.attribute(75), self.attribute(76)
        self.sms, self.l2bytes = self.attribute(16), self.attribute(38)
        self.arch = f"sm_{self.major}{self.minor}" + ("a" if self.major >= 9 else "")

    def attribute(self, number):
        value = ctypes.c_int()
        _driver()("cuDeviceGetAttribute", ctypes.byref(value), number, self.number)
        return value.value

    def runs(self, target):
        """Whether code for a target such as sm_80 or sm_90a runs on the device."""
        exact, least = target.endswith("a"), int(target.removeprefix("sm_").rstrip("a"))
        mine = 10 * self.major + self.minor
        return mine == least if exact else mine >= least

    def __enter__(self):
        _driver()("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *_):
        _driver()("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


_devices = {}


def _device(index):
    with _lock:
        if index not in _devices:
            _devices[index] = _Device(index)
        return _devices[index]


class _Program:
    """The device functions of a kernel. They are loaded when a device first needs them."""

    def __init__(self, name, source, needs, functions, cubin=None, arch=None):
        self.name, self.source, self.needs, self.functions, self.cubin, self.arch = name, source, needs, functions, cubin, arch
        self.loaded = {}

    def on(self, index):
        with _lock:
            if index not in self.loaded:
                device = _device(index)
                with device:
                    self.loaded[index] = self.load(device)
            return self.loaded[index]

    def load(self, device):
        cu, module, out = _driver(), ctypes.c_void_p(), {}
        if not device.runs(self.needs):
            raise CudaError(f"kernel {self.name} needs a device of {self.needs}; this is one of {device.arch}")
        image = base64.b64decode(self.cubin) if self.arch == device.arch else _compile(self.name, self.source, device.arch)
        cu("cuModuleLoadData", ctypes.byref(module), image)
        for entry, shared in self.functions.items():
            out[entry] = ctypes.c_void_p()
            cu("cuModuleGetFunction", ctypes.byref(out[entry]), module, entry.encode())
            if shared > 48 << 10:
                cu("cuFuncSetAttribute", out[entry], 8, shared)  # the most of dynamic shared memory
        return out


_numbers, _MOST_NUMBERS = {}, 1024
_RECORD = 64  # bytes between the records of failed checks


class _Call:
    """One call of a kernel: its arguments, the memory that it takes, and where it runs."""

    def __init__(self, kernel, source):
        self.kernel, self.source, self.tensors, self.sizes, self.device, self.records = kernel, source, {}, {}, None, None

    def fail(self, kind, text):
        raise kind(f"kernel {self.kernel}: {text}")

    def tensor(self, name, t, dtype, rank):
        """Takes a tensor argument."""
        if not isinstance(t, torch.Tensor):
            self.fail(TypeError, f"argument {name} is a {type(t).__name__}, expected a tensor")
        if t.dtype != _dtype(dtype):
            self.fail(TypeError, f"argument {name} holds {t.dtype}, expected {_dtype(dtype)}")
        if t.layout != torch.strided:
            self.fail(TypeError, f"argument {name} has the layout {t.layout}, expected {torch.strided}")
        if t.dim() != rank:
            self.fail(ValueError, f"argument {name} has {t.dim()} dimensions {tuple(t.shape)}, but the kernel's has {rank}")
        if t.device.type != "cuda":
            self.fail(ValueError, f"argument {name} is on the device {t.device}, expected a CUDA device")
        if self.device is None:
            self.device = t.device
        elif t.device != self.device:
            self.fail(ValueError, f"argument {name} is on the device {t.device}, but {next(iter(self.tensors))} is on {self.device}")
        if not t.is_contiguous():
            self.fail(ValueError, f"argument {name} of shape {tuple(t.shape)} is not contiguous: its strides are {t.stride()}; pass {name}.contiguous()")
        if t.data_ptr() % 16 != 0:
            self.fail(ValueError, f"argument {name} begins at an address that is no multiple of 16 bytes; pass {name}.clone()")
        if t.requires_grad and torch.is_grad_enabled():
            self.fail(ValueError, f"argument {name} requires a gradient, which the kernel does not give: call it under torch.no_grad()")
        self.tensors[name] = t

    def scalar(self, name, x, dtype):
        """Takes a scalar argument."""
        floats = dtype.startswith("f") or dtype == "bf16"
        if dtype == "bool":
            ok = isinstance(x, bool)
        else:
            ok = isinstance(x, (int, float) if floats else int) and not isinstance(x, bool)
        if not ok:
            self.fail(TypeError, f"argument {name} is {x!r}, expected a number of type {dtype}")
        if floats:
            x = {"f64": _f64, "f32": _f32, "f16": _f16, "bf16": _bf16}[dtype](float(x))
        elif dtype != "bool" and _INTEGERS[dtype](x).value != x:
            self.fail(ValueError, f"argument {name} is {x}, which does not fit {dtype}")
        self.sizes[name] = x
        return x

    def size(self, name, n):
        """Takes a size that no shape has."""
        if not isinstance(n, int) or isinstance(n, bool) or not 0 <= n < 1 << 63:
            self.fail(ValueError, f"size {name} is {n!r}, expected a number from 0 on")
        self.sizes[name] = n
        return n

    def size_of(self, name, tensor, dim, offset):
        """The size that a dimension of an argument has, less an offset."""
        n = self.tensors[tensor].shape[dim] - offset
        if n < 0:
            self.fail(ValueError, f"dimension {dim + 1} of {tensor} is {n + offset}, too small: size {name} would be {n}")
        self.sizes[name] = n
        return n

    def fixed(self, name, n):
        """A size for which alone the kernel was compiled."""
        self.sizes[name] = n
        return n

    def given(self):
        return " (" + ", ".join(f"{k} = {v}" for k, v in self.sizes.items()) + ")" if self.sizes else ""

    def fits(self, name, texts, extents):
        for d, n in enumerate(self.tensors[name].shape):
            if n != extents[d]:
                self.fail(ValueError, f"dimension {d + 1} of {name} is {n}, but the kernel's extent {texts[d]} is {extents[d]} there{self.given()}")

    def where(self, holds, text):
        if not holds:
            self.fail(ValueError, f"it demands {text}, which does not hold{self.given()}")

    def alone(self, name):
        """Demands that an argument that the kernel changes shares no memory with the others."""

        def span(t):
            return t.data_ptr(), t.data_ptr() + t.numel() * t.element_size()

        lo, hi = span(self.tensors[name])
        for other, t in self.tensors.items():
            a, b = span(t)
            if other != name and a < hi and lo < b:
                self.fail(ValueError, f"arguments {name} and {other} overlap, and the kernel changes {name}")

    def here(self):
        """The device of the call."""
        if self.device is None:
            self.device = torch.device("cuda", torch.cuda.current_device())
        return _device(self.device.index)

    def numbers(self, compute, sizes):
        """What the host computes for some sizes, once for calls with the same."""
        here = self.here()
        key = (compute, self.device.index, repr(sizes))  # 0.0 and -0.0 are equal, but not the same
        found = _numbers.get(key)
        if found is None:
            if len(_numbers) >= _MOST_NUMBERS:
                _numbers.clear()
            found = _numbers[key] = compute(here, *sizes)
        return found

    def empty(self, name, dtype, extents, zero=False):
        """Makes a result or workspace."""
        for d, n in enumerate(extents):
            if n < 0:
                self.fail(ValueError, f"extent {d + 1} of {name} is {n}: negative{self.given()}")
        make = torch.zeros if zero else torch.empty
        return make(extents, dtype=_dtype(dtype), device=self.device)

    def launch(self, program, number, entry, numbers, threads, shared, args):
        """Launches a device function on the current stream, with its values and args. None is the record of its first failed check."""
        grid, values = numbers
        if not 0 <= grid < 1 << 31:
            self.fail(ValueError, f"a grid of {grid} blocks{self.given()}")
        if grid == 0:
            return
        addresses = [self.records.data_ptr() + _RECORD * number if a is None else a.data_ptr() for a in args]
        passed = [*values, *map(ctypes.c_uint64, addresses)]
        table = (ctypes.c_void_p * (len(passed) + 1))(*map(ctypes.addressof, passed))
        function = program.on(self.device.index)[entry]
        stream = ctypes.c_void_p(torch.cuda.current_stream(self.device).cuda_stream)
        with _device(self.device.index):
            _driver()("cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, shared, stream, table, None)

    def check(self, launches, sites):
        """Raises what the first failed check of the launches recorded."""
        raw = bytes(self.records.tolist())
        for number, (kernel, elements) in enumerate(launches):
            _, count, _, code, n, *args = struct.unpack_from("<IIqii4q", raw, _RECORD * number)
            if count > 0:
                self.explain(kernel, elements, code, args[:n], sites[code])

    def explain(self, kernel, elements, code, args, site):
        kind, tensor, shape, dim, text, line, column = site
        what = kind
        if kind == "index" and args:
            inside = f"0..{shape[dim]} " if shape is not None else ""
            what = f"index {args[0]} of {tensor} is outside {inside}(dimension {dim + 1})"
        elif text:
            what += " in " + text
        where = "kernel " + kernel
        if code in elements and len(args) > 1:
            where, extents = elements[code]
            if extents and 0 <= args[1] < math.prod(extents):
                at, rest = [], args[1]
                for n in reversed(extents):
                    at.append(rest % n)
                    rest //= n
                where += "[" + ", ".join(map(str, reversed(at))) + "]"
        raise KernelError(f"{self.source}:{line}:{column}: {what} while computing {where}")
