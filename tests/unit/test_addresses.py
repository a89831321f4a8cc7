"""Fixed addresses are asked for where the system allows it, and a refusal is said."""

import subprocess
import sys

import pytest

from bisect_debugger.driver.addresses import fixed_for, why_not

REFUSED = """
import ctypes, platform, struct
from bisect_debugger.driver.addresses import fixed_for, why_not

# A filter of system calls, as of a container: personality(2) fails with EPERM, the rest goes on.
NUMBER = {"x86_64": 135, "aarch64": 92, "riscv64": 92}[platform.machine()]
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x00050001, 0x7FFF0000
steps = ((LOAD, 0, 0, 0), (EQUAL, 0, 1, NUMBER), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW))
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
whole = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
library = ctypes.CDLL(None, use_errno=True)
assert library.prctl(38, 1, 0, 0, 0) == 0 and library.prctl(22, 2, whole) == 0, ctypes.get_errno()
print(why_not())
with fixed_for(("entropy",)):
    print("other knobs go on")
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="personality(2) is of Linux alone")


@linux
def test_a_system_that_refuses_it_is_said_to() -> None:
    done = subprocess.run(
        (sys.executable, "-c", REFUSED), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "this system, or its container, refuses it: Operation not permitted",
        "other knobs go on",
    ]


@linux
@pytest.mark.skipif(bool(why_not()), reason=f"addresses: {why_not()}")
def test_only_what_is_started_meanwhile_has_fixed_addresses() -> None:
    shows = (sys.executable, "-c", "print(open('/proc/self/personality').read())")

    def persona() -> str:
        return subprocess.run(shows, capture_output=True, text=True, check=True).stdout.strip()

    with fixed_for(("addresses",)):
        assert int(persona(), 16) & 0x0040000
    assert not int(persona(), 16) & 0x0040000
