"""The optional stage before stage 1: what is masked, and that it learns, resumes and leaves an encoder alone."""

import dataclasses

import numpy
import pytest
import torch
from safetensors.torch import load_file
from stages import check_goes_on_exactly, rows, run

from waymark_training import checkpoint, draw, loop
from waymark_training.batches import Row, group, landmark_row
from waymark_training.draw import Chunk
from waymark_training.retromae import Reconstruction, landmark_means, some, varied, visible
from waymark_training.settings import read
from waymark_training.students import load

STAGE = """
[retromae]
steps = 8
warmup = 2
rate = 3e-3
sizes = [4, 8, 16]
tokens = 400
measured = 800
log = 2
measure = 4
save = 4
precision = "fp32"
"""


@pytest.fixture(scope="module")
def configured(config, tmp_path_factory):
    file = tmp_path_factory.mktemp("retromae-config") / "tiny.toml"
    file.write_text(config.read_text() + STAGE)
    return file


@pytest.fixture
def parts(saved):
    return load(saved, None, ())


@pytest.fixture
def objective(packed, configured, parts):
    return Reconstruction(packed, read(configured), parts)


@pytest.fixture(scope="module")
def trained(configured, saved, packed_file, tmp_path_factory):
    out = tmp_path_factory.mktemp("retromae")
    assert run("retromae", configured, saved, packed_file, out) == 0
    return out


def drawn(objective, tokens=4000):
    """A group of windows as the stage draws them."""
    windows = objective._windows(objective.sampler, tokens, numpy.random.default_rng(3))
    laid = [draw.lay(objective.packed, chunks, objective.frame) for chunks in windows]
    return group([landmark_row(window, objective.frame) for window in laid], objective.frame.pad)


def test_chunks_tokens_alone_are_masked_and_named(objective):
    made = drawn(objective)
    frame = objective.frame
    everything = some(made, 1.0, numpy.random.default_rng(1))
    assert not everything[:, : 1 + len(frame.prefix)].any()
    assert not everything.flatten()[made.landmarks].any()
    assert not everything[made.mask == 0].any()
    assert everything.sum() == made.mask.sum() - len(made.landmarks) - len(made.ids) * (1 + len(frame.prefix))
    for share in (0.3, 0.5):
        chosen = some(made, share, numpy.random.default_rng(1))
        assert not (chosen & ~everything).any()
        assert abs(chosen.sum() / everything.sum() - share) < 0.03


def test_the_encoder_reads_the_masked_window(objective, parts, monkeypatch):
    made = drawn(objective, 400)
    seen = []
    forward = parts.student.forward
    monkeypatch.setattr(parts.student, "forward", lambda ids, mask: seen.append(ids.numpy()) or forward(ids, mask))
    encoder, decoder = objective._losses(parts.student, made, numpy.random.default_rng(1))
    changed = seen[0] != made.ids
    assert (seen[0][changed] == objective.mask).all()
    assert (made.segments[changed] < made.chunks).all()
    assert len(encoder) == changed.sum() < len(decoder)


def test_what_the_decoder_sees():
    mask = numpy.ones((2, 200), dtype=int)
    mask[1, 150:] = 0
    seen = visible(mask, 0.5, numpy.random.default_rng(1))
    assert seen[:, :, 0].all()
    assert not seen[:, range(1, 200), range(1, 200)].any()
    assert not seen[1, :, 150:].any()
    assert abs(seen[0, :, 1:].mean() - 0.5) < 0.02


def test_the_decoder_does_not_see_the_token_to_name(objective):
    seen = torch.from_numpy(visible(numpy.ones((1, 12), dtype=int), 0.0, numpy.random.default_rng(1)))
    read = torch.randn(1, 12, 32, requires_grad=True)
    objective.extra.decoder(torch.zeros(1, 12, 32), read, seen)[0, 9, 0].backward()
    assert (read.grad[0].abs().sum(dim=1) == 0).nonzero().flatten().tolist() == [9]


def test_landmark_means():
    made = group([Row([5, 6, 7], [(0, 1), (1, 2)], [1, 2]), Row([8, 9], [(0, 1)], [1])], pad=0)
    states = torch.arange(6.0).reshape(2, 3, 1)
    assert landmark_means(states, made).flatten().tolist() == [1.5, 4.0]  # of landmarks alone, not of [CLS]


