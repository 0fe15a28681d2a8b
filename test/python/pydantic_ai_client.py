"""`pydantic-ai`: a tool, a stream and a structured answer."""

import asyncio

from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))
agent = Agent(model)
cities = []


@agent.tool_plain
def get_weather(city: str) -> str:
    """The weather in a city."""
    cities.append(city)
    return WEATHER


ok("the loop ends with an answer", WEATHER in agent.run_sync(QUESTION).output)
ok("the tool was called", cities == ["Paris"])


async def streamed() -> str:
    async with Agent(model).run_stream("Hello there") as result:
        return await result.get_output()


ok("a stream", "Hello there" in asyncio.run(streamed()))

by_tool = Agent(model, output_type=Person).run_sync("Who is there?").output
ok("a structured answer by a tool", isinstance(by_tool, Person))
native = Agent(model, output_type=NativeOutput(Person)).run_sync("Who is there?").output
ok("a structured answer by its format", isinstance(native, Person))
