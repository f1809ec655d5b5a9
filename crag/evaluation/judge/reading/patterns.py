"""Helps to write long patterns as lists of words."""


def any_of(listing: str) -> str:
    r"""A group of alternatives from a list with blanks between them; ``\s`` is a blank inside one.

    >>> any_of(r"drop(?:s|ped)? fell in\sthe\sred")
    '(?:drop(?:s|ped)?|fell|in\\sthe\\sred)'
    """
    return f"(?:{'|'.join(listing.split())})"


SENTENCE_EDGE = r"(?<=[.!?])(?<!\b(?-i:[A-Z])\.)(?<!\b(?i:jr|sr|dr|mr|ms|st|mt|vs)\.)(?<!\b(?i:mrs)\.)\s+"
"""Between two sentences; not after the initial of "John F. Clauser", nor after "Jr."."""
