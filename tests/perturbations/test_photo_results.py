"""Results of all photo perturbations: unchanged since earlier runs, and alike for pictures of all sizes.

The digests were the same with numpy 2.0.2 and pillow 11.0.0 as with numpy 2.4.6 and pillow 13.0.0. Pillow carries the
libraries that write JPEG and WebP and draw letters: another version of theirs may change those of three kinds.
"""

from __future__ import annotations

import runpy
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf
from PIL import Image
from PIL.Image import Resampling

from argus.perturbations.base import ImagePerturbation

FOLDER = Path(__file__).resolve().parents[2] / "conf" / "perturbation"
# Of the digests of all severities, joined by blanks.
DIGESTS = {
    "aspect": "a8a783a081e6c7d0",
    "banding": "7d03047a9149fbff",
    "channel_swap": "b8cf82fbaf7e275c",
    "chromatic_aberration": "979c95d55f626add",
    "colour_cast": "fd9ffedd0a17cbe3",
    "crop": "3a4336939b8cbc22",
    "dead_lines": "9425fd8dcd0b8f7c",
    "dirty_lens": "77d34baf925016b3",
    "double_jpeg": "c541f910e8300e90",
    "downsample_aliased": "27b36718d5402ac2",
    "downsample_area": "af5e54ff6bf9e2e3",
    "downsample_bicubic": "21c2885c44530aeb",
    "downsample_bilinear": "d39c0ac3b35524ef",
    "downsample_lanczos": "4c21498f38077646",
    "downsample_nearest": "d7c711aaa40097de",
    "film_grain": "a7d9580a5d30921f",
    "flicker": "6c096834947e5d38",
    "flip_horizontal": "ddc9a947c55e88c1",
    "flip_vertical": "e2c3d616d720af70",
    "gamma": "591c5d1d1f3c0973",
    "grey": "220dc6069f0e0b59",
    "grid_mask": "96a22c9a963d85cf",
    "halftone": "4c73e62d1801ff70",
    "hue": "a1c6cc811d512c54",
    "invert": "c8b5aa8594a72040",
    "lens_distortion": "3358a9a115485e28",
    "low_light": "13dad760aff2e7da",
    "moire": "e6fc461a7b6b49c8",
    "occlusion": "bc874fddc6d42d09",
    "over_exposure": "4e867ed4d242c89d",
    "packet_loss": "5bc497629a7c042d",
    "padding": "2ae855fd34ae50a6",
    "palette": "5dc573ca33e34a6a",
    "perspective": "d6064ac708b2a897",
    "posterise": "f22fc4dd71703bde",
    "rain": "70e41eb18318b9bb",
    "reflection": "f4a590bcc6fca8e9",
    "rolling_shutter": "7d7ff5f8f44695d6",
    "rotation": "447c8943788b1ec2",
    "shadow": "8fd77e10cad1d357",
    "sharpen": "700c454590a7e250",
    "shear": "41a79940da1ecb84",
    "sideways": "435c365f57fe3701",
    "solarise": "a99d47418c5bd93c",
    "sun_flare": "7b1b52953f2c4c97",
    "translation": "350c74da60f3f573",
    "typographic": "24da2fd9146f6ca3",
    "upside_down": "434b01ae3e2423c7",
    "vignette": "07c5b09a12cf8e40",
    "watermark": "a367c18aaa663b9b",
    "webp": "82ca52cdb71947dc",
}


def members(name: str) -> list[ImagePerturbation]:
    config = OmegaConf.create({"perturbation": OmegaConf.load(FOLDER / f"{name}.yaml")})
    found = []
    for severity in instantiate(config.perturbation.transform).severities():
        config.perturbation.severity = severity
        found.append(instantiate(config.perturbation.transform))
    return found


@pytest.fixture(scope="module")
def tools() -> dict:
    return runpy.run_path(str(Path(__file__).with_name("digests.py")))


@pytest.mark.parametrize("name", DIGESTS)
def test_results_are_those_of_earlier_runs(tools, name):
    joined = " ".join(tools["digest"](each) for each in members(name))
    assert sha256(joined.encode()).hexdigest()[:16] == DIGESTS[name]


def test_every_yaml_of_a_photo_perturbation_has_its_digest():
    named = {path.stem for path in FOLDER.glob("*.yaml") if "argus.perturbations.photo." in path.read_text()}
    assert named == set(DIGESTS)


def at_224(image: Image.Image) -> np.ndarray:
    scale = 224 / min(image.size)
    size = round(image.width * scale), round(image.height * scale)
    return np.asarray(image.resize(size, Resampling.BICUBIC), dtype=float)


@pytest.mark.parametrize("name", DIGESTS)
def test_small_and_large_pictures_suffer_alike(name, sample_data):
    path = min((sample_data / "coco" / "val2017").glob("*.jpg"))
    member = members(name)[-1]
    distances = []
    with Image.open(path) as photo:
        width, height = photo.size
        for short in (224, 672):
            scale = short / min(width, height)
            image = photo.convert("RGB").resize((round(width * scale), round(height * scale)), Resampling.BICUBIC)
            distances.append(np.abs(at_224(member.image(image, 0, "id")) - at_224(image)).mean())
    # Codecs and grain work on whole pixels: these lose up to a third.
    assert max(distances) < 1.5 * min(distances)
