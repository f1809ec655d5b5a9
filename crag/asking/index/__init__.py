"""The index of the user's files: texts, words and vectors are kept from one start to the next.

A question over thousands of pages finds the few that are read. The steps and their modules:

1. `files`: list the files, with a stamp that changes when a file does
2. `update`: read the files that changed into the store, forget those that are gone
3. `store`: the SQLite file that holds all this, for one list of places
4. `search`: rank all pieces of all pages for a question, by words and by meaning
5. `building`: the first three together, and what happens if the file cannot be written or is damaged
6. `pages`: what is read for a question

`kept` lists and clears the files of all indexes.
"""

from crag.asking.index.kept import KeptIndex as KeptIndex
from crag.asking.index.kept import clear_indexes as clear_indexes
from crag.asking.index.kept import index_folder as index_folder
from crag.asking.index.kept import list_indexes as list_indexes
from crag.asking.index.pages import PageIndex as PageIndex
from crag.asking.index.pages import open_index as open_index
