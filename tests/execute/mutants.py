# SPDX-License-Identifier: GPL-3.0-or-later
"""Spoils one rule of a kernel at a time and asks whether the tests of gradients notice.

usage: mutants.py BUILD (the folder of a finished build; CC: the compiler). Each row is a kernel header, what stands in it once, and what is put in its place. A
mutant is compiled into tests/graph/t_execute (central differences), which must fail. Prints a row for each; exit status 1 where one lives.
"""
import os
import subprocess
import sys

ROOM = "system-model/execute/kernels_"
MUTANTS = [
    ("elements", "OP_TANH: return 1 - kept * kept", "OP_TANH: return 1 - kept"),
    ("elements", "OP_SIGMOID: return kept * (1 - kept)", "OP_SIGMOID: return kept * (1 + kept)"),
    ("elements", "0.5 * x * (1 - t * t) * a", "0.5 * x * (1 + t * t) * a"),
    ("elements", "sigmoid(kept) * (1 + kept * (1 - sigmoid(kept)))", "sigmoid(kept) * (1 - kept * (1 - sigmoid(kept)))"),
    ("elements", "y[i] = kept[i] > 0 ? x[i] : 0;", "y[i] = kept[i] >= 0 ? x[i] : 0;"),
    ("elements", "kept = r->op->pass == PASS_FORWARD ? x : in(r, 1)", "kept = x"),
    ("elements", "out(r, 0)[seen_at(i, y, tensor_out(r, 0))] += in(r, 0)[i];", "out(r, 0)[seen_at(i, y, tensor_out(r, 0))] = in(r, 0)[i];"),
    ("elements", "+= in(r, 0)[i] * in(r, 2)[seen_at(i, y, b)]", "+= in(r, 0)[i] * in(r, 1)[i]"),
    ("elements", "out(r, k)[seen_at(i, y, b)] += in(r, 0)[i] * in(r, 1)[i]", "out(r, k)[seen_at(i, y, b)] = in(r, 0)[i] * in(r, 1)[i]"),
    ("elements", "unary(at, in(r, 1)[i] - 1e-6)) / 2e-6", "unary(at, in(r, 1)[i])) / 2e-6"),
    ("elements", "binary(f->at, a + h, b) - binary(f->at, a - h, b)", "binary(f->at, a + h, b) - binary(f->at, a, b)"),
    ("elements", "binary(f->at, a, b + h) - binary(f->at, a, b - h)", "binary(f->at, a, b + h) - binary(f->at, a, b)"),
    ("elements", "if (here && which_input(r, o) == 0)", "if (which_input(r, o) == 0)"),
    ("elements", "else if (!here && which_input(r, o) == 2)", "else if (which_input(r, o) == 2)"),
    ("elements", "            out(r, 0)[seen_at(i, y, x)] += in(r, 0)[i];", "            out(r, 0)[seen_at(i, y, x)] = in(r, 0)[i];"),
    ("elements", "seed[3] = { r->dropout_key[0], r->dropout_key[1], 0 }", "seed[3] = { r->op->pass, r->dropout_key[1], 0 }"),
    ("elements", "for (uint64_t i = 0; i < rows; i++)\n        for (uint64_t k = 0; k < columns; k++)\n            sum[k]",
     "for (uint64_t i = 1; i < rows; i++)\n        for (uint64_t k = 0; k < columns; k++)\n            sum[k]"),
    ("elements", "static inline void run_scale(const struct run *r) { run_copy(r, (real)r->op->at->rate)",
     "static inline void run_scale(const struct run *r) { run_copy(r, r->op->pass == PASS_FORWARD ? (real)r->op->at->rate : 1)"),
    ("products", "product_add(a, c, b_turned, s.rows, s.columns, s.inner", "product_add(a, c, b_turned, s.rows, s.columns - 1, s.inner"),
    ("products", "c_turned, a, s.columns, s.rows, s.inner", "c_turned, a, s.columns, s.rows - 1, s.inner"),
    ("products", "product_add(b, a_turned, c, s.inner, s.rows, s.columns", "product_add(b, a_turned, c, s.inner, s.rows - 1, s.columns"),
    ("products", "c->vx[at + first_channel + k] += from[k]", "c->vx[at + first_channel + k] = from[k]"),
    ("products", "product_add(w, windows_turned, y, c->window, rows, c->out_chans", "product_add(w, windows_turned, y, c->window, rows - 1, c->out_chans"),
    ("products", "product_add(windows, y, w_turned, rows, c->out_chans, c->window", "product_add(windows, y, w_turned, rows, c->out_chans - 1, c->window"),
    ("products", "dx[places[k] + c] += (real)(dy / counted)", "dx[places[k] + c] += (real)(dy / (double)n)"),
    ("products", "            dx[places[k] + c] += dy;\n            return;", "            dx[places[k] + c] = dy;\n            return;"),
    ("products", "out(r, 0)[at] += (real)(share * in(r, 0)[e])", "out(r, 0)[at] += (real)(in(r, 0)[e] / 4)"),
    ("products", "at->low * pow(sum, -at->low - 1) * 2 * factor", "at->low * pow(sum, -at->low - 1) * factor"),
    ("products", "out(r, 0)[i] += (real)(in(r, 0)[i] * pow(sum, -at->low));", "out(r, 0)[i] += in(r, 0)[i];"),
    ("norms", "- m.gradient[set]", ""),
    ("norms", "- normalised(&m, set, in(r, 1)[e]) * m.along[set]", ""),
    ("norms", "(real)(m.inverse[set] * (", "(real)(("),
    ("norms", "(double)in(r, 0)[e] * in(r, 2)[c]", "(double)in(r, 0)[e]"),
    ("norms", "along[c] += in(r, 0)[i * s->n + c] * normalised(m, first + s->of_column[c], in(r, 1)[i * s->n + c])", "along[c] += in(r, 0)[i * s->n + c]"),
    ("norms", "out(r, 1)[c] = (real)sum[c]", "out(r, 1)[c] = (real)along[c]"),
    ("norms", "(in(r, 1)[i] * (in(r, 0)[i] - along))", "(in(r, 1)[i] * in(r, 0)[i])"),
    ("moves", "out(r, 0)[row * width + k] += in(r, 0)[i * width + k]", "out(r, 0)[row * width + k] = in(r, 0)[i * width + k]"),
    ("moves", "out(r, o)[row * width + i % width] = 0;", ";"),
    ("moves", "out(r, o)[i] = in(r, 0)[row * width + i % width]", "out(r, o)[i] = in(r, 0)[i % width]"),
    ("moves", "out(r, 0)[from] = in(r, 0)[i];", "out(r, 0)[i] = in(r, 0)[i];"),
    ("moves", "if (which_input(r, o) == k)", "if (o == 0 && which_input(r, o) == k)"),
    ("moves", "whole, forward ? out(r, k) : in(r, k), part", "whole, forward ? out(r, k) : in(r, 0), part"),
    ("moves", "out(r, 0)[from] += in(r, 0)[i];", "out(r, 0)[from] = in(r, 0)[i];"),
    ("moves", "out(r, o)[which_input(r, o) == 0 ? first : second] += in(r, 0)[i]", "out(r, o)[which_input(r, o) == 0 ? first : second] = in(r, 0)[i]"),
    ("recurrence", "output * (1 - tc * tc)", "output * (1 + tc * tc)"),
    ("recurrence", "candidate * in_gate * (1 - in_gate)", "candidate * in_gate"),
    ("recurrence", "old * forget * (1 - forget)", "old * forget"),
    ("recurrence", "in_gate * (1 - candidate * candidate)", "in_gate"),
    ("recurrence", "tc * output * (1 - output)", "tc * output"),
    ("recurrence", "*c = (real)(of_cell * forget)", "*c = (real)of_cell"),
    ("recurrence", "l.b, 4 * l.h, l.h, l.way", "l.b, 3 * l.h, l.h, l.way"),
    ("recurrence", "l.b * l.t, 4 * l.h, l.n, l.way", "l.b * l.t, 3 * l.h, l.n, l.way"),
    ("recurrence", "{ dg, 4 * h, false }, n, b * t, 4 * h", "{ dg, 4 * h, false }, n, b * t - 1, 4 * h"),
    ("recurrence", "y + (s * t + last_first) * h", "y + s * t * h"),
    ("recurrence", "memcpy(out(r, 2) + 4 * h, out(r, 2), 4 * h * sizeof(real));", ""),
    ("recurrence", "dy[j] * (old - c) * z * (1 - z)", "dy[j] * old * z * (1 - z)"),
    ("recurrence", "dy[j] * (1 - z) * (1 - c * c)", "dy[j] * (1 - z)"),
    ("recurrence", "d[3 * hidden + j] = before ? dc : dc * r", "d[3 * hidden + j] = dc"),
    ("recurrence", "before ? 0 : dc * share[j] * r * (1 - r)", "before ? 0 : dc * share[j] * r"),
    ("recurrence", "d[hidden + i] = back * old * r * (1 - r)", "d[hidden + i] = back * old * r"),
    ("recurrence", "dh[i] += before ? back * r : back", "dh[i] += back"),
    ("recurrence", "dh[j] += dy[j] * z", "dh[j] += 0 * z"),
    ("recurrence", "of_h = d[k < 2 * hidden ? k : hidden + k]", "of_h = d[k]"),
    ("recurrence", "(k >= 2 * hidden && before ? g[hidden + i] : 1) * h[i] * of_h", "h[i] * of_h"),
    ("recurrence", "out(r, 2)[3 * hidden + k] += of_h", "out(r, 2)[3 * hidden + k] += of_x"),
    ("losses", "(p[k] - (k == label))", "p[k]"),
    ("losses", "p[at * v + k] * (blank + emit) - taken", "p[at * v + k] * blank - taken"),
    ("losses", "(k == v - 1) * blank +", "0 * blank +"),
    ("losses", "&& k == (uint64_t)labels[j]) * emit", "&& k == 0) * emit"),
]


