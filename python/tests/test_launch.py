# SPDX-License-Identifier: Apache-2.0
"""Launches on a GPU: what is refused without one, and values with one."""
import contextlib
import sys
import threading
import types
import typing

import numpy
import pytest

import grout
from grout import _gpu, _library


class OnGpu:
    """An array that says that it lies on a GPU."""

    def __init__(self, dtype="<f4", shape=(256,), address=1 << 20, read_only=False):
        self.__cuda_array_interface__ = {"typestr": dtype, "shape": shape, "data": (address, read_only), "version": 3}


def test_arrays_of_the_cpu_are_refused(add_one):
    x = numpy.zeros(256, "float32")
    with pytest.raises(grout.ArgumentError, match="%x.*is not an array of a GPU"):
        add_one.launch(x, x)
    with pytest.raises(grout.ArgumentError, match="%y.*a launch needs all of them"):
        add_one.launch(OnGpu())


@pytest.mark.parametrize("x, why", [(OnGpu("<f8"), "the elements are f64"), (OnGpu(shape=(2, 128)), "the shape is"),
                                    (OnGpu(shape=(128,)), "const N is 128 by")])
def test_other_arrays_are_refused(add_one, x, why):
    with pytest.raises(grout.ArgumentError, match=why):
        add_one.launch(x, OnGpu())


def test_read_only_outputs_are_refused(add_one):
    with pytest.raises(grout.ArgumentError, match="read-only"):
        add_one.launch(OnGpu(), OnGpu(read_only=True))


def test_views():
    view, device = _gpu.device_view(OnGpu("<f2", (3, 4), 4096))
    assert (view.dtype, view.shape, view.nbytes, view.address, device) == ("f16", (3, 4), 24, 4096, None)


def test_streams():
    class Torch:
        cuda_stream = 7

    class Cupy:
        ptr = 8

    class Protocol:
        def __cuda_stream__(self):
            return 0, 9

    assert [_gpu._stream_pointer(stream) for stream in (5, Torch(), Cupy(), Protocol())] == [5, 7, 8, 9]
    with pytest.raises(TypeError, match="not a stream"):
        _gpu._stream_pointer("default")


def test_without_a_gpu_or_context(add_one):
    with pytest.raises(grout.GroutError) as caught:
        add_one.launch(OnGpu(), OnGpu())
    assert caught.value.diagnostics[0].code in ("gpu-missing", "bad-argument")


class Device(typing.NamedTuple):
    index: int


class Tensor:
    """One of torch, as far as a launch looks at it."""

    layout, device, requires_grad, is_cuda = "torch.strided", Device(0), False, True

    def __init__(self, shape=(256,), dtype="torch.float32", address=1 << 20):
        self.shape, self.dtype, self._address = shape, dtype, address

    def stride(self):
        return tuple(int(numpy.prod(self.shape[i + 1:])) for i in range(len(self.shape)))

    def numel(self):
        return int(numpy.prod(self.shape))

    element_size = lambda self: 4
    is_neg = is_conj = lambda self: False
    data_ptr = lambda self: self._address
    is_contiguous = lambda self: True
    get_device = lambda self: self.device.index


class FakeTorch:
    """torch with a stream for each device, and a library that notes launches."""

    def __init__(self, monkeypatch):
        self.made, self.launched, self.is_right = 0, [], True
        self.device = 0
        stream = types.SimpleNamespace(query=lambda: True)
        cuda = types.SimpleNamespace(current_device=lambda: self.device, device=self.use,
                                     current_stream=lambda device: stream)
        raw = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 70 + device,
                                    _cuda_getDevice=lambda: self.device)
        monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor, cuda=cuda, _C=raw))
        monkeypatch.setattr(_gpu, "_make_kernel", self.make)
        real = _library.lib
        monkeypatch.setattr(_gpu, "lib", types.SimpleNamespace(
            grout_gpu_kernel_launch=self.launch, GROUT_DIAG_BAD_ARGUMENT=real.GROUT_DIAG_BAD_ARGUMENT))

    @contextlib.contextmanager
    def use(self, device):
        before, self.device = self.device, device
        yield
        self.device = before

    def make(self, bound, options):
        self.made += 1
        return f"kernel {self.made}"

    def launch(self, handle, arguments, count, stream, diags):
        given = [(int(_library.ffi.cast("uintptr_t", arguments[i].data)), arguments[i].size) for i in range(count)]
        self.launched.append((handle, given, int(_library.ffi.cast("uintptr_t", stream)), self.device))
        return self.is_right


@pytest.fixture
def fake(monkeypatch, kernels):
    """A fake torch, and a kernel that nobody has launched."""
    return FakeTorch(monkeypatch), grout.load(kernels / "add_one.grout", kernel="add_one_smem")


