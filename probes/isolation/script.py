"""Executes WHAT again and again, alone, and counts how often it differs.

    python repro.py                # 20 repeats
    python repro.py --repeats 100

Everything that it works on lies in inputs.pt beside: inputs, parameters, buffers, the state of
every generator, and the gradient that came back; what it needs of the program's main file lies in
culprit.py. Nothing but torch and what the culprit itself imports is needed. Exit code 1: some
repeats differ; 0: none does.
"""

import argparse
import contextlib
import functools
import hashlib
import importlib.util
import json
import random
import sys
import threading
import weakref
from collections import OrderedDict, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).resolve().parent
INPUTS, CULPRIT = FOLDER / "inputs.pt", FOLDER / "culprit.py"


class Maker:
    """Makes the saved values again; a new one makes them as they were."""

    def __init__(self, saved: dict[str, Any]) -> None:
        self.saved = saved
        self.main: Any = None
        self.tensors: dict[int, Any] = {}
        self.leaves: dict[int, Any] = {}
        self.objects: dict[int, Any] = {}

    def make(self, recipe: Any) -> Any:
        word, *rest = recipe
        return getattr(self, f"make_{word}")(*rest)

    def make_value(self, value: Any) -> Any:
        return value

    def make_tensor(self, index: int) -> Any:
        if index not in self.tensors:
            entry = self.saved["tensors"][index]
            content = entry["data"].clone()
            asks = entry["requires_grad"]
            leaf: Any = torch.nn.Parameter(content, asks) if entry["parameter"] else content
            if asks:
                self.leaves[index] = leaf.requires_grad_()
            # What was computed may be written to in place, and a leaf may not.
            self.tensors[index] = leaf if entry["leaf"] or not asks else leaf.clone()
        return self.tensors[index]

    def make_list(self, items: list[Any]) -> Any:
        return [self.make(item) for item in items]

    def make_tuple(self, items: list[Any]) -> Any:
        return tuple(self.make_list(items))

    def make_set(self, items: list[Any]) -> Any:
        return set(self.make_list(items))

    def make_frozenset(self, items: list[Any]) -> Any:
        return frozenset(self.make_list(items))

    def make_dict(self, items: list[Any], ordered: bool = False) -> Any:
        pairs = [(self.make(key), self.make(value)) for key, value in items]
        return OrderedDict(pairs) if ordered else dict(pairs)

    def make_defaultdict(self, factory: Any, items: list[Any]) -> Any:
        return defaultdict(self.make(factory), self.make_dict(items))

    def make_deque(self, items: list[Any], longest: int | None) -> Any:
        return deque(self.make_list(items), longest)

    def make_size(self, sizes: list[int]) -> Any:
        return torch.Size(sizes)

    def make_torch(self, name: str) -> Any:
        return getattr(torch, name)

    def make_device(self, name: str) -> Any:
        return torch.device(name)

    def make_array(self, index: int) -> Any:
        return self.saved["tensors"][index]["data"].numpy().copy()

    def make_scalar(self, dtype: str, value: Any) -> Any:
        import numpy as np

        return np.dtype(dtype).type(value)

    def make_numpy_generator(self, kind: str, state: Any) -> Any:
        import numpy as np

        bits = getattr(np.random, kind)()
        bits.state = self.make(state)
        return np.random.Generator(bits)

    def make_random(self, state: Any) -> Any:
        found = random.Random()
        found.setstate(self.make(state))
        return found

    def make_generator(self, device: str, state: int) -> Any:
        found = torch.Generator(device)
        found.set_state(self.saved["tensors"][state]["data"])
        return found

    def make_pool(self, workers: int) -> Any:
        return pool_of(workers)

    def make_lock(self, again: bool) -> Any:
        return threading.RLock() if again else threading.Lock()

    def make_partial(self, parts: list[Any]) -> Any:
        function, arguments, keywords = map(self.make, parts)
        return functools.partial(function, *arguments, **keywords)

    def make_import(self, name: str) -> Any:
        return importlib.import_module(name)

    def make_name(self, module: str, name: str) -> Any:
        if module == "__main__":
            # Once for each repeat: a counter or generator of the file's would run on.
            found = self.main = self.main or culprit()
        else:
            found = self.make_import(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def make_operator(self, namespace: str, name: str, overload: str) -> Any:
        return getattr(getattr(getattr(torch.ops, namespace), name), overload)

    def make_object(self, index: int) -> Any:
        if index not in self.objects:
            entry = self.saved["objects"][index]
            kind = self.make(entry["class"])
            found = self.objects[index] = kind.__new__(kind)
            if entry["module"]:
                torch.nn.Module.__init__(found)
            state = {name: self.make(value) for name, value in entry["state"]}
            found.__dict__.update(state)
            if isinstance(found, torch.nn.RNNBase):
                weights: Any = found._flat_weights
                found._flat_weight_refs = [w if w is None else weakref.ref(w) for w in weights]
        return self.objects[index]


def culprit() -> Any:
    """What is needed of the program's main file, with its globals as they begin."""
    specification = importlib.util.spec_from_file_location("culprit", CULPRIT)
    assert specification is not None and specification.loader is not None, "it is a file"  # noqa: PT018 - no test
    found = importlib.util.module_from_spec(specification)
    sys.modules["culprit"] = found
    specification.loader.exec_module(found)
    return found


@functools.cache
def pool_of(workers: int) -> ThreadPoolExecutor:
    """One pool for all repeats."""
    return ThreadPoolExecutor(workers)


def set_up(saved: dict[str, Any]) -> None:
    """The settings that decide how numbers come out."""
    settings = saved["settings"]
    sys.path[:0] = [path for path in settings["path"] if path not in sys.path]
    torch.set_num_threads(settings["threads"])
    torch.set_default_dtype(getattr(torch, settings["dtype"]))
    torch.use_deterministic_algorithms(settings["deterministic"], warn_only=True)
    torch.backends.cudnn.benchmark = settings["cudnn_benchmark"]
    torch.backends.cudnn.deterministic = settings["cudnn_deterministic"]
    torch.set_float32_matmul_precision(settings["matmul_precision"])


def rewind(saved: dict[str, Any]) -> None:
    """Every global generator as it was."""
    maker = Maker(saved)
    streams = saved["streams"]
    random.setstate(maker.make(streams["python"]))
    torch.set_rng_state(maker.make(streams["torch"]))
    if "numpy" in streams:
        import numpy as np

        np.random.set_state(maker.make(streams["numpy"]))
    if "cuda" in streams and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(maker.make(streams["cuda"]))


def execute(saved: dict[str, Any]) -> tuple[Any, list[torch.Tensor]]:
    """One forward; what came out, and what gradients are asked for."""
    rewind(saved)
    maker = Maker(saved)
    function = maker.make(saved["function"])
    arguments, keywords = maker.make(saved["args"]), maker.make(saved["kwargs"])
    autocast: Any = contextlib.nullcontext()
    if saved["autocast"]:
        kind, dtype = saved["autocast"]
        autocast = torch.autocast(kind, getattr(torch, dtype))
    with torch.set_grad_enabled(saved["grad"]), autocast:
        result = function(*arguments, **keywords)
    return result, [maker.leaves[i] for i in sorted(maker.leaves)]


def forward(saved: dict[str, Any]) -> list[bytes]:
    """The bits that a forward returns, and those that it leaves in what it wrote to."""
    result, _ = execute(saved)
    return [bits(tensor) for tensor in tensors_in(result)]


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor of a nest, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return [] if not hasattr(value, "__dict__") else tensors_in(dict(vars(value)))


def bits(tensor: Any) -> bytes:
    """The content of a tensor."""
    if tensor is None:
        return b"none"
    dense = tensor.detach().cpu().contiguous()
    return bytes(dense.reshape(-1).view(torch.uint8).numpy().tobytes()) if dense.numel() else b""


def backwards(saved: dict[str, Any], repeats: int) -> list[list[bytes]]:
    """The bits of all gradients, from one forward and several backward passes."""
    result, asked = execute(saved)
    maker = Maker(saved)
    upstream = {int(i): maker.make(recipe) for i, recipe in saved["upstream"]}
    outputs = tensors_in(result)
    roots = [outputs[i] for i in upstream]
    found = []
    for _ in range(repeats):
        rewind(saved)
        gradients = torch.autograd.grad(
            roots, asked, list(upstream.values()), retain_graph=True, allow_unused=True
        )
        found.append([bits(gradient) for gradient in gradients])
    return found


def count(results: list[list[bytes]]) -> dict[str, int]:
    """How many differ from the first."""
    first, *others = results
    return {"repeats": len(others), "different": sum(other != first for other in others)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Execute the culprit again and again, alone.")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write the counts there, as JSON")
    options = parser.parse_args()
    saved = torch.load(INPUTS, weights_only=True)
    set_up(saved)
    results = [forward(saved) for _ in range(options.repeats + 1)]
    told: dict[str, Any] = {"forward": count(results), "backward": None}
    contents = hashlib.sha256(repr(results).encode())
    told["as_recorded"] = results[0] == [bits(tensor) for tensor in saved["outputs"]]
    if saved["upstream"]:
        gradients = backwards(saved, options.repeats + 1)
        told["backward"] = count(gradients)
        contents.update(repr(gradients).encode())
    if options.json:
        # What the culprit prints may look like anything.
        options.json.write_text(json.dumps({**told, "contents": contents.hexdigest()}))
    else:
        for name in ("forward", "backward"):
            if told[name] is not None:
                print(f"{name}: {told[name]['different']} of {told[name]['repeats']} differ")
            else:
                print(f"{name}: not executed")
        if not told["as_recorded"]:
            print("the first forward returned something else than the recorded one did")
    return int(any(told[name] and told[name]["different"] for name in ("forward", "backward")))


if __name__ == "__main__":
    sys.exit(main())
