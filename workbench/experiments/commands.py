"""`workbench reproduce` and `workbench ledger`."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import click

EXPERIMENTS = {
    "fig1": ("fig1",),
    "fig2": ("fig2",),
    "table1": ("table1",),
    "table2": ("table2",),
    "table3": ("table3", "times"),
    "defaults": ("defaults",),
    "selection": ("selection",),
    "frontier": ("frontier",),
}
"""What can be asked for, and the modules that it takes."""

PAPER = ("fig1", "fig2", "table1", "table2", "table3")
RESULTS = "results"
LEDGER = "ledger.sqlite"


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice([*EXPERIMENTS, "all"]))
@click.option("--quick", is_flag=True, help="Minutes instead of hours: smaller samples, one run or two.")
@click.option("--runs", type=click.IntRange(1), help="Seeds of each cell, not the experiment's own number.")
@click.option(
    "--out", default=RESULTS, show_default=True, help="Folder for the ledger, the tables and figures."
)
@click.option("--jobs", default=-1, show_default=True, help="Cells at a time; -1 is one a core.")
@click.option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster to work on, as tcp://10.0.0.1:8786.")
def reproduce(names, quick, runs, out, jobs, scheduler):
    """Measure what is asked for by NAMES (all: every figure and table of the paper) and write the tables.

    Every cell is written to the ledger as soon as it is done. Stop it whenever you like: the same command
    goes on where it was. Several may run at once on one ledger.
    """
    from .reproduce import measure, write

    asked = dict.fromkeys(name for given in names for name in (PAPER if given == "all" else (given,)))
    modules = [module for name in asked for module in EXPERIMENTS[name]]
    try:
        failed = measure(
            modules, out, quick=quick, runs=runs, n_jobs=jobs, scheduler=scheduler, report=click.echo
        )
        for path in write(modules, out, quick=quick, runs=runs):
            click.echo(f"Written: {path}")
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except sqlite3.Error as error:
        raise click.ClickException(
            f"The ledger {Path(out) / LEDGER} could not be written or read: {error}. What it held is still "
            "there: make room, and the same command goes on from there."
        ) from error
    except KeyboardInterrupt:
        click.echo(
            "\nStopped. What was done is in the ledger; the same command goes on from there.", err=True
        )
        sys.exit(130)
    sys.exit(1 if failed else 0)


@click.command()
@click.argument("experiment", required=False)
@click.option("--out", default=RESULTS, show_default=True, help="Folder that holds the ledger.")
@click.option("--csv", "path", type=click.Path(dir_okay=False), help="Write every cell to this file.")
def ledger(experiment, out, path):
    """Show what the ledger holds, or the cells of one EXPERIMENT, or write them to a CSV file.

    `workbench ledger table3` shows paper, ours, difference, interval and verdict.
    """
    from .ledger import Ledger
    from .reproduce import markdown, sizes

    file = Path(out) / LEDGER
    if not file.is_file():
        raise click.ClickException(
            f"There is no ledger {file}. `workbench reproduce` makes one, in the folder --out."
        )
    try:
        book = Ledger(file)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    records = book.records(experiment)
    if records.empty:
        known = ", ".join(sorted(set(book.records()["experiment"]))) or "nothing"
        raise click.ClickException(f"The ledger holds no cell of {experiment!r}: it holds {known}.")
    if path:
        records.to_csv(path, index=False)
        click.echo(f"Written: {path}, {len(records):,} cells.")
    elif experiment is None:
        summary = records.groupby(["experiment", "version"], sort=False).agg(
            cells=("seconds", "size"),
            hours=("seconds", lambda s: round(s.sum() / 3600, 2)),
            last=("finished", "max"),
        )
        click.echo(summary.to_string())
    else:
        for size in sizes(records):
            click.echo(markdown(experiment, size))
