"""PyTorch as pip installs it: tensors, operators, models, an extension, torch.compile."""

import copy

import torch
import torch.nn.functional as F
from check import check, finish
from torch import nn
from torch.utils.cpp_extension import load_inline

torch.manual_seed(0)
host = torch.randn(33, 17)
device = host.cuda()


def same(made, expected, bound=1e-5):
    return torch.allclose(made.detach().cpu(), expected.detach(), rtol=bound, atol=bound)


def slices():
    made, expected = torch.zeros(8, 8, device="cuda"), torch.zeros(8, 8)
    for t in (made, expected):
        t[1::2, 2:5] = 3
        t[:, 7] = torch.arange(8., device=t.device)
        t[2:4].t().add_(1)
    return same(made, expected)


def numbers():
    bytes_ = torch.arange(8, dtype=torch.uint8)
    made = bytes_.cuda()
    made &= 6
    return all(torch.equal(a.cpu(), b) and a.dtype == b.dtype
               for a, b in ((made, bytes_ & 6), (bytes_.cuda() | 9, bytes_ | 9),
                            (bytes_.cuda() ^ 5, bytes_ ^ 5), (bytes_.cuda() << 1, bytes_ << 1)))


def random_numbers():
    torch.manual_seed(5)
    first, second = torch.rand(4, device="cuda"), torch.rand(4, device="cuda")
    torch.manual_seed(5)
    again = torch.rand(4, device="cuda")
    return torch.equal(first, again) and not torch.equal(first, second)


def model(module, x, compiled=False):
    """Outputs and gradients, compared with the host's."""
    other = copy.deepcopy(module).cuda()
    run = torch.compile(other) if compiled else other
    ours, theirs = x.cuda().requires_grad_(), x.clone().requires_grad_()
    made, expected = run(ours), module(theirs)
    if isinstance(made, tuple):
        made, expected = made[0], expected[0]
    weights = torch.randn(expected.shape)
    (made * weights.cuda()).sum().backward()
    (expected * weights).sum().backward()
    return same(made, expected, 1e-4) and same(ours.grad, theirs.grad, 1e-3)


def train(optimizer):
    module = nn.Linear(4, 4).cuda()
    other = copy.deepcopy(module).cpu()
    for m in (module, other):
        o = optimizer(m.parameters(), lr=0.1)
        for _ in range(3):
            o.zero_grad()
            m(torch.ones(2, 4, device=m.weight.device)).square().sum().backward()
            o.step()
    return same(module.weight, other.weight, 1e-4)


def layer_norm_in_16_bits():
    """The gradients as a GPU computes them: mean, deviation and sums in 32 bits, one rounding."""
    data = ((torch.randn(64, 512) * 0.5 - 2.3).half(), torch.rand(512).half(),
            torch.rand(512).half())
    weights = torch.randn(64, 512).half()

    def gradients(to):
        x, scale, offset = tensors = [to(t).requires_grad_() for t in data]
        F.layer_norm(x, (512,), scale, offset, 1e-5).backward(to(weights))
        return [t.grad.float() for t in tensors]

    return all(map(same, gradients(torch.Tensor.cuda), gradients(torch.Tensor.double), [1e-3] * 3))


CUDA = r"""
__global__ void twice(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
torch::Tensor twice_of(torch::Tensor in) {
  auto out = torch::empty_like(in);
  int n = in.numel();
  twice<<<(n + 127) / 128, 128>>>(out.data_ptr<float>(), in.data_ptr<float>(), n);
  return out;
}"""


def extension():
    module = load_inline(name="lockstep_twice",
                         cpp_sources="torch::Tensor twice_of(torch::Tensor);",
                         cuda_sources=CUDA,
                         functions=["twice_of"])
    return same(module.twice_of(device), 2 * host)


class Attention(nn.Module):

    def forward(self, x):
        scores = torch.softmax(x @ x.transpose(-1, -2) * x.shape[-1]**-0.5, -1)
        return scores @ x