def compiler():
    return os.environ.get("CC", "cc").split()


def lives(build, folder, name, text):
    path = os.path.join(folder, ROOM + name + ".h")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    program = os.path.join(folder, "t_execute")
    includes = ["-I" + folder, "-I.", "-I" + build, "-Iresults/simulate"]
    subprocess.run(compiler() + ["-std=c11", "-O1", "-D_GNU_SOURCE", "-ffp-contract=off", "-w"] + includes + ["tests/graph/t_execute.c", "-o", program, "-L" + build,
                   "-lpodbench", "-Wl,-rpath," + os.path.abspath(build), "-lcmocka", "-lgsl", "-lgslcblas", "-lm"], check=True)
    code = subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    os.remove(path)
    return code == 0


def main():
    build = sys.argv[1]
    folder, alive = os.path.join(build, "mutants"), 0
    for name, old, new in MUTANTS:
        text = open(ROOM + name + ".h").read()
        if text.count(old) != 1:
            sys.exit(f"mutants.py: kernels_{name}.h has {text.count(old)} times: {old}")
        is_alive = lives(build, folder, name, text.replace(old, new))
        alive += is_alive
        print(f"{'LIVES' if is_alive else 'noticed'}  {name:10} {' '.join(new.split()) or 'without ' + ' '.join(old.split())}", flush=True)
    print(f"{len(MUTANTS) - alive} of {len(MUTANTS)} noticed")
    sys.exit(1 if alive else 0)


main()
