"""Every mark of python/coz.py around the work of a library: marks.py LIBRARY SECONDS. Prints the rounds."""

import ctypes
import sys
import time

import coz

library = ctypes.CDLL(sys.argv[1])
for function in (library.work, library.rest):
    function.argtypes = [ctypes.c_long]
end = time.monotonic() + float(sys.argv[2])
rounds = 0
while time.monotonic() < end:
    coz.arrival("arrived")
    coz.begin("plain")
    coz.begin_id("named", rounds)
    with coz.scope("operation"):
        library.work(500_000)
    with coz.region("step"):
        library.rest(500_000)
    coz.end_id("named", rounds)
    coz.end("plain")
    coz.progress("done")
    rounds += 1
print(rounds)
