"""What the pocket checkpoints can do on scenes that they never saw: `python -m argus.pocket.evaluate`."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from argus.data.base import Dataset
from argus.data.clevr import Clevr
from argus.data.coco import Coco
from argus.data.flickr30k import Flickr30k
from argus.data.images import load_image
from argus.data.vcr import Vcr
from argus.data.visual_genome import VisualGenome
from argus.models.base import Model, Runtime
from argus.models.blip import Blip
from argus.models.chat import Chat
from argus.models.clip import Clip
from argus.models.lxmert import Lxmert
from argus.models.regions.pocket import PocketRegions
from argus.perturbations.apply import perturb_texts
from argus.perturbations.base import Perturbation
from argus.perturbations.blur import Blur
from argus.perturbations.clean import Clean
from argus.perturbations.noise import Noise
from argus.perturbations.typo import Typo
from argus.pocket.asking import ANSWERS
from argus.pocket.layouts import SEED, write_pocket
from argus.pocket.train import CHECKPOINTS, MODELS
from argus.records import ChoicePrediction, Entry, Sample
from argus.tasks.base import Step, Task, Work
from argus.tasks.captioning import Captioning
from argus.tasks.reasoning import Reasoning
from argus.tasks.retrieval import Retrieval

RUNTIME = Runtime(device="cpu", dtype="float32", attention="sdpa")
HEADS = ("retrieval", "captioning", "vqa")
BATCH = 32
PERTURBATIONS: dict[str, Callable[[], Perturbation]] = {
    "clean": lambda: Clean(0),
    "blur": lambda: Blur(3),
    "noise": lambda: Noise(3),
    "typo": lambda: Typo(3),
}
"""At the severity that a sweep takes by default."""
SHOWN = {"image_to_text_recall_at_1": "R@1 i2t", "text_to_image_recall_at_1": "R@1 t2i", "cider_d": "CIDEr-D"}


def main() -> None:
    """Print a table: dataset, metric, and a column for each perturbation."""
    parser = argparse.ArgumentParser(prog="python -m argus.pocket.evaluate", description="Measure the checkpoints.")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--checkpoints", type=Path, default=CHECKPOINTS)
    parser.add_argument("--images", type=int, default=100, help="pictures of each dataset")
    parser.add_argument("--seed", type=int, default=SEED, help="of the scenes; the default is the suite's own")
    parser.add_argument("--perturbations", nargs="+", choices=list(PERTURBATIONS), default=list(PERTURBATIONS))
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    with tempfile.TemporaryDirectory() as folder:
        write_pocket(Path(folder) / "pocket", chosen.images, chosen.seed)
        read = entries(Path(folder) / "pocket")
        for name in chosen.models:
            model = build(name, chosen.checkpoints / name)
            columns = {kind: figures(model, read, PERTURBATIONS[kind]()) for kind in chosen.perturbations}
            print(table(name, columns), flush=True)


def build(name: str, folder: Path) -> Model:
    """Return the adapter of a pocket checkpoint."""
    if name == "clip":
        return Clip(str(folder), None, text_padding="longest", runtime=RUNTIME)
    if name == "blip":
        return Blip(
            checkpoint={head: str(folder / head) for head in HEADS},
            revision=dict.fromkeys(HEADS),
            caption_prompt="",
            num_beams=1,
            max_new_tokens=40,
            fusion_token=None,
            pairs_at_once=256,
            runtime=RUNTIME,
        )
    if name == "lxmert":
        return Lxmert(
            checkpoint=dict.fromkeys(("matching", "answers"), str(folder)),
            revision=dict.fromkeys(("matching", "answers")),
            labels=None,
            regions=PocketRegions(str(folder / "regions"), None),
            choose_by="labels",
            pairs_at_once=256,
            runtime=RUNTIME,
        )
    return Chat(str(folder), None, **CHATS[name], runtime=RUNTIME)


GEMMA: dict[str, Any] = {
    "caption_prompt": "Describe this image in one sentence.",
    "match_prompt": 'Does this image match the caption "{caption}"? Answer yes or no.',
    "question_prompt": "{question} Answer with one of the words or sentences that fit.",
    "num_beams": 1,
    "max_new_tokens": 64,
    "image_options": {"do_pan_and_scan": False},
    "pairs_at_once": 64,
}
"""As in conf/model/gemma.yaml: a chat model is trained and asked with the same words."""
QWEN = GEMMA | {"image_options": {}}
CHATS = {"gemma": GEMMA, "qwen": QWEN}


def entries(root: Path) -> dict[str, tuple[Entry, ...]]:
    """Return the five datasets below a folder that `write_pocket` filled."""
    readers: dict[str, Dataset] = {
        "coco": Coco(root / "coco", annotations="annotations/captions_val2017.json", images="val2017"),
        "flickr30k": Flickr30k(
            root / "flickr30k",
            images="flickr30k-images",
            token=None,
            karpathy="dataset_flickr30k.json",
            split="test",
        ),
        "visual_genome": VisualGenome(root / "visual_genome", images="VG_100K", unit="image", max_regions=None),
        "clevr": Clevr(root / "clevr" / "CLEVR_v1.0", split="val", answers=ANSWERS),
        "vcr": Vcr(root / "vcr", split="val", images="vcr1images", modes=["q_to_a", "qa_to_r"], marks="mentioned"),
    }
    return {name: reader.entries() for name, reader in readers.items()}


def figures(
    model: Model, read: Mapping[str, tuple[Entry, ...]], perturbation: Perturbation
) -> dict[tuple[str, str], float]:
    """Return (dataset, metric) to value. A matcher that does not embed gets galleries of 20 pictures."""
    found: dict[tuple[str, str], float] = {}
    gallery = None if isinstance(model, Clip | Blip) else 20
    for name, clean in read.items():
        if name in ("clevr", "vcr"):
            found |= {(name, kind): value for kind, value in accuracies(model, clean, perturbation).items()}
            continue
        tasks: list[Task] = [Retrieval(gallery, None)]
        if isinstance(model, Blip):
            tasks.append(Retrieval(20, 4))
        if name != "visual_genome" and isinstance(model, Captioning.abilities):
            tasks.append(Captioning(1.0))
        for number, task in enumerate(tasks):
            measured = task.measure(predict(task, model, clean, perturbation))
            note = " re-ranked, 20 pictures" if number == 1 and isinstance(task, Retrieval) else ""
            found |= {(name, SHOWN[key] + note): value for key, value in measured.items() if key in SHOWN}
    return found


def accuracies(model: Model, clean: tuple[Entry, ...], perturbation: Perturbation) -> dict[str, float]:
    """Return the accuracy of each kind of question and of all, and what always the commonest answer would give."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for one in predict(Reasoning(), model, clean, perturbation):
        assert isinstance(one, ChoicePrediction)
        hits[one.kind].append(one.predicted == one.target)
    floor = commonest(clean)
    total = sum(len(own) for own in hits.values())
    found = {f"{kind} (floor {floor[kind]:.2f})": sum(own) / len(own) for kind, own in sorted(hits.items())}
    overall = sum(floor[kind] * len(own) for kind, own in hits.items()) / total
    return found | {f"accuracy (floor {overall:.2f})": sum(sum(own) for own in hits.values()) / total}


