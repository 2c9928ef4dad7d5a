# SPDX-License-Identifier: GPL-3.0-or-later
# check.py - ONNX's own checker and its strict inference of shapes (Debian's python3-onnx) accept every built-in model that podbench writes.
#
# usage: check.py PODBENCH [NAME...]. Files without weights have tensors without contents, which the checker refuses, so those become inputs here;
# small models are checked as they are, with weights.
import os, subprocess, sys, tempfile
try:
    import onnx
except ImportError as e:
    sys.exit(print(f'skipped: {e}; Debian has python3-onnx'))


def written(podbench, path, name, mode, *more):
    done = subprocess.run([podbench, 'workload', name, *mode, '--onnx', path, *more], capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ''


def check(podbench, folder, name, mode):
    path = f'{folder}/{name}.onnx'
    why = written(podbench, path, name, mode)
    if why:
        return 'no ONNX operator is known for' not in why, why
    if os.path.getsize(path) < 50000:
        written(podbench, path, name, mode, '--weights', '1')
        onnx.checker.check_model(path, full_check=True)
    model = onnx.load(path, load_external_data=False)
    empty = [t for t in model.graph.initializer if not t.ByteSize() or t.data_location or not any(
        len(getattr(t, field)) for field in ('raw_data', 'float_data', 'int32_data', 'int64_data'))]
    for t in empty:
        model.graph.input.append(onnx.helper.make_tensor_value_info(t.name, t.data_type, t.dims))
        model.graph.initializer.remove(t)
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    return False, f'opset {model.opset_import[0].version}, {len(model.graph.node)} nodes, {len(empty)} weights'


bad, podbench = 0, sys.argv[1]
names = sys.argv[2:] or subprocess.run([podbench, 'list', 'workloads', '--names'], capture_output=True, text=True).stdout.split()
with tempfile.TemporaryDirectory() as folder:
    for name in names:
        for mode in [], ['--set', 'recipe.mode=infer']:
            try:
                failed, text = check(podbench, folder, name, mode)
            except Exception as e:
                failed, text = True, str(e).replace('\n', ' ')[:200]
            bad += failed
            print(f'{"not ok" if failed else "ok    "} {name}, {"inference" if mode else "training"}: {text}', flush=True)
print(f'{bad} refused')
sys.exit(bad > 0)
