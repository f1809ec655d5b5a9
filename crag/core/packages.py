"""What to say where a package is not installed: not every command needs all of them."""

FOR_TRAINING = frozenset(
    {"accelerate", "matplotlib", "peft", "scipy", "sentence_transformers", "sklearn", "torch", "transformers", "trl"}
)
"""Modules of the packages that requirements/train.txt has beside those of requirements/cpu.txt."""


def describe_missing(module: str) -> str:
    """The package of a module that cannot be imported, and the file that lists it, in one line.

    Example:
        >>> describe_missing("sklearn.metrics")
        'sklearn is not installed: requirements/train.txt lists it and says how to install it'
    """
    package = module.partition(".")[0]
    if package in FOR_TRAINING:
        return f"{package} is not installed: requirements/train.txt lists it and says how to install it"
    return f"{package} is not installed: a file in requirements/ lists it"
