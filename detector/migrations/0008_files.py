from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("detector", "0006_webhooks")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="file_name",
            field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
    ]
