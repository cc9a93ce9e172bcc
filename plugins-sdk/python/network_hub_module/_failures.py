class Retry(Exception):
    """Raised to be called again later, 8 times in all. The reason has up to 1,024 characters."""


class Reject(Exception):
    """Raised for what never can be handled: a dead letter at once. The reason has up to 1,024 characters."""
