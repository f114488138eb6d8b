"""What an owner can hand on about a finished check: a signed report for programs, a PDF for people.

contents.py   the facts of both, as plain data; signing them      wording.py   the same facts in careful words
document.py   the PDF                                             quoted.py    the text in it, with its marks
typefaces.py  fonts, and which one has a character                fonts/       the files of them

Keys are inkcloak.report_keys', the format of a signed report and its check inkcloak.client.reports'.
"""