X, Y, Z = 1 << 20, 1 << 21, 1 << 22


def test_launches_of_the_same_kind_share_a_kernel(fake):
    torch, kernel = fake
    kernel.launch(Tensor(), Tensor(address=Y))
    kernel.launch(Tensor(), Tensor(address=Z))
    kernel.launch(Tensor(), Tensor(address=Z), stream=5)
    kernel.launch(Tensor(), y=Tensor(address=Y))
    thread = threading.Thread(target=lambda: [kernel.launch(Tensor(address=Z), Tensor(address=Y)) for _ in range(2)])
    thread.start()
    thread.join()
    expected = [(X, Y, 70), (X, Z, 70), (X, Z, 5), (X, Y, 70), (Z, Y, 70), (Z, Y, 70)]
    assert torch.launched == [("kernel 1", [(x, 1024), (y, 1024)], stream, 0) for x, y, stream in expected]


def test_launches_of_another_kind_have_their_own(fake):
    torch, kernel = fake
    for size in (256, 512, 256, 512):
        kernel.launch(Tensor((size,)), Tensor((size,), address=Y))
    kernel.launch(Tensor(), Tensor(address=Y), fills_outputs=True)
    assert [launch[0] for launch in torch.launched] == [f"kernel {i}" for i in (1, 2, 1, 2, 3)]
    assert torch.launched[3][1] == [(X, 2048), (Y, 2048)]
    wrong = Tensor(address=Y)
    wrong.requires_grad = True
    for _ in range(2):
        with pytest.raises(grout.ArgumentError, match="read-only|requires"):
            kernel.launch(Tensor(), wrong)
    with pytest.raises(grout.ArgumentError, match="a launch needs all of them"):
        kernel.launch(Tensor())
    assert len(torch.launched) == 5


def test_the_short_way(fake, monkeypatch):
    torch, kernel = fake
    ways = []
    real = kernel._launcher.launch_again

    def note(*given):
        ways.append(real(*given))
        return ways[-1]

    monkeypatch.setattr(kernel._launcher, "launch_again", note)

    def launch(x, y, **options):
        kernel.launch(x, y, **options)
        return ways.pop() if ways else None

    x, y = Tensor(), Tensor(address=Y)
    assert launch(x, y) is False and launch(x, y) is True and launch(x, y, stream=5) is True
    assert launch(x, y, fills_outputs=True) is None and launch(x, y) is True
    assert launch(x, y, B=64) is None and launch(x, y) is True
    wrong = Tensor(address=Y)
    wrong.is_contiguous = lambda: False
    assert launch(x, wrong) is False and launch(x, wrong) is False
    wrong.is_contiguous, wrong.is_neg = (lambda: True), (lambda: True)
    with pytest.raises(grout.ArgumentError, match="lazy view"):
        launch(x, wrong)

    def of_sparse():
        raise NotImplementedError("is_contiguous")

    wrong.is_contiguous, wrong.layout = of_sparse, "torch.sparse_coo"
    with pytest.raises(grout.ArgumentError, match="lazy view|its layout is"):
        launch(x, wrong)
    torch.device = 1
    ways.clear()
    assert launch(x, y) is False
    assert torch.launched[-1][1:] == ([(X, 1024), (Y, 1024)], 70, 0)


def test_a_launch_takes_the_device_of_its_tensors(fake):
    torch, kernel = fake
    kernel.launch(Tensor(), Tensor(address=Y))
    torch.device = 1
    kernel.launch(Tensor(), Tensor(address=Y))
    assert [launch[2:] for launch in torch.launched] == [(70, 0), (70, 0)]
    assert torch.device == 1


def test_a_later_launch_may_fail(fake):
    torch, kernel = fake
    kernel.launch(Tensor(), Tensor(address=Y))
    torch.is_right = False
    for _ in range(2):
        with pytest.raises(grout.GroutError):
            kernel.launch(Tensor(), Tensor(address=Y))
    torch.is_right = True
    kernel.launch(Tensor(), Tensor(address=Y))


def test_values_on_torch_tensors(add_one, kernels):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("no Hopper GPU")
    x = torch.arange(512, device="cuda", dtype=torch.float32)
    y = torch.empty_like(x)
    add_one.launch(x, y)
    assert torch.equal(y, x + 1)
    matmul = grout.load(kernels / "matmul_hopper_ws.grout")
    a, b = (torch.randint(-3, 4, (512, 512), device="cuda").bfloat16() for _ in range(2))
    for stream in (None, torch.cuda.Stream()):
        c = torch.empty(512, 512, device="cuda", dtype=torch.bfloat16)
        torch.cuda.synchronize()
        matmul.launch(a, b, c, stream=stream)
        torch.cuda.synchronize()
        assert torch.equal(c, a @ b)
