"""The text that the quickstart checks."""

# In the manner of a language model that was asked for an essay. Without quotes, which JSON or a shell would read.
QUICKSTART_TEXT = """\
In recent years, remote work has fundamentally transformed the way modern organizations
operate. By embracing flexible schedules and digital collaboration tools, companies can
foster a culture of trust, autonomy, and accountability. Furthermore, employees often report
greater job satisfaction and a healthier balance between their professional and personal
lives. However, it is important to acknowledge that this shift also presents unique
challenges, including feelings of isolation and communication barriers. Ultimately,
organizations that invest in clear communication, inclusive practices, and continuous
learning will be better equipped to navigate this evolving landscape. In conclusion, remote
work is not merely a temporary trend but a powerful opportunity to reimagine the future of
work for everyone involved."""
