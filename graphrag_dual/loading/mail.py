"""Messages as mail programs save them, with what is attached."""

from __future__ import annotations

import email
import io
import mimetypes
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, Message, MIMEPart
from functools import partial
from pathlib import Path

from graphrag_dual.errors import InputError
from graphrag_dual.loading.containers import Member
from graphrag_dual.loading.decoding import decode
from graphrag_dual.loading.documents import (
    check_size,
    clean_text,
    file_stem,
    foreign_parser,
    make_document,
    metadata_from,
)
from graphrag_dual.loading.html import main_text
from graphrag_dual.loading.zips import fault_of_name
from graphrag_dual.model import Document, MetadataValue, SourceProblem

__all__ = ["MailContainer"]

_HEADERS = ("from", "to", "cc")
_MESSAGE = "message/rfc822"


class MailContainer:
    """The text of a message, plain before HTML, titled by its subject; attachments as ``<uri>/<file name>``.

    Metadata: ``from``, ``to``, ``cc``, and ``date`` in ISO 8601.
    """

    suffixes = frozenset({".eml"})

    def open(self, path: Path, *, workspace: str, uri: str) -> Iterator[Document | SourceProblem | Member]:
        """Open one message; ``Raises`` as in ``Container``."""
        check_size(path)
        with foreign_parser(), path.open("rb") as file:
            message = email.message_from_binary_file(file, policy=policy.default)
            text = _body(message)
            attached = list(_attachments(message))
            title = _header(message, "subject") or file_stem(uri)
            metadata = _metadata(message)
        if not message.keys():
            raise InputError("corrupt: no message header" if text.strip() else "empty", hint="leave out the file")
        if text.strip() or not attached:
            yield make_document(text, workspace=workspace, uri=uri, title=title, metadata=metadata)
        for name, data in attached:
            if fault := fault_of_name(name):
                yield SourceProblem(f"{uri}/{clean_text(name)}", fault)
            else:
                yield Member(name, partial(io.BytesIO, data))


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    text = _decoded(part)
    if part.get_content_subtype() == "html":
        return main_text(text)[1] if text.strip() else ""
    return text


def _decoded(part: MIMEPart) -> str:
    """Text of a part; the charset that it declares is only a hint, since many are wrong."""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    charset = part.get_param("charset")
    return decode(data, declared=charset if isinstance(charset, str) else "")


def _attachments(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of what is attached; pictures within the text are part of the letterhead and left out."""
    if not message.is_multipart():
        return
    for number, part in enumerate(message.iter_attachments(), start=1):
        if part.get_content_maintype() == "image" and not part.is_attachment():
            continue
        kind = part.get_content_type()
        extension = ".eml" if kind == _MESSAGE else mimetypes.guess_extension(kind) or ""
        yield part.get_filename() or f"attachment-{number}{extension}", _bytes_of(part)


def _bytes_of(part: EmailMessage) -> bytes:
    payload = part.get_payload(decode=True)
    if isinstance(payload, bytes):
        return payload
    inner = part.get_payload()
    messages = [item for item in inner if isinstance(item, Message)] if isinstance(inner, list) else []
    return b"\n".join(message.as_bytes() for message in messages)


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(clean_text(str(message.get(name, ""))).split())


def _metadata(message: EmailMessage) -> dict[str, MetadataValue]:
    fields: dict[str, object] = {name: _header(message, name) or None for name in _HEADERS}
    sent = getattr(message["date"], "datetime", None)
    return metadata_from(fields | {"date": sent.isoformat() if sent is not None else None})
