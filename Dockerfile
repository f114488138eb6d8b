# The site's image: web, workers, beat and migrations are one image with different commands (docker-compose.yml).
# `--target proxy` is Caddy in front of it, with our Caddyfile and no root. How they are used: docs/deploy.md.
#
# Nothing secret goes in: no ARG or ENV holds any, and .dockerignore keeps .env, secrets/ and var/ out of the build.

FROM python:3.11.15-slim-bookworm AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ONLY_BINARY=:all: VIRTUAL_ENV=/venv PATH=/venv/bin:$PATH
COPY deploy/requirements.txt /requirements.txt
# Everything is listed, so nothing is resolved; what is listed must have the hash that was tested.
RUN python -m venv /venv && pip install --no-deps --require-hashes -r /requirements.txt

FROM python:3.11.15-slim-bookworm AS app
ENV VIRTUAL_ENV=/venv PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 HOME=/tmp
# 10001 belongs to nobody on the host; the one folder that it may write to holds beat's clock.
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin inkcloak \
    && install -d -o 10001 -g 10001 /var/lib/inkcloak
COPY --from=packages /venv /venv
WORKDIR /app
COPY manage.py ./
# Several manage.py commands in one process; the rest of devstack is for development.
COPY devstack/__init__.py devstack/django_commands.py devstack/
# The API's page of changes is made from these two.
COPY docs/api-changelog.md docs/api-contract.txt docs/
COPY templates templates
COPY inkcloak inkcloak
COPY billing billing
COPY gpujobs gpujobs
COPY detector detector
# Settings want addresses and a key; nothing here connects or signs, and none of it stays in the image.
RUN SECRET_KEY=only-while-files-are-collected DATABASE_URL=postgresql://nobody@127.0.0.1:1/none \
    REDIS_URL=redis://127.0.0.1:1/0 python manage.py collectstatic --noinput \
    && python -m compileall -q /app
USER 10001:10001
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "inkcloak.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-proxy-headers"]

FROM caddy:2.11.7-alpine AS proxy
# Certificates must survive a new container, in a folder that an ordinary user may write to.
ENV XDG_DATA_HOME=/var/lib/proxy XDG_CONFIG_HOME=/tmp
RUN install -d -o 10002 -g 10002 /var/lib/proxy
COPY deploy/Caddyfile /etc/caddy/Caddyfile
USER 10002:10002
EXPOSE 8080 8443
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
