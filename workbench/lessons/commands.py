"""`workbench lessons`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .course import LESSONS, solutions


@click.command()
@click.argument("numbers", nargs=-1, type=click.IntRange(0, len(LESSONS) - 1))
@click.option("--render", metavar="FOLDER", help="Run them and write pages with all pictures there.")
@click.option("--solutions", "solve", is_flag=True, help="Print the solutions of the exercises.")
@click.pass_obj
def lessons(notebooks, numbers, render, solve):
    """List the lessons, or make pages of them, of all or of those of these NUMBERS."""
    chosen = [lesson for lesson in LESSONS if not numbers or lesson.number in numbers]
    if solve:
        click.echo(solutions(chosen))
    if render:
        _make_pages(notebooks(), render, chosen)
    if not (solve or render):
        for lesson in chosen:
            click.echo(f"{lesson.number:2}  {lesson.title} ({lesson.minutes} minutes)\n    {lesson.question}")


def _make_pages(notebooks, out, chosen):
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    from .rendering import render

    try:
        render(notebooks, out, chosen, report=click.echo)
    except (OSError, CellExecutionError, DeadKernelError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo(f"\nStopped. The pages made so far are in {out}.", err=True)
        sys.exit(130)
    click.echo(f"Written: {Path(out) / 'index.html'}")
