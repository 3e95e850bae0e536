"""Work that only its newest request deserves: a drag along a slider must not queue up old fits."""

from __future__ import annotations

from contextvars import copy_context
from threading import Condition, Thread, current_thread


class StaleError(Exception):
    """Raised inside work that a newer request has overtaken."""


class Latest:
    """Run a function in the background, again from the start when asked again meanwhile.

    Parameters
    ----------
    work : callable
        Called as ``work(ticket)``. It should call ``ticket.check()`` now and then, which raises StaleError
        where a newer request has come in, and must handle its own errors.
    """

    def __init__(self, work):
        self._work = work
        self._condition = Condition()
        self._wanted = 0
        self._done = 0
        self._thread = None

    def request(self):
        """Ask for a run with the state of now; whatever runs already is stale."""
        with self._condition:
            self._wanted += 1
            self._condition.notify_all()
            if self._thread is None:
                # In the context of the request: what the work prints goes to that cell.
                self._thread = Thread(target=copy_context().run, args=(self._run,), daemon=True)
                self._thread.start()

    def settle(self):
        """Wait until every request has been met; at once if called from within the work."""
        with self._condition:
            if current_thread() is not self._thread:
                self._condition.wait_for(lambda: self._done == self._wanted)

    def _run(self):
        while True:
            with self._condition:
                if self._done == self._wanted:
                    self._thread = None
                    return
                ticket = Ticket(self, self._wanted)
            try:
                self._work(ticket)
            except StaleError:
                pass
            except BaseException:
                self._thread = None  # so that the next request finds a way on
                raise
            finally:
                with self._condition:
                    self._done = ticket.number
                    self._condition.notify_all()


class Ticket:
    """One request's right to go on, until a newer one comes in."""

    def __init__(self, latest, number):
        self._latest = latest
        self.number = number

    def check(self, *_):
        """Raise StaleError if a newer request has come in; takes and ignores what a callback is given."""
        if self._latest._wanted != self.number:
            raise StaleError

    def rest(self, seconds):
        """Wait, and raise StaleError if a newer request comes in meanwhile."""
        with self._latest._condition:
            self._latest._condition.wait_for(lambda: self._latest._wanted != self.number, seconds)
        self.check()
