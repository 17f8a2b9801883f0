from __future__ import annotations

import pytest
import torch

from argus.errors import DataError
from argus.models.clip import Clip
from argus.models.loading import digest
from tests.models import tiny
from tests.models.plain import PlainTowers

TEXTS = ["a", "a red cube on the left", "seven blue balls, seven!", "x" * 200]


@pytest.fixture(scope="module")
def clip(clip_folder, runtime) -> Clip:
    return Clip(str(clip_folder), None, text_padding="longest", runtime=runtime)


SIGLIPS = [tiny.save_siglip, tiny.save_siglip2, tiny.save_naflex]


@pytest.mark.parametrize("save", [tiny.save_clip, *SIGLIPS], ids=lambda save: save.__name__)
def test_similarities_equal_those_of_the_plain_model(tmp_path, runtime, images, odd_images, save):
    save(tmp_path)
    pictures = [*images, *odd_images]
    plain = PlainTowers(tmp_path, positions=40)
    expected = torch.tensor([[plain.similarity(picture, text) for text in TEXTS] for picture in pictures])
    assert expected.std(dim=0).min() > 1e-3  # the picture matters
    towers = Clip(str(tmp_path), None, text_padding="max_length" if save in SIGLIPS else "longest", runtime=runtime)
    found = towers.embed_images(pictures) @ towers.embed_texts(TEXTS).T
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_rows_have_unit_length_and_are_float32_on_the_cpu(clip, images):
    for rows in (clip.embed_images(images), clip.embed_texts(TEXTS)):
        assert rows.dtype == torch.float32
        assert rows.device.type == "cpu"
        torch.testing.assert_close(rows.norm(dim=-1), torch.ones(len(rows)))


def test_one_by_one_equals_one_batch(clip, images, odd_images):
    pictures = [*images, *odd_images]
    singly = torch.cat([clip.embed_images([image]) for image in pictures])
    torch.testing.assert_close(clip.embed_images(pictures), singly, atol=1e-5, rtol=0)
    singly = torch.cat([clip.embed_texts([text]) for text in TEXTS])
    torch.testing.assert_close(clip.embed_texts(TEXTS), singly, atol=1e-5, rtol=0)


def test_the_side_that_the_checkpoint_fills_up_changes_nothing(clip, clip_folder, runtime, tmp_path):
    for side in ("left", "right"):
        folder = tiny.filled_up(clip_folder, tmp_path / side, side)
        turned = Clip(str(folder), None, text_padding="longest", runtime=runtime)
        assert turned.processor.tokenizer.padding_side == side
        assert torch.equal(turned.embed_texts(TEXTS), clip.embed_texts(TEXTS))


def test_texts_longer_than_the_positions_are_counted_and_cut(clip):
    fits, long = "1" * 38, "1" * 39  # 40 positions, two of them for the start and end tokens
    assert clip.truncated([fits, long, "short", long]) == 2
    cut = clip.embed_texts([fits, long, long + " cut"])
    torch.testing.assert_close(cut[1], cut[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(cut[2], cut[0], atol=1e-5, rtol=0)


def test_revision_is_the_digest_of_the_folder(clip, clip_folder):
    assert clip.revision == digest(clip_folder)


def test_loading_and_use_print_nothing_and_warn_nothing(clip_folder, runtime, images, capfd, recwarn):
    clip = Clip(str(clip_folder), None, text_padding="longest", runtime=runtime)
    clip.embed_images(images)
    clip.embed_texts(TEXTS)
    clip.truncated(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


def test_a_checkpoint_that_embeds_no_texts_is_named(gemma_folder, runtime):
    with pytest.raises(DataError, match=r"gemma.*Gemma3Model, which embeds no texts"):
        Clip(str(gemma_folder), None, "longest", runtime)
