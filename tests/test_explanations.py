import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad_vec
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import workbench
from workbench import RankAD
from workbench.baselines import KLPE
from workbench.densities import FIG2
from workbench.expansions import KernelExpansion
from workbench.explanations import explain, integrated_gradients

D = 5


def normal(n, seed, d=D):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.fixture(scope="module")
def X_train():
    return normal(400, seed=0)


@pytest.fixture(scope="module")
def detector(X_train):
    return RankAD(random_state=0).fit(X_train)


def some_expansion(seed=0, s=30, d=3, sigma=0.7):
    rng = np.random.default_rng(seed)
    return KernelExpansion(rng.standard_normal((s, d)), rng.standard_normal(s), sigma)


def by_quadrature(g, x, r):
    """The definition: the gradient, written out, integrated along the path."""

    def gradient(t):
        z = r + t * (x - r)
        kernel = np.exp(-np.sum((g.centres - z) ** 2, axis=1) / g.sigma**2)
        return (g.coefficients * kernel) @ (-2 * (z - g.centres) / g.sigma**2)

    return (x - r) * quad_vec(gradient, 0, 1, epsabs=1e-13, epsrel=1e-12, limit=500)[0]


@pytest.mark.parametrize("reach", [0.01, 1.0, 10.0])
def test_closed_form_is_the_integral(reach):
    g = some_expansion()
    for x, r in zip(normal(5, 1, 3) * reach, normal(5, 2, 3), strict=True):
        np.testing.assert_allclose(
            integrated_gradients(g, x[None], r[None])[0], by_quadrature(g, x, r), atol=1e-10
        )


def test_gradient_at_the_point_would_not_do():
    """The negative control: far away the gradient is 0, while the contributions sum to the whole change."""
    g = some_expansion()
    x, r = np.full(3, 50.0), g.centres[0]
    kernel = np.exp(-np.sum((g.centres - x) ** 2, axis=1) / g.sigma**2)
    assert np.all(kernel * g.coefficients == 0)
    contributions = integrated_gradients(g, x[None], r[None])
    assert contributions.sum() == pytest.approx(-g(r[None])[0], abs=1e-12)
    assert np.abs(contributions).max() > 0.01


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 6),
    sigma=st.floats(0.05, 20),
    reach=st.sampled_from([1e-9, 0.1, 1.0, 30.0, 1e6, 1e150, 1e300, 1.7e308]),
)
def test_contributions_sum_to_the_change_of_the_score(seed, d, sigma, reach):
    g = some_expansion(seed, 20, d, sigma)
    rng = np.random.default_rng(seed + 1)
    X, R = rng.uniform(-1, 1, (4, d)) * reach, rng.standard_normal((4, d))
    contributions = integrated_gradients(g, X, R)
    assert np.isfinite(contributions).all()
    np.testing.assert_allclose(contributions.sum(axis=1), g(X) - g(R), rtol=0, atol=1e-11)


def test_one_centre_on_the_reference():
    """Along a ray from the only centre every feature has its share of the squared distance."""
    g = KernelExpansion(np.zeros((1, 3)), np.array([2.0]), sigma=1.5)
    x = np.array([[1.0, -2.0, 0.0]])
    drop = 2 * (np.exp(-5 / 1.5**2) - 1)
    np.testing.assert_allclose(
        integrated_gradients(g, x, np.zeros((1, 3))), [[drop / 5, 4 * drop / 5, 0]], atol=1e-15
    )


def test_a_feature_that_agrees_has_none_and_twin_features_share():
    g = some_expansion(d=2)
    mirrored = KernelExpansion(
        np.concatenate([g.centres, g.centres[:, ::-1]]), np.tile(g.coefficients, 2), g.sigma
    )
    x, r = np.array([[2.0, 0.5]]), np.array([[-1.0, 0.5]])
    only = integrated_gradients(g, x, r)[0]
    assert only[1] == 0
    assert only[0] == pytest.approx(float((g(x) - g(r))[0]), abs=1e-13)
    both = integrated_gradients(mirrored, np.array([[2.0, 2.0]]), np.array([[-1.0, -1.0]]))[0]
    assert both[0] == pytest.approx(both[1], abs=1e-13)
    assert abs(both[0]) > 1e-3


