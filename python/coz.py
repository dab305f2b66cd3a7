"""Marks for the causal profiler Coz in Python programs, as in coz.h.

    import coz

    with coz.scope("request"):  # an operation, for the rest of the block: latency and its quantiles
        answer(request)
    coz.progress("answered")    # a unit of useful work is done: throughput

The profiler is found when this module is imported. Without it a mark is a call that does nothing; with it, a
visit takes less than a microsecond. Any thread may visit a mark, but no signal handler. Names should be few: a
point is kept for each.
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


def _marks(get, prototype, kind):
    """A function from a mark's name to what visits it and the address that it takes."""
    known = {}

    def find(name):
        mark = known.get(name)
        if mark is None:
            address = get(kind, name.encode())
            mark = (_nothing, None) if not address else (_function_at(prototype, address), address)
            known[name] = mark
        return mark

    return find


def _mark(kind, text):
    if _get_point is None:
        return lambda name: None
    find = _marks(_get_point, _VISIT, kind)

    def visit(name):
        function, address = find(name)
        function(address)

    visit.__doc__ = text
    return visit


def _mark_id(kind, text):
    if _get_operation is None:
        return lambda name, identity: None
    find = _marks(_get_operation, _VISIT_ID, kind)

    def visit(name, identity):
        function, address = find(name)
        function(address, identity)

    visit.__doc__ = text
    return visit


progress = _mark(_THROUGHPUT, "A unit of useful work is done.")
begin = _mark(_BEGIN, "An operation begins, and ends, perhaps in another thread, at `end` of the same name.")
end = _mark(_END, "An operation ends that began at `begin` of the same name.")
arrival = _mark(_ARRIVAL, "A request arrives (`coz amp`).")
begin_id = _mark_id(_BEGIN, "The same as `begin`, with an integer that no other open operation of that name has.")
end_id = _mark_id(_END, "The end of an operation that began at `begin_id` with that name and identity.")

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
    """What a thread runs in a `with` block is sped up as one target, in libraries and the interpreter, too."""

    __slots__ = ("_region",)

    def __init__(self, name):
        self._region = _find_region(name)

    def __enter__(self):
        self._region[0](self._region[2])
        return self

    def __exit__(self, *_exception):
        self._region[1](self._region[2])
