"""What watches over the processes of an empty world; Python itself imports `sitecustomize` from here."""