def test_contributions_turn_with_the_data():
    """Per unit of difference they are the mean gradient along the path, a vector."""
    g = some_expansion()
    turn = np.linalg.qr(normal(3, 3, 3))[0]
    turned = KernelExpansion(g.centres @ turn, g.coefficients, g.sigma)
    X, R = normal(6, 4, 3), normal(6, 5, 3)
    gradients = integrated_gradients(g, X, R) / (X - R)
    after = integrated_gradients(turned, X @ turn, R @ turn) / ((X - R) @ turn)
    np.testing.assert_allclose(after, gradients @ turn, atol=1e-11)


def test_units_of_a_feature_do_not_matter_where_the_detector_does_not_see_them():
    g = some_expansion()
    scaled = KernelExpansion(g.centres * 8, g.coefficients, g.sigma * 8)
    X, R = normal(6, 4, 3), normal(6, 5, 3)
    np.testing.assert_allclose(
        integrated_gradients(scaled, 8 * X, 8 * R), integrated_gradients(g, X, R), atol=1e-13
    )


def shifted(n, columns, by, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    for column, rows in zip(np.transpose(columns), [np.arange(n)] * np.shape(columns)[1], strict=True):
        X[rows, column] += by * rng.choice([-1, 1], n)
    return X


def test_the_feature_that_was_shifted_is_named(detector, X_train):
    column = np.random.default_rng(2).integers(D, size=150)
    explanation = explain(detector, shifted(150, column[:, None], by=7.0), X_train)
    assert (explanation.points["p_value"] < 0.01).all()
    named = explanation.contributions.to_numpy().argmin(axis=1)
    assert np.mean(named == column) > 0.98
    share = (explanation.contributions.min(axis=1) / explanation.contributions.sum(axis=1)).mean()
    assert share > 0.75
    # Of nominal points no feature is to be named: as often right as by chance, whose error is .033.
    nominal = explain(detector, normal(150, seed=3), X_train).contributions.to_numpy().argmin(axis=1)
    assert abs(np.mean(nominal == column) - 1 / D) < 0.13


def test_two_features_shifted_alike_share_alike(detector, X_train):
    rng = np.random.default_rng(4)
    columns = np.array([rng.permutation(D)[:2] for _ in range(150)])
    values = explain(detector, shifted(150, columns, by=7.0), X_train).contributions.to_numpy()
    assert np.mean(np.sort(np.argsort(values, axis=1)[:, :2]) == np.sort(columns)) > 0.98
    parts = np.take_along_axis(values, columns, axis=1) / values.sum(axis=1)[:, None]
    np.testing.assert_allclose(parts.mean(axis=0), 0.45, atol=0.06)


def test_sums_and_p_values_are_the_detectors(detector, X_train):
    X = np.concatenate([normal(20, 5), normal(20, 6) * 5])
    explanation = explain(detector, X, X_train, k=3)
    points = explanation.points
    np.testing.assert_array_equal(points["p_value"], detector.p_value(X))
    np.testing.assert_array_equal(points["score"], detector.score_samples(X))
    change = points["score"] - points["reference_score"]
    np.testing.assert_allclose(explanation.contributions.sum(axis=1), change, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(explanation.differences, X - X_train[points["reference"]])


def test_neighbours_and_references_against_sorting_every_distance(detector, X_train):
    X = np.concatenate([normal(15, 5), X_train[:3]])
    explanation = explain(detector, X, X_train, k=4)
    densest = np.flatnonzero(detector.levels_ == 3)
    for row, x in enumerate(X):
        distances = np.linalg.norm(X_train - x, axis=1)
        order = np.argsort(distances)[:4]
        np.testing.assert_array_equal(explanation.neighbours.loc[row], order)
        np.testing.assert_allclose(explanation.distances.loc[row], distances[order])
        assert explanation.points["reference"][row] == densest[np.argmin(distances[densest])]
    assert (explanation.distances[1].iloc[-3:] == 0).all()


def test_a_reference_has_nothing_to_explain(detector, X_train):
    row = np.flatnonzero(detector.levels_ == 3)[0]
    explanation = explain(detector, X_train[[row]], X_train)
    assert explanation.points["reference"][0] == row
    assert (explanation.contributions == 0).all(axis=None)


def test_split_compressed_and_stored_detectors(X_train, tmp_path):
    split = RankAD(calibration="split", random_state=0).fit(X_train)
    X = normal(5, 7) * 3
    explanation = explain(split, X, X_train)
    assert np.isin(explanation.neighbours, split.train_index_).all()
    assert set(split.train_index_[split.levels_ == 3]) >= set(explanation.points["reference"])
    split.save(tmp_path / "model")
    again = explain(workbench.load(tmp_path / "model"), X, X_train)
    pd.testing.assert_frame_equal(again.contributions, explanation.contributions)
    small = split.compress(landmarks=40)
    points = (compressed := explain(small, X, X_train)).points
    np.testing.assert_array_equal(points["score"], small.score_samples(X))
    change = points["score"] - points["reference_score"]
    np.testing.assert_allclose(compressed.contributions.sum(axis=1), change, rtol=0, atol=1e-11)
    with pytest.raises(ValueError, match="must be the 400 points"):
        explain(split, X, X_train[split.train_index_])


def test_frames_through_a_pipeline(X_train):
    names = list("abcde")
    raw = pd.DataFrame(X_train * [1, 10, 100, 1, 1] + 5, columns=names)
    pipeline = make_pipeline(StandardScaler(), RankAD(random_state=0)).set_output(transform="pandas").fit(raw)
    scale, rankad = pipeline[:-1], pipeline[-1]
    odd = raw.iloc[:4].set_axis(list("wxyz"))
    odd["c"] += 900.0
    explanation = explain(rankad, scale.transform(odd), scale.transform(raw), k=2)
    for frame in (explanation.points, explanation.contributions, explanation.neighbours):
        assert frame.index.tolist() == list("wxyz")
    assert explanation.contributions.columns.tolist() == names
    assert (explanation.contributions.idxmin(axis=1) == "c").all()
    np.testing.assert_array_equal(pipeline.predict(odd, alpha=0.01), -1)
    with pytest.raises(ValueError, match=r"not Pipeline. Of a pipeline, take the last step"):
        explain(pipeline, odd, raw)


def test_far_away_all_is_finite(detector, X_train):
    X = np.array([[1e6, 0, 0, 0, 0], [0, -1e300, 0, 0, 1e300], [7e307] * D])
    explanation = explain(detector, X, X_train)
    assert np.isfinite(explanation.contributions).all(axis=None)
    np.testing.assert_allclose(explanation.contributions.loc[0, 1:], 0, atol=1e-4)
    np.testing.assert_allclose(
        explanation.contributions.sum(axis=1), -explanation.points["reference_score"], atol=1e-11
    )


def test_hostile_input(detector, X_train):
    with pytest.raises(ValueError, match="not KLPE"):
        explain(KLPE().fit(X_train), X_train, X_train)
    with pytest.raises(NotFittedError):
        explain(RankAD(), X_train, X_train)
    with pytest.raises(ValueError, match=r"X_train must be the 400 points .* 399 points given are others"):
        explain(detector, X_train, X_train[:-1])
    with pytest.raises(ValueError, match="the 400 points given are others"):
        explain(detector, X_train, X_train[::-1])
    with pytest.raises(ValueError, match="1 missing or infinite"):
        explain(detector, [[0, 0, np.nan, 0, 0]], X_train)
    with pytest.raises(ValueError, match="has 2 features"):
        explain(detector, FIG2.sample(3, 0), X_train)
    with pytest.raises(ValueError, match="0 sample"):
        explain(detector, np.empty((0, D)), X_train)
    with pytest.raises(ValueError, match="X must hold numbers only"):
        explain(detector, [list("abcde")], X_train)
    for k in (0, 2.5, True):
        with pytest.raises(ValueError, match="k must be a whole number"):
            explain(detector, X_train, X_train, k=k)
    with pytest.raises(ValueError, match=r"k=401 .* the largest allowed is 400"):
        explain(detector, X_train, X_train, k=401)
