"""Modules: the names of ``torch.nn``."""

from dtensor.nn import functional, init, utils
from dtensor.nn._hooks import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from dtensor.nn.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Softsign,
    Tanh,
)
from dtensor.nn.attention import MultiheadAttention
from dtensor.nn.batch_norm import BatchNorm1d, BatchNorm2d, SyncBatchNorm
from dtensor.nn.containers import ModuleDict, ModuleList, Sequential
from dtensor.nn.conv import Conv1d, Conv2d, Conv3d
from dtensor.nn.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from dtensor.nn.dropout import Dropout
from dtensor.nn.embedding import Embedding
from dtensor.nn.fold import Fold, Unfold
from dtensor.nn.linear import Bilinear, Identity, Linear
from dtensor.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from dtensor.nn.module import Module, RemovableHandle
from dtensor.nn.norm import GroupNorm, LayerNorm, RMSNorm
from dtensor.nn.parameter import Buffer, Parameter
from dtensor.nn.parameter_containers import ParameterDict, ParameterList
from dtensor.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)
from dtensor.nn.reshape import Flatten, Unflatten
from dtensor.nn.rnn import GRU, LSTM, RNN
from dtensor.nn.rnn_base import RNNBase
from dtensor.nn.rnn_cells import GRUCell, LSTMCell, RNNCell
from dtensor.nn.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Bilinear",
    "Buffer",
    "CELU",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CrossEntropyLoss",
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "Fold",
    "GELU",
    "GLU",
    "GRU",
    "GRUCell",
    "GroupNorm",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "RNN",
    "RNNBase",
    "RNNCell",
    "ReLU",
    "ReLU6",
    "RemovableHandle",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Unflatten",
    "Unfold",
    "functional",
    "init",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "utils",
]
