"""How pages are browsed: `chromium` drives a real browser, `lite` is our own without one. Nothing else differs."""
