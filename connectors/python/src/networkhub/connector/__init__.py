"""Keeps a server connected with its hub."""
