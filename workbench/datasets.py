"""The paper's eight data sets (Table 2) and its split into training and test points (Sec. 6.3).

Five sets ship in the folder ``data/``, whose SOURCES.md says where each comes from. HTTP and SMTP are
downloaded once and cached, and Mulcross is generated. Every file is checked against
``data/checksums.txt`` before it is read.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pooch
from scipy import linalg, stats
from sklearn.utils import check_random_state

DESCRIPTIONS = {
    "annthyroid": "Thyroid disease, age and five blood tests; anomalies: classes 1 and 2",
    "cover": "Forest cover type; anomalies: class 4 (cottonwood, willow) against class 2 (lodgepole pine)",
    "http": "Web connections (KDD Cup 1999), log durations and bytes; anomalies: attacks",
    "mammography": "Bright objects in mammograms; anomalies: microcalcifications",
    "mulcross": "Tight Gaussian clusters of anomalies outside a Gaussian bulk",
    "satellite": "Landsat pixels, 3 x 3 in four bands; anomalies: the three smallest soil classes",
    "shuttle": "Space shuttle sensors; anomalies: classes 2, 3, 5, 6 and 7 against class 1",
    "smtp": "Mail connections (KDD Cup 1999), log durations and bytes; anomalies: attacks",
}
DATASETS = tuple(DESCRIPTIONS)

_ADDRESS = "https://github.com/Minqi824/ADBench/raw/main/adbench/datasets/Classical/"
_DOWNLOADS = {"http": "16_http.npz", "smtp": "34_smtp.npz"}
_CONNECTION_COLUMNS = ("log_duration", "log_src_bytes", "log_dst_bytes")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with labels.

    Attributes
    ----------
    X : array of shape (n, d), float64
        In the units of the source, not scaled. The rows of a shipped set are sorted, so take random
        ones (`nominal_split`), not the first ones.
    y : int array of shape (n,)
        1 = anomaly, 0 = nominal.
    name : str
    feature_names : tuple of d str
    description : str
        What the points are and which of them are anomalies.
    """

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    name: str
    feature_names: tuple[str, ...] = field(repr=False)
    description: str


class Split(NamedTuple):
    """Nominal points to train on, and a mixture to test on.

    Attributes
    ----------
    X_train : array of shape (n_train, d)
        Nominal points in random order.
    X_test : array of shape (n_test, d)
        The other nominal points in random order, then every anomaly.
    y_test : int array of shape (n_test,)
        1 = anomaly, 0 = nominal.
    """

    X_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load_dataset(name):
    """Load one of the data sets of Table 2.

    Parameters
    ----------
    name : {"annthyroid", "cover", "http", "mammography", "mulcross", "satellite", "shuttle", "smtp"}
        "http" and "smtp" are downloaded on first use into the folder that the environment variable
        WORKBENCH_CACHE names, or else into the user's cache. Where WORKBENCH_MIRROR names a folder
        that holds ``http.npz`` and ``smtp.npz``, they are copied from there and no network is used.
        "mulcross" is ``mulcross(random_state=0)``.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such data set, or a file differs from the one whose checksum is recorded.
    FileNotFoundError
        If a shipped file is missing.
    OSError
        If a download fails.
    """
    if not isinstance(name, str) or name not in DATASETS:
        close = difflib.get_close_matches(str(name).lower(), DATASETS, n=1, cutoff=0.5)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no data set {name!r}: choose from {', '.join(DATASETS)}.{hint}")
    if name == "mulcross":
        return mulcross(random_state=0)
    X, y, feature_names = _read_download(name) if name in _DOWNLOADS else _read_shipped(name)
    return Dataset(X, y, name, feature_names, DESCRIPTIONS[name])


