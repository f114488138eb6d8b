"""The REST API of the detector, below /api/v1. Each view parses and authorises, calls one verb, and answers.

views.py        detections: create, list, read, delete, rerun     serializers.py  what may be sent, strictly
batches.py      up to a thousand texts in one request             answers.py      what comes back, for the schema
files.py        files, read and checked as a batch
catalogue.py    models and benchmarks                             waiting.py      waiting for a verdict, not in a thread
made_up.py      what test keys get                                fixtures.py     made-up checks
making.py       steps that views share                            showing.py      JSON that only the API has
urls.py         addresses
"""
