"""Pages about one's account that are this app's own."""

from django.urls import path

from billing.views import keys

app_name = "billing"
urlpatterns = [
    path("keys/", keys.keys_page, name="keys"),
    path("keys/<uuid:key_id>/rename", keys.rename, name="rename_key"),
    path("keys/<uuid:key_id>/rotate", keys.rotate, name="rotate_key"),
    path("keys/<uuid:key_id>/revoke", keys.revoke, name="revoke_key"),
]
