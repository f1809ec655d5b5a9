"""`python -m evaluation.judge` judges a file's predictions."""

from crag.command import end_with
from crag.judge import main

end_with(main)
