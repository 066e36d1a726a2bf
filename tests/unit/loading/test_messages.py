from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from packed_files import documents_in, docx_bytes, loaded, problems_in, zip_bytes

from graphrag_dual.model import Document


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = "Café plan"
    made["From"] = "Ada Lovelace <ada@example.org>"
    made["To"] = "bob@example.org, ida@example.org"
    made["Date"] = "Tue, 05 Mar 2024 10:00:00 +0100"
    for name, value in headers.items():
        made[name] = value
    made.set_content("Plain words.")
    made.add_alternative("<p>Words of HTML.</p>", subtype="html")
    return made


def saved(tmp_path: Path, data: EmailMessage | bytes) -> Path:
    path = tmp_path / "mail" / "m.eml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else bytes(data))
    return path


def test_a_message_is_its_plain_text_with_subject_and_metadata(tmp_path: Path) -> None:
    (document,) = documents_in(saved(tmp_path, message())).values()
    assert (document.uri, document.title, document.text) == ("mail/m.eml", "Café plan", "Plain words.\n")
    assert document.metadata == {
        "from": "Ada Lovelace <ada@example.org>",
        "to": "bob@example.org, ida@example.org",
        "date": "2024-03-05T10:00:00+01:00",
    }


def test_html_is_read_where_there_is_no_plain_text(tmp_path: Path) -> None:
    made = EmailMessage()
    made["Subject"] = "x"
    made.set_content("<html><body><p>Only <b>HTML</b> here.</p></body></html>", subtype="html")
    (document,) = documents_in(saved(tmp_path, made)).values()
    assert "HTML" in document.text
    assert "<p>" not in document.text


def test_attachments_are_loaded_by_their_own_loaders(tmp_path: Path) -> None:
    made = message()
    made.add_attachment(docx_bytes(), maintype="application", subtype="octet-stream", filename="附件.docx")
    made.add_attachment(
        zip_bytes({"t.csv": "text,year\nrow,2020\n"}), maintype="application", subtype="zip", filename="a.zip"
    )
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("Forwarded words.")
    made.add_attachment(inner)
    found = documents_in(saved(tmp_path, made))
    assert list(found) == [
        "mail/m.eml",
        "mail/m.eml/附件.docx",
        "mail/m.eml/a.zip/t.csv#1",
        "mail/m.eml/attachment-3.eml",
    ]
    assert found["mail/m.eml/附件.docx"].title == "Handbook"
    assert found["mail/m.eml/attachment-3.eml"].title == "Inner"


def test_an_attachment_cannot_choose_a_place_outside(tmp_path: Path) -> None:
    made = message()
    made.add_attachment(b"x", maintype="text", subtype="plain", filename="../../x.txt")
    assert problems_in(saved(tmp_path, made)) == {"mail/m.eml/../../x.txt": "name that leads out of the archive"}


def test_a_wrong_charset_and_a_wrong_date_cost_nothing_else(tmp_path: Path) -> None:
    raw = b"Subject: x\nDate: yesterday\nContent-Type: text/plain; charset=no-such\n\n" + "Wörter, schöne.".encode()
    (document,) = loaded(saved(tmp_path, raw))
    assert isinstance(document, Document)
    assert document.text == "Wörter, schöne."
    assert document.metadata == {}


def test_what_is_no_message_says_so(tmp_path: Path) -> None:
    assert problems_in(saved(tmp_path, b"")) == {"mail/m.eml": "empty"}
    assert problems_in(saved(tmp_path, b"no header at all\n\nwords")) == {"mail/m.eml": "corrupt: no message header"}
