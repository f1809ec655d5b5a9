"""Why a call of the knowledge graph gave nothing. Who only wants to go on catches the base, `KgError`."""


class KgError(Exception):
    """A call gave no result. The message names the endpoint and says in words what happened."""


class KgRequestError(KgError):
    """The request was wrong (404, 405, 422, or refused here before it was sent): asking again will not help."""


class KgCallLimitError(KgError):
    """The question has used up its calls."""


class KgUnavailableError(KgError):
    """The server could not give an answer, so nothing is known: never to be read as "there is no such thing".

    Raised as such where the server did reply, with an error status (500, an unexpected redirect): the same call would
    get the same reply, so it is remembered for the batch.
    """


class KgReplyError(KgUnavailableError):
    """A reply came that cannot be used: not JSON, cut short, nested too deep, too large, or of the wrong shape."""


class KgBusyError(KgUnavailableError):
    """502, 503 or 504: what stands before the server says that it may be back in a moment."""


class KgUnreachableError(KgUnavailableError):
    """No whole reply: connection refused or lost, or no time left to ask."""


class KgTimeoutError(KgUnreachableError):
    """No whole reply in the time that the call had."""
