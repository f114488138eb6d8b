"""django.contrib.admin with our site; not in apps.py, where a package's one default configuration is looked for."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    default_site = "inkcloak.staff_site.StaffSite"
