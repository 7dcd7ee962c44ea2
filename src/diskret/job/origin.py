"""What a job reads, for the head of its reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from diskret.model.errors import DiskretError
from diskret.model.places import files_meant
from diskret.publication.origin import Origin, origin_of

if TYPE_CHECKING:
    from diskret.job.models import Job


def job_origin(job: Job, here: Path, *, hashed: bool) -> Origin:
    """The data files of a job, with their hashes if ``hashed``, and the date it gives its release."""
    data, output = getattr(job, "data", None), getattr(job, "output", None)
    name = data and (data.microdata or data.cells or data.table)
    try:
        files = files_meant(here / name) if name else []
    except DiskretError:  # whoever reads the data says what is wrong with them
        files = []
    return origin_of(files, getattr(output, "date", None), hashed=hashed)
