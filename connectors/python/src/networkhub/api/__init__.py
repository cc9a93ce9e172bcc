"""The hub's calls by area. Each is described once, without I/O; `HubClient` and `AsyncHubClient` make them."""
