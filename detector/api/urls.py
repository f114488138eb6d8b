"""Addresses below /api/v1/. Ids are strings here: one that is none must be the same 404 as a stranger's."""

from django.urls import path

from detector.api import batches, catalogue, views
from detector.api.waiting import patient

app_name = "detector_api"
urlpatterns = [
    path("detections", patient(views.Detections), name="detections"),
    path("detections/batch", batches.CreateBatch.as_view(), name="create_batch"),
    path("detections/<str:detection_id>", patient(views.Detection), name="detection"),
    path("detections/<str:detection_id>/rerun", patient(views.Rerun), name="rerun"),
    path("batches/<str:batch_id>", batches.ReadBatch.as_view(), name="batch"),
    path("models", catalogue.Models.as_view(), name="models"),
    path("benchmarks", catalogue.Benchmarks.as_view(), name="benchmarks"),
]
