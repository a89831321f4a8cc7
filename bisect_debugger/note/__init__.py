"""The markdown note that goes into a pull request."""
