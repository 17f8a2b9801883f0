"""What a caption can score on the pocket data sets: python -m argus.pocket.ceiling.

Prints the CIDEr-D of true captions that the generator writes anew, a column for each of its five templates. The best is
the `caption_ceilings.pocket` of conf/dataset: a model that always tells the truth in the best wording scores 1.
"""

from __future__ import annotations

from argus.metrics.captions import score_captions
from argus.pocket.corpus import evaluation_scene
from argus.pocket.language import captions
from argus.pocket.layouts import SEED
from argus.seeding import rng_for

STYLES, IMAGES = ("coco", "flickr30k"), 100


def oracle(style: str, images: int = IMAGES) -> tuple[float, ...]:
    """Return the CIDEr-D of fresh true captions, by template, against the captions of the data set."""
    scenes = {str(number): evaluation_scene(style, SEED, number) for number in range(images)}
    references = {name: captions(scene, rng_for(SEED, f"{style} captions", name)) for name, scene in scenes.items()}
    fresh = {name: captions(scene, rng_for(SEED, f"{style} anew", name)) for name, scene in scenes.items()}
    return tuple(
        score_captions({name: told[template] for name, told in fresh.items()}, references).corpus["cider_d"]
        for template in range(len(next(iter(fresh.values()))))
    )


if __name__ == "__main__":
    for style in STYLES:
        print(f"{style:10}", *(f"{score:6.2f}" for score in oracle(style)))
