"""`python -m agents.kg`: see crag/kg.py."""

from crag.command import end_with
from crag.kg import main

end_with(main)
