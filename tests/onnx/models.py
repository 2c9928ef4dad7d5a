# SPDX-License-Identifier: GPL-3.0-or-later
# models.py - models of PyTorch and torchvision (Debian's packages), exported and read by podbench: parameters and multiply-accumulates must be
# those that torch counts.
#
# usage: models.py PODBENCH [--answers] [NAME...]. With --answers the first answer of each is printed too: `init --model`, then `run`. Parameters are module.parameters(); multiply-accumulates are counted at each product and convolution that
# torch executes, by its operands' shapes, and know nothing of ONNX.
import json, math, os, subprocess, sys, tempfile, warnings
warnings.filterwarnings('ignore')
try:
    import torch, torchvision
    from torch import nn
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as e:
    sys.exit(print(f'skipped: {e}; Debian has python3-torchvision'))


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.products = []                  # of each its multiply-accumulates and weighted sums of its operands

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out, name, macs = func(*args, **(kwargs or {})), func.__name__.split('.')[0], 0
        if name in ('mm', 'bmm'):
            macs = args[0].numel() * args[1].shape[-1]
        elif name in ('addmm', 'baddbmm'):
            macs = args[1].numel() * args[2].shape[-1]
        elif name == 'convolution':
            x, w, transposed = args[0], args[1], args[6]
            macs = (x if transposed else out).numel() * math.prod(w.shape[1:])
        if macs:
            self.products.append((macs, [float((x.double().flatten() * torch.arange(1., x.numel() + 1)).sum()) for x in args[:3] if isinstance(x, torch.Tensor)]))
        return out


class Shared(nn.Module):            # one layer six times, as ALBERT has it
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        for _ in range(6):
            x = torch.tanh(self.layer(x))
        return x


class Decoder(nn.Module):           # a causal mask in a float buffer, as nanoGPT has it
    def __init__(self):
        super().__init__()
        self.words, self.qkv, self.out, self.head = nn.Embedding(500, 64), nn.Linear(64, 192), nn.Linear(64, 64), nn.Linear(64, 500)
        self.register_buffer('mask', torch.tril(torch.ones(32, 32)))

    def forward(self, tokens):
        x = self.words(tokens)
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = (q @ k.transpose(-2, -1) / 8).masked_fill(self.mask[:q.shape[1], :q.shape[1]] == 0, float('-inf'))
        return self.head(x + self.out(scores.softmax(-1) @ v))


class Recurrent(nn.Module):         # states given from outside; time first, or samples first
    def __init__(self, kind, batch_first):
        super().__init__()
        self.rnn, self.head = kind(40, 64, 2, batch_first=batch_first), nn.Linear(64, 10)

    def forward(self, x, h, c=None):
        y, _ = self.rnn(x, h if c is None else (h, c))
        return self.head(y)


class Depth(nn.Module):             # depthwise, grouped and transposed windows in three dimensions
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(3, 16, 3, 2, 1), nn.Conv3d(16, 16, 3, 1, 1, groups=16), nn.Conv3d(16, 32, (2, 3, 3), 1, groups=4),
                                  nn.ConvTranspose3d(32, 8, 2, 2), nn.ConvTranspose3d(8, 4, 3, (1, 2, 2), 1, groups=2))

    def forward(self, x):
        return self.body(x)


class Larger(nn.Module):            # bicubic
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return nn.functional.interpolate(self.conv(x), scale_factor=2, mode='bicubic')


class Convolution(nn.Module):       # of a graph: nodes and their adjacency, and no batch
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(1433, 16), nn.Linear(16, 7)

    def forward(self, x, adjacency):
        return adjacency @ self.two(torch.relu(adjacency @ self.one(x)))


class Attention(nn.Module):         # GAT, with an Einsum
    def __init__(self):
        super().__init__()
        self.w, self.left, self.right = nn.Linear(100, 64), nn.Parameter(torch.rand(8, 8)), nn.Parameter(torch.rand(8, 8))

    def forward(self, x, adjacency):
        h = self.w(x).view(-1, 8, 8)
        scores = nn.functional.leaky_relu((h * self.left).sum(-1)[:, None] + (h * self.right).sum(-1)[None], 0.2)
        return torch.einsum('ijh,jhd->ihd', scores.masked_fill(adjacency[:, :, None] == 0, float('-inf')).softmax(1), h).flatten(1)


class Sage(nn.Module):              # edges gathered, and added up at their ends
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(128, 128), nn.Linear(128, 16)

    def forward(self, x, start, end):
        return self.two(torch.relu(self.one(torch.zeros_like(x).scatter_add(0, end[:, None].expand(-1, 128), x[start]))))


