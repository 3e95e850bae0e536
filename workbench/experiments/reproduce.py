"""From the names of experiments to a ledger, and from the ledger to tables and figures."""

from __future__ import annotations

import os
from pathlib import Path

from .commands import LEDGER
from .ledger import Ledger
from .runner import load, run, tasks


def measure(modules, folder, *, quick, runs, n_jobs, scheduler, report):
    """Work out the cells of the experiments that the ledger in `folder` lacks.

    Experiments in which each cell must have the machine for itself come last, one cell at a time, and never
    on a cluster.

    Returns
    -------
    list of (Task, str)
        Cells that failed, with the traceback.
    """
    book = Ledger(Path(folder) / LEDGER)
    together = [module for module in modules if not _alone(module)]
    apart = [module for module in modules if _alone(module)]
    failed = []
    for group, options in (
        (together, {"n_jobs": n_jobs, "scheduler": scheduler}),
        (apart, {"n_jobs": 1}),
    ):
        todo = [task for module in group for task in tasks(module, quick, runs)]
        if not todo:
            continue
        report(f"{', '.join(group)}: {len(todo):,} cells")
        outcome = run(todo, book, **options)
        report(f"{outcome.computed:,} measured, {outcome.found:,} in the ledger before.")
        if outcome.elsewhere:
            report(
                f"{outcome.elsewhere:,} are in the hands of another runner on this ledger. Once it is "
                "done, the "
                "same command writes the tables with them."
            )
        for task, error in outcome.failed:
            report(f"Failed: {task.experiment} {task.cell}: {error.strip().splitlines()[-1]}")
        failed += outcome.failed
    return failed


def write(modules, folder, *, quick, runs):
    """Write a Markdown page, a CSV of all cells and the figures of each experiment, and yield their paths.

    Only cells that belong to this command count, so that quick and full runs can share a ledger.
    """
    from .. import plots  # slow to import

    folder = Path(folder)
    book = Ledger(folder / LEDGER)
    for module in modules:
        experiment = load(module)
        mine = [task.cell for task in tasks(module, quick, runs)]
        records = _belonging(book.records(module, experiment.VERSION), mine)
        if records.empty:
            continue
        name = f"{module}-quick" if quick else module
        yield _replace(folder / f"{name}.md", markdown(module, records))
        yield _replace(folder / f"{name}.csv", records.to_csv(index=False))
        figures = getattr(experiment, "figures", lambda records: {})(records)
        for title, figure in figures.items():
            _replace(folder / plots.SCRIPT, plots.script())
            yield _replace(folder / f"{title}.html", plots.page(figure))


def markdown(module, records):
    """Return the page of one experiment: its report, and what produced it."""
    experiment = load(module)
    title = experiment.__doc__.strip().splitlines()[0].rstrip(".")
    made = (
        f"{len(records):,} cells, {records['seconds'].sum() / 60:,.1f} core minutes, finished "
        f"{records['finished'].max()}; code {', '.join(records['code'].unique())}; "
        f"{'; '.join(records['libraries'].unique())}."
    )
    return f"# {title}\n\n{experiment.report(records)}\n\n---\n{made}\n"


def sizes(records):
    """Split cells by what quick and full runs differ in, the larger first."""
    columns = [name for name in ("n_train", "max_nominal_test") if name in records]
    if not columns:
        return [records]
    return [part for _, part in sorted(records.groupby(columns), reverse=True, key=lambda item: item[0])]


def _alone(module):
    return getattr(load(module), "ALONE", False)


def _belonging(records, cells):
    """Keep the rows whose configuration is one of `cells`, in their order."""
    if records.empty:
        return records
    names = list(cells[0])
    position = {tuple(cell[name] for name in names): i for i, cell in enumerate(cells)}
    at = [position.get(key) for key in zip(*(records[name].tolist() for name in names), strict=True)]
    kept = sorted((i, row) for row, i in enumerate(at) if i is not None)
    return records.iloc[[row for _, row in kept]].reset_index(drop=True)


def _replace(path, text):
    """Write a text file whole or not at all."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(text, encoding="utf-8")
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
    return path
