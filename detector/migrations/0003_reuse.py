import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("detector", "0002_lanes"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="reused_from",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="repeats",
                to="detector.submission",
            ),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                condition=models.Q(("account__isnull", False), ("status", "done")),
                fields=["account", "digest"],
                name="submission_known_account",
            ),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                condition=models.Q(("status", "done"), ("visitor__isnull", False)),
                fields=["visitor", "digest"],
                name="submission_known_visitor",
            ),
        ),
    ]
