"""What a sweep costs on top of the bare loop: python benchmarks/overhead.py [--rounds 3].

Both run in fresh processes, one after the other, over the same cells with the same checkpoints, readers, perturbations,
batches and threads. The bare loop has nothing around it: no plan, no Lightning, no tracking, no metrics, no probe. Both
load each checkpoint once and pay for the same imports; the time that the bare loop spends on composing configs is taken
off. The tracking store exists before the clock starts, as it does from the second sweep on (making one is timed apart).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from itertools import groupby
from tempfile import TemporaryDirectory

MODELS, PERTURBATIONS = ("clip", "blip", "gemma"), ("blur", "typo")
COMMAND = [f"model={','.join(MODELS)}", f"perturbation={','.join(PERTURBATIONS)}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare()
        return
    print("round  sweep s  bare s  ratio", flush=True)
    ratios = [_round(number) for number in range(options.rounds)]
    print(f"median ratio {statistics.median(ratios):.3f} (sweep / bare loop; {len(ratios)} rounds)")


def _round(number: int) -> float:
    with TemporaryDirectory() as folder:
        root = f"tracking.root={folder}/mlruns"
        _timed([sys.executable, "-m", "argus.run", "-m", *COMMAND, "argus.dry_run=true", root])  # makes store and data
        sweep = _timed([sys.executable, "-m", "argus.run", "-m", *COMMAND, root])[0]
        wall, output = _timed([sys.executable, __file__, "--bare"])
        bare_seconds = wall - float(output.strip().splitlines()[-1])
    print(f"{number:5d} {sweep:8.1f} {bare_seconds:7.1f} {sweep / bare_seconds:6.3f}", flush=True)
    return sweep / bare_seconds


def _timed(command: list[str]) -> tuple[float, str]:
    begun = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return time.perf_counter() - begun, done.stdout


def bare() -> None:
    """The same cells in plain loops; prints the seconds spent on composing configs."""
    import torch
    from hydra import compose, initialize_config_dir

    import argus.models.blip
    import argus.models.chat
    import argus.models.clip  # noqa: F401  imports are part of the loop, only composing is taken off
    from argus.configuration import conf_dir
    from argus.planning import expand, why_not_cell

    begun = time.perf_counter()
    with initialize_config_dir(str(conf_dir()), version_base=None):
        axes = {"model": list(MODELS), "perturbation": list(PERTURBATIONS)}
        candidates = [compose("run", overrides=list(chosen)) for chosen in expand(axes, lambda o: compose("run", o))]
        cells = [cfg for cfg in candidates if why_not_cell(cfg) is None]
    composing = time.perf_counter() - begun
    with torch.inference_mode():
        for _, group in groupby(cells, key=lambda cfg: cfg.model.name):
            _bare_model(list(group))
    print(composing)


def _bare_model(cells: list) -> None:  # type: ignore[type-arg]
    from argus.data.images import load_image
    from argus.perturbations.apply import perturb_texts
    from argus.records import Sample
    from argus.settings import build_model, build_perturbation, build_reader, build_task, settings_of
    from argus.tasks.base import Work

    first = settings_of(cells[0])
    model = build_model(first.model_config, first.hardware.runtime)
    for cfg in cells:
        cell = settings_of(cfg)
        clean = build_reader(cell.dataset_config).entries()
        change = build_perturbation(cfg)
        entries = perturb_texts(clean, change, cell.seed)

        def loop(step, entries=entries, change=change, cell=cell):  # type: ignore[no-untyped-def]
            outputs = []
            size = cell.hardware.batch_size
            for start in range(0, len(entries), size):
                batch = [
                    Sample(e.id, change.image(load_image(e.source), cell.seed, e.id), e.captions, e.questions)
                    for e in entries[start : start + size]
                ]
                outputs.extend(step(batch))
            return outputs

        task = build_task(cfg)
        prompts = lambda prompt, name, change=change, cell=cell: change.text(prompt, cell.seed, f"prompt {name}")  # noqa: E731
        loop(task.prepare(model, Work(clean, entries, loop, prompts)))


if __name__ == "__main__":
    main()
