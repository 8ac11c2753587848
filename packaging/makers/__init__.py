"""What `./dev package` makes, one module for each kind of package."""
