"""A model as a server: HTTP API and web page."""
