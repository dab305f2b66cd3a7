"""What all tests start from."""

import signal

#: Ignored in what nohup or a script's background job starts, and then in all programs that tests start.
_OF_A_TERMINAL = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

for _number in _OF_A_TERMINAL:
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)
