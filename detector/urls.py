from django.urls import URLPattern

app_name = "detector"
urlpatterns: list[URLPattern] = []
