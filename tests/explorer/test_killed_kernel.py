"""A kernel that is killed while it fits leaves nothing that a fresh one would stumble over."""

import signal
import time

import pytest
from jupyter_client.manager import start_new_kernel

MAKE = "from workbench.explorer import Explorer\nexplorer = Explorer(n=300)\nexplorer.settle()"
SLOWLY = """
import time
from workbench import ranksvm
solve = ranksvm.solve
def slow(*arguments, callback=None, **options):
    print("fitting", flush=True)
    time.sleep(600)
ranksvm.solve = slow
"""


def run(client, code):
    """Run a cell and return what it printed."""
    printed = []

    def keep(message):
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, timeout=120, output_hook=keep, store_history=False)
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(printed)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_fresh_kernel_works_after_one_that_was_killed():
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        run(client, SLOWLY)
        client.execute(MAKE)
        while True:
            message = client.get_iopub_msg(timeout=120)
            if message["msg_type"] == "stream" and "fitting" in message["content"]["text"]:
                break
        manager.signal_kernel(signal.SIGKILL)
        deadline = time.monotonic() + 60
        while manager.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=120)
        said = run(
            client,
            MAKE + "\nprint(explorer.message or 'fine', explorer.fits['right'].detector.solution_.converged)",
        )
        assert said == "fine True\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
