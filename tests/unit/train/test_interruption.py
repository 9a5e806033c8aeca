import signal
from types import SimpleNamespace

import pytest

from mute.train import interruption
from mute.train.interruption import listening_for_signals


def test_a_signal_that_comes_twice_at_once_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []
    clock = SimpleNamespace(monotonic=iter([0.0, 0.9]).__next__)
    monkeypatch.setattr(interruption, "time", clock)
    with listening_for_signals(lambda: heard.append("stop")):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    assert heard  # and the process lives


def test_a_second_signal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []
    clock = SimpleNamespace(monotonic=iter([0.0, 2.0]).__next__)
    monkeypatch.setattr(interruption, "time", clock)
    with listening_for_signals(lambda: heard.append("stop")):
        signal.raise_signal(signal.SIGINT)
        assert heard == ["stop"]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
