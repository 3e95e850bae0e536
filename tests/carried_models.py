"""Models carried from one set of libraries to another: what one set saves, the others read.

    python tests/carried_models.py save FOLDER      models, and the scores they gave here
    python tests/carried_models.py check FOLDER...  how far the scores that they give here are from those

Scores that differ by more than rounding can make them differ end with status 1.
"""

import sys
from pathlib import Path

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

import workbench
from workbench import RankAD, RankADCV
from workbench.chunks import judge
from workbench.densities import FIG2
from workbench.pipelines import estimators

QUERIES = np.vstack([FIG2.sample(500, random_state=1), [[18.0, 18.0], [1e300, 0.0]]])


def models():
    X = FIG2.sample(200, random_state=0)
    yield "whole", RankAD(random_state=0).fit(X)
    yield "split", RankAD(calibration="split", random_state=0).fit(X)
    yield "compressed", RankAD(random_state=0).fit(X).compress(landmarks=50)
    scalers = StandardScaler(), RobustScaler(), MinMaxScaler(clip=True)
    yield "scaled", make_pipeline(*scalers, RankAD(random_state=0)).fit(X)
    yield "turned", make_pipeline(PCA(whiten=True), RankAD(random_state=0)).fit(X)
    yield "cv", RankADCV(sigma_factors=(1.0, 4.0), Cs=(0.001, 0.1), random_state=0).fit(X)


def save(folder):
    folder.mkdir(parents=True)
    for name, detector in models():
        workbench.save(detector, folder / f"{name}.rankad")
        judged = judge(detector, detector.score_samples(QUERIES))
        np.savez(folder / name, score=judged.score, p_value=judged.p_value)


def agrees(path):
    detector, there = workbench.load(path), np.load(path.with_suffix(".npz"))
    score, p_value, _ = judge(detector, detector.score_samples(QUERIES))
    same = score.tobytes() == there["score"].tobytes() and p_value.tobytes() == there["p_value"].tobytes()
    off, allowed = np.abs(score - there["score"]).max(), 2 * estimators(detector)[-1].g_.rounding
    allowed += 1e-9 * (path.stem == "turned")  # the points themselves are products, which may round otherwise
    moved = np.count_nonzero(p_value != there["p_value"])
    what = (
        "the same bits"
        if same
        else f"{moved} p-values moved, scores off by {off:.1e} of {allowed:.1e} allowed"
    )
    print(f"  {path.parent.name} {path.stem}: {what}")
    return off <= allowed


if __name__ == "__main__":
    action, *folders = sys.argv[1:]
    print(
        f"  here: Python {sys.version.split()[0]}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    )
    if action == "save":
        save(Path(folders[0]))
    else:
        outcomes = [agrees(path) for folder in folders for path in sorted(Path(folder).glob("*.rankad"))]
        sys.exit(0 if outcomes and all(outcomes) else 1)
