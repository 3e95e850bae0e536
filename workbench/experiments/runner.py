"""Work through the cells of an experiment that the ledger lacks, here or on a Dask cluster."""

from __future__ import annotations

import time
import traceback
import warnings
from contextlib import closing, nullcontext
from importlib import import_module
from typing import NamedTuple

import joblib
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from .ledger import Task


class Outcome(NamedTuple):
    """What a run came to.

    Attributes
    ----------
    computed : int
        Cells that were worked out and written down.
    found : int
        Cells that the ledger had.
    elsewhere : int
        Cells that another runner had in hand.
    failed : list of (Task, str)
        Cells that raised an error, with its traceback. Nothing is written down for them, so that the next
        run tries again.
    """

    computed: int
    found: int
    elsewhere: int
    failed: list


def load(name):
    """Import an experiment by its name."""
    return import_module(name if "." in name else f"{__package__}.{name}")


def tasks(name, quick=False, runs=None):
    """Cells of the experiment `name`, as :class:`Task`.

    Parameters
    ----------
    name : str
        Of a module beside this one, or the full name of one elsewhere, as ``mine.experiment``. It has a
        ``VERSION``, ``cells(quick, runs)``, a list of dicts of JSON scalars, ``run(**cell)``, which returns
        one, and ``report(records)``.
    quick : bool
        A few minutes instead of the whole.
    runs : int, optional
        Seeds of each configuration, instead of the experiment's own number of them.
    """
    experiment = load(name)
    return [Task(name, experiment.VERSION, cell) for cell in experiment.cells(quick, runs)]


def run(todo, ledger, *, n_jobs=-1, scheduler=None, verbose=True):
    """Work out those of the cells `todo` that are not in the `ledger` and write each down at once.

    Only this process writes. Cells are independent and each runs on one thread, so that `n_jobs` of them
    keep as many cores busy.

    Parameters
    ----------
    todo : list of Task
    ledger : Ledger
    n_jobs : int
        Cells at a time, as joblib counts; 1 stays in this process.
    scheduler : str, optional
        Address of a Dask scheduler, as ``tcp://10.0.0.1:8786``: the cells go to its workers instead, and
        those of a worker that dies go to another.
    verbose : bool
        Whether to show a progress bar with the time that remains.

    Returns
    -------
    Outcome
    """
    done = ledger.done()
    missing = [task for task in todo if task.key not in done]
    computed, elsewhere, failed = 0, 0, []

    with ledger.runner() as me, _backend(scheduler):

        def claimed():
            nonlocal elsewhere
            for task in missing:
                if ledger.claim(task, me):
                    yield joblib.delayed(work)(task)
                else:
                    elsewhere += 1

        # No more is handed out than is worked on: what one runner claims, another cannot take.
        workers = joblib.Parallel(
            n_jobs=None if scheduler else n_jobs,
            return_as="generator_unordered",
            pre_dispatch="n_jobs",
            batch_size=1,
        )
        with (
            closing(workers(claimed())) as results,
            tqdm(total=len(missing), unit="cell", disable=not verbose, smoothing=0.05) as bar,
        ):
            for task, result, seconds, error in results:
                if error is None:
                    ledger.record(task, result, seconds)
                    computed += 1
                else:
                    failed.append((task, error))
                bar.update()
    return Outcome(computed, len(todo) - len(missing), elsewhere, failed)


def work(task):
    """Work out one cell on one thread: the task, its result, seconds, and the traceback of an error.

    Warnings are counted in the result instead of shown: hundreds of cells share one screen.
    """
    started = time.perf_counter()
    try:
        experiment = load(task.experiment)
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = experiment.run(**task.cell)
        result = result | {"warnings": len(caught)}
    except Exception:  # one cell's accident is not another's
        return task, None, time.perf_counter() - started, traceback.format_exc()
    return task, result, time.perf_counter() - started, None


def _backend(scheduler):
    if scheduler is None:
        return nullcontext()
    from distributed import Client

    class Connected:
        def __enter__(self):
            self.client = Client(scheduler)
            self.config = joblib.parallel_config(backend="dask")
            self.config.__enter__()

        def __exit__(self, *error):
            self.config.__exit__(*error)
            self.client.close()

    return Connected()