def mulcross(n=262_144, *, d=4, contamination=0.1, distance=2, clusters=2, random_state=None):
    """Generate Mulcross: tight clusters of anomalies outside a Gaussian bulk (Rocke & Woodruff 1996).

    The bulk is N(0, I). Of the n points, ``m = floor(contamination n + 1/2)`` are anomalies, in
    clusters of equal size (or nearly) from N(r s, lambda I). Here s is a random vector of signs for
    each cluster, ``r = distance sqrt(q / d)`` with q the .999 point of chi^2_d to one decimal, and
    ``lambda = max(0.01, (1 - a)(a d - (1 - a)) / (a ((1 - a) d - a)))`` with a = contamination. All
    points together are then whitened to mean zero and identity covariance, and permuted. Two clusters
    may draw the same s.

    Parameters
    ----------
    n : int, default 262144
        Number of points, more than d.
    d : int, default 4
        Number of features.
    contamination : float, default 0.1
        Share of anomalies, in (0, 1/2).
    distance : float, default 2
        How far the clusters are from the bulk, positive: 1 is the .999 shell of the bulk.
    clusters : int, default 2
        Number of clusters, at most the number of anomalies.
    random_state : int, RandomState or None

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If an argument is outside the range given above.
    """
    d = _whole("d", d)
    n = _whole("n", n, least=d + 1)
    if not 0 < contamination < 0.5:
        raise ValueError(f"contamination must be a share between 0 and 1/2, got {contamination!r}.")
    if not 0 < distance < np.inf:
        raise ValueError(f"distance must be a positive number, got {distance!r}. The paper uses 2.")
    m = int(contamination * n + 0.5)
    if _whole("clusters", clusters) > m:
        raise ValueError(f"{m} anomalies cannot form {clusters} clusters: raise n or contamination.")

    rng = check_random_state(random_state)
    a = contamination
    shrinkage = max(0.01, (1 - a) * (a * d - (1 - a)) / (a * ((1 - a) * d - a)))
    r = distance * np.sqrt(round(stats.chi2.ppf(0.999, d), 1) / d)
    X = rng.standard_normal((n, d))
    signs = rng.choice([-1, 1], size=(clusters, d))
    cluster = np.arange(m) * clusters // m
    X[-m:] = r * signs[cluster] + np.sqrt(shrinkage) * X[-m:]
    X -= X.mean(axis=0)
    factor = linalg.cholesky(np.cov(X, rowvar=False).reshape(d, d), lower=True)
    X = linalg.solve_triangular(factor, X.T, lower=True).T

    order = rng.permutation(n)
    y = (order >= n - m).astype(int)
    feature_names = tuple(f"x{j}" for j in range(1, d + 1))
    return Dataset(X[order], y, "mulcross", feature_names, DESCRIPTIONS["mulcross"])


def nominal_split(dataset, n_train=2000, max_nominal_test=80_000, *, random_state):
    """Split as the paper does (Sec. 6.3): train on nominal points, test on the others and all anomalies.

    Parameters
    ----------
    dataset : Dataset
    n_train : int, default 2000
        Nominal points to train on, less than there are.
    max_nominal_test : int, default 80000
        Most nominal points to test on.
    random_state : int, RandomState or None

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If either number is not a whole number of points, or no nominal point would be left to test on.
    """
    n_train, max_nominal_test = _whole("n_train", n_train), _whole("max_nominal_test", max_nominal_test)
    nominal = np.flatnonzero(dataset.y == 0)
    if n_train >= len(nominal):
        raise ValueError(
            f"n_train={n_train} leaves no nominal point to test on: {dataset.name} has {len(nominal)}. "
            f"Use at most {len(nominal) - 1}."
        )
    nominal = check_random_state(random_state).permutation(nominal)
    test = np.concatenate([nominal[n_train : n_train + max_nominal_test], np.flatnonzero(dataset.y == 1)])
    return Split(dataset.X[nominal[:n_train]], dataset.X[test], dataset.y[test])


def _whole(name, value, least=1):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}.")
    return int(value)


def _data_folder():
    """Return the folder of shipped files: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "data"
    return installed if installed.is_dir() else package.parent / "data"


def _checksum(filename):
    lines = (_data_folder() / "checksums.txt").read_text(encoding="utf-8").splitlines()
    return {listed: digest for digest, listed in map(str.split, lines)}[filename]


def _read_shipped(name):
    path = _data_folder() / f"{name}.csv.xz"
    restore = f"Restore it with `git checkout -- data/{path.name}`, or install the package again."
    if not path.is_file():
        raise FileNotFoundError(f"The data file {path} is missing. {restore}")
    content = path.read_bytes()
    expected, seen = _checksum(path.name), hashlib.sha256(content).hexdigest()
    if seen != expected:
        raise ValueError(
            f"The data file {path} is damaged or altered: its sha256 should be {expected} but is {seen}. "
            f"{restore}"
        )
    frame = pd.read_csv(io.BytesIO(content), compression="xz", engine="c", dtype=float)
    y = frame.pop("anomaly").to_numpy(int)
    return np.array(frame, order="C"), y, tuple(frame.columns)


def _read_download(name):
    filename, source, downloader = f"{name}.npz", _ADDRESS + _DOWNLOADS[name], None
    if mirror := os.environ.get("WORKBENCH_MIRROR"):
        source, downloader = str(Path(mirror).expanduser() / filename), _copy
    cache = os.environ.get("WORKBENCH_CACHE") or pooch.os_cache("rankad-workbench")
    remedy = f"put {filename} (from {_ADDRESS}{_DOWNLOADS[name]}) in a folder named by WORKBENCH_MIRROR"
    try:
        path = pooch.retrieve(source, _checksum(filename), filename, cache, downloader=downloader)
    except OSError as error:
        raise OSError(
            f"{filename} could not be brought from {source} to {cache} ({type(error).__name__}): "
            f"connect to the network, or {remedy}."
        ) from error
    except ValueError as error:
        raise ValueError(f"{filename} from {source} is not the published file: {remedy}. {error}") from error
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"].astype(float, order="C"), arrays["y"].astype(int), _CONNECTION_COLUMNS


def _copy(source, target, _):
    """Stand in for the download where a mirror folder is given; pooch verifies the copy."""
    shutil.copyfile(source, target)
