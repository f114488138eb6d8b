"""What may be sent to POST /detections/files, and what comes back: a batch that names the file of each text."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from detector.api import answers
from detector.api.serializers import Cap, Flag, Language, Metadata, ModelName, StrictSerializer
from detector.files.limits import MAX_FILES


class FilesRequest(StrictSerializer):
    """Files to check, and what is said about all of them."""

    files = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True),
        allow_empty=False,
        help_text=f"1 to {MAX_FILES} files: PDF, DOCX, TXT, MD, HTML, or CSV with one text a row.",
    )
    language = Language(required=False, help_text="Of all texts, if you know it; otherwise it is found out.")
    model = ModelName(required=False, help_text="As for one text.")
    max_fpr = Cap(required=False, help_text="As for one text.")
    store = Flag(required=False, help_text="false: texts and file names are forgotten; a text as its verdict is there.")
    metadata = Metadata(required=False, help_text="A JSON object of strings, given to each text.")
    dry_run = Flag(required=False, help_text="true: read the files and say what it would cost; nothing is stored.")


@extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
class Hidden(serializers.JSONField):
    """Kind -> characters that no reader of the file sees; they are not checked."""


class FileRead(answers.Shape):
    """What was found in one file."""

    name = serializers.CharField()
    kind = answers.choice(["pdf", "docx", "html", "csv", "text"], null=True)
    texts = serializers.IntegerField(help_text="A table's rows with a text; 1 for any other file; 0 with a problem.")
    hidden = Hidden(help_text="Characters left out because nobody sees them, by kind.")
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What else was left out: macros, footnotes, comments, unmapped."
    )
    encoding = serializers.CharField(allow_null=True, help_text="How the file was read, where that was guessed.")
    problem = answers.Problem(allow_null=True)


class FileItem(answers.BatchItem):
    """One text of a file, or a file without any."""

    file = serializers.IntegerField(help_text="Which of the files, from 0.")
    row = serializers.IntegerField(allow_null=True, help_text="Of a table, from 1 with its header.")


class FileBatch(answers.Batch):
    """Files that came in one request."""

    files = FileRead(many=True)
    items = FileItem(many=True)


class FileQuoteItem(answers.QuoteItem):
    """One text of a file: its price, or why it can't be checked."""

    file = serializers.IntegerField()
    row = serializers.IntegerField(allow_null=True)


class FileBatchQuote(answers.BatchQuote):
    """What files would cost, text by text."""

    files = FileRead(many=True)
    items = FileQuoteItem(many=True)
