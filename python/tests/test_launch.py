# SPDX-License-Identifier: Apache-2.0
"""Launches on a GPU: what is refused without one, and values with one."""
import numpy
import pytest

import grout
from grout import _gpu


class OnGpu:
    """An array that says that it lies on a GPU."""

    def __init__(self, dtype="<f4", shape=(256,), address=1 << 20, read_only=False):
        self.__cuda_array_interface__ = {"typestr": dtype, "shape": shape, "data": (address, read_only), "version": 3}


def test_arrays_of_the_cpu_are_refused(add_one):
    x = numpy.zeros(256, "float32")
    with pytest.raises(grout.ArgumentError, match="%x.*is no array of a GPU"):
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

    found = [_gpu._stream_pointer(stream, 0, False) for stream in (None, 5, Torch(), Cupy(), Protocol())]
    assert found == [0, 5, 7, 8, 9]
    with pytest.raises(TypeError, match="no stream"):
        _gpu._stream_pointer("default", 0, False)


def test_without_a_gpu_or_context(add_one):
    with pytest.raises(grout.GroutError) as caught:
        add_one.launch(OnGpu(), OnGpu())
    assert caught.value.diagnostics[0].code in ("gpu-missing", "bad-argument")


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
