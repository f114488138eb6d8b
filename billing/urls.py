"""Pages about one's account that are this app's own."""

from django.urls import path

from billing import views

app_name = "billing"
urlpatterns = [
    path("keys/", views.keys_page, name="keys"),
    path("keys/<uuid:key_id>/rename", views.rename, name="rename_key"),
    path("keys/<uuid:key_id>/rotate", views.rotate, name="rotate_key"),
    path("keys/<uuid:key_id>/revoke", views.revoke, name="revoke_key"),
]
