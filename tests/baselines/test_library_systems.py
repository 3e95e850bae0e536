"""One-class SVM, isolation forest, KDE sets and the adapter against the libraries themselves."""

import numpy as np
import pytest
from scipy import stats
from sklearn import ensemble, svm
from sklearn.covariance import EllipticEnvelope
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from workbench import neighbors
from workbench.baselines import AKLPE, KLPE, Adapted, IsolationForest, KDEMinimumVolume, OneClassSVM
from workbench.densities import FIG1, FIG2


@pytest.fixture(scope="module")
def X():
    return FIG2.sample(300, random_state=0)


@pytest.fixture(scope="module")
def fresh():
    return FIG2.sample(200, random_state=1)


def test_one_class_svm_is_scikit_learns(X, fresh):
    detector = OneClassSVM(nu=0.2, sigma=3.0).fit(X)
    peer = svm.OneClassSVM(nu=0.2, gamma=1 / 9, tol=1e-6).fit(X)
    np.testing.assert_allclose(detector.score_samples(fresh), peer.score_samples(fresh), rtol=1e-6)
    alphas = detector.svm_.dual_coef_[0]
    support = X[detector.svm_.support_]
    kernel = np.exp(-np.sum((fresh[:, None] - support) ** 2, axis=2) / 9)
    np.testing.assert_allclose(detector.score_samples(fresh), kernel @ alphas)
    assert alphas.min() > 0
    assert alphas.sum() == pytest.approx(0.2 * 300)


def test_one_class_svm_by_the_nu_property(X):
    """Below the SVM's own threshold lie at most nu n training points; at least nu n are support vectors."""
    for nu in (0.1, 0.5):
        fitted = OneClassSVM(nu=nu, sigma=4.0).fit(X).svm_
        scaled = X / 4.0
        assert np.mean(fitted.decision_function(scaled) < -1e-4) <= nu
        assert len(fitted.support_) >= nu * 300


def test_one_class_svm_bandwidth_is_the_median_distance(X):
    distances = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(300, 1)]
    assert OneClassSVM().fit(X).sigma_ == pytest.approx(np.median(distances))
    assert OneClassSVM().fit(X * 1e-200).sigma_ == pytest.approx(np.median(distances) * 1e-200)


def test_isolation_forest_is_scikit_learns(X, fresh):
    detector = IsolationForest(t=20, psi=64, random_state=5).fit(X)
    peer = ensemble.IsolationForest(
        n_estimators=20, max_samples=64, random_state=np.random.RandomState(5)
    ).fit(X)
    np.testing.assert_array_equal(detector.score_samples(fresh), peer.score_samples(fresh))


def kde_slowly(X, queries, h):
    s = X.std(axis=0)
    out = []
    for query in queries:
        out.append(np.mean([np.prod(stats.norm.pdf((query - x) / s / h) / (s * h)) for x in X]))
    return np.log(out)


def test_kde_is_a_mean_of_normal_densities(fresh):
    X = FIG1.sample(60, random_state=0) * [1, 100]
    detector = KDEMinimumVolume().fit(X)
    assert detector.bandwidth_ == pytest.approx(60 ** (-1 / 6))
    near = FIG1.sample(20, random_state=1) * [1, 100]
    np.testing.assert_allclose(detector.score_samples(near), kde_slowly(X, near, 60 ** (-1 / 6)), rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5])
def test_kde_set_has_mass_one_minus_alpha_on_the_sample(X, alpha):
    inside = KDEMinimumVolume(alpha=alpha).fit(X).predict(X) == 1
    assert inside.sum() == 300 - np.floor(alpha * 300)


def test_kde_p_values_approach_the_true_ones_and_in_sample_ones_are_too_small():
    fresh = FIG1.sample(1000, random_state=1)

    def difference(n, calibration, bandwidth="scott"):
        system = KDEMinimumVolume(bandwidth=bandwidth, calibration=calibration, random_state=0)
        detector = system.fit(FIG1.sample(n, random_state=0))
        return detector.p_value(fresh) - FIG1.p_value(fresh)

    error = [np.sqrt(np.mean(difference(n, "split") ** 2)) for n in (100, 4000)]
    assert error[1] < 0.1
    assert error[1] < error[0] / 2
    # a training point's own kernel lifts its density, so that new points look sparse beside it
    assert np.mean(difference(100, "in-sample", 0.15)) < -0.2
    assert abs(np.mean(difference(100, "split", 0.15))) < 0.1


def test_kde_with_a_constant_feature(X, fresh):
    pad = [np.c_[part, np.full(len(part), 7.0)] for part in (X, fresh)]
    plain, padded = KDEMinimumVolume(bandwidth=0.3).fit(X), KDEMinimumVolume(bandwidth=0.3).fit(pad[0])
    np.testing.assert_array_equal(padded.p_value(pad[1]), plain.p_value(fresh))
    assert padded.p_value([[-5.0, 0.0, 100.0]])[0] == 0


@pytest.mark.parametrize(
    "estimator",
    [svm.OneClassSVM(), EllipticEnvelope(random_state=0), LocalOutlierFactor(novelty=True)],
    ids=str,
)
def test_adapted_scores_are_the_estimators(estimator, X, fresh):
    detector = Adapted(estimator).fit(X)
    np.testing.assert_array_equal(detector.score_samples(fresh), estimator.fit(X).score_samples(fresh))
    p = detector.p_value([[-5.0, 0.0], [18.0, 18.0]])
    assert p[0] > 0.2
    assert p[1] < 0.02


def test_adapted_pipeline_with_a_seed(X, fresh):
    pipeline = make_pipeline(StandardScaler(), ensemble.IsolationForest(n_estimators=20))
    one, two, other = (Adapted(pipeline, random_state=seed).fit(X).score_samples(fresh) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    assert pipeline[-1].random_state is None


def test_adapted_local_outlier_factor_leaves_training_points_out(X):
    lof = LocalOutlierFactor(n_neighbors=5, novelty=True)
    detector = Adapted(lof).fit(X)
    np.testing.assert_array_equal(detector.calibration_scores_, np.sort(lof.fit(X).negative_outlier_factor_))
    assert not np.allclose(detector.calibration_scores_, np.sort(detector.score_samples(X)))


def test_adapting_what_cannot_score_new_points(X):
    with pytest.raises(ValueError, match=r"cannot score new points.*novelty=True"):
        Adapted(LocalOutlierFactor()).fit(X)


class LikePyOD(svm.OneClassSVM):
    """PyOD's conventions: `decision_scores_` once fitted, and large for anomalies."""

    def fit(self, X, y=None):
        self._X = np.asarray(X)
        self.decision_scores_ = neighbors.knn_statistic(X, k=5)
        return self

    def decision_function(self, X):
        return neighbors.knn_statistic(self._X, X, k=5)


def test_pyods_sign_is_turned_round(X, fresh):
    detector, own = Adapted(LikePyOD()).fit(X), AKLPE(k=5).fit(X)
    np.testing.assert_array_equal(detector.calibration_scores_, own.calibration_scores_)
    np.testing.assert_array_equal(detector.p_value(fresh), own.p_value(fresh))


def test_pyod_as_a_peer(X, fresh):
    knn = pytest.importorskip("pyod.models.knn")
    for method, own in (("mean", AKLPE(k=7)), ("largest", KLPE(k=7))):
        adapted = Adapted(knn.KNN(n_neighbors=7, method=method)).fit(X)
        np.testing.assert_allclose(adapted.p_value(fresh), own.fit(X).p_value(fresh))
        np.testing.assert_allclose(adapted.score_samples(fresh), own.score_samples(fresh))
