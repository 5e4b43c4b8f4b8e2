"""The stages on a tiny model: they learn, they can be resumed, they are repeatable."""

import dataclasses
from xml.etree import ElementTree

import numpy
import pytest
import torch
from stages import check_goes_on_exactly, rows, run

from waymark_training import checkpoint, draw, loop, losses
from waymark_training.batches import Row, by_length, group, landmark_row
from waymark_training.contrast import Contrasting, Drawn, around, by_question, judge, judge_windows
from waymark_training.distil import Distillation
from waymark_training.draw import RUN, Chunk, runs
from waymark_training.mine import mine
from waymark_training.packed import Packed
from waymark_training.students import load, pruned
from waymark_training.vectors import all_states, at_landmarks, chunk_means, mean_vectors, unit, window_vectors

STAGES = ("distil", "contrast")


@pytest.fixture(scope="module", params=STAGES)
def trained(request, config, saved, packed_file, tmp_path_factory):
    out = tmp_path_factory.mktemp(request.param)
    assert run(request.param, config, saved, packed_file, out) == 0
    return request.param, out


def test_the_log_and_the_plot(trained):
    stage, out = trained
    lines = rows(out)
    assert [line["step"] for line in lines if "loss" in line] == [2, 4, 6, 8]
    assert [line["step"] for line in lines if "held" in line] == [4, 8]
    parts = {"distil": ("cosine", "layerwise", "queries"), "contrast": ("landmark", "pooled", "anchor", "soft")}
    assert set(parts[stage]) <= set(lines[0])
    assert 0 <= lines[-1]["held"]["own first"] <= 1
    picture = ElementTree.parse(out / "loss.svg").getroot()
    assert len(picture.findall("{http://www.w3.org/2000/svg}polyline")) == 1 + len(lines[-1]["held"])


def test_only_the_tables_are_frozen(trained, model):
    _, out = trained
    after = checkpoint.load(out / "checkpoint").state_dict()
    for name, value in model.state_dict().items():
        table = name in ("embeddings.words.weight", "embeddings.positions.weight", "embeddings.types.weight")
        same = torch.allclose(after[name], value, rtol=1e-3, atol=1e-5)
        assert same == table, name


@pytest.mark.parametrize("stage", STAGES)
def test_the_loss_falls(stage, settings, saved, packed):
    parts = load(saved, None, ())
    make = Distillation if stage == "distil" else lambda *a: Contrasting(*a, None)
    objective = make(packed, settings, parts)
    budget = dataclasses.replace(getattr(settings, stage), rate=3e-3)
    loop.prepare(parts.student, budget)
    optimiser = loop.make_optimiser(parts.student, budget)
    seen = []
    for _ in range(12):  # the same step again and again
        loss, terms, tokens = objective.loss(parts.student, numpy.random.default_rng(5), 0.5)
        assert tokens > 0 and abs(sum(terms.values()) - loss.item()) < 1e-4
        loop.update(parts.student, optimiser, loss, budget.rate, budget.clip)
        seen.append(loss.item())
    assert seen[-1] < 0.9 * seen[0]


def test_a_run_goes_on_exactly(trained, config, saved, packed_file, tmp_path):
    stage, out = trained
    check_goes_on_exactly(out, stage, config, saved, packed_file, tmp_path)


def test_a_finished_run_stays_as_it_is(trained, config, saved, packed_file):
    stage, out = trained
    before = rows(out)
    assert run(stage, config, saved, packed_file, out) == 0
    assert rows(out) == before


def test_dropout_repeats_too(settings, saved, packed):
    settings = dataclasses.replace(settings, distil=dataclasses.replace(settings.distil, dropout=0.3, steps=2))
    states = []
    for _ in range(2):
        parts = load(saved, None, ())
        loop.prepare(parts.student, settings.distil)
        torch.manual_seed(1)
        states.append(Distillation(packed, settings, parts).loss(parts.student, numpy.random.default_rng(1), 0)[0])
    assert torch.equal(*states)
    assert any(module.p == 0.3 for module in parts.student.modules() if isinstance(module, torch.nn.Dropout))


