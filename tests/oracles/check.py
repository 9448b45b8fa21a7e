"""One line for each check; the first that fails ends the run."""

import time

passed = 0


def equal(what, actual, expected):
    global passed
    if actual != expected:
        raise AssertionError(f"{what}\n  expected {expected!r}\n  found    {actual!r}")
    passed += 1
    print(f"ok  {what}")


def holds(what, condition):
    equal(what, bool(condition), True)


def failure(what, kind, call):
    """The error that a call ends with."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{what}\n  expected {kind.__name__}\n  found    no error")


def eventually(what, ask):
    """What `ask` returns once it is something; for what the server does in its own time."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        answer = ask()
        if answer is not None:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"{what}\n  expected within 30 s\n  found    nothing")
