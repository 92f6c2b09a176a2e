"""The report: one self-contained HTML page about a model, and the figures that only it shows."""