class Albert(nn.Module):            # one layer six times, behind a factorised embedding; exported, Identity nodes hold what is shared
    def __init__(self):
        super().__init__()
        self.words, self.places, self.up = nn.Embedding(3000, 64), nn.Embedding(128, 64), nn.Linear(64, 256)
        self.layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
        self.head = nn.Linear(256, 5)

    def forward(self, tokens):
        x = self.up(self.words(tokens) + self.places.weight[:tokens.shape[1]])
        for _ in range(6):
            x = self.layer(x)
        return self.head(x[:, 0])


class Gpt2(nn.Module):              # of the size of GPT-2 small, with its tied head; its mask is a float buffer that is added
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(768, 12, 3072, activation='gelu', norm_first=True, batch_first=True) for _ in range(12))
        self.norm = nn.LayerNorm(768)
        self.register_buffer('mask', torch.triu(torch.full((1024, 1024), float('-inf')), 1))

    def forward(self, tokens):
        n = tokens.shape[1]
        x = self.words(tokens) + self.places.weight[:n]
        for block in self.blocks:
            x = block(x, self.mask[:n, :n])
        return self.norm(x) @ self.words.weight.T


IMAGE = (torch.rand(2, 3, 64, 64),)
own = {
    'shared': (Shared, (torch.rand(2, 64),), []), 'decoder': (Decoder, (torch.randint(500, (2, 16)),), []), 'depth': (Depth, (torch.rand(2, 3, 8, 16, 16),), []),
    'lstm-time-first': (lambda: Recurrent(nn.LSTM, False), (torch.rand(7, 2, 40), torch.rand(2, 2, 64), torch.rand(2, 2, 64)), []),
    'lstm-fixed': (lambda: Recurrent(nn.LSTM, False), (torch.rand(7, 2, 40), torch.rand(2, 2, 64), torch.rand(2, 2, 64)), []),
    'lstm': (lambda: Recurrent(nn.LSTM, True), (torch.rand(2, 7, 40), torch.rand(2, 2, 64), torch.rand(2, 2, 64)), []),
    'gru': (lambda: Recurrent(nn.GRU, True), (torch.rand(2, 7, 40), torch.rand(2, 2, 64)), []), 'bicubic': (Larger, (torch.rand(2, 3, 32, 32),), []),
}
GRAPHS = {'gcn': (Convolution, (torch.rand(200, 1433), torch.rand(200, 200)), []), 'gat': (Attention, (torch.rand(200, 100), torch.ones(200, 200)), []),
          'sage': (Sage, (torch.rand(500, 128), torch.randint(500, (2000,)), torch.randint(500, (2000,))), [])}
own.update(GRAPHS)
vision = ['resnet18', 'resnext50_32x4d', 'mobilenet_v2', 'mobilenet_v3_small', 'shufflenet_v2_x1_0', 'squeezenet1_1', 'densenet121', 'efficientnet_b0',
          'efficientnet_v2_s', 'regnet_y_400mf', 'mnasnet1_0']
large = ['alexnet', 'vgg11_bn', 'convnext_tiny', 'vit_b_16', 'swin_t', 'maxvit_t']
video = ['r3d_18', 'r2plus1d_18', 'mvit_v1_b']
models = torchvision.models
for name in vision:
    own[name] = (lambda name=name: getattr(models, name)(), IMAGE, [])
for name in large:
    own[name] = (lambda name=name: getattr(models, name)(), (torch.rand(2, 3, 224, 224),), [])
for name in video:
    own[name] = (lambda name=name: getattr(models.video, name)(), (torch.rand(2, 3, 16, 224, 224) if 'mvit' in name else torch.rand(2, 3, 8, 64, 64),), [])
own['fcn_resnet50'] = (lambda: nn.Sequential(models.segmentation.fcn_resnet50(weights_backbone=None)), IMAGE, [])


own['albert'] = (Albert, (torch.randint(3000, (2, 128)),), [])
own['gpt2'] = (Gpt2, (torch.randint(50257, (1, 1024)),), [])
own['raft_small'] = (lambda: models.optical_flow.raft_small(), (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128)), [f'flow{i}' for i in range(12)])
detectors = {'retinanet': 'retinanet_resnet50_fpn', 'ssdlite': 'ssdlite320_mobilenet_v3_large'}
for name, maker in detectors.items():
    own[name] = (lambda maker=maker: getattr(models.detection, maker)(weights=None, weights_backbone=None), (torch.rand(1, 3, 320, 320),), [])


def described(podbench, path, *sets):
    done = subprocess.run([podbench, 'workload', path, '--format', 'json', *sets], capture_output=True, text=True)
    return (json.loads(done.stdout), '') if done.returncode == 0 else (None, done.stderr.strip())


