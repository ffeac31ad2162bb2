"""Settings: where they come from, which one wins, what a vault may not set, and all problems at once."""

import os
from pathlib import Path

import pytest

from vault_memory.config import SETTINGS, Config, load
from vault_memory.errors import UsageError, VaultError
from vault_memory.federation import Federation
from vault_memory.health.doctor import doctor
from vault_memory.startup import user_folder


class Home:
    """A user's folder, a vault beside it, and the environment that points to them."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        (self.vault / ".memory").mkdir(parents=True)
        self.environ = {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "config")}
        self.user_file = Path(user_folder("config", self.environ), "config.toml")
        self.user_file.parent.mkdir(parents=True)
        self.vault_file = self.vault / ".memory" / "config.toml"

    def load(self, user: str = "", vault: str = "", flag: str | None = None, **environ: str) -> Config:
        self.user_file.write_text(user, "utf-8")
        self.vault_file.write_text(vault, "utf-8")
        return load(flag, self.environ | environ, self.vault)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_without_settings_everything_has_a_default(home: Home) -> None:
    config = home.load()
    assert config == Config(vault=home.vault)
    assert (config.recall_k, config.recall_budget) == (8, 2000)
    assert config.ignored == ()


def test_a_vault_sets_what_concerns_its_notes(home: Home) -> None:
    config = home.load(
        vault='[vault]\ndaily_folder = "log"\ndaily_format = "YYYY/MM/DD"\nignore = ["old/"]\n'
        "[recall]\njournal = false\n"
    )
    assert (config.daily_folder, config.daily_format) == ("log", "YYYY/MM/DD")
    assert (config.ignore, config.journal) == (("old/",), False)


def test_the_users_file_wins_over_the_vaults(home: Home) -> None:
    config = home.load(user="[recall]\nk = 3\n", vault="[recall]\nk = 5\nbudget = 900\n")
    assert (config.recall_k, config.recall_budget) == (3, 900)


def test_a_vault_may_not_set_what_is_the_users_own(home: Home) -> None:
    keys = [key for key, setting in SETTINGS.items() if setting.metadata["users_own"] and key != "vault"]
    assert {"vault.path", "index.path", "embedding.url", "embedding.key_env", "reflect.command"} < {*keys}
    for text, said in (("".join(f"{key} = 1\n" for key in keys), keys), ('vault = "/elsewhere"\n', ["vault"])):
        config = home.load(vault=text)
        assert config == Config(vault=home.vault)
        assert {*config.ignored} == {f"{home.vault_file}: `{key}` is ignored: a vault may not set it" for key in said}


@pytest.mark.parametrize("text", ['vault = "/notes"\n', '[vault]\npath = "/notes"\nignore = ["old/"]\n'])
def test_the_users_file_names_the_vault_with_or_without_other_settings_of_vaults(
    home: Home, tmp_path: Path, text: str
) -> None:
    home.user_file.write_text(text, "utf-8")
    config = load(None, home.environ, tmp_path)
    assert (config.vault, config.ignore) == (Path("/notes").absolute(), ("old/",) if "old" in text else ())


@pytest.mark.parametrize("text", [
    "recall = [", "[recall]\nk = 1\nk = 2", "vault = 3", 'vault = ""', "recall = 3", "[recall.k]\nx = 1",
    '[recall]\nk = "8"', "[recall]\nk = 8.0",
    f'[vault]\nignore = ["{"[" * 16_000}"]',  # fnmatch looks for the end of each bracket
])  # fmt: skip
def test_a_bad_user_file_is_a_usage_error(home: Home, text: str) -> None:
    with pytest.raises(UsageError, match="config"):
        home.load(user=text)


def test_a_file_that_is_no_text_is_a_usage_error(home: Home) -> None:
    home.vault_file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError):
        load(None, home.environ, home.vault)


# --- which vault --------------------------------------------------------------------------------------------


def test_the_vault_is_found_in_four_ways(home: Home, tmp_path: Path) -> None:
    deep, outside = home.vault / "a" / "b", tmp_path / "outside"
    deep.mkdir(parents=True)
    outside.mkdir()
    home.user_file.write_text(f'vault = "{tmp_path / "configured"}"\n', "utf-8")
    named = home.environ | {"MEMORY_VAULT": str(tmp_path / "named")}
    assert load(str(tmp_path / "flag"), named, deep).vault == tmp_path / "flag"
    assert load(None, named, deep).vault == tmp_path / "named"
    assert load(None, home.environ, deep).vault == home.vault
    assert load(None, home.environ, outside).vault == tmp_path / "configured"


def test_no_vault_names_the_four_ways(tmp_path: Path) -> None:
    with pytest.raises(VaultError) as error:
        load(None, {"HOME": str(tmp_path)}, tmp_path)
    assert error.value.exit_code == 3
    for way in ("--vault", "MEMORY_VAULT", ".obsidian", "vault = "):
        assert way in error.value.next_step


def test_no_vault_is_found_where_the_file_that_names_it_cannot_be_read(home: Home, tmp_path: Path) -> None:
    os.mkfifo(home.user_file)
    with pytest.raises(VaultError, match=r"config\.toml: it is not a regular file"):
        load(None, home.environ, tmp_path)


def test_a_home_sign_in_a_path_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load("~/notes", {"HOME": str(tmp_path)}, tmp_path).vault == tmp_path / "notes"


# --- configured models ---------------------------------------------------------------------------------------------


def test_a_variable_takes_what_the_settings_file_takes(home: Home) -> None:
    config = home.load(
        "[sessions]\nlog = false\n",
        MEMORY_SESSIONS_LOG="true", MEMORY_CAPTURE_SKIP='["tern", "~/Clients"]',
        MEMORY_SESSIONS_TOOLS="opencode,openclaw",
        MEMORY_EMBEDDING_MODEL="2024", MEMORY_CAPTURE_MAX_PER_DAY="3",
    )  # fmt: skip
    assert (config.sessions_log, config.capture_skip) == (True, ("tern", "~/Clients"))
    assert config.sessions_tools == ("opencode", "openclaw")
    assert (config.embedding_model, config.capture_max_per_day) == ("2024", 3)
    with pytest.raises(UsageError, match="MEMORY_SESSIONS_LOG must be true or false"):
        home.load(MEMORY_SESSIONS_LOG="yes")


def test_a_model_is_set_in_the_users_file_and_the_environment_beats_it(home: Home) -> None:
    found = home.load(
        '[embedding]\nprovider = "ollama"\nmodel = "bge-m3"\nquery_deadline_seconds = 1\n',
        MEMORY_EMBEDDING_MODEL="all-minilm", MEMORY_EMBEDDING_BATCH="8", MEMORY_EMBEDDING_TIMEOUT_SECONDS="2.5",
    )  # fmt: skip
    assert (found.embedding_provider, found.embedding_model) == ("ollama", "all-minilm")
    assert found.embedding_query_deadline_seconds == 1.0
    assert (found.embedding_batch, found.embedding_timeout_seconds) == (8, 2.5)


@pytest.mark.parametrize("name", ["oracle", "/opt/oracle", "~/bin/oracle"])
def test_a_program_is_named_by_its_name_or_an_absolute_path(home: Home, name: str) -> None:
    in_file = home.load(f'[reflect]\nprovider = "command"\ncommand = ["{name}", "-p"]\n')
    in_variable = home.load(MEMORY_REFLECT_PROVIDER="command", MEMORY_REFLECT_COMMAND=f'["{name}", "-p"]')
    assert in_file.reflect_command == in_variable.reflect_command == (name, "-p")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[embedding]\nprovider = "chatgpt"', "must be one of builtin, ollama, openai"),
        ('[embedding]\nprovider = "openai"', "`embedding.url` must be set"),
        ('[embedding]\nprovider = "openai"\nurl = "http://x/v1"', "`embedding.model` must be set"),
        ('[embedding]\nkey_env = "sk-123 456"', "not the key itself"),
        ('[embedding]\nurl = "file:///etc/passwd"', "must be an address"),
        ("[embedding]\nbatch = 0", "whole number from 1"),
        ("[embedding]\nquery_deadline_seconds = true", "must be a number"),
        ('[rerank]\nprovider = "ollama"', "`rerank.model` must be set"),
        ('[reflect]\nprovider = "gemini"', "must be one of off, ollama, openai, anthropic"),
        ('[reflect]\nprovider = "openai"\nmodel = "m"', "`reflect.url` must be set"),
        ("[reflect]\ndeadline_seconds = 0", "must be a number from 0.1"),
        ('[reflect]\nprovider = "command"', "`reflect.command` must be set"),
        ('[reflect]\ncommand = "claude -p"', "must be a list of texts, first a program"),
        ("[reflect]\ncommand = []", "must be a list of texts, first a program"),
        ('[reflect]\ncommand = ["./tools/oracle"]', "must be a list of texts, first a program"),
    ],
)
def test_a_model_that_is_set_badly_is_reported(home: Home, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        home.load(text)
    assert "sk-123" not in str(raised.value)


# --- addresses -------------------------------------------------------------------------------------------------------

BAD_ADDRESSES = [
    "http://[::1", "http://host:99999", "http://", "http://:8080", "::1", "https://exa mple", "ftp://host", "http://h:x",
    "http://[nonsense]/", "http://user:pw@", "https://me:pw@h/v1",
]  # fmt: skip


@pytest.mark.parametrize("url", BAD_ADDRESSES)
@pytest.mark.parametrize("table", ["embedding", "rerank", "reflect"])
def test_an_address_that_is_none_is_a_usage_error(home: Home, table: str, url: str) -> None:
    with pytest.raises(UsageError, match=rf"`{table}\.url` must be an address"):
        home.load(user=f'[{table}]\nurl = "{url}"\n')
    with pytest.raises(UsageError, match=rf"\$MEMORY_{table.upper()}_URL must be an address"):
        home.load(**{f"MEMORY_{table.upper()}_URL": url})


@pytest.mark.parametrize("url", ["http://[::1", "host:99999", "[::1", "::1"])
@pytest.mark.parametrize(
    "user",
    ['[embedding]\nprovider = "ollama"\n', '[rerank]\nprovider = "ollama"\nmodel = "m"\n',
     '[reflect]\nprovider = "ollama"\nmodel = "m"\n'],
)  # fmt: skip
def test_ollama_host_is_looked_at_where_it_is_used(home: Home, user: str, url: str) -> None:
    assert home.load(OLLAMA_HOST=url).embedding_provider == "builtin"
    with pytest.raises(UsageError, match=r"\$OLLAMA_HOST must be an address"):
        home.load(user=user, OLLAMA_HOST=url)
    named = user.replace("\nprovider", '\nurl = "http://h:1"\nprovider')
    home.load(user=named, OLLAMA_HOST=url)


@pytest.mark.parametrize(
    "url", ["host", ":56789", "1.2.3.4:5", "[::1]", "http://[::1]:5", "https://h/path?api-version=1"]
)
def test_an_address_that_is_one_is_taken(home: Home, url: str) -> None:
    assert home.load(user=f'[embedding]\nurl = "{url}"\n').embedding_url == url


@pytest.mark.parametrize("text", ['"3:30"', '"24:00"', "3", "03:30:00", "true"])
def test_what_is_no_time_of_day_is_refused(home: Home, text: str) -> None:
    with pytest.raises(UsageError, match=r"`reflect\.at` must be a time"):
        home.load(user=f"[reflect]\nat = {text}\n")


# --- how mistakes are told -------------------------------------------------------------------------------------------


def test_several_mistakes_have_a_line_each(home: Home) -> None:
    with pytest.raises(UsageError) as error:
        home.load(user='colour = "red"\n[recall]\nk = 0\n', vault="[recall]\nbudget = 0\n", MEMORY_PRESET="x")
    assert str(error.value).splitlines() == [
        "4 settings cannot be used.",
        f"{home.vault_file}: `recall.budget` must be a whole number from 1 to 1000000",
        f"{home.user_file}: `colour` is not a setting",
        f"{home.user_file}: `recall.k` must be a whole number from 1 to 1000",
        "$MEMORY_PRESET must be one of tuned, weighted, classic, rrf",
    ]


def test_a_key_that_is_no_setting_is_said_to_be_none(home: Home) -> None:
    text, said = "[recal]\nk = 3\n", "`recal.k` is not a setting"
    config = home.load(vault=text)
    assert config.unknown == (f"{home.vault_file}: {said}",) and config.ignored == ()
    with pytest.raises(UsageError) as error:
        home.load(user=text)
    assert str(error.value) == f"{home.user_file}: {said}"


def test_a_key_that_counted_once_is_told_and_stops_nobody(home: Home) -> None:
    config = home.load(user="[embedding]\ncontext_tokens = 300\n[recall]\nk = 3\n")
    assert config.recall_k == 3
    assert config.unknown == (f"{home.user_file}: `embedding.context_tokens` is not a setting",)


def test_doctor_tells_a_key_that_is_no_setting_from_one_that_is_not_allowed(home: Home) -> None:
    config = home.load(vault='kk = 3\n[index]\npath = "/tmp/x.sqlite"\n')
    checks = [check for check in doctor(Federation(config)) if check.name == "settings"]
    assert [("is not a setting" in c.message, "Move it" in c.fix) for c in checks] == [(False, True), (True, False)]


def test_doctor_looks_at_all_else_where_settings_cannot_be_used(home: Home) -> None:
    home.user_file.write_text('[recall]\nk = 0\n[embedding]\nprovider = "openai"\n', "utf-8")
    home.vault_file.write_text("broken", "utf-8")
    config = load(None, home.environ, home.vault, with_problems=True)
    assert (config.recall_k, config.embedding_provider, len(config.problems)) == (8, "builtin", 4)
    checks = doctor(Federation(config))
    assert [c.level for c in checks if c.name == "settings"] == ["error"] * 4
    assert {"vault", "index", "embedder", "sqlite-vec"} <= {check.name for check in checks}
