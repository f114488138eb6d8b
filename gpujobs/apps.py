from django.apps import AppConfig


class GpuJobsConfig(AppConfig):
    name = "gpujobs"
