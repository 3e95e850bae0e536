"""The `workbench` command."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click

from .experiments.commands import ledger, reproduce
from .lessons.commands import lessons

PACKAGE = Path(__file__).resolve().parent
START = "00_start_here.ipynb"
DASHBOARD = "dashboard.ipynb"
EXISTING = click.Path(exists=True, dir_okay=False)
STOPPED = 128 + signal.SIGINT
RATE = click.FloatRange(0, 1, min_open=True, max_open=True)


class RefusedError(click.ClickException):
    """What a user asked for cannot be done, and why."""

    exit_code = 2


class Stoppable(click.Group):
    """Commands that end on Ctrl-C with a word and the exit code that shells know it by."""

    def invoke(self, context):
        """Run a command."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            click.echo("\nStopped.", err=True)
            context.exit(STOPPED)


@click.group(cls=Stoppable)
@click.version_option(package_name="rankad-workbench")
@click.pass_context
def main(context):
    """RankAD Workbench: level-set anomaly detection in JupyterLab."""
    context.obj = _notebooks


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("jupyterlab_options", nargs=-1, type=click.UNPROCESSED)
def lab(jupyterlab_options):
    """Open JupyterLab on the start notebook.

    Options such as --no-browser or --port=8889 are passed on to JupyterLab.
    """
    notebooks = _notebooks()
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={notebooks.parent}"]
    command += [f"--LabApp.default_url=/lab/tree/{notebooks.name}/{START}", *jupyterlab_options]
    sys.exit(_run(command))


@main.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--port", default=8866, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on."
)
@click.option("--ip", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--token", help="What a visitor must know; made up anew each time, unless given.")
@click.argument("voila_options", nargs=-1, type=click.UNPROCESSED)
def dashboard(port, ip, token, voila_options):
    """Serve the explorer as a page without code.

    It listens on this machine only, unless told otherwise, and asks for the token in the address that is
    printed. Other options, such as --Voila.log_level=INFO, are passed on to Voila.
    """
    if token is None:
        token = secrets.token_urlsafe(24)
    elif not re.fullmatch(r"[\w.~-]+", token, re.ASCII):
        raise click.BadParameter(
            "it is part of an address: letters, digits and -._~, one or more.", param_hint="--token"
        )
    command = [sys.executable, "-m", "voila", str(_notebooks() / DASHBOARD), "--no-browser"]
    command += ["--template=rankad", "--show_tracebacks=True", f"--token={token}"]
    command += [f"--Voila.ip={ip}", f"--port={port}", "--Voila.port_retries=0", *voila_options]
    # Where Voila finds the template, which fetches nothing from elsewhere.
    folders = [str(PACKAGE), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    click.echo(f"Open http://{ip}:{port}/?token={token} once Voila says that it runs (Ctrl-C ends it).")
    sys.exit(_run(command, os.environ | {"JUPYTER_PATH": os.pathsep.join(folders)}))


@main.command()
@click.argument("names", nargs=-1)
def data(names):
    """List the data sets, or check and download those NAMED (all for every one)."""
    from . import datasets

    if not names:
        for name, description in datasets.DESCRIPTIONS.items():
            click.echo(f"{name:12} {description}")
        return
    failed = False
    for name in datasets.DATASETS if names == ("all",) else names:
        try:
            dataset = datasets.load_dataset(name)
        except (ValueError, OSError) as error:
            failed = True
            click.echo(f"Error: {error}", err=True)
            continue
        n, d = dataset.X.shape
        click.echo(f"{name}: {n} rows, {d} columns, {dataset.y.sum()} anomalies, checksum verified")
    sys.exit(failed)


main.add_command(reproduce)
main.add_command(ledger)
main.add_command(lessons)


@main.command()
@click.argument("model", type=EXISTING)
def card(model):
    """Show the model card of a MODEL that workbench.save wrote."""
    from .persistence import card

    try:
        click.echo(card(model))
    except (ValueError, OSError) as error:
        raise RefusedError(str(error)) from error


@main.command()
@click.argument("model", type=EXISTING)
@click.argument("data", type=EXISTING)
@click.option("--out", required=True, type=click.Path(), help="Result, .csv or .parquet.")
@click.option("--alpha", type=RATE, help="False-alarm level of the alarms; that of the fit if not given.")
@click.option("--fdr", type=RATE, help="Also mark discoveries at this false discovery rate, over all rows.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there.")
def score(model, data, out, alpha, fdr, overwrite):
    """Score every row of DATA (.csv, .csv.gz or .parquet), however large, by a MODEL of workbench.save.

    A pipeline is given the columns as they are, and prepares them itself.

    OUT gets the columns row, score, p_value, alarm and, with --fdr, discovery. A run that was stopped or
    killed goes on where it was when the same command is given again.
    """
    from . import scoring_files

    folder = scoring_files.working_folder(out)
    kept = f"Finished chunks are kept in {folder}: the same command goes on from there."
    try:
        found = scoring_files.score_file(
            model, data, out, alpha=alpha, fdr=fdr, overwrite=overwrite, verbose=True
        )
    except (ValueError, FileExistsError) as error:
        raise RefusedError(str(error)) from error
    except OSError as error:
        raise RefusedError(f"{error} {kept}" if folder.exists() else str(error)) from error
    except KeyboardInterrupt:
        click.echo(f"Stopped. {kept}", err=True)
        sys.exit(STOPPED)
    if found.unused:
        click.echo(f"Columns not used: {', '.join(found.unused)}.", err=True)
    discoveries = "" if fdr is None else f", {found.discoveries} discoveries"
    click.echo(f"{found.rows} rows scored, {found.alarms} alarms{discoveries}. Written to {out}.")
    if fdr is not None and not found.split:
        click.echo(
            "These p-values count scores of training points: no false discovery rate is promised.", err=True
        )


@main.group()
def bench():
    """Measure how fast it is here, next to its peers."""


@bench.command()
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON, table and figure.")
@click.option("--largest", default=100_000, show_default=True, help="Largest n to try.")
@click.option("--repetitions", default=3, show_default=True, help="Runs of each contender at each n.")
def solver(out, largest, repetitions):
    """RankSVM solvers: seconds to a certified solution against n."""
    from .benchmarks import solver as benchmark

    smallest = min(min(sizes) for sizes in benchmark.FAMILIES.values())
    if largest < smallest or repetitions < 1:
        raise click.ClickException(
            f"Nothing to measure with largest={largest} and repetitions={repetitions}: "
            f"the smallest n is {smallest}, and one repetition is the least."
        )
    frame = benchmark.run(largest, repetitions, report=click.echo)
    click.echo(f"Written to {benchmark.save(frame, out)}.")


@bench.command()
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON and page.")
@click.option(
    "--n",
    default=2000,
    show_default=True,
    type=click.IntRange(80, 10_000),
    help="Nominal points, of which each fold fits 3/4.",
)
@click.option(
    "--tol",
    default=1e-3,
    show_default=True,
    type=click.FloatRange(1e-9, 0.5),
    help="Relative gap of each fit.",
)
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Processes.")
def path(out, n, tol, jobs):
    """Minutes for the paper's whole cross-validation grid: 21 bandwidths, 13 prices, 4 folds."""
    from .benchmarks import path as benchmark

    try:
        record = benchmark.run(n, tol=tol, n_jobs=jobs)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(benchmark.sentence(record))
    click.echo(f"Written to {benchmark.save(record, out)}.")


@bench.command()
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON and table.")
@click.option(
    "--repetitions", default=3, show_default=True, type=click.IntRange(1), help="Runs of each contender."
)
def scoring(out, repetitions):
    """Scoring: seconds for new points, exactly and through landmarks, next to the library detectors."""
    from .benchmarks import scoring as benchmark

    frame = benchmark.run(repetitions, report=click.echo)
    click.echo(f"Written to {benchmark.save(frame, out)}.")


@bench.command()
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON and table.")
@click.option(
    "--largest", default=100_000, show_default=True, type=click.IntRange(2000), help="Largest n to try."
)
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1), help="Runs of each.")
def ranks(out, largest, repetitions):
    """Ranks over 20 random half splits, next to one k-NN query."""
    from .benchmarks import ranks as benchmark

    frame = benchmark.run(largest, repetitions, report=click.echo)
    click.echo(f"Written to {benchmark.save(frame, out)}.")


