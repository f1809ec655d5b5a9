"""Things to copy: an agent of your own, a preset of your own, a tour of the package as a notebook."""
