"""Train the pocket checkpoints: `python -m argus.pocket.train --models clip blip gemma lxmert qwen --output FOLDER`."""

from __future__ import annotations

import argparse
import logging
import os
import time
from importlib import import_module
from pathlib import Path

MODELS = ("clip", "blip", "gemma", "lxmert", "qwen")
CHECKPOINTS = Path(__file__).parent / "checkpoints"
SEED = 20250
"""Seed of everything random in the training."""

log = logging.getLogger("argus.pocket.train")


def main() -> None:
    """Train what the command line names, one after the other, each into its own folder below the output."""
    parser = argparse.ArgumentParser(prog="python -m argus.pocket.train", description="Train the pocket checkpoints.")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--output", type=Path, default=CHECKPOINTS, help="folder that gets one folder per model")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--threads", type=int, default=2, help="CPU threads; other numbers round differently")
    chosen = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", force=True)
    logging.getLogger("argus").setLevel(logging.INFO)
    # A thread that waits by spinning makes training many times slower where other work shares the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is imported
    import torch

    torch.set_num_threads(chosen.threads)
    for name in chosen.models:
        started = time.monotonic()
        import_module(f"argus.pocket.train_{name}").train(chosen.output / name, chosen.seed)
        log.info("%s: %.1f minutes, written to %s", name, (time.monotonic() - started) / 60, chosen.output / name)


if __name__ == "__main__":
    main()
