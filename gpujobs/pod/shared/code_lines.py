"""Code that no fence marks: runs of lines which look like it. Conservative: prose about code is prose.

    code_runs()         lines -> ranges of lines
    dense_with_code()   one block of text -> is it code?

Pure; imports line_forms alone.
"""

from collections.abc import Iterator

import regex

from gpujobs.pod.shared.line_forms import ends_sentence

CODE_MIN_SHARE = 0.5  # of the lines of a run that must be code by themselves
CODE_MAX_FUNCTION_WORDS = 1
CODE_MIN_DENSITY = 0.04  # signs a character, in code on one line
GRAMMAR_MIN_SHARE = 0.03  # of the words must be "the", "of", "que" …: prose has 0.2 and more, formulas included
DENSITY_MIN_CHARS = 40
PROSE_LINE_CHARS = 160  # longer lines are paragraphs

_STRONG_CODE = regex.compile(
    r"""\s*(?:
    (?:def|class)\s+\w+\s*(?:\([^)]*\))?\s*(?:->\s*[\w\[\], .|]+)?:\s*(?:\#.*)?$
    | (?:import\s+[\w.{}*,\s]+(?:\s+(?:as\s+\w+|from\s+['"].*))?;?|from\s+[\w.]+\s+import\s+.+)$
    | (?:if|elif|while|for|with|except|switch|catch)\b.*(?:[)\]\w]:|\)\s*\{)\s*$(?<=[)\]=<>\d"'][^\n]*)
    | (?:else|try|finally)\s*[:{]\s*$
    | (?:public|private|protected|static|final|const|let|var|function|fn|func)\s
      [^.!?]*[{;(=][^.!?]*.*[;{)(,]?\s*$
    | (?:void|int|float|double|struct|enum|impl|export|async)\s
      [^.!?]*[{;(=][^.!?]*.*[;{)(,]?\s*$
    | \#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b.*$ | \#!\s*/.*$
    | (?:>>>|\.\.\.|\$|C:\\>)\s\S.*$
    | (?:sudo|apt-get|pip|npm|git|docker|curl|cd|ls|mkdir)\s+[\w./-]+(?:\s+[-\w./:=]+)*$
    | (?:SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|CREATE\s+TABLE|ALTER\s+TABLE)\s.*
    | (?:FROM|WHERE|(?:LEFT\s|INNER\s)?JOIN|GROUP\s+BY|ORDER\s+BY|VALUES)\s.*[;,=()\w]$
    | \\[A-Za-z]+\*?(?:\[[^\]]*\])?(?:\{[^{}]*\})+\s*$
    | (?://|/\*|\*/|--\s).*$ | @\w+(?:\(.*\))?$ | [{}()\[\];,]+\s*$
    | </?(?!(?:b|i|em|strong|a|span|u|s|br|p)\b)[A-Za-z][\w:-]*(?:\s[^<>]*)?/?>(?:.*>)?\s*$ | <!(?:--|DOCTYPE).*
    | (?:[\w.\[\]'"]+(?:\s*,\s*[\w.\[\]'"]+)*)\s*(?:[-+*/%|&^]|<<|>>)?=\s*(?!=)\S.*$
    | [\w.:]+\(.*\)\s*[;{]?\s*$
    | return\b(?:\s+[\w.\[\](){}'"+*/%<>=!&|,:\s-]+)?;?$ | (?:print|printf|echo|console\.log|println!?)\s*[("'].*$
    | [.\#]?[\w\-]+(?:\s*[>+~,]?\s*[.\#]?[\w\-]+)*\s*\{\s*$ | "[\w\-]+"\s*:\s*.*,?$ | [\w-]+\s*:\s*[^\s;][^;]*;\s*$
    )""",
    regex.VERBOSE,
)
_COMMENT = regex.compile(r"\s*(?://|/\*|--\s|\#|>>>|\$\s|</?\w|SELECT\s)")
_FUNCTION_WORD = regex.compile(
    r"\b(?:the|of|and|to|that|is|was|a|an|it|as|he|she|they|you|de|la|que|el|en|los|las|un|una|se|por)\b",
    regex.IGNORECASE,
)
_WORD = regex.compile(r"\w+")
_CODE_SIGN = regex.compile(r"[{}\[\]=<>;_\\$#@&|*+`^~/]|\(\)|::|->|==|!=")


def code_runs(lines: list[str], free: list[bool]) -> Iterator[range]:
    """Runs of lines that look like code, blank lines inside them included; a single line only by several signs."""
    strong = [free[i] and _is_strong(line) for i, line in enumerate(lines)]
    i = 0
    while i < len(lines):
        if not strong[i]:
            i += 1
            continue
        end = _end_of_run(lines, free, strong, i)
        size = sum(bool(line.strip()) for line in lines[i:end])
        hits = sum(strong[i:end])
        if (size > 1 and hits >= CODE_MIN_SHARE * size) or _is_certain(lines[i]):
            yield range(i, end)
        i = end


def dense_with_code(text: str) -> bool:
    """Whether a block, its Markdown already gone, has many signs and no grammar."""
    signs = len(_CODE_SIGN.findall(text))
    if len(text) < DENSITY_MIN_CHARS or signs < CODE_MIN_DENSITY * len(text):
        return False
    return len(_FUNCTION_WORD.findall(text)) < GRAMMAR_MIN_SHARE * len(_WORD.findall(text))


def _end_of_run(lines: list[str], free: list[bool], strong: list[bool], begin: int) -> int:
    """Behind the last line that continues the code begun at `begin`; two blank lines end it."""
    end, j = begin + 1, begin + 1
    while j < len(lines) and free[j]:
        if strong[j] or _is_weak(lines[j]):
            end = j + 1
        elif lines[j].strip() or (j > end):
            break
        j += 1
    return end


def _is_strong(line: str) -> bool:
    if len(line) > PROSE_LINE_CHARS or not line.strip():
        return False
    if line.rstrip()[-1] in ".!?" and line.count(" ") > 4 and "(" not in line:
        return False
    if not _STRONG_CODE.match(line):
        return False
    return bool(_COMMENT.match(line)) or len(_FUNCTION_WORD.findall(line)) <= CODE_MAX_FUNCTION_WORDS


def _is_weak(line: str) -> bool:
    """Indented, or dense with signs: code only beside strong lines."""
    if len(line) > PROSE_LINE_CHARS:
        return False
    stripped = line.strip()
    if line.startswith(("    ", "\t", "  ")) and not ends_sentence(line):
        return True
    return len(_CODE_SIGN.findall(stripped)) * 8 >= len(stripped) > 0 and not ends_sentence(line)


def _is_certain(line: str) -> bool:
    """One line alone is code when it has several signs and no sentence."""
    return len(_CODE_SIGN.findall(line)) >= 3 and not ends_sentence(line) and line.count(" ") <= 12
