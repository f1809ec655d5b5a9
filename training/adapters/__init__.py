"""Each shipped adapter from nothing by one command: the steps of its recipe, in order, those that are done left out."""