class RowSums(nn.Module):

    def forward(self, x):
        return (x - x.mean(-1, keepdim=True)).square().sum(-1)


MLP = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
CONV = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
IMAGE = torch.randn(2, 3, 10, 10)
CELL, ROW = nn.LSTMCell(4, 4), torch.randn(2, 4)

for name, function in {
        "copies": lambda: same(device, host),
        "zeros": lambda: same(torch.zeros(5, device="cuda"), torch.zeros(5)),
        "fill": lambda: same(torch.full((5,), 3., device="cuda"), torch.full((5,), 3.)),
        "arange": lambda: same(torch.arange(9., device="cuda"), torch.arange(9.)),
        "arithmetic": lambda: same(device * 3 + device, host * 4),
        "broadcast": lambda: same(device + device[:1], host + host[:1]),
        "strided copies": lambda: same(device[::2, 3:9], host[::2, 3:9]),
        "stores to slices": slices,
        "conversion": lambda: same(device.half().float(), host.half().float()),
        "sum, max, sort": lambda: same(device.sort(1)[0].sum(0), host.sort(1)[0].sum(0)) and
                          same(device.max(1).values, host.max(1).values),
        "boolean index": lambda: same(device[device > 0], host[host > 0]),
        "matrix product": lambda: same(device.t() @ device, host.t() @ host, 1e-4),
        "softmax": lambda: same(torch.softmax(device, 1), torch.softmax(host, 1)),
        "fft": lambda: same(torch.fft.fft(device).abs(), torch.fft.fft(host).abs(), 1e-3),
        "fft of complex numbers": lambda: same(
            torch.view_as_real(torch.fft.ifft2(torch.complex(device, -device))),
            torch.view_as_real(torch.fft.ifft2(torch.complex(host, -host))), 1e-4),
        "fft to real numbers": lambda: same(torch.fft.irfft(torch.complex(device, device)),
                                            torch.fft.irfft(torch.complex(host, host)), 1e-4),
        "inverse": lambda: same(torch.linalg.inv(device[:17]), torch.linalg.inv(host[:17]), 1e-2),
        "random numbers": random_numbers,
        "printing": lambda: "cuda" in repr(device),
        "attention": lambda: same(F.scaled_dot_product_attention(device, device, device),
                                  F.scaled_dot_product_attention(host, host, host), 1e-4),
        "MLP": lambda: model(MLP, torch.randn(5, 8)),
        "convolution": lambda: model(CONV, IMAGE),
        "transformer": lambda: model(
            nn.TransformerEncoderLayer(16, 2, 32, dropout=0., batch_first=True),
            torch.randn(2, 5, 16)),
        "LSTM": lambda: model(nn.LSTM(8, 8, batch_first=True), torch.randn(2, 5, 8)),
        "GRU": lambda: model(nn.GRU(8, 8, bias=False), torch.randn(5, 2, 8)),
        "LSTM in 16 bits": lambda: same(CELL.half().cuda()(ROW.half().cuda())[0].float(),
                                        CELL.float().cpu()(ROW)[0], 1e-2),
        "bits with a number": numbers,
        "layer norm in 16 bits": layer_norm_in_16_bits,
        "SGD": lambda: train(torch.optim.SGD),
        "AdamW": lambda: train(torch.optim.AdamW),
        "extension": extension,
        "compile: MLP": lambda: model(MLP, torch.randn(5, 8), compiled=True),
        "compile: attention": lambda: model(Attention(), torch.randn(2, 16, 32), compiled=True),
        "compile: convolution": lambda: model(CONV, IMAGE, compiled=True),
        "compile: layer norm": lambda: model(nn.LayerNorm(64), torch.randn(7, 64), compiled=True),
        "compile: reduction": lambda: model(RowSums(), torch.randn(9, 300), compiled=True),
}.items():
    check(name, function)
finish()
