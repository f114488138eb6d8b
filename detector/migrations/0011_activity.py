"""Who was active when: a line with each check, by a trigger; what there is already is counted once. Weekly reports."""

from django.db import migrations, models

VISITOR = "md5(visitor::text || (accepted_at AT TIME ZONE 'UTC')::date::text)"
LINES = f"""
    INSERT INTO detector_activityline (at, account_id, user_id, visitor, words)
    SELECT accepted_at, account_id, user_id, coalesce({VISITOR}, ''), words
"""
FORWARD = f"""
CREATE FUNCTION detector_note_activity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {LINES} FROM fresh;
    RETURN NULL;
END $$;

CREATE TRIGGER submission_activity AFTER INSERT ON detector_submission
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION detector_note_activity();

{LINES} FROM detector_submission;
"""
BACK = """
DROP TRIGGER submission_activity ON detector_submission;
DROP FUNCTION detector_note_activity();
"""


class Migration(migrations.Migration):
    dependencies = [("detector", "0010_sharing")]

    operations = [
        migrations.CreateModel(
            name="ActivityLine",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("account_id", models.UUIDField(null=True)),
                ("user_id", models.BigIntegerField(null=True)),
                ("visitor", models.CharField(blank=True, max_length=36)),
                ("words", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="ActivityQuarter",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start", models.DateTimeField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("account", "Account"), ("user", "User"), ("visitor", "Visitor")], max_length=8
                    ),
                ),
                ("who", models.CharField(max_length=36)),
                ("checks", models.PositiveIntegerField()),
                ("words", models.PositiveBigIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("start", "kind", "who"), name="activity_quarter_once")
                ]
            },
        ),
        migrations.CreateModel(
            name="WeeklyReport",
            fields=[
                ("week", models.DateField(primary_key=True, serialize=False)),
                ("claimed_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(null=True)),
                ("recipients", models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.RunSQL(FORWARD, BACK),
    ]
