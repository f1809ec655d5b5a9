"""Small random models instead of large ones: a rehearsal of wiring and interfaces, never of quality.

A stand-in has the architecture, file names, tokenizer and chat template of the model whose name it bears, and two
small layers of random weights. `fetched.toml` in its folder says what it is; what checks weights for a push refuses it.
"""

from models.stand_in.folders import Made, StandInError, make_stand_ins

__all__ = ["Made", "StandInError", "make_stand_ins"]
