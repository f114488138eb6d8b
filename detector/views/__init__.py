"""Pages. Each view parses and authorises, calls one verb, and renders.

check.py     the front page and POST /check          result.py   one check: its page, progress, delete, re-check
history.py   the list of one's checks                about.py    how it works, privacy, the colour scheme
errors.py    400, 403, 404, 500                      samples.py  texts to try
offer.py     what a check costs and what is left     story.py    a verdict in careful words
"""
