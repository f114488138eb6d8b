"""Settings of every process; each value that differs between machines is read from the environment by env.py."""

from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from inkcloak import env
from inkcloak.staff_menu import UNFOLD  # noqa: F401 (a setting: how the admin looks)

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Where we run ---------------------------------------------------------------------------------
DEBUG = env.flag("DEBUG")
SECRET_KEY = env.text("SECRET_KEY")
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
PUBLIC_URL = env.text("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
# How many proxies of ours stand in front: the client's address is counted from the right (the left is
# forgeable).
TRUSTED_PROXY_COUNT = env.integer("TRUSTED_PROXY_COUNT", 0)

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # before the admin, whose templates it replaces; the site is our own
    "inkcloak.admin_app.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "inkcloak",
    "billing",
    "gpujobs",
    "detector",
]

# Each one must be able to run asynchronously: a single synchronous middleware would hold a thread for as
# long as a page waits for its verdict. Django's own, by way of inkcloak.in_loop, take their steps without threads.
MIDDLEWARE = [
    "inkcloak.request_ids.request_ids",
    "inkcloak.in_loop.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "inkcloak.in_loop.CSPMiddleware",
    "inkcloak.in_loop.SessionMiddleware",
    "inkcloak.in_loop.LocaleMiddleware",
    "inkcloak.in_loop.CommonMiddleware",
    "inkcloak.in_loop.CsrfViewMiddleware",
    "inkcloak.in_loop.AuthenticationMiddleware",
    "inkcloak.in_loop.MessageMiddleware",
    "inkcloak.in_loop.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "inkcloak.middleware.ClearErrorsMiddleware",
]

# These look for Django's names in the list above, and know no subclasses: security, CSRF and framing are there.
SILENCED_SYSTEM_CHECKS = ["security.W001", "security.W002", "security.W003"]

ROOT_URLCONF = "inkcloak.urls"
ASGI_APPLICATION = "inkcloak.asgi.application"
WSGI_APPLICATION = "inkcloak.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Data -----------------------------------------------------------------------------------------
DATABASES: dict[str, Any] = {"default": dj_database_url.parse(env.text("DATABASE_URL"), conn_health_checks=True)}
if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL database: the queue needs its row locks")
if env.flag("DATABASE_POOL"):
    # The web process: requests run in many threads, and persistent connections of theirs would leak
    # (Django's own advice under ASGI is a pool).
    pool_size = env.integer("DATABASE_POOL_SIZE", 16, at_least=2)
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 2,
        "max_size": pool_size,
        "timeout": 5,
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60

REDIS_URL = env.text("REDIS_URL")
CACHE_URL = env.text("CACHE_URL", REDIS_URL)
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}}

