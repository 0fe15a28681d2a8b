"""What the scripts share. They are run by clients.test.ts, which starts the server."""

import os
from typing import Any

from pydantic import BaseModel

BASE_URL = os.environ["REPRISE_URL"] + "/api/external/v1"
API_KEY = os.environ["REPRISE_API_KEY"]
MODEL = "svc-orchestrator"

# The offline model calls a tool that the message names, with these arguments.
QUESTION = "get_weather city=Paris"
WEATHER = "18 degrees"


class Person(BaseModel):
    """What a structured answer must be."""

    name: str
    age: int


def ok(what: str, fine: Any) -> None:
    """Says that something is as it should be, or ends the script."""
    assert fine, f"{what}: {fine!r}"
    print(f"ok {what}", flush=True)