def test_time_ends_a_run(config, saved, packed_file, tmp_path):
    assert run("distil", config, saved, packed_file, tmp_path, "--steps", "0", "--minutes", "0.001") == 0
    assert rows(tmp_path)[-1]["held"]


def test_refusals(config, saved, packed_file, tmp_path, capsys):
    assert run("distil", config, saved, packed_file, tmp_path, "--steps", "0") == 1
    assert "has no budget" in capsys.readouterr().err
    wanting = tmp_path / "wanting.toml"
    wanting.write_text(config.read_text().replace("soft = 0.1", "negatives = 1"))
    assert run("contrast", wanting, saved, packed_file, tmp_path) == 1
    assert "none were given" in capsys.readouterr().err
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(config.read_text().replace('precision = "fp32"', 'precision = "half"', 1))
    assert run("distil", wrong, saved, packed_file, tmp_path / "x") == 1
    assert "precision 'half'" in capsys.readouterr().err


def test_bf16(config, saved, packed_file, tmp_path):
    half = tmp_path / "half.toml"
    half.write_text(config.read_text().replace("fp32", "bf16"))
    for stage in STAGES:
        assert run(stage, half, saved, packed_file, tmp_path / stage, "--steps", "2") == 0
        assert numpy.isfinite(rows(tmp_path / stage)[0]["loss"])


def test_a_student_has_the_layers_named(config, saved, packed_file, model, tmp_path):
    kept = pruned(checkpoint.load(saved), (0, 2))
    assert kept.config.num_hidden_layers == 2
    assert torch.equal(kept.layers[1].up.weight, model.layers[2].up.weight)
    with pytest.raises(ValueError, match="no layer 7, want 0 to 2"):
        pruned(checkpoint.load(saved), (0, 7))
    small = tmp_path / "small.toml"
    small.write_text("layers = [0, 2]\n" + config.read_text().replace("layers = [1, 2]", "layers = [1, 1]"))
    assert run("distil", small, saved, packed_file, tmp_path / "run", "--steps", "2") == 0
    assert checkpoint.load(tmp_path / "run/checkpoint").config.num_hidden_layers == 2
    start = ("--start", str(tmp_path / "run/checkpoint"), "--steps", "2")
    assert run("contrast", small, saved, packed_file, tmp_path / "next", *start) == 0


def test_negatives(settings, saved, packed, packed_file, tmp_path):
    parts = load(saved, None, ())
    mined = mine(packed, settings, parts, tmp_path / "negatives.npy")
    assert numpy.array_equal(numpy.load(tmp_path / "negatives.npy"), mined)
    assert len(mined) > 20
    gold = by_question(packed.gold)
    for question, *chunk in mined.tolist():
        assert not packed.held[question] and not packed.held[chunk[0]]
        assert all(runs(packed, Chunk(*chunk)).isdisjoint(runs(packed, g)) for g in gold[question])
    assert max(numpy.bincount(mined[:, 0])) <= 2
    contrast = dataclasses.replace(settings.contrast, negatives=1)
    objective = Contrasting(packed, dataclasses.replace(settings, contrast=contrast), parts, mined)
    drawn = objective._draw(objective.sampler, 6, 1, numpy.random.default_rng(0))
    assert 6 < len(drawn.windows) <= 12
    assert torch.isfinite(objective.loss(parts.student, numpy.random.default_rng(0), 0)[0])


