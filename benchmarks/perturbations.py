"""Perturbations beside the package imagecorruptions, and how fast texts are: python benchmarks/perturbations.py.

The 19 corruptions of ImageNet-C are compared with imagecorruptions 1.1.2, which gets a virtual environment of its own
(made on the first run, --venv; it needs numpy below 2, and a keyword that scikit-image has renamed is put back).
Either side runs in a process of its own on one core, over the same pictures at severities 1 to 5: --pictures names a
folder of JPEG files, of which the first --most are taken; without it, those of the repository and generated ones.
Times are processor time a picture, in memory in the form that the side takes. Results without chance must agree to 1
grey level in every value. Those with chance are compared over --draws draws (glass_blur: a quarter) on pictures of 192
pixels: the channels' means (grey levels) and deviations (%), and the spectrum of what was changed, in octaves (dB); the
bounds are BOUNDS below, too tight for few draws. Exits with 1 where a bound fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from perturbations_side import DRAWN, EXACT, SEVERITIES
from PIL import Image

from argus.perturbations.gallery import PICTURE, SENTENCE, members

HERE = Path(__file__).resolve().parent
REQUIRED = (
    "numpy<2", "scipy<1.18", "scikit-image>=0.20,<0.25", "opencv-python-headless<4.12", "pillow", "setuptools<81",
)  # fmt: skip
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "argus" / "imagecorruptions"
SHOWN_SIDE, STATISTICS_SIDE = 640, 192
# Largest differences: of a channel's mean in grey levels, of its deviation in %, of an octave in dB.
BOUNDS: dict[str, tuple[float, float, float]] = {
    "gaussian_noise": (1, 2, 0.5),
    "shot_noise": (1, 2, 0.5),
    "impulse_noise": (1, 2, 0.5),
    "speckle_noise": (1, 2, 0.5),
    "glass_blur": (1, 2, 0.5),
    "motion_blur": (1, 5, 1.0),
    "snow": (2, 5, 1.0),
    "frost": (12, 25, float("inf")),
    "fog": (6, 10, 3.0),
    "spatter": (2, 5, 1.5),
    "elastic_transform": (1, 2, 1.0),
}
SLOWEST, IN_ALL = 1.2, 1 / 3  # our time by theirs: of each, and of the sum
SLACK_MS = 0.5  # the same call of Pillow takes so much more or less in another process
ENOUGH_SENTENCES = 5000  # a second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, help="folder of JPEG files")
    parser.add_argument("--most", type=int, default=4, help="pictures that are taken; default: %(default)s")
    parser.add_argument("--draws", type=int, default=128, help="default: %(default)s")
    parser.add_argument("--venv", type=Path, default=CACHE, help="default: %(default)s")
    parser.add_argument("--python", default=sys.executable, help="3.11 or 3.12, for that one; default: this one")
    chosen = parser.parse_args()
    other = environment(chosen.venv, chosen.python)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        np.savez(folder / "pictures.npz", **pictures(chosen.pictures, chosen.most))
        for side, python in (("theirs", other), ("ours", Path(sys.executable))):
            command = [str(python), str(HERE / "perturbations_side.py"), side, str(folder), str(chosen.draws)]
            subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        failed = compared(folder)
    failed += texts()
    sys.exit(1 if failed else 0)


def environment(folder: Path, python: str) -> Path:
    """Return the interpreter of the other package's environment, made where there is none."""
    found = folder / "bin" / "python"
    if not (folder / "complete").exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(found), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *REQUIRED], check=True)
        # It asks for the OpenCV that needs a screen's libraries.
        subprocess.run([*install, "--no-deps", "imagecorruptions==1.1.2"], check=True)
        (folder / "complete").touch()
    return found


def pictures(folder: Path | None, most: int) -> dict[str, np.ndarray]:
    """Return the pictures at full size and at the size for statistics."""
    if folder:
        full = [Image.open(path).convert("RGB") for path in sorted(folder.glob("*.jpg"))[:most]]
    else:
        full = [Image.open(PICTURE).convert("RGB").resize((SHOWN_SIDE, 480)), generated(640, 480), generated(333, 500)]
    found = {}
    for place, image in enumerate(full):
        found[f"full {place:03}"] = np.asarray(image)
        scale = STATISTICS_SIDE / max(image.size)
        small = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BOX)
        found[f"small {place:03}"] = np.asarray(small)
    return found


