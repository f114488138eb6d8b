"""Human text from distribution packages, rebuilt from the packages: no text of theirs lies in the repository.

    build.py       the command: sources.toml -> FILE.jsonl.zst, canon.jsonl.zst and a report of counts and hashes
    sources.py     sources.toml as checked records: package, version, hash, files, licence, years
    fetch.py       package managers' clients -> archive with the right hash -> folder
    documents.py   what a reader gives: sections of paragraphs
    readers.py     files of one source -> documents (html.py: HTML, DocBook and Mallard; plain.py: text, mail, records)
    passages.py    documents -> passages of 50-600 words, cut at sentence ends
    cleaning.py    white space, contact details, what counts as a prose paragraph; pure
    duplicates.py  which texts nearly repeat one another (MinHash)

May be imported by: nothing but its tests. Imports: gpujobs.pod.shared, lxml, datasketch, pysword, zstandard.
"""
