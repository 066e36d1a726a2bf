"""The language in which prompts ask for text: that of the material, or one that the setting ``language`` names."""

from __future__ import annotations

__all__ = ["AUTO", "language_name"]

AUTO = "auto"

_NAMES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sr": "Serbian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
    "zh-cn": "Simplified Chinese",
    "zh-tw": "Traditional Chinese",
    "pt-br": "Brazilian Portuguese",
}


def language_name(setting: str) -> str:
    """The name of a language as prompts write it; ``""`` for ``auto``.  What is no known code is taken for a name."""
    word = " ".join(setting.split())
    folded = word.casefold().replace("_", "-")
    return "" if folded == AUTO else _NAMES.get(folded, word)
