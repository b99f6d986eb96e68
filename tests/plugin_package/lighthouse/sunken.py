"""Cannot be imported, as a package whose engine is not installed."""

import engine_that_nobody_has  # noqa: F401
