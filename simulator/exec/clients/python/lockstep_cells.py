"""Recurrent cells for the host. PyTorch implements them as one kernel for CUDA only.

The functions have the arguments and results of PyTorch's operators (native_functions.yaml), with
tensors of the host. A result has the type of its argument; sums are in 32 bits at least, as in
PyTorch's kernels (aten/src/ATen/native/cuda/RNN.cu).
"""

import torch


def _wide(t):
    return None if t is None else t.float() if t.dtype.itemsize < 4 else t


def _gates(gates, bias):
    return _wide(gates) if bias is None else _wide(gates) + _wide(bias)


def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    """(hy, cy, workspace): gates in the order i, f, g, o."""
    sums = _gates(input_gates, input_bias) + _gates(hidden_gates, hidden_bias)
    i, f, g, o = sums.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * _wide(cx) + i * g
    hy = o * cy.tanh()
    to = input_gates.dtype
    return hy.to(to), cy.to(to), torch.cat([i, f, g, o], 1).to(to)


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    """(grad_gates, grad_cx, grad_bias)"""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    i, f, g, o = _wide(workspace).chunk(4, 1)
    by_hy = torch.zeros_like(i) if grad_hy is None else _wide(grad_hy)
    by_cy = torch.zeros_like(i) if grad_cy is None else _wide(grad_cy)
    c = _wide(cy).tanh()
    through_c = by_hy * o * (1 - c * c) + by_cy
    grads = torch.cat([
        through_c * g * i * (1 - i), through_c * _wide(cx) * f * (1 - f),
        through_c * i * (1 - g * g), by_hy * c * o * (1 - o)
    ], 1)
    to = workspace.dtype
    return grads.to(to), (through_c * f).to(to), grads.sum(0).to(to) if has_bias else None


def gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    """(hy, workspace): gates in the order r, i, n."""
    input_r, input_i, input_n = _gates(input_gates, input_bias).chunk(3, 1)
    hidden_r, hidden_i, hidden_n = _gates(hidden_gates, hidden_bias).chunk(3, 1)
    r, i = (input_r + hidden_r).sigmoid(), (input_i + hidden_i).sigmoid()
    n = (input_n + r * hidden_n).tanh()
    h = _wide(hx)
    to = input_gates.dtype
    return (n + i * (h - n)).to(to), torch.cat([r, i, n, h, hidden_n], 1).to(to)


def gru_cell_backward(grad_hy, workspace, has_bias):
    """(grad_input_gates, grad_hidden_gates, grad_hx, grad_input_bias, grad_hidden_bias)"""
    r, i, n, h, hidden_n = _wide(workspace).chunk(5, 1)
    grad = _wide(grad_hy)
    by_i = grad * (h - n) * (1 - i) * i
    by_n = grad * (1 - i) * (1 - n * n)
    by_r = by_n * hidden_n * (1 - r) * r
    to = workspace.dtype
    of_input, of_hidden = torch.cat([by_r, by_i, by_n], 1), torch.cat([by_r, by_i, by_n * r], 1)
    biases = (of_input.sum(0).to(to), of_hidden.sum(0).to(to)) if has_bias else (None, None)
    return (of_input.to(to), of_hidden.to(to), (grad * i).to(to), *biases)


CELLS = {
    "aten::_thnn_fused_lstm_cell": lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": gru_cell,
    "aten::_thnn_fused_gru_cell_backward": gru_cell_backward,
}
