"""The JSON of usage and ledger."""

from rest_framework import serializers

from billing.models import WordEntry


class WordsSerializer(serializers.Serializer[dict[str, object]]):
    """Words of this month. used + held + left = limit; held is what checks under way may still cost."""

    limit = serializers.IntegerField()
    used = serializers.IntegerField()
    held = serializers.IntegerField()
    left = serializers.IntegerField()
    period_start = serializers.DateTimeField()
    resets_at = serializers.DateTimeField()


class RequestsSerializer(serializers.Serializer[dict[str, object]]):
    """Requests of this minute, with this one."""

    limit = serializers.IntegerField()
    left = serializers.IntegerField()
    window_seconds = serializers.IntegerField()
    resets_in_seconds = serializers.IntegerField()


class AccountUsageSerializer(serializers.Serializer[dict[str, object]]):
    """What the account has used and what is left, whichever key asks."""

    account = serializers.UUIDField()
    plan = serializers.CharField()
    plan_version = serializers.IntegerField(help_text="Who subscribed to a version of a plan keeps it.")
    live = serializers.BooleanField(help_text="false: asked with a test key, which uses nothing up.")
    words = WordsSerializer()
    requests = RequestsSerializer()


class EntrySerializer(serializers.ModelSerializer[WordEntry]):
    """One line of the ledger: how a check ended and what it cost."""

    detection = serializers.UUIDField(source="check_id", help_text="The check; it may be deleted by now.")

    class Meta:
        model = WordEntry
        fields = ("id", "detection", "kind", "words", "at")
        read_only_fields = fields
