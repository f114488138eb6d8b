"""Wiring and the few small things that every app shares; imports no app.

Nothing is imported here: `inkcloak.client` must load without Django and Celery. `inkcloak.apps` makes the Celery
application known to every Django process.
"""