def test_each_chunk_has_a_size_of_its_own(packed):
    text = int(numpy.diff(packed.bounds).argmax())
    part = Chunk(text, 2, packed.length(text))
    chunks = varied(packed, part, (4, 8), False, numpy.random.default_rng(1))
    assert {chunk.end - chunk.first for chunk in chunks[:-1]} == {4, 8}
    assert [chunk.first for chunk in chunks] == [2, *(chunk.end for chunk in chunks[:-1])]
    assert chunks[-1].end == part.end


def test_windows_fit(objective):
    made = drawn(objective)
    assert made.ids.shape[1] <= objective.frame.max_length
    assert (numpy.bincount(made.segments.flatten())[:-1] <= 16).all()


def test_the_loss_falls(objective, parts):
    budget = objective.settings
    loop.prepare(parts.student, budget)
    learning = torch.nn.ModuleList([parts.student, objective.extra])
    optimiser = loop.make_optimiser(learning, budget)
    seen = []
    for _ in range(12):  # the same step again and again
        loss, terms, tokens = objective.loss(parts.student, numpy.random.default_rng(5), 0.5)
        assert tokens > 0 and abs(sum(terms.values()) - loss.item()) < 1e-4
        loop.update(learning, optimiser, loss, budget.rate, budget.clip)
        seen.append(terms)
    for name in ("encoder", "decoder"):
        assert seen[-1][name] < 0.9 * seen[0][name]


def test_the_log(trained):
    lines = rows(trained)
    assert [line["step"] for line in lines if "loss" in line] == [2, 4, 6, 8]
    assert {"encoder", "decoder"} <= set(lines[0])
    assert set(lines[-1]["held"]) == {"encoder", "decoder"}


def test_a_run_goes_on_exactly(trained, configured, saved, packed_file, tmp_path):
    whole = check_goes_on_exactly(trained, "retromae", configured, saved, packed_file, tmp_path)
    assert "bias" in whole["extra"]


def test_states_without_extra_parameters_still_load(configured, saved, packed_file, tmp_path):
    assert run("distil", configured, saved, packed_file, tmp_path, "--steps", "2") == 0
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    assert state.pop("extra") == {}
    torch.save(state, tmp_path / "state.pt")
    assert run("distil", configured, saved, packed_file, tmp_path, "--steps", "4") == 0
    assert rows(tmp_path)[-1]["step"] == 4


def test_the_checkpoint_is_an_encoder_to_start_from(trained, configured, saved, model, packed_file, tmp_path):
    stored = load_file(trained / "checkpoint/model.fp16.safetensors")
    assert set(stored) == {checkpoint.bert_name(name) for name in model.state_dict()}
    after = checkpoint.load(trained / "checkpoint")
    assert not torch.allclose(after.layers[0].up.weight, model.layers[0].up.weight, rtol=1e-3, atol=1e-5)
    assert torch.allclose(after.embeddings.words.weight, model.embeddings.words.weight, rtol=1e-3, atol=1e-5)
    start = ("--start", str(trained / "checkpoint"), "--steps", "2")
    assert run("distil", configured, saved, packed_file, tmp_path, *start) == 0


def test_bf16(configured, saved, packed_file, tmp_path):
    half = tmp_path / "half.toml"
    half.write_text(configured.read_text().replace("fp32", "bf16"))
    assert run("retromae", half, saved, packed_file, tmp_path, "--steps", "2") == 0
    assert numpy.isfinite(rows(tmp_path)[0]["loss"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"masked": 0.0}, "masked is 0.0, want a share above 0"),
        ({"predicted": 1.5}, "predicted is 1.5"),
        ({"hidden": -0.1}, "hidden is -0.1"),
        ({"sizes": (32, 0)}, r"sizes are \[32, 0\]"),
        ({"sizes": ()}, "sizes are"),
    ],
)
def test_refusals(values, message, packed, configured, parts):
    settings = read(configured)
    settings = dataclasses.replace(settings, retromae=dataclasses.replace(settings.retromae, **values))
    with pytest.raises(ValueError, match=message):
        Reconstruction(packed, settings, parts)


def test_no_budget_is_refused(configured, saved, packed_file, tmp_path, capsys):
    assert run("retromae", configured, saved, packed_file, tmp_path, "--steps", "0") == 1
    assert "has no budget" in capsys.readouterr().err
