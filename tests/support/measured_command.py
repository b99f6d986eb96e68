"""An agentenv command in a process whose memory is measured: `python measured_command.py FILE COMMAND...`.

FILE gets the most memory that the process held at any time, in bytes (Linux: VmHWM), however the command ends.
"""

import re
import sys
from pathlib import Path

from agentenv.cli.main import main


def peak_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)[1]) * 1024


if __name__ == "__main__":
    target = Path(sys.argv.pop(1))
    try:
        main()
    finally:
        target.write_text(str(peak_bytes()), encoding="utf-8")
