"""Settings of the whole agent: frozen, validated, read from `agents/presets/*.toml`. A preset is data, nothing more."""

from agents.settings.answering import AnsweringSettings, DeadlineSettings
from agents.settings.base import SettingsError, StrictModel
from agents.settings.encoders import CrossEncoderSettings, DenseEncoderSettings
from agents.settings.engines import LanguageModelSettings, OpenAIEngine, ScriptedEngine, TransformersEngine, VllmEngine
from agents.settings.knowledge_graph import KgClientSettings, KgLimits, KgWriterSettings, KnowledgeGraphSettings
from agents.settings.loading import PRESET_VARIABLE, PRESETS, active_preset, available_presets, load_settings
from agents.settings.public_data import LinkLevel, LinkSettings, PublicDataSettings
from agents.settings.web import (
    Bm25Stage,
    ChunkSettings,
    ContextSettings,
    DenseStage,
    ExtractSettings,
    FusionStage,
    PageSelectionSettings,
    ParentChildChunks,
    RerankSettings,
    RetrieveStage,
    TokenChunks,
    UnionStage,
    WebSettings,
    WordChunks,
)
from agents.settings.whole import Settings

__all__ = [
    "PRESETS",
    "PRESET_VARIABLE",
    "AnsweringSettings",
    "Bm25Stage",
    "ChunkSettings",
    "ContextSettings",
    "CrossEncoderSettings",
    "DeadlineSettings",
    "DenseEncoderSettings",
    "DenseStage",
    "ExtractSettings",
    "FusionStage",
    "KgClientSettings",
    "KgLimits",
    "KgWriterSettings",
    "KnowledgeGraphSettings",
    "LanguageModelSettings",
    "LinkLevel",
    "LinkSettings",
    "OpenAIEngine",
    "PageSelectionSettings",
    "ParentChildChunks",
    "PublicDataSettings",
    "RerankSettings",
    "RetrieveStage",
    "ScriptedEngine",
    "Settings",
    "SettingsError",
    "StrictModel",
    "TokenChunks",
    "TransformersEngine",
    "UnionStage",
    "VllmEngine",
    "WebSettings",
    "WordChunks",
    "active_preset",
    "available_presets",
    "load_settings",
]
