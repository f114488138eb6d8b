"""`make fuzz-api`: the whole API of the running product, by its own contract, with a live key, a test key and none.

__main__.py    the command
contract.py    the schema as schemathesis reads it: limits, checks, exceptions with their reasons, loopback only
walk.py        each operation once with real ids, which must succeed
phases.py      schemathesis' phases with those ids, until count or time is used up
running.py     both for each caller, and the report
callers.py     an account with keys
"""