# --- Work in the background -----------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True  # results are rows
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {
    "detector.tasks.dispatch_queued": {"queue": "score"},  # the workers that hold a model
    "detector.tasks.dispatch_gpu": {"queue": "gpu"},  # those that wait for RunPod
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A page must not hang while the broker is away: the row is stored, the sweep publishes it later. Without the intervals
# kombu waits 2 + 4 seconds for a broker that refuses connections (workers reconnect by another path, for ever).
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 2,
    "socket_timeout": 20,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.1,
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# --- Scoring --------------------------------------------------------------------------------------
# Which tier scores, unless the staff set it aside in the admin (gpujobs/routing.py). hybrid: the CPU a trickle, a
# rented GPU what the CPU would need longer for than GPU_WAKE_SECONDS.
SCORING_POLICY = env.choice("SCORING_POLICY", "cpu", ["cpu", "gpu", "hybrid"])
GPU_WAKE_SECONDS = env.integer("GPU_WAKE_SECONDS", 30, at_least=0)
CPU_CHARACTERS_PER_SECOND = env.integer("CPU_CHARACTERS_PER_SECOND", 15_000, at_least=1)
# NAME=VALUE, separated by commas: other prices and assumptions for every plan (docs/planning.md).
PLAN_ASSUMPTIONS = env.words("PLAN_ASSUMPTIONS")
MODEL_DIR = Path(env.text("MODEL_DIR", str(BASE_DIR / "gpujobs" / "pod" / "shipped")))
# What was measured of each model version: the page about accuracy shows the champion's.
REPORTS_FOLDER = Path(env.text("REPORTS_FOLDER", str(BASE_DIR / "gpujobs" / "pod" / "reports")))
LOCAL_ENGINE_THREADS = env.integer("LOCAL_ENGINE_THREADS", 2, at_least=1)
# Load models at the start of a long-lived process instead of at its first check.
WARM_UP = env.flag("WARM_UP")
# Batches at a backend that works by itself: two for each of its workers keep them busy.
RUNS_IN_FLIGHT = env.integer("RUNS_IN_FLIGHT", 6, at_least=1)
CHECK_DEADLINE_SECONDS = env.integer("CHECK_DEADLINE_SECONDS", 3600, at_least=10)

# --- RunPod: its serverless data plane, its management (the `/v2` of another host) and its balance -------------------
# A rehearsal's one server in the place of RunPod's three hosts: the only address that differs from the real service.
RUNPOD_LOOPBACK_URL = env.text("RUNPOD_LOOPBACK_URL", "").rstrip("/")
RUNPOD_BASE_URL = env.text("RUNPOD_BASE_URL", f"{RUNPOD_LOOPBACK_URL or 'https://api.runpod.ai'}/v2")
RUNPOD_REST_URL = env.text("RUNPOD_REST_URL", f"{RUNPOD_LOOPBACK_URL or 'https://api.runpod.io'}/v2")
RUNPOD_GRAPHQL_URL = env.text("RUNPOD_GRAPHQL_URL", f"{RUNPOD_LOOPBACK_URL or 'https://api.runpod.io'}/graphql")
RUNPOD_ENDPOINT_ID = env.text("RUNPOD_ENDPOINT_ID", "")
RUNPOD_API_KEY = env.text("RUNPOD_API_KEY", "")
# Where RunPod reaches this site to say that a job has ended; empty: it is only asked.
RUNPOD_WEBHOOK_URL = env.text("RUNPOD_WEBHOOK_URL", "").rstrip("/")
RUNPOD_TIMEOUT_SECONDS = env.integer("RUNPOD_TIMEOUT_SECONDS", 10, at_least=1)
RUNPOD_RUN_SECONDS = env.integer("RUNPOD_RUN_SECONDS", 600, at_least=5)
RUNPOD_EXECUTION_SECONDS = env.integer("RUNPOD_EXECUTION_SECONDS", 60, at_least=5)
# What `manage.py runpod_deploy` makes of the endpoint; every setting is sent, since console and API differ in defaults.
RUNPOD_ENDPOINT_NAME = env.text("RUNPOD_ENDPOINT_NAME", "inkcloak")
RUNPOD_IMAGE = env.text("RUNPOD_IMAGE", "")
RUNPOD_REGISTRY_ID = env.text("RUNPOD_REGISTRY_ID", "")
RUNPOD_GPU_POOLS = env.words("RUNPOD_GPU_POOLS", ["AMPERE_16"])
RUNPOD_MIN_CUDA = env.text("RUNPOD_MIN_CUDA", "13.0")  # what the image's torch is built for
RUNPOD_WORKERS_MIN = env.integer("RUNPOD_WORKERS_MIN", 0)
RUNPOD_WORKERS_MAX = env.integer("RUNPOD_WORKERS_MAX", 3, at_least=1)
RUNPOD_SCALER = env.choice("RUNPOD_SCALER", "QUEUE_DELAY", ["QUEUE_DELAY", "REQUEST_COUNT"])
RUNPOD_SCALER_VALUE = env.integer("RUNPOD_SCALER_VALUE", 8, at_least=1)  # above a cold start: see bench-billing
RUNPOD_IDLE_SECONDS = env.integer("RUNPOD_IDLE_SECONDS", 5, at_least=1)
RUNPOD_FLASHBOOT = env.choice("RUNPOD_FLASHBOOT", "FLASHBOOT", ["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"])
RUNPOD_DISK_GB = env.integer("RUNPOD_DISK_GB", 20, at_least=1)
RUNPOD_WORKER_ENV = env.words("RUNPOD_WORKER_ENV")
RUNPOD_LOW_BALANCE_USD = env.integer("RUNPOD_LOW_BALANCE_USD", 10)

# --- What GPUs may cost -----------------------------------------------------------------------------
# The first budgets, in dollars, made once as rows; after that the rows count (docs/budgets.md). ACCOUNT: of each one.
BUDGETS_NANOUSD = {
    f"{whose}-{period}": env.nanousd(f"BUDGET_{whose}_{period}_USD".upper())
    for whose in ("global", "inference", "training", "benchmark", "account")
    for period in ("day", "month")
}
BUDGET_ZONE = env.text("BUDGET_ZONE", "UTC")  # whose days and months
BUDGET_SOFT_PERCENT = env.integer("BUDGET_SOFT_PERCENT", 80, at_least=1)  # of a limit: from there on it warns
ALERT_WEBHOOK_URL = env.text("ALERT_WEBHOOK_URL", "")  # of a chat: what costs out of the ordinary (docs/alerts.md)

# --- What one may do without paying ---------------------------------------------------------------
VISITOR_CHECKS_PER_DAY = env.integer("VISITOR_CHECKS_PER_DAY", 5)
FREE_WORDS_PER_MONTH = env.integer("FREE_WORDS_PER_MONTH", 10_000)
VISITOR_RETENTION_DAYS = env.integer("VISITOR_RETENTION_DAYS", 1, at_least=1)
ACCOUNT_RETENTION_DAYS = env.integer("ACCOUNT_RETENTION_DAYS", 90, at_least=1)
# How long a verdict answers the same owner's same text again, uncharged and without a run; 0 = never.
REUSE_DAYS = env.integer("REUSE_DAYS", 30)
POSTS_PER_MINUTE = env.integer("POSTS_PER_MINUTE", 30, at_least=1)

# --- Payment: Stripe (docs/stripe.md). Without a key everybody is on Free --------------------------------
STRIPE_SECRET_KEY = env.text("STRIPE_SECRET_KEY", "")  # sk_test_… or sk_live_…: whose rows count, too
STRIPE_WEBHOOK_SECRETS = env.words("STRIPE_WEBHOOK_SECRETS")  # several while one is replaced
STRIPE_API_BASE = env.text("STRIPE_API_BASE", "https://api.stripe.com").rstrip("/")
STRIPE_API_VERSION = env.text("STRIPE_API_VERSION", "2026-10-28.endive")  # shapes and webhooks follow it
STRIPE_AUTOMATIC_TAX = env.flag("STRIPE_AUTOMATIC_TAX")
# What one unit of another currency is in dollars, for margins: EUR=1.08, separated by commas.
EXCHANGE_RATES = env.words("EXCHANGE_RATES")

# --- The API --------------------------------------------------------------------------------------
# Under which keys are stored; unset, derived from SECRET_KEY (whose fallbacks then keep old keys good).
API_KEY_PEPPER = env.text("API_KEY_PEPPER", "")
API_REQUESTS_PER_MINUTE = env.integer("API_REQUESTS_PER_MINUTE", 60, at_least=1)
API_ANONYMOUS_REQUESTS_PER_MINUTE = env.integer("API_ANONYMOUS_REQUESTS_PER_MINUTE", 30, at_least=1)
# Hosts that webhooks may reach by http, at any port and in private networks: a receiver on loopback, in development.
WEBHOOK_ALLOWED_HOSTS = env.words("WEBHOOK_ALLOWED_HOSTS")
# Signs reports: 32 bytes in base64url (manage.py report_key --new). Public halves of those before it, each with its
# last moment: they stay published at /.well-known/inkcloak-keys.json.
REPORT_SIGNING_KEY = env.text("REPORT_SIGNING_KEY", "")
REPORT_OLD_KEYS = env.words("REPORT_OLD_KEYS")
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["billing.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["billing.permissions.HasKey"],
    "DEFAULT_PARSER_CLASSES": ["inkcloak.strict_json.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["inkcloak.strict_json.SafeJSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "inkcloak.negotiation.Negotiation",
    "DEFAULT_PAGINATION_CLASS": "inkcloak.cursors.CursorPages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "inkcloak.api.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "InkCloak",
    "DESCRIPTION": "Tells whether a text was written by an AI, and how often texts by people are flagged by mistake.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVERS": [{"url": PUBLIC_URL}],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": "/api/v[0-9]+",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "AUTHENTICATION_WHITELIST": ["billing.authentication.ApiKeyAuthentication"],
    # Enums stay where they stand: the stock hook names them by numbers that change with every new one.
    "POSTPROCESSING_HOOKS": ["detector.api.webhook_events.complete", "inkcloak.openapi.say_what_every_answer_has"],
    "WEBHOOKS": [
        f"detector.api.webhook_events.{name}"
        for name in ("DETECTION_COMPLETED", "DETECTION_FAILED", "BATCH_COMPLETED", "QUOTA_WARNING", "TEST")
    ],
}

# A paste over the product's own limit must get our message and not a broken connection: 5 MB of four-byte
# characters, percent-encoded by the form, still arrive.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024
# Files are read from memory and never spooled to disk: room for all of one upload (detector/files/limits.py) and its
# form. The number of files is limited there too, by name; here only above that.
FILE_UPLOAD_MAX_MEMORY_SIZE = 33 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 1_000
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

# --- Accounts -------------------------------------------------------------------------------------
AUTH_USER_MODEL = "billing.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "billing.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = env.choice("ACCOUNT_EMAIL_VERIFICATION", "optional", ["none", "optional", "mandatory"])
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "InkCloak: "
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
LOGIN_REDIRECT_URL = "/"
LOGIN_URL = "account_login"
EMAIL_BACKEND = env.text("EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "InkCloak <hello@inkcloak.example>")
EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
EMAIL_PORT = env.integer("EMAIL_PORT", 587, at_least=1)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
_EMAIL_SECURITY = env.choice("EMAIL_SECURITY", "starttls", ["starttls", "tls", "none"])
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL_SECURITY == "starttls", _EMAIL_SECURITY == "tls"
EMAIL_TIMEOUT = 10  # seconds: a page waits for the mail that it sends

# --- Languages ------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("es", _("Spanish"))]
LOCALE_PATHS = [BASE_DIR / "inkcloak" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files ---------------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "var" / "static"
SERVESTATIC_USE_FINDERS = DEBUG
SERVESTATIC_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "servestatic.storage.CompressedManifestStaticFilesStorage"
    },
}

# --- Security -------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
if not DEBUG:
    SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_HSTS_SECONDS = env.integer("SECURE_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    if TRUSTED_PROXY_COUNT:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- Logs: ids and codes, never a customer's text -------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(request_id)s%(message)s"}},
    "filters": {
        "not_every_tick": {"()": "inkcloak.logs.NotEveryTick"},
        "request_id": {"()": "inkcloak.logs.RequestId"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["not_every_tick", "request_id"]}
    },
    "root": {
        "handlers": ["console"],
        "level": env.choice("LOG_LEVEL", "INFO", ["DEBUG", "INFO", "WARNING", "ERROR"]),
    },
    "loggers": {
        "httpx": {"level": "WARNING"},
        "stripe": {"level": "WARNING"},  # it would quote what was asked and answered
        "urllib3": {"level": "WARNING"},  # likewise: a customer is looked for by their address
        "django.request": {"level": "ERROR"},
        "celery.worker.strategy": {"level": "WARNING"},  # one line a task received, one a task done:
        "celery.app.trace": {"level": "WARNING"},  # rows say that better
    },
}