def generated(width: int, height: int) -> Image.Image:
    """Return a picture with the spectrum of a photo: amplitudes that fall with the frequency, random phases."""
    rng = np.random.default_rng([width, height])
    rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
    falloff = 1 / np.maximum(np.hypot(rows, columns), 1 / max(width, height))
    waves = np.fft.irfft2(falloff * np.exp(2j * np.pi * rng.random((3, *falloff.shape))), s=(height, width))
    values = 128 + 50 * waves / waves.std()
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8).transpose(1, 2, 0).copy())


def compared(folder: Path) -> int:
    """Print the table of the 19; return how many of its bounds fail."""
    ours, theirs = (json.loads((folder / f"{side}.json").read_text()) for side in ("ours", "theirs"))
    print("\n| corruption | ours, ms | theirs, ms | theirs / ours | difference | verdict |\n" + "| --- " * 6 + "|")
    failed = 0
    with np.load(folder / "ours.npz") as mine, np.load(folder / "theirs.npz") as other:
        for name in (*EXACT, *DRAWN):
            alike, text = largest(mine, other, name) if name in EXACT else likeness(ours[name], theirs[name], name)
            failed += row(name, ours[name]["ms"], theirs[name]["ms"], text, alike, SLOWEST)
    for label, names in (("all", (*EXACT, *DRAWN)), ("all but glass_blur", (*EXACT, *DRAWN[:4], *DRAWN[5:]))):
        failed += row(label, *(sum(side[name]["ms"] for name in names) for side in (ours, theirs)), "", True, IN_ALL)
    return failed


def row(name: str, ours: float, theirs: float, difference: str, alike: bool, slowest: float) -> int:
    """Print a row; return 1 where it fails."""
    verdict = "ok" if alike and ours <= slowest * theirs + SLACK_MS else "slow" if alike else "differs"
    print(f"| {name} | {ours:.1f} | {theirs:.1f} | {theirs / ours:.1f} | {difference} | {verdict} |", flush=True)
    return verdict != "ok"


def largest(mine: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray], name: str) -> tuple[bool, str]:
    """Return whether all values agree to a grey level, and the largest difference and the share that differ."""
    keys = [key for key in mine if key.split()[0] == name]
    apart = [np.abs(mine[key].astype(int) - other[key]) for key in keys]
    most = max(int(each.max()) for each in apart)
    share = np.mean([(each > 0).mean() for each in apart])
    return most <= 1, f"at most {most}, in {100 * share:.0f} % of the values"


def likeness(mine: Mapping, other: Mapping, name: str) -> tuple[bool, str]:
    """Return whether all statistics are within their bounds, and the largest differences over severities."""
    apart = []
    for severity in map(str, SEVERITIES):
        one, two = ({k: np.array(v) for k, v in side["statistics"][severity].items()} for side in (mine, other))
        decibel = 10 * np.log10(one["power"] / two["power"])
        mean, deviation = one["mean"] - two["mean"], 100 * (one["deviation"] / two["deviation"] - 1)
        apart.append([np.abs(each).max() for each in (mean, deviation, decibel)])
    mean, deviation, decibel = np.max(apart, axis=0)
    within = bool(np.all(np.max(apart, axis=0) <= BOUNDS[name]))
    return within, f"mean {mean:.1f}, deviation {deviation:.1f} %, spectrum {decibel:.1f} dB"


def texts() -> int:
    """Print how many sentences a second each text perturbation takes; return how many take too few."""
    failed = 0
    sentences = [f"{SENTENCE} {number}" for number in range(500)]
    print("\n| text perturbation | sentences a second | verdict |\n| --- | --- | --- |")
    for member in members():
        if member.modality == "text":
            rate = sentences_a_second(member.by_severity.values(), sentences)
            failed += rate < ENOUGH_SENTENCES
            print(f"| {member.name} | {rate:,.0f} | {'ok' if rate >= ENOUGH_SENTENCES else 'slow'} |")
    return failed


def sentences_a_second(perturbations: Sequence, sentences: Sequence[str]) -> float:
    """Return the rate over all severities, in processor time; the first sentence warms up."""
    perturbations = list(perturbations)
    for each in perturbations:
        each.text(sentences[0], 0, "warm")
    start = time.process_time()
    for each in perturbations:
        for place, sentence in enumerate(sentences):
            each.text(sentence, 0, str(place))
    return len(perturbations) * len(sentences) / (time.process_time() - start)


if __name__ == "__main__":
    main()
