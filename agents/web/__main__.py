"""`python -m agents.web`."""

from crag.command import end_with
from crag.web import main

end_with(main)
