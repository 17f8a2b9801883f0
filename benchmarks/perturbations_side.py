"""One side of benchmarks/perturbations.py: runs in the interpreter of either package, over the same pictures.

python perturbations_side.py SIDE FOLDER DRAWS, where SIDE is ours or theirs and FOLDER holds pictures.npz; writes
SIDE.json (milliseconds and statistics) and SIDE.npz (results without chance) there.
"""

import json
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np

EXACT = (
    "gaussian_blur", "defocus_blur", "zoom_blur", "brightness", "contrast", "saturate", "pixelate", "jpeg_compression",
)  # fmt: skip
DRAWN = (
    "gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "glass_blur", "motion_blur", "snow", "frost",
    "fog", "spatter", "elastic_transform",
)  # fmt: skip
SEVERITIES = (1, 2, 3, 4, 5)
BANDS = 5  # octaves of a spectrum, up to half a cycle a pixel
RUNS, ENOUGH_MS = 15, 400  # a call is timed so often, or until so much was spent
SLOW = {"glass_blur": 4}  # gets so many times fewer draws: theirs goes through the pixels one by one


def main(side, folder, draws):
    cv2.setNumThreads(1)
    warnings.simplefilter("ignore")
    form, corrupt = {"ours": ours, "theirs": theirs}[side]()
    pictures = np.load(folder / "pictures.npz")
    full = [pictures[name] for name in sorted(pictures) if name.startswith("full")]
    small = [pictures[name] for name in sorted(pictures) if name.startswith("small")]
    results, found = {}, {}
    for name in (*EXACT, *DRAWN):
        corrupt(form(full[0]), name, 1, 0)  # warm
        found[name] = {"ms": float(np.mean([spent(corrupt, form(each), name, s) for each in full for s in SEVERITIES]))}
        if name in EXACT:
            for place, each in enumerate(full):
                for severity in SEVERITIES:
                    results[f"{name} {severity} {place}"] = np.asarray(corrupt(form(each), name, severity, 0))
        else:
            found[name]["statistics"] = {s: statistics(form, corrupt, small, name, s, draws) for s in SEVERITIES}
        print(f"{side}: {name}", file=sys.stderr, flush=True)
    np.savez(folder / f"{side}.npz", **results)
    (folder / f"{side}.json").write_text(json.dumps(found))


def ours():
    """Return what makes the form that this side takes of an array, and what corrupts it."""
    from hydra.utils import instantiate
    from omegaconf import OmegaConf
    from PIL import Image

    from argus.configuration import conf_dir

    built = {}
    for name in (*EXACT, *DRAWN):
        config = OmegaConf.create({"perturbation": OmegaConf.load(conf_dir() / "perturbation" / f"{name}.yaml")})
        for severity in SEVERITIES:
            config.perturbation.severity = severity
            built[name, severity] = instantiate(config.perturbation.transform)

    def corrupt(picture, name, severity, seed):
        return built[name, severity].image(picture, seed, "picture")

    return Image.fromarray, corrupt


def theirs():
    """Return the same of this side."""
    import imagecorruptions
    from imagecorruptions import corruptions

    gaussian = corruptions.gaussian

    def with_the_old_keyword(values, sigma, multichannel=False, **others):
        """Take the keyword that scikit-image renamed: without it glass_blur and gaussian_blur do not run."""
        return gaussian(values, sigma, channel_axis=-1 if multichannel else None, **others)

    corruptions.gaussian = with_the_old_keyword

    def corrupt(pixels, name, severity, seed):
        np.random.seed(seed)
        return imagecorruptions.corrupt(pixels, severity, name)

    return np.asarray, corrupt


def spent(corrupt, picture, name, severity):
    """Return the median milliseconds of processor time of a call."""
    times = []
    while len(times) < RUNS and sum(times) < ENOUGH_MS:
        start = time.process_time()
        corrupt(picture, name, severity, len(times))
        times.append((time.process_time() - start) * 1000)
    return float(np.median(times))


def statistics(form, corrupt, pictures, name, severity, draws):
    """Return the means over draws of the channels' means and deviations and of the power of what has changed."""
    means, deviations, powers = [], [], []
    for draw in range(draws // SLOW.get(name, 1)):
        before = pictures[draw % len(pictures)]
        after = np.asarray(corrupt(form(before), name, severity, draw)).astype(float)
        means.append(after.mean(axis=(0, 1)))
        deviations.append(after.std(axis=(0, 1)))
        powers.append(radial_power((after - before).mean(axis=2)))
    return {
        "mean": np.mean(means, axis=0).tolist(),
        "deviation": np.mean(deviations, axis=0).tolist(),
        "power": np.mean(powers, axis=0).tolist(),
    }


def radial_power(values):
    """Return the mean power in octaves of spatial frequency, the finest, 1/4 to 1/2 cycles a pixel, last."""
    power = np.abs(np.fft.fft2(values)) ** 2 / values.size
    rows, columns = (np.fft.fftfreq(length) for length in values.shape)
    radius = np.hypot(rows[:, None], columns[None, :])
    edges = 0.5 ** np.arange(BANDS + 1, 0, -1)
    return [power[(radius > low) & (radius <= high)].mean() for low, high in pairwise(edges)]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