@bench.command()
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON and table.")
@click.option(
    "--largest", default=100_000, show_default=True, type=click.IntRange(2000), help="Largest n to try."
)
def training(out, largest):
    """Training end to end: seconds by stage and peak memory of RankAD's fit; up to n = 1,000,000."""
    from .benchmarks import training as benchmark

    frame = benchmark.run(largest, report=click.echo)
    click.echo(f"Written to {benchmark.save(frame, out)}.")


@bench.command()
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON and table.")
@click.option("--n", default=600, show_default=True, type=click.IntRange(50, 2000), help="Sample size.")
@click.option(
    "--repetitions", default=7, show_default=True, type=click.IntRange(1), help="Moves of each kind."
)
def explorer(out, n, repetitions):
    """Explorer: milliseconds from a key press to a changed picture, in JupyterLab in a real browser."""
    try:
        from .benchmarks import explorer as benchmark

        frame = benchmark.run(n, repetitions, report=click.echo)
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(f"{error} (Playwright comes with the extra `bench`.)") from error
    click.echo(f"Written to {benchmark.save(frame, out, n)}.")


@bench.command("all")
@click.option("--out", default="benchmarks", show_default=True, help="Folder for JSON files and pages.")
@click.option(
    "--largest", default=100_000, show_default=True, type=click.IntRange(2000), help="Largest n to try."
)
@click.option(
    "--repetitions", default=3, show_default=True, type=click.IntRange(1), help="Runs of each contender."
)
@click.pass_context
def everything(context, out, largest, repetitions):
    """Run all benchmarks but the explorer's, which needs a browser: about an hour on two quiet cores."""
    context.invoke(ranks, out=out, largest=largest, repetitions=repetitions)
    context.invoke(scoring, out=out, repetitions=repetitions)
    context.invoke(training, out=out, largest=largest)
    context.invoke(solver, out=out, largest=largest, repetitions=repetitions)
    context.invoke(path, out=out)


def _run(command, environment=None):
    """Run a server until it ends, and return its exit code."""
    # Asked to end, take the server along: a port that stays taken helps nobody.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    except KeyboardInterrupt:  # the server had it too, and has asked its own question if it has one
        return STOPPED


def _notebooks():
    """Notebooks of the checkout, or a copy in the working directory of those that were installed."""
    checkout = PACKAGE.parent / "notebooks"
    if (checkout / START).exists():
        return checkout
    copy = Path.cwd() / "rankad-notebooks"
    if not copy.exists():
        shutil.copytree(PACKAGE / "notebooks", copy)
        click.echo(f"Copied the notebooks to {copy}.")
    return copy