# Multiply-accumulates of the products that depend on the inputs: the others, such as a convolution of the first, empty flow, are constants. Two runs
# on other inputs tell them apart.
def counted(model, inputs):
    def run(change):
        torch.manual_seed(2)
        changed = [[change(x) for x in i] if isinstance(i, list) else change(i) for i in inputs]
        with Count() as count, torch.no_grad():
            model(*changed)
        return count.products
    one, other = run(lambda x: x), run(lambda x: 0.5 * x + 0.1 if x.is_floating_point() else x.flip(0).roll(1, -1))
    assert len(one) == len(other)
    return sum(macs for (macs, sums), (_, others) in zip(one, other) if sums != others)


# Returns how many multiply-accumulates torch counts, and writes the file.
def exported(name, path, model, inputs, outputs, axes):
    options = dict(opset_version=17, input_names=list(axes), dynamic_axes={} if name in WHOLE else axes, output_names=outputs, do_constant_folding=False)
    if name in detectors:               # in training they want targets
        macs = counted(model.eval(), [[x[0] for x in inputs]])
        torch.onnx.export(model, ([x[0] for x in inputs],), path, **options)
        return macs
    macs = counted(model, inputs)
    try:
        torch.onnx.export(model, inputs, path, training=torch.onnx.TrainingMode.TRAINING, **options)
    except torch.onnx.errors.OnnxExporterError:          # stochastic depth; this export merges vectors that are equal, as untrained ones are
        for p in model.parameters():
            p.data += 0.01 * torch.rand_like(p)
        torch.onnx.export(model.eval(), inputs, path, training=torch.onnx.TrainingMode.PRESERVE, **options)
    return macs


# As it is read for training, or else for inference; (None, why) if it is refused.
def read(podbench, name, path, outputs):
    if name in detectors:
        return described(podbench, path, '--set', 'recipe.mode=infer', '--approximate')
    whole = name in GRAPHS or name == 'lstm-fixed'      # without a batch: one sample, and never as many as a recipe likes
    if whole and (described(podbench, path)[0] or described(podbench, path, '--set', 'data.batch=0', '--set', 'parallel.micro_batch=2')[0]):
        return None, 'the first dimension is taken for a batch'
    losses = ['--set', 'recipe.output=' + ','.join(outputs)] if outputs else []
    found, why = described(podbench, path, '--set', 'data.batch=0' if whole else f'parallel.micro_batch={1 if name in ("gpt2", *WHOLE) else 2}', *losses)
    return (found, why) if found else described(podbench, path, '--set', 'parallel.micro_batch=2', '--set', 'recipe.mode=infer')


# The fourth line of what `run` says of the recipe that `init` writes: what bounds it.
def first_answer(podbench, name, path, outputs):
    folder = tempfile.mkdtemp(dir=os.path.dirname(path))
    sets = ['--set', 'data.batch=0'] if name in GRAPHS or name == 'lstm-fixed' else []
    sets += ['--set', 'recipe.output=' + ','.join(outputs)] if outputs else []
    sets += ['--set', 'recipe.approximate=yes'] if name in detectors else []
    made = subprocess.run([podbench, 'init', folder, '--model', path, *sets], capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip()
    said = subprocess.run([podbench, 'run', f'{folder}/{name}.ini'], capture_output=True, text=True).stdout.split('\n')
    return '\n         '.join([made.stdout.split('\n')[2]] + [line for line in said if line.startswith(('fits', 'throughput', 'bound', 'step'))])


def run(podbench, name, folder, answers):
    make, inputs, outputs = own[name]
    torch.manual_seed(1)
    model, path = make().train(), f'{folder}/{name}.onnx'
    axes = {f'in{i}': {(1 if x.dim() == 3 and (i or name == 'lstm-time-first') else 0): 'batch'} for i, x in enumerate(inputs)}
    macs = exported(name, path, model, inputs, outputs, axes)
    found, why = read(podbench, name, path, outputs)
    if found is None:
        return 'refused', why
    want, have = (sum(p.numel() for p in model.parameters()), macs), (found['parameters'], found['forward_mac'])
    right = want[1] == have[1] and (want[0] == have[0] or name in detectors)    # theirs have frozen norms, which are folded
    text = f'{have[0]} parameters of {want[0]}, {have[1]} MACs of {want[1]}'
    return ('right' if right else 'DIFFERS'), text + ('\n         ' + first_answer(podbench, name, path, outputs) if answers else '')


WHOLE = [*GRAPHS, 'lstm-fixed', 'raft_small', *detectors]          # of fixed sizes
answers = '--answers' in sys.argv
names = [name for name in sys.argv[2:] if name != '--answers']
bad = 0
with tempfile.TemporaryDirectory() as folder:
    for name in names or own:
        try:
            verdict, text = run(sys.argv[1], name, folder, answers)
        except Exception as e:
            verdict, text = 'not exported', str(e).split('\n')[0][:100]
        bad += verdict in ('DIFFERS', 'refused')
        print(f'{verdict:8} {name}: {text}', flush=True)
sys.exit(bad > 0)