def commonest(clean: Sequence[Entry]) -> dict[str, float]:
    """Return for each kind of question how often its commonest answer is right (of four sentences: position)."""
    answers: dict[str, Counter[int]] = defaultdict(Counter)
    for question in (question for entry in clean for question in entry.questions):
        answers[question.kind][question.target] += 1
    return {kind: max(counts.values()) / counts.total() for kind, counts in answers.items()}


def predict(task: Task, model: Model, clean: tuple[Entry, ...], perturbation: Perturbation) -> Sequence[Any]:
    """Return the task's predictions, as a cell of a sweep would make them."""

    def loop(step: Step) -> list[Any]:
        samples = [
            Sample(entry.id, perturbation.image(load_image(entry.source), 0, entry.id), entry.captions, entry.questions)
            for entry in clean
        ]
        return [out for start in range(0, len(samples), BATCH) for out in step(samples[start : start + BATCH])]

    def prompt(text: str, sample_id: str) -> str:
        return perturbation.text(text, 0, f"prompt {sample_id}")

    with torch.inference_mode():
        return task.predict(model, Work(clean, perturb_texts(clean, perturbation, 0), loop, prompt))


def table(name: str, columns: Mapping[str, Mapping[tuple[str, str], float]]) -> str:
    """Return a Markdown table of the figures of one model."""
    rows = dict.fromkeys(key for column in columns.values() for key in column)
    head = f"| {name} | metric | {' | '.join(columns)} |\n| --- | --- |{' ---: |' * len(columns)}"
    lines = [
        f"| {dataset} | {metric} | {' | '.join(f'{column[dataset, metric]:.2f}' for column in columns.values())} |"
        for dataset, metric in rows
    ]
    return "\n".join([head, *lines, ""])


if __name__ == "__main__":
    main()
