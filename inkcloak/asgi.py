"""The web process: ASGI, because a page that waits for its verdict must not hold a thread."""

import logging
import os

from django.core.asgi import get_asgi_application

from inkcloak.body_limit import BodyLimit
from inkcloak.logs import SecretAddresses

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

# The server's own logger, which it sets up before it loads this.
logging.getLogger("uvicorn.access").addFilter(SecretAddresses())

application = BodyLimit(get_asgi_application())
