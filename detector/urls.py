"""Addresses of the product's own pages."""

from django.urls import path

from detector.views import about, accuracy, check, history, reports, result, runpod_hook, share, upload

app_name = "detector"
urlpatterns = [
    path("", check.front, name="front"),
    path("check", check.check, name="check"),
    path("uploads", upload.check_all, name="upload"),
    path("uploads/<uuid:nonce>/", upload.show, name="uploaded"),
    path("checks/<uuid:submission_id>/", result.result, name="result"),
    path("checks/<uuid:submission_id>/status", result.status, name="status"),
    path("checks/<uuid:submission_id>/delete", result.delete, name="delete"),
    path("checks/<uuid:submission_id>/recheck", result.recheck, name="recheck"),
    path("checks/<uuid:submission_id>/shares", share.make, name="share"),
    path("checks/<uuid:submission_id>/shares/<uuid:share_id>/revoke", share.revoke, name="revoke_share"),
    path("s/<str:token>/", share.show, name="shared"),
    path("checks/<uuid:submission_id>/report.json", reports.signed, name="report"),
    path("checks/<uuid:submission_id>/report.pdf", reports.pdf, name="report_pdf"),
    path("history/", history.show, name="history"),
    path("history/export", reports.export, name="export"),
    path(".well-known/inkcloak-keys.json", reports.keys, name="report_keys"),
    path("how-it-works/", about.how_it_works, name="how_it_works"),
    path("accuracy/", accuracy.show, name="accuracy"),
    path("accuracy/report.json", accuracy.report_json, name="accuracy_report"),
    path("accuracy/<version>/<name>.svg", accuracy.plot, name="accuracy_plot"),
    path("privacy/", about.privacy, name="privacy"),
    path("theme", about.theme, name="theme"),
    path("hooks/runpod/<token>", runpod_hook.ended, name="runpod_hook"),
]
