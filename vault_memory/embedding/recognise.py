"""Recognises a configured model: whether what answers now is what the index has vectors of.

The name does not tell (a pull brings another version under it, another address another model), and neither do equal
dimensions: the vector of one known text does. It was noted when the space was begun.
"""

from vault_memory.embedding.configured_embedder import RemoteEmbedder
from vault_memory.store.embedding_rows import Space, find_space, get_mark, set_mark
from vault_memory.store.rows import Store
from vault_memory.store.vectors import cosine
from vault_memory.store.view import IndexConnection

SAME_MODEL_COSINE = 0.98
"""The least cosine of two vectors of one text by one model; other hardware or another batch changes it by far less."""

FORGET = "`memory doctor --fix` forgets the old vectors, then `memory index` makes new ones."
"""What to do about another model."""


def known_probe(store: IndexConnection, name: str) -> bytes | None:
    """The known text's vector by the model that the space of this name was begun with."""
    mark = get_mark(store, name, "probe")
    return bytes.fromhex(mark) if mark else None


def difference(space: Space, known: bytes | None, vector: bytes, where: str) -> str:
    """Why the model at `where`, which gives `vector` for the known text, is not the one of `space`; "" when it is."""
    if len(vector) != space.width:
        return (
            f"{where} gives {len(vector)} dimensions, and the index has {space.dimensions} for {space.name}:"
            " it is not the model it was"
        )
    if known and cosine(vector, known) < SAME_MODEL_COSINE:
        return f"{where} gives other vectors for {space.name} than before: it is not the model it was"
    return ""


def other_model(store: Store | None, remote: RemoteEmbedder, digest: str | None = None) -> str:
    """Why the server's model is not the one whose vectors the index has, or ""; it is asked for the known text.

    With `digest`, the one that the server tells, a model that had it already is not asked. Raises RemoteError where the
    server does not answer, or has no usable vector even for this text.
    """
    if store is None:
        remote.probe()
        return ""
    space = find_space(store, remote.id)
    if space and digest and get_mark(store, remote.id, "digest") == digest:
        return ""
    vector, known = remote.probe(), known_probe(store, remote.id)
    why = difference(space, known, vector, remote.where) if space else ""
    if not why:
        with store.writing():
            if space is None or known is None:
                set_mark(store, remote.id, "probe", vector.hex())
            if digest:
                set_mark(store, remote.id, "digest", digest)
    return why
