"""Benchmarks: each prints its figures for people and ends with one line of JSON."""
