"""The people of ``benchmarks.first_hour``, and the data they bring."""
