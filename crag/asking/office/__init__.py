"""Documents of Office as HTML: `reading` runs in a process of its own, one module for each kind of file."""
