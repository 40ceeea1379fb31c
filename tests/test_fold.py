"""Columns of windows, transposed and three-dimensional convolutions: layers, gradients,
layouts and errors. What they compute is compared by the samples."""

import gradcheck
import numpy as np
import pytest
from meshes import line

from dtensor import DTensor, Replicate, Shard, as_tensor, distribute_tensor, nn, strict
from dtensor.debug import CommDebugMode

F = nn.functional
R, S0, S1 = Replicate(), Shard(0), Shard(1)

CASES = {
    "unfold": (lambda x: F.unfold(x, (2, 3), (2, 1), 1, (1, 2)), "d2,2,4,5"),
    "fold": (lambda x: F.fold(x, (3, 4), 2, stride=(1, 2)), "d2,8,4"),
    "transposed": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1, 2),
        "d2,4,2,3 d4,3,2,2 d6",
    ),
    "far apart": (
        lambda x, w: F.conv_transpose1d(x, w, None, 1, 1, 2, 1, 3),
        "d2,2,4 d2,3,2",
    ),
    "3d": (lambda x, w, b: F.conv3d(x, w, b, padding=1), "d2,2,2,3,2 d4,2,2,2,1 d4"),
    "3d transposed": (
        lambda x, w: F.conv_transpose3d(x, w, stride=(1, 2, 1)),
        "d1,2,2,2,2 d2,3,1,2,2",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_first_and_second_order_are_those_of_differences(case):
    fn, words = CASES[case]
    gradcheck.check(fn, words, meshes=((2,), (2, 2)), most=3, second=True)


@pytest.mark.parametrize("placement", [S0, S1])
def test_samples_and_channels_that_are_cut_send_nothing(ranks, placement):
    def body():
        mesh = line()
        x = distribute_tensor(np.ones((4, 6, 3, 3)), mesh, [placement])
        w = distribute_tensor(
            np.ones((6, 2, 2, 2)), mesh, [S0 if placement == S1 else R]
        )
        with strict(), CommDebugMode() as comm:
            columns = F.unfold(x, 2)
            images = F.fold(columns, 3, 2)
            out = F.conv_transpose2d(x, w)
        assert comm.get_total_counts() == 0
        assert columns.placements == images.placements == (placement,)
        assert mesh.size() == 1 or out.placements[0].is_partial() == (placement == S1)
        counts = np.outer([1, 2, 1], [1, 2, 1])  # in how many windows an element is
        got = np.asarray(images.full_tensor())
        assert np.array_equal(got, np.broadcast_to(counts, got.shape))

    ranks(body)


def test_the_size_of_the_output_may_be_asked_for():
    layer, x = nn.ConvTranspose2d(3, 4, 3, 2), as_tensor(np.ones((1, 3, 5, 5), "f4"))
    assert layer(x).shape == (1, 4, 11, 11)
    assert layer(x, (12, 11)).shape == layer(x, (1, 4, 12, 11)).shape == (1, 4, 12, 11)
    for size, words in (
        ((14, 14), r"from \[11, 11\] to \[12, 12\]"),
        ((1, 2, 3), "got 3"),
    ):
        with pytest.raises(ValueError, match=words):
            layer(x, size)
    assert layer.weight.shape == (3, 4, 3, 3) and layer.bias.shape == (4,)
    assert repr(nn.ConvTranspose1d(2, 4, 3, 2, 1, 1, 2, False)) == (
        "ConvTranspose1d(2, 4, kernel_size=(3,), stride=(2,), padding=(1,), "
        "output_padding=(1,), groups=2, bias=False)"
    )
    assert (
        repr(nn.Unfold(2)) == "Unfold(kernel_size=2, dilation=1, padding=0, stride=1)"
    )


def zeros(*shape):
    return as_tensor(np.zeros(shape, "f4"))


X, W = zeros(2, 3, 5, 5), zeros(3, 4, 3, 3)
WRONG = [
    ("calculated shape of the array of", lambda: F.unfold(X, 6)),
    ("kernel_height: 0", lambda: F.unfold(X, 0)),
    ("pad_height: -1", lambda: F.unfold(X, 2, padding=-1)),
    ("kernel_size equals to 2, but got size 3", lambda: F.unfold(X, (2, 2, 2))),
    (r"but got: \[5, 5\]", lambda: F.unfold(X[0, 0], 2)),
    (r"input.size\(1\)=13", lambda: F.fold(zeros(2, 13, 9), 4, 2)),
    (r"3 \* 3 = 9, but got input.size\(2\)=8", lambda: F.fold(zeros(2, 12, 8), 4, 2)),
    (r"but got: \[2, 2, 2, 2\]", lambda: F.fold(zeros(2, 2, 2, 2), 4, 2)),
    ("to have 3 channels, but got 4", lambda: F.conv_transpose2d(zeros(2, 4, 5, 5), W)),
    ("with 4 elements", lambda: F.conv_transpose2d(X, W, zeros(3))),
    ("output_padding_height: 1", lambda: F.conv_transpose2d(X, W, output_padding=1)),
    ("negative output", lambda: F.conv_transpose2d(X, W, output_padding=-1)),
    ("Output size is too small", lambda: F.conv_transpose2d(X, W, padding=4)),
    ("divisible by 2 at", lambda: F.conv_transpose2d(X, W, groups=2)),
    ("input to conv_transpose2d", lambda: F.conv_transpose2d(X[0, 0], W)),
    ("5-dimensional weight for conv3d", lambda: F.conv3d(X, W)),
]


@pytest.mark.parametrize("words, call", WRONG)
def test_what_torch_refuses_is_refused(words, call):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_layers_refuse_arguments_as_torch_does():
    with pytest.raises(ValueError, match='Only "zeros" padding mode is supported for'):
        nn.ConvTranspose2d(3, 4, 3, padding_mode="circular")
    with pytest.raises(ValueError, match="in_channels must be divisible"):
        nn.ConvTranspose2d(3, 4, 3, groups=2)
    assert isinstance(nn.Conv3d(2, 2, 1)(zeros(1, 2, 1, 1, 1)), type(X))
    assert not isinstance(X, DTensor)
