"""Notices of budgets that came to a limit, and the audit log, which nobody changes: the database refuses it."""

import django.db.models.deletion
from django.db import migrations, models

FORWARD = """
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON gpujobs_auditentry
    FOR EACH ROW EXECUTE FUNCTION gpujobs_append_only();
CREATE TRIGGER audit_entry_no_truncate BEFORE TRUNCATE ON gpujobs_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION gpujobs_append_only();
"""
BACK = """
DROP TRIGGER audit_entry_no_truncate ON gpujobs_auditentry;
DROP TRIGGER audit_entry_append_only ON gpujobs_auditentry;
"""


class Migration(migrations.Migration):
    dependencies = [("gpujobs", "0006_machine_meter")]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("budget_made", "Budget Made"),
                            ("budget_changed", "Budget Changed"),
                            ("budget_overridden", "Budget Overridden"),
                            ("workers_stopped", "Workers Stopped"),
                            ("workers_restored", "Workers Restored"),
                        ],
                        max_length=24,
                    ),
                ),
                ("subject", models.CharField(max_length=120)),
                ("actor", models.CharField(max_length=254)),
                ("reason", models.CharField(max_length=200)),
                ("before", models.JSONField(blank=True, default=dict)),
                ("after", models.JSONField(blank=True, default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"verbose_name_plural": "audit entries", "ordering": ["-id"]},
        ),
        migrations.CreateModel(
            name="BudgetNotice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.CharField(choices=[("soft", "Soft"), ("hard", "Hard")], max_length=4)),
                ("period_start", models.DateTimeField()),
                ("resets_at", models.DateTimeField()),
                ("spent_nanousd", models.BigIntegerField()),
                ("limit_nanousd", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                (
                    "budget",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="notices", to="gpujobs.budget"
                    ),
                ),
            ],
            options={"ordering": ["-id"]},
        ),
        migrations.AddConstraint(
            model_name="budgetnotice",
            constraint=models.UniqueConstraint(fields=("budget", "period_start", "level"), name="budget_notice_once"),
        ),
        migrations.RunSQL(FORWARD, BACK),
    ]
