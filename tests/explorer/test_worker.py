"""Only the newest request deserves work."""

import threading

from workbench.explorer.worker import Latest, StaleError


def test_a_drag_does_not_queue_up_work():
    started, finished, first_is_in = [], [], threading.Event()
    state = {"value": 0}

    def work(ticket):
        value = state["value"]
        started.append(value)
        first_is_in.set()
        ticket.rest(0.05 if value < 99 else 0)
        finished.append(value)

    latest = Latest(work)
    latest.request()
    first_is_in.wait(5)
    for value in range(1, 100):
        state["value"] = value
        latest.request()
    latest.settle()
    assert finished == [99]
    assert len(started) < 10


def test_settle_waits_and_each_request_is_met():
    done = []
    latest = Latest(lambda ticket: done.append(ticket.number))
    latest.settle()  # nothing was asked
    for _ in range(3):
        latest.request()
        latest.settle()
    assert done == [1, 2, 3]


def test_check_interrupts_overtaken_work():
    caught = []

    def work(ticket):
        if ticket.number == 1:
            latest.request()
            try:
                ticket.check("what a callback is given")
            except StaleError:
                caught.append(ticket.number)
                raise
        latest.settle()  # from within the work: no deadlock

    latest = Latest(work)
    latest.request()
    latest.settle()
    assert caught == [1]


def test_work_that_fails_does_not_block_the_next_request(monkeypatch):
    done, failed = [], []
    monkeypatch.setattr(threading, "excepthook", lambda args: failed.append(args.exc_type))

    def work(ticket):
        if ticket.number == 1:
            raise RuntimeError("a defect")
        done.append(ticket.number)

    latest = Latest(work)
    latest.request()
    latest._thread.join()
    latest.request()
    latest.settle()
    assert done == [2]
    assert failed == [RuntimeError]
