"""Who catches a kind of error catches what belongs to it, and never takes a dead server for a wrong request."""

import pytest

from agents.kg.errors import (
    KgBusyError,
    KgCallLimitError,
    KgError,
    KgReplyError,
    KgRequestError,
    KgTimeoutError,
    KgUnavailableError,
    KgUnreachableError,
)


@pytest.mark.parametrize("kind", [KgReplyError, KgBusyError, KgUnreachableError, KgTimeoutError])
def test_no_usable_reply_means_that_nothing_is_known(kind: type[KgError]) -> None:
    with pytest.raises(KgUnavailableError):
        raise kind("/path: what happened")


@pytest.mark.parametrize("kind", [KgRequestError, KgCallLimitError])
def test_what_is_ours_is_no_fault_of_the_server(kind: type[KgError]) -> None:
    assert issubclass(kind, KgError)
    assert not issubclass(kind, KgUnavailableError)


def test_a_timeout_is_one_way_of_getting_no_reply() -> None:
    with pytest.raises(KgUnreachableError):
        raise KgTimeoutError("/path: no whole reply")
    assert not issubclass(KgBusyError, KgUnreachableError)
    assert not issubclass(KgReplyError, KgUnreachableError)