def test_cls_is_trained_as_a_baseline(settings, saved, packed):
    parts = load(saved, None, ())
    contrast = dataclasses.replace(settings.contrast, pooling="cls", plain=60, document=1.0)
    objective = Contrasting(packed, dataclasses.replace(settings, contrast=contrast), parts, None)
    drawn = objective._draw(objective.sampler, 6, 0, numpy.random.default_rng(0))
    assert all(len(window) == 1 for window in drawn.windows)
    asked, found, _ = objective._student(parts.student, drawn)
    one = draw.lay(packed, drawn.windows[0], parts.passage)
    states = parts.student(torch.tensor([one.ids]), torch.ones(1, len(one.ids), dtype=torch.long))
    assert torch.allclose(found[0][0], states[0, 0], atol=1e-4)
    for seed in range(20):  # whatever plain windows are drawn, each has one vector
        rng = numpy.random.default_rng(seed)
        assert all(len(w) == 1 for w in draw.windows(objective.sampler, objective.plain, 200, objective.room, rng))
        assert torch.isfinite(objective.loss(parts.student, numpy.random.default_rng(seed), 0)[0])
    with pytest.raises(ValueError, match="pooling 'max', want landmark or cls"):
        contrast = dataclasses.replace(contrast, pooling="max")
        Contrasting(packed, dataclasses.replace(settings, contrast=contrast), parts, None)


def test_a_step_of_one_source_with_plain_windows(settings, saved, packed):
    parts = load(saved, None, ())
    contrast = dataclasses.replace(settings.contrast, alike=1.0, together=3, plain=60, document=1.0)
    objective = Contrasting(packed, dataclasses.replace(settings, contrast=contrast), parts, None)
    for seed in range(8):
        drawn = objective._draw(objective.sampler, 6, 0, numpy.random.default_rng(seed))
        assert len(drawn.questions) == len(drawn.windows) == 6
        assert len({packed.source[question] for question in drawn.questions}) == 1
    loss, terms, _ = objective.loss(parts.student, numpy.random.default_rng(0), 0)
    assert torch.isfinite(loss) and terms["document"] > 0


def test_questions_of_one_text(packed, settings):
    long = [packed.names[packed.source[text]] == "long/tales" and not packed.held[text] for text in packed.gold[:, 1]]
    gold = packed.gold.copy()
    gold[long, 1] = gold[long, 1][0]
    sampler = draw.Sampler(dataclasses.replace(packed, gold=gold), settings.mix.weights())
    drawn = sampler.gold(numpy.random.default_rng(0), "long/tales", 2)
    assert len(drawn) == len({question for question, _ in drawn}) == 2
    assert {chunk.text for _, chunk in drawn} == {gold[long, 1][0]}
    assert len(sampler.gold(numpy.random.default_rng(0), "long/tales")) == 1


def test_runs(packed):
    assert len(runs(packed, Chunk(0, 0, RUN + 3))) == 4
    assert len(runs(packed, Chunk(0, 0, 2))) == 1


def packed_texts(texts):
    """A packed file of texts alone."""
    ids = numpy.concatenate(texts).astype(numpy.uint16)
    bounds = numpy.cumsum([0, *map(len, texts)])
    return Packed(ids, ids > 0, bounds, *[numpy.zeros(len(texts), int)] * 3, numpy.zeros((0, 4), int), ["text/x"])


def test_what_answers_a_question():
    gold = {7: [Chunk(1, 10, 40)], 8: [Chunk(2, 0, 6)]}
    drawn = Drawn([7, 8], [[Chunk(1, 0, 14), Chunk(1, 14, 30)], [Chunk(2, 0, 60)], [Chunk(1, 39, 60), Chunk(3, 0, 9)]])
    texts = [numpy.arange(100 * i, 100 * i + 60) for i in range(4)]
    packed = packed_texts(texts)
    chunks = judge(packed, gold, drawn, overlap=12)
    # The first chunk shares 4 of 14 tokens and the fourth 1 of 21: too few to be right, too many to be wrong.
    assert chunks.right.tolist() == [[False, True, False, False, False], [False, False, True, False, False]]
    assert chunks.ignored.tolist() == [[True, False, False, True, False], [False] * 5]
    windows = judge_windows(chunks, drawn.windows)
    assert windows.right.tolist() == [[True, False, False], [False, True, False]]
    assert windows.ignored.tolist() == [[False, False, True], [False] * 3]
    # A copy of an answer, elsewhere, is not wrong either.
    texts[3][20:32] = texts[1][12:24]
    copied = judge(packed_texts(texts), gold, Drawn([7], [[Chunk(3, 0, 20), Chunk(3, 19, 40)]]), overlap=12)
    assert copied.right.tolist() == [[False, False]]
    assert copied.ignored.tolist() == [[False, True]]


