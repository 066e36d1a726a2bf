"""All settings, each with its sentence.  The only place that reads a settings file, and the environment but for the
folders of the local server (``localdb/environment.py``).

A value is taken from, in this order: the call or command line, the environment, ``graphrag_dual.toml`` in the working
directory, the default below.  ``NEO4J_*`` and ``OPENAI_*`` keep the names that every tool of the field uses; the others
are the field name in capitals behind ``GRAPHRAG_DUAL_``.
"""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from graphrag_dual.errors import ConfigError

__all__ = ["SETTINGS_FILE", "Settings"]

SETTINGS_FILE = "graphrag_dual.toml"

# Addresses are shown in messages, so they must not hold credentials.
_BOLT = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?://[^@/\s]+/?")
_HTTP = re.compile(r"https?://[^@\s]+")


class Settings(BaseSettings):
    """Everything that can be set.  Immutable; ``Settings.load(...)`` turns a bad value into a one-line ConfigError."""

    model_config = SettingsConfigDict(
        env_prefix="GRAPHRAG_DUAL_",
        toml_file=SETTINGS_FILE,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
    )

    neo4j_uri: str | None = Field(
        default=None,
        validation_alias=AliasChoices("neo4j_uri", "NEO4J_URI", "NEO4J_URL"),
        description="Bolt address of your own server; unset means the local server of `graphrag-dual up`.",
    )
    neo4j_username: str = Field(
        default="neo4j",
        validation_alias=AliasChoices("neo4j_username", "NEO4J_USERNAME", "NEO4J_USER"),
        description="Database user.",
    )
    neo4j_password: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("neo4j_password", "NEO4J_PASSWORD"),
        description="Password of the database user.",
    )
    neo4j_database: str = Field(
        default="neo4j",
        validation_alias=AliasChoices("neo4j_database", "NEO4J_DATABASE"),
        description="Database name; Community edition has one, `neo4j`.",
    )
    home: str = Field(
        default="default",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$",
        description="Name of the local server home that `up`, `down` and `status` act on.",
    )
    workspace: str = Field(
        default="default",
        pattern=r"^[a-z0-9]{1,32}$",
        description="Workspace (tenant) that documents, searches and jobs belong to.",
    )

    offline: bool = Field(
        default=False, description="Use local models only, even where an endpoint is configured in the environment."
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY"),
        description="Key of the OpenAI-compatible endpoint; a key or a base URL switches extraction, reports and "
        "answers to the endpoint.",
    )
    openai_base_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("openai_base_url", "OPENAI_BASE_URL"),
        description="Address of any OpenAI-compatible server (vLLM, Ollama, llama.cpp, DeepSeek, ...).",
    )
    openai_api_version: str | None = Field(
        default=None,
        validation_alias=AliasChoices("openai_api_version", "OPENAI_API_VERSION"),
        description="Version that an Azure endpoint wants with every request, such as `2024-10-21`; the key is then sent "
        "as Azure wants it, too.",
    )
    chat_model: str = Field(default="gpt-4o-mini", description="Model for extraction, reports and answers.")
    embedding_model: str = Field(
        default="local:all-MiniLM-L6-v2",
        description="`local:all-MiniLM-L6-v2` (English), `local:multilingual-e5-small` (needs the `multilingual` extra) "
        "or `openai:NAME`, such as `openai:text-embedding-3-small`. Stored with the index; a change is refused.",
    )
    model_concurrency: int = Field(default=8, ge=1, le=256, description="Model calls in flight at once.")
    model_timeout_s: float = Field(default=120.0, gt=0, description="Seconds before one model call counts as failed.")
    model_attempts: int = Field(default=5, ge=1, le=20, description="Attempts per model call, the first included.")
    model_patience_s: float = Field(
        default=300.0,
        ge=0,
        description="Seconds that an endpoint may fail call after call before a run stops; it goes on when repeated.",
    )
    model_requests_per_minute: int | None = Field(
        default=None, ge=1, description="Requests sent to a model per minute, at most; unset is no limit."
    )
    model_tokens_per_minute: int | None = Field(
        default=None, ge=1, description="Tokens sent to and asked of a model per minute, at most; unset is no limit."
    )
    price_input_per_million: float | None = Field(
        default=None,
        ge=0,
        description="USD per million input tokens of the chat model; unset takes the published price.",
    )
    price_output_per_million: float | None = Field(
        default=None,
        ge=0,
        description="USD per million output tokens of the chat model; unset takes the published price.",
    )

    budget: float | None = Field(
        default=None,
        ge=0,
        description="USD that one command (in Python, one opened engine) may spend on models; a run stops before it would "
        "spend more and goes on when repeated. Unset is no limit.",
    )

    extractor: str = Field(
        default="auto",
        description="`llm`, `spacy`, `recorded:FILE`, or `auto`: `llm` with an endpoint configured, else `spacy`.",
    )
    schema_file: str | None = Field(
        default=None,
        description="TOML or JSON file with the types of entities and relationships that a language model may extract.",
    )
    gleanings: int = Field(
        default=0, ge=0, le=5, description="Further passes of a language model over each chunk, for what it missed."
    )
    grounded: bool = Field(
        default=True, description="Turn down names that a language model gives and the passage does not have."
    )
    language: str = Field(
        default="auto",
        pattern=r"^[^\W\d_][\w ()\-]{1,39}$",
        description="Language of descriptions, reports and answers, as a name or code (`fi`, `Finnish`); `auto` is that of "
        "the documents, and of the question in answers. Names stay as written.",
    )
    chunk_tokens: int = Field(
        default=0,
        ge=0,
        le=8192,
        description="Tokens per chunk of new and changed documents; 0 takes the embedder's window, at most 512.",
    )
    max_failed_share: float = Field(
        default=0.2, ge=0, le=1, description="Share of failed chunks above which a run counts as failed."
    )

    max_delete_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of a folder's documents in the index above which `sync` refuses to delete what is gone.",
    )

    leiden_seed: int = Field(default=42, description="Random seed of Leiden.")
    leiden_gamma: float = Field(
        default=1.0, gt=0, description="Resolution of Leiden; higher gives smaller communities."
    )

    rrf_k: int = Field(default=60, ge=0, description="The constant of reciprocal rank fusion.")
    candidates: int = Field(default=50, ge=1, le=1000, description="Items asked of each channel before fusion.")
    channel_timeout_s: float = Field(default=10.0, gt=0, description="Seconds after which a channel is left out.")
    strategy: str = Field(
        default="learned",
        pattern="^(learned|adaptive|rrf)$",
        description="`learned` fuses all lists of both channels with measured weights; `adaptive` weighs the channels by "
        "the question's intent; `rrf` gives both 1.0.",
    )
    weights_file: str | None = Field(
        default=None,
        description="Weights that `graphrag-dual eval FOLDER --tune FILE` wrote; refused on another index.",
    )

    @field_validator(
        "neo4j_uri",
        "neo4j_password",
        "openai_api_key",
        "openai_base_url",
        "openai_api_version",
        "model_requests_per_minute",
        "model_tokens_per_minute",
        "price_input_per_million",
        "price_output_per_million",
        "budget",
        "weights_file",
        "schema_file",
        mode="before",
    )
    @classmethod
    def _empty_is_unset(cls, value: object) -> object:
        """Take an empty value of the settings file as unset, as one of the environment is."""
        return None if value == "" else value

    @field_validator("neo4j_uri")
    @classmethod
    def _bolt_address(cls, value: str | None) -> str | None:
        if value is not None and not _BOLT.fullmatch(value):
            raise ValueError("must be bolt://host:port or neo4j://host:port (+s, +ssc), without user and password")
        return value

    @field_validator("openai_base_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and not _HTTP.fullmatch(value):
            raise ValueError("must be http://host/path or https://host/path, without user and password")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the settings file behind the environment."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @classmethod
    def load(cls, **overrides: Any) -> Self:
        """Read settings; ``overrides`` that are None are ignored.

        Raises:
            ConfigError: a value is malformed; the message names the setting, never its value.
        """
        if overrides.get("workspace") is None and os.environ.get("GRAPHRAG_DUAL_WORKSPACE") == "":
            # Else a tenant whose name got lost on the way would be served from the workspace `default`.
            raise ConfigError(
                "setting workspace: GRAPHRAG_DUAL_WORKSPACE is empty",
                hint="name a workspace, or remove the variable for the workspace `default`",
            )
        try:
            return cls(**{name: value for name, value in overrides.items() if value is not None})
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"]) or "settings"
            if first["type"] == "extra_forbidden":
                near = get_close_matches(name, cls.model_fields, n=1)
                raise ConfigError(
                    f"there is no setting {name}",
                    hint=f"did you mean {near[0]}?"
                    if near
                    else f"`graphrag-dual init` writes all of them into {SETTINGS_FILE}",
                ) from None
            raise ConfigError(
                f"setting {name}: {first['msg'].removeprefix('Value error, ')}",
                hint=f"correct it in the environment or in {Path(SETTINGS_FILE)}; see `graphrag-dual init --help`",
            ) from None
        except ValueError as error:
            raise ConfigError(f"{SETTINGS_FILE} is not valid TOML: {error}", hint="mend or delete the file") from None

    @property
    def has_endpoint(self) -> bool:
        """Whether a language model endpoint is configured."""
        return not self.offline and (self.openai_api_key is not None or self.openai_base_url is not None)
