"""Environment variables of this project, as people set them."""

import os


def read_variable(name: str) -> str:
    """The value without outer blanks and one pair of quotes; "" if it is not set.

    ``docker --env-file`` and some readers of ``.env`` keep the quotes that a shell removes.

    Example:
        read_variable("CRAG_PRESET")  # 'cpu', also of CRAG_PRESET='"cpu"'
    """
    value = os.environ.get(name, "").strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].strip() if is_quoted else value
