# SPDX-License-Identifier: Apache-2.0
"""Loading: files, texts, several kernels, what is refused."""
import pickle

import pytest

import grout

TEXT = "const N = 4\nkernel @k(%x: in gmem f32[N, 8], %s: f32, %y: out gmem f32[N, 2 * N])\n{\n}\n"


def test_a_text_has_kernels_params_and_consts():
    kernel = grout.load(TEXT)
    assert kernel.name == "k" and kernel.consts == {"N": "4"}
    assert [str(param) for param in kernel.params] == ["%x: in f32[N, 8]", "%s: f32", "%y: out f32[N, 2 * N]"]
    assert kernel.params[0] == grout.Param("x", "in", "f32", ("N", "8"))
    assert repr(kernel) == "<grout.Kernel @k(%x: in f32[N, 8], %s: f32, %y: out f32[N, 2 * N])>"
    assert "kernel @k" in str(kernel.module)


def test_several_kernels_have_names(kernels):
    path = kernels / "add_one.grout"
    module = grout.load_module(path)
    assert [kernel.name for kernel in module] == ["add_one", "add_one_smem"] and len(module) == 2
    assert module["@add_one"] is module["add_one"] is module.kernels["add_one"]
    assert grout.load(str(path), kernel="add_one_smem").name == "add_one_smem"
    with pytest.raises(grout.GroutError, match="has 2 kernels: 'add_one', 'add_one_smem'; say which"):
        grout.load(path)
    with pytest.raises(KeyError, match="did you mean 'add_one'"):
        grout.load(path, kernel="add_oen")


def test_texts_of_one_line():
    line = "kernel @k(%y: out gmem f32[4]) { store %y, (broadcast 1.0 : f32[4]) }"
    assert (grout.load(line).run() == 1).all()
    for source, error, message in (("", ValueError, "the name of the file is empty"),
                                   (line.encode(), TypeError, "take .decode"),
                                   ("nothing.grout", OSError, "nothing.grout")):
        with pytest.raises(error, match=message):
            grout.load(source)


@pytest.mark.parametrize("make", [lambda kernels: grout.load(kernels / "add_one.grout", kernel="add_one_smem"),
                                  lambda kernels: grout.load(TEXT)])
def test_kernels_are_pickled(kernels, make):
    kernel = make(kernels)
    again = pickle.loads(pickle.dumps(kernel))
    assert repr(again) == repr(kernel) and again.module.source == kernel.module.source
    assert again.module.name == kernel.module.name and again.module.is_file == kernel.module.is_file
    assert str(again.check()) == str(kernel.check())


def test_notebooks_show_kernels():
    page = grout.load("const N = 4\nkernel @k(%x: in gmem f32[N], %y: out gmem f32[N])\n{\n}\n")._repr_html_()
    assert "<b" not in page and all(words in page for words in ("@k</span> of &lt;text&gt;", "\n    %x: in f32[N]",
                                                                "\n    const N = 4</pre>"))


def test_a_broken_text_carries_its_diagnostics():
    with pytest.raises(grout.KernelError) as caught:
        grout.load("kernel @k()\n{\n  %v = lod 3\n}\n")
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.severity) == ("unknown-op", "error")
    assert (diagnostic.place.file, diagnostic.place.line, diagnostic.place.column) == ("<text>", 3, 8)
    assert str(diagnostic.place) == "<text>:3:8"
    assert "    3 |   %v = lod 3" in str(caught.value) and "load" in diagnostic.help


def test_no_file_and_no_kernel():
    with pytest.raises(FileNotFoundError):
        grout.load("no-such.grout")
    with pytest.raises(grout.GroutError, match="has 0 kernels"):
        grout.load("const N = 1\n")


def test_an_illegal_kernel_is_refused_where_it_is_bound():
    kernel = grout.load("const N = 4\nkernel @k(%x: in gmem f32[N])\n{\n  store %x, (broadcast 1.0 : f32[N])\n}\n")
    with pytest.raises(grout.KernelError) as caught:
        kernel.check()
    assert caught.value.diagnostics[0].code == "bad-direction"
