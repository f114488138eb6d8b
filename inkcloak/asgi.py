"""The web process: ASGI, because a page that waits for its verdict must not hold a thread."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

application = get_asgi_application()
