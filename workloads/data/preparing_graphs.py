#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what one core needs to prepare a graph (hosts.sample_s) by the loaders' own code: clusters of PubMed, padded to a fixed size, and padded molecules.
Usage: preparing_graphs.py PYG POPTORCH, checkouts of pyg-team/pytorch_geometric at 8cb9bf29 and graphcore/poptorch at c2a8b177. Needs python3-torch,
python3-scipy, python3-tqdm, python3-pandas and python3-sklearn of Debian 12. Random graphs of PubMed's and QM9's sizes stand for theirs, and clusters of random
sizes for those of METIS. The copy of a batch that the call's bytes already count is left out. CPU seconds; the least of 20 passes."""
import importlib.util
import sys
import time
import types

import torch

PYG, POPTORCH = sys.argv[1:]
sys.path.insert(0, PYG)
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import ClusterData, ClusterLoader


def poptorch_geometric():
    """The modules that collate, of a package whose compiled part no machine without IPUs has."""
    for name in "poptorch", "poptorch._utils", "poptorch_geometric":
        sys.modules[name] = types.ModuleType(name)
    sys.modules["poptorch"].ICustomArgParser = object
    sys.modules["poptorch"].registerCustomArgParser = lambda *_: None
    sys.modules["poptorch._utils"].combine_batch_tensors_gen = None
    sys.modules["poptorch_geometric"].__path__ = [POPTORCH + "/poptorch_geometric/python"]
    return [importlib.import_module("poptorch_geometric." + name) for name in ("collate", "fixed_size_options")]


def least_s(work, n, passes=20):
    times = []
    for _ in range(passes):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) / n)
    return min(times)


def pubmed(nodes=19717, features=500, edges=88648, batch=1972):
    near = torch.randint(0, nodes, (edges // 2,))
    other = (near // batch * batch + torch.randint(0, batch, near.shape)).clamp(max=nodes - 1)
    pairs = torch.cat([torch.stack([near, other]), torch.stack([other, near]), torch.arange(nodes).repeat(2, 1)], dim=1)
    masks = {name + "_mask": torch.rand(nodes) < 0.05 for name in ("train", "val", "test")}
    return Data(x=torch.rand(nodes, features), edge_index=pairs, y=torch.randint(0, 3, (nodes,)), **masks)


def clusters_s():
    collate, options = poptorch_geometric()
    graph = pubmed()
    sizes = torch.randint(150, 245, (100,)).double()
    of_cluster = torch.repeat_interleave(torch.arange(100), (sizes / sizes.sum() * graph.num_nodes).long())
    of_cluster = torch.cat([of_cluster, torch.full((graph.num_nodes - of_cluster.numel(),), 99)])
    ClusterData._metis = lambda *_: of_cluster
    loader = ClusterLoader(ClusterData(graph, num_parts=100, log=False), batch_size=10)
    size = options.FixedSizeOptions.from_loader(loader, sample_limit=10)
    pad = collate.FixedSizeCollater(size, add_masks_to_batch=True, trim_nodes=True, trim_edges=True)
    batches = [list(range(i, i + 10)) for i in range(0, 100, 10)]
    return least_s(lambda: [pad([loader.collate_fn(batch)]) for batch in batches], len(batches))


class Molecules(InMemoryDataset):
    def __init__(self, n):
        super().__init__(None)
        self.data, self.slices = self.collate([self.molecule() for _ in range(n)])

    @staticmethod
    def molecule():
        n = int(torch.randint(14, 24, (1,)))
        return Data(x=torch.rand(n, 11), edge_index=torch.randint(0, n, (2, 2 * n)), edge_attr=torch.rand(2 * n, 4), y=torch.rand(1, 19), pos=torch.rand(n, 3),
                    idx=torch.tensor([0]), name="any", z=torch.randint(1, 9, (n,)))


def padded(molecule, atoms=32, far=1000.0):
    """As cells 31 and 33 of PyG-SchNetGNN.ipynb do (gradient-ai/Graphcore-Pytorch at 8a1a6bc)."""
    missing = atoms - molecule.z.numel()
    molecule.z = torch.nn.functional.pad(molecule.z, (0, missing), "constant", 0)
    molecule.pos = torch.nn.functional.pad(molecule.pos, (0, 0, 0, missing), "constant", far)
    molecule.num_nodes, molecule.y = atoms, molecule.y[0, 4]
    return Data(**{key: getattr(molecule, key) for key in ("z", "pos", "y", "num_nodes")})


def molecules_s(n=1152, batch=12):
    molecules = Molecules(n)
    molecules.transform = padded

    def work():
        molecules._data_list = None
        rows = [molecules[i] for i in range(n)]
        batches = [Batch.from_data_list(rows[i:i + batch]) for i in range(0, n, batch)]
        return [torch.stack([getattr(b, key) for b in batches]) for key in ("z", "pos", "batch", "y")]
    return batch * least_s(work, n)


torch.manual_seed(1)
torch.set_num_threads(1)
print("ten clusters of PubMed: %.2g s" % clusters_s())
print("twelve molecules of QM9: %.2g s" % molecules_s())
