"""Remake the data files of this folder, byte for byte, from two packages: see SOURCES.md.

Run it as ``python data/make_data.py``, then check with ``sha256sum --ignore-missing -c checksums.txt``.
It takes a quarter of a minute and needs Debian's apt-get and dpkg-deb (``apt-get update`` once before), pip,
and pyreadr, which nothing else in the project uses.
"""

import lzma
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import pyreadr
import scipy.io

HERE = Path(__file__).resolve().parent
WHEEL = "balif==0.4.0"
DEB = "r-cran-mlbench"

# None: the origin of the columns is not certain, so they are x1 to xd.
COLUMNS = {
    "annthyroid": ["age", "TSH", "T3", "TT4", "T4U", "FTI"],
    "cover": [
        "Elevation",
        "Aspect",
        "Slope",
        "Horizontal_Distance_To_Hydrology",
        "Vertical_Distance_To_Hydrology",
        "Horizontal_Distance_To_Roadways",
        "Hillshade_9am",
        "Hillshade_Noon",
        "Hillshade_3pm",
        "Horizontal_Distance_To_Fire_Points",
    ],
    "mammography": None,
    "satellite": None,
}


def fetch(folder):
    """Download the wheel and the unpacked Debian package into a folder."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, WHEEL]
    subprocess.run(pip, check=True)
    subprocess.run(["apt-get", "download", DEB], check=True, cwd=folder)
    (deb,) = Path(folder).glob("*.deb")
    subprocess.run(["dpkg-deb", "--extract", deb, folder], check=True)


def read_wheel(folder, name):
    """Return features and labels of one of the wheel's MATLAB files."""
    (wheel,) = Path(folder).glob("*.whl")
    with zipfile.ZipFile(wheel) as archive, archive.open(f"balif/odds_datasets/{name}.mat") as file:
        contents = scipy.io.loadmat(file)
    return contents["X"], contents["y"].ravel()


def read_shuttle(folder):
    """Return features and labels of Shuttle: class High left out, all but Rad.Flow anomalous."""
    (path,) = Path(folder).glob("usr/lib/R/site-library/mlbench/data/Shuttle.rda")
    frame = pyreadr.read_r(path)["Shuttle"].query("Class != 'High'")
    return frame.drop(columns="Class").to_numpy(int), frame["Class"] != "Rad.Flow"


def write(name, X, y, columns=None):
    """Write one data set as a sorted, compressed table with the label in its last column."""
    frame = pd.DataFrame(X, columns=columns or [f"x{j}" for j in range(1, X.shape[1] + 1)])
    frame["anomaly"] = [int(label) for label in y]
    # Row order carries no meaning, and sorted rows compress better. Slope and aspect nearly fix the
    # three hillshades: with these two first, cover is a tenth smaller.
    first = ["Slope", "Aspect"] if name == "cover" else []
    order = first + [column for column in frame if column not in first]
    compression = {"method": "xz", "preset": 9 | lzma.PRESET_EXTREME}
    frame.sort_values(order).to_csv(
        HERE / f"{name}.csv.xz", index=False, lineterminator="\n", compression=compression
    )


def main():
    """Remake every file."""
    with tempfile.TemporaryDirectory() as folder:
        fetch(folder)
        for name, columns in COLUMNS.items():
            write(name, *read_wheel(folder, name), columns)
        write("shuttle", *read_shuttle(folder))


if __name__ == "__main__":
    main()
