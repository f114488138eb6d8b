"""Addresses of the staff's own pages, below staff/ and before the admin, which answers for all else there."""

from django.urls import path

from detector.views import alerts, costs, gpu, plan

app_name = "staff"
urlpatterns = [
    path("alerts/", alerts.show, name="alerts"),
    path("alerts/mutes", alerts.mute, name="alerts_mute"),
    path("alerts/<int:alert_id>/vote", alerts.vote, name="alerts_vote"),
    path("costs/", costs.show, name="costs"),
    path("costs/days.csv", costs.days_csv, name="costs_days_csv"),
    path("costs/lines/", costs.lines, name="costs_lines"),
    path("costs/lines.csv", costs.lines_csv, name="costs_lines_csv"),
    path("costs/week/", costs.week, name="costs_week"),
    path("gpu/", gpu.show, name="gpu"),
    path("gpu/figures", gpu.figures, name="gpu_figures"),
    path("plan/", plan.show, name="plan"),
]
