"""The web process: ASGI, because a page that waits for its verdict must not hold a thread."""

import os

from django.core.asgi import get_asgi_application

from inkcloak.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

application = BodyLimit(get_asgi_application())
