"""Each package over a scripted provider that refuses, breaks off, and refuses our key."""

import asyncio
from contextlib import suppress

import instructor
import litellm
from agents import Agent as OpenAIAgent
from agents import (
    ModelBehaviorError,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    set_tracing_disabled,
)
from common import API_KEY, BASE_URL, MODEL, Person, ok
from langchain_openai import ChatOpenAI
from openai import APIError, AsyncOpenAI, OpenAI
from pydantic_ai import Agent
from pydantic_ai.exceptions import ContentFilterError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

set_tracing_disabled(True)
REFUSAL = "I cannot do that."
hello = [{"role": "user", "content": "Hi"}]


class Pieces:
    """What was said of a stream until it broke off."""

    def __init__(self) -> None:
        self.said = ""
        self.failed = False


def seen(name: str, whole: str, broken: Pieces, refused_key: bool) -> None:
    told = whole == REFUSAL or "content_filter" in whole
    ok(f"{name}: a refusal is the answer, or an error of its name", told)
    ok(f"{name}: a stream that breaks off is an error", broken.failed and "Half" in broken.said)
    ok(f"{name}: a key that the provider refuses", refused_key)


def raises(ask) -> bool:
    """Whether it fails."""
    try:
        ask()
    except Exception:
        return True
    return False


# The openai package with responses; of a broken stream it raises the `error` event.
responses = OpenAI(api_key=API_KEY, base_url=BASE_URL, max_retries=0).responses
whole = responses.create(model=MODEL, input="Hi").output_text
broken = Pieces()
try:
    for event in responses.create(model=MODEL, input="Hi", stream=True):
        if event.type == "response.output_text.delta":
            broken.said += event.delta
except APIError as error:
    broken.failed = error.code == "llm_service_unavailable"
key = raises(lambda: responses.create(model=MODEL, input="Hi"))
seen("openai, responses", whole, broken, key)


async def openai_agents(model) -> tuple:
    agent = OpenAIAgent(name="Plain", model=model)
    try:
        whole = (await Runner.run(agent, "Hi")).final_output
    except ModelBehaviorError as error:
        whole = str(error)
    broken = Pieces()
    streamed = Runner.run_streamed(agent, "Hi")
    try:
        async for event in streamed.stream_events():
            if event.type == "raw_response_event":
                broken.said += getattr(event.data, "delta", None) or ""
    except Exception:
        broken.failed = True
    try:
        await Runner.run(agent, "Hi")
        key = False
    except APIError:
        key = True
    return whole, broken, key


for model_class in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
    client = AsyncOpenAI(api_key=API_KEY, base_url=BASE_URL, max_retries=0)
    results = asyncio.run(openai_agents(model_class(model=MODEL, openai_client=client)))
    seen(f"openai-agents, {model_class.__name__}", *results)


async def pydantic_ai() -> tuple:
    client = AsyncOpenAI(api_key=API_KEY, base_url=BASE_URL, max_retries=0)
    agent = Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client)))
    try:
        whole = (await agent.run("Hi")).output
    except ContentFilterError as error:
        whole = str(error).replace(" ", "_").lower()
    broken = Pieces()
    try:
        async with agent.run_stream("Hi") as result:
            async for piece in result.stream_text(delta=True, debounce_by=None):
                broken.said += piece
    except Exception:
        broken.failed = True
    key = False
    try:
        await agent.run("Hi")
    except Exception:
        key = True
    return whole, broken, key


seen("pydantic-ai", *asyncio.run(pydantic_ai()))

chat = ChatOpenAI(model=MODEL, api_key=API_KEY, base_url=BASE_URL, max_retries=0)
whole = chat.invoke("Hi").content
broken = Pieces()
try:
    for chunk in chat.stream("Hi"):
        broken.said += chunk.content
except Exception:
    broken.failed = True
seen("langchain-openai", whole, broken, raises(lambda: chat.invoke("Hi")))

at = {"model": f"openai/{MODEL}", "api_base": BASE_URL, "api_key": API_KEY, "max_retries": 0}
whole = litellm.completion(messages=hello, **at).choices[0].message.content
broken = Pieces()
try:
    for chunk in litellm.completion(messages=hello, stream=True, **at):
        broken.said += chunk.choices[0].delta.content or ""
except Exception:
    broken.failed = True
seen("litellm", whole, broken, raises(lambda: litellm.completion(messages=hello, **at)))

client = OpenAI(api_key=API_KEY, base_url=BASE_URL, max_retries=0)
patched = instructor.from_openai(client).chat.completions
ask = {"model": MODEL, "response_model": Person, "max_retries": 0, "messages": hello}
ok("instructor: a refusal is no person", raises(lambda: patched.create(**ask)))
parts: list = []
with suppress(Exception):
    parts.extend(patched.create_partial(**ask))
ok("instructor: a stream that breaks off gives no whole person", not parts or parts[-1].age is None)
ok("instructor: a key that the provider refuses", raises(lambda: patched.create(**ask)))
