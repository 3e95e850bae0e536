import json

import numpy as np
import pytest
from traitlets import TraitError

from workbench.explorer import PRESETS, Settings
from workbench.explorer.settings import NAMES, VIEW, parse_edges


def test_every_setting_survives_json():
    settings = Settings(data="ring", k=7, points=[[1.0, 2.0]], left_edges="0.1, 0.5", anchor=False, alpha=0.2)
    other = Settings(n=50)
    other.restore(settings.to_json())
    assert other.values() == settings.values()
    assert set(json.loads(settings.to_json())) == set(NAMES)


def test_restoring_part_leaves_the_rest_at_defaults():
    settings = Settings(k=7, n=50)
    settings.restore('{"n": 70}')
    assert settings.n == 70
    assert settings.k == Settings().k


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "JSON object"),
        ('{"sigma": 1}', "no setting 'sigma': choose from data"),
        ('{"k": 0}', "k"),
        ('{"k": 5, "n": "many"}', "n"),
        ('{"alpha": NaN}', "alpha must be a finite number"),
        ('{"data": "iris"}', "data"),
        ('{"points": [[1, 2, 3]]}', "points"),
        ('{"points": [[1, NaN]]}', "points must be finite"),
        ('{"sigma_over_DK": 1' + "0" * 400 + "}", "too large"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_settings_change_nothing(text, message):
    settings = Settings(k=9)
    before = settings.values()
    with pytest.raises(ValueError, match=message):
        settings.restore(text)
    assert settings.values() == before


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_settings_with_a_point_to_make(name):
    settings, note = PRESETS[name]
    assert set(settings) <= set(NAMES) - set(VIEW)
    Settings().set(**settings)
    assert note.endswith(".")


def test_cut_points():
    assert parse_edges(" ") is None
    assert parse_edges("0.03") == [0.03]
    assert parse_edges("0.1,0.5 0.9") == [0.1, 0.5, 0.9]
    with pytest.raises(ValueError, match="separated by commas, got '3%'"):
        parse_edges("3%")


@pytest.mark.parametrize("change", [{"alpha": 0.0}, {"sigma_over_DK": -1.0}, {"n": 5}, {"C_times_n": np.inf}])
def test_values_out_of_range_are_refused(change):
    settings = Settings()
    ((name, value),) = change.items()
    before = getattr(settings, name)
    with pytest.raises(TraitError, match=name):
        setattr(settings, name, value)
    assert getattr(settings, name) == before