def test_around(packed):
    text = int(numpy.diff(packed.bounds).argmax())
    length = packed.length(text)
    rng = numpy.random.default_rng(2)
    for _ in range(50):
        part = around(packed, Chunk(text, length - 5, length), (20, 30), rng)
        assert 0 <= part.first < part.end <= length and part.end > length - 5
        assert 20 <= part.end - part.first <= 30


def test_info_nce():
    scores = torch.tensor([[1.0, 0.0, 0.5], [9.0, 9.0, 9.0]])
    right = torch.tensor([[True, False, False], [False, False, False]])
    ignored = torch.tensor([[False, False, True], [False, False, False]])
    want = torch.log(1 + torch.exp(torch.tensor(-1.0)))
    assert torch.isclose(losses.info_nce(scores, right, ignored, 1.0), want)
    assert losses.info_nce(scores, right & False, ignored, 1.0) == 0
    assert losses.soft_labels(scores, scores, 1.0, 1.0).abs() < 1e-6
    assert losses.soft_labels(scores, -scores, 1.0, 1.0) > 0.1


def test_layerwise_teaches_landmarks_alone(model, spec, tokenizer, packed):
    frame = spec.frame(tokenizer)
    made = group([landmark_row(draw.lay(packed, [Chunk(0, 0, 5), Chunk(0, 5, 9)], frame), frame)], frame.pad)
    states = [s.detach().requires_grad_() for s in all_states(model, made)]
    losses.layerwise(states, made, 1, 2).backward()
    moved = states[1].grad[0].abs().sum(dim=1).nonzero().flatten()
    assert moved.tolist() == made.landmarks.tolist()
    assert states[0].grad is None and states[3].grad is None


def test_groups_change_nothing(model, spec, tokenizer, packed):
    frame = spec.frame(tokenizer)
    windows = [draw.lay(packed, [Chunk(t, 0, n), Chunk(t, n, 2 * n)], frame) for t, n in ((0, 2), (1, 9), (2, 4))]
    together = window_vectors(model, windows, frame)
    for window, vectors in zip(windows, together):
        assert torch.allclose(window_vectors(model, [window], frame)[0], vectors, atol=1e-4)
    means = mean_vectors(model, [draw.ids(packed, Chunk(t, 0, 5)) for t in (0, 1)], frame)
    alone = torch.tensor([[frame.cls, *frame.prefix, *draw.ids(packed, Chunk(1, 0, 5)), frame.landmark]])
    assert torch.allclose(means[1], model(alone, torch.ones_like(alone))[0].mean(dim=0), atol=1e-4)
    assert torch.allclose(unit(means).norm(dim=1), torch.ones(2))


def test_chunk_means():
    made = group([Row([5, 6, 7], [(1, 3)], [2]), Row([8, 9], [(0, 1), (1, 1)], [0, 1])], pad=0)
    assert made.segments.tolist() == [[3, 0, 0], [1, 3, 3]]
    states = torch.arange(6.0).reshape(2, 3, 1)
    assert chunk_means(states, made).flatten().tolist() == [1.5, 3.0, 0.0]
    assert at_landmarks(states, made).flatten().tolist() == [2.0, 3.0, 4.0]


def test_by_length():
    lengths = [9, 500, 10, 400, 11, 480]
    groups = list(by_length(lengths, 1000))
    assert groups == [[0, 2, 4], [3, 5], [1]]
