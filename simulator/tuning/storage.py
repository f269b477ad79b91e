"""Where a study lives: a database, or a journal in a file that workers share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

JOURNAL = "journal://"
DEFAULT = "sqlite:///fourleaf-tune.db"


class BadStorage(ValueError):
    """A storage that cannot be opened. The message says why."""


def open_storage(url: str) -> BaseStorage:
    """The storage that `url` names.

    `sqlite:///FILE` and the URLs of other databases are SQLAlchemy's; `journal:///FILE` is a file
    to which all workers append, which works on volumes that many nodes mount where SQLite's locks
    do not. Raises `BadStorage`.
    """
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend
    from sqlalchemy.exc import SQLAlchemyError

    try:
        if url.startswith(JOURNAL):
            file = Path(url.removeprefix(JOURNAL))
            if not file.is_absolute():
                raise BadStorage(f"{url} names no file by its whole path")
            return JournalStorage(JournalFileBackend(str(file)))
        return RDBStorage(url)
    except (SQLAlchemyError, ImportError, OSError, ValueError) as error:
        if isinstance(error, BadStorage):
            raise
        raise BadStorage(str(error).splitlines()[0]) from error
