"""Every code that the API may answer with: what it means and what to do. Shown at `/api/docs/errors`.

A test reads the source and finds codes that are missing here.
"""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

KEYS: dict[str, tuple[int, str | Promise]] = {
    "missing_key": (401, _("No key came with the request. Send Authorization: Bearer ink_live_…")),
    "wrong_scheme": (401, _("The Authorization header has another scheme than Bearer.")),
    "malformed_key": (401, _("What was sent is no key of ours: a part is missing or mistyped.")),
    "unknown_key": (401, _("The key is well formed, but does not exist here.")),
    "revoked_key": (401, _("The key was revoked. Make another one.")),
    "expired_key": (401, _("The key has expired, or its time beside its successor is over.")),
    "missing_scope": (403, _("The key may not do this: make one with the scope that the answer names.")),
    "wrong_environment": (403, _("A test key was used where only a live key makes sense.")),
    "key_in_address": (
        400,
        _("A key, or a parameter meant for one, is in the address. Rotate that key: it is in logs."),
    ),
    "key_in_body": (400, _("The body has a field meant for a key. Send it in the header.")),
    "bad_key_name": (400, _("A key needs a printable name of at most 100 characters.")),
    "bad_expiry": (400, _("The key would have expired before its first use.")),
    "bad_overlap": (400, _("A rotated key can work for 0 to 720 more hours.")),
    "unknown_scope": (400, _("A key needs at least one scope, and only those that exist.")),
    "too_many_keys": (400, _("The account has as many keys as it may have. Revoke one.")),
    "key_not_rotatable": (400, _("The key has ended or has a successor already.")),
}
LIMITS: dict[str, tuple[int, str | Promise]] = {
    "rate_limited": (429, _("More requests in this minute than the plan has. Wait for Retry-After seconds.")),
    "words_used": (429, _("The text has more words than the account has left this month.")),
    "visitor_checks_used": (429, _("Without an account: today's free checks are used.")),
    "too_many_posts": (429, _("On the pages: too many checks at once from one address.")),
    "too_large": (413, _("The body is larger than the limit that the answer names.")),
}
REQUESTS: dict[str, tuple[int, str | Promise]] = {
    "bad_request": (400, _("The request could not be understood at all.")),
    "invalid": (400, _("Fields are missing or wrong: errors names each with its place.")),
    "malformed_json": (400, _("The body is not JSON; the answer says where it stops being that.")),
    "bad_encoding": (400, _("The body or file is not UTF-8.")),
    "not_an_object": (400, _("The body is JSON, but no object.")),
    "duplicate_name": (400, _("A name appears twice in one object, so its meaning is unclear.")),
    "not_a_number": (400, _("The body holds NaN, infinity or a number too large to be one.")),
    "too_deep": (400, _("The body is nested deeper than 32 levels.")),
    "bad_cursor": (400, _("The cursor is none that a page gave. Take next_cursor unchanged.")),
    "bad_limit": (400, _("limit must be a whole number from 1 to 100.")),
    "bad_kind": (400, _("There is no such kind of ledger line.")),
    "bad_id": (400, _("What should be an id is none.")),
    "bad_idempotency_key": (400, _("Idempotency-Key must be 1 to 255 visible ASCII characters.")),
    "idempotency_mismatch": (422, _("This Idempotency-Key belongs to another request. Take a new one.")),
    "idempotency_in_flight": (409, _("The first request with this Idempotency-Key is under way. Ask again soon.")),
    "forbidden": (403, _("This is not allowed.")),
    "not_found": (
        404,
        _("There is nothing at this address for this account: it never was, is deleted, or is not yours."),
    ),
    "method_not_allowed": (405, _("The address takes other methods: see Allow.")),
    "not_acceptable": (406, _("Answers are JSON; the Accept header rules that out.")),
    "unsupported_media_type": (415, _("The body has a type that this address does not take.")),
    "restarting": (503, _("A part of the service restarts. Nothing is lost; try again.")),
    "internal": (500, _("Something broke on our side. Quote request_id when you write to us.")),
}
WEBHOOKS: dict[str, tuple[int, str | Promise]] = {
    "webhook_bad_url": (400, _("The address is none that webhooks go to; detail says what is wrong with it.")),
    "webhook_not_https": (400, _("Webhooks go to https addresses only.")),
    "webhook_address_refused": (400, _("The address leads into a private or reserved network.")),
    "webhook_unresolvable": (400, _("Name servers don't know the host of the address.")),
    "webhook_disabled": (400, _("The webhook is disabled, so nothing can be sent to it. Enable it first.")),
    "too_many_webhooks": (400, _("The account has as many webhooks as it may have. Delete one.")),
}
CHECKS: dict[str, tuple[int, str | Promise]] = {
    "empty": (400, _("There is no text to check.")),
    "too_long": (400, _("The text is longer than one check may be. Nothing is cut: send it in parts.")),
    "unknown_max_fpr": (
        400,
        _("The false-positive limit was not measured for this text's language. The answer names those."),
    ),
    "unknown_model": (400, _("There is no such model version: GET /models lists them.")),
    "model_not_callable": (409, _("The model version exists, but is out of service: GET /models lists those in it.")),
    "unknown_fixture": (400, _("A test key's text names a made-up answer that does not exist.")),
    "dry_run_of_one": (400, _("dry_run belongs to the whole batch, not to one of its texts.")),
    "batch_too_long": (400, _("The texts of a batch are longer together than the limit that the answer names.")),
    "not_finished": (409, _("The check has no verdict yet. Ask again soon.")),
    "text_not_stored": (
        409,
        _("The text of this check was not kept (store=false): it can be neither checked again nor shown in a report."),
    ),
    "no_signing_key": (503, _("This installation has no key to sign reports with yet.")),
    "too_many_shares": (400, _("The check has as many share links as it may have. Revoke one.")),
    "bad_lifetime": (400, _("A share link can work for 1, 7, 30 or 90 days.")),
    "reports_busy": (503, _("Too many reports are being made at the moment. Try again soon.")),
    "check_failed": (503, _("The check ended without a verdict. Nothing was charged; send it again.")),
    "no_model": (503, _("No model is in service at the moment.")),
}
FILES: dict[str, tuple[int, str | Promise]] = {
    "too_many_files": (400, _("More files in one request than the limit that the answer names.")),
    "too_many_texts": (400, _("The files hold more texts together than the limit that the answer names.")),
    "too_long_together": (400, _("The texts of the files are longer together than the limit that the answer names.")),
    "upload_size": (400, _("The files are larger together than the limit that the answer names.")),
    "files_busy": (503, _("Too many files are being read at the moment. Try again soon.")),
    "file_empty": (400, _("The file holds no text.")),
    "file_broken": (400, _("The file is damaged, or not what its beginning says.")),
    "file_encrypted": (400, _("The file is protected by a password.")),
    "file_old_word": (400, _("The file is in an old Office format: save it as DOCX.")),
    "file_type": (400, _("The file is none of PDF, DOCX, TXT, MD, HTML and CSV.")),
    "file_not_as_named": (400, _("The file's name says another type than its content.")),
    "file_not_text": (400, _("The file is said to be text, but holds other data.")),
    "file_size": (400, _("The file is larger than one file may be.")),
    "file_too_heavy": (400, _("Reading the file takes more memory than a file may.")),
    "file_too_slow": (400, _("Reading the file takes longer than a file may.")),
    "upload_too_slow": (400, _("Reading the files before this one took all the time that one request has.")),
    "zip_members": (400, _("The file packs more parts than a file may.")),
    "zip_size": (400, _("Unpacked, the file is larger than a file may be.")),
    "zip_ratio": (400, _("The file is packed so tightly that it looks like a bomb.")),
    "pdf_pages": (400, _("The PDF has more pages than a file may.")),
    "pdf_no_text": (400, _("The PDF holds no text: a scan? Pictures are not read.")),
    "pdf_unmapped": (400, _("The fonts of the PDF don't say which letters they draw.")),
    "pdf_hidden_only": (400, _("All the text of the PDF is hidden from its readers.")),
    "hidden_only": (400, _("All the text of the file is hidden from its readers.")),
    "docx_macros": (400, _("The Word file is made to run macros: save it as DOCX.")),
    "docx_entities": (400, _("The DOCX declares entities, which the format forbids.")),
    "html_nesting": (400, _("The page nests its elements deeper than a file may.")),
    "csv_rows": (400, _("The table has more rows than a file may.")),
    "csv_column": (400, _("No column of the table is known to hold the texts.")),
    "csv_ragged": (400, _("A row of the table has more columns than the first.")),
}
CODES: dict[str, tuple[int, str | Promise]] = {**KEYS, **LIMITS, **REQUESTS, **CHECKS, **FILES, **WEBHOOKS}
