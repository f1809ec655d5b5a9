"""`python -m agents.public_data`."""

from crag.command import end_with
from crag.public_data import main

end_with(main)
