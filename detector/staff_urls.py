"""Addresses of the staff's own pages, below staff/ and before the admin, which answers for all else there."""

from django.urls import path

from detector.views import gpu, plan

app_name = "staff"
urlpatterns = [
    path("gpu/", gpu.show, name="gpu"),
    path("gpu/figures", gpu.figures, name="gpu_figures"),
    path("plan/", plan.show, name="plan"),
]
