"""The measurements behind the figures in the README and the docs; `crag.commands.bench` has their commands."""
