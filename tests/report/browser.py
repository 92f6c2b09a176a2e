"""Headless Chromium for tests: loads a page, and fails on any console error or request to anything but the page."""
