"""The clock of a server or world: see TEST CLOCK."""
import datetime


def _milliseconds(time):
    """Converts seconds, a timedelta, a datetime, or text as the server accepts it ("5m")."""
    if isinstance(time, datetime.timedelta):
        time = time.total_seconds()
    if isinstance(time, datetime.datetime):
        time = time.timestamp()
    return time if isinstance(time, str) else round(time * 1000)


class Clock:
    """Times and durations are seconds, timedelta and datetime, or text such as "30s"."""

    def __init__(self, place):
        self._place = place

    def freeze(self, at=None):
        self._place.test("CLOCK", "FREEZE", *(() if at is None else (_milliseconds(at),)))

    def advance(self, duration):
        """Lets time pass. Everything that falls due meanwhile has happened when this returns."""
        self._place.test("CLOCK", "ADVANCE", _milliseconds(duration))

    def set(self, time):
        self._place.test("CLOCK", "SET", _milliseconds(time))

    def next(self):
        """Jumps to the next event that falls due, and returns it; None if there was none."""
        return self._place.test("CLOCK", "NEXT")

    def real(self):
        self._place.test("CLOCK", "REAL")

    @property
    def now(self):
        """Returns the Unix time in seconds."""
        return self._place.test("CLOCK")["now"] / 1000
