"""A study is what its seed makes it, whoever ends it in between."""

import pytest
from optuna import Study
from optuna.storages import InMemoryStorage

from fourleaf.simulator.tuning.choice import candidates, default_of
from fourleaf.simulator.tuning.study import OtherTask, finished, open_study
from tests.simulator.tuning.made import TASK, WEIGHT, study_of


def tried(study: Study) -> list[float]:
    """The weights in the order of the trials."""
    return [one.settings[WEIGHT] for one in candidates(finished(study))]


def test_the_same_seed_gives_the_same_study() -> None:
    """Fifteen trials, the last five proposed by the sampler; another seed tries others."""
    first, second = study_of(15), study_of(15)
    assert tried(first) == tried(second)
    assert tried(study_of(15, TASK.model_copy(update={"seed": 1}))) != tried(first)


def test_a_study_that_was_ended_goes_on_as_it_would_have() -> None:
    """Four trials, then to twelve, are the twelve of one go."""
    storage = InMemoryStorage()
    study_of(4, storage=storage)
    assert tried(study_of(12, storage=storage)) == tried(study_of(12))


def test_the_first_trial_is_the_config_as_it_stands() -> None:
    """A fragmentation weight of 0.1, and it is found again as the default."""
    found = candidates(finished(study_of(2)))
    assert found[0].settings == {WEIGHT: 0.1}
    assert default_of(TASK, found) == found[0]


def test_another_task_is_refused_by_the_field_that_differs() -> None:
    """The same name for another load, or for other objectives."""
    storage = InMemoryStorage()
    study_of(1, storage=storage)
    with pytest.raises(OtherTask, match="other values of load"):
        open_study(storage, "made", TASK.model_copy(update={"load": 50}))
    with pytest.raises(OtherTask, match="objectives"):
        open_study(storage, "made", TASK.model_copy(update={"objectives": ("allocation",)}))
