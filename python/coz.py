"""Marks for the causal profiler Coz in Python programs, as in coz.h.

    import coz

    with coz.scope("request"):  # an operation, for the rest of the block: latency and its quantiles
        answer(request)
    coz.progress("answered")    # a unit of useful work is done: throughput

The profiler is found when this module is imported. Without it a mark is a call that does nothing; with it a
visit takes about 0.2 µs, one with an identity 0.5 µs. Any thread may visit a mark, but no signal handler. Names
should be few: a point is kept for each.
"""

import ctypes as _ctypes
import itertools as _itertools
import os as _os

__all__ = ["arrival", "begin", "begin_id", "end", "end_id", "progress", "region", "scope"]

# Kinds of points, as in coz.h.
_THROUGHPUT, _BEGIN, _END, _ARRIVAL = 1, 2, 3, 4


def _find(symbol, *arguments):
    """A function of the profiler's that returns an address; None without the profiler."""
    try:
        function = getattr(_ctypes.PyDLL(None), symbol)
    except (AttributeError, OSError):
        return None
    function.restype = _ctypes.c_void_p
    function.argtypes = arguments
    return function


_get_point = _find("_coz_get_point", _ctypes.c_int, _ctypes.c_char_p)
_get_operation = _find("_coz_get_operation", _ctypes.c_int, _ctypes.c_char_p)
_get_region = _find("_coz_get_region", _ctypes.c_char_p)
# The interpreter's lock is kept during a visit: to hand it over would take longer.
_VISIT = _ctypes.PYFUNCTYPE(None, _ctypes.c_void_p)
_VISIT_ID = _ctypes.PYFUNCTYPE(None, _ctypes.c_void_p, _ctypes.c_ulonglong)
_POINTER = _ctypes.sizeof(_ctypes.c_void_p)


def _function_at(prototype, address):
    return prototype(_ctypes.c_void_p.from_address(address).value)


def _nothing(*_arguments):
    pass


def _mark(get, prototype, kind, text):
    """A function that visits the mark of a name, with an identity where `prototype` takes one."""
    if get is None:
        return _nothing
    known = {}

    def visit(name, *identity):
        mark = known.get(name)
        if mark is None:
            address = get(kind, name.encode())
            mark = (_function_at(prototype, address), address) if address else (_nothing, None)
            known[name] = mark
        function, address = mark
        function(address, *identity)

    visit.__doc__ = text
    return visit


progress = _mark(_get_point, _VISIT, _THROUGHPUT, "A unit of useful work is done.")
begin = _mark(
    _get_point,
    _VISIT,
    _BEGIN,
    "An operation begins, and ends, perhaps in another thread, at `end` of that name.",
)
end = _mark(_get_point, _VISIT, _END, "An operation ends that began at `begin` of the same name.")
arrival = _mark(_get_point, _VISIT, _ARRIVAL, "A request arrives (`coz amp`).")
begin_id = _mark(
    _get_operation,
    _VISIT_ID,
    _BEGIN,
    "As `begin`, with an integer that no other open operation of that name has.",
)
end_id = _mark(_get_operation, _VISIT_ID, _END, "The end of the operation with that name and identity.")

_numbers = _itertools.count(1)


class scope:
    """An operation with an identity of its own, as long as a `with` block."""

    __slots__ = ("_identity", "_name")

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        # Forked processes count on from the same number.
        self._identity = _os.getpid() << 40 ^ next(_numbers)
        begin_id(self._name, self._identity)
        return self

    def __exit__(self, *_exception):
        end_id(self._name, self._identity)


_regions = {}


def _find_region(name):
    region_ = _regions.get(name)
    if region_ is None:
        address = _get_region(name.encode()) if _get_region else None
        if address:
            region_ = _function_at(_VISIT, address), _function_at(_VISIT, address + _POINTER), address
        else:
            region_ = _nothing, _nothing, None
        _regions[name] = region_
    return region_


class region:
    """All that a thread runs in a `with` block, in libraries and the interpreter, too, is one target."""

    __slots__ = ("_region",)

    def __init__(self, name):
        self._region = _find_region(name)

    def __enter__(self):
        self._region[0](self._region[2])
        return self

    def __exit__(self, *_exception):
        self._region[1](self._region[2])
