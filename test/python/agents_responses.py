"""`openai-agents` as it is by default, with the Responses API: a tool, whole and streamed."""

import asyncio

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from common import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Person, ok
from openai import AsyncOpenAI

set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(api_key=API_KEY, base_url=BASE_URL), use_for_tracing=False)
cities = []


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    cities.append(city)
    return WEATHER


async def main() -> None:
    agent = Agent(name="Weather", instructions="Be brief.", model=MODEL, tools=[get_weather])
    result = await Runner.run(agent, QUESTION)
    ok("the loop ends with an answer", WEATHER in result.final_output)

    streamed = Runner.run_streamed(agent, QUESTION)
    async for _ in streamed.stream_events():
        pass
    ok("streamed too", WEATHER in streamed.final_output)
    ok("each loop called the tool once", cities == ["Paris", "Paris"])

    typed = Agent(name="Typed", model=MODEL, output_type=Person)
    answer = (await Runner.run(typed, "Who is there?")).final_output
    ok("a structured answer", isinstance(answer, Person))


asyncio.run(main())
