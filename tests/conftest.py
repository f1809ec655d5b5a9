"""How the property tests draw: alike in every run, so that a build fails for what changed in the code alone.

`python -m pytest --hypothesis-profile search` looks for new counter-examples instead: 2,000 random ones for each test.
"""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile("repeatable")
