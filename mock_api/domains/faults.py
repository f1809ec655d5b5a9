"""How the official server fails."""


class OfficialCrashError(Exception):
    """The official server raises here, so that the client gets a 500 with the plain text `Internal Server Error`."""
