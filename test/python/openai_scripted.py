"""The `openai` package over a provider that streams, refuses, breaks off and is out of order."""

from common import API_KEY, BASE_URL, MODEL, ok
from openai import APIError, InternalServerError, OpenAI

client = OpenAI(api_key=API_KEY, base_url=BASE_URL, max_retries=1)
chat = client.chat.completions
hello = [{"role": "user", "content": "Hi"}]


def stream(**settings):
    """The pieces of a streamed answer."""
    for chunk in chat.create(model=MODEL, messages=hello, stream=True, **settings):
        yield chunk.choices[0].delta.content or ""


ok("a stream", "".join(stream()) == "One two three.")

refused = chat.create(model=MODEL, messages=hello).choices[0]
ok("a provider's refusal is the answer", refused.message.content == "I cannot do that.")
ok("and its reason is told", refused.finish_reason == "content_filter")

said = ""
try:
    for piece in stream():
        said += piece
    raise AssertionError("the stream ended as if it were complete")
except APIError as error:
    ok("a stream that breaks off is an error", said.startswith("Half") and error.message)

try:
    chat.create(model=MODEL, messages=hello)
    raise AssertionError("the failure was not told")
except InternalServerError as error:
    ok("a key that the provider refuses", error.code == "model_misconfigured")
