"""Wiring and the few small things that every app shares; imports no app."""

from inkcloak.celery import app as celery_app

__all__ = ["celery_app"]
