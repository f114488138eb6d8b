import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("detector", "0009_batch_open")]

    operations = [
        migrations.CreateModel(
            name="Share",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("token_digest", models.CharField(max_length=64, unique=True)),
                ("sealed_token", models.TextField()),
                ("with_text", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shares", to="detector.submission"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["submission", "-created_at", "id"], name="share_list")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))),
                        name="share_expires_after_it_is_made",
                    )
                ],
            },
        ),
    ]
