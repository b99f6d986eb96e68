"""A real browser, driven through Playwright: one headless Chromium a process, one context a session."""
