"""The command `crag`: one door to what this package can do in a terminal; `Asker` is its door in Python."""

from crag.asker import Answer as Answer
from crag.asker import Asker as Asker
