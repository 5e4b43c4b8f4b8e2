"""Models made over: fewer layers, rotary positions; and positions beyond those learned."""

import dataclasses

import numpy
import pytest
import torch
from stages import run

from waymark_training import checkpoint, loop
from waymark_training.bert import BertConfig, angles, rotated, stretched
from waymark_training.graph import build
from waymark_training.imitate import Imitation, distance, rotary, turned
from waymark_training.students import load


def test_positions_are_interpolated_beyond_the_table():
    table = torch.tensor([[0.0, 10.0], [2.0, 20.0], [4.0, 30.0]])
    assert stretched(table, 2).tolist() == [[0, 10], [2, 20]]
    assert stretched(table, 5).tolist() == [[0, 10], [1, 15], [2, 20], [3, 25], [4, 30]]


def test_rotary_scores_depend_on_distance_alone():
    query, key = torch.randn(2, 1, 1, 1, 8).unbind()
    turn = angles(40, 8, 100.0, query.device)

    def score(at, other):
        return (rotated(query, turn[:, at : at + 1]) * rotated(key, turn[:, other : other + 1])).sum()

    assert torch.isclose(score(3, 7), score(30, 34), atol=1e-5)
    assert not torch.isclose(score(3, 7), score(3, 9), atol=1e-3)
    assert torch.equal(rotated(query, turn[:, :1]), query)


def test_positions_are_made_rotary(config, saved, packed_file, tmp_path):
    turning = tmp_path / "rotary.toml"
    turning.write_text(config.read_text() + "\n[imitate]\ntheta = 1000\n")
    assert run("imitate", turning, saved, packed_file, tmp_path / "run", "--steps", "4") == 0
    model = checkpoint.load(tmp_path / "run/checkpoint")
    assert model.config.position_embedding_type == "rotary"
    ids = torch.randint(5, 100, (2, 100))  # twice as many as there were positions
    assert torch.isfinite(model(ids, torch.ones_like(ids))).all()
    with pytest.raises(ValueError, match="rotary"):
        build(model, [])


def test_a_model_with_fewer_layers_learns(settings, saved, packed):
    parts = load(saved, None, (0, 2))
    settings = dataclasses.replace(settings, layers=(0, 2), imitate=dataclasses.replace(settings.imitate, tokens=200))
    student = parts.student
    assert len(student.layers) == 2 and len(parts.teacher.layers) == 3
    objective = Imitation(packed, settings, parts)
    loop.prepare(student, settings.imitate)
    optimiser = loop.make_optimiser(student, settings.imitate)
    seen = []
    for _ in range(12):
        loss, terms, tokens = objective.loss(student, numpy.random.default_rng(5), 0.5)
        assert tokens > 200 and abs(sum(terms.values()) - loss.item()) < 1e-4
        loop.update(student, optimiser, loss, 3e-3, 1.0)
        seen.append(loss.item())
    assert seen[-1] < 0.9 * seen[0]


def test_a_model_imitates_itself(settings, saved, packed):
    parts = load(saved, None, ())
    objective = Imitation(packed, settings, parts)
    student = turned(parts, settings).student
    assert objective.loss(student, numpy.random.default_rng(0), 0)[0].item() < 1e-5
    assert objective.measure(student) == {"cosine": pytest.approx(1), "own first": pytest.approx(1, abs=0.05)}


def test_a_converted_model_ignores_the_order_it_is_not_told(model):
    converted = rotary(model, 10_000.0)
    assert converted.config.position_embedding_type == "rotary"
    ids = torch.tensor([[7, 8, 9]])
    assert torch.allclose(converted.embeddings(ids)[0, 2], converted.embeddings(ids.flip(1))[0, 0])
    assert not torch.allclose(
        converted(ids, torch.ones_like(ids))[0, 2], converted(ids.flip(1), torch.ones_like(ids))[0, 0]
    )


def test_distance():
    made = type("Made", (), {"mask": torch.tensor([[1, 1, 0]]).numpy()})
    want = torch.tensor([[[0.0, 1.0], [2.0, 3.0], [9.0, 9.0]]])
    assert distance(want, want, made) == 0
    assert torch.isclose(distance(want + 1, want, made), torch.tensor(0.5))


def test_unknown_positions_are_refused():
    with pytest.raises(ValueError, match="'alibi', want absolute or rotary"):
        dataclasses.replace(BertConfig(), position_embedding_type="alibi")
