"""The makers of `./dev package`, one module for each kind of package."""
