"""A file of torch.save from anywhere can fail to load, and nothing worse."""

import encodings.cp437  # noqa: F401 (zipfile imports it when it first needs it)
import io
import pickle
import random
import resource
import sys
import zipfile

import pytest
from slow import slow
from torch_archives import FILE, archive, loaded, members_of, program

import dtensor.torch as torch
from dtensor._torchfile import write

REFUSED = (pickle.UnpicklingError, RuntimeError, EOFError)


def text(value):
    """The operation that pushes a text."""
    return b"X" + len(value).to_bytes(4, "little") + value


STORAGE = (
    b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu")
)
VIEW = b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORAGE + b"K\x02tQK\x00%s\x89)tR."
# Lists that hold each other twice: as a text they would have 2**40 items.
LISTS = b"]q\x00" + b"".join(b"0](h%ch%ceq%c" % (k, k, k + 1) for k in range(40))
NO_HOOKS = b"ccollections\nOrderedDict\n)R"
HOSTILE = {
    "a parameter of lists": b"ctorch._utils\n_rebuild_parameter\n"
    + LISTS
    + b"\x88"
    + NO_HOOKS
    + b"\x87R.",
    "a device of lists": b"ctorch\ndevice\n" + LISTS + b"\x85R.",
    "an index of lists": b"ctorch\ndevice\n" + text(b"cpu") + LISTS + b"\x86R.",
    "an encoding of lists": b"c_codecs\nencode\n" + text(b"a") + LISTS + b"\x86R.",
    "a complex number of lists": b"c__builtin__\ncomplex\n" + LISTS + b"K\x01\x86R.",
    "lengths of lists": b"ctorch\nSize\n" + LISTS + b"\x85R.",
    "a dict of lists": b"ccollections\nOrderedDict\n" + LISTS + b"\x85R.",
    "a storage of lists": LISTS + b"Q.",
    "a call of the system": b"cos\nsystem\nX\x02\x00\x00\x00ls\x85R.",
    "eval": b"c__builtin__\neval\nX\x01\x00\x00\x001\x85R.",
    "getattr": b"c__builtin__\ngetattr\n.",
    "a name without a call": b"ctorch\nSize\n.",
    "a name in a list": b"](ctorch\nSize\ne.",
    "a call of a text": b"X\x02\x00\x00\x00os)R.",
    "attributes of a class": b"ctorch\nSize\n}X\x01\x00\x00\x00aK\x01sb.",
    "attributes of a dict": b"}}X\x01\x00\x00\x00aK\x01sb.",
    "other attributes": b"ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsK\x01sb.",
    "a new object": b"ccollections\nOrderedDict\n)\x81.",
    "a name of the stack": b"X\x02\x00\x00\x00osX\x06\x00\x00\x00system\x93.",
    "a persistent id of text": b"X\x02\x00\x00\x00osQ.",
    "a storage by itself": STORAGE + b"K\x02tQ.",
    "a storage in a list": b"](" + STORAGE + b"K\x02tQe.",
    "a long bytearray": b"c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
    "many copies": text(b"a" * 4096)
    + b"q\x00"
    + text(b"latin1")
    + b"q\x01]("
    + b"c_codecs\nencode\nh\x00h\x01\x86R" * 9000
    + b"e.",
    "a long memo": b"]r\xff\xff\xff\xffe.",
    "a text of 4 GB": b"X\xff\xff\xff\xffa.",
    "a long integer": b"\x8b\xff\xff\xff\x7f1.",
    "no end": b"]",
    "nothing": b"",
    "marks": b"(" * 10**6 + b".",
    "an empty stack": b"e.",
    "a key of shared tuples": b"}"
    + b")"
    + b"".join(b"q%ch%c\x86" % (k, k) for k in range(60))
    + b"K\x01s.",
    "a list as a key": b"}]K\x01s.",
    "more than the storage": VIEW % b"K\x03\x85K\x01\x85",
    "a storage of another length": VIEW.replace(b"K\x02tQ", b"K\x03tQ")
    % b"K\x02\x85K\x01\x85",
    "elements without a storage": VIEW.replace(b"K\x02tQ", b"K\x00tQ").replace(
        text(b"0"), text(b"empty")
    )
    % b"K\x0a\x85K\x01\x85",
    "a stride whose bytes overflow": VIEW
    % (b"\x8a\x05\x01\x00\x00\x00\x01\x85\x8a\x05\x00\x00\x00\x00\x01\x85"),
    "a storage of no file": VIEW.replace(b"\x000X", b"\x001X") % b"K\x02\x85K\x01\x85",
    "negative strides": VIEW % b"K\x02\x85J\xff\xff\xff\xff\x85",
    "an endless shape": VIEW % (b"\x8a\x08" + b"\xff" * 7 + b"\x7f\x85K\x00\x85"),
    "a shape of texts": VIEW % b"X\x01\x00\x00\x00a\x85K\x01\x85",
    "strides that are missing": VIEW % b"K\x02\x85)",
    "a sparse tensor": b"ctorch._utils\n_rebuild_sparse_tensor\n.",
    "a device of nowhere": b"ctorch\ndevice\nX\x04\x00\x00\x00cuda\x85R.",
    "another protocol's names": b"\x80\x04\x8c\x02os\x94.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pickle_is_refused_in_little_memory(name):
    members = {"data/0": b"\x00" * 8, "data/empty": b""}
    data = archive(members, **{"data.pkl": HOSTILE[name]})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(REFUSED) as info:
        loaded(data)
    assert str(info.value)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # kB


def test_what_a_file_holds_else_is_named():
    data = archive(**{"data.pkl": b"cargparse\nNamespace\n)\x81."})
    with pytest.raises(pickle.UnpicklingError, match=r"argparse\.Namespace"):
        loaded(data)


def zipped(method, size=10**6):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as to:
        to.writestr("x/data.pkl", b"\x80\x02]." + b"\x00" * size)
        to.writestr("x/version", b"3\n")
    return file.getvalue()


def test_other_archives_and_files_are_refused():
    with pytest.raises(RuntimeError, match="compressed"):
        loaded(zipped(zipfile.ZIP_DEFLATED))
    with pytest.raises(RuntimeError, match="TorchScript"):
        loaded(archive({"constants.pkl": b""}))
    with pytest.raises(RuntimeError, match="no data.pkl"):
        file = io.BytesIO()
        write(file, "x", [("version", b"3\n")])
        loaded(file.getvalue())
    with pytest.raises(RuntimeError, match="version"):
        loaded(archive(version=b"99"))
    with pytest.raises(RuntimeError, match="endianness"):
        loaded(archive(byteorder=b"middle"))
    with pytest.raises(pickle.UnpicklingError, match=r"PyTorch 1\.6"):
        loaded(pickle.dumps({"a": 1}))
    with pytest.raises(EOFError):
        loaded(b"")
    with pytest.raises(ValueError, match="path"):
        torch.load(io.BytesIO(zipped(0)), mmap=True)
    with pytest.raises(AttributeError, match="seekable"):
        torch.load(object())
    with pytest.raises(RuntimeError, match="pickle_module"):
        torch.load(FILE, pickle_module=random)


def test_members_that_share_their_bytes_are_refused():
    data = bytearray(archive({"data/0": b"\x00" * 64, "data/1": b"\x00" * 64}))
    directory = data.index(b"PK\x01\x02")
    second = data.index(b"x/data/1", directory) - 46
    first = data.index(b"x/data/0", directory) - 46
    data[second + 42 : second + 46] = data[first + 42 : first + 46]
    with pytest.raises(RuntimeError, match="headers"):
        loaded(bytes(data))


@pytest.mark.parametrize("count", [500, slow(10_000)])
def test_a_mutated_file_is_refused_or_loads_as_before(count):
    """Nothing else is opened, compiled, imported or run meanwhile."""
    data = FILE.read_bytes()
    wanted = program.described(torch, loaded(data))
    draw = random.Random(1)
    refused = 0
    with Watch() as watch:
        for _ in range(count):
            wrong = bytearray(data)
            for _ in range(draw.choice([1, 1, 2, 8])):
                wrong[draw.randrange(len(wrong))] = draw.randrange(256)
            try:
                found = loaded(bytes(wrong))
            except REFUSED:
                refused += 1
            else:
                assert program.described(torch, found) == wanted
    assert watch.seen == [] and refused > count // 4


@pytest.mark.parametrize("count", [500, slow(10_000)])
def test_a_mutated_pickle_makes_values_or_is_refused(count):
    """The checksums are right: somebody wanted it so."""
    members = members_of(io.BytesIO(FILE.read_bytes()))
    text, draw = members["data.pkl"], random.Random(2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Watch() as watch:
        for _ in range(count):
            wrong = bytearray(text)
            for _ in range(draw.choice([1, 1, 2, 8])):
                wrong[draw.randrange(len(wrong))] = draw.randrange(256)
            try:
                loaded(archive(members, **{"data.pkl": bytes(wrong)}))
            except REFUSED:
                pass
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert watch.seen == [] and after - before < 100_000  # kB


class Watch:
    """What Python reports of code and files while it is entered."""

    active: "Watch | None" = None
    EVENTS = ("exec", "compile", "import", "open", "os.", "subprocess.", "socket.")

    def __init__(self):
        self.seen = []

    def __enter__(self):
        if not hasattr(Watch, "hook"):
            Watch.hook = staticmethod(_report)
            sys.addaudithook(_report)
        Watch.active = self
        return self

    def __exit__(self, *ignored):
        Watch.active = None


def _report(event, args):
    if Watch.active is not None and event.startswith(Watch.EVENTS):
        Watch.active.seen.append((event, args))
