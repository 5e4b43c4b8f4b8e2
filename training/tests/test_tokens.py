import pytest


def test_offsets_are_bytes(tokenizer):
    text = "é日 a 👩 b"
    data = text.encode()
    assert [data[t.start : t.end].decode() for t in tokenizer.tokens(text)] == ["é", "日", "a", "👩", "b"]


def test_special_tokens_in_a_text_are_text(tokenizer):
    ids = tokenizer.ids("a [SEP] [CLS]")
    assert tokenizer.special("[SEP]") not in ids
    assert tokenizer.special("[CLS]") not in ids


def test_texts_are_neither_cut_nor_filled(tokenizer):
    assert len(tokenizer.tokens("a b c d e f g h i j k")) == 11
    assert len(tokenizer.tokens("a")) == 1
    assert tokenizer.tokens("") == []


def test_nul_counts_as_a_blank(tokenizer):
    assert tokenizer.tokens("a\0b") == tokenizer.tokens("a b")


def test_an_unknown_special_token(tokenizer):
    with pytest.raises(ValueError, match=r"'\[EOS\]'"):
        tokenizer.special("[EOS]")
