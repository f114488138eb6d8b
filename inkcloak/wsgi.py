"""For hosts that offer WSGI only: works, but each waiting page holds a thread."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

application = get_wsgi_application()
